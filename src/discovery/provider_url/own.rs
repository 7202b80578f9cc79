//! hanaming's own provider URLs, as contexts and seeds take them.
//!
//! `hn://h1:11100,h2` and a bare `h1:11100,h2` are lists of addresses; `hn+srv://name` is whatever the name's SRV records
//! list; `hn+mdns://cluster` are the cluster's nodes that announce themselves. Everything that this version cannot read is
//! refused with a sentence that says what can be written instead: a provider that is silently read as something else
//! sends a client to the wrong servers.

use std::collections::HashSet;

use crate::topology::{DEFAULT_PORT, Endpoint};

use super::super::address;
use super::super::neighbourhood::Neighbourhood;
use super::super::source::Source;
use super::excerpt;

/// The host that is asked where no provider is given.
pub const LOOPBACK: &str = "127.0.0.1";

/// A provider that can't be used, and what can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider {} can't be used: {problem}", excerpt(.text))]
pub struct ProviderError {
    /// The provider as it was given.
    pub text: String,
    /// What is wrong with it, and what to write.
    pub problem: String,
}

/// The endpoint that is asked where no provider is given: the default port on loopback. Finding servers by multicast
/// must be asked for, since a forged answer on the network should never be the default.
pub fn loopback() -> Endpoint {
    Endpoint::new(LOOPBACK, DEFAULT_PORT)
}

/// Reads any number of provider texts and merges them: each source once, in the order in which they were given. No
/// text at all is [`loopback`].
///
/// ```
/// use hanaming::discovery::provider_url;
///
/// let sources = provider_url::parse(["hn://h1:4000,h2", "[::1]:5000", "hn+srv://_hn._tcp.prod"])?;
/// let shown: Vec<String> = sources.iter().map(ToString::to_string).collect();
/// assert_eq!(shown, ["h1:4000", "h2:11100", "[::1]:5000", "_hn._tcp.prod"]);
/// # Ok::<(), provider_url::ProviderError>(())
/// ```
pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<Source>, ProviderError> {
    let mut sources = Vec::new();
    let mut seen = HashSet::new();
    let mut any = false;
    for text in texts {
        any = true;
        for source in parse_one(text)? {
            if seen.insert(source.clone()) {
                sources.push(source);
            }
        }
    }
    if !any {
        sources.push(Source::Host(loopback()));
    }
    Ok(sources)
}

fn parse_one(text: &str) -> Result<Vec<Source>, ProviderError> {
    let fail = |problem: String| ProviderError { text: text.to_owned(), problem };
    let trimmed = text.trim();
    let list = match scheme(trimmed) {
        None => trimmed,
        Some(("hn", rest)) => rest.strip_suffix('/').unwrap_or(rest),
        Some(("hn+srv", name)) => {
            let problem = "one name must follow and nothing else, as SRV records tell the ports; write hn+srv://_hn._tcp.example";
            return address::services(name).map(|source| vec![source]).ok_or_else(|| fail(problem.into()));
        }
        Some(("hn+mdns", rest)) => {
            return Neighbourhood::parse(rest).map(|read| vec![Source::Multicast(read)]).map_err(fail);
        }
        Some((other, rest)) => return Err(fail(unsupported(other, rest))),
    };
    if list.is_empty() {
        return Err(fail("it names no address; write hn://host:11100, or several addresses with commas between them".into()));
    }
    if let Some(at) = list.find(['/', '?', '#']) {
        return Err(fail(format!("{:?} follows the addresses, where nothing may stand", &list[at..])));
    }
    list.split(',')
        .map(|entry| {
            if entry.trim().is_empty() {
                return Err(fail("a comma has no address on one of its sides".into()));
            }
            Endpoint::parse(entry, DEFAULT_PORT).map_err(|error| fail(error.to_string())).and_then(|endpoint| {
                if endpoint.port() == 0 {
                    Err(fail(format!("{endpoint} has port 0, where nobody listens")))
                } else {
                    Ok(Source::Host(endpoint))
                }
            })
        })
        .collect()
}

/// The scheme in lower case and what follows it; `None` for a bare list. `corbaloc:` and `rir:` have no slashes.
fn scheme(text: &str) -> Option<(&str, &str)> {
    if let Some((scheme, rest)) = text.split_once("://") {
        return Some((known(scheme), rest));
    }
    let (first, rest) = text.split_once(':')?;
    let first = known(first);
    matches!(first, "corbaloc" | "corbaname").then_some((first, rest))
}

