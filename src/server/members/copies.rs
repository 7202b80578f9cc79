//! Copies of the tree on their way to peers: part by part, as the link takes them.
//!
//! A copy may be larger than what a link holds, and takes seconds; so each is sent by a task of its own, which encodes one
//! part at a time and holds no lock. Whoever asks again has given up on what it was answered before: that ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cluster::message::Message;
use crate::protocol::Channel;
use crate::topology::NodeId;

use super::Inner;

/// How long a link may take to open.
const OPEN: Duration = Duration::from_secs(1);

/// How many copies each peer was sent; only the last one goes on.
#[derive(Debug, Default)]
pub(super) struct Copies(Mutex<HashMap<NodeId, u64>>);

impl Copies {
    fn begin(&self, to: NodeId) -> u64 {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = sent.entry(to).or_default();
        *number += 1;
        *number
    }

    fn is_last(&self, to: NodeId, number: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&to) == Some(&number)
    }
}

impl Inner {
    /// Sends a peer the parts of one answer.
    pub(super) fn send_copy(self: &Arc<Self>, to: NodeId, parts: Vec<Message>) {
        if parts.is_empty() {
            return;
        }
        let number = self.copies.begin(to);
        let members = Arc::downgrade(self);
        self.spawn(async move {
            let Some(this) = members.upgrade() else { return };
            let Ok(link) = this.link(to, Channel::Copies, OPEN).await else { return };
            drop(this);
            for part in parts {
                if !members.upgrade().is_some_and(|this| this.copies.is_last(to, number)) {
                    return;
                }
                if let Err(error) = link.tell_in_turn(&part).await {
                    return tracing::debug!("a copy for {to} was lost: {error}");
                }
            }
        });
    }
}
