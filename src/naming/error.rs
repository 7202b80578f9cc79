//! The one error that users see.
//!
//! Its kinds are JNDI's. Each has a stable code on the wire; a code that this version does not know is carried as
//! [`ErrorKind::Unknown`] and never a crash. Nobody decides on an error's text.

use std::fmt;
use std::sync::Arc;

use crate::failure::{Attempt, CompletionStatus};

use super::entry::Listed;
use super::shown::{OneLine, Short};

/// What went wrong. Each kind's doc says what the caller should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Every live node answered that it has no such name. Bind it, or ask for another.
    NameNotFound,
    /// The name is taken. Use `rebind`, or another name.
    NameAlreadyBound,
    /// Something on the way (or the listed name) is not a context. Look at `resolved_name`.
    NotContext,
    /// The context has children. Remove them first.
    ContextNotEmpty,
    /// The name breaks a rule of names. Mend it.
    InvalidName,
    /// Links lead round in a circle or through too many hops. Mend the links.
    LinkLoop,
    /// A value or a request is over a limit. Make it smaller.
    LimitExceeded,
    /// The context or node is closed. Open a new one.
    ContextClosed,
    /// This node or version cannot do that. The message says what can.
    OperationNotSupported,
    /// An option, URL or address is wrong. Mend it.
    Configuration,
    /// Talking to the server broke. See `completion` for whether to send it again.
    Communication,
    /// No server could answer, or some node was silent where every node's word was needed. Try again later.
    ServiceUnavailable,
    /// The time given was too short. Give more, or see who was silent.
    TimeLimitExceeded,
    /// The value is no value: its bytes, or a string in it, are malformed. Mend it.
    InvalidValue,
    /// A fault of hanaming's own: please report it.
    Internal,
    /// A kind that a newer server knows and this version does not.
    Unknown(u16),
}

impl ErrorKind {
    /// The code on the wire. Never 0 (that is success), never reused, below 4096.
    pub fn code(self) -> u16 {
        match self {
            Self::NameNotFound => 1,
            Self::NameAlreadyBound => 2,
            Self::NotContext => 3,
            Self::ContextNotEmpty => 4,
            Self::InvalidName => 5,
            Self::LinkLoop => 6,
            Self::LimitExceeded => 7,
            Self::ContextClosed => 8,
            Self::OperationNotSupported => 9,
            Self::Configuration => 10,
            Self::Communication => 11,
            Self::ServiceUnavailable => 12,
            Self::TimeLimitExceeded => 13,
            Self::InvalidValue => 14,
            Self::Internal => 15,
            Self::Unknown(code) => code,
        }
    }

    /// The kind behind a code.
    pub fn from_code(code: u16) -> Self {
        match code {
            1 => Self::NameNotFound,
            2 => Self::NameAlreadyBound,
            3 => Self::NotContext,
            4 => Self::ContextNotEmpty,
            5 => Self::InvalidName,
            6 => Self::LinkLoop,
            7 => Self::LimitExceeded,
            8 => Self::ContextClosed,
            9 => Self::OperationNotSupported,
            10 => Self::Configuration,
            11 => Self::Communication,
            12 => Self::ServiceUnavailable,
            13 => Self::TimeLimitExceeded,
            14 => Self::InvalidValue,
            15 => Self::Internal,
            other => Self::Unknown(other),
        }
    }
}

/// What an error says beyond its message.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// Nothing more.
    #[default]
    None,
    /// What already stands at the name (`NameAlreadyBound`).
    Existing(Box<Listed>),
    /// The links followed, from the first to the one that closed the circle (`LinkLoop`).
    Chain(Vec<String>),
    /// Who answered and who did not (`ServiceUnavailable`, `TimeLimitExceeded`).
    Silence {
        /// The nodes that answered.
        answered: Vec<Arc<str>>,
        /// The nodes that did not.
        silent: Vec<Arc<str>>,
        /// What a listing had gathered so far.
        partial: Vec<Listed>,
    },
}

