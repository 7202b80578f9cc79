//! What goes on by itself: the engine's clock, and the members as they change.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::sleep_until;

use crate::cluster::engine::Input;
use crate::server::data::Acquaintance;
use crate::topology::View;

use super::Replication;
use super::audience::Audience;

/// Wakes the engine whenever it wants to be woken. Ends with its runtime.
pub async fn keep_time(replication: Arc<Replication>) {
    loop {
        let wake = replication.lock().wake;
        tokio::select! {
            () = sleep_until(replication.clock.instant(wake)) => replication.step(Input::Tick),
            () = replication.earlier.notified() => {}
        }
    }
}

/// Tells the engine of the members, from when this node has met them all; `known` are those of its last life. Ends when
/// there are no more views.
pub async fn follow_views(replication: Arc<Replication>, known: Vec<Acquaintance>, mut views: watch::Receiver<Arc<View>>) {
    replication.peers.met().await;
    let mut audience = Audience::of(&known);
    let mut forgotten = replication.forgotten.subscribe();
    loop {
        audience.forget(&forgotten.borrow_and_update());
        let members = audience.see(&views.borrow_and_update());
        replication.step(Input::Members(members));
        tokio::select! {
            changed = views.changed() => if changed.is_err() {
                return;
            },
            // The sender lives in `replication`.
            _ = forgotten.changed() => {}
        }
    }
}
