//! Connections that are held for clients which stay with one server and have none of their own there.
//!
//! Clients that stay with one server each even out by what servers say of their connections. One that has gone over to
//! another server, or whose server was restarted, would be counted nowhere until its next call, and whoever looks would
//! take it for less load than there is. So the background stands in for it: it connects, and hangs up as soon as the client
//! has a connection of its own. A server that can't be reached is found out this way as well, and what it pushes is heard.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::protocol::{Hello, Limits};
use crate::topology::Endpoint;
use crate::transport::link::Link;
use crate::transport::tcp::TcpNetwork;

use super::target::TargetId;
use super::tended::{PROBE_WITHIN, Probe, Tended};

/// How often it's looked where clients that stay with one server have connections.
pub const LOOK_EVERY: Duration = Duration::from_millis(500);

/// All that are held.
#[derive(Default)]
pub(super) struct StandIns(Vec<StandIn>);

struct StandIn {
    client: Weak<dyn Tended>,
    target: TargetId,
    /// Dropped, it ends the connection; it is closed where that has ended by itself.
    holds: oneshot::Sender<()>,
}

impl StandIns {
    /// Forgets those whose client needs nothing any longer.
    pub(super) fn sweep(&mut self) {
        self.0.retain(|held| held.client.upgrade().is_some_and(|client| !client.is_over()));
    }

    /// Sees to it that this client, which stays with that server, has a connection there.
    pub(super) fn tend(&mut self, client: &Arc<dyn Tended>, server: Option<(TargetId, Endpoint)>, news: &Arc<Notify>) {
        let wanted = server.filter(|(id, _)| !client.is_connected(*id));
        let itself = Arc::downgrade(client);
        let target = wanted.as_ref().map(|(id, _)| *id);
        self.0.retain(|held| !held.client.ptr_eq(&itself) || Some(held.target) == target && !held.holds.is_closed());
        if self.0.iter().any(|held| held.client.ptr_eq(&itself)) {
            return;
        }
        if let (Some((target, endpoint)), Probe::Greet(hello)) = (wanted, client.probe()) {
            let (holds, until) = oneshot::channel();
            tokio::spawn(stand_in(Weak::clone(&itself), target, endpoint, *hello, until, Arc::clone(news)));
            self.0.push(StandIn { client: itself, target, holds });
        }
    }
}

async fn stand_in(
    client: Weak<dyn Tended>,
    id: TargetId,
    endpoint: Endpoint,
    hello: Hello,
    mut until: oneshot::Receiver<()>,
    news: Arc<Notify>,
) {
    let mut started = Duration::ZERO;
    let Some(asking) = client.upgrade() else { return };
    asking.tend(&mut |_, now| started = now);
    drop(asking);
    let opened = Link::open(&TcpNetwork, &endpoint, hello, Limits::default(), PROBE_WITHIN).await;
    let Some(told) = client.upgrade() else { return };
    told.tend(&mut |fleet, now| match &opened {
        Ok((_, welcome)) => fleet.welcomed(id, welcome, now),
        Err(error) => fleet.unreachable(id, error, started, now),
    });
    drop(told);
    news.notify_one();
    let Ok((link, _)) = opened else { return };
    let mut views = link.views();
    views.mark_unchanged();
    loop {
        tokio::select! {
            _ = &mut until => return link.close(),
            // It may only have been idle for long: whether the server is there is found out with the next one.
            () = link.closed() => return,
            changed = views.changed() => {
                let (Ok(()), Some(client)) = (changed, client.upgrade()) else { return };
                let view = views.borrow_and_update().clone();
                client.tend(&mut |fleet, now| if let Some(view) = &view { fleet.saw_view(id, view, now) });
                news.notify_one();
            }
        }
    }
}
