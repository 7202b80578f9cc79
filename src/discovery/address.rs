//! Where servers of any service are: `host:port`, a URL that names a host and a port, `dns://name:port` for all addresses
//! of a name, or `srv://name` for all that its SRV records list.
//!
//! Unlike a provider's, such an address has no default port of its own; a URL has the one of its scheme.

use crate::topology::{Endpoint, EndpointError};

use super::source::Source;

/// The ports of schemes that are common in registrations.
const PORTS: &[(&str, u16)] = &[
    ("http", 80),
    ("https", 443),
    ("ws", 80),
    ("wss", 443),
    ("ldap", 389),
    ("ldaps", 636),
    ("redis", 6379),
    ("rediss", 6379),
    ("amqp", 5672),
    ("amqps", 5671),
    ("postgresql", 5432),
    ("mysql", 3306),
    ("mongodb", 27017),
];

/// An address that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is none.
    #[error("{0}")]
    Malformed(#[from] EndpointError),
    /// It says no port.
    #[error("{0:?} has no port; write host:port, for instance 10.0.0.5:8080")]
    NoPort(String),
    /// It says more than a name in DNS and a port.
    #[error(
        "{0:?} must be one name and its port and nothing else: what is called there is yours to say; write dns://orders.example:8080"
    )]
    MoreThanAHost(String),
    /// It says more than the name of SRV records.
    #[error("{0:?} must be one name and nothing else, as SRV records tell the ports; write srv://_http._tcp.orders.example")]
    MoreThanAName(String),
    /// It says where nodes of hanaming's own are, as contexts take it.
    #[error("{given:?} finds hanaming's own nodes, for an HAContext; for any service {write}")]
    Provider {
        /// The address as it was given.
        given: String,
        /// What to write instead.
        write: String,
    },
}

/// Reads one address.
///
/// ```
/// use hanaming::discovery::address;
///
/// assert_eq!(address::parse("10.0.0.5:8080")?.to_string(), "10.0.0.5:8080");
/// assert_eq!(address::parse("https://user@orders.prod/v1?x=1")?.to_string(), "orders.prod:443");
/// assert_eq!(address::parse("dns://orders.prod.svc:8080")?.to_string(), "orders.prod.svc:8080");
/// assert_eq!(address::parse("srv://_http._tcp.orders.prod.svc")?.to_string(), "_http._tcp.orders.prod.svc");
/// # Ok::<(), address::AddressError>(())
/// ```
pub fn parse(text: &str) -> Result<Source, AddressError> {
    let trimmed = text.trim();
    let (default_port, host) = match trimmed.split_once("://") {
        None => (0, trimmed.to_owned()),
        Some((scheme, rest)) => {
            let scheme = scheme.to_ascii_lowercase();
            if scheme == "srv" {
                return services(rest).ok_or_else(|| AddressError::MoreThanAName(text.to_owned()));
            }
            if let Some(write) = meant(&scheme, rest) {
                return Err(AddressError::Provider { given: text.to_owned(), write });
            }
            if scheme == "dns" && rest.trim_end_matches('/').contains(['/', '?', '#', '@']) {
                return Err(AddressError::MoreThanAHost(text.to_owned()));
            }
            let port = PORTS.iter().find(|(known, _)| *known == scheme).map_or(0, |(_, port)| *port);
            let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
            (port, plain_zone(authority.rsplit_once('@').map_or(authority, |(_, host)| host)))
        }
    };
    let (host, zone) = without_zone(&host);
    let endpoint = Endpoint::parse(&host, default_port).map_err(|error| EndpointError { text: text.to_owned(), ..error })?;
    let endpoint = match zone {
        Some(zone) => Endpoint::new(format!("{}%{zone}", endpoint.host()), endpoint.port()),
        None => endpoint,
    };
    if endpoint.port() == 0 {
        return Err(AddressError::NoPort(text.to_owned()));
    }
    Ok(Source::Host(endpoint))
}

/// What is to be written where a context's way to find nodes is given: a host and a port are in none of them.
fn meant(scheme: &str, rest: &str) -> Option<String> {
    match scheme {
        "hn+srv" => {
            let name = rest.split([':', '/', '?', '#']).next().filter(|name| services(name).is_some());
            Some(format!("write srv://{}", name.unwrap_or("_http._tcp.orders.example")))
        }
        "hn+mdns" => Some("write host:port, dns://orders.example:8080 or srv://_http._tcp.orders.example".to_owned()),
        _ => None,
    }
}

