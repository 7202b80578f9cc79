//! What stands at a name of the replicated tree: a value, a context, or both at once.
//!
//! Records know nothing of each other, so two sides of a split can bind `a` and `a/b`. Then `a` is a context, for
//! something lies under it, and a value, for somebody bound one: the context is shown, since what lies under it could
//! not be reached otherwise, and the pair is a conflict. For the same reason a destroy that was concurrent with a bind
//! beneath leaves the context: it exists while it was created and not destroyed, *or* anything lies under it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::naming::Name;

use super::projection::Change;
use super::record::Sibling;
use super::replica::Replica;
use super::shown::Shown;

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
        self.projection.shown(&self.records, name)
    }

    /// Whether anything lies under a name, or it is the root.
    pub fn is_implied(&self, name: &Name) -> bool {
        self.projection.is_implied(name)
    }

    /// The first name directly beneath a context that exists, if there is one: its last component.
    pub fn child_of(&self, context: &Name) -> Option<Name> {
        let (name, _) = self.beneath(context).find(|(name, record)| *name != context && !record.is_tombstone())?;
        Some(name.slice(context.len()..=context.len()))
    }

    /// All that is shown, in the names' order: what a reader starts from.
    pub fn all_shown(&self) -> impl Iterator<Item = (Name, Shown)> + '_ {
        let live = self.records().filter(|(_, record)| !record.is_tombstone()).map(|(name, _)| name);
        let names: BTreeSet<&Name> = live.chain(self.projection.implied()).collect();
        names.into_iter().map(|name| (name.clone(), self.shown(name)))
    }

    /// What is shown otherwise than at the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.projection.take(&self.records)
    }

    /// A name's conflict, where versions disagree or a value stands where a context is.
    pub fn conflict(&self, name: &Name) -> Option<Conflict> {
        let record = self.record(name).filter(|_| self.projection.conflicts.contains(name))?;
        let is_implied = record.siblings.iter().any(|sibling| !sibling.is_context()) && self.is_implied(name);
        Some(Conflict { name: name.clone(), versions: record.siblings.clone(), is_implied })
    }

    /// At how many names versions disagree.
    pub fn conflict_count(&self) -> usize {
        self.projection.conflicts.len()
    }

    /// All conflicts, in the names' order.
    pub fn conflicts(&self) -> impl Iterator<Item = Conflict> + '_ {
        self.projection.conflicts.iter().filter_map(|name| self.conflict(name))
    }

    /// How many names are bound, and how many bytes their values take.
    pub fn size(&self) -> (u64, u64) {
        (self.projection.names, self.projection.bytes)
    }

    /// Equal on two nodes that have the same versions at the same names, and else, in all likelihood, not.
    pub fn digest(&self) -> u64 {
        self.projection.digest
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
        let operation = OperationId { client: replica.actor(), sequence };
        replica.write(NOW, &parse(name), Draft::of(operation, content));
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
