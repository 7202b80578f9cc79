//! What a user says of name resolution: whom to ask, and when again.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::topology::Endpoint;

use super::super::refresh::RefreshMode;

/// The port of name servers.
const PORT: u16 = 53;

/// Whom to ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DnsServers {
    /// What the system is configured to ask, and its hosts file before. Changes of either are heeded.
    #[default]
    System,
    /// These alone, for names as they stand: no hosts file, no search list.
    Given(Vec<SocketAddr>),
}

/// A text that names no name server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name server: write its address, for instance 10.0.0.2, 127.0.0.1:5353 or [::1]:53")]
pub struct DnsServerError(String);

impl DnsServers {
    /// Reads addresses of name servers, each with or without a port. None at all are the system's.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, DnsServerError> {
        let servers = texts.into_iter().map(parse_one).collect::<Result<Vec<_>, _>>()?;
        Ok(if servers.is_empty() { Self::System } else { Self::Given(servers) })
    }
}

fn parse_one(text: &str) -> Result<SocketAddr, DnsServerError> {
    let wrong = || DnsServerError(text.to_owned());
    if let Ok(address) = text.trim().parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, PORT));
    }
    let address = Endpoint::parse(text, PORT).ok().and_then(|endpoint| endpoint.socket_addr()).ok_or_else(wrong)?;
    if address.port() == 0 { Err(wrong()) } else { Ok(address) }
}

impl fmt::Display for DnsServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("the system's resolver"),
            Self::Given(servers) => {
                for (at, server) in servers.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    if server.port() == PORT { server.ip().fmt(f)? } else { server.fmt(f)? }
                }
                Ok(())
            }
        }
    }
}

/// The options of name resolution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsConfig {
    /// When an answer is asked for again.
    pub refresh: RefreshMode,
    /// Whom to ask.
    pub servers: DnsServers,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_with_and_without_ports() {
        for (texts, shown) in [
            (&[][..], "the system's resolver"),
            (&["10.0.0.2", "127.0.0.1:5353"], "10.0.0.2, 127.0.0.1:5353"),
            (&[" ::1 ", "[::1]:5353", "[fe80::1]"], "::1, [::1]:5353, fe80::1"),
        ] {
            assert_eq!(DnsServers::parse(texts.iter().copied()).unwrap().to_string(), shown);
        }
        for wrong in ["", "ns.example", "10.0.0.2:x", "10.0.0.2:0", "10.0.0"] {
            assert!(DnsServers::parse([wrong]).unwrap_err().to_string().contains("write its address"), "{wrong:?}");
        }
    }
}
