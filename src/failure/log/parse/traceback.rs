//! Python's tracebacks while they are read: frames stand before their exception, which may have any name.

use crate::failure::connecting;
use crate::failure::log::shape::class;

use super::text::{Text, one_line};

const MOST_FRAMES: usize = 6;

/// How far a traceback has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// There is none, or its exception was seen.
    #[default]
    None,
    /// Its frames are being read.
    Open,
    /// What stands at its margin may be its exception, if nothing else is: where it begins, and its class ends.
    Margin { at: usize, end: usize },
}

/// A traceback, and the frames that wait for their exception.
#[derive(Debug, Default)]
pub struct Traceback {
    state: State,
    frames: Vec<String>,
}

impl Traceback {
    /// Its first line was read.
    pub fn begin(&mut self) {
        self.frames.clear();
        self.state = State::Open;
    }

    /// The frame between `at` and `end` was read, and the line of code below it: where that ends.
    pub fn add_frame(&mut self, text: &Text<'_>, at: usize, end: usize) -> usize {
        let after = after_code(text, end);
        let code = text.all[end..after].trim();
        let mut frame = one_line(&text.all[at..end]);
        if connecting::is_connect_call(code) {
            frame = format!("{frame}: {code}");
        }
        if self.state != State::None {
            self.state = State::Open;
        }
        if self.frames.len() == MOST_FRAMES {
            self.frames.remove(0);
        }
        self.frames.push(frame);
        after
    }

    /// Looks whether what begins at `at` may be its exception.
    pub fn look(&mut self, text: &Text<'_>, at: usize) {
        if self.state == State::Open
            && !self.frames.is_empty()
            && text.begins_line(at)
            && text.indentation(at) == 0
            && let Some(mention) = class::any(&text.all, at)
        {
            self.state = State::Margin { at, end: mention.end };
        }
    }

    /// Its exception came: the frames, the one that threw first.
    pub fn take(&mut self) -> impl Iterator<Item = String> + '_ {
        self.state = State::None;
        self.frames.drain(..).rev()
    }

    /// What ended it, where nothing else was an exception: where that begins, and its class ends.
    pub fn margin(&self) -> Option<(usize, usize)> {
        match self.state {
            State::Margin { at, end } => Some((at, end)),
            _ => None,
        }
    }
}

/// Behind the line of code that Python prints under a frame's place.
fn after_code(text: &Text<'_>, at: usize) -> usize {
    let Some(code) = text.from(at).strip_prefix('\n') else { return at };
    // A prefix may have left blanks before each line.
    let is_deeper = text.indentation(at + 1) > text.indentation(at);
    let is_code = is_deeper && !code.trim_start().starts_with("File \"");
    if is_code { at + 1 + code.find('\n').unwrap_or(code.len()) } else { at }
}
