//! The shapes by which a failure is recognised in text: classes of exceptions, links between them, stack frames.
//!
//! Everything here looks at one place of a text and a bounded piece behind it.

use super::words::starts;
use super::{fields, listing, status};
use crate::failure::corba;
use crate::failure::tables::plain_words;
use crate::failure::{Link, Thrown, tables};

/// What links two exceptions in text, and what the second is to the first.
const LINKS: &[(&str, Link)] = &[
    ("Caused by:", Link::Cause),
    ("Caused by ", Link::Cause),
    ("Root cause:", Link::Cause),
    ("root cause is", Link::Cause),
    ("nested exception is", Link::Nested),
    ("Root exception is", Link::Root),
    ("Linked exception:", Link::Cause),
];

/// The link at the start of a text: its length, and what it makes of the next exception.
pub fn link(text: &str) -> Option<(usize, Link)> {
    // Asked at each word: most are told by their first letter.
    if !matches!(text.as_bytes().first()?, b'C' | b'R' | b'r' | b'n' | b'L') {
        return None;
    }
    LINKS.iter().find_map(|(words, link)| Some((starts(text, words)?, *link)))
}

/// Node's `[cause]: ` at its word: its length, and what it makes of the next exception.
pub fn node_cause(text: &str, at: usize) -> Option<(usize, Link)> {
    let length = text[at..].strip_prefix("cause]:").filter(|_| text[..at].ends_with('['));
    length.map(|_| ("cause]:".len(), Link::Cause))
}

/// Whether .NET's arrow points to the word at `at`: what caused the exception before.
pub fn is_pointed_at(text: &str, at: usize) -> bool {
    text[..at].trim_end().ends_with("--->")
}

/// The words at the start of a text that turn Python's order: their length, and what the exception before them is.
pub fn turn(text: &str) -> Option<(usize, Link)> {
    if !matches!(text.as_bytes().first()?, b'T' | b'D') {
        return None;
    }
    TURNS.iter().find_map(|(words, link)| Some((starts(text, words)?, *link)))
}

/// Python prints the cause first: what follows is the outer one, and the one before is this to it.
const TURNS: &[(&str, Link)] =
    &[("The above exception was the direct cause", Link::Cause), ("During handling of the above exception", Link::Context)];

/// Names that end otherwise and still are exceptions', with or without a package.
const OTHER_NAMES: &[&str] = &[
    "gaierror",
    "herror",
    "ConnectTimeout",
    "ReadTimeout",
    "PoolTimeout",
    "WriteTimeout",
    "ConnectionLoss",
    "RemoteDisconnected",
    "IncompleteRead",
    "_MultiThreadedRendezvous",
    "_Rendezvous",
    "BadStatusLine",
];
/// The same, where only a package makes them exceptions'.
const OTHER_NAMES_IN_PACKAGES: &[&str] = &[
    "timeout",
    "Timeout",
    "error",
    "AdminShutdown",
    "CrashShutdown",
    "SerializationFailure",
    "DeadlockDetected",
    "CannotConnectNow",
    "TooManyConnections",
    "NotFound",
    "AlreadyBound",
    "CannotProceed",
    "NotEmpty",
    "InvalidName",
    "InvalidURL",
    "MissingSchema",
    "InvalidSchema",
    "UnsupportedProtocol",
    "ConnectionClosed",
];

/// Words that make a class a matter of talk: code, configuration, advice.
const TALK: &[&str] = &[
    "catch",
    "catches",
    "catching",
    "except",
    "raise",
    "raises",
    "throws",
    "throw",
    "new",
    "import",
    "instanceof",
    "for",
    "on",
    "handles",
    "of",
    "extends",
    "class",
    "ignore",
    "ignoring",
    "retry",
    "expects",
    "register",
    "registered",
    "handler",
    "loaded",
    "as",
    "or",
    "and",
];