/// An operation's failure: what, at which part of the name, whether it ran, and every attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct NamingError(Box<Fields>);

/// The fields of a [`NamingError`].
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What went wrong, in words, without the name.
    pub message: String,
    /// The name as the caller gave it.
    pub name: Option<String>,
    /// The part of the name that was resolved.
    pub resolved_name: Option<String>,
    /// The part that could not be.
    pub remaining_name: Option<String>,
    /// Whether the operation ran.
    pub completion: CompletionStatus,
    /// The operation does no harm when it runs twice (a read).
    pub repeatable: bool,
    /// Every attempt that was made, in order.
    pub attempts: Vec<Attempt>,
    /// What the error says beyond that.
    pub detail: Detail,
    /// The id of a change that may have run, by which can be asked what became of it.
    pub operation: Option<String>,
}

impl NamingError {
    /// An error of this kind. It starts with completion `YES` for a naming answer (somebody decided), and `NO` for
    /// what was refused before anything was sent; [`with_completion`](Self::with_completion) says otherwise.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let completion = match kind {
            ErrorKind::NameNotFound
            | ErrorKind::NameAlreadyBound
            | ErrorKind::NotContext
            | ErrorKind::ContextNotEmpty
            | ErrorKind::LinkLoop => CompletionStatus::Yes,
            _ => CompletionStatus::No,
        };
        Self(Box::new(Fields {
            kind,
            message: message.into(),
            name: None,
            resolved_name: None,
            remaining_name: None,
            completion,
            repeatable: false,
            attempts: Vec::new(),
            detail: Detail::None,
            operation: None,
        }))
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fields, to read.
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    /// The fields, to take.
    pub fn into_fields(self) -> Fields {
        *self.0
    }

    /// Says it in other words.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Names what the caller asked for.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.0.name = Some(name.into());
        self
    }

    /// Unless it is said how far the name was resolved, nothing of it was.
    pub fn or_unresolved(mut self) -> Self {
        let fields = &mut *self.0;
        if let (Some(name), None, None) = (&fields.name, &fields.resolved_name, &fields.remaining_name) {
            (fields.resolved_name, fields.remaining_name) = (Some(String::new()), Some(name.clone()));
        }
        self
    }

    /// Names how far the name was resolved, and what remained.
    pub fn with_resolution(mut self, resolved: impl Into<String>, remaining: impl Into<String>) -> Self {
        self.0.resolved_name = Some(resolved.into());
        self.0.remaining_name = Some(remaining.into());
        self
    }

    /// Says whether the operation ran.
    pub fn with_completion(mut self, completion: CompletionStatus) -> Self {
        self.0.completion = completion;
        self
    }

    /// Says whether the operation does no harm when it runs twice.
    pub fn with_repeatable(mut self, repeatable: bool) -> Self {
        self.0.repeatable = repeatable;
        self
    }

    /// Adds the attempts made.
    pub fn with_attempts(mut self, attempts: Vec<Attempt>) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// Tells the id of a change that may have run.
    pub fn with_operation(mut self, operation: impl Into<String>) -> Self {
        self.0.operation = Some(operation.into());
        self
    }

    /// Adds what is said beyond the message.
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.0.detail = detail;
        self
    }

    /// Whether sending the same operation again can do no harm: it did not run, or nothing definite was said and
    /// running it twice is harmless.
    pub fn safe_to_retry(&self) -> bool {
        let fields = &self.0;
        let indefinite = matches!(
            fields.kind,
            ErrorKind::Communication | ErrorKind::ServiceUnavailable | ErrorKind::TimeLimitExceeded | ErrorKind::ContextClosed
        );
        fields.completion == CompletionStatus::No || (fields.repeatable && indefinite)
    }
}

impl fmt::Display for NamingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.name {
            Some(name) if !name.is_empty() => write!(f, "'{}': {}", Short(name), OneLine(&self.0.message)),
            _ => OneLine(&self.0.message).fmt(f),
        }
    }
}

impl std::error::Error for NamingError {}
