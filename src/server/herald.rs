//! Turns views into [bulletins](super::bulletin), and takes the node through its life as they tell.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::topology::{MemberState, NodeId, View};

use super::bulletin::Bulletin;
use super::core::{Core, Phase};
use super::replication::Stage;

/// How long a node that has nothing in flight still refuses, so that clients hear of it before their connection ends.
const LINGER: Duration = Duration::from_millis(100);

/// How long telling the others that the node leaves may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// What ended a node's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Everything in flight was finished.
    Drained,
    /// So many requests were still in flight when their time was over.
    Cut(usize),
}

/// Publishes a bulletin for each view, and lets the node serve once its own view says that it is live.
pub async fn proclaim(core: Arc<Core>, mut views: watch::Receiver<Arc<View>>, bulletins: watch::Sender<Arc<Bulletin>>) {
    loop {
        let view = Arc::clone(&views.borrow_and_update());
        let live: Vec<NodeId> = view.members().iter().map(|m| m.id).collect();
        let state = view.member(core.id).map(|m| m.state);
        bulletins.send_modify(|last| {
            *last = Arc::new(Bulletin::new(view, core.id, last.left, core.limits.frames()));
            // While nobody can look: whoever reads that the node is live is not refused because it joins.
            if state == Some(MemberState::Live) {
                core.phase.advance(Phase::Serving);
            }
        });
        core.inquiries.retain(&live);
        core.remembered.lock().unwrap_or_else(PoisonError::into_inner).retain(&live);
        if views.changed().await.is_err() {
            return;
        }
    }
}

/// Waits until the node is to quiesce; then refuses what is new, finishes what is in flight, and leaves.
pub async fn retire(core: Arc<Core>, bulletins: watch::Sender<Arc<Bulletin>>, departed: watch::Sender<Option<Departure>>) {
    let mut quiesce = core.quiesce.subscribe();
    let Ok(drain) = quiesce.wait_for(Option::is_some).await.map(|drain| drain.unwrap_or_default()) else { return };
    core.phase.advance(Phase::Quiescing);
    core.peers.set_quiescing();
    core.replication.quiesce();
    let done = async { tokio::join!(core.load.in_flight.zero(), core.replication.reached(Stage::HandedOver)) };
    let drained = timeout(drain, done).await.is_ok();
    let cut = core.load.in_flight.level();
    sleep(LINGER).await;
    let _ = timeout(FAREWELL, core.peers.leave()).await;
    bulletins.send_modify(|last| {
        *last = Arc::new(Bulletin::new(Arc::clone(&last.view), core.id, true, core.limits.frames()));
    });
    departed.send_replace(Some(if drained { Departure::Drained } else { Departure::Cut(cut) }));
}