/// Whether a line ends in the middle of talk, so that a class at the start of the next one is only spoken of.
pub fn talks_on(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with([',', '|'])
        || listing::announces(line)
        || TALK.contains(&line.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
}

/// Whether a line begins with a class.
pub fn starts_with_class(line: &str) -> bool {
    mention(line, line.len() - line.trim_start().len(), true).is_some()
}

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
    let generic = !dotted && ["Error", "Exception", "Throwable"].contains(&name);
    // A method that handles one is no class.
    let ends = !name.starts_with(char::is_lowercase) && ["Exception", "Error", "Throwable"].iter().any(|end| name.ends_with(end));
    let is_name = (system && (dotted || is_plainly_corba(name, &text[end..])))
        || (ends && !generic)
        || OTHER_NAMES.contains(&name)
        || (dotted && OTHER_NAMES_IN_PACKAGES.contains(&name))
        || ["Error", "Exception"].contains(&name) && (dotted || names_errno(&text[end..]))
        || (name.starts_with(char::is_uppercase) && name.ends_with(char::is_lowercase) && is_in_errors_module(path))
        || path.starts_with("Errno::")
        || (path.starts_with("GRPC::") && status::code(name).is_some())
        || path.rsplit('$').nth(1).is_some_and(|outer| outer.ends_with("Exception"))
        || (dotted && name.starts_with(char::is_uppercase) && is_traced(text, at, end, linked));
    (is_name && fits(text, at, end, linked, system, dotted)).then_some(Mention { class: path, end })
}

/// Whether a class stands in a module that has nothing but exceptions, as Python's libraries have one:
/// `psycopg2.errors.UniqueViolation`.
fn is_in_errors_module(path: &str) -> bool {
    let modules = ["errors.", "exceptions."];
    path.rfind('.').is_some_and(|dot| modules.iter().any(|module| path[..=dot].ends_with(module)))
}

/// What stands before a class whatever its name, between its first words and its last: Java's, .NET's, and those of
/// C++'s runtimes.
const INTRODUCTIONS: &[(&str, &str)] = &[
    ("Exception in thread \"", "\" "),
    ("Unhandled exception. ", ""),
    ("terminate called after throwing an instance of '", ""),
    ("terminating due to uncaught exception of type ", ""),
    ("terminating with uncaught exception of type ", ""),
];

/// Whether C++'s words for an exception that nobody caught begin here, though their line may end before they do.
pub fn begins_introduction(text: &str) -> bool {
    let words = ["terminate called after", "terminating due to uncaught", "terminating with uncaught"];
    words.iter().any(|words| starts(text, words).is_some())
}

/// The length of an introduction at the start of a text, behind which any class is one that was thrown.
pub fn introduction(text: &str) -> Option<usize> {
    if !text.starts_with(['E', 'U', 't']) {
        return None;
    }
    let (length, last) = INTRODUCTIONS.iter().find_map(|(first, last)| Some((starts(text, first)?, *last)))?;
    let rest = if last.is_empty() { &text[length..] } else { near(&text[length..]).split_once(last.trim_end())?.1 };
    let at = if last.is_empty() { length } else { length + near(&text[length..]).len() - rest.len() };
    let here = text[at..].trim_start();
    let at = text.len() - here.len();
    (here.is_empty() || any_class(text, at).is_some()).then_some(at)
}

/// The class at `at`, whatever its name, where its message follows or nothing.
pub fn any_class(text: &str, at: usize) -> Option<Mention<'_>> {
    let class = path(&text[at..])?;
    let end = at + class.len();
    let after = text[end..].trim_start_matches([' ', '\t', '\r']);
    let ended = after.is_empty() || after.starts_with('\n') || text[end..].starts_with([':', '\'']);
    (ended && !text[end..].starts_with("::")).then_some(Mention { class, end })
}

/// Whether a line may be the exception that ends a Python traceback, whatever its class. It is told from a word of the
/// program's source, or of a wrapped line, by its form.
pub fn ends_traceback(line: &str) -> bool {
    let Some(class) = any_class(line, 0).map(|mention| mention.class) else { return false };
    class.contains('.') || class.starts_with(char::is_uppercase) || line[class.len()..].starts_with(": ")
}

