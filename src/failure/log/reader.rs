//! The streaming reader: bytes in, events out.

use memchr::{memchr, memchr_iter, memrchr};

use super::encoding::Decoder;
use super::event::{self, Open, Step};
use super::line::{self, Line};
use super::parse::parse;
use super::scan::Scan;
use super::shape::kind::{self, Kind};
use crate::failure::{Category, Chain, Thrown, Verdict, classify_chain};

/// A failure found in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its first line, from 1.
    pub line: u64,
    /// Its last line.
    pub last_line: u64,
    /// The time in the prefix of its first line, or of the line before, as it is written there.
    pub time: Option<String>,
    /// Its first lines, cleaned.
    pub text: String,
    /// What was thrown.
    pub chain: Chain,
    /// What it means.
    pub verdict: Verdict,
}

const EVENT_TEXT: usize = 2000;

impl Event {
    /// The failure of the lines of an event, where it is one.
    fn of(open: &Open, time: Option<String>) -> Option<Self> {
        let first = open.kept.lines.first().filter(|_| !open.is_remark())?;
        let mut chain = parse(&open.kept.lines);
        if open.kept.lost {
            // What there was no room for may have been anything.
            chain.parts.push(vec![Thrown::default()]);
        }
        let verdict = classify_chain(&chain);
        if verdict.category == Category::NotAFailure {
            return None;
        }
        let mut text = String::new();
        for line in open.kept.lines.iter().take_while(|line| line.number <= open.last) {
            if text.len() + line.content.len() > EVENT_TEXT && !text.is_empty() {
                break;
            }
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.extend(line.content.chars().take(EVENT_TEXT));
        }
        Some(Self { line: first.number, last_line: open.last, time, text, chain, verdict })
    }
}

/// Finds the failures in a log that comes in pieces.
#[derive(Debug)]
pub struct LogReader {
    scan: &'static Scan,
    /// What has not been read yet, behind the lines before it: they may hold the time of what follows, and its class.
    buffer: Vec<u8>,
    /// Where in the buffer the unread part begins. It is the start of a line.
    unread: usize,
    /// How many lines came before the unread part.
    lines: u64,
    /// The rest of a line beyond its limit is being passed over.
    passing: bool,
    open: Option<Open>,
    /// A class in a list, which it is not where frames come.
    listed: Option<Open>,
    opened_at: Option<String>,
    decoder: Decoder,
}

impl Default for LogReader {
    fn default() -> Self {
        Self::new()
    }
}

impl LogReader {
    /// A reader at the start of a log.
    pub fn new() -> Self {
        Self {
            scan: Scan::get(),
            buffer: Vec::new(),
            unread: 0,
            lines: 0,
            passing: false,
            open: None,
            listed: None,
            opened_at: None,
            decoder: Decoder::default(),
        }
    }

