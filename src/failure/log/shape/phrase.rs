//! Failures without a class: a product's code, and words.

use super::words::{near, starts};
use crate::failure::tables::plain_words;
use crate::failure::tables::rmi::SERVER_TRACE;
use crate::failure::{Minor, corba, tables};

/// A message's code that a rule knows, at the start of a text: `EJBCLIENT000025`, `WFNAM00018`.
pub fn product_code(text: &str) -> Option<&str> {
    const PREFIXES: &[&str] = &["EJBCLIENT0", "WFNAM0", "JBREM0"];
    if !text.starts_with(['E', 'W', 'J']) {
        return None;
    }
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let digits = text[prefix.len()..].bytes().take_while(u8::is_ascii_digit).count();
    let code = &text[..prefix.len() + digits];
    tables::knows_code(code).then_some(code)
}

/// The length of TAO's words for an exception of the target's own, whose line may be broken behind the first of them.
pub fn user_exception(text: &str) -> Option<usize> {
    starts(text, "user exception, ID").or_else(|| {
        let length = starts(text, "exception, ID")?;
        let id = near(&text[length..]).trim_start();
        (id.starts_with("'IDL:") && !id.contains("omg.org")).then_some(length)
    })
}

/// What the JDK's ORB and `GlassFish`'s log with a number of their own before they throw it, `IOP00410201: (COMM_FAILURE)`: the
/// class, and the minor code that the number ends with.
pub fn orb_message(text: &str) -> Option<(&'static str, Minor)> {
    const DIGITS: usize = 8;
    let number = text.strip_prefix("IOP")?.get(..DIGITS).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let inside = text["IOP".len() + DIGITS..].strip_prefix(':')?.trim_start().strip_prefix('(')?;
    let class = corba::system_exception(&inside[..inside.bytes().take(64).position(|b| b == b')')?])?;
    let (minor, _) = Minor::read(Some("SUN"), &[number[DIGITS / 2..].trim_start_matches('0')])?;
    Some((class, minor))
}

/// Whether a `WebSphere` server's trace begins in a text.
pub fn quotes_a_server(text: &str) -> bool {
    text.match_indices(">>").any(|(at, _)| starts(&text[at..], SERVER_TRACE).is_some())
}

/// Words that tell of a failure where no class does, as `Link::Near` evidence or on their own.
pub const NEAR: &[&str] = &[
    "Handshake failed",
    "handshake failed",
    "handshake failure",
    "CERTIFICATE_VERIFY_FAILED",
    "certificate verify failed",
    "WRONG_VERSION_NUMBER",
    "SSL_ERROR_",
];

/// Whether words that are a failure without any class begin here. A connection pool says of its `jdbc:` URLs what JNP
/// says of its own.
pub fn opens(text: &str) -> bool {
    const ANY_URL: &str = "Could not obtain connection to any of these urls:";
    text.strip_prefix(ANY_URL).is_some_and(|urls| !urls.trim_start().starts_with("jdbc:"))
        || text.starts_with("No available router to destination")
        || plain_words::OPENINGS.iter().any(|(words, then)| {
            // Its line may be broken behind it.
            starts(text, words).is_some_and(|length| near(text).contains(then) || text[length..].trim().is_empty())
        })
}
