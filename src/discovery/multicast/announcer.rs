//! Says that a node is there, and that it leaves.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mdns_sd::{DaemonEvent, ServiceInfo};
use tokio::time::timeout;

use super::super::neighbourhood::Interface;
use super::daemon::{Daemon, words};
use super::{CLUSTER, NODE, SERVICE};

/// How long a label of DNS is at most, in bytes.
const LABEL: usize = 63;
/// How long the first announcement is waited for: it needs no waiting but for a thread.
const ANNOUNCED_WITHIN: Duration = Duration::from_secs(1);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_millis(250);

/// What a node says of itself.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The cluster's name.
    pub cluster: String,
    /// The node's name.
    pub node: String,
    /// A number that nobody else on the network has: names of nodes are only unique in their cluster.
    pub id: u64,
    /// Where it is reached: this address, or all that the interfaces have.
    pub address: Option<IpAddr>,
    /// Its port.
    pub port: u16,
    /// Where it's announced.
    pub interface: Interface,
}

impl Announcement {
    /// The instance's name: the node's, as far as there is room, and the number.
    fn instance(&self) -> String {
        let number = format!("-{:016x}", self.id);
        let mut node = self.node.replace('.', "-");
        let mut room = node.len().min(LABEL - number.len());
        while !node.is_char_boundary(room) {
            room -= 1;
        }
        node.truncate(room);
        node + &number
    }

    fn service(&self) -> Result<ServiceInfo, String> {
        let host = format!("hanaming-{:016x}.local.", self.id);
        let text = [(CLUSTER, self.cluster.as_str()), (NODE, self.node.as_str())];
        let addresses: Vec<IpAddr> = self.address.into_iter().collect();
        let service = ServiceInfo::new(SERVICE, &self.instance(), &host, &addresses[..], self.port, &text[..]);
        let mut service = service.map_err(|error| words(&error))?;
        // The number makes the names unique: nobody has to be asked.
        service.set_requires_probe(false);
        Ok(if self.address.is_some() { service } else { service.enable_addr_auto() })
    }
}

/// A node that is announced, until it leaves or this is dropped.
pub struct Announcer {
    daemon: Daemon,
    fullname: String,
    has_left: AtomicBool,
}

impl Announcer {
    /// Announces the node. Where no interface takes the announcement that is logged: one may come up later.
    pub async fn start(announcement: &Announcement) -> Result<Self, String> {
        let service = announcement.service()?;
        let fullname = service.get_fullname().to_owned();
        let daemon = Daemon::start(&announcement.interface)?;
        let begun = daemon.get().monitor().and_then(|events| daemon.get().register(service).map(|()| events));
        let events = begun.map_err(|error| words(&error))?;
        let announced = async {
            while let Ok(event) = events.recv_async().await {
                if matches!(event, DaemonEvent::Announce(..)) {
                    return true;
                }
            }
            false
        };
        if announcement.address.is_some_and(|address| address.is_loopback() && address.is_ipv6()) {
            tracing::warn!("node {} is at ::1, and systems such as Linux send no multicast there", announcement.node);
        }
        if !timeout(ANNOUNCED_WITHIN, announced).await.unwrap_or(false) {
            let at = announcement.address.map_or_else(|| "no address of this machine".to_owned(), |address| address.to_string());
            let by = &announcement.interface;
            tracing::warn!("node {} is announced nowhere yet: multicast by {by} leads to nobody from {at}", announcement.node);
        }
        Ok(Self { daemon, fullname, has_left: AtomicBool::new(false) })
    }

    /// Says goodbye, while the node still is there. It's said twice, and nobody waits for the second time.
    pub async fn say_goodbye(&self) {
        if self.has_left.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Ok(said) = self.daemon.get().unregister(&self.fullname) {
            // Who hears nothing finds out by the records' time to live.
            let _ = timeout(GOODBYE, said.recv_async()).await;
        }
    }

    /// Says goodbye where that was not done, and ends.
    pub fn end(&self) {
        self.has_left.store(true, Ordering::Release);
        self.daemon.end(GOODBYE);
    }
}

impl std::fmt::Debug for Announcer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Announcer").field("fullname", &self.fullname).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(node: &str) -> Announcement {
        let (cluster, interface) = ("prod".to_owned(), Interface::Every);
        Announcement { cluster, node: node.to_owned(), id: 0xab, address: None, port: 1, interface }
    }

    #[test]
    fn an_instance_is_a_label_that_nobody_else_has() {
        assert_eq!(called("n1").instance(), "n1-00000000000000ab");
        assert_eq!(called("n1.example").instance(), "n1-example-00000000000000ab");
        let long = called(&"ö".repeat(40)).instance();
        assert!(long.len() <= LABEL && long.ends_with("ö-00000000000000ab"), "{long}");
        for node in ["n1", "n 1", "n\\1", &"ö".repeat(64)] {
            let service = called(node).service().unwrap();
            assert_eq!(service.get_property_val_str(NODE), Some(node));
            assert_eq!(service.get_property_val_str(CLUSTER), Some("prod"));
        }
    }
}
