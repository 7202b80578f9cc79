//! An event while it is open: whether the next line belongs to it.

use super::kept::Kept;
use super::record::{self, Relation};
use super::{repeats, spoken, unfinished};
use crate::failure::log::line::Line;
use crate::failure::log::shape::kind::Kind;
use crate::failure::log::shape::{class, fields, frame, link, listing, member, phrase};
use crate::failure::tables::rmi::ANSWERED;

const MOST_FRAMES: usize = 12;
/// So many lines of prose may stand in an event before it is over.
const MOST_PROSE: usize = 6;
const MOST_ASKED_FOR: usize = 40;

/// Whether a frame tells where the exception came from, so that it is kept however deep it stands.
fn tells(frame: &str) -> bool {
    ANSWERED.iter().any(|mark| frame.contains(mark))
}

/// Where an event is in Python's tracebacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Traceback {
    #[default]
    None,
    /// Its exception is still to come.
    Open,
    /// The words that lead to another one were the last that mattered.
    Announced,
}

impl Traceback {
    fn is_open(self) -> bool {
        self == Self::Open
    }
}

/// The lines of an event while it is open.
#[derive(Debug, Default)]
pub struct Open {
    /// Its lines, without most frames.
    pub kept: Kept,
    /// The last line that belongs to it, also where it was not kept.
    pub last: u64,
    heads: usize,
    /// The frames since the last exception.
    frames: usize,
    prose: usize,
    asked_for: usize,
    traceback: Traceback,
    /// The last line of it that began a record.
    record: Option<Line>,
    /// It has lines without the prefix of a record: what has one begins another.
    bare: bool,
    pipe: bool,
    /// A server's trace within a message, of which each line is marked.
    quotes: bool,
}

/// What becomes of an event when a line comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The line belongs to it.
    Goes,
    /// The event is over, and the line may open another.
    Over(Line),
}

impl Open {
    /// Whether it is a heading or a comment, and nothing else of it is.
    pub fn is_remark(&self) -> bool {
        let Some((first, rest)) = self.kept.lines.split_first() else { return false };
        let mark = listing::remark(&first.content).filter(|_| self.frames == 0 && self.heads == 1);
        mark.is_some_and(|mark| rest.iter().all(|line| !line.content.starts_with(mark)))
    }

    /// Whether its only line is a class in a list of them, of which `next` is the next.
    pub fn is_listed_with(&self, next: &Line) -> bool {
        matches!(self.kept.lines.as_slice(), [only] if only.number == self.last && spoken::is_listed(only, next))
    }

    /// Takes a further stack frame, where no more of them are kept, without looking into it; most lines of most traces
    /// are these.
    pub fn passes(&mut self, number: u64, bytes: &[u8]) -> bool {
        let is_settled = self.frames > MOST_FRAMES && !self.pipe && !self.traceback.is_open() && self.asked_for == 0;
        let passes = is_settled
            && bytes.starts_with(b"\tat ")
            && std::str::from_utf8(bytes).is_ok_and(|text| frame::end(text, 1).is_some() && !tells(text));
        if passes {
            self.frames += 1;
            self.prose = 0;
            self.last = number;
            self.bare |= self.record.is_some();
        }
        passes
    }

