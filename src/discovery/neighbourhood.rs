//! A cluster whose nodes announce themselves on the network, and where they are listened for.
//!
//! Written as `hn+mdns://cluster`, or `hn+mdns://cluster?interface=eth0`. A cluster may be called almost anything; what a
//! URL can't hold as it is stands there as `%20`.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// A cluster, and where its nodes announce themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neighbourhood {
    /// The cluster's name. What another cluster's nodes announce is ignored.
    pub cluster: Arc<str>,
    /// Where they are listened for.
    pub interface: Interface,
}

/// Where multicast goes out and comes in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// By all that the machine has.
    #[default]
    Every,
    /// By the one of this name.
    Named(Arc<str>),
    /// By the one that has this address, for addresses of its kind.
    At(IpAddr),
}

impl From<&str> for Interface {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Named(text.into()), Self::At)
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every => f.write_str("every interface"),
            Self::Named(name) => write!(f, "interface {name}"),
            Self::At(address) => write!(f, "the interface with {address}"),
        }
    }
}

/// What the words behind `hn+mdns://` must be.
const WRITE: &str = "write hn+mdns://cluster, or hn+mdns://cluster?interface=eth0";

impl Neighbourhood {
    /// Reads what stands behind `hn+mdns://`. The error says what is wrong with it, and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (cluster, query) = text.split_once('?').map_or((text, None), |(cluster, query)| (cluster, Some(query)));
        let cluster = cluster.strip_suffix('/').unwrap_or(cluster);
        if cluster.is_empty() {
            return Err(format!("it names no cluster; {WRITE}"));
        }
        if let Some((name, port)) = cluster.rsplit_once(':') {
            let name = if name.is_empty() { "cluster" } else { name };
            return Err(format!(
                "a cluster has no port, as each node announces its own, and {:?} follows it; write hn+mdns://{name} (a colon in a \
                 cluster's name is written %3A)",
                format!(":{port}")
            ));
        }
        if let Some(bad) = cluster.chars().find(|c| matches!(c, '/' | ',' | '#' | '@') || c.is_whitespace() || c.is_control()) {
            return Err(format!("one cluster's name must follow and nothing else, and {bad:?} stands in it; {WRITE}"));
        }
        let decoded = decoded(cluster).filter(|name| !name.chars().any(char::is_control));
        let cluster = decoded.ok_or_else(|| format!("what stands behind a % in it is no character; {WRITE}"))?;
        let interface = match query {
            None => Interface::Every,
            Some(query) => match query.split_once('=') {
                Some(("interface", name)) if is_interface(name) => Interface::from(name),
                _ => return Err(format!("?{query} is not understood; {WRITE}")),
            },
        };
        Ok(Self { cluster: cluster.into(), interface })
    }
}

impl fmt::Display for Neighbourhood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hn+mdns://")?;
        for byte in self.cluster.bytes() {
            match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => write!(f, "{}", char::from(byte))?,
                other => write!(f, "%{other:02X}")?,
            }
        }
        match &self.interface {
            Interface::Every => Ok(()),
            Interface::Named(name) => write!(f, "?interface={name}"),
            Interface::At(address) => write!(f, "?interface={address}"),
        }
    }
}

fn is_interface(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '&', '=', '%']) && !name.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_shown() {
        for (text, cluster, interface) in [
            ("prod", "prod", Interface::Every),
            ("prod?interface=eth0", "prod", Interface::Named("eth0".into())),
            ("p%C3%B6%20%2F?interface=::1", "pö /", Interface::At("::1".parse().unwrap())),
            ("100%25", "100%", Interface::Every),
            ("a%3A1", "a:1", Interface::Every),
        ] {
            let read = Neighbourhood::parse(text).unwrap();
            assert_eq!((&*read.cluster, &read.interface), (cluster, &interface));
            assert_eq!(read.to_string(), format!("hn+mdns://{text}"));
        }
        assert_eq!(Neighbourhood::parse("prod/").unwrap().to_string(), "hn+mdns://prod");
    }

    #[test]
    fn what_is_none_says_what_to_write() {
        let said = Neighbourhood::parse("prod:11100?interface=lo").unwrap_err();
        assert!(said.contains("has no port") && said.contains("write hn+mdns://prod (") && said.contains("%3A"), "{said}");
        for (text, part) in [
            ("", "names no cluster"),
            ("/", "names no cluster"),
            ("?interface=lo", "names no cluster"),
            ("a,b", "one cluster's name"),
            ("a/b", "one cluster's name"),
            ("a b", "one cluster's name"),
            ("a%2", "no character"),
            ("a%FF", "no character"),
            ("a%0A", "no character"),
            ("a?interface=", "?interface= is not understood"),
            ("a?interface=x y", "is not understood"),
            ("a?port=1", "?port=1 is not understood"),
        ] {
            let said = Neighbourhood::parse(text).unwrap_err();
            assert!(said.contains(part) && said.contains("write hn+mdns://cluster"), "{text:?}: {said}");
        }
    }
}
