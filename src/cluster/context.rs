//! What stands at a name of the replicated tree: a value, a context, or both at once.
//!
//! Records know nothing of each other, so two sides of a split can bind `a` and `a/b`. Then `a` is a context, for
//! something lies under it, and a value, for somebody bound one: the context is shown, since what lies under it could
//! not be reached otherwise, and the pair is a conflict. For the same reason a destroy that was concurrent with a bind
//! beneath leaves the context: it exists while it was created and not destroyed, *or* anything lies under it.

use std::sync::Arc;

use crate::naming::{EntryKind, Name};

use super::record::Sibling;
use super::replica::Replica;

/// What a reader is shown at a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// Nothing is bound.
    Nothing,
    /// A context; by whose creation, unless only what lies under it makes it one.
    Context(Option<Arc<Sibling>>),
    /// A value, reference or link.
    Value(Arc<Sibling>),
}

/// A name at which several versions disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The name.
    pub name: Name,
    /// All versions, in the order of their writes: the losers' values are kept.
    pub versions: Vec<Arc<Sibling>>,
    /// A context is shown for what lies under it.
    pub is_implied: bool,
}

impl Replica {
    /// What stands at a name. The root is always a context.
    pub fn shown(&self, name: &Name) -> Shown {
        let sibling = self.record(name).and_then(|record| record.shown()).cloned();
        match sibling {
            Some(context) if context.content.kind == EntryKind::Context => Shown::Context(Some(context)),
            _ if self.is_implied(name) => Shown::Context(None),
            Some(value) => Shown::Value(value),
            None => Shown::Nothing,
        }
    }

    /// Whether anything lies under a name, or it is the root.
    pub fn is_implied(&self, name: &Name) -> bool {
        name.is_empty() || self.beneath(name).any(|(at, record)| at != name && !record.is_tombstone())
    }

    /// The names at which versions disagree, or a value stands where a context is.
    pub fn conflicts(&self) -> impl Iterator<Item = Conflict> + '_ {
        self.records().filter_map(|(name, record)| {
            let is_hidden = record.siblings.iter().any(|s| s.content.kind != EntryKind::Context);
            let is_implied = is_hidden && self.is_implied(name);
            let conflict = || Conflict { name: name.clone(), versions: record.siblings.clone(), is_implied };
            (record.is_conflict() || is_implied).then(conflict)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::cluster::replica::Draft;
    use crate::cluster::rules::Rules;
    use crate::naming::Content;
    use crate::protocol::OperationId;

    const NOW: Duration = Duration::from_secs(1);

    fn replica(seed: u64) -> Replica {
        Replica::new(Arc::from("n"), NOW, StdRng::seed_from_u64(seed), Rules::ALL)
    }

    fn write(replica: &mut Replica, name: &str, content: Option<Content>) {
        let sequence = replica.written() + 1;
        let operation = Some((OperationId { client: replica.actor(), sequence }, 0));
        replica.write(NOW, &parse(name), Draft { content, keep: Vec::new(), created: None, operation });
    }

    fn exchange(a: &mut Replica, b: &mut Replica) {
        for _ in 0..2 {
            let (request, mut pull) = a.begin_pull();
            for part in b.answer_pull(&request) {
                a.take_part(NOW, &mut pull, part);
            }
            std::mem::swap(a, b);
        }
    }

    fn parse(name: &str) -> Name {
        Name::parse(name).unwrap()
    }

    #[test]
    fn what_lies_under_a_name_makes_it_a_context_while_it_lies_there() {
        let mut one = replica(1);
        write(&mut one, "a/b/c", Some(Content::link("x")));
        assert_eq!(one.shown(&parse("a")), Shown::Context(None));
        assert_eq!(one.shown(&parse("a/b")), Shown::Context(None));
        write(&mut one, "a/b/c", None);
        assert_eq!(one.shown(&parse("a/b")), Shown::Nothing);
        assert_eq!(one.shown(&Name::empty()), Shown::Context(None));
    }

    #[test]
    fn a_context_hides_a_value_and_the_pair_is_a_conflict_on_both_sides() {
        let (mut one, mut two) = (replica(1), replica(2));
        write(&mut one, "a", Some(Content::link("x")));
        write(&mut two, "a/b", Some(Content::link("y")));
        exchange(&mut one, &mut two);
        for side in [&one, &two] {
            assert_eq!(side.shown(&parse("a")), Shown::Context(None));
            let conflicts: Vec<Conflict> = side.conflicts().collect();
            assert_eq!(conflicts.len(), 1);
            assert!(conflicts[0].is_implied && conflicts[0].name == parse("a"));
            assert_eq!(conflicts[0].versions[0].content, Content::link("x"));
        }
        // A later write that saw both ends it.
        write(&mut two, "a", None);
        exchange(&mut one, &mut two);
        assert_eq!(one.conflicts().count(), 0);
    }

    #[test]
    fn a_destroy_concurrent_with_a_bind_beneath_leaves_the_context() {
        let (mut one, mut two) = (replica(1), replica(2));
        write(&mut one, "a", Some(Content::context()));
        exchange(&mut one, &mut two);
        assert!(matches!(two.shown(&parse("a")), Shown::Context(Some(_))));
        write(&mut one, "a", None);
        write(&mut two, "a/b", Some(Content::link("y")));
        exchange(&mut one, &mut two);
        for side in [&one, &two] {
            assert_eq!(side.shown(&parse("a")), Shown::Context(None));
            assert_eq!(side.conflicts().count(), 0);
        }
    }

    #[test]
    fn of_two_values_the_first_created_is_shown_and_both_are_kept() {
        let (mut one, mut two) = (replica(1), replica(2));
        write(&mut one, "a", Some(Content::link("first")));
        two.tick(NOW + Duration::from_millis(5));
        write(&mut two, "a", Some(Content::link("second")));
        exchange(&mut one, &mut two);
        for side in [&one, &two] {
            assert!(matches!(side.shown(&parse("a")), Shown::Value(s) if s.content == Content::link("first")));
            assert_eq!(side.conflicts().map(|conflict| conflict.versions.len()).collect::<Vec<_>>(), [2]);
        }
    }
}
