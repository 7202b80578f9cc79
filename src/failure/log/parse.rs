//! The text of one event becomes a chain.
//!
//! One walk over the words of the text, whatever its line breaks: classes open exceptions, links say how the next one
//! hangs on the one before, frames and fields belong to the last one. Lines matter only where nothing else tells:
//! whether a cause belongs to a suppressed part or to the whole is seen by its indentation.

use super::draft::Draft;
use super::errno;
use super::fields::{self, Field};
use super::line::Line;
use super::members::{self, Begins, Members};
use super::shape::{self, NEAR};
use super::status;
use super::words::{starts, status_class};
use crate::failure::tables::rmi::ANSWERED;
use crate::failure::{Chain, Link, Thrown, connecting, corba, finding};

/// The chain that the lines of an event show.
pub fn parse(lines: &[Line]) -> Chain {
    let mut walk = Walk::new(lines);
    walk.run();
    walk.finish()
}

const MOST_THROWN: usize = 64;
const MOST_FRAMES: usize = 6;

/// Where exceptions go: into the chain itself, into its last part, which a line of that indentation began, or into the last
/// member of a group.
#[derive(Clone, Copy)]
enum Place {
    Chain,
    Part { indentation: usize },
    Member,
}

/// A Python traceback ends with its exception, which may have any name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traceback {
    /// There is none, or its exception was seen.
    None,
    /// Its frames are being read.
    Open,
    /// What stands at its margin may be its exception, if nothing else is: where it begins, and its class ends.
    Margin { at: usize, end: usize },
}

struct Walk<'a> {
    lines: &'a [Line],
    text: String,
    starts: Vec<usize>,
    /// The bytes that were cut off each line.
    prefix: usize,
    chain: Vec<Draft>,
    parts: Vec<Vec<Draft>>,
    members: Members,
    /// What Python printed before, which is deeper.
    deeper: Vec<Draft>,
    place: Place,
    link: Option<Link>,
    /// Where the message of the last exception begins, while it goes on.
    message: Option<usize>,
    /// Python prints frames before their exception, the one that threw last.
    frames: Vec<String>,
    /// Where a Python traceback's exception is still to come.
    traceback: Traceback,
    /// From which exception on the last part may as well go on with the chain itself.
    otherwise: Option<usize>,
}

impl<'a> Walk<'a> {
    fn new(lines: &'a [Line]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(lines.len());
        let prefix = common_prefix(lines.iter());
        for line in lines {
            starts.push(text.len());
            text.push_str(line.content.get(prefix..).unwrap_or_default());
            text.push('\n');
        }
        Self {
            lines,
            text,
            starts,
            prefix,
            chain: Vec::new(),
            parts: Vec::new(),
            members: Members::default(),
            deeper: Vec::new(),
            place: Place::Chain,
            link: None,
            message: None,
            frames: Vec::new(),
            traceback: Traceback::None,
            otherwise: None,
        }
    }

    fn run(&mut self) {
        let text = std::mem::take(&mut self.text);
        let mut at = 0;
        while at < text.len() {
            at = match self.step(&text, at) {
                Some(end) => end,
                None => next_word(&text, at),
            };
        }
        self.end_traceback(&text, text.len());
        self.end_message(&text, text.len());
        self.text = text;
    }

