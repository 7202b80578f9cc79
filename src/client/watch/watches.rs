//! All watches of one context.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;

use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::{Scope, WatchScope};
use crate::transport::Service;

use super::super::asynchronous::AsyncClient;
use super::super::config::{ClientConfig, Policy};
use super::super::driver::closed_context;
use super::super::{fork, keeper};
use super::asker::Asker;
use super::follower::Follower;
use super::watch::{Shared, Watch};

/// The time that one question has over all its attempts, before the watch pauses.
const ROUND: Duration = Duration::from_secs(5);

/// The watches of one context, which end with it.
pub struct Watches {
    source: Source,
    life: ArcSwapOption<Life>,
    closed: AtomicBool,
}

enum Source {
    Network(Box<ClientConfig>),
    Process(Arc<dyn Service>, Scope),
}

/// What they have of one process.
struct Life {
    generation: u64,
    asker: Asker,
    open: Mutex<Vec<Weak<Shared>>>,
}

impl Watches {
    /// Of the servers that these options tell. They have connections of their own, and stay with one server as long as it
    /// answers: positions in different servers' logs can't be compared.
    pub fn over_network(config: &ClientConfig) -> Self {
        let config = ClientConfig { policy: Policy::FirstAvailable, timeout: ROUND, ..config.clone() };
        Self::of(Source::Network(Box::new(config)))
    }

    /// Of a node of this process.
    pub fn in_process(service: Arc<dyn Service>, scope: Scope) -> Self {
        Self::of(Source::Process(service, scope))
    }

    fn of(source: Source) -> Self {
        Self { source, life: ArcSwapOption::empty(), closed: AtomicBool::new(false) }
    }

    /// Begins to watch `name`, from the root. With `initial` what is bound now comes first. Nothing is waited for.
    pub fn begin(&self, name: Name, scope: WatchScope, initial: bool) -> Result<Watch, NamingError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(closed_context());
        }
        name.check_operation()?;
        let life = self.life()?;
        let watch = Watch::new(Follower::new(name, scope, initial));
        let mut open = life.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|watch| watch.strong_count() > 0);
        open.push(Arc::downgrade(&watch.0));
        drop(open);
        let fed = watch.feed(life.asker.clone());
        keeper::spawn(fed).map_err(|error| {
            let message = format!("the background thread that follows watches could not be started: {error}");
            NamingError::new(ErrorKind::Internal, message)
        })?;
        // Whoever closed the context meanwhile may not have seen it.
        if self.closed.load(Ordering::Acquire) {
            watch.0.fail(closed_context());
        }
        Ok(watch)
    }

    /// The way to the servers that its watches take.
    pub fn asker(&self) -> Result<Asker, NamingError> {
        Ok(self.life()?.asker.clone())
    }

    /// Ends all of them.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let Some(life) = self.life.load_full().filter(|life| life.generation == fork::generation()) else { return };
        let open = std::mem::take(&mut *life.open.lock().unwrap_or_else(PoisonError::into_inner));
        for watch in open.iter().filter_map(Weak::upgrade) {
            watch.fail(closed_context());
        }
        if let Asker::Network(client) = &life.asker {
            client.close();
        }
    }

    /// This process's life. In a forked child it begins anew: the parent's may be locked for good.
    fn life(&self) -> Result<Arc<Life>, NamingError> {
        loop {
            let life = self.life.load_full();
            if let Some(life) = life.as_ref().filter(|life| life.generation == fork::generation()) {
                return Ok(Arc::clone(life));
            }
            let asker = match &self.source {
                Source::Network(config) => Asker::Network(AsyncClient::new(config.beside())?),
                Source::Process(service, scope) => Asker::Process(Arc::clone(service), *scope),
            };
            let fresh = Arc::new(Life { generation: fork::generation(), asker, open: Mutex::default() });
            drop(self.life.compare_and_swap(&life, Some(fresh)));
            std::mem::forget(life);
        }
    }
}

/// Nobody can listen to a watch without its context's being open.
impl Drop for Watches {
    fn drop(&mut self) {
        match self.life.swap(None) {
            // The parent's sockets and locks stay as they are.
            Some(life) if life.generation != fork::generation() => std::mem::forget(life),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Watches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watches").finish_non_exhaustive()
    }
}
