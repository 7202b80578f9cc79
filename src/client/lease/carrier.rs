//! Who carries what leases ask of servers.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::naming::{ErrorKind, NamingError};
use crate::protocol::{OperationId, Reply, Request, Scope};
use crate::transport::Service;

use super::super::invocation::Invocation;
use super::super::{fault, keeper};

/// What runs beside a context.
pub type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Carries the changes of leases to servers, beside the context whose leases they are.
pub trait Carrier: Send + Sync {
    /// Carries out one change.
    fn carry(&self, change: Invocation, within: Duration) -> Task<Result<(), NamingError>>;
    /// Runs a task where its changes may run.
    fn spawn(&self, task: Task<()>) -> std::io::Result<()> {
        keeper::spawn(task)
    }
}

/// To a node of this process.
pub(super) struct InProcess {
    service: Arc<dyn Service>,
    client: u128,
    changes: AtomicU64,
}

impl InProcess {
    pub(super) fn new(service: Arc<dyn Service>) -> Self {
        Self { service, client: rand::random(), changes: AtomicU64::new(1) }
    }
}

impl Carrier for InProcess {
    fn carry(&self, change: Invocation, within: Duration) -> Task<Result<(), NamingError>> {
        let request = Request {
            time_left: u32::try_from(within.as_micros()).unwrap_or(u32::MAX),
            scope: Scope::Cluster,
            operation_id: Some(OperationId { client: self.client, sequence: self.changes.fetch_add(1, Ordering::Relaxed) }),
            is_retry: false,
            operation: change.operation(),
            known: None,
        };
        let (sender, reply) = oneshot::channel();
        self.service.submit(request, within, Box::new(move |reply| drop(sender.send(reply))));
        Box::pin(async move {
            match reply.await {
                Ok(Reply::Failed(fault)) => Err(fault::to_error(fault)),
                Ok(_) => Ok(()),
                Err(_) => Err(NamingError::new(ErrorKind::ContextClosed, "the node is closed")),
            }
        })
    }
}
