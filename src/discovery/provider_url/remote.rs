//! WildFly and JBoss EAP: whole URIs separated by commas. An entry without a scheme was taken by the old client for a
//! URI whose scheme is the host's name, and failed late; it is left out here, with how to write it.

use super::list::entries;
use super::reading::{Default, Reading, defaulted};

/// The schemes of this dialect and the ports that the product listens on by default.
pub const SCHEMES: [(&str, u16); 5] =
    [("remote+http", 8080), ("remote+https", 8443), ("http-remoting", 8080), ("https-remoting", 8443), ("remote", 4447)];

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let first = reading.scheme();
    for entry in entries(text) {
        if let Some(stray) = entry.stray {
            let shown = if stray == ';' { "\";\"" } else { "a blank" };
            reading.warn(format!(
                "{shown} is read as a separator; URIs are separated by commas: {first}://h1:port,{first}://h2:port"
            ));
        }
        if entry.text.is_empty() {
            reading.warn("a comma has no URI on one of its sides");
            continue;
        }
        let Some(scheme) = entry.scheme else {
            let remedy = format!("each entry is a whole URI; write {first}://{}", entry.authority);
            reading.leave_out(entry.text, "it has no scheme, and is read as a URI whose scheme is the host's name", &remedy);
            continue;
        };
        let scheme = scheme.to_ascii_lowercase();
        let Some(port) = port(&scheme) else {
            reading.leave_out(entry.text, "it is another kind of URL", &format!("write {first}://host:port"));
            continue;
        };
        if entry.authority.is_empty() {
            reading.leave_out(entry.text, "it names no host", &format!("write {scheme}://host:{port}"));
            continue;
        }
        reading.set_path(entry.path.trim_matches('/'));
        if let Some(read) = reading.authority(entry.authority) {
            if read.port.is_none() {
                reading.warn(defaulted(&scheme, port));
            }
            reading.take(&scheme, &read, Default { host: "localhost", port });
        }
    }
}

/// The default port of a scheme of this dialect. WildFly's client speaks plain HTTP to a naming service, too.
fn port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(8080),
        "https" => Some(8443),
        _ => SCHEMES.iter().find(|(known, _)| *known == scheme).map(|(_, port)| *port),
    }
}
