//! Whether what stands around a class makes it one that was thrown, or a matter of talk.

use super::words::{near, starts};
use super::{fields, frame, listing};
use crate::failure::tables::plain_words;

/// Words that make a class a matter of talk: code, configuration, advice.
const TALK: &[&str] = &[
    "catch",
    "catches",
    "catching",
    "except",
    "raise",
    "raises",
    "throws",
    "throw",
    "new",
    "import",
    "instanceof",
    "for",
    "on",
    "handles",
    "of",
    "extends",
    "class",
    "ignore",
    "ignoring",
    "retry",
    "expects",
    "register",
    "registered",
    "handler",
    "loaded",
    "as",
    "fix",
    "fixes",
    "fixed",
    "see",
    "avoid",
    "avoids",
    "about",
    "like",
    "prevents",
    "or",
    "and",
];

/// Whether a line ends in the middle of talk, so that a class at the start of the next one is only spoken of.
pub fn talks_on(line: &str) -> bool {
    let line = line.trim_end();
    let word = line.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    line.ends_with([',', '|'])
        || line.ends_with("==")
        || listing::announces(line)
        || word == "case"
        || TALK.contains(&word.as_str())
}

/// Whether what stands around the class makes it one that was thrown.
pub fn fits(text: &str, at: usize, end: usize, linked: bool, system: bool, dotted: bool) -> bool {
    let before = text[..at].trim_end();
    let after = &text[end..];
    let next = after.trim_start();
    let lead = text[..at].trim_end_matches([' ', '\t']);
    let line_start = lead.is_empty() || lead.ends_with('\n');
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if !linked && !line_start && TALK.contains(&word) && before.len() - word.len() < at {
        return false;
    }
    let introduced = linked
        || line_start
        || before.ends_with([':', '>', '-', '(', '[', '=', '"', '\'', ';', '|', '<'])
        || ["exception", "Exception", "threw", "thrown", "caught", "Caught", "with", "by", "error", "is", "cause", "Error"]
            .contains(&word);
    if after.starts_with("::") || after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return false;
    }
    if !linked && (listing::lists(lead, after) || listing::says_when(after)) {
        return false;
    }
    let details =
        ["[Root", "vmcid", "minor code", "(vmcid", "of RPC", "; nested", "- "].iter().any(|word| next.starts_with(word));
    let bare_system = system && !dotted;
    if system
        && if dotted {
            fields::any_near(near(after))
                || (introduced && ["raised by", "exception"].iter().any(|words| next.starts_with(words)))
        } else {
            has_code(after)
        }
    {
        return true;
    }
    // Ruby's and Rust's, where what stands behind the class is no message.
    let details =
        details || next.trim_end() == "with" || ["with #<", "{ kind:"].iter().any(|words| starts(next, words).is_some());
    match after.chars().next() {
        Some(':') => !bare_system || introduced,
        Some('(') if system => true,
        Some('(') => {
            introduced
                && after[1..].starts_with(['\'', '"', '<', ')', 'H']) | after[1..].starts_with(|c: char| c.is_ascii_digit())
        }
        Some('.') => next[1..].trim_start().starts_with("Root exception is"),
        Some('[') => true,
        Some(';') => details || introduced,
        // `WebLogic` sets each part of a record in angles, which are no program's.
        Some('>') if lead.strip_suffix('<').is_some_and(|lead| lead.is_empty() || lead.ends_with([' ', '\n', '>'])) => true,
        Some(']' | ')' | ',' | '"' | '\'' | '>') => linked,
        Some(_) if details || number(next) > 0 || has_symbol(next) => true,
        Some(_) | None => {
            let ends_line = after.is_empty() || after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
            let ends = next.is_empty() || ends_line || frame::end(text, text.len() - next.len()).is_some();
            ends && introduced && !bare_system
        }
    }
}

/// Whether a constant at `at` is a program's, which compares something with it.
pub fn is_compared(text: &str, at: usize) -> bool {
    let path = text[..at].rfind(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).map_or(0, |before| before + 1);
    let before = text[..path].trim_end();
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    before.ends_with("==") || before.ends_with("!=") || ["case", "is", "in", "not", "return"].contains(&word)
}

/// Some bare names of system exceptions are everyday words: what follows must be CORBA's.
pub fn is_plainly_corba(name: &str, after: &str) -> bool {
    let signs = ["CORBA", "vmcid", "minor code", "COMPLETED_"];
    name.contains('_') || has_code(after) || signs.iter().any(|sign| near(after).contains(sign))
}

/// Whether a minor code stands directly behind a bare class.
fn has_code(after: &str) -> bool {
    let next = after.trim_start_matches([' ', '(', ',']);
    let names_code = next.starts_with("minor") && fields::fields(near(next), 0).is_some();
    names_code || fields::code_behind(near(after), 0).is_some()
}

/// .NET's number between class and message: `SocketException (10061): …`, `Win32Exception (0x80004005): …`.
/// Its length with the blank before it.
pub fn number(text: &str) -> usize {
    let next = text.trim_start();
    let Some((number, _)) = next.strip_prefix('(').and_then(|next| near(next).split_once("):")) else { return 0 };
    let is_number =
        number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_hexdigit() || "x, -".contains(c));
    if is_number { text.len() - next.len() + number.len() + "():".len() } else { 0 }
}

/// Node's code between class and message: `TypeError [ERR_INVALID_URL]: …`, `AggregateError [ECONNREFUSED]: …`.
fn has_symbol(next: &str) -> bool {
    let inside = next.strip_prefix('[').and_then(|next| near(next).split_once("]:"));
    inside.is_some_and(|(code, _)| {
        code.len() > 2 && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
    })
}

/// A bare `Error:` is one where a symbol of errno follows, or Node's own words.
pub fn names_errno(after: &str) -> bool {
    let line: Vec<&str> = near(after).split('\n').next().unwrap_or_default().split_whitespace().collect();
    let line = line.join(" ");
    let symbols = ["ECONN", "EHOST", "ENET", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EAI_"];
    after.starts_with(':') && symbols.iter().chain(plain_words::NODE).any(|words| line.contains(words))
}
