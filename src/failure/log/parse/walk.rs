//! One walk over the words of an event's text.
//!
//! Lines matter only where nothing else tells: whether a cause belongs to a suppressed part or to the whole is seen by its
//! indentation.

use super::draft::Draft;
use super::text::{Text, one_line};
use super::traceback::Traceback;
use super::tree::Tree;
use crate::failure::log::line::Line;
use crate::failure::log::shape::fields::Field;
use crate::failure::log::shape::words::{starts, status_class};
use crate::failure::log::shape::{class, errno, fields, frame, introduction, link, member, phrase, status, told};
use crate::failure::tables::rmi::ANSWERED;
use crate::failure::{Chain, Link, corba, finding};

/// The chain that the lines of an event show.
pub fn parse(lines: &[Line]) -> Chain {
    let text = Text::new(lines);
    let mut walk = Walk::default();
    walk.run(&text);
    walk.tree.finish()
}

const MOST_FRAMES: usize = 6;

#[derive(Default)]
struct Walk {
    tree: Tree,
    /// How the next exception hangs on the one before, where words said it.
    link: Option<Link>,
    /// Where the message of the last exception begins, while it goes on.
    message: Option<usize>,
    traceback: Traceback,
}

impl Walk {
    fn run(&mut self, text: &Text<'_>) {
        let mut at = 0;
        while at < text.all.len() {
            at = self.step(text, at).unwrap_or_else(|| text.next_word(at));
        }
        self.end_traceback(text, text.all.len());
        self.end_message(text, text.all.len());
    }

    /// Takes what begins at `at`; says where it ends, or nothing where it is just a word.
    fn step(&mut self, text: &Text<'_>, at: usize) -> Option<usize> {
        if let Some(end) = self.turn_or_link(text, at) {
            return Some(end);
        }
        if self.link.is_none() && link::is_pointed_at(&text.all, at) {
            self.end_message(text, at);
            self.link = Some(Link::Cause);
        }
        if let Some(length) = self.own_code(text.from(at)) {
            return Some(at + length);
        }
        self.traceback.look(text, at);
        if let Some(length) = introduction::length(text.from(at)) {
            let Some(mention) = class::any(&text.all, at + length) else { return Some(at + length) };
            self.open_linked(text, at + length, mention.end, mention.class);
            return Some(mention.end);
        }
        if let Some(end) = frame::end(&text.all, at) {
            return Some(self.add_frame(text, at, end));
        }
        if let Some(end) = self.system_exception(text, at) {
            return Some(end);
        }
        if let Some((code, length)) = status::status(text.from(at)).filter(|_| !told::is_compared(&text.all, at)) {
            return Some(self.status(text, at, at + length, code));
        }
        if let Some(mention) = class::mention(&text.all, at, self.link.is_some()) {
            return Some(self.class(text, at, &mention));
        }
        if let Some(length) = phrase::user_exception(text.from(at)) {
            self.open(text, at, at + length, Draft::new("user exception", Link::Nested));
            return Some(at + length);
        }
        if self.message.is_none() {
            return self.without_class(text, at);
        }
        None
    }

    /// Words that say how exceptions hang together.
    fn turn_or_link(&mut self, text: &Text<'_>, at: usize) -> Option<usize> {
        let rest = text.from(at);
        if rest.starts_with("Suppressed:") {
            self.end_message(text, at);
            self.tree.begin_part(text.indentation(at));
            self.link = Some(Link::Outermost);
            return Some(at + "Suppressed:".len());
        }
        if let Some(length) = starts(rest, "Traceback (most recent call last)") {
            self.end_traceback(text, at);
            self.end_message(text, at);
            self.traceback.begin();
            return Some(at + length);
        }
        if let Some((begins, end)) = member::begins(&text.all, at).filter(|(begins, _)| self.tree.may_begin(*begins)) {
            self.end_traceback(text, at);
            self.end_message(text, at);
            self.tree.begin_member(begins, at);
            self.link = Some(Link::Outermost);
            return Some(end);
        }
        if let Some((length, link)) = link::turn(rest) {
            self.end_traceback(text, at);
            self.end_message(text, at);
            self.tree.turn(link, &text.all, at);
            return Some(at + length);
        }
        let (length, link) = link::at(rest).or_else(|| link::node_cause(&text.all, at))?;
        self.end_message(text, at);
        if text.begins_line(at) {
            self.tree.link(text.indentation(at));
        }
        self.link = Some(link);
        Some(at + length)
    }