    /// Reads on. The events that ended in these bytes come back.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        // In pieces, so that the buffer stays small whatever is fed at once.
        for piece in bytes.chunks(PIECE) {
            self.decoder.decode(piece, false, &mut self.buffer);
            self.read(&mut events, false);
            self.forget();
        }
        events
    }

    /// The log has ended. The events that were still open come back.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.decoder.decode(&[], true, &mut self.buffer);
        self.read(&mut events, true);
        self.close(&mut events);
        self.buffer.clear();
        self.unread = 0;
        events
    }

    /// Goes on with another log: what is left of the last one is forgotten, and lines are counted anew.
    pub fn restart(&mut self) {
        *self = Self::new();
    }

    /// How many lines have been read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes are held: what has not been read yet, and the text of an open event.
    pub fn held(&self) -> usize {
        self.decoder.held() + self.buffer.len() + self.open.as_ref().map_or(0, |open| open.kept.held())
    }

    /// Reads whole lines; with `all` also a last one without its end.
    fn read(&mut self, events: &mut Vec<Event>, all: bool) {
        loop {
            if self.passing && !self.pass() {
                return;
            }
            if self.open.is_none() && !self.skip() {
                break;
            }
            let rest = &self.buffer[self.unread..];
            let end = memchr(b'\n', rest);
            match end {
                Some(end) => self.line(events, end, end + 1),
                None if rest.len() >= line::MOST_BYTES => {
                    self.line(events, line::MOST_BYTES, line::MOST_BYTES);
                    self.passing = true;
                }
                None if all && !rest.is_empty() => self.line(events, rest.len(), rest.len()),
                None => return,
            }
        }
        if all && self.unread < self.buffer.len() {
            self.lines += 1;
            self.unread = self.buffer.len();
        }
    }

    /// Passes over the rest of a long line; says whether its end was there.
    fn pass(&mut self) -> bool {
        let end = memchr(b'\n', &self.buffer[self.unread..]);
        self.unread = end.map_or(self.buffer.len(), |end| self.unread + end + 1);
        self.passing = end.is_none();
        !self.passing
    }

    /// Skips the lines before the next one that can matter; says whether there is one.
    fn skip(&mut self) -> bool {
        let rest = &self.buffer[self.unread..];
        let found = self.scan.find(rest);
        let until = found.unwrap_or(rest.len());
        let start = memrchr(b'\n', &rest[..until]).map_or(0, |newline| newline + 1);
        self.lines += memchr_iter(b'\n', &rest[..start]).count() as u64;
        self.unread += start;
        if found.is_none() && self.buffer.len() - self.unread >= line::MOST_BYTES {
            // Nothing in a line's first part: the rest of it is not looked at.
            self.lines += 1;
            self.passing = true;
        }
        found.is_some()
    }

    /// Reads one line of `length` bytes, which with its end takes up `whole`.
    fn line(&mut self, events: &mut Vec<Event>, length: usize, whole: usize) {
        self.lines += 1;
        let bytes = &self.buffer[self.unread..self.unread + length];
        let start = self.unread;
        self.unread += whole;
        if self.open.as_mut().is_some_and(|open| open.passes(self.lines, bytes)) {
            return;
        }
        for line in Line::read_all(self.lines, bytes) {
            self.step(events, line, start);
        }
    }

    /// Takes one line of those that a line of the log, which began at `start`, holds.
    fn step(&mut self, events: &mut Vec<Event>, mut line: Line, start: usize) {
        let kind = kind::of(&line.content);
        if let Some(open) = &mut self.open {
            match open.step(line, kind) {
                Step::Goes => return,
                Step::Over(next) => line = next,
            }
            if open.is_listed_with(&line) {
                self.listed = self.open.take();
            } else {
                self.close(events);
            }
        }
        if !kind.may_open() {
            return;
        }
        let before = self.before(start, if kind == Kind::Frame { LINES_BEFORE } else { 2 });
        let time = line.time.clone().or_else(|| before.last().and_then(|before| before.time.clone()));
        let number = line.number;
        if let Some(open) = event::begin(line, kind, &before) {
            // Above the frames of a trace two classes are no list.
            let listed = self.listed.take().filter(|listed| kind == Kind::Frame && listed.last + 2 == number);
            events.extend(listed.and_then(|listed| Event::of(&listed, self.opened_at.take())));
            self.opened_at = time;
            self.open = Some(open);
        }
    }

    /// The lines before the one that begins at `start`, `most` of them, the nearest last.
    fn before(&self, start: usize, most: usize) -> Vec<Line> {
        let from = self.start_before(start, most);
        if from == start {
            return Vec::new();
        }
        let lines = self.buffer[from..start - 1].split(|b| *b == b'\n').collect::<Vec<_>>();
        let first = self.lines.saturating_sub(lines.len() as u64);
        let read = |(number, line)| Line::read_all(number, line);
        (first..).zip(lines).flat_map(read).collect()
    }

    /// Where the lines begin that stand before `start`, `most` of them.
    fn start_before(&self, start: usize, most: usize) -> usize {
        let mut place = start;
        for _ in 0..most {
            let Some(end) = place.checked_sub(1) else { break };
            let line = memrchr(b'\n', &self.buffer[..end]).map_or(0, |newline| newline + 1);
            if start - line > MOST_BEFORE {
                break;
            }
            place = line;
        }
        place
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        let Some(open) = self.open.take() else { return };
        events.extend(Event::of(&open, self.opened_at.take()));
    }

    /// Lets go of what was read, but for the lines before the unread part.
    fn forget(&mut self) {
        let keep = self.start_before(self.unread, LINES_BEFORE);
        self.buffer.drain(..keep);
        self.unread -= keep;
    }
}

const PIECE: usize = 256 * 1024;
const MOST_BEFORE: usize = 1024;
/// A message that was wrapped has its class some lines above its frames.
const LINES_BEFORE: usize = 3;
