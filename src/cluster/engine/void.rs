//! A repetition that slipped through is taken back.
//!
//! An operation may run twice: the first coordinator froze, a second one didn't hear of it. While both versions live
//! they count as one. But when one of them was superseded (somebody rebound or unbound the name since), the other must
//! not stand there as if it were new: it is voided, by an event that removes it alone. That its coordinator still gathers
//! acknowledgements for it is no reason to wait: a bind that came meanwhile would call the name taken.

use crate::cluster::history::{Event, Outcome};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::Name;

use super::Engine;

impl Engine {
    pub(super) fn void_repetitions(&mut self, name: &Name) {
        if !self.rules.hold(Rule::RepetitionsVoided) {
            return;
        }
        let Some(record) = self.replica.record(name) else { return };
        let was_superseded = |dot: Dot, outcome: Outcome| {
            !matches!(outcome, Outcome::Withdrawn | Outcome::Nothing)
                && self.replica.seen().has(dot)
                && record.sibling(dot).is_none()
        };
        let twin = |dot: Dot, operation| {
            let digest = record.history.get(dot).map(|event| event.digest);
            let is_twin = |event: &&Event| event.dot != dot && digest.is_none_or(|digest| event.digest == digest);
            let mut others = record.history.of(operation).filter(is_twin);
            others.find(|event| was_superseded(event.dot, event.outcome)).map(|event| event.dot)
        };
        let repeated: Vec<(Dot, Dot)> = record.siblings.iter().filter_map(|s| Some((s.dot, twin(s.dot, s.operation)?))).collect();
        for (dot, twin) in repeated {
            let writing = self.writings.remove(&dot);
            self.retract(name, dot, None);
            // Whoever waits for the repetition hears of the execution that counts.
            if let Some(writing) = writing {
                self.done(writing.operation, twin);
            }
        }
    }
}
