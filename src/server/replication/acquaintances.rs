//! Whom a node with a data folder knew: kept with its data, so that it looks for them when it is started again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use crate::server::data::{Acquaintance, Identity};
use crate::topology::View;

use super::audience::Audience;
use super::{Replication, Stage};

/// How often it is looked whether the cluster has become firm, which no view tells.
const LOOK: Duration = Duration::from_secs(1);

/// Keeps the members as they change, and the cluster's id from when it is firm or has data: an id that still gives way is
/// none that may be defended after a restart. Ends when there are no more views.
pub async fn remember_members(replication: Arc<Replication>, mut identity: Identity, mut views: watch::Receiver<Arc<View>>) {
    replication.reached(Stage::Ready).await;
    let mut audience = Audience::of(&identity.members);
    let mut forgotten = replication.forgotten.subscribe();
    let mut kept = identity.clone();
    loop {
        audience.forget(&forgotten.borrow_and_update());
        audience.see(&views.borrow_and_update());
        let introduction = replication.peers.introduction();
        identity.copying = false;
        if introduction.firm || replication.has_data() {
            identity.cluster_id = introduction.cluster_id;
            identity.members = audience.others(&identity.node);
        }
        if identity != kept {
            replication.remember(identity.clone());
            kept = identity.clone();
        }
        tokio::select! {
            changed = views.changed() => if changed.is_err() {
                return;
            },
            _ = forgotten.changed() => {}
            () = sleep(LOOK) => {}
        }
    }
}

impl Replication {
    fn has_data(&self) -> bool {
        !self.lock().engine.replica().seen().vector().is_empty()
    }
}

impl Audience {
    /// Those who were known, dead until they are seen.
    pub(super) fn of(known: &[Acquaintance]) -> Self {
        let mut audience = Self::default();
        for Acquaintance { name, id, endpoint } in known {
            audience.add(name, *id, endpoint);
        }
        audience
    }
}
