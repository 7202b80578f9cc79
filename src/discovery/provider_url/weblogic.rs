//! WebLogic's lists: `scheme://h1:p1,h2:p2`, or `scheme://h1,h2:p`, where the one port at the end holds for all.
//!
//! Schemes are t3, t3s, http, https, iiop and iiops. What the URL leaves out is taken from `t3://localhost:7001`, as
//! WebLogic's client does. Full URLs joined by `;` (or a comma) are lists of lists: a port at the end holds for its own.

use super::authority::Authority;
use super::list::{Entry, entries, stray_separator};
use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 7001;

/// The schemes of this dialect.
pub const SCHEMES: [&str; 6] = ["t3", "t3s", "http", "https", "iiop", "iiops"];

/// Hosts that share a trailing port.
#[derive(std::default::Default)]
struct Group<'a> {
    scheme: String,
    hosts: Vec<Authority<'a>>,
}

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let mut group = Group { scheme: reading.scheme(), ..Group::default() };
    for (number, entry) in entries(text).enumerate() {
        note(reading, &entry, number);
        if let Some(scheme) = entry.scheme {
            let scheme = scheme.to_ascii_lowercase();
            if !SCHEMES.contains(&scheme.as_str()) {
                reading.leave_out(entry.text, "it is another kind of URL", "a list has one kind: t3://h1:7001,h2:7001");
                continue;
            }
            if number > 0 {
                finish(reading, std::mem::take(&mut group));
            }
            group.scheme = scheme;
        }
        if entry.authority.is_empty() && number > 0 {
            reading.warn("a comma has no address on one of its sides");
        } else if let Some(read) = reading.authority(entry.authority) {
            group.hosts.push(read);
        }
    }
    finish(reading, group);
    if reading.any_defaulted() {
        reading.warn(defaulted(&reading.scheme(), PORT));
        if reading.scheme().ends_with('s') {
            reading.warn("7001 is WebLogic's plain port; where TLS is meant its usual port is 7002: write it");
        }
    }
}

fn note(reading: &mut Reading<'_>, entry: &Entry<'_>, number: usize) {
    if number > 0 && entry.scheme.is_some() {
        let scheme = reading.scheme();
        reading.warn(format!(
            "{} is a whole URL within a list; the scheme stands once and commas between the addresses: {scheme}://h1:port,h2:port",
            super::excerpt(entry.text)
        ));
    } else if let Some(stray) = entry.stray {
        reading.warn(stray_separator(stray, &reading.scheme()));
    }
    if !matches!(entry.path, "" | "/") {
        reading.set_path(entry.path.trim_start_matches('/'));
        reading.warn(format!("{} follows an address and is not used", super::excerpt(entry.path)));
    }
}

fn finish(reading: &mut Reading<'_>, mut group: Group<'_>) {
    let trailing = group.hosts.last().and_then(|last| last.port);
    let several = group.hosts.iter().filter(|host| host.port.is_some()).take(2).count() > 1;
    for host in &mut group.hosts {
        if host.port.is_none() && trailing.is_some() {
            if several {
                reading.warn(format!(
                    "{} has no port among hosts that have their own: the last one's is read, which holds for all that have none",
                    super::excerpt(host.host)
                ));
            }
            host.port = trailing;
        } else if host.port.is_none() && several {
            reading.warn(format!(
                "{} has no port: {PORT} is read, and no port of another entry; write it",
                super::excerpt(host.host)
            ));
        }
        if host.host.is_empty() && host.port.is_some() {
            reading.warn("an address has a port and no host: localhost is read");
        }
        reading.take(&group.scheme, host, Default { host: "localhost", port: PORT });
    }
}
