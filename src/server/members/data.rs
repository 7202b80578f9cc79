//! Data links: one to each member that is asked something, opened by the first who asks and shared by all.

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
pub(super) struct DataLinks {
    links: Mutex<HashMap<NodeId, Opening>>,
}

impl DataLinks {
    fn lock(&self) -> MutexGuard<'_, HashMap<NodeId, Opening>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of whoever is no member any more.
    pub(super) fn retain(&self, view: &View) {
        self.lock().retain(|id, _| view.member(*id).is_some());
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
    pub(super) async fn data_link(self: &Arc<Self>, id: NodeId, within: Duration) -> Opened {
        if let Some(opening) = self.data.lock().get(&id)
            && let Some(Ok(link)) = &*opening.borrow()
            && !link.is_closed()
        {
            return Ok(link.clone());
        }
        let mut opening = self.opening(id)?;
        let failed = |kind| TransportError::new(Phase::Connect, kind);
        match timeout(within, opening.wait_for(Option::is_some)).await {
            Ok(Ok(opened)) => opened.clone().unwrap_or(Err(failed(TransportErrorKind::Cancelled))),
            Ok(Err(_)) => Err(failed(TransportErrorKind::Cancelled)),
            Err(_) => Err(failed(TransportErrorKind::TimedOut(within))),
        }
    }

    /// The link to a member, open or being opened; a new one where the last was closed or failed.
    fn opening(self: &Arc<Self>, id: NodeId) -> Result<Opening, TransportError> {
        let member = self.views.borrow().member(id).cloned();
        let Some(member) = member else {
            return Err(TransportError::new(Phase::Connect, TransportErrorKind::Unreachable));
        };
        let mut links = self.data.lock();
        if let Some(opening) = links.get(&id)
            && !is_spent(opening)
        {
            return Ok(opening.clone());
        }
        let (opened, opening) = watch::channel(None);
        links.insert(id, opening.clone());
        drop(links);
        self.spawn(open(Arc::downgrade(self), member, opened));
        Ok(opening)
    }
}

async fn open(members: Weak<Inner>, member: Member, opened: watch::Sender<Option<Opened>>) {
    let Some(this) = members.upgrade() else { return };
    let (network, hello, limits) = (Arc::clone(&this.network), this.hello(Channel::Data), this.limits);
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
