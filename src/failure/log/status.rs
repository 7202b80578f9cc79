//! gRPC's status where a text shows it: Python's `StatusCode.UNAVAILABLE`, Go's `code = Unavailable`, C#'s
//! `StatusCode="Unavailable"`, Node's `14 UNAVAILABLE:`.

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

/// The status at the start of a text, and the length of the form.
pub fn status(text: &str) -> Option<(&'static str, usize)> {
    for form in ["StatusCode.", "StatusCode=\"", "rpc error: code = ", "Status{code=", "grpc-status: "] {
        if let Some(rest) = text.strip_prefix(form) {
            let length = word_length(rest);
            return Some((code(&rest[..length])?, form.len() + length));
        }
    }
    let digits = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].strip_prefix(' ').filter(|_| (1..=2).contains(&digits))?;
    let length = word_length(rest);
    let number = CODES.iter().position(|code| *code == &rest[..length])? + 1;
    (rest[length..].starts_with(':') && text[..digits] == number.to_string()).then_some((CODES[number - 1], digits + 1 + length))
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(text.len())
}
