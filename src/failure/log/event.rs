//! Lines become events: which lines belong together.
//!
//! An event opens with a line that shows a failure. Frames and links belong to it, and so does what its last line asks
//! for: a link without its exception, an open bracket, `completed:` without its value. It ends with the next failure,
//! with another record of the log, or after some lines of anything else.

use super::line::Line;
use super::parse::starts;
use super::shape::{self, LINKS, NEAR, PHRASES, TURNS};
use super::{fields, status};
use crate::failure::tables::rmi::ANSWERED;

/// No event keeps more lines than this; what an event of a longer text loses are frames and lines of prose.
const MOST_LINES: usize = 300;
const MOST_BYTES: usize = 64 * 1024;
const MOST_FRAMES_IN_A_ROW: usize = 12;
/// So many lines of prose may stand in an event before it is over.
const MOST_PROSE: usize = 6;
const MOST_ASKED_FOR: usize = 40;

/// What a line is to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It shows a failure of its own.
    Head,
    /// It tells more of a failure near it.
    Near,
    /// `Traceback (most recent call last):`.
    Traceback,
    /// A link to the next exception.
    Link,
    /// A stack frame, or what stands for some.
    Frame,
    /// Fields of the exception before.
    Fields,
    /// Nothing.
    Blank,
    /// Anything else.
    Prose,
}

/// What a line is to an event.
pub fn kind(line: &Line) -> Kind {
    let content = line.content.as_str();
    let rest = content.trim_start();
    let start = content.len() - rest.len();
    if rest.is_empty() {
        return Kind::Blank;
    }
    if rest.starts_with("Traceback (") {
        return Kind::Traceback;
    }
    if LINKS.iter().chain(TURNS).any(|(words, _)| starts(rest, words).is_some())
        || rest.starts_with("Suppressed:")
        || rest.starts_with("[Root")
    {
        return Kind::Link;
    }
    if shape::frame(content, start).is_some() || rest == "at" || rest.starts_with(">> SERVER") {
        return Kind::Frame;
    }
    let mut has_fields = false;
    for at in words(content, start) {
        let here = &content[at..];
        if shape::mention(content, at, false).is_some()
            || here.starts_with("user exception, ID")
            || status::status(here).is_some()
        {
            return Kind::Head;
        }
        if fields::wrapper(here).is_some() || fields::system_exception(here).is_some() || shape::product_code(here).is_some() {
            return Kind::Head;
        }
        if PHRASES.iter().any(|phrase| here.starts_with(phrase)) {
            return Kind::Head;
        }
        has_fields |= fields::fields(content, at).is_some();
    }
    if NEAR.iter().any(|words| content.contains(words)) {
        return Kind::Near;
    }
    if has_fields { Kind::Fields } else { Kind::Prose }
}

fn words(text: &str, start: usize) -> impl Iterator<Item = usize> + '_ {
    let joins = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || !b.is_ascii();
    let bytes = text.as_bytes();
    (start..bytes.len()).filter(move |at| joins(bytes[*at]) && (*at == 0 || !joins(bytes[*at - 1])))
}

/// The lines of an event while it is open.
#[derive(Debug, Default)]
pub struct Open {
    /// Its lines, without most frames.
    pub lines: Vec<Line>,
    /// The last line that belongs to it, also where it was not kept.
    pub last: u64,
    bytes: usize,
    heads: usize,
    frames: usize,
    frames_seen: bool,
    prose: usize,
    asked_for: usize,
    traceback: bool,
    pipe: bool,
}

/// What becomes of an event when a line comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The line belongs to it.
    Goes,
    /// The event is over, and the line may open another.
    Over,
}

impl Open {
    /// An event that this line opens, if it can.
    pub fn begin(line: Line, kind: Kind) -> Option<Self> {
        let opens = matches!(kind, Kind::Head | Kind::Near | Kind::Traceback | Kind::Link);
        let mut open = Self::default();
        opens.then(|| open.add(line, kind)).map(|()| open)
    }

