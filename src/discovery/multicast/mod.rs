//! Multicast as a source: DNS-SD over mDNS (RFC 6763, RFC 6762), and the only user of mdns-sd.
//!
//! A node says that it is there, and of which cluster ([`Announcer`]); whoever asks for that cluster hears of it, and of its
//! leaving ([`browse`]). What is heard is a hint, and anybody can say it: it becomes a target, and the greeting of each
//! connection finds out whether a node of that cluster is behind it. So a forged announcement costs a refused greeting.
//!
//! ```text
//! mdns-sd's thread ── events ─▶ browser ─ sightings ─▶ search (pure) ─ whole lists ─▶ whoever listens
//! ```
//!
//! The service type is `_hanaming._tcp`. The instance is called after the node, with a number that makes it unique on the
//! network; its TXT record has `cluster` and `node`, its SRV and address records have where the node is reached.

mod announcer;
mod browser;
mod daemon;
mod search;
mod sighting;

pub use announcer::{Announcement, Announcer};
pub use browser::{Audience, browse};
pub use daemon::check as check_interface;
pub use search::{Input, Search};
pub use sighting::{Heard, Sighting};

/// The service type, as it's asked for.
const SERVICE: &str = "_hanaming._tcp.local.";

/// The key of the cluster's name in a TXT record.
const CLUSTER: &str = "cluster";

/// The key of the node's name there.
const NODE: &str = "node";
