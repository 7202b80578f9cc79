//! LDAP: whole URLs separated by blanks, since a comma belongs to a directory's names; ports 389 and 636.

use super::list::{Entry, entry};
use super::reading::{Default, Reading, defaulted};

pub fn read(reading: &mut Reading<'_>, text: &str) {
    for text in text.split_whitespace() {
        let entry = entry(text);
        let Some(scheme) = ldap_scheme(&entry) else {
            let remedy = "each is a whole URL, ldap://h1 ldap://h2; a blank within one is written %20";
            reading.leave_out(text, "it has no ldap:// of its own", remedy);
            continue;
        };
        let mut authorities = entry.authority.split([',', ';']);
        let first = authorities.next().unwrap_or_default();
        reading.set_path(entry.path.trim_start_matches('/'));
        if first.is_empty() && !entry.path.trim_matches('/').is_empty() {
            reading.warn(
                "a URL with an entry and no host makes some clients ask DNS for the directory's servers; localhost is read: write the host",
            );
        }
        take(reading, &scheme, first);
        for other in authorities {
            let remedy = format!("LDAP URLs are separated by blanks, each whole: {scheme}://h1 {scheme}://h2");
            match other.strip_suffix(':') {
                // `ldap://h1,ldap://h2`: the second one's scheme ends the first one's address.
                Some(own) if own.to_ascii_lowercase().starts_with("ldap") => {
                    let rest = entry.path.trim_start_matches('/');
                    reading.warn(format!("a comma separates no URLs; {remedy}"));
                    for more in rest.split([',', ';']) {
                        let bare = more.split_once("://").map_or(more, |(_, bare)| bare);
                        take(reading, own, bare.split('/').next().unwrap_or_default());
                    }
                }
                _ => reading.leave_out(other, "a comma separates no addresses", &remedy),
            }
        }
    }
    if reading.any_defaulted() {
        let scheme = reading.scheme();
        reading.warn(defaulted(&scheme, port(&scheme)));
    }
}

fn ldap_scheme(entry: &Entry<'_>) -> Option<String> {
    let scheme = entry.scheme?.to_ascii_lowercase();
    matches!(scheme.as_str(), "ldap" | "ldaps").then_some(scheme)
}

fn take(reading: &mut Reading<'_>, scheme: &str, address: &str) {
    if let Some(read) = reading.authority(address) {
        reading.take(scheme, &read, Default { host: "localhost", port: port(scheme) });
    }
}

fn port(scheme: &str) -> u16 {
    if scheme.eq_ignore_ascii_case("ldaps") { 636 } else { 389 }
}
