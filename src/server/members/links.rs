//! Links: one to each member for each channel that is used, opened by the first who uses it and shared by all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::failure::Phase;
use crate::protocol::Channel;
use crate::topology::{Member, NodeId, View};
use crate::transport::link::Link;
use crate::transport::{TransportError, TransportErrorKind};

use super::Inner;

/// How long opening a link may take, whoever waits for it.
const OPEN: Duration = Duration::from_secs(1);

type Opened = Result<Link, TransportError>;

/// `None` while the link is being opened.
type Opening = watch::Receiver<Option<Opened>>;

/// The links that are open or being opened.
#[derive(Debug, Default)]
pub(super) struct Links {
    links: Mutex<HashMap<(NodeId, Channel), Opening>>,
}

impl Links {
    fn lock(&self) -> MutexGuard<'_, HashMap<(NodeId, Channel), Opening>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of whoever is no member any more.
    pub(super) fn retain(&self, view: &View) {
        self.lock().retain(|(id, _), _| view.member(*id).is_some());
    }

    /// The link, where it is open.
    pub(super) fn open(&self, id: NodeId, channel: Channel) -> Option<Link> {
        let links = self.lock();
        match &*links.get(&(id, channel))?.borrow() {
            Some(Ok(link)) if !link.is_closed() => Some(link.clone()),
            _ => None,
        }
    }

    pub(super) fn close_all(&self) {
        for (_, opening) in self.lock().drain() {
            if let Some(Ok(link)) = &*opening.borrow() {
                link.close();
            }
        }
    }
}

/// Whether opening again may bring something else than is there.
fn is_spent(opening: &Opening) -> bool {
    match &*opening.borrow() {
        None => opening.has_changed().is_err(),
        Some(Ok(link)) => link.is_closed(),
        Some(Err(_)) => true,
    }
}

impl Inner {
    pub(super) async fn link(self: &Arc<Self>, id: NodeId, channel: Channel, within: Duration) -> Opened {
        if let Some(link) = self.links.open(id, channel) {
            return Ok(link);
        }
        let mut opening = self.opening(id, channel)?;
        let failed = |kind| TransportError::new(Phase::Connect, kind);
        match timeout(within, opening.wait_for(Option::is_some)).await {
            Ok(Ok(opened)) => opened.clone().unwrap_or(Err(failed(TransportErrorKind::Cancelled))),
            Ok(Err(_)) => Err(failed(TransportErrorKind::Cancelled)),
            Err(_) => Err(failed(TransportErrorKind::TimedOut(within))),
        }
    }

    /// The link to a member, open or being opened; a new one where the last was closed or failed.
    fn opening(self: &Arc<Self>, id: NodeId, channel: Channel) -> Result<Opening, TransportError> {
        let member = self.views.borrow().member(id).cloned();
        let Some(member) = member else {
            return Err(TransportError::new(Phase::Connect, TransportErrorKind::Unreachable));
        };
        let mut links = self.links.lock();
        if let Some(opening) = links.get(&(id, channel))
            && !is_spent(opening)
        {
            return Ok(opening.clone());
        }
        let (opened, opening) = watch::channel(None);
        links.insert((id, channel), opening.clone());
        drop(links);
        self.spawn(open(Arc::downgrade(self), member, channel, opened));
        Ok(opening)
    }
}

async fn open(members: Weak<Inner>, member: Member, channel: Channel, opened: watch::Sender<Option<Opened>>) {
    let Some(this) = members.upgrade() else { return };
    let (network, hello, limits) = (Arc::clone(&this.network), this.hello(channel), this.limits);
    drop(this);
    let result = match Link::open(&*network, &member.endpoint, hello, limits, OPEN).await {
        // Another node has taken the address: the view will tell; this member is not there.
        Ok((_, welcome)) if welcome.introduction.member.id != member.id => {
            Err(TransportError::new(Phase::Handshake, TransportErrorKind::Unreachable))
        }
        Ok((link, _)) => Ok(link),
        Err(error) => Err(error),
    };
    opened.send_replace(Some(result));
}
