//! JBoss's JNP: `[jnp:|jnps:|jnp-http:|jnp-https:]//host[:port][/…]`, or bare `host[:port]`, with commas; port 1099.
//!
//! The old client let an entry without a port inherit that of the entry before it, by accident and undocumented. Here
//! such an entry has the port that the documents promise, and the reader is told.

use super::list::{entries, stray_separator};
use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 1099;

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let mut scheme = reading.scheme();
    let first = scheme.clone();
    let mut before: Option<u16> = None;
    for (number, entry) in entries(text).enumerate() {
        if let Some(stray) = entry.stray {
            reading.warn(stray_separator(stray, "jnp"));
        }
        match entry.scheme {
            Some(own) if own.to_ascii_lowercase().starts_with("jnp") => scheme = own.to_ascii_lowercase(),
            Some(_) => {
                reading.leave_out(entry.text, "it is another kind of URL", "a list has one kind: jnp://h1:1099,h2:1099");
                continue;
            }
            None => scheme.clone_from(&first),
        }
        let (authority, path) = match entry.path.strip_prefix("//") {
            // `//host:port`: the scheme is optional, its slashes may stay.
            Some(rest) if entry.scheme.is_none() && entry.authority.is_empty() => {
                let end = rest.find('/').unwrap_or(rest.len());
                rest.split_at(end)
            }
            _ => (entry.authority, entry.path),
        };
        reading.set_path(path.trim_matches('/'));
        if authority.is_empty() && number > 0 {
            reading.warn("a comma has no address on one of its sides");
            continue;
        }
        let Some(read) = reading.authority(authority) else { continue };
        if read.host.is_empty() {
            reading.warn(format!("{} names no host: localhost is read", super::excerpt(entry.text)));
        }
        match (read.port, before) {
            (None, Some(inherited)) if inherited != PORT => reading.warn(format!(
                "{} has no port: {PORT} is read. The old client took {inherited} from the entry before it; write {}:{inherited} \
                 if that is meant, {}:{PORT} if not",
                super::excerpt(authority),
                read.host,
                read.host,
            )),
            _ => {}
        }
        before = read.port.or(before);
        reading.take(&scheme, &read, Default { host: "localhost", port: PORT });
    }
    if reading.any_defaulted() {
        reading.warn(defaulted("jnp", PORT));
    }
}