    /// Takes the line, or says that it does not belong.
    pub fn step(&mut self, line: Line, kind: Kind) -> Step {
        let full = self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES;
        let asks = self.asked_for < MOST_ASKED_FOR && self.asks();
        let goes = match kind {
            Kind::Frame | Kind::Fields => true,
            Kind::Blank => self.prose < MOST_PROSE,
            _ if full => false,
            Kind::Link => true,
            _ if asks => true,
            // What a library complained of before belongs to the failure that follows.
            Kind::Head => self.heads == 0 && !self.traceback,
            Kind::Near => !self.frames_seen,
            Kind::Traceback => false,
            Kind::Prose => self.prose < MOST_PROSE && !line.is_record,
        };
        if !goes {
            return Step::Over;
        }
        self.asked_for = if asks { self.asked_for + 1 } else { 0 };
        self.add(line, kind);
        Step::Goes
    }

    fn add(&mut self, line: Line, kind: Kind) {
        self.prose = match kind {
            Kind::Prose | Kind::Blank => self.prose + 1,
            _ => 0,
        };
        if self.prose == 0 {
            self.last = line.number;
        }
        self.frames_seen |= kind == Kind::Frame;
        self.frames = if kind == Kind::Frame { self.frames + 1 } else { 0 };
        let is_code = self.traceback && line.content.starts_with([' ', '\t']);
        match kind {
            Kind::Head => {
                self.heads += usize::from(!is_code);
                self.traceback &= is_code;
            }
            Kind::Traceback => (self.traceback, self.frames_seen) = (true, false),
            Kind::Link => self.heads = self.heads.max(1),
            // The last line of a traceback is at its margin, whatever its class.
            Kind::Prose if self.traceback && !is_code => self.traceback = false,
            _ => {}
        }
        self.pipe = line.opens_pipe || (self.pipe && !line.content.contains("|#]"));
        let tells = || ANSWERED.iter().any(|mark| line.content.contains(mark));
        let keeps = kind != Kind::Blank && (self.frames <= MOST_FRAMES_IN_A_ROW || tells());
        if keeps && self.lines.len() < MOST_LINES && self.bytes < MOST_BYTES {
            self.bytes += line.content.len();
            self.lines.push(line);
        }
    }

    /// Whether the event's text so far asks for more: a link without its exception, a colon, an open bracket.
    fn asks(&self) -> bool {
        if self.pipe || self.traceback {
            return true;
        }
        let Some(last) = self.lines.last() else { return false };
        let tail = last.content.trim_end();
        if tail.ends_with([':', ';', ',', '=', '(', '[', '<', '{']) && !self.frames_seen {
            return true;
        }
        let last_words: Vec<&str> =
            self.lines.iter().rev().take(3).rev().flat_map(|line| line.content.split_whitespace()).collect();
        let end = last_words[last_words.len().saturating_sub(4)..].join(" ");
        let asks = ["nested exception is:", "Caused by:", "Suppressed:", "following exception:", "another exception occurred:"];
        let begun = [
            "nested exception is",
            "nested exception",
            "Root exception is",
            "Root exception",
            "Caused by",
            "Caused",
            "nested",
            "CORBA",
            "minor code",
            "completed",
        ];
        asks.iter().any(|words| end.ends_with(words))
            || (!self.frames_seen && begun.iter().any(|words| end.ends_with(words)))
            || (!self.frames_seen && self.in_bracket())
    }

    /// gRPC's `<_InactiveRpcError of RPC …` goes on until its `>`.
    fn in_bracket(&self) -> bool {
        let opened = self.lines.iter().any(|line| line.content.contains("<_") || line.content.contains("<AioRpcError"));
        opened && self.lines.last().is_some_and(|line| !line.content.trim_end().ends_with('>'))
    }
}
