//! The structured form of a failure: what was thrown, why, and what stood beside it.
//!
//! Exception objects, descriptions and text all lead to a [`Chain`]; the rules know nothing else.

use super::{CompletionStatus, Minor, Phase};

/// How one thrown exception hangs on the one before it in its chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// It is what the caller saw.
    #[default]
    Outermost,
    /// `Caused by:`, Python's "direct cause".
    Cause,
    /// `; nested exception is:`.
    Nested,
    /// `[Root exception is X]`, `. Root exception is X`.
    Root,
    /// Python's "during handling of the above exception".
    Context,
    /// No words say how: glued behind a colon, or in a row with the one before, as several attempts are.
    Beside,
    /// No exception: a line near it that tells more, such as a TLS library's complaint.
    Near,
}

impl Link {
    /// The word on the Python side, e.g. `"cause"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outermost => "outermost",
            Self::Cause => "cause",
            Self::Nested => "nested",
            Self::Root => "root",
            Self::Context => "context",
            Self::Beside => "beside",
            Self::Near => "near",
        }
    }

    /// The link of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Outermost, Self::Cause, Self::Nested, Self::Root, Self::Context, Self::Beside, Self::Near]
            .into_iter()
            .find(|link| link.as_str() == word)
    }
}

/// One thrown exception, as far as it is known. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thrown {
    /// Its class as printed: `org.omg.CORBA.TRANSIENT`, `ConnectionRefusedError`, `omniORB.CORBA.TIMEOUT`.
    pub class: String,
    /// Its message, without the classes that follow in the chain.
    pub message: String,
    /// How it hangs on the one before it.
    pub link: Link,
    /// The completion status printed on it, or carried by it.
    pub completed: Option<CompletionStatus>,
    /// The minor code of a CORBA system exception, vendor id included.
    pub minor: Option<Minor>,
    /// The forms in which the minor code was given disagree.
    pub minor_in_doubt: bool,
    /// A symbol that says more than the class: a gRPC status (`UNAVAILABLE`), an errno (`ECONNRESET`), a product's
    /// code (`EJBCLIENT000025`).
    pub code: Option<String>,
    /// How far the exchange had come, where that is known.
    pub phase: Option<Phase>,
    /// The uppermost stack frames, the one that threw first.
    pub frames: Vec<String>,
    /// The line of the text it stands in, from 1; 0 where there is none.
    pub line: u64,
}

impl Thrown {
    /// An exception of that class and message, about which nothing else is known.
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class: class.into(), message: message.into(), ..Self::default() }
    }

    /// The class without its package: `TRANSIENT` of `org.omg.CORBA.TRANSIENT`.
    pub fn simple_class(&self) -> &str {
        Self::simple_name(&self.class)
    }

    /// A class without its package.
    pub(super) fn simple_name(class: &str) -> &str {
        let at = class.bytes().rposition(|b| matches!(b, b'.' | b':' | b'/' | b'$'));
        at.map_or(class, |at| &class[at + 1..])
    }
}

/// A failure: what was thrown, from what the caller saw to the deepest cause, and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// From the outermost to the deepest.
    pub thrown: Vec<Thrown>,
    /// The chains that stand beside it as evidence, not as causes: Java's `Suppressed:`, the members of a Python
    /// exception group, one for each server tried.
    pub parts: Vec<Vec<Thrown>>,
    /// Another reading of the same text, whose layout doesn't show what belongs to what. The worse one counts.
    pub otherwise: Option<Box<Chain>>,
}

impl Chain {
    /// Whether nothing was thrown.
    pub fn is_empty(&self) -> bool {
        self.thrown.is_empty() && self.parts.is_empty()
    }
}
