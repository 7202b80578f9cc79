//! One link for each target, opened by whoever needs it first.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

use crate::transport::TransportError;
use crate::transport::link::Link;

use super::super::call::Send;
use super::super::fleet::Fleet;
use super::super::target::{Target, TargetId};
use super::{Inner, background};

/// A target's link. Whoever holds the lock opens it; the others wait for that, and no call opens a second one.
type Slot = Arc<Mutex<Option<Link>>>;

/// The links of all targets.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<TargetId, Slot>);

impl Links {
    /// Drops the links of targets that failed or went.
    pub(super) fn retain(&mut self, fleet: &Fleet) {
        self.0.retain(|id, _| fleet.target(*id).is_some_and(Target::keeps_connections));
    }

    /// Whether there is a link to this target, or one is being opened.
    pub(super) fn stands(&self, id: TargetId) -> bool {
        self.0
            .get(&id)
            .is_some_and(|slot| slot.try_lock().map_or(true, |link| link.as_ref().is_some_and(|link| !link.is_closed())))
    }

    pub(super) fn close(&mut self) {
        for slot in std::mem::take(&mut self.0).into_values() {
            if let Ok(mut link) = slot.try_lock()
                && let Some(link) = link.take()
            {
                link.close();
            }
        }
    }
}

/// The target's link, and whether it stood before. What opening it takes counts from now on, waiting for others included.
pub(super) async fn link(inner: &Arc<Inner>, send: Send) -> Result<(Link, bool), TransportError> {
    let Send { target, fresh, .. } = send;
    let (slot, endpoint) = {
        let mut shared = inner.lock();
        let endpoint = shared.fleet.target(target).map(|target| target.endpoint.clone());
        (Arc::clone(shared.links.0.entry(target).or_default()), endpoint)
    };
    let mut link = slot.lock().await;
    if let Some(standing) = link.as_ref().filter(|link| !fresh && !link.is_closed()) {
        return Ok((standing.clone(), true));
    }
    let Some(endpoint) = endpoint else {
        return Err(TransportError::new(crate::failure::Phase::Connect, crate::transport::TransportErrorKind::Unreachable));
    };
    let (hello, limits, now) = (inner.hello.clone(), inner.config.limits, inner.now());
    let (connects_within, within) = (send.connects_by.saturating_sub(now), send.ends.saturating_sub(now));
    let (opened, welcome) = Link::open_soon(&*inner.network, &endpoint, hello, limits, connects_within, within).await?;
    inner.with_fleet(|fleet, now| fleet.welcomed(target, &welcome, now));
    tokio::spawn(follow_views(Arc::downgrade(inner), target, opened.views()));
    *link = Some(opened.clone());
    Ok((opened, false))
}

/// Tells the fleet each view that a link brings, as long as the link lives.
async fn follow_views(
    inner: Weak<Inner>,
    target: TargetId,
    mut views: tokio::sync::watch::Receiver<Option<crate::topology::View>>,
) {
    while views.changed().await.is_ok() {
        let Some(inner) = inner.upgrade() else { return };
        let view = views.borrow_and_update().clone();
        if let Some(view) = view {
            inner.with_fleet(|fleet, now| fleet.saw_view(target, &view, now));
        }
    }
    if let Some(inner) = inner.upgrade().filter(|inner| inner.config.policy.elects()) {
        // The client may stay with this server, and is to have a link there.
        background::wake(&inner);
        inner.news.notify_waiters();
    }
}
