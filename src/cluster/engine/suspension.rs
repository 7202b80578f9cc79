//! A node that can store nothing for now: its disk is full, or fails.
//!
//! Its driver gives its engine nothing meanwhile, so that to this engine it was a freeze, and answers whatever a peer
//! sends by [`Message::Suspended`](crate::cluster::message::Message::Suspended). The peer then treats it as a guest: it is
//! sent every write, and neither owns names nor is waited for, not even by a bind. Whatever else is heard from it
//! shows that it stores again; it lags then until it has caught up.

use crate::topology::NodeId;

use super::Engine;

impl Engine {
    /// The peers that can store nothing for now.
    pub fn suspended(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.suspended.iter().copied()
    }

    pub(super) fn heard_suspended(&mut self, peer: NodeId) {
        if self.live.remove(&peer) {
            self.suspended.insert(peer);
            self.guests.insert(peer);
            self.lagging.remove(&peer);
            self.pulls.end(peer);
            self.owners_silent();
            self.check_all();
        }
    }

    pub(super) fn heard_storing(&mut self, peer: NodeId) {
        if self.suspended.remove(&peer) {
            self.guests.remove(&peer);
            self.live.insert(peer);
            self.mark_lagging(peer);
            self.pull_from(peer);
        }
    }

    /// The members have changed: who was suspended and still is a member that would serve is so on.
    pub(super) fn keep_suspended(&mut self) {
        let (live, guests) = (&mut self.live, &mut self.guests);
        self.suspended.retain(|peer| live.remove(peer) && guests.insert(*peer));
    }
}
