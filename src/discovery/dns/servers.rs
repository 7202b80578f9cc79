//! Several name servers for one question.
//!
//! They are asked one after the other, the next one as soon as one fails or has not answered within a moment; whoever
//! answered last is asked first. "No such name" is an answer; an error code is not, and neither is silence.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hickory_resolver::config::{ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, Record, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long one is waited for before the next is asked, too.
const MOMENT: Duration = Duration::from_millis(200);

/// Name servers, and who of them is asked first.
pub(super) struct NameServers {
    each: Vec<TokioResolver>,
    first: AtomicUsize,
}

impl NameServers {
    /// Those of this configuration. `within` is the time that a question has with one of them.
    pub(super) fn new(config: &ResolverConfig, options: &ResolverOpts, within: Duration) -> Result<Self, NetError> {
        let alone = |server| {
            let config =
                ResolverConfig::from_parts(config.domain().cloned(), config.search().to_vec(), vec![Clone::clone(server)]);
            let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
            let chosen = builder.options_mut();
            *chosen = options.clone();
            // When to ask again is decided elsewhere; a lost datagram is sent again all the same.
            chosen.attempts = 0;
            chosen.cache_size = 0;
            chosen.timeout = within;
            chosen.use_hosts_file = ResolveHosts::Never;
            builder.build()
        };
        let each = config.name_servers().iter().map(alone).collect::<Result<_, _>>()?;
        Ok(Self { each, first: AtomicUsize::new(0) })
    }

    /// The records of this kind, with all that led to them.
    pub(super) async fn records(&self, name: &Name, kind: RecordType) -> Result<Vec<Record>, NetError> {
        let first = self.first.load(Ordering::Relaxed);
        let mut left = (0..self.each.len()).map(|nth| (first + nth) % self.each.len());
        let mut asked = JoinSet::new();
        let mut failure = None;
        loop {
            if let Some(nth) = left.next() {
                let (resolver, name) = (self.each[nth].clone(), name.clone());
                asked.spawn(async move { (nth, resolver.lookup(name, kind).await) });
            } else if asked.is_empty() {
                return Err(failure.unwrap_or(NetError::NoConnections));
            }
            let heard =
                if left.len() == 0 { asked.join_next().await } else { timeout(MOMENT, asked.join_next()).await.ok().flatten() };
            let Some(Ok((nth, outcome))) = heard else { continue };
            match outcome {
                Ok(found) => {
                    self.first.store(nth, Ordering::Relaxed);
                    return Ok(found.answers().to_vec());
                }
                Err(none) if none.is_no_records_found() => {
                    self.first.store(nth, Ordering::Relaxed);
                    return Err(none);
                }
                // What one said tells more than that another said nothing.
                Err(error) => failure = failure.filter(|before| !matches!(before, NetError::Timeout)).or(Some(error)),
            }
        }
    }
}
