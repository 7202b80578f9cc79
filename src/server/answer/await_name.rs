//! A lookup of a name that may appear: where it is missing the answer waits for a moment.
//!
//! The node's own trees tell when they change, so what is bound there is found at once, also while other nodes are being
//! asked. What other nodes bind in their own trees is not told: it is found when the client asks the next time.

use std::sync::Arc;

use tokio::time::{Duration, Instant, sleep_until};

use crate::protocol::{RefusalReason, Reply, Scope};

use super::own::Told;
use crate::server::core::Core;

/// How long before its end the question is answered.
const MARGIN: Duration = Duration::from_millis(5);

impl Core {
    /// The answer, where the name is there or nothing is to be waited for.
    pub fn await_now(&self, scope: Scope, name: &str) -> Option<Reply> {
        let told = self.own(scope, name);
        (!matches!(told, Told::Absent(_))).then(|| told.into_reply())
    }

    /// The answer as soon as the name is there, at the latest when `hold` or the time until `deadline` is over.
    pub async fn await_name(self: Arc<Self>, scope: Scope, name: String, hold: u32, deadline: Instant) -> Reply {
        let ends = Instant::now() + Duration::from_millis(hold.into());
        let ends = ends.min(deadline.checked_sub(MARGIN).unwrap_or(deadline));
        let (mut cluster, mut local) = (self.cluster_log.news(), self.local_log.news());
        let mut quiesce = self.quiesce.subscribe();
        let mut rule = Box::pin(Arc::clone(&self).lookup(scope, name.clone(), deadline));
        let mut absent = None;
        loop {
            if let Some(reply) = self.await_now(scope, &name) {
                return reply;
            }
            tokio::select! {
                told = &mut rule, if absent.is_none() => match told {
                    Told::Absent(_) => absent = Some(told),
                    told => return told.into_reply(),
                },
                () = sleep_until(ends), if absent.is_some() => break,
                _ = cluster.changed() => {}
                _ = local.changed() => {}
                _ = quiesce.wait_for(Option::is_some) => return Reply::Failed(self.refused(RefusalReason::Quiescing)),
            }
        }
        absent.map_or_else(
            || Reply::Failed(super::fault::internal("a name was waited for without being asked for")),
            Told::into_reply,
        )
    }
}
