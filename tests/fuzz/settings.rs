//! Provider URLs and properties from any text.

use hanaming::discovery::{environment, properties, provider_url};

/// Pieces that mean something to some dialect: random bytes alone never come far.
const PIECES: [&str; 40] = [
    "t3://",
    "jnp://",
    "corbaloc:",
    "corbaname:",
    "iiop:",
    "rir:",
    "ldap://",
    "ldaps://",
    "remote+http://",
    "rmi://",
    "hn://",
    "hn+srv://",
    "//",
    "/",
    ":",
    "::",
    ",",
    ";",
    " ",
    "\t",
    "#",
    "?",
    "@",
    "[",
    "]",
    "[::1]",
    "%2f",
    "%",
    "1.2@",
    "h",
    "localhost",
    "10.0.0.1",
    "7001",
    "0",
    "99999",
    "\"",
    "'",
    "${x}",
    "é",
    "=",
];

fn built(choices: &[u8]) -> String {
    choices.iter().map(|choice| PIECES[usize::from(*choice) % PIECES.len()]).collect()
}

fn check_url(text: &str) {
    let Ok(url) = provider_url::read(text, None) else { return };
    assert!(!url.endpoints.is_empty());
    for endpoint in &url.endpoints {
        assert!(endpoint.port != Some(0));
        assert!(endpoint.port.is_none() || !endpoint.host.is_empty(), "{text:?}: {endpoint:?}");
        assert!(
            !endpoint.host.contains(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '@' | '[' | ']')),
            "{text:?}"
        );
    }
    // Written out as a list of one of them, it reads as that one.
    if let [only] = url.endpoints.as_slice()
        && let (Some(port), "t3") = (only.port, only.scheme.as_str())
    {
        let host = if only.host.contains(':') { format!("[{}]", only.host) } else { only.host.clone() };
        let again = provider_url::read(&format!("t3://{host}:{port}"), None).unwrap();
        assert_eq!((again.endpoints[0].host.as_str(), again.endpoints[0].port), (only.host.as_str(), Some(port)));
        assert_eq!(again.warnings, Vec::<String>::new());
    }
}

#[test]
fn any_text_is_a_provider_url_or_an_error() {
    bolero::check!().with_iterations(5000).for_each(|bytes: &[u8]| check_url(&String::from_utf8_lossy(bytes)));
}

#[test]
fn any_row_of_pieces_is_a_provider_url_or_an_error() {
    bolero::check!().with_iterations(20_000).with_type::<Vec<u8>>().for_each(|choices| check_url(&built(choices)));
}

#[test]
fn any_text_is_properties() {
    bolero::check!().with_iterations(5000).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let read = properties::read(&text);
        assert!(read.len() <= text.len() + 1);
        let _ = environment::read(&read);
    });
}

/// What is written with every character escaped reads back.
#[test]
fn any_key_and_value_read_back() {
    bolero::check!().with_iterations(5000).with_type::<(String, String)>().for_each(|(key, value)| {
        let escaped = |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
        let read = properties::read(&format!("k{}={}", escaped(key), escaped(value)));
        assert_eq!((read.len(), &read[0].key, &read[0].value), (1, &format!("k{key}"), value));
    });
}
