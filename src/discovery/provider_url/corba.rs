//! `corbaloc:addr{,addr}[/key]` and `corbaname:`, the same with `#name`.
//!
//! An address is `rir:`, or `[iiop|ssliop]:[major.minor@]host[:port]`. Each one has its own `:` or `iiop:`; what
//! is left out is 1.0 and 2809. Keys and names may hold escapes, `%2f`.

use super::reading::{Default, Reading, defaulted};

const PORT: u16 = 2809;
const VERSION: &str = "1.0";
const FORM: &str = "each address has its own colon: corbaloc::h1:2809,:h2:2809/NameService";

pub fn read(reading: &mut Reading<'_>, text: &str) {
    let (rest, name) = match text.split_once('#') {
        Some((rest, name)) => (rest, Some(name)),
        None => (text, None),
    };
    let rest = without_slashes(reading, rest);
    let (addresses, key) = rest.split_once('/').unwrap_or((rest, ""));
    match (reading.scheme().as_str(), name) {
        ("corbaname", Some(name)) => reading.set_path(&unescaped(name)),
        (_, None) => reading.set_path(&unescaped(key)),
        (_, Some(_)) => {
            reading.set_path(&unescaped(key));
            reading.warn("what follows # is a name, which corbaloc: has no place for and corbaname: has; it is not used");
        }
    }
    for address in addresses.split(',') {
        read_address(reading, address.trim());
    }
    if reading.any_defaulted() {
        reading.warn(defaulted("corbaloc", PORT));
    }
}

/// `corbaloc://h` and `corbaloc:iiop://h` are in circulation although no standard has them.
fn without_slashes<'a>(reading: &mut Reading<'_>, text: &'a str) -> &'a str {
    let Some(at) = text.find("//").filter(|at| text[..*at].trim_end_matches(':').len() <= "ssliop".len()) else { return text };
    let protocol = text[..at].trim_end_matches(':');
    if !matches!(protocol.to_ascii_lowercase().as_str(), "" | "iiop" | "ssliop") {
        return text;
    }
    reading.warn(format!("no slashes stand before an address; {FORM}"));
    // Without them it reads as an address with no protocol: what stood before the slashes is `iiop`, the default.
    &text[at + 2..]
}

fn read_address(reading: &mut Reading<'_>, address: &str) {
    if address.is_empty() {
        reading.leave_out(address, "a comma has no address on one of its sides", FORM);
        return;
    }
    let (protocol, rest) = match address.split_once(':') {
        Some(("", rest)) => ("iiop", rest),
        Some((protocol, rest)) if is(protocol, "iiop") || is(protocol, "ssliop") => (protocol, rest),
        Some((protocol, rest)) if is(protocol, "rir") => {
            if !rest.is_empty() {
                reading.warn("nothing stands behind rir: but the key");
            }
            reading.warn("rir: asks the local ORB for what it was configured with; it names no address that could be asked here");
            reading.take_source("rir", "");
            return;
        }
        _ if reading.is_empty() => {
            reading.warn(format!("{} has no colon before its host; {FORM}", super::excerpt(address)));
            ("iiop", address)
        }
        _ => {
            reading.leave_out(address, "it has no colon of its own, so that its host reads as a protocol", FORM);
            return;
        }
    };
    let (version, host) = version(reading, rest);
    let Some(read) = reading.authority(host) else { return };
    if read.host.is_empty() {
        reading.warn("an address without a host is the local one: localhost is read");
    }
    reading.take_version(protocol, &read, Default { host: "localhost", port: PORT }, Some(version));
}

fn version<'a>(reading: &mut Reading<'_>, text: &'a str) -> (String, &'a str) {
    let Some((version, host)) = text.split_once('@') else { return (VERSION.to_owned(), text) };
    let sound = version.split_once('.').is_some_and(|(major, minor)| {
        [major, minor].iter().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    });
    if sound {
        return (version.to_owned(), host);
    }
    reading.warn(format!("what stands before @ is no version such as 1.2: {VERSION} is read"));
    (VERSION.to_owned(), host)
}

fn is(text: &str, protocol: &str) -> bool {
    text.eq_ignore_ascii_case(protocol)
}

/// `%2f` and the like in place of their bytes; what is no escape stays.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = bytes.get(at + 1..at + 3).and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        if let Some(meant) = escape.filter(|_| *byte == b'%') {
            plain.push(meant);
            at += 3;
        } else {
            plain.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}
