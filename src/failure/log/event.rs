//! Lines become events: which lines belong together.
//!
//! An event opens with a line that shows a failure. Frames and links belong to it, and so does what its last line asks
//! for: a link without its exception, an open bracket, `completed:` without its value. It ends with the next failure,
//! with another record of the log, or after some lines of anything else.

use super::line::Line;
use super::parse::starts;
use super::record::{self, Relation};
use super::shape::{self, LINKS, NEAR, TURNS};
use super::{errno, fields, status};
use crate::failure::tables::rmi::ANSWERED;

/// No event keeps more lines than this; what an event of a longer text loses are frames and lines of prose.
const MOST_LINES: usize = 300;
const MOST_BYTES: usize = 64 * 1024;
const MOST_FRAMES: usize = 12;
/// So many lines of prose may stand in an event before it is over.
const MOST_PROSE: usize = 6;
const MOST_ASKED_FOR: usize = 40;
/// Words that lead from one exception to the next within a message: JNP's from its list of URLs to the search for
/// others, .NET's from a status to what was behind it.
const WITHIN: &[&str] = &["discovery failed with error", "DebugException="];

/// What the line of a link begins with.
const LINK_STARTS: &[&str] =
    &["Caused by:", "Caused by ", "Suppressed:", "[Root", "Root exception is", "nested exception is", "The above", "During"];

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
        if LINKS.iter().any(|(words, _)| starts(here, words).is_some()) || WITHIN.iter().any(|words| here.starts_with(words)) {
            if goes_on {
                return Kind::MidLink;
            }
            has_link = true;
        }
        if shape::mention(content, at, false).is_some() {
            return Kind::Head;
        }
        if shape::introduction(here).is_some() || starts(here, "user exception").is_some() || status::begins(here) {
            return Kind::Head;
        }
        if fields::wrapper(here).is_some() || fields::begins_system_exception(here) || shape::product_code(here).is_some() {
            return Kind::Head;
        }
        if shape::phrase(here)
            || errno::failed(here).is_some()
            || (fields::symbol(content, at).is_some() && !here.contains("COMPLETED_"))
        {
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
    /// The last line of it that began a record.
    record: Option<Line>,
    /// It has lines without the prefix of a record: what has one begins another.
    bare: bool,
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
    /// An event that this line opens, if it can; `before` is the line before it, which belongs to the event where it
    /// shows in its frames alone that it is an exception.
    pub fn begin(line: Line, kind: Kind, before: Option<&Line>) -> Option<Self> {
        let same = |before: &&Line| record::relation(before.is_record.then_some(before), &line) == Relation::Same;
        let spoken_of =
            !line.content.contains(": ") && before.filter(same).is_some_and(|before| shape::talks_on(&before.content));
        let opens = match kind {
            Kind::Head | Kind::MidLink => !spoken_of,
            Kind::Near | Kind::Traceback | Kind::Link => true,
            _ => false,
        };
        let mut open = Self::default();
        if kind == Kind::Frame {
            let head = before.filter(|before| line.content.contains(".java:") && shape::heads_frames(&before.content))?;
            open.add(head.clone(), Kind::Head);
            open.add(line, kind);
            return Some(open);
        }
        opens.then(|| open.add(line, kind)).map(|()| open)
    }

    /// Takes the line, or says that it does not belong.
    pub fn step(&mut self, line: Line, kind: Kind) -> Step {
        let full = self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES;
        let kind = if kind == Kind::MidLink { if self.breaks_off(&line) { Kind::Link } else { Kind::Head } } else { kind };
        let relation = record::relation(self.record.as_ref(), &line);
        if relation != Relation::Same && !self.evidently_goes_on(&line, kind, relation) {
            return Step::Over;
        }
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
            Kind::Prose => self.prose < MOST_PROSE,
        };
        if !goes {
            return Step::Over;
        }
        self.asked_for = if asks { self.asked_for + 1 } else { 0 };
        self.add(line, kind);
        Step::Goes
    }

    /// Whether a line with another prefix than the one before is still of the same trace, whose logger writes each line
    /// as a record.
    fn evidently_goes_on(&self, line: &Line, kind: Kind, relation: Relation) -> bool {
        let Some(record) = &self.record else { return false };
        let content = line.content.trim_start();
        let shared = self.lines.first().map_or("", |first| first.content.as_str());
        // Behind a prefix of a form that is not known, which the event's first line has too.
        let at_start = |words: &str| content.find(words).is_some_and(|at| shared.starts_with(content[..at].trim_end()));
        match kind {
            Kind::Frame => !line.is_notice && (shape::frame(content, 0).is_some() || at_start("at ") || at_start("... ")),
            Kind::Link => record::soon(record, line) && LINK_STARTS.iter().any(|words| at_start(words)),
            Kind::Blank => true,
            _ if relation == Relation::Other || self.bare => false,
            _ if self.traceback || line.indentation(0) > record.indentation(0) => true,
            Kind::Fields => self.frames == 0 && fields::fields(content, 0).is_some(),
            Kind::Head => self.ends_with_link() && shape::mention(content, 0, true).is_some(),
            _ => false,
        }
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
        if line.is_record {
            self.record = Some(line.clone());
        }
        self.bare |= !line.is_record && self.record.is_some() && kind != Kind::Blank;
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
            Kind::Prose if self.traceback && !is_code => {
                self.traceback = false;
                self.heads += usize::from(shape::any_class(&line.content, 0).is_some());
            }
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

    /// Whether its last line ends in the middle of a sentence, where a line may have been broken: the next word had no
    /// room in it. What has a first word in common with the first line has a prefix of no known form.
    fn breaks_off(&self, next: &Line) -> bool {
        // More than the one blank that was there may have gone with the break.
        const LOST: usize = 3;
        let first_word = |line: &Line| line.content.split_whitespace().next().map(str::to_owned);
        let Some(last) = self.lines.last().filter(|_| self.frames == 0) else { return false };
        if self.lines.first().and_then(first_word) == first_word(next) {
            return false;
        }
        let room = last.content.len() + LOST + first_word(next).map_or(0, |word| word.len());
        let can_be_broken = |line: &&Line| line.content.trim().contains(' ');
        let width = self.lines.iter().chain([next]).filter(can_be_broken).map(|line| line.content.len()).max();
        room >= width.unwrap_or(0) && last.content.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ',')
    }

    /// Whether it ends with words that link the next exception, which has not come yet.
    fn ends_with_link(&self) -> bool {
        const WORDS: &[&str] = &["nested exception is:", "nested exception is", "Root exception is", "Caused by:", "Suppressed:"];
        self.lines.last().is_some_and(|last| WORDS.iter().any(|words| last.content.trim_end().ends_with(words)))
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
            "connection to any",
            "connection to any of",
            "to any of these",
            "and discovery",
            "and discovery failed",
            "discovery failed with",
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
