//! gRPC's status where a text shows it: Python's `StatusCode.UNAVAILABLE`, Go's `code = Unavailable`, C#'s
//! `StatusCode="Unavailable"`, Node's `14 UNAVAILABLE:`.

use super::words::starts;

/// The statuses that say that something failed.
pub const CODES: &[&str] = &[
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The status that a word names, however its language spells it.
pub fn code(word: &str) -> Option<&'static str> {
    let bare = |text: &str| text.bytes().filter(|b| *b != b'_').map(|b| b.to_ascii_uppercase()).collect::<Vec<u8>>();
    let wanted = bare(word);
    // Go spells it with one l.
    let wanted = if wanted == b"CANCELED" { b"CANCELLED".to_vec() } else { wanted };
    CODES.iter().copied().find(|code| bare(code) == wanted)
}

/// The status of that number.
pub fn of_number(number: &str) -> Option<&'static str> {
    let number: usize = number.trim().parse().ok()?;
    CODES.get(number.checked_sub(1)?).copied()
}

const FORMS: &[&str] = &["StatusCode.", "StatusCode=\"", "rpc error: code =", "Status{code="];

/// Whether a status begins here, though its line may end before it does.
pub fn begins(text: &str) -> bool {
    // Asked at each word: most are told by their first letter.
    if !text.starts_with(|c: char| matches!(c, 'r' | 'S' | '0'..='9')) {
        return false;
    }
    starts(text, "rpc error:").is_some() || status(text).is_some()
}

/// The status at the start of a text, and the length of the form.
pub fn status(text: &str) -> Option<(&'static str, usize)> {
    if let Some(length) = FORMS.iter().find_map(|form| starts(text, form)) {
        let rest = text[length..].trim_start();
        let word = word_length(rest);
        return Some((code(&rest[..word])?, text.len() - rest.len() + word));
    }
    let digits = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].trim_start();
    if !(1..=2).contains(&digits) || rest.len() == text.len() - digits {
        return None;
    }
    let word = word_length(rest);
    let number = CODES.iter().position(|code| *code == &rest[..word])? + 1;
    let end = text.len() - rest.len() + word;
    (rest[word..].starts_with(':') && text[..digits] == number.to_string()).then_some((CODES[number - 1], end))
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(text.len())
}
