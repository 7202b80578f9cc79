//! What CORBA exceptions print beside their class: vendor, minor code, completion status, in each ORB's spelling.

use crate::failure::tables::corba_minors;
use crate::failure::{CompletionStatus, Minor};

/// A field found in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// `vmcid: SUN`, `OMG` in `OMG minor code (2)`.
    Vendor(String),
    /// `minor code: 201`.
    Minor(String),
    /// `completed: Maybe`.
    Completed(CompletionStatus),
    /// TAO's `(location; ERRNO)` behind a minor code that holds errno's bits alone.
    Errno {
        /// Where in the ORB.
        place: String,
        /// The symbol.
        symbol: String,
    },
}

/// The fields at `at`, where a word begins, and where they end.
pub fn fields(text: &str, at: usize) -> Option<(Vec<Field>, usize)> {
    let rest = &text[at..];
    // Asked at each word: most are told by their first letter.
    if !matches!(rest.as_bytes().first()?, b'v' | b'c' | b'm' | b'C' | b'O' | b'T') {
        return None;
    }
    if let Some(after) = word(rest, "vmcid") {
        let (value, end) = value(text, text.len() - after.len())?;
        let (rest, end) = broken_value(text, end).unwrap_or(("", end));
        return Some((vec![Field::Vendor(format!("{value}{rest}"))], end));
    }
    if let Some(after) = word(rest, "completed") {
        let (value, end) = value(text, text.len() - after.len())?;
        return Some((vec![Field::Completed(status(value)?)], end));
    }
    if let Some(after) = word(rest, "Completion Status").or_else(|| word(rest, "completion status")) {
        let (value, end) = value(text, text.len() - after.len())?;
        return Some((vec![Field::Completed(CompletionStatus::from_word(value)?)], end));
    }
    if rest.starts_with("COMPLETED_") {
        let length = word_length(rest);
        return Some((vec![Field::Completed(CompletionStatus::from_word(&rest[..length])?)], at + length));
    }
    if let Some((_, found, length)) = symbol(text, at) {
        return Some((found, at + length));
    }
    let vendor = word(rest, "OMG").or_else(|| word(rest, "TAO exception,")).map(str::trim_start);
    let minor = word(vendor.unwrap_or(rest), "minor code").or_else(|| bare_minor(rest).filter(|_| vendor.is_none()))?;
    let minor = minor.trim_start().strip_prefix("id ").unwrap_or(minor);
    let (number, mut end) = value(text, text.len() - minor.len())?;
    let mut number = number.to_owned();
    if let Some((rest, after)) = broken_value(text, end) {
        number.push_str(rest);
        end = after;
    }
    if let Some((other, after)) = other_form(text, end) {
        number = format!("{number} {other}");
        end = after;
    }
    let mut found = vec![Field::Minor(number)];
    if vendor.is_some() && rest.starts_with("OMG") {
        found.push(Field::Vendor("OMG".to_owned()));
    }
    if let Some((place, symbol, after)) = errno(text, end) {
        found = vec![Field::Errno { place: place.to_owned(), symbol: symbol.to_owned() }];
        end = after;
    }
    Some((found, end))
}

/// The status of a word, which may be cut off: in doubt the worst one.
fn status(word: &str) -> Option<CompletionStatus> {
    let is_cut = word.len() < "Maybe".len() && "MAYBE".starts_with(&word.to_ascii_uppercase());
    CompletionStatus::from_word(word).or(is_cut.then_some(CompletionStatus::Maybe))
}

/// What follows the word `minor` where a code does: behind `:` or `=` anything, behind a blank a whole code alone, since
/// `minor` is an everyday word too.
fn bare_minor(text: &str) -> Option<&str> {
    let after = word(text, "minor")?;
    let next = after.trim_start();
    (next.starts_with([':', '=']) || whole_code(next).is_some()).then_some(after)
}

/// The length of a whole code of 32 bits at the start of a text, which names its vendor.
fn whole_code(text: &str) -> Option<usize> {
    let length = text.bytes().take(64).take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let number = &text[..length];
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let (minor, _) = Minor::read(None, &[number]).filter(|_| is_number)?;
    (minor.vendor_id() != 0 && minor.vendor().is_some()).then_some(length)
}

