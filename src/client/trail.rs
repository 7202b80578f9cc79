//! The tries of one call, kept cheaply: a call that succeeds at once formats nothing. Words are made when somebody asks.

use std::sync::Arc;
use std::time::Duration;

use crate::failure::{Attempt, CompletionStatus, Phase};
use crate::naming::ErrorKind;
use crate::naming::shown::{OneLine, Short};
use crate::protocol::RefusalReason;
use crate::transport::TransportErrorKind;

use super::words::seconds;

/// So many tries are kept of one call: the first and the last ones.
const KEPT: usize = 64;
/// Of those, so many are the first ones.
const KEPT_FIRST: usize = 8;

/// What came of one try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The answer that was wanted, in a word.
    Answered(&'static str),
    /// A link, which leads on.
    Link(Box<str>),
    /// A naming answer: no such name, already bound, ….
    Fault(ErrorKind, Box<str>),
    /// What the nodes said that it had an answer of, and those that were silent.
    Incomplete { answer: &'static str, answered: Vec<Arc<str>>, silent: Vec<Arc<str>> },
    /// Refused before it ran.
    Refused(RefusalReason),
    /// The exchange broke.
    Broke(TransportErrorKind),
    /// A call that the program made itself failed, in words.
    Failed(Box<str>),
    /// The host name has no address.
    Unresolvable(Box<str>),
    /// The caller gave up.
    Abandoned,
}

/// Why there was another try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    /// It did not run there.
    NotRun,
    /// A read may be asked again.
    ReadAgain,
    /// It may have run, and is recognised when it is sent again.
    Recognised,
    /// It may run twice.
    Idempotent,
    /// The connection had been idle and was found dead; the server may be well.
    Fresh,
    /// Other servers may know what silent nodes have.
    MayKnowMore,
    /// All had their turn; another round.
    NextRound,
    /// The link leads on.
    Link,
    /// There are more rows, or more names.
    More,
    /// It's waited for.
    Waiting,
    /// No server has all that this client has seen.
    NobodyHasAll,
}

impl Why {
    fn words(&self) -> &'static str {
        match self {
            Self::NotRun => "the request did not run there",
            Self::ReadAgain => "a read may be asked again",
            Self::Recognised => "it may have run; sent again under its id it runs once",
            Self::Idempotent => "it may have run, and may run twice",
            Self::Fresh => "the connection had been idle; a fresh one is tried",
            Self::MayKnowMore => "another server may know more",
            Self::NextRound => "every server had its turn; one more round",
            Self::Link => "the link leads on",
            Self::More => "there is more to ask",
            Self::Waiting => "the name is waited for",
            Self::NobodyHasAll => "no server has all that this client has seen; what there is will do",
        }
    }
}

/// One try.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Try {
    pub(super) label: Arc<str>,
    pub(super) node: Option<Arc<str>>,
    pub(super) phase: Phase,
    pub(super) outcome: Outcome,
    pub(super) completion: CompletionStatus,
    pub(super) elapsed: Duration,
    /// It had less time than others, since the call was about to end.
    pub(super) hurried: bool,
    pub(super) why_next: Option<Why>,
    /// The answer is a node's that lacks some of what the client has seen.
    pub(super) is_stale: bool,
}

impl Try {
    /// The node's name, else `host:port`.
    pub(super) fn name(&self) -> &Arc<str> {
        self.node.as_ref().unwrap_or(&self.label)
    }

    /// What came of it, in words, on one line: some are a server's own.
    pub(super) fn words(&self) -> String {
        let told = self.told();
        let stale = if self.is_stale { " (stale)" } else { "" };
        format!("{}{stale}", OneLine(&told))
    }

    fn told(&self) -> String {
        match &self.outcome {
            Outcome::Answered(word) => (*word).to_owned(),
            Outcome::Link(target) => format!("a link to '{}'", Short(target)),
            Outcome::Fault(kind, message) => fault_words(*kind).map_or_else(|| message.to_string(), str::to_owned),
            Outcome::Incomplete { answer, silent, .. } => format!("{answer}; silent: {}", silent.join(", ")),
            Outcome::Refused(reason) => format!("refused: {}", reason.as_str()),
            Outcome::Broke(TransportErrorKind::TimedOut(_)) if self.phase == Phase::Connect => {
                format!("no connection in {}", seconds(self.elapsed))
            }
            Outcome::Broke(TransportErrorKind::TimedOut(_)) => format!("no answer in {}", seconds(self.elapsed)),
            Outcome::Broke(kind) => kind.to_string(),
            Outcome::Failed(words) => words.to_string(),
            Outcome::Unresolvable(why) => format!("name resolution failed: {why}"),
            Outcome::Abandoned => "given up by the caller".to_owned(),
        }
    }

