//! What the lines before a line make of it: a class that is only spoken of, or the server's answer.

use super::record::{self, Relation};
use crate::failure::finding;
use crate::failure::log::line::{Line, common_prefix};
use crate::failure::log::shape::{class, kind, listing, told};

/// Whether two lines that follow each other are a class each and nothing else.
pub fn is_listed(first: &Line, second: &Line) -> bool {
    let prefix = common_prefix([first, second].into_iter());
    let is_bare = |line: &Line| line.content.get(prefix..).is_some_and(listing::is_bare);
    first.number + 1 == second.number && is_bare(first) && is_bare(second)
}

/// Whether the class in a line is only spoken of, by the line before. Both may have a prefix of no known form.
pub fn is_spoken_of(before: &Line, line: &Line) -> bool {
    let prefix = common_prefix([before, line].into_iter());
    let (Some(above), Some(content)) = (before.content.get(prefix..), line.content.get(prefix..)) else { return false };
    let same = record::relation(before.is_record.then_some(before), line) == Relation::Same;
    let begins = class::begins(content) || content.trim_start().trim_start_matches("grpc.").starts_with("StatusCode.");
    let talked = !content.contains(": ") && begins && told::talks_on(above);
    is_listed(before, line)
        || (same && (talked || listing::leads(above, content)))
        || (prefix > 0 && !kind::of(content).may_open())
}

/// The lines before one with an exception that say that it stands in the server's answer: a message that was wrapped.
pub fn answer_before<'a>(before: &'a [Line], line: &Line) -> &'a [Line] {
    let same = |before: &Line| record::relation(before.is_record.then_some(before), line) == Relation::Same;
    let goes_on = |before: &&Line| same(before) && !before.content.is_empty() && !before.content.ends_with(['.', '!', '?']);
    let from = before.len() - before.iter().rev().take_while(goes_on).count();
    let words = before[from..].iter().chain([line]).map(|line| line.content.trim()).collect::<Vec<_>>().join(" ");
    let says = finding::says_that_it_was_answered(&words.to_lowercase());
    let alone = finding::says_that_it_was_answered(&line.content.to_lowercase());
    if says && !alone { &before[from..] } else { &[] }
}

/// Whether the line before a stack frame is its exception, whatever its class; both may have a prefix of no known form.
pub fn heads(before: &Line, frame: &Line) -> bool {
    let prefix = common_prefix([before, frame].into_iter());
    before.content.get(prefix..).is_some_and(class::heads_frames)
}
