//! Takes connections, and owns their sessions.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::debug;

use crate::transport::BoxListener;

use super::connection::Session;
use super::core::Core;

/// Connections beyond the clients' limit: for peers, and to tell clients that there is no room.
const RESERVE: usize = 64;

/// How long nothing is accepted after accepting failed, for want of file descriptors for instance.
const PAUSE: Duration = Duration::from_millis(50);

/// How long sessions may still take when the node has left.
const ENDING: Duration = Duration::from_millis(500);

/// Accepts until the node has left; then the port is closed, and the sessions end.
pub async fn accept(core: Arc<Core>, mut listener: BoxListener) {
    let mut sessions = JoinSet::new();
    let mut bulletins = core.bulletins.clone();
    // Without a sender the node ends as well.
    let left = async { drop(bulletins.wait_for(|bulletin| bulletin.left).await) };
    tokio::pin!(left);
    loop {
        tokio::select! {
            () = &mut left => break,
            Some(_) = sessions.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    // Where there is no room the stream is dropped, which closes it.
                    let most = core.limits.connections.saturating_add(RESERVE);
                    if let Some(place) = core.load.connections.take(1, most) {
                        let session = Session::new(Arc::clone(&core), stream);
                        sessions.spawn(async move {
                            let end = session.run().await;
                            debug!(%from, %end, "connection ended");
                            drop(place);
                        });
                    }
                }
                Err(error) => {
                    debug!(%error, "no connection can be accepted");
                    sleep(PAUSE).await;
                }
            }
        }
    }
    drop(listener);
    // Whoever has not ended by then is cut when the set is dropped.
    let _ = timeout(ENDING, async { while sessions.join_next().await.is_some() {} }).await;
}