/// The scheme as this module spells it, whatever its case.
fn known(scheme: &str) -> &str {
    let all = ["hn", "hn+srv", "hn+mdns", "dns", "srv", "corbaloc", "corbaname"];
    all.into_iter().find(|k| k.eq_ignore_ascii_case(scheme)).unwrap_or(scheme)
}

/// What is to be written where a balancer's way to find servers is given: `dns://name:port`, `srv://name`.
pub(super) fn meant(scheme: &str, rest: &str) -> Option<String> {
    let (ours, example) = match known(scheme) {
        "dns" => ("hn", "hn://h1:11100"),
        "srv" => ("hn+srv", "hn+srv://_hn._tcp.example"),
        _ => return None,
    };
    let url = format!("{ours}://{}", rest.split(['/', '?', '#']).next().unwrap_or(rest));
    let write = if parse_one(&url).is_ok() { url } else { example.to_owned() };
    Some(format!("{}:// is for a Balancer; write {write}", known(scheme)))
}

fn unsupported(scheme: &str, rest: &str) -> String {
    if let Some(problem) = meant(scheme, rest) {
        return problem;
    }
    let now = "write a list of addresses, hn://h1:11100,h2:11100";
    match scheme {
        "jnp" | "jnps" | "jnp-http" | "jnp-https" | "t3" | "t3s" | "iiop" | "iiops" | "http" | "https" | "rmi" | "ldap"
        | "ldaps" | "remote" | "remote+http" | "remote+https" | "http-remoting" | "https-remoting" | "corbaloc" | "corbaname" => {
            format!("{scheme}: is the scheme of an older naming system, whose URLs hanaming.jndi.InitialContext reads; or {now}")
        }
        other => format!("the scheme {other:?} is unknown; {now}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(texts: &[&str]) -> Vec<String> {
        parse(texts.iter().copied()).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_in_all_their_spellings() {
        let table: &[(&[&str], &[&str])] = &[
            (&[], &["127.0.0.1:11100"]),
            (&["hn://h1:11100,h2"], &["h1:11100", "h2:11100"]),
            (&["HN://h1"], &["h1:11100"]),
            (&["hn://h1:4000/"], &["h1:4000"]),
            (&["h:4000"], &["h:4000"]),
            (&[" h1 , h2:5 "], &["h1:11100", "h2:5"]),
            (&["::1"], &["[::1]:11100"]),
            (&["[::1]:5000,[fe80::1]"], &["[::1]:5000", "[fe80::1]:11100"]),
            (&["hn://h1,h2", "h2:11100,h3"], &["h1:11100", "h2:11100", "h3:11100"]),
            (&["HN+SRV://_hn._tcp.x.example/", "h1"], &["_hn._tcp.x.example", "h1:11100"]),
            (&["HN+MDNS://prod/", "h1"], &["hn+mdns://prod", "h1:11100"]),
        ];
        for (texts, endpoints) in table {
            assert_eq!(shown(texts), *endpoints, "{texts:?}");
        }
    }

    #[test]
    fn what_is_not_possible_says_what_is() {
        let table = [
            ("", "names no address"),
            ("hn://", "names no address"),
            ("h1,,h2", "a comma has no address"),
            ("h1:0", "port 0"),
            ("h1:70000", "over 65535"),
            ("h1:x", "no number"),
            ("hn://h1/tree", "\"/tree\" follows the addresses"),
            ("hn+srv://", "one name must follow"),
            ("hn+srv://x.example:80", "one name must follow"),
            ("hn+srv://x,y", "one name must follow"),
            ("hn+mdns://", "names no cluster; write hn+mdns://cluster"),
            ("hn+mdns://a,b", "one cluster's name must follow"),
            ("t3://h:7001", "older naming system"),
            ("jnp://h:1099", "older naming system"),
            ("corbaloc:iiop:h:2809", "older naming system"),
            ("gopher://h", "\"gopher\" is unknown"),
            ("srv://a", "write hn+srv://a"),
            ("SRV://_hn._tcp.a./", "srv:// is for a Balancer; write hn+srv://_hn._tcp.a."),
            ("srv://a:80", "write hn+srv://_hn._tcp.example"),
            ("dns://a:80", "dns:// is for a Balancer; write hn://a:80"),
            ("dns://a/path", "write hn://a"),
            ("dns://", "write hn://h1:11100"),
        ];
        for (text, part) in table {
            let said = parse([text]).unwrap_err().to_string();
            assert!(said.contains(part), "{text:?}: {said}");
            assert!(
                said.contains("hn://")
                    || said.contains("hn+srv://")
                    || said.contains("hn+mdns://")
                    || !text.contains("://")
                    || text.starts_with("hn://h1"),
                "{text:?}: {said}"
            );
        }
    }
}
