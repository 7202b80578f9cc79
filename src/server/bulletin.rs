//! What all sessions are told when the members change: one value, made once a change, shared by all.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::protocol::{FrameKind, Limits, encode_frame};
use crate::topology::{Member, MemberState, NodeId, View};

/// Another node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its incarnation.
    pub id: NodeId,
    /// Its name.
    pub name: Arc<str>,
}

/// The members at one moment, in the forms that are needed.
#[derive(Debug)]
pub struct Bulletin {
    /// All members.
    pub view: Arc<View>,
    /// Those that clients may use: not the ones that are still joining.
    pub for_clients: View,
    /// That view as a frame, ready to be sent.
    pub frame: Bytes,
    /// All members but this node, in order of their names.
    pub peers: Vec<Peer>,
    /// This node has left: sessions send what they have and end.
    pub left: bool,
}

impl Bulletin {
    /// The bulletin of `view`, for the node `own`.
    pub fn new(view: Arc<View>, own: NodeId, left: bool, limits: Limits) -> Self {
        let for_clients = client_view(&view);
        let mut frame = BytesMut::new();
        // Only a view over the limit of frames can't be encoded: then clients do without the push.
        if encode_frame(&mut frame, FrameKind::View, 0, 0, &for_clients, limits).is_err() {
            frame.clear();
        }
        let others = view.members().iter().filter(|m| m.id != own);
        let peers = others.map(|m| Peer { id: m.id, name: Arc::from(m.name.as_str()) }).collect();
        Self { for_clients, frame: frame.freeze(), peers, view, left }
    }

    /// The ids of all peers.
    pub fn peer_ids(&self) -> Vec<NodeId> {
        self.peers.iter().map(|p| p.id).collect()
    }

    /// The name of a peer.
    pub fn name_of(&self, id: NodeId) -> Option<&Arc<str>> {
        self.peers.iter().find(|p| p.id == id).map(|p| &p.name)
    }

    /// How many members serve.
    pub fn live(&self) -> u32 {
        count(self.view.members().iter().filter(|m| m.state == MemberState::Live).count())
    }

    /// How many members there are.
    pub fn members(&self) -> u32 {
        count(self.view.members().len())
    }
}

/// What clients are given of a view.
fn client_view(view: &View) -> View {
    let usable = |m: &&Member| m.state != MemberState::Joining;
    View::new(view.cluster(), view.cluster_id(), view.members().iter().filter(usable).cloned().collect())
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
