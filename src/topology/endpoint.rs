//! Where a node is reached: a host (name or IP literal) and a port.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The port of a hanaming node where none is given.
pub const DEFAULT_PORT: u16 = 11100;

/// A host and a port. Displays as `host:port`, an IPv6 literal in brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    host: String,
    port: u16,
}

/// A text that is no `host[:port]`: what it was, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an address: {problem}; write host:port, for instance 127.0.0.1:11100 or [::1]:11100")]
pub struct EndpointError {
    /// The text as it was given.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Endpoint {
    /// `host` may be a name, an IPv4 literal or an IPv6 literal without brackets.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// The host, an IPv6 literal without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The socket address, where the host is an IP literal.
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.host.parse::<IpAddr>().ok()?, self.port))
    }

    /// Whether the host is an IP literal, also one with a zone (`fe80::1%eth0`), which the system alone can read.
    pub fn is_literal(&self) -> bool {
        let address = self.host.split_once('%').map_or(self.host.as_str(), |(address, _)| address);
        address.parse::<IpAddr>().is_ok()
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; a bare IPv6 literal is taken too. A missing port is
    /// `default_port`.
    pub fn parse(text: &str, default_port: u16) -> Result<Self, EndpointError> {
        let fail = |problem| EndpointError { text: text.to_owned(), problem };
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix('[') {
            let (host, after) = rest.split_once(']').ok_or_else(|| fail("the bracket is not closed"))?;
            if host.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(fail("what stands in brackets is no IPv6 address"));
            }
            let port = match after.strip_prefix(':') {
                Some(port) => parse_port(port).map_err(fail)?,
                None if after.is_empty() => default_port,
                None => return Err(fail("something other than a port follows the bracket")),
            };
            return Ok(Self::new(host, port));
        }
        if trimmed.parse::<std::net::Ipv6Addr>().is_ok() {
            return Ok(Self::new(trimmed, default_port));
        }
        let (host, port) = match trimmed.split_once(':') {
            Some((_, port)) if port.contains(':') => return Err(fail("it has several colons and is no IPv6 address")),
            Some((host, port)) => (host, parse_port(port).map_err(fail)?),
            None => (trimmed, default_port),
        };
        if host.is_empty() {
            return Err(fail("the host is missing"));
        }
        if let Some(bad) = host.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))) {
            return Err(fail(if bad.is_whitespace() {
                "the host has a blank in it"
            } else {
                "the host has a character that no host name has"
            }));
        }
        if host.strip_suffix('.').unwrap_or(host).split('.').any(str::is_empty) {
            return Err(fail("the host has a dot with nothing before it"));
        }
        Ok(Self::new(host, port))
    }
}

fn parse_port(text: &str) -> Result<u16, &'static str> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("the port is no number");
    }
    text.parse().map_err(|_| "the port is over 65535")
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, DEFAULT_PORT)
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self::new(address.ip().to_string(), address.port())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
