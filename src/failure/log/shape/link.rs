//! The words that link two exceptions in text, and what one is to the other.

use super::words::starts;
use crate::failure::Link;

/// What links two exceptions in text, and what the second is to the first.
const LINKS: &[(&str, Link)] = &[
    ("Caused by:", Link::Cause),
    ("Caused by ", Link::Cause),
    ("Root cause:", Link::Cause),
    ("root cause is", Link::Cause),
    ("nested exception is", Link::Nested),
    ("Root exception is", Link::Root),
    ("Linked exception:", Link::Cause),
];

/// The link at the start of a text: its length, and what it makes of the next exception.
pub fn at(text: &str) -> Option<(usize, Link)> {
    // Asked at each word: most are told by their first letter.
    if !matches!(text.as_bytes().first()?, b'C' | b'R' | b'r' | b'n' | b'L') {
        return None;
    }
    LINKS.iter().find_map(|(words, link)| Some((starts(text, words)?, *link)))
}

/// Node's `[cause]: ` at its word: its length, and what it makes of the next exception.
pub fn node_cause(text: &str, at: usize) -> Option<(usize, Link)> {
    let length = text[at..].strip_prefix("cause]:").filter(|_| text[..at].ends_with('['));
    length.map(|_| ("cause]:".len(), Link::Cause))
}

/// Whether .NET's arrow points to the word at `at`: what caused the exception before.
pub fn is_pointed_at(text: &str, at: usize) -> bool {
    text[..at].trim_end().ends_with("--->")
}

/// The words at the start of a text that turn Python's order: their length, and what the exception before them is.
pub fn turn(text: &str) -> Option<(usize, Link)> {
    if !matches!(text.as_bytes().first()?, b'T' | b'D') {
        return None;
    }
    TURNS.iter().find_map(|(words, link)| Some((starts(text, words)?, *link)))
}

/// Python prints the cause first: what follows is the outer one, and the one before is this to it.
const TURNS: &[(&str, Link)] =
    &[("The above exception was the direct cause", Link::Cause), ("During handling of the above exception", Link::Context)];

/// What the line of a link begins with.
pub const STARTS: &[&str] = &[
    "--->",
    "[cause]:",
    "Caused by:",
    "Caused by ",
    "Suppressed:",
    "[Root",
    "Root exception is",
    "nested exception is",
    "The above",
    "During",
];
