//! How an operation's error speaks of it: which name it is about, where links had led, and what is undecided.

use std::fmt::Write as _;

use crate::naming::shown::Short;
use crate::naming::{ErrorKind, Name, NamingError};

use super::mutate::Write;
use super::{Invocation, Kind};

/// Names that a message lists at most.
const LISTED: usize = 5;

impl Invocation {
    /// The name that an error is about, as the caller gave it: of a rename it may be the new one. `None` where the
    /// operation is of no name, or of several of which nothing is said.
    pub(in super::super) fn concerned(&self, error: &NamingError) -> Option<&str> {
        match &self.kind {
            Kind::Write(Write::Rename { to_given, .. }) if self.is_about_new_name(error) => Some(to_given.as_str()),
            Kind::Many(many) => match error.kind() {
                ErrorKind::ServiceUnavailable | ErrorKind::Communication | ErrorKind::TimeLimitExceeded => {
                    many.undecided().next()
                }
                _ => None,
            },
            _ => self.given().map(Name::as_str),
        }
    }

    /// The message of an answer, saying where links had led that it's not about the name itself.
    pub(in super::super) fn told(&self, error: &NamingError) -> String {
        let message = &error.fields().message;
        let is_about_a_name = matches!(
            error.kind(),
            ErrorKind::NameNotFound | ErrorKind::NotContext | ErrorKind::NameAlreadyBound | ErrorKind::ContextNotEmpty
        );
        match self.led_to(error) {
            Some(name) if is_about_a_name => format!("leads to '{}' by a link: {message}", Short(name.as_str())),
            _ => message.clone(),
        }
    }

    /// How far a name was resolved and what remained, as the caller's context sees it, where that is not the root.
    pub(in super::super) fn seen_from_its_context(&self, error: &NamingError) -> Option<(String, String)> {
        let context = self.subject.full.len().checked_sub(self.subject.given.len()).filter(|length| *length > 0)?;
        let context = self.subject.full.prefix(context);
        let resolved = Name::parse(error.fields().resolved_name.as_deref()?).ok()?;
        let remaining = Name::parse(error.fields().remaining_name.as_deref()?).ok()?;
        if resolved.starts_with(&context) {
            return Some((resolved.suffix(context.len()).to_string(), remaining.to_string()));
        }
        // It was not even resolved to the context, so nothing of what was given was.
        let whole = resolved.join(&remaining);
        whole.starts_with(&context).then(|| (String::new(), whole.suffix(context.len()).to_string()))
    }

    /// What is said where some nodes were silent and nobody who answered has it.
    pub(in super::super) fn told_of_silence(&self, not_context: Option<&str>) -> String {
        match &self.kind {
            Kind::Lookup { name, .. } => {
                let led =
                    self.walk.as_ref().map_or_else(String::new, |_| format!("leads to '{}' by a link: ", Short(name.as_str())));
                let why =
                    not_context.map_or_else(String::new, |on_the_way| format!(": '{}' is not a context", Short(on_the_way)));
                format!("{led}not every node answered, and none that did has it{why}")
            }
            _ => "not every node answered".to_owned(),
        }
    }

    /// What a node has said that answered where others were silent.
    pub(in super::super) fn answer_beside_silence(&self, some_not_context: bool) -> &'static str {
        match (self.is_lookup(), some_not_context) {
            (false, _) => "answered",
            // Which of them said so is not told.
            (true, true) => "does not have it",
            (true, false) => "no such name",
        }
    }

    /// The names that are undecided together with the one that the error bears, as a message's beginning.
    pub(in super::super) fn others_undecided(&self) -> String {
        let Kind::Many(many) = &self.kind else { return String::new() };
        let others = many.undecided().len().saturating_sub(1);
        if others == 0 {
            return String::new();
        }
        let listed: Vec<String> = many.undecided().skip(1).take(LISTED).map(|name| format!("'{}'", Short(name))).collect();
        let mut told = format!("undecided, like {}", listed.join(", "));
        if others > LISTED {
            let _ = write!(told, " and {} more", others - LISTED);
        }
        told.push_str(": ");
        told
    }

    /// Where links had led, of the name that an error is about.
    fn led_to(&self, error: &NamingError) -> Option<&Name> {
        let (name, walk) = match &self.kind {
            Kind::Lookup { name, .. } | Kind::List { name, .. } => (name, &self.walk),
            Kind::Write(Write::Rename { to, to_walk, .. }) if self.is_about_new_name(error) => (to, to_walk),
            Kind::Write(write) => (write.name(), &self.walk),
            _ => return None,
        };
        walk.is_some().then_some(name)
    }

    /// Whether a rename's error is about the new name: that is the one that can be taken, and where a way was not
    /// found the error tells which.
    fn is_about_new_name(&self, error: &NamingError) -> bool {
        let Kind::Write(Write::Rename { from, to, .. }) = &self.kind else { return false };
        let fields = error.fields();
        let told = fields.resolved_name.as_deref().zip(fields.remaining_name.as_deref());
        let told = told.and_then(|(resolved, remaining)| Some(Name::parse(resolved).ok()?.join(&Name::parse(remaining).ok()?)));
        error.kind() == ErrorKind::NameAlreadyBound || (from != to && told.is_some_and(|told| told == *to))
    }
}
