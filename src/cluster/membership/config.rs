//! What a node's membership is given.

use std::time::Duration;

use crate::topology::{ClusterId, Endpoint, Member};

use super::rules::Rules;

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
    /// What the failure detector's choices are drawn from.
    pub seed: u64,
    /// What is left out where it is simulated.
    pub rules: Rules,
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
    /// How long a link may rest: then something is asked on it.
    pub beat: Duration,
    /// A link on which nothing was answered for so long is closed and dialled again; and the member is dead, if nobody
    /// vouches for it.
    pub silent: Duration,
    /// A member that this node could not reach for so long leaves its view, even if others vouch for it.
    pub unreached: Duration,
    /// The failure detector's times.
    pub detection: Detection,
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

/// How long things take in the failure detector. Multiples of the tick, since it sees time pass with each.
#[derive(Clone, Copy, Debug)]
pub struct Detection {
    /// How often a member is asked whether it lives.
    pub probe: Duration,
    /// How long its answer may take before others are asked to ask it.
    pub round_trip: Duration,
    /// How long a member that nobody vouches for may take to deny that it is dead.
    pub suspicion: Duration,
    /// How often what was learned is passed on, while it is news.
    pub gossip: Duration,
    /// How often a member is asked for the members that it knows.
    pub announce: Duration,
    /// How often some of the dead are asked.
    pub announce_to_dead: Duration,
}

impl Default for Detection {
    fn default() -> Self {
        Self {
            probe: Duration::from_millis(300),
            round_trip: Duration::from_millis(100),
            suspicion: Duration::from_millis(900),
            gossip: Duration::from_millis(200),
            announce: Duration::from_secs(5),
            announce_to_dead: Duration::from_secs(2),
        }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(100),
            beat: Duration::from_millis(500),
            silent: Duration::from_millis(1500),
            unreached: Duration::from_secs(3),
            detection: Detection::default(),
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
