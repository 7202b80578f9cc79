//! Records in JSON: the failure stands in a field, with its line breaks escaped.
//!
//! The fields are read one after the other, whatever holds them, so that a record that was cut off says what it can. A
//! key counts by its last word and by whose it is: `error.type`, `"thrown": {"name": …}`, `exc_info`.

use std::iter::Peekable;
use std::str::Chars;

/// What a record tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its time, as it is written.
    pub time: Option<String>,
    /// Its level.
    pub level: Option<String>,
    /// A container's output, of which each line is a record.
    pub is_output: bool,
    /// The texts in which its failure may stand: what tells most first.
    pub texts: Vec<String>,
}

const MOST_DEPTH: usize = 16;
const TIMES: &[&str] = &["@timestamp", "timestamp", "time", "ts", "datetime", "asctime", "date"];
const LEVELS: &[&str] = &["level", "severity", "loglevel", "levelname", "lvl"];
const STACKS: &[&str] = &[
    "stack_trace",
    "stacktrace",
    "stack",
    "exc_info",
    "exc_text",
    "traceback",
    "backtrace",
    "extendedstacktrace",
    "full_message",
];
const THROWN: &[&str] = &["exception", "error", "err", "thrown", "throwable", "cause", "exc", "failure"];
const TYPES: &[&str] = &["type", "class", "name", "classname", "kind"];
const FLAT_TYPES: &[&str] = &["exceptionclass", "exception_class", "exception_type", "exceptiontype", "error_type", "exc_type"];
const FLAT_DETAILS: &[&str] = &["exception_message", "exceptionmessage", "error_message", "errormessage", "exc_message"];
const MESSAGES: &[&str] = &["message", "msg", "log", "short_message", "textpayload", "@message", "event", "text"];

/// The record that a line's content is; nothing where it is none.
pub fn record(content: &str) -> Option<Record> {
    let begins = &content[behind_prefix(content)..];
    let is_object = begins.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with('"'));
    // One line of an object that is printed over several.
    let is_field = begins.starts_with('"') && begins.contains("\": \"");
    if !is_object && !is_field {
        return None;
    }
    let mut found = Found::default();
    Walk { rest: begins.chars().peekable(), owners: Vec::new() }.fields(|owner, key, value| found.put(owner, key, value));
    Some(found.record()).filter(|record| !record.texts.is_empty())
}

/// Where the object begins, also behind a prefix of a form that is not known. What a message quotes is no record of its
/// own: a server's answer, say.
fn behind_prefix(content: &str) -> usize {
    const MOST: usize = 120;
    let start = content.len() - content.trim_start().len();
    let object = content.find("{\"").filter(|at| *at < MOST && content.trim_end().ends_with('}')).unwrap_or(start);
    let tells = ["xception", "rror", "ailed", "\"", "=", ": "];
    if tells.iter().any(|word| content[..object].contains(word)) { start } else { object }
}

#[derive(Default)]
struct Found {
    record: Record,
    stack: Option<String>,
    class: Option<String>,
    detail: Option<String>,
    thrown: Option<String>,
    message: Option<String>,
}

impl Found {
    fn put(&mut self, owner: &str, key: &str, value: String) {
        let key = key.to_lowercase();
        let (whose, last) = key.rsplit_once('.').unwrap_or((owner, &key));
        let whose = whose.rsplit('.').next().unwrap_or_default();
        let is_thrown_s = THROWN.contains(&whose.to_lowercase().as_str());
        let is = |keys: &[&str]| keys.contains(&last);
        let record = &mut self.record;
        let place = match () {
            () if is(TIMES) => &mut record.time,
            () if is(LEVELS) => &mut record.level,
            () if is(STACKS) => &mut self.stack,
            () if is(FLAT_TYPES) || (is_thrown_s && is(TYPES)) => &mut self.class,
            () if is(FLAT_DETAILS) || (is_thrown_s && is(MESSAGES)) => &mut self.detail,
            () if is(THROWN) => &mut self.thrown,
            () if is(MESSAGES) => {
                record.is_output |= last == "log";
                &mut self.message
            }
            () => return,
        };
        place.get_or_insert(value);
    }

    fn record(self) -> Record {
        let Self { mut record, stack, class, detail, thrown, message } = self;
        let typed = class.map(|class| match &detail {
            Some(detail) => format!("{class}: {detail}"),
            None => class,
        });
        record.texts = [stack, typed, thrown, detail, message].into_iter().flatten().collect();
        record
    }
}

/// A walk over a text that should be JSON.
struct Walk<'a> {
    rest: Peekable<Chars<'a>>,
    /// The keys whose objects are open.
    owners: Vec<String>,
}

impl Walk<'_> {
    /// Tells each string that is a field's value: whose the field is, its key, the value.
    fn fields(mut self, mut tell: impl FnMut(&str, &str, String)) {
        let mut key: Option<String> = None;
        while let Some(c) = self.rest.next() {
            match c {
                '"' => {
                    let text = self.string();
                    while self.rest.next_if(char::is_ascii_whitespace).is_some() {}
                    if self.rest.next_if_eq(&':').is_some() {
                        key = Some(text);
                    } else if let Some(key) = key.take() {
                        tell(self.owners.last().map_or("", String::as_str), &key, text);
                    }
                }
                '{' if self.owners.len() < MOST_DEPTH => self.owners.push(key.take().unwrap_or_default()),
                '}' => {
                    self.owners.pop();
                    key = None;
                }
                ',' | '[' => key = None,
                _ => {}
            }
        }
    }

    /// The string whose opening quote was read.
    fn string(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            match c {
                '"' => break,
                '\\' => match self.rest.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r' | 'b' | 'f') | None => {}
                    Some('u') => text.push(self.code()),
                    Some(c) => text.push(c),
                },
                c => text.push(c),
            }
        }
        text
    }

    /// The character of four hexadecimal digits; half of a pair is none.
    fn code(&mut self) -> char {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(16)) else { break };
            self.rest.next();
            code = code * 16 + digit;
        }
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}
