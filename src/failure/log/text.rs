//! One text, classified: the first primary failure in it.

use super::line::Line;
use super::parse::parse;
use super::reader::LogReader;
use crate::failure::{Category, Chain, Verdict, advice, classify_chain};

/// What a text means: the first failure in it that a rule knows, and that is not the noise of a shutdown.
pub fn classify_text(text: &[u8]) -> Verdict {
    if is_file_name(text) {
        let mut verdict = advice::no_failure("this is the name of a file, not its text");
        "It is a file's name: read_failures() reads the file.".clone_into(&mut verdict.advice);
        return verdict;
    }
    let mut reader = LogReader::new();
    let mut events = reader.feed(text);
    events.extend(reader.finish());
    let known = |category: Category| !matches!(category, Category::Unknown | Category::ClientShutdown);
    let primary = events.iter().position(|event| known(event.verdict.category));
    let first = primary.or_else(|| events.iter().position(|event| event.verdict.category == Category::ClientShutdown));
    match events.into_iter().nth(first.unwrap_or(0)) {
        Some(event) => event.verdict,
        None => advice::no_failure("no failure was found in the text"),
    }
}

/// The chain that a piece of text shows, such as the cause in a description; where it shows none, nothing.
pub fn chain_of_text(text: &str) -> Chain {
    let lines: Vec<Line> = text.lines().map(|line| Line::read(0, line.as_bytes())).collect();
    parse(&lines)
}

/// Whether a text is a path and nothing else.
fn is_file_name(text: &[u8]) -> bool {
    const ENDINGS: &[&str] = &[".log", ".txt", ".out", ".err", ".gz", ".json", ".trc", ".zip"];
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let text = text.trim();
    let one_word = !text.is_empty() && text.len() < 1024 && !text.contains(['\n', '\t', '<', '>', '"']) && !text.contains(": ");
    let named = ENDINGS.iter().any(|ending| text.ends_with(ending)) && !text.contains(' ');
    let rooted = (text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../")) && !text.contains(' ');
    one_word
        && (named || rooted)
        && !text.contains("://")
        && classify_chain(&chain_of_text(text)).category == Category::NotAFailure
}