    /// Takes the line, or says that it does not belong.
    pub fn step(&mut self, line: Line, kind: Kind) -> Step {
        let full = self.kept.is_full();
        let lines = &self.kept.lines;
        let kind = match kind {
            Kind::MidLink if self.frames == 0 && unfinished::goes_on_with(lines, &line) => Kind::Link,
            Kind::MidLink => Kind::Head,
            kind => kind,
        };
        let relation = record::relation(self.record.as_ref(), &line);
        if relation != Relation::Same && !self.evidently_goes_on(&line, kind, relation) {
            return Step::Over(line);
        }
        let asks = self.asked_for < MOST_ASKED_FOR && self.asks();
        let goes = match kind {
            Kind::Frame | Kind::Fields => true,
            _ if self.quotes && line.content.trim_start().starts_with(">>") => !full,
            Kind::Blank => self.prose < MOST_PROSE,
            Kind::Link => true,
            _ if full => false,
            // A record may hold several failures.
            Kind::Head | Kind::MidLink if self.pipe && self.frames > 0 => false,
            _ if asks => true,
            // What a library complained of before belongs to the failure that follows.
            Kind::Head | Kind::MidLink if self.heads == 1 && self.frames == 0 => {
                unfinished::names_its_code(lines, &line) || unfinished::goes_on_in(lines, &line) || repeats::goes_on(lines, &line)
            }
            Kind::Head | Kind::MidLink => self.heads == 0 && !self.traceback.is_open(),
            Kind::Near => self.frames == 0,
            Kind::Traceback => self.traceback == Traceback::Announced,
            Kind::Prose => self.prose < MOST_PROSE,
        };
        if !goes {
            return Step::Over(line);
        }
        self.asked_for = if asks { self.asked_for + 1 } else { 0 };
        self.add(line, kind);
        Step::Goes
    }

    /// Whether the text so far asks for more.
    fn asks(&self) -> bool {
        self.pipe || self.traceback.is_open() || unfinished::asks(&self.kept.lines, self.frames > 0) || self.kept.in_bracket()
    }

    /// Whether a line with another prefix than the one before is still of the same trace, whose logger writes each line
    /// as a record.
    fn evidently_goes_on(&self, line: &Line, kind: Kind, relation: Relation) -> bool {
        let Some(record) = &self.record else { return false };
        let content = line.content.trim_start();
        let shared = self.kept.lines.first().map_or("", |first| first.content.as_str());
        // Behind a prefix of a form that is not known, which the event's first line has too.
        let at_start = |words: &str| content.find(words).is_some_and(|at| shared.starts_with(content[..at].trim_end()));
        match kind {
            Kind::Frame => !line.is_notice && (frame::end(content, 0).is_some() || at_start("at ") || at_start("... ")),
            Kind::Link => record::soon(record, line) && link::STARTS.iter().any(|words| at_start(words)),
            Kind::Blank => true,
            _ if relation == Relation::Other || self.bare => false,
            _ if self.quotes && content.starts_with(">>") => true,
            _ if self.traceback.is_open() || line.indentation(0) > record.indentation(0) => true,
            Kind::Fields => self.frames == 0 && fields::fields(content, 0).is_some(),
            Kind::Head => unfinished::ends_with_link(&self.kept.lines) && class::mention(content, 0, true).is_some(),
            _ => false,
        }
    }

    /// Takes a line that belongs to it.
    pub fn add(&mut self, line: Line, kind: Kind) {
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
        let is_code = self.traceback.is_open() && line.content.starts_with([' ', '\t']);
        match kind {
            Kind::Head | Kind::MidLink => {
                self.heads += usize::from(!is_code);
                if !is_code {
                    self.traceback = Traceback::None;
                }
            }
            Kind::Traceback => self.traceback = Traceback::Open,
            Kind::Link => {
                self.heads = self.heads.max(1);
                let is_member = member::is_rule(line.content.trim_start());
                if line.content.contains("above exception") || is_member {
                    self.traceback = Traceback::Announced;
                }
            }
            // The last line of a traceback is at its margin, whatever its class. Where the indentation is gone, the
            // program's source stands there too.
            Kind::Prose if self.traceback.is_open() && !is_code && class::ends_traceback(&line.content) => {
                self.traceback = Traceback::None;
                self.heads += 1;
                self.frames = 0;
                self.prose = 0;
            }
            _ => {}
        }
        self.quotes = phrase::quotes_a_server(&line.content) || (self.quotes && line.content.trim_start().starts_with(">>"));
        self.pipe = line.opens_pipe || (self.pipe && !line.content.contains("|#]"));
        let keeps = kind != Kind::Blank && (kind != Kind::Frame || self.frames <= MOST_FRAMES || tells(&line.content));
        if keeps && (kind != Kind::Frame || !self.kept.is_full()) {
            self.kept.add(line);
        }
    }
}