    /// Takes what begins at `at`; says where it ends, or nothing where it is just a word.
    fn step(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        if let Some(end) = self.link_at(text, at) {
            return Some(end);
        }
        if self.link.is_none() && shape::is_pointed_at(text, at) {
            self.end_message(text, at);
            self.link = Some(Link::Cause);
        }
        if let Some(length) = self.own_code(rest) {
            return Some(at + length);
        }
        if self.traceback == Traceback::Open
            && !self.frames.is_empty()
            && self.begins_line(text, at)
            && self.indentation(at) == 0
            && let Some(mention) = shape::any_class(text, at)
        {
            self.traceback = Traceback::Margin { at, end: mention.end };
        }
        if let Some(length) = shape::introduction(rest) {
            let Some(mention) = shape::any_class(text, at + length) else { return Some(at + length) };
            let link = self.link.take().unwrap_or(Link::Nested);
            self.open(text, at + length, mention.end, Draft::new(mention.class, link));
            return Some(mention.end);
        }
        if let Some(end) = shape::frame(text, at) {
            self.end_message(text, at);
            if !rest.starts_with("File") {
                self.add_frame(&text[at..end]);
                return Some(end);
            }
            let after = after_code(text, end);
            let code = text[end..after].trim();
            if connecting::is_connect_call(code) {
                self.add_frame(&format!("{}: {code}", &text[at..end]));
            } else {
                self.add_frame(&text[at..end]);
            }
            return Some(after);
        }
        if !self.has_system_exception()
            && let Some((class, found, length)) = fields::symbol(text, at)
        {
            let link = self.link.take().unwrap_or(Link::Nested);
            self.open(text, at, at, Draft::new(&format!("CORBA.{class}"), link));
            self.put(&found);
            return Some(at + length);
        }
        if let Some((found, end)) = fields::fields(text, at) {
            self.put(&found);
            return Some(end);
        }
        if let Some((class, found, length)) = fields::wrapper(rest).or_else(|| fields::system_exception(rest)) {
            let link = self.link.take().unwrap_or(Link::Nested);
            self.open(text, at, at + length, Draft::new(&format!("CORBA.{class}"), link));
            self.put(&found);
            return Some(at + length);
        }
        if let Some((code, length)) = status::status(rest) {
            return Some(self.status(text, at, at + length, code));
        }
        if let Some(mention) = shape::mention(text, at, self.link.is_some()) {
            let link = self.link.take().unwrap_or_else(|| self.without_link());
            self.open(text, at, mention.end, Draft::new(mention.class, link));
            if corba::system_exception(mention.class).is_some()
                && let Some((found, end)) = fields::arguments(text, mention.end)
            {
                self.put(&found);
                return Some(end);
            }
            if corba::system_exception(mention.class).is_some()
                && let Some((code, end)) = fields::code_behind(text, mention.end)
            {
                self.put(&[code]);
                return Some(end);
            }
            // `IDL:omg.org/CORBA/TRANSIENT:1.0'`: the version is no message.
            let version =
                if mention.class.starts_with("omg.org") { starts(&text[mention.end..], ":1.0'").unwrap_or(0) } else { 0 };
            let message = mention.end + version.max(shape::number(&text[mention.end..]));
            self.message = Some(message);
            return Some(message);
        }
        if let Some(length) = starts(rest, "user exception, ID") {
            self.open(text, at, at + length, Draft::new("user exception", Link::Nested));
            return Some(at + length);
        }
        if self.message.is_none() {
            return self.without_class(text, at);
        }
        None
    }

    /// Node prints an error's properties below its frames: its code is one of them.
    fn own_code(&mut self, rest: &str) -> Option<usize> {
        let (symbol, end) = errno::property(rest)?;
        let draft = self.current().last_mut()?;
        if draft.thrown.code.is_none() && !draft.thrown.message.contains(symbol) {
            draft.thrown.code = Some(symbol.to_owned());
        }
        Some(end)
    }

