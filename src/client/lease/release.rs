//! Leases that are given back: what they were of is unbound, each version alone, and all within a bound time.
//!
//! Who closes a context says that what it held is over: there is no silence to wonder about, however many there are. What
//! can't be reached in time goes with its lease.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::naming::{Name, Version};

use super::super::invocation::Invocation;
use super::carrier::Carrier;

/// The time that giving back has in all.
const WITHIN: Duration = Duration::from_secs(2);
/// So many leases are given back at once.
const AT_ONCE: usize = 32;

/// Leases that are being given back, in the background.
#[derive(Debug, Default)]
pub struct Releasing(Option<Receiver<()>>);

impl Releasing {
    /// Gives back in the background.
    pub(super) fn begin(carrier: &Arc<dyn Carrier>, held: Vec<(Name, Version)>) -> Self {
        if held.is_empty() {
            return Self(None);
        }
        let (done, waits) = sync_channel(1);
        let work = release(Arc::clone(carrier), held);
        let told = async move {
            work.await;
            let _ = done.send(());
        };
        match carrier.spawn(Box::pin(told)) {
            Ok(()) => Self(Some(waits)),
            Err(error) => {
                tracing::warn!(%error, "leases can't be given back: they end in their time");
                Self(None)
            }
        }
    }

    /// Whether there is something to wait for.
    pub fn is_under_way(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until it's done, or can't be done in time.
    pub fn wait(self) {
        if let Some(waits) = self.0 {
            let _ = waits.recv_timeout(WITHIN);
        }
    }
}

/// Gives all of these back.
pub(super) async fn release(carrier: Arc<dyn Carrier>, held: Vec<(Name, Version)>) {
    let work = async {
        let mut under_way = JoinSet::new();
        for (name, version) in held {
            if under_way.len() >= AT_ONCE {
                under_way.join_next().await;
            }
            if let Ok(change) = Invocation::release(name.clone().into(), version) {
                let released = carrier.carry(change, WITHIN);
                under_way.spawn(async move {
                    if let Err(error) = released.await {
                        tracing::debug!("the lease of '{name}' was not given back, and ends in its time: {error}");
                    }
                });
            }
        }
        while under_way.join_next().await.is_some() {}
    };
    if timeout(WITHIN, work).await.is_err() {
        tracing::warn!("not all leases could be given back: what is left ends in its time");
    }
}
