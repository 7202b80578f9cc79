//! WebSphere's `iiop://host[:port]`; port 2809.
//!
//! 2809 is the bootstrap port of the *node agent*. A server has its own (9810 by default): whoever means a server and
//! writes no port asks another process than he thinks. Several hosts are WebLogic's form of the same scheme.

use super::reading::{Reading, defaulted};
use super::{list, weblogic};

const PORT: u16 = 2809;

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let mut entries = list::entries(text);
    if let (Some(only), None) = (entries.next(), entries.next()) {
        read_one(reading, &only);
    } else {
        weblogic::read_lists(reading, text, PORT);
        reading.warn(
            "iiop:// with several hosts is WebLogic's form (a port holds for all before it without one); WebSphere's is \
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

fn read_one(reading: &mut Reading<'_>, entry: &list::Entry<'_>) {
    reading.set_path(entry.path.trim_matches('/'));
    if let Some(read) = reading.authority(entry.authority) {
        reading.take("iiop", &read, super::reading::Default { host: "localhost", port: PORT });
    }
}
