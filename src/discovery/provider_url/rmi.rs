//! `rmi://host[:port][/name]`: one registry, port 1099.

use super::list::{entries, stray_separator};
use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 1099;

pub fn read(reading: &mut Reading<'_>, text: &str) {
    for (number, entry) in entries(text).enumerate() {
        if let Some(stray) = entry.stray {
            reading.warn(stray_separator(stray, "rmi"));
        }
        if entry.scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("rmi")) {
            reading.leave_out(entry.text, "it is another kind of URL", "write rmi://host:1099");
            continue;
        }
        reading.set_path(entry.path.trim_matches('/'));
        if number == 1 {
            reading.warn("the RMI registry's client took one address; all of them are read here");
        }
        if entry.authority.is_empty() && number > 0 {
            reading.warn("a comma has no address on one of its sides");
            continue;
        }
        if let Some(read) = reading.authority(entry.authority) {
            reading.take("rmi", &read, Default { host: "localhost", port: PORT });
        }
    }
    if reading.any_defaulted() {
        reading.warn(defaulted("rmi", PORT));
    }
}
