//! An exception while its text is being read.

use crate::failure::log::shape::fields::Field;
use crate::failure::log::shape::words::status_class;
use crate::failure::log::shape::{phrase, status};
use crate::failure::{Link, Minor, Thrown, corba};

const MOST_MESSAGE: usize = 1000;

/// What is known of it so far.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The exception.
    pub thrown: Thrown,
    /// It is one of CORBA's, which the fields of a text belong to.
    pub is_system: bool,
    vendor: Option<String>,
    minors: Vec<String>,
}

impl Draft {
    /// An exception of that class.
    pub fn new(class: &str, link: Link) -> Self {
        let is_system = corba::system_exception(class).is_some();
        // Ruby has a class for each status.
        let code = class.strip_prefix("GRPC::").and_then(status::code);
        let class = if code.is_some() { "grpc.RpcError" } else { class };
        let code = code.map(str::to_owned);
        Self { thrown: Thrown { class: class.to_owned(), link, code, ..Thrown::default() }, is_system, ..Self::default() }
    }

    /// Whether a field of that kind has not come yet.
    pub fn lacks(&self, field: &Field) -> bool {
        match field {
            Field::Vendor(_) => self.vendor.is_none(),
            Field::Minor(_) | Field::Errno { .. } => self.minors.is_empty() && self.thrown.code.is_none(),
            Field::Completed(_) => self.thrown.completed.is_none(),
        }
    }

    /// Whether a class that follows is this exception once more, of which nothing was said yet but `message`: a head line named
    /// it before its trace, or the server's trace quotes it. That tells all that the other did.
    pub fn is_once_more(&self, class: &str, message: &str, after: &str) -> bool {
        let is_bare = self.vendor.is_none() && self.minors.is_empty() && self.thrown.completed.is_none();
        if !is_bare || self.thrown.code.is_some() || self.thrown.simple_class() != Thrown::simple_name(class) {
            return false;
        }
        // The ORB sends what was thrown at the server: class, minor code and status are the same.
        let is_quoted = self.is_system && phrase::quotes_a_server(message);
        let line = message.split('\n').next().unwrap_or_default();
        let said = line.trim().trim_start_matches([':', ' ']).trim_end_matches(['.', ';', ' ']);
        let goes_on = || after.trim_start_matches([':', ' ']).starts_with(said);
        is_quoted || (self.thrown.frames.is_empty() && goes_on())
    }

    /// A field of it; the first of its kind counts.
    pub fn put(&mut self, field: &Field) {
        if !self.lacks(field) {
            return;
        }
        match field {
            Field::Vendor(vendor) => self.vendor = Some(vendor.clone()),
            Field::Minor(minor) => self.minors.push(minor.clone()),
            Field::Completed(status) => self.thrown.completed = Some(*status),
            Field::Errno { place, symbol } => {
                self.thrown.code = Some(symbol.clone());
                self.thrown.message.clone_from(place);
            }
        }
    }

    /// Its message as the text has it, with links cut off and blanks made one.
    pub fn set_message(&mut self, text: &str) {
        if !self.thrown.message.is_empty() {
            return;
        }
        let mut message = String::new();
        for word in text.split_whitespace() {
            if message.len() + word.len() > MOST_MESSAGE {
                break;
            }
            message.push_str(if message.is_empty() { "" } else { " " });
            message.push_str(word);
        }
        let message = message.strip_suffix("--->").unwrap_or(&message);
        // The rule behind a member of a group.
        let message = if message.ends_with("---") { message.trim_end_matches(['+', '-', ' ']) } else { message };
        let trimmed = message.trim_start_matches([':', ' ', '(']).trim_end_matches([';', ':', '[', '(', ' ', '.']);
        let trimmed = if trimmed.contains('[') { trimmed } else { trimmed.trim_end_matches(']') };
        trimmed.clone_into(&mut self.thrown.message);
    }

    /// The exception, with its minor code and status read.
    pub fn finish(self) -> Thrown {
        let Self { mut thrown, vendor, minors, is_system: _ } = self;
        let texts: Vec<&str> = minors.iter().map(String::as_str).collect();
        if let Some((minor, agreed)) = Minor::read(vendor.as_deref(), &texts) {
            thrown.minor = Some(minor);
            thrown.minor_in_doubt = !agreed;
        }
        if thrown.code.is_none() && status_class(thrown.simple_class()) {
            let first = thrown.message.split(|c: char| !(c.is_ascii_alphabetic() || c == '_')).next().unwrap_or_default();
            thrown.code = status::code(first).map(str::to_owned);
        }
        thrown
    }
}
