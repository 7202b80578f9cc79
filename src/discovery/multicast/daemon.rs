//! mdns-sd's thread and its sockets, on the interface that was chosen.

use std::time::Duration;

use if_addrs::get_if_addrs;
use mdns_sd::{Error, IfKind, ServiceDaemon};

use super::super::neighbourhood::Interface;

/// A daemon of one's own. It ends with its owner.
pub(super) struct Daemon(ServiceDaemon);

impl Daemon {
    /// Starts one, which sends and hears by this interface alone.
    pub(super) fn start(interface: &Interface) -> Result<Self, String> {
        check(interface)?;
        let daemon = Self(ServiceDaemon::new().map_err(|error| words(&error))?);
        let chosen = match interface {
            Interface::Every => return Ok(daemon),
            Interface::Named(name) => IfKind::Name(name.to_string()),
            Interface::At(address) => IfKind::Addr(*address),
        };
        // It starts on all, and does what it's told in this order: nothing was sent before.
        daemon
            .0
            .disable_interface(IfKind::All)
            .and_then(|()| daemon.0.enable_interface(chosen))
            .map_err(|error| words(&error))?;
        Ok(daemon)
    }

    pub(super) fn get(&self) -> &ServiceDaemon {
        &self.0
    }

    /// Ends it and says goodbye for what was announced. Its end is waited for so long at most.
    pub(super) fn end(&self, within: Duration) {
        if let Ok(ended) = self.0.shutdown() {
            // Who is late ends later.
            let _ = ended.recv_timeout(within);
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It was ended before, or ends by itself: nobody waits.
        let _ = self.0.shutdown();
    }
}

/// What an error of the library says.
pub(super) fn words(error: &Error) -> String {
    error.to_string()
}

/// The names of the interfaces that lead nowhere but to this machine itself.
pub(super) fn loopback_interfaces() -> Vec<String> {
    let all = get_if_addrs().unwrap_or_default();
    all.into_iter().filter(if_addrs::Interface::is_loopback).map(|interface| interface.name).collect()
}

/// Refuses an interface that is not there, and says which ones are.
pub fn check(interface: &Interface) -> Result<(), String> {
    if *interface == Interface::Every {
        return Ok(());
    }
    let all = get_if_addrs().map_err(|error| format!("the machine's interfaces can't be listed: {error}"))?;
    let is_it = |one: &if_addrs::Interface| match interface {
        Interface::Every => true,
        Interface::Named(name) => one.name == **name,
        Interface::At(address) => one.ip() == *address,
    };
    if all.iter().any(is_it) {
        return Ok(());
    }
    let mut there: Vec<String> = all.iter().map(|one| format!("{} ({})", one.name, one.ip())).collect();
    there.sort();
    Err(format!("there is no such interface, or it's down; there are {}", there.join(", ")))
}
