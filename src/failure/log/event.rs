//! Lines become events: which lines belong together.
//!
//! An event opens with a line that shows a failure. Frames and links belong to it, and so does what its last line asks
//! for: a link without its exception, an open bracket, `completed:` without its value. It ends with the next failure,
//! with another record of the log, or after some lines of anything else.

use super::kind::{self, Kind};
use super::line::Line;
use super::parse::common_prefix;
use super::record::{self, Relation};
use super::shape;
use super::{fields, listing, members};
use crate::failure::finding;
use crate::failure::tables::rmi::ANSWERED;

/// No event keeps more lines than this; what an event of a longer text loses are frames and lines of prose.
const MOST_LINES: usize = 300;
const MOST_BYTES: usize = 64 * 1024;
const MOST_FRAMES: usize = 12;
/// So many lines of prose may stand in an event before it is over.
const MOST_PROSE: usize = 6;
const MOST_ASKED_FOR: usize = 40;

/// What goes on until its end: gRPC's `<_InactiveRpcError of RPC …`, the members of Node's errors.
const BRACKETS: &[(&str, char)] = &[("<_", '>'), ("<AioRpcError", '>'), ("Status(StatusCode", ')'), ("[errors]: [", ']')];

/// What the line of a link begins with.
const LINK_STARTS: &[&str] = &[
    "--->",
    "[cause]:",
    "Caused by:",
    "Caused by ",
    "Suppressed:",
    "[Root",
    "Root exception is",
    "nested exception is",
    "The above",
    "During",
];

/// Whether a frame tells where the exception came from, so that it is kept however deep it stands.
fn tells(frame: &str) -> bool {
    ANSWERED.iter().any(|mark| frame.contains(mark))
}

/// Whether two lines that follow each other are a class each and nothing else.
fn is_listed(first: &Line, second: &Line) -> bool {
    let prefix = common_prefix([first, second].into_iter());
    let is_bare = |line: &Line| line.content.get(prefix..).is_some_and(listing::is_bare);
    first.number + 1 == second.number && is_bare(first) && is_bare(second)
}

/// Whether the class in a line is only spoken of, by the line before. Both may have a prefix of no known form.
fn is_spoken_of(before: &Line, line: &Line) -> bool {
    let prefix = common_prefix([before, line].into_iter());
    let (Some(above), Some(content)) = (before.content.get(prefix..), line.content.get(prefix..)) else { return false };
    let same = record::relation(before.is_record.then_some(before), line) == Relation::Same;
    let talked = !content.contains(": ") && shape::starts_with_class(content) && shape::talks_on(above);
    is_listed(before, line)
        || (same && (talked || listing::leads(above, content)))
        || (prefix > 0 && !kind::of(content).may_open())
}

/// The lines before one with an exception that say that it stands in the server's answer: a message that was wrapped.
fn answer_before<'a>(before: &'a [Line], line: &Line) -> &'a [Line] {
    let same = |before: &Line| record::relation(before.is_record.then_some(before), line) == Relation::Same;
    let goes_on = |before: &&Line| same(before) && !before.content.is_empty() && !before.content.ends_with(['.', '!', '?']);
    let from = before.len() - before.iter().rev().take_while(goes_on).count();
    let words = before[from..].iter().chain([line]).map(|line| line.content.trim()).collect::<Vec<_>>().join(" ");
    let says = finding::says_that_it_was_answered(&words.to_lowercase());
    let alone = finding::says_that_it_was_answered(&line.content.to_lowercase());
    if says && !alone { &before[from..] } else { &[] }
}

