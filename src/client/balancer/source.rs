//! From what a program has at hand, or has looked up, to the servers that it means.
//!
//! A text is one address or several with commas between them; an address is `host:port`, a URL, `dns://name:port` or
//! `srv://name`. A dict has a `url`, or
//! `host` and `port`. A reference has addresses of the kinds `url` and `host:port`; others are for somebody else. A list
//! is of all these.

use crate::discovery::address;
use crate::discovery::{Origin, Place, Source};
use crate::naming::{AddressContent, ErrorKind, NamingError, Value};

/// The kinds of a reference's addresses that say where a server is. Java's programs write the first in capitals.
const KINDS: [&str; 2] = ["url", "host:port"];
/// What can be written.
const WRITE: &str = "write a list of addresses, [\"a:8080\", \"b:8080\"]";

/// The servers that `value` means, each once. An error says what is wrong, and where: `whose` is what the value is called.
pub fn servers(value: &Value, whose: &str) -> Result<Vec<Place>, NamingError> {
    let mut found = Vec::new();
    collect(value, whose, &mut found)?;
    if found.is_empty() {
        return Err(wrong(format!("{whose} names no server; {WRITE}")));
    }
    Ok(found)
}

fn collect(value: &Value, at: &str, found: &mut Vec<Place>) -> Result<(), NamingError> {
    match value {
        Value::Str(text) => {
            for entry in text.split(',') {
                add(read(entry, at)?, Origin::Provider, found);
            }
        }
        Value::List(items) => {
            for (number, item) in items.iter().enumerate() {
                collect(item, &format!("{at}[{number}]"), found)?;
            }
        }
        Value::Dict(entries) => add(of_dict(entries, at)?, Origin::Provider, found),
        Value::Reference(reference) => {
            let is_usable = |kind: &str| KINDS.iter().any(|known| known.eq_ignore_ascii_case(kind));
            let usable = reference.addresses.iter().filter(|address| is_usable(&address.kind));
            let before = found.len();
            for address in usable {
                if let AddressContent::Text(text) = &address.content {
                    add(read(text, &format!("{at}: its address of type {:?}", address.kind))?, Origin::Reference, found);
                }
            }
            if found.len() == before {
                let mut kinds: Vec<_> = reference.addresses.iter().map(|address| format!("{:?}", address.kind)).collect();
                kinds.dedup();
                let has = if kinds.is_empty() { "none at all".to_owned() } else { kinds.join(", ") };
                let message = format!(
                    "{at} refers to a {} by no address that is read here: it has {has}; the types \"url\" and \"host:port\" \
                     (a text each) are read",
                    reference.class_name
                );
                return Err(wrong(message));
            }
        }
        other => return Err(wrong(format!("{at} is of the type {}, which names no server; {WRITE}", other.class_name()))),
    }
    Ok(())
}

fn of_dict(entries: &std::collections::BTreeMap<String, Value>, at: &str) -> Result<Source, NamingError> {
    match (entries.get("url"), entries.get("host"), entries.get("port")) {
        (Some(Value::Str(url)), ..) => read(url, &format!("{at}[\"url\"]")),
        (None, Some(Value::Str(host)), Some(Value::Int(port))) => {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            read(&format!("{host}:{port}"), at)
        }
        _ => {
            let keys: Vec<_> = entries.keys().map(|key| format!("{key:?}")).collect();
            let message = format!(
                "{at} is a dict with {}; a server's has a \"url\" (a str), or a \"host\" (a str) and a \"port\" (an int)",
                if keys.is_empty() { "nothing in it".to_owned() } else { keys.join(", ") }
            );
            Err(wrong(message))
        }
    }
}

fn read(text: &str, at: &str) -> Result<Source, NamingError> {
    address::parse(text).map_err(|error| wrong(format!("{at}: {error}")))
}

fn add(source: Source, origin: Origin, found: &mut Vec<Place>) {
    if !found.iter().any(|place| place.source == source) {
        found.push(Place::new(source, origin));
    }
}

fn wrong(message: String) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::naming::Reference;

    use super::*;

    fn text(text: &str) -> Value {
        Value::Str(text.to_owned())
    }

    fn dict(entries: &[(&str, Value)]) -> Value {
        Value::Dict(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect::<BTreeMap<_, _>>())
    }

    fn shown(value: &Value) -> Vec<String> {
        servers(value, "source").unwrap().iter().map(|place| place.source.to_string()).collect()
    }

    #[test]
    fn all_that_names_servers() {
        let reference = Reference::new("Orders")
            .with_text("url", "http://a/x")
            .with_bytes("stub", [1])
            .with_text("host:port", "b:81")
            .with_text("URL", "ldap://c")
            .with_text("rank", "3");
        for (value, endpoints) in [
            (text("a:1, b:2,a:1"), vec!["a:1", "b:2"]),
            (Value::List(vec![text("a:1"), dict(&[("url", text("https://b"))])]), vec!["a:1", "b:443"]),
            (dict(&[("host", text("::1")), ("port", Value::Int(5))]), vec!["[::1]:5"]),
            (Value::Reference(reference), vec!["a:80", "b:81", "c:389"]),
        ] {
            assert_eq!(shown(&value), endpoints);
        }
    }

    #[test]
    fn what_names_none_says_what_and_where() {
        for (value, kind, words) in [
            (Value::List(Vec::new()), ErrorKind::Configuration, "source names no server; write a list"),
            (Value::Int(8080), ErrorKind::Configuration, "source is of the type int"),
            (Value::List(vec![text("a:1"), text("b")]), ErrorKind::Configuration, "source[1]: \"b\" has no port"),
            (text("a:1,,b:1"), ErrorKind::Configuration, "source: \"\" is not an address: the host is missing"),
            (dict(&[("uri", text("x"))]), ErrorKind::Configuration, "source is a dict with \"uri\"; a server's has a \"url\""),
            (
                Value::Reference(Reference::new("Orders").with_text("ior", "IOR:00")),
                ErrorKind::Configuration,
                "source refers to a Orders by no address that is read here: it has \"ior\"",
            ),
            (text("dns://orders.prod.svc"), ErrorKind::Configuration, "\"dns://orders.prod.svc\" has no port"),
        ] {
            let error = servers(&value, "source").unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
