//! What a client is told when it is made.

use std::time::Duration;

use crate::discovery::dns::DnsConfig;
use crate::discovery::{Neighbourhood, Source, provider_url};
use crate::naming::{ErrorKind, NamingError};
use crate::protocol::{Limits, Scope};
use crate::topology::Endpoint;

use super::cache::Generation;
use super::members::Members;

/// How a request's target is chosen among those in good health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// One after the other, from a random start.
    #[default]
    RoundRobin,
    /// At random.
    RandomRobin,
    /// One elected target for each context, until it fails.
    FirstAvailable,
    /// One elected target for all contexts of a cluster in this process, until it fails.
    FirstAvailableIdenticalAllProxies,
    /// The less loaded of two drawn at random: by requests outstanding and by latency. Only answers count.
    LeastLoaded,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 5] =
        [Self::RoundRobin, Self::RandomRobin, Self::FirstAvailable, Self::FirstAvailableIdenticalAllProxies, Self::LeastLoaded];

    /// The word used in options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::RandomRobin => "random_robin",
            Self::FirstAvailable => "first_available",
            Self::FirstAvailableIdenticalAllProxies => "first_available_identical_all_proxies",
            Self::LeastLoaded => "least_loaded",
        }
    }

    /// Whether whoever has it stays with one server.
    pub fn elects(self) -> bool {
        matches!(self, Self::FirstAvailable | Self::FirstAvailableIdenticalAllProxies)
    }
}

impl std::str::FromStr for Policy {
    type Err = NamingError;

    fn from_str(text: &str) -> Result<Self, NamingError> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            wrong(format!("policy={text:?} is unknown; there are {known}"))
        })
    }
}

/// The options of a client. [`ClientConfig::new`] has a default for each but the providers.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Where servers are, to begin with.
    pub providers: Vec<Source>,
    /// How names are resolved.
    pub dns: DnsConfig,
    /// From which trees requests are answered: the whole cluster's, or the one node's own. Never `Peer`.
    pub scope: Scope,
    /// How targets are chosen.
    pub policy: Policy,
    /// The time that one operation has, over all its attempts.
    pub timeout: Duration,
    /// The time that one attempt of a read has.
    pub attempt_timeout: Duration,
    /// The time that one attempt of a mutation has.
    pub mutation_timeout: Duration,
    /// The cluster wanted: servers of another refuse. `None` takes any, or the one that a provider names.
    pub cluster: Option<String>,
    /// Whether servers that a view names become targets too.
    pub follow_views: bool,
    /// Lookups' answers are kept as long as they are true; what is kept is counted here.
    pub cache: Option<Generation>,
    /// Whom servers told of, for the clients that work beside this one.
    pub members: Members,
    /// What is taken from a server at most.
    pub limits: Limits,
    /// The seed of all random choices; `None` draws one. Tests set it.
    pub seed: Option<u64>,
}

impl ClientConfig {
    /// The time that an operation has where nothing else is said.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

    /// An HA context's client over the servers at these addresses, or behind these host names.
    pub fn new(providers: Vec<Endpoint>) -> Self {
        Self::over(providers.into_iter().map(Source::Host).collect())
    }

    /// An HA context's client over whatever these sources list.
    pub fn over(providers: Vec<Source>) -> Self {
        Self {
            providers,
            dns: DnsConfig::default(),
            scope: Scope::Cluster,
            policy: Policy::default(),
            timeout: Self::DEFAULT_TIMEOUT,
            attempt_timeout: Duration::from_millis(250),
            mutation_timeout: Duration::from_secs(1),
            cluster: None,
            follow_views: true,
            cache: None,
            members: Members::default(),
            limits: Limits::default(),
            seed: None,
        }
    }

    /// An HA context's client over the servers that provider texts name; none is loopback.
    pub fn from_providers<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, NamingError> {
        provider_url::parse(texts).map(Self::over).map_err(|error| wrong(error.to_string()))
    }

    /// The client of one node's local tree. It has that target and never another.
    pub fn local(text: &str) -> Result<Self, NamingError> {
        let config = Self::from_providers([text])?;
        let config = Self { scope: Scope::Local, follow_views: false, ..config };
        config.validate()?;
        Ok(config)
    }

    /// The options of a client that works beside the one with these: it knows whom that one was told of.
    pub(super) fn beside(&self) -> Self {
        let mut beside = Self { cache: None, members: Members::default(), ..self.clone() };
        if self.follow_views && self.scope == Scope::Cluster {
            let told = self.members.endpoints();
            let new = told.iter().cloned().map(Source::from).filter(|member| !self.providers.contains(member));
            beside.providers.extend(new);
        }
        beside
    }

    /// The cluster that is greeted: servers of another refuse. `hn+mdns://cluster` names one, too.
    pub fn wanted_cluster(&self) -> Option<String> {
        self.cluster.clone().or_else(|| self.neighbourhoods().next().map(|of| of.cluster.to_string()))
    }

    fn neighbourhoods(&self) -> impl Iterator<Item = &Neighbourhood> {
        self.providers.iter().filter_map(|source| match source {
            Source::Multicast(of) => Some(of),
            Source::Host(_) | Source::Services(_) => None,
        })
    }

    /// Refuses options that can't be meant.
    pub fn validate(&self) -> Result<(), NamingError> {
        if self.providers.is_empty() {
            return Err(wrong("no provider is given; write hn://host:11100".to_owned()));
        }
        if self.cluster.as_deref() == Some("") {
            return Err(wrong("cluster is \"\": give the cluster's name, or None for any".to_owned()));
        }
        if self.scope == Scope::Peer {
            return Err(wrong("a client asks with the scope Cluster or Local; Peer is for nodes".to_owned()));
        }
        if self.scope == Scope::Local && self.providers.len() > 1 {
            let count = self.providers.len();
            return Err(wrong(format!(
                "a local context is one node's, and {count} addresses are given; name one, or use an HA context"
            )));
        }
        self.check_neighbourhoods()?;
        for (option, value) in
            [("timeout", self.timeout), ("attempt_timeout", self.attempt_timeout), ("mutation_timeout", self.mutation_timeout)]
        {
            check_time(option, value)?;
        }
        Ok(())
    }
}

impl ClientConfig {
    fn check_neighbourhoods(&self) -> Result<(), NamingError> {
        let wanted = self.wanted_cluster();
        for of in self.neighbourhoods() {
            if self.scope == Scope::Local {
                return Err(wrong(format!("{of} is a whole cluster, and a local context is one node's; write hn://host:11100")));
            }
            if wanted.as_deref() != Some(&*of.cluster) {
                let other = wanted.unwrap_or_default();
                return Err(wrong(format!("{of} names another cluster than {other:?}, and a context is of one; leave one out")));
            }
        }
        Ok(())
    }
}

/// The longest time that can be asked for: a day.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads an option in seconds. Times over a day are a day; what is negative, nothing or no number is refused.
pub fn seconds(option: &str, value: f64) -> Result<Duration, NamingError> {
    if value.is_nan() || value <= 0.0 {
        return Err(wrong(format!("{option} is {value}: give a positive number of seconds")));
    }
    Ok(Duration::from_secs_f64(value.min(LONGEST.as_secs_f64())).max(SHORTEST))
}

/// The shortest time there is: none at all would be no time.
const SHORTEST: Duration = Duration::from_nanos(1);

/// Refuses no time at all, in which nothing can be done.
pub(super) fn check_time(option: &str, time: Duration) -> Result<(), NamingError> {
    if time.is_zero() { Err(wrong(format!("{option} is 0: give a positive number of seconds"))) } else { Ok(()) }
}

fn wrong(message: String) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}
