//! What the background does for a client, and what it needs of it.

use std::time::Duration;

use crate::discovery::Answer;
use crate::discovery::dns::DnsServers;
use crate::protocol::Hello;

use super::fleet::Fleet;
use super::target::TargetId;
use super::watch::Asker;

/// The time that a probe has, to connect and to be welcomed.
pub const PROBE_WITHIN: Duration = Duration::from_millis(250);

/// How it's found out whether a server is well again.
#[derive(Debug)]
pub enum Probe {
    /// It is a node: it's greeted, and welcomes us.
    Greet(Box<Hello>),
    /// It speaks another language: all that can be seen is whether it takes a connection.
    Connect,
}

/// Somebody with a fleet that needs tending.
pub trait Tended: Send + Sync + 'static {
    /// Lets `work` have the fleet and the time, and draws the consequences of what it told the fleet.
    fn tend(&self, work: &mut dyn FnMut(&mut Fleet, Duration));
    /// How its servers are probed.
    fn probe(&self) -> Probe;
    /// Whether it has a connection to this server. What the server pushed on it is heard now.
    fn is_connected(&self, _: TargetId) -> bool {
        true
    }
    /// Asks for the list of servers, where somebody else keeps it. It may wait: it has a thread.
    fn list(&self) -> Result<Answer, String> {
        Err("nobody keeps this list".to_owned())
    }
    /// Whom its names are asked of.
    fn dns_servers(&self) -> DnsServers;
    /// Whom its cache asks for changes.
    fn asker(&self) -> Option<Asker> {
        None
    }
    /// Whether it needs nothing any longer.
    fn is_over(&self) -> bool;
}
