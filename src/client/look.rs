//! How loaded servers are, as they say themselves: what clients that stay with one server each decide by.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::protocol::{Answer, Hello, Limits, Operation, Reply, Request, Scope};
use crate::topology::Endpoint;
use crate::transport::Network;
use crate::transport::link::Link;

use super::target::TargetId;
use super::tended::PROBE_WITHIN;

/// Asks servers how many connections they have. Those that don't say so are left out.
pub(super) async fn look(
    network: Arc<dyn Network>,
    hello: Hello,
    limits: Limits,
    servers: Vec<(TargetId, Endpoint)>,
) -> Vec<(TargetId, u64)> {
    let mut asked = JoinSet::new();
    for (id, endpoint) in servers {
        let (network, hello) = (Arc::clone(&network), hello.clone());
        asked.spawn(async move { Some((id, connections(&*network, &endpoint, hello, limits).await?)) });
    }
    asked.join_all().await.into_iter().flatten().collect()
}

/// How many connections a server says that it has.
async fn connections(network: &dyn Network, endpoint: &Endpoint, hello: Hello, limits: Limits) -> Option<u64> {
    let (link, _) = Link::open(network, endpoint, hello, limits, PROBE_WITHIN).await.ok()?;
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
