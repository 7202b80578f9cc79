//! Lines become events: which lines belong together.
//!
//! An event opens with a line that shows a failure. Frames and links belong to it, and so does what its last line asks
//! for: a link without its exception, an open bracket, `completed:` without its value. It ends with the next failure,
//! with another record of the log, or after some lines of anything else.

use super::line::Line;
use super::parse::starts;
use super::shape::{self, LINKS, NEAR, TURNS};
use super::{fields, status};
use crate::failure::tables::rmi::ANSWERED;

/// No event keeps more lines than this; what an event of a longer text loses are frames and lines of prose.
const MOST_LINES: usize = 300;
const MOST_BYTES: usize = 64 * 1024;
const MOST_FRAMES: usize = 12;
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
    /// The rest of a wrapped message with the next exception in it, if the line before broke off; else a failure of its
    /// own.
    MidLink,
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
    if rest.find("Traceback").is_some_and(|at| starts(&rest[at..], "Traceback (most").is_some()) {
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
    let (mut has_fields, mut has_link) = (false, false);
    let goes_on = goes_on(rest);
    for at in words(content, start) {
        let here = &content[at..];
        // Behind a prefix of a form that is not known.
        if here.starts_with("Caused by: ") || here.starts_with("Suppressed: ") {
            return Kind::Link;
        }
        if LINKS.iter().any(|(words, _)| starts(here, words).is_some()) {
            if goes_on {
                return Kind::MidLink;
            }
            has_link = true;
        }
        if shape::mention(content, at, false).is_some() {
            return if goes_on && at > start { Kind::MidLink } else { Kind::Head };
        }
        if starts(here, "user exception").is_some() || status::begins(here) {
            return Kind::Head;
        }
        if fields::wrapper(here).is_some() || fields::begins_system_exception(here) || shape::product_code(here).is_some() {
            return Kind::Head;
        }
        if shape::phrase(here) || (fields::symbol(content, at).is_some() && !here.contains("COMPLETED_")) {
            return Kind::Head;
        }
        has_fields |= fields::fields(content, at).is_some();
    }
    // A link without an exception on either side of it is the end of a wrapped message.
    if has_link {
        return Kind::Link;
    }
    let behind = content.find("at ").into_iter().chain(content.rfind("at ")).chain(content.find("File \""));
    if behind.filter(|at| *at > 0 && content[..*at].ends_with([' ', '\t'])).any(|at| shape::frame(content, at).is_some()) {
        return Kind::Frame;
    }
    if NEAR.iter().any(|words| content.contains(words)) {
        return Kind::Near;
    }
    if has_fields { Kind::Fields } else { Kind::Prose }
}

