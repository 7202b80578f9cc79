//! WebLogic's lists: `scheme://h1:p1,h2:p2`, or `scheme://h1,h2:p`, where a port holds for all before it without one.
//!
//! Schemes are t3, t3s, http, https, iiop and iiops. What the URL leaves out is taken from `t3://localhost:7001`, as
//! WebLogic's client does. Full URLs joined by `;` (or a comma) are lists of lists: a port holds within its own.

use super::authority::Authority;
use super::list::{Entry, entries, stray_separator};
use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 7001;

/// The schemes of this dialect.
pub const SCHEMES: [&str; 6] = ["t3", "t3s", "http", "https", "iiop", "iiops"];

/// Hosts among which a port holds for those before it.
#[derive(std::default::Default)]
struct Group<'a> {
    scheme: String,
    hosts: Vec<Authority<'a>>,
}

pub fn read(reading: &mut Reading<'_>, text: &str) {
    read_lists(reading, text, PORT);
    if reading.any_defaulted() {
        reading.warn(defaulted(&reading.scheme(), PORT));
        if reading.scheme().ends_with('s') {
            reading.warn("7001 is WebLogic's plain port; where TLS is meant its usual port is 7002: write it");
        }
    }
}

/// The lists alone, with another default port.
pub fn read_lists(reading: &mut Reading<'_>, text: &str, port: u16) {
    let mut group = Group { scheme: reading.scheme(), ..Group::default() };
    for (number, entry) in entries(text).enumerate() {
        note(reading, &entry, number);
        if let Some(scheme) = entry.scheme {
            let scheme = scheme.to_ascii_lowercase();
            if !SCHEMES.contains(&scheme.as_str()) {
                let remedy = format!("a list has one kind: {0}://h1:{port},h2:{port}", reading.scheme());
                reading.leave_out(entry.text, "it is another kind of URL", &remedy);
                continue;
            }
            if number > 0 {
                finish(reading, std::mem::take(&mut group), port);
            }
            group.scheme = scheme;
        }
        if entry.authority.is_empty() && number > 0 {
            reading.warn("a comma has no address on one of its sides");
        } else if let Some(read) = reading.authority(entry.authority) {
            group.hosts.push(read);
        }
    }
    finish(reading, group, port);
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

fn finish(reading: &mut Reading<'_>, mut group: Group<'_>, default: u16) {
    let several = group.hosts.iter().filter(|host| host.port.is_some()).take(2).count() > 1;
    let mut behind = None;
    for host in group.hosts.iter_mut().rev() {
        let given = host.port.is_some();
        host.port = host.port.or(behind);
        behind = host.port;
        if given || !several {
            continue;
        }
        let shown = super::excerpt(host.host);
        match host.port {
            Some(port) => reading.warn(format!("{shown} has no port: {port} is read, the next one behind it; write it")),
            None => reading.warn(format!("{shown} has no port: {default} is read, and no port before it; write it")),
        }
    }
    for host in &group.hosts {
        if host.host.is_empty() && host.port.is_some() {
            reading.warn("an address has a port and no host: localhost is read");
        }
        reading.take(&group.scheme, host, Default { host: "localhost", port: default });
    }
}
