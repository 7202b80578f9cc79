//! WebSphere's `iiop://host[:port]`: one host, or several with commas; port 2809.
//!
//! 2809 is the bootstrap port of the *node agent*. A server has its own (9810 by default): whoever means a server and
//! writes no port asks another process than he thinks.

use super::list::{entries, stray_separator};
use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 2809;

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let hosts: Vec<_> = entries(text).collect();
    // WebLogic's clients wrote iiop:// too, with one port at the end for all.
    let trailing =
        hosts.last().filter(|_| hosts.len() > 1).and_then(|last| super::authority::authority(last.authority).ok()?.port);
    for (number, entry) in hosts.iter().enumerate() {
        if let Some(stray) = entry.stray {
            reading.warn(stray_separator(stray, "iiop"));
        }
        if entry.scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("iiop")) {
            reading.leave_out(entry.text, "it is another kind of URL", "a list has one kind: iiop://h1:2809,h2:2809");
            continue;
        }
        reading.set_path(entry.path.trim_matches('/'));
        if entry.authority.is_empty() && number > 0 {
            reading.warn("a comma has no address on one of its sides");
            continue;
        }
        let Some(mut read) = reading.authority(entry.authority) else { continue };
        read.port = read.port.or(trailing);
        reading.take("iiop", &read, Default { host: "localhost", port: PORT });
    }
    if hosts.len() > 1 {
        reading.warn(
            "iiop:// with several hosts is WebLogic's form (a port at the end holds for all without one); WebSphere's is \
             corbaloc::h1:2809,:h2:2809",
        );
    }
    if reading.any_defaulted() {
        reading.warn(defaulted("iiop", PORT));
        reading.warn(
            "2809 is the port of WebSphere's node agent, not of a server: a server's bootstrap port is its own (9810 by default); \
             write the one that is meant",
        );
    }
}
