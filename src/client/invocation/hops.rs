//! What a node's answer means for the operation that asked.

use std::sync::Arc;

use crate::failure::CompletionStatus;
use crate::naming::LinkWalk;
use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::{Answer, LinkMet, Page};

use super::super::trail::Outcome;
use super::{Aim, Freshness, Invocation, Kind, Located, Product};

/// What comes after a node's answer.
#[derive(Debug)]
pub(in super::super) enum Next {
    /// The operation is done; the outcome says in a word what the answer was.
    Done(Product, Outcome),
    /// A link leads on to this target: there is another request.
    Link(Box<str>),
    /// There is more to ask for.
    More,
    /// Nobody whom the node heard has it, and these others were silent: another server may know more.
    /// `not_context` is what some of those who answered have on the way to the name.
    Incomplete { answered: Vec<Arc<str>>, silent: Vec<Arc<str>>, not_context: Option<String> },
    /// The operation failed.
    Fail(NamingError),
}

impl Next {
    pub(super) fn done(product: Product) -> Self {
        let word = match &product {
            Product::Found(_) => "found",
            Product::Absent => "no such name",
            Product::Many(_)
            | Product::Survey(_)
            | Product::Listing(_)
            | Product::Watched(_)
            | Product::Report(_)
            | Product::Became(_)
            | Product::Status(_) => "answered",
            Product::Written(_) | Product::Removed { .. } | Product::Accepted => "done",
        };
        Self::Done(product, Outcome::Answered(word))
    }
}

/// A node's answer that is none to what was asked.
pub(in super::super) fn unexpected(what: &str) -> NamingError {
    let message = format!("the node's answer is none to what was asked: {what}");
    NamingError::new(ErrorKind::Internal, message).with_completion(CompletionStatus::Yes)
}

/// The name behind a link that was met on the way to `name`, which the caller gave as `given`.
pub(super) fn follow(walk: &mut Option<LinkWalk>, name: &Name, given: &Name, met: &LinkMet) -> Result<Name, NamingError> {
    let walk = walk.get_or_insert_with(|| LinkWalk::new(name.clone()));
    let mut behind = || walk.follow(&Name::parse(&met.at)?, &met.target, &Name::parse(&met.rest)?);
    behind().map_err(|error| error.with_name(given.as_str()))
}

pub(super) fn accept(invocation: &mut Invocation, answer: Answer) -> Next {
    match (&mut invocation.kind, answer) {
        (Kind::Lookup { name, .. }, Answer::Found(found)) => {
            let at = invocation.walk.is_some().then(|| name.clone());
            Next::done(Product::Found(Located { found, at, freshness: Freshness::Asked }))
        }
        (Kind::Lookup { aim: Aim { follow_last: false, .. }, .. }, Answer::Link(met)) if met.rest.is_empty() => {
            Next::done(Product::Found(Located { found: met.found, at: None, freshness: Freshness::Asked }))
        }
        (Kind::Lookup { name, .. } | Kind::List { name, .. }, Answer::Link(met)) => {
            match follow(&mut invocation.walk, name, &invocation.subject.given, &met) {
                Ok(behind) => {
                    *name = behind;
                    Next::Link(met.target.into())
                }
                Err(error) => Next::Fail(error),
            }
        }
        (Kind::Many(many), Answer::Many(items)) => many.accept(&items),
        (Kind::Survey, Answer::Survey(items)) => Next::done(Product::Survey(items)),
        (Kind::List { rows, .. }, Answer::Page(Page { entries, more })) => {
            if more && entries.is_empty() {
                return Next::Fail(unexpected("a page without rows that says there are more"));
            }
            rows.extend(entries);
            if more { Next::More } else { Next::done(Product::Listing(std::mem::take(rows))) }
        }
        (Kind::Write(write), Answer::Link(met)) => match write.follow(&met, &invocation.subject.given, &mut invocation.walk) {
            Ok(()) => Next::Link(met.target.into()),
            Err(error) => Next::Fail(error),
        },
        (Kind::Write(_), Answer::Written(written)) => Next::done(Product::Written(written)),
        (Kind::Write(_), Answer::Removed { existed, written }) => Next::done(Product::Removed { existed, written }),
        (Kind::Watch(_), Answer::Watched(watched)) => Next::done(Product::Watched(watched)),
        (Kind::Check, Answer::Report(report)) => Next::done(Product::Report(report)),
        (Kind::Status, Answer::Status(status)) => Next::done(Product::Status(status)),
        (Kind::Became(_), Answer::Became(became)) => Next::done(Product::Became(became)),
        (Kind::Quiesce | Kind::Forget(_), Answer::Accepted) => Next::done(Product::Accepted),
        (_, answer) => Next::Fail(unexpected(word(&answer))),
    }
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Found(_) => "a binding",
        Answer::Link(_) => "a link",
        Answer::Many(_) => "many bindings",
        Answer::Survey(_) => "a survey",
        Answer::Page(_) => "a page",
        Answer::Written(_) => "a write",
        Answer::Removed { .. } => "a removal",
        Answer::Report(_) => "a report",
        Answer::Status(_) => "a status",
        Answer::Accepted => "an acceptance",
        Answer::Gossip(_) => "gossip",
        Answer::Watched(_) => "news of watched names",
        Answer::Became(_) => "what became of a change",
    }
}
