//! What is kept of an event's lines, in bounds.

use crate::failure::log::line::Line;

/// No event keeps more lines than this; what an event of a longer text loses are frames and lines of prose.
const MOST_LINES: usize = 300;
const MOST_BYTES: usize = 64 * 1024;
/// So many lines may stand between a bracket and its end.
const MOST_BRACKETED: usize = 40;

/// What goes on until its end: gRPC's `<_InactiveRpcError of RPC …`, the members of Node's errors.
const BRACKETS: &[(&str, char)] = &[("<_", '>'), ("<AioRpcError", '>'), ("Status(StatusCode", ')'), ("[errors]: [", ']')];

/// The lines that are kept.
#[derive(Debug, Default)]
pub struct Kept {
    /// They.
    pub lines: Vec<Line>,
    bytes: usize,
    /// The last of them that opened a bracket, and what closes that.
    bracket: Option<(usize, char)>,
    /// There was no room for some.
    pub lost: bool,
}

impl Kept {
    /// Whether there is no room for another one.
    pub fn is_full(&self) -> bool {
        self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES
    }

    /// Takes a line, where there is room.
    pub fn add(&mut self, line: Line) {
        if self.is_full() {
            self.lost = true;
            return;
        }
        if let Some((_, end)) = BRACKETS.iter().find(|(begin, _)| line.content.contains(begin)) {
            self.bracket = Some((self.lines.len(), *end));
        }
        if self.bracket.is_some_and(|(_, end)| line.content.trim_end().ends_with(end)) {
            self.bracket = None;
        }
        self.bytes += line.content.len();
        self.lines.push(line);
    }

    /// Whether a bracket is open.
    pub fn in_bracket(&self) -> bool {
        self.bracket.is_some_and(|(at, _)| self.lines.len() - at <= MOST_BRACKETED)
    }

    /// The bytes of their text.
    pub fn held(&self) -> usize {
        self.bytes
    }
}
