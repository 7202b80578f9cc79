//! How an event begins.

use super::open::Open;
use super::record::{self, Relation};
use super::spoken::{answer_before, heads, is_spoken_of};
use crate::failure::log::line::Line;
use crate::failure::log::shape::kind::Kind;

/// An event that this line opens, if it can; the lines `before` it belong to the event where its frames alone show
/// that they are an exception.
pub fn begin(line: Line, kind: Kind, before: &[Line]) -> Option<Open> {
    if kind == Kind::Frame {
        return begin_at_frame(line, before);
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
    let mut open = Open::default();
    for lead in answer_before(before, &line) {
        open.add(lead.clone(), Kind::Prose);
    }
    open.add(line, kind);
    Some(open)
}

/// A class of any name is an exception where Java's frames stand below its message, which may be wrapped.
fn begin_at_frame(frame: Line, before: &[Line]) -> Option<Open> {
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
    let mut open = Open::default();
    open.add(head.clone(), Kind::Head);
    for line in message {
        open.add(line.clone(), Kind::Prose);
    }
    open.add(frame, Kind::Frame);
    Some(open)
}
