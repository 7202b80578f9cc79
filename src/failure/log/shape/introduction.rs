//! What stands before a class whatever its name: the words of a runtime for an exception that nobody caught.

use super::class;
use super::words::{near, starts};

/// What stands before a class whatever its name, between its first words and its last: Java's, .NET's, and those of
/// C++'s runtimes.
const INTRODUCTIONS: &[(&str, &str)] = &[
    ("Exception in thread \"", "\" "),
    ("Unhandled exception. ", ""),
    ("terminate called after throwing an instance of '", ""),
    ("terminating due to uncaught exception of type ", ""),
    ("terminating with uncaught exception of type ", ""),
];

/// Whether C++'s words for an exception that nobody caught begin here, though their line may end before they do.
pub fn begins(text: &str) -> bool {
    let words = ["terminate called after", "terminating due to uncaught", "terminating with uncaught"];
    words.iter().any(|words| starts(text, words).is_some())
}

/// The length of an introduction at the start of a text, behind which any class is one that was thrown.
pub fn length(text: &str) -> Option<usize> {
    if !text.starts_with(['E', 'U', 't']) {
        return None;
    }
    let (length, last) = INTRODUCTIONS.iter().find_map(|(first, last)| Some((starts(text, first)?, *last)))?;
    let rest = if last.is_empty() { &text[length..] } else { near(&text[length..]).split_once(last.trim_end())?.1 };
    let at = if last.is_empty() { length } else { length + near(&text[length..]).len() - rest.len() };
    let here = text[at..].trim_start();
    let at = text.len() - here.len();
    (here.is_empty() || class::any(text, at).is_some()).then_some(at)
}
