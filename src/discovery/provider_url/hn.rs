//! hanaming's own: `hn://h1[:11100],h2`, `hn+srv://name`, `hn+mdns://cluster`.

use crate::topology::DEFAULT_PORT;

use super::super::neighbourhood::Neighbourhood;
use super::authority::is_name_character;
use super::list::{entries, stray_separator};
use super::reading::{Default, Reading};

const HERE: Default<'_> = Default { host: super::LOOPBACK, port: DEFAULT_PORT };

pub fn read_list(reading: &mut Reading<'_>, text: &str) {
    for entry in entries(text) {
        if let Some(stray) = entry.stray {
            reading.warn(stray_separator(stray, "hn"));
        }
        if entry.scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("hn")) {
            reading.leave_out(entry.text, "it is another kind of URL", "a list of hn:// is one of hosts: hn://h1:11100,h2");
            continue;
        }
        if entry.authority.is_empty() {
            reading.leave_out(entry.text, "it names no host", "write hn://host:11100");
            continue;
        }
        if !matches!(entry.path, "" | "/") {
            reading.warn(format!("{} follows the addresses and is not used", super::excerpt(entry.path)));
        }
        if let Some(read) = reading.authority(entry.authority) {
            reading.take("hn", &read, HERE);
        }
    }
}

/// A cluster whose nodes announce themselves by multicast.
pub fn read_cluster(reading: &mut Reading<'_>, text: &str) {
    let scheme = reading.scheme();
    let name = text.strip_prefix("//").unwrap_or(text);
    let name = name.split_once("://").map_or(name, |(_, name)| name);
    match Neighbourhood::parse(name) {
        Ok(read) => {
            let shown = read.to_string();
            reading.take_source(&scheme, shown.split_once("://").map_or(shown.as_str(), |(_, name)| name));
        }
        Err(problem) => reading.leave_out(text, &problem, ""),
    }
}

/// A name that is asked for SRV records.
pub fn read_source(reading: &mut Reading<'_>, text: &str) {
    let scheme = reading.scheme();
    let name = text.strip_prefix("//").unwrap_or(text).trim_end_matches('/');
    let name = name.split_once("://").map_or(name, |(_, name)| name);
    if name.is_empty() || !name.chars().all(is_name_character) {
        reading.leave_out(text, "it must be followed by one name and nothing else", &format!("write {scheme}://name"));
        return;
    }
    reading.take_source(&scheme, name);
}
