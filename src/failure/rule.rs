//! The form of the rules: what a thrown exception must look like, and what it then means.
//!
//! The tables in [`super::tables`] are rows of this form, each in its family's file; within a table the first row that
//! fits counts. Rows key on classes and symbols. Words stand only where nothing else tells two meanings of one class
//! apart, and then lower the confidence, since words are localised.

use std::cell::OnceCell;

use memchr::memmem;

use super::{Category, CompletionStatus, Link, Phase, Thrown, connecting};

/// How much one exception's meaning counts beside those of the others in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It wraps: what is deeper knows better, if it knows anything.
    Wrapper,
    /// The deepest one of these counts.
    Plain,
    /// It counts wherever it stands: the peer was reached, or never will be, whatever the wrappers say of connecting.
    Decisive,
}

/// What an exception means by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning {
    /// What kind of failure it is.
    pub category: Category,
    /// A finer word.
    pub detail: &'static str,
    /// Whether the request ran, where no status is printed.
    pub completion: CompletionStatus,
    /// How much it counts in its chain.
    pub weight: Weight,
    /// No other candidate is left, whatever the category says.
    pub last: bool,
    /// A printed `NO` is known to be wrong here.
    pub liar: bool,
    /// How sure the row is, in percent.
    pub trust: u8,
    /// Why, in the words of a clause.
    pub why: &'static str,
}

impl Meaning {
    /// Of a request that did not run.
    pub const fn no(category: Category, detail: &'static str, why: &'static str) -> Self {
        Self::of(category, CompletionStatus::No, detail, why)
    }

    /// Of a request that may have run.
    pub const fn maybe(category: Category, detail: &'static str, why: &'static str) -> Self {
        Self::of(category, CompletionStatus::Maybe, detail, why)
    }

    /// Of a request that ran.
    pub const fn yes(category: Category, detail: &'static str, why: &'static str) -> Self {
        Self::of(category, CompletionStatus::Yes, detail, why)
    }

    const fn of(category: Category, completion: CompletionStatus, detail: &'static str, why: &'static str) -> Self {
        Self { category, detail, completion, weight: Weight::Plain, last: false, liar: false, trust: 90, why }
    }

    /// It wraps.
    pub const fn wrapper(mut self) -> Self {
        self.weight = Weight::Wrapper;
        self.trust = 60;
        self
    }

    /// It counts wherever it stands.
    pub const fn decisive(mut self) -> Self {
        self.weight = Weight::Decisive;
        self
    }

    /// No other candidate is left.
    pub const fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// A printed `NO` is wrong here.
    pub const fn liar(mut self) -> Self {
        self.liar = true;
        self.trust = 75;
        self
    }

    /// How sure the row is, in percent.
    pub const fn trust(mut self, percent: u8) -> Self {
        self.trust = percent;
        self
    }
}

/// One row of a table. Each condition that is given must hold.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// One of these classes: without a dot the simple name, with dots also the end of the package, behind `*` the end of
    /// the simple name.
    pub classes: &'static [&'static str],
    /// One of these symbols, as the exception's code or as a word of its message.
    pub codes: &'static [&'static str],
    /// One of these in the message, in lower case.
    pub words: &'static [&'static str],
    /// None of these in the message.
    pub without: &'static [&'static str],
    /// One of these in a stack frame or a message anywhere in the chain.
    pub beside: &'static [&'static str],
    /// Only while a connection was being made.
    pub connecting: bool,
    /// What it means then.
    pub meaning: Meaning,
}

