//! Provider URLs: the text in which a user says where the servers are.
//!
//! hanaming's own, `hn://h1:11100,h2`, is read strictly ([`parse`]): a provider that is silently read as something else
//! sends a client to the wrong servers.
//!
//! Those of older naming systems ([`read`]) were written for other programs, often by hand and long ago. Each family has
//! its *dialect*, a file beside this one: how entries are separated, which port is meant where none is given. An entry
//! that its own system would not have understood is left out, or read as it was plainly meant, and a *warning* says
//! which, and what to write instead. Only a text in which nothing is usable is an error.
//!
//! All of this takes time in proportion to the text, whatever the text.

mod authority;
mod corba;
mod dialect;
mod excerpt;
mod hn;
mod jnp;
mod ldap;
mod list;
mod own;
mod reading;
mod remote;
mod rmi;
mod warnings;
mod weblogic;
mod websphere;

pub use dialect::{Product, read};
pub(super) use excerpt::excerpt;
pub use own::{LOOPBACK, ProviderError, loopback, parse};
pub(super) use warnings::Warnings;

/// A provider URL as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUrl {
    /// The scheme that decided the dialect, in lower case. A bare list is `jnp`.
    pub scheme: String,
    /// What is usable, in order, each once.
    pub endpoints: Vec<ProviderEndpoint>,
    /// What follows the addresses and names something there: an object key, a name, a directory's base entry.
    pub path: Option<String>,
    /// What is dubious, and what to write.
    pub warnings: Vec<String>,
}

/// One place that a provider URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderEndpoint {
    /// The protocol spoken there, in lower case: `t3`, `ldap`; for `corbaloc` that of the address, `iiop` or `rir`.
    pub scheme: String,
    /// The host, an IPv6 literal without brackets; for `hn+srv` and `hn+mdns` the name to ask for; empty for `rir`.
    pub host: String,
    /// The port. `None` where it is not an address but something to be asked first: `hn+srv`, `hn+mdns`, `rir`.
    pub port: Option<u16>,
    /// The protocol's version where the URL can tell one: `1.0` for `corbaloc` if it doesn't.
    pub version: Option<String>,
    /// Whether the port is the dialect's default.
    pub defaulted: bool,
    /// Whether this is the only entry and a DNS name: it may stand for a whole cluster.
    pub multi_address: bool,
}
