//! Carries a cache's questions to some server, as long as its client is there.

use std::sync::Weak;

use tokio::time::sleep;

use super::super::tended::Tended;
use super::super::watch::{Asker, Pause, Unanswered};

/// Follows a log for the cache of `tended`.
pub async fn feed(tended: Weak<dyn Tended>, asker: Asker) {
    let mut pause = Pause::default();
    loop {
        let Some(client) = tended.upgrade().filter(|client| !client.is_over()) else { return };
        let mut request = None;
        client.tend(&mut |fleet, _| request = fleet.cache.as_ref().map(super::Cache::request));
        // Not held while the answer is waited for: the client may go.
        drop(client);
        let Some(request) = request else { return };
        let answer = asker.ask(request).await;
        let Some(client) = tended.upgrade() else { return };
        match answer {
            Ok(watched) => {
                pause = Pause::default();
                let mut watched = Some(watched);
                client.tend(&mut |fleet, now| {
                    if let (Some(cache), Some(watched)) = (&mut fleet.cache, watched.take()) {
                        cache.hear(watched, now);
                    }
                });
            }
            Err(why) => {
                client.tend(&mut |fleet, _| {
                    if let Some(cache) = &mut fleet.cache {
                        cache.lost();
                    }
                });
                drop(client);
                match why {
                    Unanswered::ForGood(error) => {
                        tracing::debug!(%error, "a cache follows no log any longer");
                        return;
                    }
                    Unanswered::ForNow(_) => sleep(pause.take()).await,
                }
            }
        }
    }
}
