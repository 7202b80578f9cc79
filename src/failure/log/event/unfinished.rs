//! What the last lines of an event leave to be said by the next one: a link without its exception, a sentence that breaks
//! off, a field without its value.

use crate::failure::finding;
use crate::failure::log::line::Line;
use crate::failure::log::shape::{class, member, phrase};
use crate::failure::tables;

/// Whether the last line ends in the middle of a sentence, where a line may have been broken: the next word had no
/// room in it. What has a first word in common with the first line has a prefix of no known form.
pub fn breaks_off(lines: &[Line], next: &Line) -> bool {
    // More than the one blank that was there may have gone with the break.
    const LOST: usize = 3;
    let first_word = |line: &Line| line.content.split_whitespace().next().map(str::to_owned);
    let Some(last) = lines.last() else { return false };
    if lines.first().and_then(first_word) == first_word(next) {
        return false;
    }
    // A prefix takes up room, too.
    let length = |line: &Line| line.prefix.len() + line.content.len();
    let room = length(last) + LOST + first_word(next).map_or(0, |word| word.len());
    let can_be_broken = |line: &&Line| line.content.trim().contains(' ');
    let width = lines.iter().chain([next]).filter(can_be_broken).map(length).max();
    room >= width.unwrap_or(0) && last.content.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ',')
}

/// Whether a line goes on with the sentence before: that breaks off, or was broken within words that a rule looks for.
pub fn goes_on_with(lines: &[Line], next: &Line) -> bool {
    breaks_off(lines, next) || lines.last().is_some_and(|last| breaks_words(&last.content, &next.content))
}

/// Whether words that a rule looks for stand on both sides of a line break.
fn breaks_words(last: &str, next: &str) -> bool {
    let lower = |words: Vec<&str>| words.join(" ").to_lowercase();
    let end: Vec<&str> = last.split_whitespace().rev().take(MOST_WORDS).collect();
    let end = lower(end.into_iter().rev().collect());
    // What both begin with is a prefix of no known form.
    let mut before = last.split_whitespace();
    let own = next.split_whitespace().skip_while(|word| before.next() == Some(word));
    let start = lower(own.take(MOST_WORDS).collect());
    let joined = format!("{end} {start}");
    let across = |at: usize, words: &str| at < end.len() && at + words.len() > end.len() + 1;
    tables::phrases().iter().any(|words| joined.match_indices(words).any(|(at, _)| across(at, words)))
}

/// As many words as the longest that a rule looks for have before a break.
const MOST_WORDS: usize = 8;

/// Whether the only line is a product's message that was broken before it named its exception.
pub fn names_its_code(lines: &[Line], next: &Line) -> bool {
    let [only] = lines else { return false };
    let code = only.content.split([' ', ':']).find_map(phrase::product_code);
    let has_class = ["xception", "Error"].iter().any(|class| only.content.contains(class));
    code.is_some() && !has_class && next.content.starts_with(char::is_lowercase) && breaks_off(lines, next)
}

/// Whether a message was broken before an exception that it quotes: it is a list, a server's answer, or CORBA's, whose
/// status is still to come.
pub fn goes_on_in(lines: &[Line], next: &Line) -> bool {
    if !breaks_off(lines, next) {
        return false;
    }
    let text = lines.iter().map(|line| line.content.trim()).collect::<Vec<_>>().join(" ");
    let lacks_status = text.contains("CORBA.") && !text.contains("minor") && !text.contains("completed");
    let within = next.content.starts_with(char::is_lowercase) && !class::begins(&next.content);
    let in_list = text.matches('[').count() > text.matches(']').count();
    in_list || finding::is_an_answer(&text) || (lacks_status && within)
}

/// Links at the end of a line, whose exception is still to come.
const LINKS: &[&str] = &["--->", "nested exception is:", "nested exception is", "Root exception is", "Caused by:", "Suppressed:"];

/// Whether the last line ends with a link.
pub fn ends_with_link(lines: &[Line]) -> bool {
    lines.last().is_some_and(|last| LINKS.iter().any(|words| last.content.trim_end().ends_with(words)))
}

/// What the last words may be, whatever stands before.
const ASKING: &[&str] =
    &["--->", "nested exception is:", "Caused by:", "Suppressed:", "following exception:", "another exception occurred:"];

/// What they may be above the frames, where a line may have been broken within them.
const BEGUN: &[&str] = &[
    "nested exception is",
    "nested exception",
    "[Root",
    "Root exception is",
    "Root exception",
    "Caused by",
    "Caused",
    "nested",
    "CORBA",
    "minor code",
    "completed",
    "connection to any",
    "connection to any of",
    "to any of these",
    "and discovery",
    "and discovery failed",
    "discovery failed with",
];

/// Whether the text so far asks for more: a link without its exception, a colon, an open bracket.
pub fn asks(lines: &[Line], has_frames: bool) -> bool {
    let Some(last) = lines.last() else { return false };
    let tail = last.content.trim_end();
    if member::is_rule(tail.trim_start()) || (tail.ends_with(')') && tail.contains("---> (Inner Exception #")) {
        return true;
    }
    if tail.ends_with([':', ';', ',', '=', '(', '[', '<', '{']) && !has_frames {
        return true;
    }
    let mut last_words: Vec<&str> =
        lines.iter().rev().take(3).flat_map(|line| line.content.split_whitespace().rev()).take(4).collect();
    last_words.reverse();
    let end = last_words.join(" ");
    ASKING.iter().any(|words| end.ends_with(words)) || (!has_frames && BEGUN.iter().any(|words| end.ends_with(words)))
}
