//! One text, classified: the first primary failure in it.

use super::cut::{self, Uncut};
use super::encoding::decoded;
use super::line::Line;
use super::parse::parse;
use super::reader::{Event, LogReader};
use super::rejoin;
use crate::failure::{Action, Category, Chain, CompletionStatus, Verdict, advice, classify_chain};

/// What a text means: the first failure in it that is not the noise of a shutdown. One that no rule knows is passed over
/// for the first that a rule knows, but not where that one would have the call sent again or forgotten: nothing shows that
/// it is the same call's.
pub fn classify_text(text: &[u8]) -> Verdict {
    let text = decoded(text);
    let text = text.as_slice();
    if is_file_name(text) {
        let mut verdict = advice::no_failure("this is the name of a file, not its text");
        "It is a file's name: read_failures() reads the file.".clone_into(&mut verdict.advice);
        return verdict;
    }
    let verdict = first_failure(text);
    let Some(Uncut { text, is_evident }) = std::str::from_utf8(text).ok().and_then(cut::uncut) else { return verdict };
    let whole = first_failure(text.as_bytes());
    let is_known = !matches!(whole.category, Category::NotAFailure | Category::Unknown);
    // Where it is not evident that lines were cut, neither reading may deliver a call twice.
    let told_no = verdict.completion == Some(CompletionStatus::No);
    let is_careful = !told_no || whole.completion == Some(CompletionStatus::Maybe);
    if is_known && (is_evident || is_careful) { whole } else { verdict }
}

/// The first failure in a text as it stands.
fn first_failure(text: &[u8]) -> Verdict {
    let changed = std::str::from_utf8(text).ok().and_then(|text| {
        let at_margin = at_margin(text);
        rejoin::objects(at_margin.as_deref().unwrap_or(text)).or(at_margin)
    });
    let mut reader = LogReader::new();
    let mut events = reader.feed(changed.as_deref().map_or(text, str::as_bytes));
    events.extend(reader.finish());
    match events.into_iter().reduce(first_primary) {
        Some(event) => event.verdict,
        None => advice::no_failure("no failure was found in the text"),
    }
}

/// The text without the blanks that all its lines begin with, as a block set as code has them.
fn at_margin(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = |most: usize, line: &str| first.bytes().zip(line.bytes()).take(most).take_while(|(a, b)| a == b).count();
    let length = lines.fold(blanks(first), common);
    let cut = |line: &str| [line.get(length..).unwrap_or_default(), "\n"].concat();
    (length > 0).then(|| text.lines().map(cut).collect())
}

/// Which of two failures a text is about, that of the first one or of one that stands behind it.
fn first_primary(first: Event, later: Event) -> Event {
    let is_noise = |event: &Event| event.verdict.category == Category::ClientShutdown;
    let passes = match first.verdict.category {
        Category::ClientShutdown => !matches!(later.verdict.category, Category::ClientShutdown | Category::Unknown),
        Category::Unknown => {
            let verdict = &later.verdict;
            // A record may name the exception whose trace follows.
            let names = |event: &Event| event.chain.thrown.iter().map(|thrown| thrown.class.clone()).collect::<Vec<_>>();
            let is_same = names(&first).last().is_some_and(|class| names(&later).contains(class));
            let is_careful = is_same || (verdict.completion != Some(CompletionStatus::No) && verdict.action == Action::Surface);
            is_careful && verdict.category != Category::Unknown && !is_noise(&later)
        }
        _ => false,
    };
    if passes { later } else { first }
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
