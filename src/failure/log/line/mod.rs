//! One line of a log, made readable: decoded, cleaned, without its prefix.

use memchr::memmem;

mod colour;
mod common;
mod json;
mod prefix;

use json::Record;
use prefix::Stripped;

use super::shape::{kind, listing};

pub use common::common_prefix;
pub use prefix::strip;

/// More of a line than this is not looked at.
pub const MOST_BYTES: usize = 16 * 1024;

/// A line as the rest of the reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number in the log, from 1.
    pub number: u64,
    /// Its content: no prefix, with its indentation.
    pub content: String,
    /// What stood before its content.
    pub prefix: String,
    /// The time in its prefix.
    pub time: Option<String>,
    /// Its prefix has a time or a level.
    pub is_record: bool,
    /// Its level says that it is no failure.
    pub is_notice: bool,
    /// `GlassFish`'s `[#|` is open at its end.
    pub opens_pipe: bool,
}

impl Line {
    /// Reads a line's bytes, in any encoding: what is not UTF-8 is replaced.
    pub fn read(number: u64, bytes: &[u8]) -> Self {
        let raw = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
        let content = prefix::strip(&raw).content;
        // An item's dash passes for the one that loggers write.
        let dash = if raw[..raw.len() - content.len()].ends_with("- ") { 2 } else { 0 };
        if listing::explains(&raw[raw.len() - content.len() - dash..]) {
            return Self { number, ..Self::default() };
        }
        let text = clean(&raw);
        let Stripped { content, time, is_record, is_notice } = prefix::strip(&text);
        let opens_pipe = text.contains("[#|") && !text.contains("|#]");
        Self {
            number,
            content: without_end(content).to_owned(),
            prefix: text[..text.len() - content.len()].to_owned(),
            time: time.map(str::to_owned),
            is_record,
            is_notice,
            opens_pipe,
        }
    }

    /// The lines that a line of the log holds: a record in JSON may have many in it.
    pub fn read_all(number: u64, bytes: &[u8]) -> Vec<Self> {
        Self::in_json(number, bytes).or_else(|| Self::escaped(number, bytes)).unwrap_or_else(|| vec![Self::read(number, bytes)])
    }

    /// The lines of a trace that was written on one line, its line breaks as escapes.
    fn escaped(number: u64, bytes: &[u8]) -> Option<Vec<Self>> {
        memmem::find(bytes, b"\\n")?;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
        let begins = ["\\tat ", "\tat ", "    at ", "Caused by: ", "  File \""];
        let is_trace = text.match_indices("\\n").any(|(at, _)| begins.iter().any(|words| text[at + 2..].starts_with(words)));
        is_trace.then(|| text.split("\\n").map(|line| Self::read(number, line.as_bytes())).collect())
    }

    fn in_json(number: u64, bytes: &[u8]) -> Option<Vec<Self>> {
        memmem::find(bytes, b"\":").or_else(|| memmem::find(bytes, b"\" :"))?;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]);
        let Record { time, level, is_output, texts } = json::record(prefix::strip(&text).content)?;
        let read = |text: &String| text.lines().map(|line| Self::read(number, line.as_bytes())).collect::<Vec<_>>();
        let tells = |lines: &Vec<Self>| lines.iter().any(|line| kind::of(&line.content).may_open());
        let mut lines = texts.iter().map(read).find(tells).or_else(|| texts.last().map(read))?;
        let first = lines.first_mut()?;
        if first.time.is_none() {
            first.time = time;
        }
        if !is_output {
            first.is_record = true;
            first.is_notice = level.is_some_and(|level| prefix::is_notice(&level));
            // Its own: records of the same time are not the same.
            first.prefix = format!("{{{number}}}");
        }
        Some(lines)
    }

    /// Blanks behind its first `prefix` bytes; a tab counts four.
    pub fn indentation(&self, prefix: usize) -> usize {
        let content = self.content.get(prefix..).unwrap_or_default();
        content.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
    }
}

/// Without blanks at its end, and what ends `GlassFish`'s records there.
fn without_end(content: &str) -> &str {
    let content = content.trim_end();
    content.strip_suffix("|#]").unwrap_or(content)
}

/// Without what formatting leaves in pasted text: colours, backticks, escapes of blanks, control characters.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Almost all of a text is taken as it is, and in whole runs.
    while let Some(run) = rest.bytes().position(is_odd) {
        out.push_str(&rest[..run]);
        rest = &rest[run..];
        let length = colour::sequence(rest).unwrap_or_else(|| {
            let (character, length) = mended(rest);
            out.extend(character);
            length
        });
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Whether something may begin with this byte that is not to be taken as it stands.
fn is_odd(byte: u8) -> bool {
    match byte {
        b'\t' => false,
        // Escapes, and in UTF-8 the first byte of further blanks and control characters.
        b'\\' | b'`' | b'#' | b'^' | 0x7f | 0xC2 | 0xEF => true,
        _ => byte < b' ',
    }
}

/// What becomes of the character or escape at the start of a text, and how long that is.
fn mended(text: &str) -> (Option<char>, usize) {
    for (escape, meant) in [("\\t", '\t'), ("\\r\\n", ' '), ("\\n", ' '), ("\\\"", '"')] {
        if text.starts_with(escape) {
            return (Some(meant), escape.len());
        }
    }
    let Some(c) = text.chars().next() else { return (None, text.len()) };
    let meant = match c {
        '\u{a0}' | '\r' => Some(' '),
        '`' | '\u{feff}' => None,
        c if c.is_control() => None,
        c => Some(c),
    };
    (meant, c.len_utf8())
}