    fn to_attempt(&self) -> Attempt {
        Attempt {
            target: self.label.to_string(),
            phase: self.phase,
            outcome: self.words(),
            completion: self.completion,
            elapsed: self.elapsed,
            why_next: self.why_next.as_ref().map(|why| why.words().to_owned()),
            is_stale: self.is_stale,
        }
    }
}

/// What may have run, by target: a later refusal there doesn't take it back, so it is told with it.
#[derive(Debug, Default)]
pub(super) struct Doubts(Vec<(Arc<str>, String)>);

impl Doubts {
    /// The try's words, after those of an earlier try at the same target that may have run where this one did not.
    pub(super) fn with(&mut self, attempt: &Try) -> String {
        let words = attempt.words();
        let doubt = self.0.iter_mut().find(|(name, _)| name == attempt.name());
        match (attempt.completion, doubt) {
            (CompletionStatus::Maybe, Some((_, before))) => before.clone_from(&words),
            (CompletionStatus::Maybe, None) => self.0.push((Arc::clone(attempt.name()), words.clone())),
            (CompletionStatus::No, Some((_, before))) => return format!("{before}, then {words}"),
            _ => {}
        }
        words
    }
}

/// The short words for naming answers; others speak for themselves.
fn fault_words(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NameNotFound => "no such name",
        ErrorKind::NotContext => "not a context",
        ErrorKind::NameAlreadyBound => "already bound",
        ErrorKind::ContextNotEmpty => "not empty",
        _ => return None,
    })
}

/// The tries of one call, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    tries: Vec<Try>,
    omitted: usize,
}

impl Trail {
    /// The trail of a lookup that a node of this process answered at once.
    pub(super) fn at_once(label: &Arc<str>, node: &Arc<str>) -> Self {
        let attempt = Try {
            label: Arc::clone(label),
            node: Some(Arc::clone(node)),
            phase: Phase::Answer,
            outcome: Outcome::Answered("found"),
            completion: CompletionStatus::Yes,
            elapsed: Duration::ZERO,
            hurried: false,
            why_next: None,
            is_stale: false,
        };
        Self { tries: vec![attempt], omitted: 0 }
    }

    pub(super) fn push(&mut self, attempt: Try) {
        if self.tries.len() == KEPT {
            self.tries.remove(KEPT_FIRST);
            self.omitted += 1;
        }
        if self.tries.is_empty() {
            // Most calls have one try.
            self.tries.reserve_exact(1);
        }
        self.tries.push(attempt);
    }

    /// The target with this label is this node: tries at it that were made before that was known count as the node's.
    pub(super) fn introduce(&mut self, label: &Arc<str>, node: &Arc<str>) {
        for attempt in self.tries.iter_mut().filter(|attempt| attempt.node.is_none() && attempt.label == *label) {
            attempt.node = Some(Arc::clone(node));
        }
    }

    /// Says why another try follows the last one.
    pub(super) fn explain_next(&mut self, why: Why) {
        if let Some(last) = self.tries.last_mut() {
            last.why_next = Some(why);
        }
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Try> {
        self.tries.last_mut()
    }

    pub(super) fn tries(&self) -> &[Try] {
        &self.tries
    }

    /// Each target's last word, in the order of their first.
    pub(super) fn last_words(&self) -> Vec<(Arc<str>, String)> {
        let mut doubts = Doubts::default();
        let mut words: Vec<(Arc<str>, String)> = Vec::new();
        for attempt in &self.tries {
            let told = doubts.with(attempt);
            match words.iter_mut().find(|(name, _)| name == attempt.name()) {
                Some((_, before)) => *before = told,
                None => words.push((Arc::clone(attempt.name()), told)),
            }
        }
        words
    }

    /// Whether some target that took a connection had not answered when it was tried last.
    pub(super) fn ended_in_silence(&self) -> bool {
        let mut seen: Vec<&Arc<str>> = Vec::new();
        self.tries.iter().rev().any(|attempt| {
            let is_last = !seen.contains(&&attempt.label);
            seen.push(&attempt.label);
            is_last
                && attempt.phase >= Phase::Handshake
                && matches!(attempt.outcome, Outcome::Broke(TransportErrorKind::TimedOut(_)))
        })
    }

    /// The tries in words. Of very many, the first and the last are kept.
    pub fn attempts(&self) -> Vec<Attempt> {
        let mut attempts: Vec<_> = self.tries.iter().map(Try::to_attempt).collect();
        if let Some(last) = attempts.last_mut() {
            // Another was meant to follow, and nobody was left.
            last.why_next = None;
        }
        attempts
    }

    /// Whether the answer is a node's that lacks some of what the client has seen of the cluster tree.
    pub fn is_stale(&self) -> bool {
        self.tries.last().is_some_and(|attempt| attempt.is_stale)
    }

    /// How many tries were made.
    pub fn len(&self) -> usize {
        self.tries.len() + self.omitted
    }

    /// Whether nothing was tried.
    pub fn is_empty(&self) -> bool {
        self.tries.is_empty()
    }
}
