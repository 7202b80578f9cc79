//! What this node tells the others, and answers them.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use crate::cluster::fingerprint;
use crate::protocol::{Gossip, Introduction};
use crate::topology::NodeId;

use super::{Membership, Output, Peer};

/// What is still to be told, and what was.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// All members are to be told at once what has changed here.
    pub(super) is_news: bool,
    /// Whoever waits for an answer.
    pub(super) asker: Option<NodeId>,
    /// The failure detector's packets for whoever waits.
    for_asker: Vec<Bytes>,
    /// What this node said last of itself.
    introduction: Option<Introduction>,
    /// Counts what it said.
    edition: u32,
}

impl Membership {
    /// A number for whom this node believes alive, itself among them.
    pub(super) fn beheld(&self) -> u64 {
        let ids = self.others().map(|member| member.id).chain([self.me.id]);
        ids.fold(0, |all, id| all ^ fingerprint::of(id.0.to_le_bytes().into_iter()))
    }

    /// What is said to a node that has that edition of what this one says of itself.
    fn gossip(&self, to: NodeId, has: Option<u32>, packets: Vec<Bytes>) -> Gossip {
        let peer = self.peers.get(&to);
        Gossip {
            speaker: self.me.id,
            edition: self.telling.edition,
            introduction: (has != Some(self.telling.edition)).then(|| Box::new(self.introduction())),
            has: peer.and_then(|peer| peer.edition),
            beheld: self.beheld(),
            sees_you: peer.is_some() && !self.swim.is_dead(to),
            leaving: self.has_left,
            settled: self.is_settled(),
            packets,
        }
    }

    /// The answer to whoever asked.
    pub(super) fn reply(&mut self, asker: NodeId, has: Option<u32>) -> Gossip {
        self.telling.asker = None;
        let packets = std::mem::take(&mut self.telling.for_asker);
        self.gossip(asker, has, packets)
    }

    /// Asks whom it is due, all where there is news, and whoever the failure detector has something for.
    pub(super) fn tell(&mut self, now: Duration) {
        let introduction = self.introduction();
        if self.telling.introduction.as_ref() != Some(&introduction) {
            self.telling.introduction = Some(introduction);
            self.telling.edition += 1;
        }
        let is_news = std::mem::take(&mut self.telling.is_news);
        let mut packets: BTreeMap<NodeId, Vec<Bytes>> = BTreeMap::new();
        for (to, packet) in self.swim.packets() {
            if self.telling.asker == Some(to) {
                self.telling.for_asker.push(packet);
            } else {
                packets.entry(to).or_default().push(packet);
            }
        }
        let is_due = |peer: &&Peer| is_news || peer.next_beat <= now || packets.contains_key(&peer.member().id);
        let due = self.peers.values().filter(is_due).filter_map(|peer| Some((peer.member().id, peer.link?, peer.has)));
        let due: Vec<_> = due.collect();
        for (to, link, has) in due {
            let gossip = self.gossip(to, has, packets.remove(&to).unwrap_or_default());
            self.outputs.push(Output::Gossip { link, gossip });
            if let Some(peer) = self.peers.get_mut(&to) {
                peer.next_beat = now + self.timing.beat;
            }
        }
    }
}