/// Whether a line may be the head of Java's stack frames, whatever the class that it begins with.
pub fn heads_frames(line: &str) -> bool {
    let Some(class) = any_class(line, 0).map(|mention| mention.class) else { return false };
    let name = class.rsplit('.').next().unwrap_or_default();
    // A thread's dump shows its state in the form of a class.
    name.len() < class.len() && name.starts_with(char::is_uppercase) && !class.ends_with("Thread.State")
}

/// Whether a class is one by what stands around it: a link before it, or Java's frames below its line.
fn is_traced(text: &str, at: usize, end: usize, linked: bool) -> bool {
    if linked {
        return any_class(text, at).is_some();
    }
    if !(at == 0 || text[..at].ends_with('\n')) || !heads_frames(near(&text[at..])) {
        return false;
    }
    // Its message may be long, and wrapped.
    let breaks = text[end..].bytes().take(1000).enumerate().filter(|(_, b)| *b == b'\n').map(|(line, _)| end + line + 1);
    breaks.take(MOST_WRAPPED).any(|below| {
        let frame_at = text.len() - text[below..].trim_start().len();
        text[frame_at..].starts_with("at") && frame(text, frame_at).is_some()
    })
}

/// So many lines may a message have above its frames.
const MOST_WRAPPED: usize = 3;

/// Some bare names of system exceptions are everyday words: what follows must be CORBA's.
fn is_plainly_corba(name: &str, after: &str) -> bool {
    let signs = ["CORBA", "vmcid", "minor code", "COMPLETED_"];
    name.contains('_') || has_code(after) || signs.iter().any(|sign| near(after).contains(sign))
}

/// Whether a minor code stands directly behind a bare class.
fn has_code(after: &str) -> bool {
    let next = after.trim_start_matches([' ', '(']);
    let names_code = next.starts_with("minor") && fields::fields(near(next), 0).is_some();
    names_code || fields::code_behind(near(after), 0).is_some()
}

/// The first bytes of a text: what is looked at from each of many places must be short.
fn near(text: &str) -> &str {
    const NEAR_BYTES: usize = 200;
    let mut end = text.len().min(NEAR_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether what stands around the class makes it one that was thrown.
fn fits(text: &str, at: usize, end: usize, linked: bool, system: bool, dotted: bool) -> bool {
    let before = text[..at].trim_end();
    let after = &text[end..];
    let next = after.trim_start();
    let lead = text[..at].trim_end_matches([' ', '\t']);
    let line_start = lead.is_empty() || lead.ends_with('\n');
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if !linked && !line_start && TALK.contains(&word) && before.len() - word.len() < at {
        return false;
    }
    let introduced = linked
        || line_start
        || before.ends_with([':', '>', '-', '(', '[', '=', '"', '\'', ';', '|', '<'])
        || ["exception", "Exception", "threw", "thrown", "caught", "Caught", "with", "by", "error", "is", "cause", "Error"]
            .contains(&word);
    if after.starts_with("::") || after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return false;
    }
    if !linked && (listing::lists(lead, after) || listing::says_when(after)) {
        return false;
    }
    let details =
        ["[Root", "vmcid", "minor code", "(vmcid", "of RPC", "; nested", "- "].iter().any(|word| next.starts_with(word));
    let bare_system = system && !dotted;
    if system
        && if dotted {
            fields::any_near(near(after))
                || (introduced && ["raised by", "exception"].iter().any(|words| next.starts_with(words)))
        } else {
            has_code(after)
        }
    {
        return true;
    }
    // Ruby's and Rust's, where what stands behind the class is no message.
    let details =
        details || next.trim_end() == "with" || ["with #<", "{ kind:"].iter().any(|words| starts(next, words).is_some());
    match after.chars().next() {
        Some(':') => !bare_system || introduced,
        Some('(') if system => true,
        Some('(') => {
            introduced
                && after[1..].starts_with(['\'', '"', '<', ')', 'H']) | after[1..].starts_with(|c: char| c.is_ascii_digit())
        }
        Some('.') => next[1..].trim_start().starts_with("Root exception is"),
        Some('[') => true,
        Some(';') => details || introduced,
        Some(']' | ')' | ',' | '"' | '\'' | '>') => linked,
        Some(_) if details || number(next) > 0 || has_symbol(next) => true,
        Some(_) | None => {
            let ends_line = after.is_empty() || after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
            let ends = next.is_empty() || ends_line || frame(text, text.len() - next.len()).is_some();
            ends && introduced && !bare_system
        }
    }
}

/// .NET's number between class and message: `SocketException (10061): …`, `Win32Exception (0x80004005): …`.
/// Its length with the blank before it.
pub fn number(text: &str) -> usize {
    let next = text.trim_start();
    let Some((number, _)) = next.strip_prefix('(').and_then(|next| near(next).split_once("):")) else { return 0 };
    let is_number =
        number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_hexdigit() || "x, -".contains(c));
    if is_number { text.len() - next.len() + number.len() + "():".len() } else { 0 }
}

