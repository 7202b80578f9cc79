//! The pulls that are under way, one with each peer at most.
//!
//! There are many reasons to ask a peer for what this node lacks, and some come ten times a second; a copy of a large tree
//! takes seconds. So a pull that is being answered is not begun anew: that its answer may lack something is noted, and the
//! next pull begins when it is complete. One that is silent for too long was lost, or its peer was slow to begin: the next
//! one is given more time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::cluster::sync::Pull;
use crate::naming::Name;
use crate::topology::NodeId;

/// How long a pull may hear nothing at first.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long at most, after several that heard nothing.
const LONGEST: Duration = Duration::from_secs(16);

#[derive(Debug)]
struct UnderWay {
    pull: Pull,
    /// When it began, or a part of its answer came last.
    heard: Duration,
    patience: Duration,
    is_wanted_again: bool,
    /// The names in the parts that came.
    names: Vec<Name>,
}

/// All that are under way.
#[derive(Debug, Default)]
pub(super) struct Pulls(BTreeMap<NodeId, UnderWay>);

impl Pulls {
    /// Whether there is one with that peer.
    pub fn has(&self, peer: NodeId) -> bool {
        self.0.contains_key(&peer)
    }

    /// Whether one with that peer is being answered: then the next one is wanted after it.
    pub fn is_answered(&mut self, now: Duration, peer: NodeId) -> bool {
        let answered = self.0.get_mut(&peer).filter(|under_way| now < under_way.heard + under_way.patience);
        answered.map(|under_way| under_way.is_wanted_again = true).is_some()
    }

    /// One begins, in place of an earlier one that heard nothing for too long.
    pub fn begin(&mut self, now: Duration, peer: NodeId, pull: Pull) {
        let patience = self.0.get(&peer).map_or(PATIENCE, |silent| (silent.patience * 2).min(LONGEST));
        self.0.insert(peer, UnderWay { pull, heard: now, patience, is_wanted_again: false, names: Vec::new() });
    }

    /// The one that a part may belong to.
    pub fn get(&mut self, peer: NodeId) -> Option<&mut Pull> {
        self.0.get_mut(&peer).map(|under_way| &mut under_way.pull)
    }

    /// A part of the answer came, with these names.
    pub fn heard(&mut self, now: Duration, peer: NodeId, names: Vec<Name>) {
        if let Some(under_way) = self.0.get_mut(&peer) {
            under_way.heard = now;
            under_way.names.extend(names);
        }
    }

    /// It is over, answered or not: the names in all its parts, and whether another one is wanted.
    pub fn end(&mut self, peer: NodeId) -> (Vec<Name>, bool) {
        self.0.remove(&peer).map(|under_way| (under_way.names, under_way.is_wanted_again)).unwrap_or_default()
    }

    /// Those with others are over.
    pub fn retain(&mut self, peers: &BTreeSet<NodeId>) {
        self.0.retain(|peer, _| peers.contains(peer));
    }
}
