//! A node's settings in a TOML file.
//!
//! A key that is not known is refused with the nearest one that is: a misspelt setting must not be a silent default.
//! Every refusal says in which line and column the trouble is.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::naming::{ErrorKind, NamingError};

/// What a setting is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// Yes or no.
    Flag(bool),
}

/// The kind of value that a setting has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Texts,
    Flag,
}

impl Kind {
    fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Texts => "a list of strings",
            Self::Flag => "true or false",
        }
    }
}

/// Every setting by its name, as in [`ServerConfig`](super::ServerConfig).
const KEYS: [(&str, Kind); 9] = [
    ("name", Kind::Text),
    ("listen", Kind::Text),
    ("advertise", Kind::Text),
    ("seeds", Kind::Texts),
    ("cluster", Kind::Text),
    ("data_dir", Kind::Text),
    ("mdns", Kind::Flag),
    ("mdns_interface", Kind::Text),
    ("insecure", Kind::Flag),
];

/// Reads a file's text as a TOML table.
///
/// # Errors
/// `Configuration`: what is wrong and where, as `line 3, column 1: …`.
pub(super) fn table(text: &str) -> Result<DeTable<'_>, NamingError> {
    DeTable::parse(text)
        .map(toml::Spanned::into_inner)
        .map_err(|error| wrong(text, error.span(), &format!("not TOML: {}", error.message().replace('\n', "; "))))
}

/// Reads a file's text. Gives the settings that are in it, in the order of their names.
///
/// # Errors
/// `Configuration`: what is wrong and where, as `line 3, column 1: …`.
pub fn read(text: &str) -> Result<Vec<(&'static str, Given)>, NamingError> {
    // A mark at the beginning, as some editors make, is no part of the text.
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    table(text)?
        .iter()
        .map(|(key, value)| {
            let written: &str = key.get_ref();
            let Some((name, kind)) = KEYS.into_iter().find(|(name, _)| *name == written) else {
                return Err(wrong(text, Some(key.span()), &format!("'{written}' is not a setting; {}", hint(written))));
            };
            given(kind, value.get_ref()).map(|given| (name, given)).ok_or_else(|| {
                let written = told(text, value.span(), value.get_ref());
                wrong(text, Some(value.span()), &format!("'{name}' must be {}, not {written}", kind.wanted()))
            })
        })
        .collect()
}

fn given(kind: Kind, value: &DeValue<'_>) -> Option<Given> {
    match kind {
        Kind::Text => value.as_str().map(|text| Given::Text(text.to_owned())),
        Kind::Flag => value.as_bool().map(Given::Flag),
        Kind::Texts => {
            let texts = value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Given::Texts)
        }
    }
}

/// The value as it is written, where that is short.
fn told<'a>(text: &'a str, span: Range<usize>, value: &DeValue<'a>) -> &'a str {
    match text.get(span) {
        Some(written) if written.len() <= 40 && !written.contains('\n') && !written.is_empty() => written,
        _ => value.type_str(),
    }
}

/// What might have been meant.
fn hint(written: &str) -> String {
    let near = KEYS.iter().map(|(name, _)| (distance(written, name), *name)).min();
    match near {
        Some((edits, name)) if edits <= name.len().div_ceil(3) => format!("did you mean '{name}'?"),
        _ => format!("known are {}", KEYS.map(|(name, _)| name).join(", ")),
    }
}

/// How many letters must be put in, left out, changed, or changed with their neighbours to get from one word to another.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for i in 0..from.len() {
        let mut next = vec![i + 1];
        for j in 0..to.len() {
            let changed = row[j] + usize::from(from[i] != to[j]);
            let mut edits = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j] {
                edits = edits.min(before[j - 1] + 1);
            }
            next.push(edits);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

fn wrong(text: &str, span: Option<Range<usize>>, message: &str) -> NamingError {
    let place = span.map_or(text.len(), |span| span.start);
    let before = text.get(..place).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    NamingError::new(ErrorKind::Configuration, format!("line {line}, column {column}: {message}"))
}