impl Rule {
    /// For these classes.
    pub const fn class(classes: &'static [&'static str], meaning: Meaning) -> Self {
        Self { classes, codes: &[], words: &[], without: &[], beside: &[], connecting: false, meaning }
    }

    /// For these symbols, whatever the class.
    pub const fn code(codes: &'static [&'static str], meaning: Meaning) -> Self {
        Self { classes: &[], codes, words: &[], without: &[], beside: &[], connecting: false, meaning }
    }

    /// Only with one of these symbols.
    pub const fn codes(mut self, codes: &'static [&'static str]) -> Self {
        self.codes = codes;
        self
    }

    /// Only with one of these words.
    pub const fn words(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Not with one of these words.
    pub const fn without(mut self, words: &'static [&'static str]) -> Self {
        self.without = words;
        self
    }

    /// Only with one of these in a frame or a message of the chain.
    pub const fn beside(mut self, texts: &'static [&'static str]) -> Self {
        self.beside = texts;
        self
    }

    /// Only while a connection was being made.
    pub const fn connecting(mut self) -> Self {
        self.connecting = true;
        self
    }

    /// Whether the row fits.
    pub fn fits(&self, seen: &Seen<'_>) -> bool {
        (self.classes.is_empty() || self.classes.iter().any(|class| seen.is_class(class)))
            && (self.codes.is_empty() || self.codes.iter().any(|code| seen.has_code(code)))
            && (self.words.is_empty() || self.words.iter().any(|words| seen.message.contains(words)))
            && !self.without.iter().any(|words| seen.message.contains(words))
            && (self.beside.is_empty() || self.beside.iter().any(|text| seen.beside.iter().any(|b| b.contains(text))))
            && (!self.connecting || seen.is_connecting())
    }
}

/// One exception of a chain, prepared for being held against many rows.
pub struct Seen<'a> {
    /// The exception.
    pub thrown: &'a Thrown,
    /// Its class without the package, which each row asks for.
    pub class: &'a str,
    /// Its message in lower case.
    pub message: String,
    /// The frames and messages of the whole chain: a printed trace shows an inner exception's words before the outer
    /// one's frames.
    pub beside: &'a [&'a str],
    /// Whether a connection was being made, once a row has asked for it.
    connecting: OnceCell<bool>,
}

const CONNECTING_WORDS: &[&str] = &[
    "connect timed out",
    "connect timeout",
    "connecting to",
    "while connecting",
    "failed to connect",
    "couldn't connect",
    "could not connect",
    "cannot connect",
    "connection to server at",
    "connect failed",
    "connect call failed",
    "dial tcp",
    "connect econn",
    "connect etimedout",
    "connect ehost",
    "connect enet",
    "establish a new connection",
    "connection attempt",
    "timed out: connect",
    "connection establishment",
    "connection timeout to host",
];
/// Words that say that the exchange had gone further, whatever the frames are.
const EXCHANGING_WORDS: &[&str] = &["read timed out", "(read failed)", "(write failed)", "receive timed out"];

/// What stands in the tables for words near an exception, which have no class.
const NEAR: &str = "Near";

impl<'a> Seen<'a> {
    /// An exception, and the frames and messages of its whole chain.
    pub fn new(thrown: &'a Thrown, beside: &'a [&'a str]) -> Self {
        let (class, message) = (thrown.simple_class(), thrown.message.to_lowercase());
        Self { thrown, class, message, beside, connecting: OnceCell::new() }
    }

    fn is_connecting(&self) -> bool {
        let says = |words: &[&str]| words.iter().any(|words| self.message.contains(words));
        *self.connecting.get_or_init(|| match self.thrown.phase {
            Some(Phase::Resolve | Phase::Connect | Phase::Handshake) => true,
            Some(_) => false,
            None if says(EXCHANGING_WORDS) => false,
            // Windows has one sentence for both.
            None if self.message.contains("or established connection failed") => connecting::is_proved(&self.thrown.frames),
            None => says(CONNECTING_WORDS) || connecting::is_proved(&self.thrown.frames),
        })
    }

    /// The simple name under which the rules for its class are found.
    pub fn key(&self) -> &str {
        if self.thrown.link == Link::Near { NEAR } else { self.class }
    }

    fn is_class(&self, class: &str) -> bool {
        if self.thrown.link == Link::Near {
            return class == NEAR;
        }
        if let Some(end) = class.strip_prefix('*') {
            return self.class.ends_with(end);
        }
        if !class.contains('.') {
            return self.class == class;
        }
        self.thrown.class.strip_suffix(class).is_some_and(|before| before.is_empty() || before.ends_with(['.', '/']))
    }

    fn has_code(&self, code: &str) -> bool {
        match &self.thrown.code {
            Some(own) => own == code,
            None => contains_word(&self.thrown.message, code),
        }
    }
}

/// Whether `word` stands in `text` and not within a longer word.
pub fn contains_word(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let found = |at: &usize| !text[..*at].ends_with(joins) && !text[at + word.len()..].starts_with(joins);
    memmem::find_iter(text.as_bytes(), word).any(|at| found(&at))
}
