//! How leases reach servers: by a client of their own where the context's is another driver's, else by itself.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::naming::{ErrorKind, NamingError};

use super::super::config::ClientConfig;
use super::super::invocation::Invocation;
use super::super::lease::{Carrier, Leases, Task};
use super::{AsyncClient, Inner};

/// The leases of a context with these options, whose driver is another.
pub fn leases_beside(config: &ClientConfig) -> Leases {
    let config = config.clone();
    Leases::new(move || Ok(Arc::new(Beside(AsyncClient::new(config.beside())?)) as Arc<dyn Carrier>))
}

/// The leases of the client itself.
pub(super) fn of(client: Weak<Inner>) -> Leases {
    Leases::new(move || Ok(Arc::new(Itself(Weak::clone(&client))) as Arc<dyn Carrier>))
}

/// It ends with the last task that carries by it.
struct Beside(AsyncClient);

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Carrier for Beside {
    fn carry(&self, change: Invocation, within: Duration) -> Task<Result<(), NamingError>> {
        carry(self.0.clone(), change, within)
    }
}

/// Renewals don't keep it alive, and run in its runtime.
struct Itself(Weak<Inner>);

impl Carrier for Itself {
    fn carry(&self, change: Invocation, within: Duration) -> Task<Result<(), NamingError>> {
        match self.0.upgrade() {
            Some(inner) => carry(AsyncClient(inner), change, within),
            None => Box::pin(async { Err(NamingError::new(ErrorKind::ContextClosed, "nobody has the client any longer")) }),
        }
    }

    fn spawn(&self, task: Task<()>) -> std::io::Result<()> {
        let runtime = tokio::runtime::Handle::try_current().map_err(std::io::Error::other)?;
        drop(runtime.spawn(task));
        Ok(())
    }
}

fn carry(client: AsyncClient, change: Invocation, within: Duration) -> Task<Result<(), NamingError>> {
    Box::pin(async move { client.perform(change, Some(within)).await.map(drop) })
}
