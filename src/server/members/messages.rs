//! Messages between engines: handed to the link of their channel, and to nobody where that can't be opened.
//!
//! The engine copes with what is lost. So nothing is sent twice here, nothing waits, and what a link does not take
//! is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cluster::message::Message;
use crate::protocol::Channel;
use crate::topology::NodeId;

use super::Inner;

/// How long a link may take to open while messages wait for it.
const OPEN: Duration = Duration::from_secs(1);

/// How many messages wait for a link that is being opened.
const BACKLOG: usize = 1024;

/// What waits for links that are being opened.
#[derive(Debug, Default)]
pub(super) struct Backlogs(Mutex<HashMap<(NodeId, Channel), Vec<Message>>>);

impl Inner {
    pub(super) fn tell(self: &Arc<Self>, to: NodeId, messages: Vec<Message>) {
        let is_copy = |message: &Message| matches!(message, Message::Part(_));
        let (copies, rest): (Vec<_>, Vec<_>) = messages.into_iter().partition(is_copy);
        self.hand_over(to, Channel::Replication, rest);
        self.send_copy(to, copies);
    }

    fn hand_over(self: &Arc<Self>, to: NodeId, channel: Channel, row: Vec<Message>) {
        if row.is_empty() {
            return;
        }
        if let Some(link) = self.links.open(to, channel) {
            if let Err(error) = link.tell(&row) {
                tracing::debug!("{} messages to {to} were lost: {error}", row.len());
            }
            return;
        }
        let mut backlogs = self.backlogs.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backlog) = backlogs.get_mut(&(to, channel)) {
            let room = BACKLOG.saturating_sub(backlog.len());
            backlog.extend(row.into_iter().take(room));
            return;
        }
        backlogs.insert((to, channel), row);
        drop(backlogs);
        let members = Arc::downgrade(self);
        self.spawn(async move {
            let Some(members) = members.upgrade() else { return };
            let opened = members.link(to, channel, OPEN).await;
            let backlog = members.backlogs.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(to, channel));
            if let (Ok(link), Some(row)) = (opened, backlog) {
                // Lost with its link, at worst.
                drop(link.tell(&row));
            }
        });
    }
}