/// The same code in its other form behind the first one, `1229066304 (0x49421040)`.
fn other_form(text: &str, at: usize) -> Option<(&str, usize)> {
    let inside = text[at..].trim_start_matches([' ', '\n']).strip_prefix('(')?;
    let length = inside.bytes().take(16).position(|b| b == b')')?;
    let is_code = inside.starts_with("0x") || inside[..length].bytes().all(|b| b.is_ascii_digit() || b == b'-');
    (is_code && length > 0).then_some((&inside[..length], text.len() - inside.len() + length + 1))
}

/// A whole code and nothing else behind a system exception's class: `TRANSIENT (0x49421040)`, `TRANSIENT 0x49421040`.
pub fn code_behind(text: &str, at: usize) -> Option<(Field, usize)> {
    let rest = &text[at..];
    let number = rest.trim_start_matches([' ', ',', ':', '\t', '\n']);
    let number = number.strip_prefix('(').unwrap_or(number);
    let length = whole_code(number).filter(|_| number.len() < rest.len())?;
    let end = text.len() - number.len() + length;
    Some((Field::Minor(number[..length].to_owned()), end))
}

/// Whether a status, a code or a vendor stands in the first piece of a text: on one line, where the value may be left
/// for the next one.
pub fn any_near(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    let starts = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let begins = |at: usize, word: &str| {
        let after = line[at + word.len()..].trim_start();
        let after = after.strip_prefix("code").unwrap_or(after).trim_start_matches([' ', ':', '=', '\t']);
        starts(at) && (after.is_empty() || fields(line, at).is_some())
    };
    let counts =
        line.trim_start_matches([' ', ',']).strip_prefix("minor ").is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    counts
        || code_behind(line, 0).is_some()
        || ["minor", "vmcid", "completed", "COMPLETED_"]
            .iter()
            .any(|word| line.match_indices(word).any(|(at, _)| begins(at, word)))
}

/// What follows `word` (blanks in it stand for any blanks).
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    if text.as_bytes().first() != word.as_bytes().first() {
        return None;
    }
    let mut rest = text;
    for (at, piece) in word.split(' ').enumerate() {
        rest = if at == 0 { rest } else { rest.trim_start() }.strip_prefix(piece)?;
    }
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
}

/// The value behind a field's name: `: 201`, ` = 5`, ` (2)`, also on the next line.
fn value(text: &str, at: usize) -> Option<(&str, usize)> {
    const MOST_BLANKS: usize = 200;
    let bytes = text.as_bytes();
    let skipped = bytes[at..].iter().take(MOST_BLANKS).take_while(|b| b.is_ascii_whitespace() || b":=(".contains(b)).count();
    let start = at + skipped;
    let is_value = |b: &u8| b.is_ascii_alphanumeric() || b"_.-".contains(b);
    let length = bytes[start..].iter().take(64).take_while(|b| is_value(b)).count();
    let value = &text[start..start + length];
    // The next field's name may be glued to the value.
    let glued = ["minor", "completed", "vmcid"].iter().filter_map(|name| value.find(name).filter(|at| *at > 0)).min();
    let value = value[..glued.unwrap_or(length)].trim_end_matches(['.', '-']);
    (skipped > 0 && !value.is_empty()).then_some((value, start + value.len()))
}

/// The rest of a number that a line break went through: nothing else stands between it and the next field.
fn broken_value(text: &str, at: usize) -> Option<(&str, usize)> {
    const MOST: usize = 10;
    let next = text[at..].strip_prefix('\n')?;
    let length = next.bytes().take(MOST).take_while(u8::is_ascii_hexdigit).count();
    let after = next[length..].strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
    let is_field = ["minor", "completed", "vmcid"].iter().any(|name| word(after, name).is_some());
    (length > 0 && is_field).then(|| (&next[..length], text.len() - next.len() + length))
}

