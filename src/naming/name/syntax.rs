//! The syntax of composite names, in both directions.
//!
//! Reading follows JNDI's `CompositeName` to the letter, oddities included: a backslash before anything but `/`,
//! `\`, `'` or `"` is itself; inside quotes it escapes the closing quote alone; a name that ends in a separator has
//! an empty last component, unless all its components are empty (`"/"` is one, not two).
//!
//! Writing follows it too, except where the reference writes what it reads as something else: a component that holds
//! a `/` and ends in `\` can't be quoted, because the closing quote would be escaped. Such a component has its `/`
//! escaped instead.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

const SEPARATOR: u8 = b'/';
const ESCAPE: u8 = b'\\';

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

fn is_meta(byte: u8) -> bool {
    byte == SEPARATOR || byte == ESCAPE || is_quote(byte)
}

/// Whether a text is its components with separators between them, and none is empty: nothing in it
/// escapes or quotes.
pub(super) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if first == SEPARATOR || first == ESCAPE || is_quote(first) || last == SEPARATOR {
        return false;
    }
    // All are looked at, whatever is found: so the processor looks at many at once.
    !bytes.iter().zip(&bytes[1..]).fold(false, |found, (&before, &byte)| {
        found || byte == ESCAPE || (before == SEPARATOR && (byte == SEPARATOR || is_quote(byte)))
    })
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    problem: Problem,
    /// In characters, from 0, as Python counts.
    index: usize,
    character: char,
}

#[derive(Debug, PartialEq, Eq)]
enum Problem {
    /// A quote opens a component and is never closed.
    NoCloseQuote,
    /// Something stands between a closing quote and the component's end.
    BehindCloseQuote,
    /// An escape at the end has nothing to escape.
    TrailingEscape,
}

impl SyntaxError {
    fn at(text: &str, byte: usize, problem: Problem) -> Self {
        let character = text[byte..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        Self { problem, index: text[..byte].chars().count(), character }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.character {
            '\'' => write!(f, "\"'\" at index {} ", self.index)?,
            character => write!(f, "'{character}' at index {} ", self.index)?,
        }
        f.write_str(match self.problem {
            Problem::NoCloseQuote => "opens a quoted component that is never closed",
            Problem::BehindCloseQuote => "follows a closing quote; only '/' or the end may",
            Problem::TrailingEscape => "escapes nothing: it is the last character",
        })
    }
}

/// The components of a text that is not empty.
pub(super) fn parse(text: &str) -> Result<Vec<Arc<str>>, SyntaxError> {
    let mut components = Vec::new();
    let mut all_empty = true;
    let mut at = 0;
    while at < text.len() {
        let (component, end) = component(text, at)?;
        all_empty &= component.is_empty();
        components.push(Arc::from(component.as_ref()));
        at = end;
        if at < text.len() {
            at += 1;
            if at == text.len() && !all_empty {
                components.push(Arc::from(""));
            }
        }
    }
    Ok(components)
}

/// The component that starts at `start`, and where it ends: at a separator or at the text's end.
fn component(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), SyntaxError> {
    let first = text.as_bytes()[start];
    if is_quote(first) { quoted(text, start, first) } else { plain(text, start) }
}

fn quoted(text: &str, start: usize, quote: u8) -> Result<(Cow<'_, str>, usize), SyntaxError> {
    let bytes = text.as_bytes();
    let mut content = Cow::Borrowed("");
    let mut copied = start + 1;
    let mut at = copied;
    loop {
        match bytes.get(at) {
            None => return Err(SyntaxError::at(text, start, Problem::NoCloseQuote)),
            Some(&byte) if byte == quote => break,
            Some(&ESCAPE) if bytes.get(at + 1) == Some(&quote) => {
                content += &text[copied..at];
                copied = at + 1;
                at += 2;
            }
            Some(_) => at += 1,
        }
    }
    content += &text[copied..at];
    let end = at + 1;
    match bytes.get(end) {
        None | Some(&SEPARATOR) => Ok((content, end)),
        Some(_) => Err(SyntaxError::at(text, end, Problem::BehindCloseQuote)),
    }
}

fn plain(text: &str, start: usize) -> Result<(Cow<'_, str>, usize), SyntaxError> {
    let bytes = text.as_bytes();
    let mut content = Cow::Borrowed("");
    let mut copied = start;
    let mut at = start;
    loop {
        match bytes.get(at) {
            None | Some(&SEPARATOR) => break,
            Some(&ESCAPE) => match bytes.get(at + 1) {
                None => return Err(SyntaxError::at(text, at, Problem::TrailingEscape)),
                Some(&next) if is_meta(next) => {
                    content += &text[copied..at];
                    copied = at + 1;
                    at += 2;
                }
                Some(_) => at += 1,
            },
            Some(_) => at += 1,
        }
    }
    content += &text[copied..at];
    Ok((content, at))
}

/// The one text that reads as these components.
pub(super) fn canonical(components: &[Arc<str>]) -> String {
    let mut text = String::with_capacity(components.iter().map(|component| component.len() + 1).sum());
    for (index, component) in components.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        text.push_str(&escaped(component));
    }
    // Empty components alone need one separator more than they have gaps: a single one would vanish.
    if components.iter().all(|component| component.is_empty()) && !components.is_empty() {
        text.push('/');
    }
    text
}

/// A component as it stands in a canonical text. The canonical text of a name without empty components is its escaped
/// components with `/` between them.
pub(in crate::naming) fn escaped(component: &str) -> Cow<'_, str> {
    let bytes = component.as_bytes();
    let has_separator = bytes.contains(&SEPARATOR);
    if !has_separator && !bytes.contains(&ESCAPE) && !bytes.first().is_some_and(|&byte| is_quote(byte)) {
        return Cow::Borrowed(component);
    }
    let mut text = String::with_capacity(component.len() + 4);
    if has_separator && bytes.last() != Some(&ESCAPE) {
        let _ = write!(text, "\"{}\"", component.replace('"', "\\\""));
        return Cow::Owned(text);
    }
    for (at, character) in component.char_indices() {
        let escape = match character {
            '/' => true,
            '"' | '\'' => at == 0,
            // Where a meta character or nothing follows, a lone backslash would swallow it.
            '\\' => bytes.get(at + 1).is_none_or(|&next| is_meta(next)),
            _ => false,
        };
        if escape {
            text.push('\\');
        }
        text.push(character);
    }
    Cow::Owned(text)
}
