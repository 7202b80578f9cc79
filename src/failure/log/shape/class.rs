//! Classes of exceptions in text, where they were thrown and are not only spoken of.

use super::name::{self, path};
use super::words::{self, near};
use super::{fields, frame, told};
use crate::failure::{Thrown, corba};

/// A class of an exception in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'a> {
    /// The class as printed.
    pub class: &'a str,
    /// Where its name ends.
    pub end: usize,
}

/// The exception mentioned at `at`, where a word begins. `linked` says that a link stands before it.
pub fn mention(text: &str, at: usize, linked: bool) -> Option<Mention<'_>> {
    // The middle of a path is no class.
    let before = &text.as_bytes()[..at];
    if matches!(before.last(), Some(b'.' | b'/' | b'$' | b'_')) || before.ends_with(b"::") {
        return None;
    }
    let path = path(&text[at..])?;
    let end = at + path.len();
    let name = Thrown::simple_name(path);
    // A class that no table knows is one where it carries a status.
    let unlisted = || {
        corba::in_package(path) && (fields::any_near(near(&text[end..])) || text[end..].starts_with(":\n") || &text[end..] == ":")
    };
    let system = corba::system_exception(path).is_some() || unlisted();
    let dotted = path.len() > name.len();
    // Two of gRPC's statuses are called as CORBA's exceptions are; what stands behind such a status is the server's.
    let is_status = !dotted && text[..at].trim_end().strip_suffix(':').is_some_and(words::status_class);
    let is_name = (system && (dotted || (!is_status && told::is_plainly_corba(name, &text[end..]))))
        || name::is_exception_s(path)
        || (["Error", "Exception"].contains(&name) && told::names_errno(&text[end..]))
        || (dotted && name.starts_with(char::is_uppercase) && is_traced(text, at, end, linked));
    (is_name && told::fits(text, at, end, linked, system, dotted)).then_some(Mention { class: path, end })
}

/// The class at `at`, whatever its name, where its message follows or nothing.
pub fn any(text: &str, at: usize) -> Option<Mention<'_>> {
    let class = path(&text[at..])?;
    let end = at + class.len();
    let after = text[end..].trim_start_matches([' ', '\t', '\r']);
    let ended = after.is_empty() || after.starts_with('\n') || text[end..].starts_with([':', '\'']);
    (ended && !text[end..].starts_with("::")).then_some(Mention { class, end })
}

/// The first exception mentioned in a line.
pub fn first(line: &str) -> Option<Mention<'_>> {
    words::places(line, 0).find_map(|at| mention(line, at, false))
}

/// Whether a line begins with a class.
pub fn begins(line: &str) -> bool {
    mention(line, line.len() - line.trim_start().len(), true).is_some()
}

/// Whether a line may be the exception that ends a Python traceback, whatever its class. It is told from a word of the
/// program's source, or of a wrapped line, by its form.
pub fn ends_traceback(line: &str) -> bool {
    let Some(class) = any(line, 0).map(|mention| mention.class) else { return false };
    class.contains('.') || class.starts_with(char::is_uppercase) || line[class.len()..].starts_with(": ")
}

/// Whether a line may be the head of Java's stack frames, whatever the class that it begins with.
pub fn heads_frames(line: &str) -> bool {
    let Some(class) = any(line, 0).map(|mention| mention.class) else { return false };
    let name = class.rsplit('.').next().unwrap_or_default();
    // A thread's dump shows its state in the form of a class.
    name.len() < class.len() && name.starts_with(char::is_uppercase) && !class.ends_with("Thread.State")
}

/// Whether a class is one by what stands around it: a link before it, or Java's frames below its line.
fn is_traced(text: &str, at: usize, end: usize, linked: bool) -> bool {
    if linked {
        return any(text, at).is_some();
    }
    if !(at == 0 || text[..at].ends_with('\n')) || !heads_frames(near(&text[at..])) {
        return false;
    }
    // Its message may be long, and wrapped.
    let breaks = text[end..].bytes().take(1000).enumerate().filter(|(_, b)| *b == b'\n').map(|(line, _)| end + line + 1);
    breaks.take(MOST_WRAPPED).any(|below| {
        let frame_at = text.len() - text[below..].trim_start().len();
        text[frame_at..].starts_with("at") && frame::end(text, frame_at).is_some()
    })
}

/// So many lines may a message have above its frames.
const MOST_WRAPPED: usize = 3;
