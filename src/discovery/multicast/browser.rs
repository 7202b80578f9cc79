//! Listens for the nodes of one cluster, as long as somebody wants to hear of them.

use std::time::Duration;

use mdns_sd::{Receiver, ResolvedService, ScopedIp, ServiceEvent};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use super::super::neighbourhood::Neighbourhood;
use super::super::source::Answer;
use super::daemon::{Daemon, loopback_interfaces, words};
use super::search::{Input, Search};
use super::sighting::{Heard, Sighting};
use super::{CLUSTER, SERVICE};

/// How often it's looked whether anybody still listens.
const LOOK: Duration = Duration::from_secs(1);
/// How many instances the library hears of before it has to forget them all: it has no bound of its own.
const MOST_FOUND: u32 = 4096;
/// How long a hearing that broke off is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// Those who want to hear of a cluster's nodes.
pub trait Audience: Send {
    /// Tells them the whole list, or why there is none.
    fn tell(&mut self, outcome: Result<Answer, String>);
    /// Whether anybody is left.
    fn is_there(&mut self) -> bool;
}

/// Tells `audience` of the cluster's nodes, each time that they are others, and what came of each asking; ends when nobody is
/// left. `asked` asks the network anew.
pub async fn browse(of: Neighbourhood, asked: &Notify, mut audience: impl Audience) {
    let epoch = Instant::now();
    let mut search = Search::new(of.clone());
    let mut hearing: Option<Hearing> = None;
    let mut look = epoch + LOOK;
    let mut is_wanted = false;
    loop {
        if is_wanted && let Some(outcome) = ask(&of, &mut hearing, &mut search, epoch.elapsed()) {
            audience.tell(outcome);
        }
        is_wanted = false;
        let until = search.due().map_or(look, |due| look.min(epoch + due));
        let input = tokio::select! {
            heard = timeout_at(until, heard(&mut hearing)) => heard.unwrap_or(Some(Input::Time)),
            () = asked.notified() => { is_wanted = true; None }
        };
        if hearing.as_ref().is_some_and(|hearing| hearing.is_over) {
            // Its memory goes with it. Whoever is known has time to be heard of again.
            tracing::debug!("multicast on {}: too much was said, the hearing begins anew", of.interface);
            hearing = None;
            sleep(PAUSE).await;
            is_wanted = true;
        }
        if let Some(outcome) = input.and_then(|input| search.step(epoch.elapsed(), input)) {
            audience.tell(outcome);
        }
        if Instant::now() >= look {
            look = Instant::now() + LOOK;
            if !audience.is_there() {
                return;
            }
        }
    }
}

/// Asks the network; gives what is to be told where that is not possible.
fn ask(of: &Neighbourhood, hearing: &mut Option<Hearing>, search: &mut Search, now: Duration) -> Option<Result<Answer, String>> {
    if hearing.is_none() {
        // Nobody is heard of again by himself.
        let _ = search.step(now, Input::Anew);
    }
    let begun = match hearing {
        Some(hearing) => hearing.ask(),
        None => Hearing::begin(of).map(|begun| *hearing = Some(begun)),
    };
    match begun {
        Ok(()) => search.step(now, Input::Asked),
        Err(why) => search.step(now, Input::Deaf(why)),
    }
}

/// What was heard next; nothing where that is of no use. Waits for ever where nothing is listened to.
async fn heard(hearing: &mut Option<Hearing>) -> Option<Input> {
    match hearing {
        Some(hearing) => hearing.next().await,
        None => std::future::pending().await,
    }
}

/// A daemon that listens.
struct Hearing {
    daemon: Daemon,
    events: Receiver<ServiceEvent>,
    loopback: Vec<String>,
    found: u32,
    /// It broke off, or was told too much.
    is_over: bool,
}

impl Hearing {
    fn begin(of: &Neighbourhood) -> Result<Self, String> {
        let daemon = Daemon::start(&of.interface)?;
        let events = daemon.get().browse(SERVICE).map_err(|error| words(&error))?;
        Ok(Self { daemon, events, loopback: loopback_interfaces(), found: 0, is_over: false })
    }

    /// Asks again. What is known by now is told again, too.
    fn ask(&mut self) -> Result<(), String> {
        self.events = self.daemon.get().browse(SERVICE).map_err(|error| words(&error))?;
        Ok(())
    }

    async fn next(&mut self) -> Option<Input> {
        match self.events.recv_async().await {
            Ok(ServiceEvent::ServiceResolved(service)) => Some(Input::Sighted(sighting(&service, &self.loopback))),
            Ok(ServiceEvent::ServiceRemoved(_, instance)) => Some(Input::Gone(instance)),
            Ok(ServiceEvent::ServiceFound(..)) => {
                self.found += 1;
                self.is_over = self.found > MOST_FOUND;
                None
            }
            Ok(_) => None,
            Err(_) => {
                self.is_over = true;
                None
            }
        }
    }
}

fn sighting(service: &ResolvedService, loopback: &[String]) -> Sighting {
    let is_within = |interface: &mdns_sd::InterfaceId| loopback.contains(&interface.name);
    let heard = |ip: &ScopedIp| Heard {
        address: ip.to_ip_addr(),
        is_within: match ip {
            ScopedIp::V4(v4) => v4.interface_ids().iter().any(is_within),
            ScopedIp::V6(v6) => is_within(v6.scope_id()),
            _ => false,
        },
    };
    Sighting {
        instance: service.get_fullname().to_owned(),
        cluster: service.get_property_val_str(CLUSTER).map(str::to_owned),
        port: service.get_port(),
        addresses: service.get_addresses().iter().map(heard).collect(),
    }
}