/// `(send request failed; ECONNREFUSED)` behind a minor code.
fn errno(text: &str, at: usize) -> Option<(&str, &str, usize)> {
    const MOST: usize = 200;
    let inside = text[at..].trim_start_matches([' ', ')']).strip_prefix('(')?;
    let start = text.len() - inside.len();
    let length = inside.bytes().take(MOST).position(|b| b == b')')?;
    let (place, symbol) = inside[..length].split_once(';')?;
    Some((place.trim(), symbol.trim(), start + length + 1))
}

/// The arguments of omniORB's `CORBA.TRANSIENT(omniORB.TRANSIENT_ConnectFailed, CORBA.COMPLETED_NO)`: `at` is behind
/// the class.
pub fn arguments(text: &str, at: usize) -> Option<(Vec<Field>, usize)> {
    const MOST: usize = 300;
    let inside = text[at..].strip_prefix('(')?;
    let length = inside.bytes().take(MOST).position(|b| b == b')')?;
    let mut found = Vec::new();
    for argument in inside[..length].split(',') {
        let argument = argument.rsplit('=').next().unwrap_or_default().trim();
        if let Some(minor) = corba_minors::of_symbol(argument) {
            found.push(Field::Minor(minor.to_string()));
        } else if let Some(status) = CompletionStatus::from_word(argument) {
            found.push(Field::Completed(status));
        } else if argument.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            found.push(Field::Minor(argument.to_owned()));
        }
    }
    Some((found, at + 1 + length + 1))
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// omniORB's own name of a minor code at `at`, as its trace prints it: `(0,MAYBE,COMM_FAILURE_WaitingForReply)`.
pub fn symbol(text: &str, at: usize) -> Option<(&'static str, Vec<Field>, usize)> {
    const CLASSES: [&str; 3] = ["TRANSIENT", "TIMEOUT", "COMM_FAILURE"];
    let rest = &text[at..];
    let class = CLASSES.into_iter().find(|class| rest.starts_with(class))?;
    let length = word_length(rest);
    let minor = corba_minors::of_symbol(&rest[..length])?;
    let mut found = vec![Field::Minor(minor.to_string())];
    let before = text[..at].strip_suffix(',').and_then(|before| before.rsplit(',').next());
    found.extend(before.and_then(CompletionStatus::from_word).map(Field::Completed));
    Some((class, found, length))
}

/// RMI-IIOP's wrapper, `CORBA TRANSIENT 0x4942fe02 No`, at the start of a text: the class, the fields, the length.
pub fn wrapper(text: &str) -> Option<(&'static str, Vec<Field>, usize)> {
    let rest = word(text, "CORBA")?.trim_start();
    let name_end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_'))?;
    let name = crate::failure::corba::system_exception(&rest[..name_end])?;
    let rest = rest[name_end..].trim_start();
    let number_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))?;
    let number = &rest[..number_end];
    let after = rest[number_end..].trim_start();
    let status_end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
    let status = CompletionStatus::from_word(&after[..status_end])?;
    let length = text.len() - after.len() + status_end;
    number
        .starts_with(|c: char| c.is_ascii_digit() || c == '-')
        .then(|| (name, vec![Field::Minor(number.to_owned()), Field::Completed(status)], length))
}

/// Whether omniORB's C++ form begins here, though its line may end before it does.
pub fn begins_system_exception(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_uppercase()) {
        return false;
    }
    let name = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).next().unwrap_or_default();
    let known = crate::failure::corba::system_exception(name).is_some();
    known && word(text[name.len()..].trim_start(), "CORBA").is_some()
}

/// omniORB's C++ form, `TRANSIENT CORBA system exception: TRANSIENT_CallTimedout`.
pub fn system_exception(text: &str) -> Option<(&'static str, Vec<Field>, usize)> {
    let name_end = text.find(|c: char| !(c.is_ascii_uppercase() || c == '_'))?;
    let name = crate::failure::corba::system_exception(&text[..name_end])?;
    let after = word(text[name_end..].trim_start(), "CORBA system exception")?;
    let (symbol, end) = value(text, text.len() - after.len()).unwrap_or(("", text.len() - after.len()));
    let minor = corba_minors::of_symbol(symbol).map(|minor| Field::Minor(minor.to_string()));
    Some((name, minor.into_iter().collect(), end))
}