/// An address in brackets without its zone, and that: the interface behind which a link-local address is.
fn without_zone(host: &str) -> (String, Option<&str>) {
    let zoned = || {
        let (literal, after) = host.strip_prefix('[')?.split_once(']')?;
        let (address, zone) = literal.split_once('%')?;
        let is_zone = !zone.is_empty() && zone.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
        is_zone.then(|| (format!("[{address}]{after}"), zone))
    };
    zoned().map_or_else(|| (host.to_owned(), None), |(host, zone)| (host, Some(zone)))
}

/// A URL's host as resolvers take it: there the percent sign before an IPv6 literal's zone is escaped (RFC 6874).
pub(super) fn plain_zone(host: &str) -> String {
    match host.split_once("%25") {
        Some((address, zone)) if !zone.is_empty() && address.contains(':') => format!("{address}%{zone}"),
        _ => host.to_owned(),
    }
}

/// The name of SRV records, which stands alone.
pub(super) fn services(text: &str) -> Option<Source> {
    let name = text.strip_suffix('/').unwrap_or(text).trim_end_matches('.');
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    (name.split('.').all(|label| !label.is_empty()) && name.chars().all(is_name)).then(|| Source::Services(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_urls() {
        for (text, endpoint) in [
            ("a:8080", "a:8080"),
            (" 10.0.0.5:1 ", "10.0.0.5:1"),
            ("[::1]:5000", "[::1]:5000"),
            ("http://a", "a:80"),
            ("HTTPS://a/x:y@z", "a:443"),
            ("http://user:secret@a:8080/path?q#f", "a:8080"),
            ("http://[::1]", "[::1]:80"),
            ("http://[fe80::1%25eth0]:8080/x", "[fe80::1%eth0]:8080"),
            ("http://user@[fe80::1%25eth0]", "[fe80::1%eth0]:80"),
            ("[fe80::1%eth0]:8080", "[fe80::1%eth0]:8080"),
            ("http://a/%25", "a:80"),
            ("redis://a/0", "a:6379"),
            ("corbaloc://a:2809/key", "a:2809"),
            ("dns://orders.prod:8080", "orders.prod:8080"),
            ("dns://orders.prod.:8080/", "orders.prod.:8080"),
            ("srv://_http._tcp.orders/", "_http._tcp.orders"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), endpoint, "{text}");
        }
    }

    /// A zone is for the system to read, and no name that name servers are asked for.
    #[test]
    fn an_address_with_a_zone_is_an_address() {
        for (text, literal) in [("http://[fe80::1%25eth0]:80", true), ("[fe80::1%2]:80", true), ("http://fe80:80", false)] {
            assert_eq!(parse(text).unwrap().question().is_none(), literal, "{text}");
        }
        for text in ["http://[fe80::1%25]:80", "[fe80::1%a b]:80", "[10.0.0.1%eth0]:80", "http://a%25b:80"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (text, part) in [
            ("", "the host is missing"),
            ("a", "has no port; write host:port"),
            ("a:0", "has no port"),
            ("a:x", "the port is no number"),
            ("a b:1", "the host has a blank"),
            ("thing://a", "has no port"),
            ("http:///x", "the host is missing"),
            ("dns://orders.prod", "has no port"),
            ("srv://orders:80", "one name and nothing else"),
            ("srv://", "one name and nothing else"),
            ("srv://orders/path", "one name and nothing else"),
            ("srv://_http..orders", "one name and nothing else"),
            ("dns://orders:80/path", "one name and its port and nothing else"),
            ("dns://orders:80?x=1", "one name and its port and nothing else"),
            ("dns://user@orders:80", "one name and its port and nothing else"),
            ("dns://..:80", "a dot with nothing before it"),
            ("a..b:80", "a dot with nothing before it"),
            (".:80", "a dot with nothing before it"),
            ("hn+srv://blue", "for any service write srv://blue"),
            ("HN+SRV://blue.:80/", "for any service write srv://blue."),
            ("hn+srv://", "for any service write srv://_http._tcp"),
            ("hn+mdns://prod", "for any service write host:port"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(part), "{text:?}: {said}");
            assert!(said.contains("write"), "{text:?}: {said}");
        }
    }
}
