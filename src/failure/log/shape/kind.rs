//! What a line is to an event: by the first thing in it that any shape knows.

use super::phrase::{self, NEAR};
use super::words::{places, starts};
use super::{class, errno, fields, frame, introduction, link, member, status, told};

/// Words that lead from one exception to the next within a message: JNP's from its list of URLs to the search for
/// others, .NET's from a status to what was behind it.
const WITHIN: &[&str] = &["discovery failed with error", "DebugException="];

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

impl Kind {
    /// Whether an event can open with such a line.
    pub fn may_open(self) -> bool {
        !matches!(self, Self::Fields | Self::Blank | Self::Prose)
    }
}

/// What a line is to an event.
pub fn of(content: &str) -> Kind {
    let rest = content.trim_start();
    let start = content.len() - rest.len();
    if rest.is_empty() {
        return Kind::Blank;
    }
    if rest.find("Traceback").is_some_and(|at| starts(&rest[at..], "Traceback (most").is_some()) {
        return Kind::Traceback;
    }
    let links = ["Suppressed:", "[Root", "(Caused by ", "--->", "[cause]:", "[errors]: ["];
    if link::at(rest).is_some()
        || link::turn(rest).is_some()
        || links.iter().any(|words| rest.starts_with(words))
        || member::is_rule(rest)
    {
        return Kind::Link;
    }
    if frame::end(content, start).is_some()
        || rest.starts_with("--- End of ")
        || rest == "at"
        || frame::is_place(rest)
        || (rest.starts_with(">>") && phrase::quotes_a_server(rest))
    {
        return Kind::Frame;
    }
    let (mut has_fields, mut has_link) = (false, false);
    let goes_on = goes_on(rest);
    for at in places(content, start) {
        let here = &content[at..];
        // C++ prints the message below the class.
        if here.starts_with("what():") {
            return Kind::Fields;
        }
        // Behind a prefix of a form that is not known.
        if here.starts_with("Caused by: ") || here.starts_with("Suppressed: ") || link::turn(here).is_some() {
            return Kind::Link;
        }
        let in_bracket =
            content[..at].ends_with('[') && ["Root exception is", "cause]:"].iter().any(|link| here.starts_with(link));
        if in_bracket || link::is_pointed_at(content, at) || here.starts_with("Inner Exception #") {
            return Kind::Link;
        }
        if link::at(here).is_some() || WITHIN.iter().any(|words| here.starts_with(words)) {
            if goes_on {
                return Kind::MidLink;
            }
            has_link = true;
        }
        if class::mention(content, at, false).is_some() {
            return Kind::Head;
        }
        if introduction::length(here).is_some()
            || introduction::begins(here)
            || starts(here, "user exception").is_some()
            || phrase::user_exception(here).is_some()
            || (status::begins(here) && !told::is_compared(content, at))
        {
            return Kind::Head;
        }
        if fields::wrapper(here).is_some() || fields::begins_system_exception(here) || phrase::product_code(here).is_some() {
            return Kind::Head;
        }
        if phrase::orb_message(here).is_some() {
            return Kind::Near;
        }
        if phrase::opens(here) {
            return if goes_on { Kind::MidLink } else { Kind::Head };
        }
        if errno::failed(here).is_some() || (fields::symbol(content, at).is_some() && !here.contains("COMPLETED_")) {
            return Kind::Head;
        }
        has_fields |= fields::fields(content, at).is_some();
    }
    // A link without an exception on either side of it is the end of a wrapped message.
    if has_link {
        return Kind::Link;
    }
    let behind = content.find("at ").into_iter().chain(content.rfind("at ")).chain(content.find("File \""));
    if behind.filter(|at| *at > 0 && content[..*at].ends_with([' ', '\t'])).any(|at| frame::end(content, at).is_some()) {
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
