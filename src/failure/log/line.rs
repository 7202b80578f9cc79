//! One line of a log, made readable: decoded, cleaned, without its prefix.

use super::colour;
use super::prefix::{self, Stripped};

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
        let text = clean(&String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]));
        let Stripped { content, time, is_record, is_notice } = prefix::strip(&text);
        let opens_pipe = text.contains("[#|") && !text.contains("|#]");
        Self {
            number,
            content: content.trim_end().to_owned(),
            prefix: text[..text.len() - content.len()].to_owned(),
            time: time.map(str::to_owned),
            is_record,
            is_notice,
            opens_pipe,
        }
    }

    /// Blanks behind its first `prefix` bytes; a tab counts four.
    pub fn indentation(&self, prefix: usize) -> usize {
        let content = self.content.get(prefix..).unwrap_or_default();
        content.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
    }
}

/// Without what formatting leaves in pasted text: colours, backticks, escapes of blanks, control characters.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = colour::sequence(rest) {
            rest = &rest[length..];
            continue;
        }
        let escaped = ["\\t", "\\r\\n", "\\n", "\\\""].into_iter().find(|escape| rest.starts_with(escape));
        match (escaped, c) {
            (Some("\\t"), _) | (None, '\t') => out.push('\t'),
            (Some("\\\""), _) => out.push('"'),
            (Some(_), _) | (None, '\u{a0}' | '\r') => out.push(' '),
            (None, c) if c == '`' || c == '\u{feff}' || c.is_control() => {}
            (None, c) => out.push(c),
        }
        rest = &rest[escaped.map_or(c.len_utf8(), str::len)..];
    }
    out
}
