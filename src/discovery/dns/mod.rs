//! Name servers as a source: the only user of hickory.
//!
//! [`Dns::ask`] puts one question and gives the whole answer. Whatever is asked, and by however many clients of a process,
//! a question goes out at most once a second: who asks sooner is given what came of it, as old as it is. There is no other
//! cache, as when an answer has grown old is decided by [`refresh`](super::refresh).
//!
//! A host's two families of addresses are asked for at once. The first time, the slower one is not waited for longer than
//! a moment; later it has the whole time, as nobody waits.

mod aliases;
mod config;
mod lookup;
mod servers;
mod shared;
mod system;

pub use config::{DnsConfig, DnsServerError, DnsServers};
pub use shared::Dns;
pub use system::SystemFiles;
