//! What a node's membership is given.

use std::time::Duration;

use crate::topology::{ClusterId, Endpoint, Member};

/// Who a node is and whom it should meet.
#[derive(Clone, Debug)]
pub struct Config {
    /// The node; it begins as `Joining`, whatever is said here.
    pub member: Member,
    /// Its cluster's name.
    pub cluster: String,
    /// Addresses to meet the cluster at; its own may be among them.
    pub seeds: Vec<Endpoint>,
    /// What it knows from before its start.
    pub past: Past,
    /// How long things take.
    pub timing: Timing,
}

/// What a node with data knows from before its start.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The cluster of its data: it is firm.
    pub cluster_id: Option<ClusterId>,
    /// Where other members were. They are waited for as seeds are, and may be gone for good.
    pub members: Vec<Endpoint>,
    /// What it had is given up: it must not serve before it has met somebody.
    pub needs_others: bool,
    /// It was given the address that it is reached at: a node that ran there before may be known, and be dialled again.
    pub may_be_known: bool,
}

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How often the engine wants a tick.
    pub tick: Duration,
    /// How often a member is told, and asked for, the members.
    pub ping: Duration,
    /// A member that answered nothing for so long is dead.
    pub dead_after: Duration,
    /// How often a lost member or a seed is dialled.
    pub redial: Duration,
    /// How seldom, at last, an address is dialled that never answers.
    pub slowest_redial: Duration,
    /// After so long without a word from any seed a node founds a cluster.
    pub found_after: Duration,
    /// How long a node without seeds waits for those who may know it: somewhat longer than they take to dial again.
    pub known_after: Duration,
    /// A tick that is later than this discards evidence of silence: it was we who slept.
    pub late: Duration,
    /// A cluster that had another member for so long is firm, even where some seed was never met.
    pub firm_after: Duration,
    /// A warning whose cause has not shown itself for so long is dropped.
    pub warning: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(100),
            ping: Duration::from_millis(300),
            dead_after: Duration::from_millis(1500),
            redial: Duration::from_millis(500),
            slowest_redial: Duration::from_secs(2),
            found_after: Duration::from_secs(3),
            known_after: Duration::from_millis(700),
            late: Duration::from_millis(250),
            firm_after: Duration::from_secs(30),
            warning: Duration::from_secs(60),
        }
    }
}