    /// Node prints an error's properties below its frames: its code is one of them.
    fn own_code(&mut self, rest: &str) -> Option<usize> {
        let (symbol, end) = errno::property(rest)?;
        let draft = self.tree.last()?;
        if draft.thrown.code.is_none() && !draft.thrown.message.contains(symbol) {
            draft.thrown.code = Some(symbol.to_owned());
        }
        Some(end)
    }

    fn add_frame(&mut self, text: &Text<'_>, at: usize, end: usize) -> usize {
        self.end_message(text, at);
        if text.from(at).starts_with("File") {
            return self.traceback.add_frame(text, at, end);
        }
        let frame = &text.all[at..end];
        if let Some(draft) = self.tree.last()
            && (draft.thrown.frames.len() < MOST_FRAMES || ANSWERED.iter().any(|mark| frame.contains(mark)))
        {
            draft.thrown.frames.push(one_line(frame));
        }
        end
    }

    /// CORBA's forms beside its classes, and its fields.
    fn system_exception(&mut self, text: &Text<'_>, at: usize) -> Option<usize> {
        let rest = text.from(at);
        let has_one = self.tree.current().iter().any(|draft| draft.is_system);
        if !has_one && let Some((class, found, length)) = fields::symbol(&text.all, at) {
            self.open_linked(text, at, at, &format!("CORBA.{class}"));
            self.tree.put(&found);
            return Some(at + length);
        }
        if let Some((found, end)) = fields::fields(&text.all, at) {
            self.tree.put(&found);
            return Some(end);
        }
        let (class, found, length) = fields::wrapper(rest).or_else(|| fields::system_exception(rest))?;
        self.open_linked(text, at, at + length, &format!("CORBA.{class}"));
        self.tree.put(&found);
        Some(at + length)
    }

    /// gRPC's status: that of the call before, or a call's that no class stands for.
    fn status(&mut self, text: &Text<'_>, at: usize, end: usize, code: &str) -> usize {
        let is_call = |draft: &&mut Draft| status_class(draft.thrown.simple_class()) && draft.thrown.code.is_none();
        if let Some(draft) = self.tree.last().filter(is_call) {
            draft.thrown.code = Some(code.to_owned());
            return end;
        }
        let same = |draft: &mut Draft| draft.thrown.code.as_deref() == Some(code);
        if !self.tree.last().is_some_and(same) {
            let mut draft = Draft::new("grpc.RpcError", self.link.take().unwrap_or(Link::Nested));
            draft.thrown.code = Some(code.to_owned());
            self.open(text, at, end, draft);
        }
        end
    }

    fn class(&mut self, text: &Text<'_>, at: usize, mention: &class::Mention<'_>) -> usize {
        if self.is_once_more(text, at, mention) {
            self.message = Some(mention.end);
        } else {
            let link = self.link.take().unwrap_or_else(|| self.without_link());
            self.open(text, at, mention.end, Draft::new(mention.class, link));
        }
        if corba::system_exception(mention.class).is_some() {
            if let Some((found, end)) = fields::arguments(&text.all, mention.end) {
                self.tree.put(&found);
                return end;
            }
            if let Some((code, end)) = fields::code_behind(&text.all, mention.end) {
                self.tree.put(&[code]);
                return end;
            }
        }
        // `IDL:omg.org/CORBA/TRANSIENT:1.0'`: the version is no message.
        let after = text.from(mention.end);
        let version = if mention.class.starts_with("omg.org") { starts(after, ":1.0'").unwrap_or(0) } else { 0 };
        let message = mention.end + version.max(told::number(after));
        self.message = Some(message);
        message
    }

