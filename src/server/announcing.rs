//! What a node says of itself on the network, from when it serves until it leaves.

use std::net::IpAddr;
use std::sync::Arc;

use crate::discovery::Interface;
use crate::discovery::multicast::{Announcement, Announcer, check_interface};
use crate::topology::{Endpoint, Member};

use super::config::ServerConfig;
use super::core::Core;

/// What the node is to say, where that is wanted. Refuses an interface that is not there, and says which ones are.
pub fn announcement(config: &ServerConfig, member: &Member, listening: &Endpoint) -> Result<Option<Announcement>, String> {
    if !config.mdns {
        return Ok(None);
    }
    let interface = config.mdns_interface.as_deref().map(Interface::from).unwrap_or_default();
    check_interface(&interface).map_err(|why| format!("{interface} can't be used for multicast: {why}"))?;
    let (address, port) = reached_at(&member.endpoint, listening);
    Ok(Some(Announcement {
        cluster: config.cluster.clone(),
        node: member.name.clone(),
        id: u64::try_from(member.id.0 >> 64).unwrap_or_default(),
        address,
        port,
        interface,
    }))
}

/// Where a node is reached that advertises one address and listens at another. Multicast names addresses, so a host name
/// that is advertised gives way to what is listened at: one address, or all that the machine has.
fn reached_at(advertised: &Endpoint, listening: &Endpoint) -> (Option<IpAddr>, u16) {
    let literal = |endpoint: &Endpoint| endpoint.socket_addr().map(|address| address.ip()).filter(|ip| !ip.is_unspecified());
    match literal(advertised) {
        Some(address) => (Some(address), advertised.port()),
        None => (literal(listening), listening.port()),
    }
}

/// Says that the node is there.
pub async fn announce(announced: Option<Announcement>) -> Result<Option<Arc<Announcer>>, String> {
    let Some(announcement) = announced else { return Ok(None) };
    let started = Announcer::start(&announcement).await;
    started.map(|announcer| Some(Arc::new(announcer))).map_err(|why| format!("the node can't be announced: {why}"))
}

/// Says that it leaves as soon as it begins to: it takes nothing new from then on.
pub async fn say_goodbye(core: Arc<Core>, announcer: Arc<Announcer>) {
    if core.quiesce.subscribe().wait_for(Option::is_some).await.is_ok() {
        announcer.say_goodbye().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_an_address() {
        for (advertised, listening, expected) in [
            ("10.0.0.5:1", "0.0.0.0:11100", (Some("10.0.0.5"), 1)),
            ("[fd00::5]:1", "[::]:2", (Some("fd00::5"), 1)),
            ("n1.prod:1", "127.0.0.1:11100", (Some("127.0.0.1"), 11100)),
            ("n1.prod:1", "0.0.0.0:11100", (None, 11100)),
            ("n1.prod:1", "[::]:11100", (None, 11100)),
        ] {
            let endpoint = |text: &str| text.parse::<Endpoint>().unwrap();
            let (address, port) = expected;
            let expected = (address.map(|address| address.parse().unwrap()), port);
            assert_eq!(reached_at(&endpoint(advertised), &endpoint(listening)), expected, "{advertised} {listening}");
        }
    }
}
