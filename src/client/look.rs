//! How loaded servers are, as they say themselves: what clients that stay with one server each decide by.

use std::sync::Weak;

use tokio::task::JoinSet;

use crate::protocol::{Answer, Hello, Limits, Operation, Reply, Request, Scope};
use crate::topology::Endpoint;
use crate::transport::link::Link;
use crate::transport::tcp::TcpNetwork;

use super::target::TargetId;
use super::tended::{PROBE_WITHIN, Tended};

/// Asks servers how many connections they have, and tells the fleet.
pub(super) async fn look(tended: Weak<dyn Tended>, hello: Hello, servers: Vec<(TargetId, Endpoint)>) {
    let mut asked = JoinSet::new();
    for (id, endpoint) in servers {
        let hello = hello.clone();
        asked.spawn(async move { Some((id, connections(&endpoint, hello).await?)) });
    }
    let loads: Vec<(TargetId, u64)> = asked.join_all().await.into_iter().flatten().collect();
    if let Some(tended) = tended.upgrade() {
        tended.tend(&mut |fleet, now| fleet.saw_loads(&loads, now));
    }
}

/// How many connections a server says that it has.
async fn connections(endpoint: &Endpoint, hello: Hello) -> Option<u64> {
    let (link, _) = Link::open(&TcpNetwork, endpoint, hello, Limits::default(), PROBE_WITHIN).await.ok()?;
    let request = Request {
        time_left: u32::try_from(PROBE_WITHIN.as_micros()).unwrap_or(u32::MAX),
        scope: Scope::Local,
        operation_id: None,
        is_retry: false,
        operation: Operation::Status,
        known: None,
    };
    let reply = link.ask(request, PROBE_WITHIN).await;
    link.close();
    match reply {
        Ok(Reply::Done(Answer::Status(status))) => Some(status.connections),
        _ => None,
    }
}
