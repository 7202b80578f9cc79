//! What is simulated.

use std::time::Duration;

use crate::client::Policy;
use crate::discovery::RefreshMode;
use crate::naming::{ErrorKind, NamingError};

/// A week.
pub const WEEK: Duration = DAY.saturating_mul(7);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a server is when it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// At an address of its own; the name lists those that are up.
    New,
    /// Where it was; the name lists it all the time.
    Kept,
}

/// How servers are restarted: one after the other, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Restarts {
    /// All servers once in this time; `None`: never.
    pub every: Option<Duration>,
    /// The time from one server's restart to the next one's; `None`: they are spread over the whole time.
    pub gap: Option<Duration>,
    /// How long a server is away.
    pub downtime: Duration,
    /// Where it comes back.
    pub addresses: Addresses,
}

/// Servers behind one name, and programs that call them.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Servers at the beginning.
    pub servers: u32,
    /// Programs that call them, each with contexts of its own.
    pub clients: u32,
    /// Contexts of each program.
    pub contexts: u32,
    /// How long it goes on.
    pub length: Duration,
    /// How targets are chosen.
    pub policy: Policy,
    /// When the name is resolved again.
    pub refresh: RefreshMode,
    /// How long the name server says that an answer is good.
    pub ttl: Duration,
    /// How servers are restarted.
    pub restarts: Restarts,
    /// How many servers there are from these times on.
    pub scaling: Vec<(Duration, u32)>,
    /// From when the name server fails, and for how long.
    pub dns_failures: Vec<(Duration, Duration)>,
    /// The time from one call of a context to the next, in the mean.
    pub call_every: Duration,
    /// Servers say how loaded they are, as hanaming's nodes do and others don't.
    pub told_loads: bool,
    /// Servers tell who else there is, as hanaming's nodes do, and clients heed it.
    pub views: bool,
    /// Into how many slices the time is cut.
    pub slices: u32,
    /// What all chance follows from.
    pub seed: u64,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            servers: 4,
            clients: 72,
            contexts: 1,
            length: WEEK * 4,
            policy: Policy::default(),
            refresh: RefreshMode::default(),
            ttl: Duration::from_secs(30),
            restarts: Restarts { every: Some(WEEK), gap: None, downtime: Duration::from_secs(600), addresses: Addresses::New },
            scaling: Vec::new(),
            dns_failures: Vec::new(),
            call_every: Duration::from_secs(60),
            told_loads: true,
            views: false,
            slices: 200,
            seed: 0,
        }
    }
}

/// More of anything would take longer than anybody waits.
const MOST_SERVERS: u32 = 1_000;
const MOST_CONTEXTS: u32 = 100_000;
const MOST_SLICES: u32 = 100_000;
const MOST_COUNTS: u32 = 10_000_000;
const LONGEST: Duration = WEEK.saturating_mul(520);
/// Where time is counted in less, nothing is told apart.
const SHORTEST: Duration = Duration::from_millis(1);

impl Scenario {
    /// Refuses what can't be meant, or would never end.
    pub fn validate(&self) -> Result<(), NamingError> {
        in_range("servers", self.servers, MOST_SERVERS)?;
        in_range("clients", self.clients, MOST_CONTEXTS)?;
        in_range("contexts", self.contexts, MOST_CONTEXTS)?;
        in_range("clients times contexts", self.clients.saturating_mul(self.contexts), MOST_CONTEXTS)?;
        in_range("samples", self.slices, MOST_SLICES)?;
        in_range("samples times servers", self.slices.saturating_mul(self.most_servers()), MOST_COUNTS)?;
        let times = [
            ("weeks", Some(self.length)),
            ("the time from one restart of a server to its next", self.restarts.every),
            ("restart_gap", self.restarts.gap),
            ("downtime", Some(self.restarts.downtime)),
            ("call_every", Some(self.call_every)),
        ];
        for (option, time) in times {
            let time = time.unwrap_or(WEEK);
            if time < SHORTEST || time > LONGEST {
                return Err(wrong(&format!("{option} is {} s: it can be from 0.001 s to ten years", time.as_secs_f64())));
            }
        }
        for (_, servers) in &self.scaling {
            in_range("scaling: a number of servers", *servers, MOST_SERVERS)?;
        }
        let days = |time: Duration| time.as_secs_f64() / DAY.as_secs_f64();
        let scaled = self.scaling.iter().map(|(at, _)| ("scaling", *at));
        let failed = self.dns_failures.iter().map(|(at, _)| ("dns_failures", *at));
        if let Some((option, at)) = scaled.chain(failed).find(|(_, at)| *at >= self.length) {
            let (at, end) = (days(at), days(self.length));
            return Err(wrong(&format!("{option}: day {at} lies beyond the end, which is that of day {end}")));
        }
        Ok(())
    }

    /// The most servers that there are at any time.
    pub fn most_servers(&self) -> u32 {
        self.scaling.iter().map(|(_, servers)| *servers).fold(self.servers, u32::max)
    }

    /// How many servers there are to be at this time.
    pub fn servers_at(&self, time: Duration) -> u32 {
        let last = self.scaling.iter().filter(|(at, _)| *at <= time).max_by_key(|(at, _)| *at);
        last.map_or(self.servers, |(_, servers)| *servers)
    }
}

fn in_range(option: &str, value: u32, most: u32) -> Result<(), NamingError> {
    if (1..=most).contains(&value) { Ok(()) } else { Err(wrong(&format!("{option} is {value}: it can be from 1 to {most}"))) }
}

fn wrong(message: &str) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}