/// Node's code between class and message: `TypeError [ERR_INVALID_URL]: …`, `AggregateError [ECONNREFUSED]: …`.
fn has_symbol(next: &str) -> bool {
    let inside = next.strip_prefix('[').and_then(|next| near(next).split_once("]:"));
    inside.is_some_and(|(code, _)| {
        code.len() > 2 && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
    })
}

/// A bare `Error:` is one where a symbol of errno follows, or Node's own words.
fn names_errno(after: &str) -> bool {
    let line: Vec<&str> = near(after).split('\n').next().unwrap_or_default().split_whitespace().collect();
    let line = line.join(" ");
    let symbols = ["ECONN", "EHOST", "ENET", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EAI_"];
    after.starts_with(':') && symbols.iter().chain(plain_words::NODE).any(|words| line.contains(words))
}

/// The dotted path at the start of a text: `java.net.ConnectException`, `CORBA::TRANSIENT`, `jdk.rmi/x.Y`.
fn path(text: &str) -> Option<&str> {
    const MOST: usize = 200;
    let bytes = text.as_bytes();
    let mut end = 0;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    loop {
        let start = end;
        while end < bytes.len() && is_word(bytes[end]) {
            end += 1;
        }
        if end == start || bytes[start].is_ascii_digit() || end > MOST {
            return None;
        }
        let step = match bytes.get(end) {
            Some(b'.' | b'/') => 1,
            Some(b':') if bytes.get(end + 1) == Some(&b':') => 2,
            _ => return Some(&text[..end]),
        };
        if !bytes.get(end + step).is_some_and(|b| is_word(*b) && !b.is_ascii_digit()) {
            return Some(&text[..end]);
        }
        end += step;
    }
}

/// The end of the stack frame at `at`: Java's `at x.y.Z.m(F.java:1)`, Python's `File "f", line 1, in m`, and the words
/// for those left out.
pub fn frame(text: &str, at: usize) -> Option<usize> {
    const MOST: usize = 400;
    let rest = &text[at..];
    if let Some(place) = rest.strip_prefix("at").filter(|place| place.starts_with([' ', '\t', '\n'])) {
        let place = place.trim_start();
        let skipped = rest.len() - place.len();
        // WildFly names a destination in the form of a frame.
        if place.starts_with("...use") {
            return place.bytes().take(MOST).position(|b| b == b')').map(|close| at + skipped + close + 1);
        }
        if let Some(length) = node_frame(place) {
            return Some(at + skipped + length);
        }
        let open = place.find(['(', ' ', '\t', '\n', '['])?;
        if place.as_bytes()[open] != b'(' {
            return place.starts_with("[internal classes]").then_some(at + skipped + 18);
        }
        let close = place.bytes().take(MOST).position(|b| b == b')')?;
        let module = place[..open].contains('.');
        return module.then_some(at + skipped + close + 1);
    }
    if let Some(length) = INNER_ENDS.iter().find_map(|words| starts(rest, words)) {
        return Some(at + length);
    }
    if rest.starts_with("File") {
        return python_frame(rest).map(|length| at + length);
    }
    let dots = rest.strip_prefix("... ").or_else(|| rest.strip_prefix("…"))?;
    let digits = dots.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let words = dots[digits..].trim_start();
    let more = ["more", "common frames omitted", "frames truncated"].into_iter().find(|more| words.starts_with(more))?;
    Some(at + rest.len() - words.len() + more.len())
}

/// Whether a line is the place of one of Java's frames and nothing else, as a wrap leaves it: `com.acme.Shop.pay(Shop.java:7)`.
pub fn is_place(line: &str) -> bool {
    let Some((method, place)) = line.trim().split_once('(') else { return false };
    let line_number = place.strip_suffix(')').and_then(|place| place.split_once(".java:"));
    let is_number = line_number.is_some_and(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()));
    is_number && method.contains('.') && path(method).is_some_and(|path| path.len() == method.len())
}