/// A message that was wrapped goes on in small letters, most often, or with a status that its field waits for.
fn goes_on(text: &str) -> bool {
    !text.starts_with(char::is_uppercase) || ["No;", "Yes;", "Maybe;"].iter().any(|status| text.starts_with(status))
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
    /// The frames since the last exception.
    frames: usize,
    prose: usize,
    asked_for: usize,
    traceback: bool,
    /// Its frames have the prefix of a record too, so a prefix does not tell that another record begins.
    prefixed: bool,
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
    /// An event that this line opens, if it can; `before` is the line before it.
    pub fn begin(line: Line, kind: Kind, before: Option<&Line>) -> Option<Self> {
        let spoken_of = !line.content.contains(": ") && before.is_some_and(|before| shape::talks_on(&before.content));
        let opens = match kind {
            Kind::Head | Kind::MidLink => !spoken_of,
            Kind::Near | Kind::Traceback | Kind::Link => true,
            _ => false,
        };
        let mut open = Self::default();
        opens.then(|| open.add(line, kind)).map(|()| open)
    }

    /// Takes the line, or says that it does not belong.
    pub fn step(&mut self, line: Line, kind: Kind) -> Step {
        let full = self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES;
        let kind = if kind == Kind::MidLink { if self.breaks_off(&line) { Kind::Link } else { Kind::Head } } else { kind };
        // A record of the very same time is the next line of one text, more often than another record.
        let same_time = line.time.is_some() && self.lines.last().is_some_and(|last| last.time == line.time);
        let goes_on = same_time || goes_on(line.content.trim_start());
        let asks = self.asked_for < MOST_ASKED_FOR && self.asks();
        let goes = match kind {
            Kind::Frame | Kind::Fields => true,
            Kind::Blank => self.prose < MOST_PROSE,
            _ if full => false,
            Kind::Link => true,
            _ if asks => true,
            // What a library complained of before belongs to the failure that follows.
            Kind::Head | Kind::MidLink => self.heads == 0 && !self.traceback,
            Kind::Near => self.frames == 0,
            Kind::Traceback => false,
            Kind::Prose => self.prose < MOST_PROSE && (!line.is_record || self.prefixed || (goes_on && self.frames == 0)),
        };
        if !goes {
            return Step::Over;
        }
        self.asked_for = if asks { self.asked_for + 1 } else { 0 };
        self.add(line, kind);
        Step::Goes
    }

    /// The bytes of the text that is kept.
    pub fn held(&self) -> usize {
        self.lines.iter().map(|line| line.content.len()).sum()
    }

    fn add(&mut self, line: Line, kind: Kind) {
        self.prose = match kind {
            Kind::Prose | Kind::Blank => self.prose + 1,
            _ => 0,
        };
        // The rest of a message that was wrapped, as far as one can tell.
        if self.prose == 0 || (self.prose <= 2 && kind == Kind::Prose && self.frames == 0) {
            self.last = line.number;
        }
        self.prefixed |= kind == Kind::Frame && line.is_record;
        self.frames = match kind {
            Kind::Frame => self.frames + 1,
            Kind::Head | Kind::Link | Kind::MidLink | Kind::Traceback => 0,
            _ => self.frames,
        };
        let is_code = self.traceback && line.content.starts_with([' ', '\t']);
        match kind {
            Kind::Head | Kind::MidLink => {
                self.heads += usize::from(!is_code);
                self.traceback &= is_code;
            }
            Kind::Traceback => self.traceback = true,
            Kind::Link => self.heads = self.heads.max(1),
            // The last line of a traceback is at its margin, whatever its class.
            Kind::Prose if self.traceback && !is_code => self.traceback = false,
            _ => {}
        }
        self.pipe = line.opens_pipe || (self.pipe && !line.content.contains("|#]"));
        let tells = || ANSWERED.iter().any(|mark| line.content.contains(mark));
        let keeps = kind != Kind::Blank && (kind != Kind::Frame || self.frames <= MOST_FRAMES || tells());
        if keeps && self.lines.len() < MOST_LINES && self.bytes < MOST_BYTES {
            self.bytes += line.content.len();
            self.lines.push(line);
        }
    }

    /// Whether its last line ends in the middle of a sentence, and the next one has no prefix in common with the first.
    fn breaks_off(&self, next: &Line) -> bool {
        let first_word = |line: &Line| line.content.split_whitespace().next().map(str::to_owned);
        if self.lines.first().and_then(first_word) == first_word(next) {
            return false;
        }
        let ends_within = |line: &Line| line.content.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ',');
        self.frames == 0 && self.lines.last().is_some_and(ends_within)
    }

    /// Whether the event's text so far asks for more: a link without its exception, a colon, an open bracket.
    fn asks(&self) -> bool {
        if self.pipe || self.traceback {
            return true;
        }
        let Some(last) = self.lines.last() else { return false };
        let tail = last.content.trim_end();
        if tail.ends_with([':', ';', ',', '=', '(', '[', '<', '{']) && self.frames == 0 {
            return true;
        }
        let last_words: Vec<&str> =
            self.lines.iter().rev().take(3).rev().flat_map(|line| line.content.split_whitespace()).collect();
        let end = last_words[last_words.len().saturating_sub(4)..].join(" ");
        let asks = ["nested exception is:", "Caused by:", "Suppressed:", "following exception:", "another exception occurred:"];
        let begun = [
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
        ];
        asks.iter().any(|words| end.ends_with(words))
            || (self.frames == 0 && begun.iter().any(|words| end.ends_with(words)))
            || (self.frames == 0 && self.in_bracket())
    }

    /// gRPC's `<_InactiveRpcError of RPC …` goes on until its `>`.
    fn in_bracket(&self) -> bool {
        let opened = self
            .lines
            .iter()
            .rev()
            .take(MOST_ASKED_FOR)
            .any(|line| line.content.contains("<_") || line.content.contains("<AioRpcError"));
        opened && self.lines.last().is_some_and(|line| !line.content.trim_end().ends_with('>'))
    }
}