    /// A code or words that tell of a failure where no exception is open.
    fn without_class(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        if let Some(code) = shape::product_code(rest) {
            let mut draft = Draft::new("", self.link.take().unwrap_or(Link::Nested));
            draft.thrown.code = Some(code.to_owned());
            self.open(text, at, at, draft);
            return Some(at + code.len());
        }
        if NEAR.iter().any(|words| rest.starts_with(words)) {
            let line_end = rest.find('\n').map_or(text.len(), |end| at + end);
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
        if shape::phrase(rest) {
            self.open(text, at, at, Draft::new("", Link::Nested));
            return Some(next_word(text, at));
        }
        None
    }

    fn link_at(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        if rest.starts_with("Suppressed:") {
            self.end_message(text, at);
            self.parts.push(Vec::new());
            self.otherwise = None;
            self.place = Place::Part { indentation: self.indentation(at) };
            self.link = Some(Link::Outermost);
            return Some(at + "Suppressed:".len());
        }
        if let Some(length) = starts(rest, "Traceback (most recent call last)") {
            self.end_traceback(text, at);
            self.end_message(text, at);
            self.frames.clear();
            self.traceback = Traceback::Open;
            return Some(at + length);
        }
        if let Some((begins, end)) = members::begins(text, at).filter(|(begins, _)| self.may_begin(*begins)) {
            self.end_traceback(text, at);
            self.end_message(text, at);
            self.begin_member(begins, at);
            return Some(end);
        }
        if let Some((length, link)) = shape::turn(rest) {
            self.end_traceback(text, at);
            self.end_message(text, at);
            if matches!(self.place, Place::Member) && !self.members.have_ended(text, at) {
                self.members.turn(link);
                return Some(at + length);
            }
            self.settle_members();
            if let Some(first) = self.chain.first_mut() {
                first.thrown.link = link;
            }
            self.chain.append(&mut self.deeper);
            std::mem::swap(&mut self.chain, &mut self.deeper);
            self.place = Place::Chain;
            return Some(at + length);
        }
        let (length, link) = shape::link(rest).or_else(|| shape::node_cause(text, at))?;
        self.end_message(text, at);
        if let Place::Part { indentation } = self.place
            && self.begins_line(text, at)
        {
            if self.indentation(at) < indentation {
                self.place = Place::Chain;
            } else if indentation == 0 && self.otherwise.is_none() {
                // Java indents what was suppressed. That is gone here, and the cause may be the whole's as well.
                self.otherwise = Some(self.current().len());
            }
        }
        self.link = Some(link);
        Some(at + length)
    }

    /// How an exception hangs on the one before where no words say it: in its message, or in a row with it, which look the
    /// same. CORBA's messages and statuses quote what they come from.
    fn without_link(&mut self) -> Link {
        let quotes = |draft: &Draft| draft.is_system || draft.thrown.code.is_some();
        if self.current().iter().any(quotes) { Link::Nested } else { Link::Beside }
    }

    /// Whether a group's member may begin here; a rule between two of them is all that is left of some.
    fn may_begin(&self, begins: Begins) -> bool {
        !self.members.is_empty()
            || self.chain.iter().any(|draft| members::is_group(&draft.thrown.class))
            || (begins == Begins::One { is_first: false } && !self.chain.is_empty())
    }

    fn begin_member(&mut self, begins: Begins, at: usize) {
        if self.members.is_empty() {
            // .NET prints the first one as if it were the cause.
            let group = self.chain.iter().rposition(|draft| members::is_group(&draft.thrown.class));
            let first = self.chain.split_off(group.map_or(0, |group| group + 1));
            self.members.begin(at, first);
        }
        self.members.each = begins == Begins::Each;
        self.members.begin(at, Vec::new());
        self.place = Place::Member;
        self.link = Some(Link::Outermost);
    }

    /// The group is over: its worst member goes on with its chain.
    fn settle_members(&mut self) {
        let (mut worst, others) = std::mem::take(&mut self.members).settle();
        self.chain.append(&mut worst);
        self.parts.extend(others);
    }

    fn status(&mut self, text: &str, at: usize, end: usize, code: &str) -> usize {
        let is_call = |draft: &&mut Draft| status_class(draft.thrown.simple_class()) && draft.thrown.code.is_none();
        if let Some(draft) = self.current().last_mut().filter(is_call) {
            draft.thrown.code = Some(code.to_owned());
            return end;
        }
        let same = |draft: &mut Draft| draft.thrown.code.as_deref() == Some(code);
        if !self.current().last_mut().is_some_and(same) {
            let mut draft = Draft::new("grpc.RpcError", self.link.take().unwrap_or(Link::Nested));
            draft.thrown.code = Some(code.to_owned());
            self.open(text, at, end, draft);
        }
        end
    }

    fn open(&mut self, text: &str, at: usize, message: usize, mut draft: Draft) {
        self.end_message(text, at);
        self.open_answer(text, at);
        self.traceback = Traceback::None;
        if self.members.each && matches!(self.place, Place::Member) && self.begins_line(text, at) {
            self.members.begin(at, Vec::new());
        }
        draft.thrown.line = self.line(at);
        draft.thrown.frames.extend(self.frames.drain(..).rev());
        let current = self.current();
        if current.len() < MOST_THROWN {
            if draft.thrown.link != Link::Near && current.iter().all(|draft| draft.thrown.link == Link::Near) {
                draft.thrown.link = Link::Outermost;
            }
            current.push(draft);
        }
        self.message = Some(message);
    }

    /// Where the words before the first exception say that the server answered, they are what the caller saw.
    fn open_answer(&mut self, text: &str, at: usize) {
        if !self.current().is_empty() || self.link.is_some() {
            return;
        }
        let before = one_line(&text[..at]).to_lowercase();
        if finding::says_that_it_was_answered(&before) {
            let mut answer = Draft::new("", Link::Outermost);
            answer.thrown.line = self.line(at);
            answer.set_message(&before);
            self.current().push(answer);
        }
    }

    /// What ends a traceback is an exception, whatever its name.
    fn end_traceback(&mut self, text: &str, at: usize) {
        if let Traceback::Margin { at: start, end } = self.traceback {
            let link = self.link.take().unwrap_or(Link::Nested);
            self.open(text, start, end, Draft::new(&text[start..end], link));
            self.end_message(text, at);
        }
    }

    fn end_message(&mut self, text: &str, at: usize) {
        if let Some(start) = self.message.take()
            && let Some(draft) = self.current().last_mut()
        {
            draft.set_message(&text[start..at.max(start)]);
        }
    }

    fn add_frame(&mut self, frame: &str) {
        if frame.starts_with("File") {
            if self.traceback != Traceback::None {
                self.traceback = Traceback::Open;
            }
            if self.frames.len() == MOST_FRAMES {
                self.frames.remove(0);
            }
            self.frames.push(one_line(frame));
        } else if let Some(draft) = self.current().last_mut()
            && (draft.thrown.frames.len() < MOST_FRAMES || ANSWERED.iter().any(|mark| frame.contains(mark)))
        {
            draft.thrown.frames.push(one_line(frame));
        }
    }

    fn has_system_exception(&mut self) -> bool {
        self.current().iter().any(|draft| draft.is_system)
    }

    /// Fields belong to the last system exception that lacks them.
    fn put(&mut self, found: &[Field]) {
        let current = self.current();
        let at = current
            .iter()
            .rposition(|draft| draft.is_system && found.iter().any(|field| draft.lacks(field)))
            .or_else(|| current.iter().rposition(|draft| draft.is_system));
        if let Some(draft) = at.and_then(|at| current.get_mut(at)) {
            for field in found {
                draft.put(field);
            }
        }
    }

    fn current(&mut self) -> &mut Vec<Draft> {
        match self.place {
            Place::Part { .. } if !self.parts.is_empty() => {
                let last = self.parts.len() - 1;
                &mut self.parts[last]
            }
            Place::Member if !self.members.is_empty() => self.members.last().unwrap_or(&mut self.chain),
            _ => &mut self.chain,
        }
    }

    fn line_index(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn line(&self, at: usize) -> u64 {
        self.lines.get(self.line_index(at)).map_or(0, |line| line.number)
    }

    fn indentation(&self, at: usize) -> usize {
        self.lines.get(self.line_index(at)).map_or(0, |line| line.indentation(self.prefix))
    }

    fn begins_line(&self, text: &str, at: usize) -> bool {
        self.starts.get(self.line_index(at)).is_some_and(|start| text[*start..at].trim().is_empty())
    }

    fn finish(mut self) -> Chain {
        self.settle_members();
        self.chain.append(&mut self.deeper);
        let thrown = |drafts: Vec<Draft>| drafts.into_iter().map(Draft::finish).collect::<Vec<Thrown>>();
        let parts: Vec<_> = self.parts.into_iter().map(thrown).collect();
        let otherwise = self.otherwise.and_then(|from| {
            let (last, before) = parts.split_last()?;
            let whole = self.chain.iter().cloned().map(Draft::finish).chain(last.get(from..)?.iter().cloned());
            let parts = before.iter().map(Vec::as_slice).chain([&last[..from]]);
            let parts = parts.filter(|part| !part.is_empty()).map(<[Thrown]>::to_vec).collect();
            Some(Box::new(Chain { thrown: whole.collect(), parts, otherwise: None }))
        });
        let parts = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Chain { thrown: thrown(self.chain), parts, otherwise }
    }
}

/// The length of a prefix of no known form that each line has: up to a blank, and nothing that tells of a failure.
pub fn common_prefix<'a>(lines: impl ExactSizeIterator<Item = &'a Line>) -> usize {
    const MOST: usize = 80;
    let are_several = lines.len() > 1;
    let mut contents = lines.map(|line| line.content.as_str()).filter(|content| !content.is_empty());
    let Some(first) = contents.next().filter(|_| are_several) else { return 0 };
    // A line that is nothing but its prefix has lost the blank at its end.
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes().chain([b' '])).take(MOST).take_while(|(a, b)| a == b).count();
    let length = contents.map(|content| same(first, content)).min().unwrap_or(0);
    let Some(shared) = first.get(..length).and_then(|shared| Some(&shared[..=shared.rfind(' ')?])) else { return 0 };
    let tells = ["xception", "rror", "aused", "uppressed", "at ", "nested", "CORBA", "minor", "completed"];
    let is_prefix =
        !shared.trim().is_empty() && !shared.starts_with([' ', '\t']) && !tells.iter().any(|word| shared.contains(word));
    if is_prefix { shared.len() } else { 0 }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Behind the line of code that Python prints under a frame's place.
fn after_code(text: &str, at: usize) -> usize {
    let Some(code) = text[at..].strip_prefix('\n') else { return at };
    let indented = code.starts_with([' ', '\t']);
    let is_code = indented && !code.trim_start().starts_with("File \"");
    if is_code { at + 1 + code.find('\n').unwrap_or(code.len()) } else { at }
}

/// Where the next word begins: behind what is no letter, digit or the like.
fn next_word(text: &str, at: usize) -> usize {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let rest = &text[at..];
    let word = rest.find(|c| !joins(c)).unwrap_or(rest.len());
    let blank = rest[word..].find(joins).map_or(rest.len(), |gap| word + gap);
    // A field's name may be glued to the message before it.
    if let Some(message) = rest[..word].strip_suffix("vmcid").filter(|message| !message.is_empty()) {
        return at + message.len();
    }
    // A word that a dot or slash joins to the one before is the same path.
    at + blank.max(1)
}