    /// Whether a class is the last exception once more.
    fn is_once_more(&mut self, text: &Text<'_>, at: usize, mention: &class::Mention<'_>) -> bool {
        let (None, Some(start)) = (self.link, self.message) else { return false };
        let (said, after) = (&text.all[start..at], text.from(mention.end));
        said.contains('\n') && self.tree.last().is_some_and(|last| last.is_once_more(mention.class, said, after))
    }

    /// How an exception hangs on the one before where no words say it: in its message, or in a row with it, which look the
    /// same. CORBA's messages and statuses quote what they come from.
    fn without_link(&mut self) -> Link {
        let quotes = |draft: &Draft| draft.is_system || draft.thrown.code.is_some();
        if self.tree.current().iter().any(quotes) { Link::Nested } else { Link::Beside }
    }

    /// A code or words that tell of a failure where no exception is open.
    fn without_class(&mut self, text: &Text<'_>, at: usize) -> Option<usize> {
        let rest = text.from(at);
        if let Some(code) = phrase::product_code(rest) {
            let mut draft = Draft::new("", self.link.take().unwrap_or(Link::Nested));
            draft.thrown.code = Some(code.to_owned());
            self.open(text, at, at, draft);
            return Some(at + code.len());
        }
        if let Some((class, minor)) = phrase::orb_message(rest) {
            // Thrown behind it with a status, most often.
            let line_end = text.line_end(at);
            self.open(text, at, at, Draft::new(class, Link::Near));
            self.tree.put(&[Field::Minor(minor.to_string())]);
            self.end_message(text, line_end);
            return Some(line_end);
        }
        if phrase::NEAR.iter().any(|words| rest.starts_with(words)) {
            let line_end = text.line_end(at);
            self.open(text, at, at, Draft::new("", Link::Near));
            self.end_message(text, line_end);
            return Some(line_end);
        }
        if let Some(failed) = errno::failed(rest) {
            let mut draft = Draft::new("", self.link.take().unwrap_or(Link::Nested));
            draft.thrown.phase = failed.phase;
            self.open(text, at, at, draft);
            return Some(at + failed.length);
        }
        if phrase::opens(rest) {
            self.open(text, at, at, Draft::new("", Link::Nested));
            return Some(text.next_word(at));
        }
        None
    }

    /// An exception of that class, linked as the words before it say.
    fn open_linked(&mut self, text: &Text<'_>, at: usize, message: usize, class: &str) {
        let link = self.link.take().unwrap_or(Link::Nested);
        self.open(text, at, message, Draft::new(class, link));
    }

    fn open(&mut self, text: &Text<'_>, at: usize, message: usize, mut draft: Draft) {
        self.end_message(text, at);
        self.open_answer(text, at);
        if text.begins_line(at) {
            self.tree.begin_line(at);
        }
        draft.thrown.line = text.line(at);
        draft.thrown.frames.extend(self.traceback.take());
        self.tree.push(draft);
        self.message = Some(message);
    }

    /// Where the words before the first exception say that the server answered, they are what the caller saw.
    fn open_answer(&mut self, text: &Text<'_>, at: usize) {
        if !self.tree.current().is_empty() || self.link.is_some() {
            return;
        }
        let before = one_line(&text.all[..at]).to_lowercase();
        if finding::says_that_it_was_answered(&before) {
            let mut answer = Draft::new("", Link::Outermost);
            answer.thrown.line = text.line(at);
            answer.set_message(&before);
            self.tree.current().push(answer);
        }
    }

    /// What ends a traceback is an exception, whatever its name.
    fn end_traceback(&mut self, text: &Text<'_>, at: usize) {
        if let Some((start, end)) = self.traceback.margin() {
            self.open_linked(text, start, end, &text.all[start..end]);
            self.end_message(text, at);
        }
    }

    fn end_message(&mut self, text: &Text<'_>, at: usize) {
        if let Some(start) = self.message.take()
            && let Some(draft) = self.tree.last()
        {
            draft.set_message(&text.all[start..at.max(start)]);
        }
    }
}