/// Whether the line before a stack frame is its exception, whatever its class; both may have a prefix of no known form.
fn heads(before: &Line, frame: &Line) -> bool {
    let prefix = common_prefix([before, frame].into_iter());
    before.content.get(prefix..).is_some_and(shape::heads_frames)
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
    pub lines: Vec<Line>,
    /// The last line that belongs to it, also where it was not kept.
    pub last: u64,
    bytes: usize,
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
    /// The last of its lines that opened a bracket, and what closes that.
    bracket: Option<(usize, char)>,
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
    /// An event that this line opens, if it can; the lines `before` it belong to the event where its frames alone show
    /// that they are an exception.
    pub fn begin(line: Line, kind: Kind, before: &[Line]) -> Option<Self> {
        if kind == Kind::Frame {
            return Self::begin_at_frame(line, before);
        }
        let last = before.last();
        let opens = match kind {
            Kind::Head | Kind::MidLink => !last.is_some_and(|last| is_spoken_of(last, &line)),
            Kind::Near | Kind::Traceback | Kind::Link => true,
            _ => false,
        };
        if !opens {
            return None;
        }
        let mut open = Self::default();
        for lead in answer_before(before, &line) {
            open.add(lead.clone(), Kind::Prose);
        }
        open.add(line, kind);
        Some(open)
    }

    /// A class of any name is an exception where Java's frames stand below its message, which may be wrapped.
    fn begin_at_frame(frame: Line, before: &[Line]) -> Option<Self> {
        let at = before.iter().rposition(|line| heads(line, &frame)).filter(|_| frame.content.contains(".java:"))?;
        let (head, message) = before[at..].split_first()?;
        let goes_on = |line: &Line| {
            let same = record::relation(Some(head).filter(|head| head.is_record), line) == Relation::Same;
            let indented = line.content.starts_with([' ', '\t']) && line.content.trim() != "at";
            same && !indented && !line.content.is_empty()
        };
        if !message.iter().all(goes_on) {
            return None;
        }
        let mut open = Self::default();
        open.add(head.clone(), Kind::Head);
        for line in message {
            open.add(line.clone(), Kind::Prose);
        }
        open.add(frame, Kind::Frame);
        Some(open)
    }

    /// Whether its only line is a class in a list of them, of which `next` is the next.
    pub fn is_listed_with(&self, next: &Line) -> bool {
        matches!(self.lines.as_slice(), [only] if only.number == self.last && is_listed(only, next))
    }

    /// Takes a further stack frame, where no more of them are kept, without looking into it; most lines of most traces
    /// are these.
    pub fn passes(&mut self, number: u64, bytes: &[u8]) -> bool {
        let is_settled = self.frames > MOST_FRAMES && !self.pipe && !self.traceback.is_open() && self.asked_for == 0;
        let passes = is_settled
            && bytes.starts_with(b"\tat ")
            && std::str::from_utf8(bytes).is_ok_and(|text| shape::frame(text, 1).is_some() && !tells(text));
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
        let full = self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES;
        let kind = if kind == Kind::MidLink { if self.breaks_off(&line) { Kind::Link } else { Kind::Head } } else { kind };
        let relation = record::relation(self.record.as_ref(), &line);
        if relation != Relation::Same && !self.evidently_goes_on(&line, kind, relation) {
            return Step::Over(line);
        }
        let asks = self.asked_for < MOST_ASKED_FOR && self.asks();
        let goes = match kind {
            Kind::Frame | Kind::Fields => true,
            Kind::Blank => self.prose < MOST_PROSE,
            _ if full => false,
            Kind::Link => true,
            _ if asks => true,
            // What a library complained of before belongs to the failure that follows.
            Kind::Head | Kind::MidLink if self.heads == 1 && self.frames == 0 => {
                self.names_its_code(&line) || self.goes_on_in(&line)
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
            _ if self.traceback.is_open() || line.indentation(0) > record.indentation(0) => true,
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
                let is_member = members::is_rule(line.content.trim_start());
                if line.content.contains("above exception") || is_member {
                    self.traceback = Traceback::Announced;
                }
            }
            // The last line of a traceback is at its margin, whatever its class. Where the indentation is gone, the
            // program's source stands there too.
            Kind::Prose if self.traceback.is_open() && !is_code && shape::ends_traceback(&line.content) => {
                self.traceback = Traceback::None;
                self.heads += 1;
                self.frames = 0;
                self.prose = 0;
            }
            _ => {}
        }
        self.pipe = line.opens_pipe || (self.pipe && !line.content.contains("|#]"));
        let keeps = kind != Kind::Blank && (kind != Kind::Frame || self.frames <= MOST_FRAMES || tells(&line.content));
        if keeps && self.lines.len() < MOST_LINES && self.bytes < MOST_BYTES {
            if let Some((_, end)) = BRACKETS.iter().find(|(begin, _)| line.content.contains(begin)) {
                self.bracket = Some((self.lines.len(), *end));
            }
            if self.bracket.is_some_and(|(_, end)| line.content.trim_end().ends_with(end)) {
                self.bracket = None;
            }
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
        // A prefix takes up room, too.
        let length = |line: &Line| line.prefix.len() + line.content.len();
        let room = length(last) + LOST + first_word(next).map_or(0, |word| word.len());
        let can_be_broken = |line: &&Line| line.content.trim().contains(' ');
        let width = self.lines.iter().chain([next]).filter(can_be_broken).map(length).max();
        room >= width.unwrap_or(0) && last.content.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ',')
    }

    /// Whether its only line is a product's message that was broken before it named its exception.
    fn names_its_code(&self, next: &Line) -> bool {
        let [only] = self.lines.as_slice() else { return false };
        let code = only.content.split([' ', ':']).find_map(shape::product_code);
        let has_class = ["xception", "Error"].iter().any(|class| only.content.contains(class));
        code.is_some() && !has_class && next.content.starts_with(char::is_lowercase) && self.breaks_off(next)
    }

    /// Whether its message was broken before an exception that it quotes: it is a list, a server's answer, or
    /// CORBA's, whose status is still to come.
    fn goes_on_in(&self, next: &Line) -> bool {
        if !self.breaks_off(next) {
            return false;
        }
        let text = self.lines.iter().map(|line| line.content.trim()).collect::<Vec<_>>().join(" ");
        let lacks_status = text.contains("CORBA.") && !text.contains("minor") && !text.contains("completed");
        let within = next.content.starts_with(char::is_lowercase) && !shape::starts_with_class(&next.content);
        let in_list = text.matches('[').count() > text.matches(']').count();
        in_list || finding::is_an_answer(&text) || (lacks_status && within)
    }

    /// Whether it ends with words that link the next exception, which has not come yet.
    fn ends_with_link(&self) -> bool {
        const WORDS: &[&str] =
            &["--->", "nested exception is:", "nested exception is", "Root exception is", "Caused by:", "Suppressed:"];
        self.lines.last().is_some_and(|last| WORDS.iter().any(|words| last.content.trim_end().ends_with(words)))
    }

    /// Whether the event's text so far asks for more: a link without its exception, a colon, an open bracket.
    fn asks(&self) -> bool {
        if self.pipe || self.traceback.is_open() {
            return true;
        }
        let Some(last) = self.lines.last() else { return false };
        let tail = last.content.trim_end();
        let begins_member =
            members::is_rule(tail.trim_start()) || (tail.ends_with(')') && tail.contains("---> (Inner Exception #"));
        if begins_member {
            return true;
        }
        if tail.ends_with([':', ';', ',', '=', '(', '[', '<', '{']) && self.frames == 0 {
            return true;
        }
        let mut last_words: Vec<&str> =
            self.lines.iter().rev().take(3).flat_map(|line| line.content.split_whitespace().rev()).take(4).collect();
        last_words.reverse();
        let end = last_words.join(" ");
        let asks =
            ["--->", "nested exception is:", "Caused by:", "Suppressed:", "following exception:", "another exception occurred:"];
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
            || self.in_bracket()
    }

    fn in_bracket(&self) -> bool {
        self.bracket.is_some_and(|(at, _)| self.lines.len() - at <= MOST_ASKED_FOR)
    }
}