/// Between .NET's frames.
const INNER_ENDS: &[&str] = &["End of inner exception stack trace ---", "End of stack trace from previous location"];

/// The length of Node's place at the start of a text: `async main (/app/index.js:10:15)`, `node:net:1555:16`.
fn node_frame(text: &str) -> Option<usize> {
    const MOST: usize = 400;
    let end = text.bytes().take(MOST).position(|b| b == b'\n').unwrap_or(text.len().min(MOST));
    let line = text.get(..end)?.trim_end().trim_end_matches(['{', ',', ' ']);
    let place = line.strip_suffix(')').map_or(Some(line), |line| Some(line.rsplit_once('(')?.1))?;
    // Its line and its column.
    let mut parts = place.rsplitn(3, ':');
    let mut is_number = || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    (is_number() && is_number() && parts.next().is_some()).then_some(line.len())
}

/// The length of `File "socket.py", line 845, in create_connection`.
fn python_frame(text: &str) -> Option<usize> {
    const MOST: usize = 1000;
    let path = text.strip_prefix("File")?.trim_start().strip_prefix('"')?;
    let close = path.bytes().take(MOST).position(|b| b == b'"')?;
    let rest = path[close + 1..].strip_prefix(',')?.trim_start().strip_prefix("line")?.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(name) = rest.strip_prefix(',').and_then(|rest| rest.trim_start().strip_prefix("in")) else {
        return Some(text.len() - rest.len());
    };
    let name = name.trim_start();
    let length = name.find(char::is_whitespace).unwrap_or(name.len());
    Some(text.len() - name.len() + length)
}

/// A message's code that a rule knows, at the start of a text: `EJBCLIENT000025`, `WFNAM00018`.
pub fn product_code(text: &str) -> Option<&str> {
    const PREFIXES: &[&str] = &["EJBCLIENT0", "WFNAM0", "JBREM0"];
    if !text.starts_with(['E', 'W', 'J']) {
        return None;
    }
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let digits = text[prefix.len()..].bytes().take_while(u8::is_ascii_digit).count();
    let code = &text[..prefix.len() + digits];
    tables::knows_code(code).then_some(code)
}

/// Words that tell of a failure where no class does, as [`Link::Near`] evidence or on their own.
pub const NEAR: &[&str] = &[
    "Handshake failed",
    "handshake failed",
    "handshake failure",
    "CERTIFICATE_VERIFY_FAILED",
    "certificate verify failed",
    "WRONG_VERSION_NUMBER",
    "SSL_ERROR_",
];

/// Whether words that are a failure without any class begin here. A connection pool says of its `jdbc:` URLs what JNP
/// says of its own.
pub fn phrase(text: &str) -> bool {
    const ANY_URL: &str = "Could not obtain connection to any of these urls:";
    text.strip_prefix(ANY_URL).is_some_and(|urls| !urls.trim_start().starts_with("jdbc:"))
        || text.starts_with("No available router to destination")
        || plain_words::OPENINGS.iter().any(|(words, then)| {
            // Its line may be broken behind it.
            starts(text, words).is_some_and(|length| near(text).contains(then) || text[length..].trim().is_empty())
        })
}
