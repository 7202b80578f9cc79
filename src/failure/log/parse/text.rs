//! The text of an event: its lines as one, and where each of them begins.

use crate::failure::log::line::{Line, common_prefix};

/// The lines of an event in one text, without a prefix that they share.
pub struct Text<'a> {
    /// The text.
    pub all: String,
    lines: &'a [Line],
    starts: Vec<usize>,
    /// The bytes that were cut off each line.
    prefix: usize,
}

impl<'a> Text<'a> {
    /// The text of these lines.
    pub fn new(lines: &'a [Line]) -> Self {
        let mut all = String::new();
        let mut starts = Vec::with_capacity(lines.len());
        let prefix = common_prefix(lines.iter());
        for line in lines {
            starts.push(all.len());
            all.push_str(line.content.get(prefix..).unwrap_or_default());
            all.push('\n');
        }
        Self { all, lines, starts, prefix }
    }

    /// What stands behind a place.
    pub fn from(&self, at: usize) -> &str {
        &self.all[at..]
    }

    /// The number of the line that a place is in.
    pub fn line(&self, at: usize) -> u64 {
        self.lines.get(self.line_index(at)).map_or(0, |line| line.number)
    }

    /// The indentation of that line.
    pub fn indentation(&self, at: usize) -> usize {
        self.lines.get(self.line_index(at)).map_or(0, |line| line.indentation(self.prefix))
    }

    /// Whether nothing but blanks stands before a place in its line.
    pub fn begins_line(&self, at: usize) -> bool {
        self.starts.get(self.line_index(at)).is_some_and(|start| self.all[*start..at].trim().is_empty())
    }

    fn line_index(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// Where the line ends that a place is in.
    pub fn line_end(&self, at: usize) -> usize {
        self.from(at).find('\n').map_or(self.all.len(), |end| at + end)
    }

    /// Where the next word begins: behind what is no letter, digit or the like.
    pub fn next_word(&self, at: usize) -> usize {
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let rest = self.from(at);
        let word = rest.find(|c| !joins(c)).unwrap_or(rest.len());
        let blank = rest[word..].find(joins).map_or(rest.len(), |gap| word + gap);
        // A field's name may be glued to the message before it.
        if let Some(message) = rest[..word].strip_suffix("vmcid").filter(|message| !message.is_empty()) {
            return at + message.len();
        }
        // A word that a dot or slash joins to the one before is the same path.
        at + blank.max(1)
    }
}

/// A text without line breaks and further blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
