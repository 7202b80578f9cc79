//! How two records of one name become one: commutative, associative, idempotent.
//!
//! A version stays where both have it; where only one has it, the other either has not heard of it (it stays) or has
//! seen it superseded (it goes). What a side has seen at this name is told by its record; the receiver's own context
//! adds what it has seen anywhere: a version that it saw and no longer has was superseded and perhaps purged.

use std::sync::Arc;

use super::record::{Record, Sibling};
use super::rules::{Rule, Rules};
use super::vector::Seen;

/// The receiver's side of a merge.
#[derive(Clone, Copy, Debug)]
pub struct Merge<'a> {
    /// All that the receiver has seen.
    pub seen: &'a Seen,
    /// All that the sender has seen, in a full sync only: there a version that the sender has seen and lacks was
    /// superseded, even where the sender has purged every trace of it.
    pub sender: Option<&'a Seen>,
    /// The rules in force.
    pub rules: Rules,
}

impl Merge<'_> {
    /// The merged record; `None` where nothing would be known that wasn't before.
    pub fn apply(&self, local: Option<&Record>, remote: &Record) -> Option<Record> {
        let nothing = Record::default();
        let mine = local.unwrap_or(&nothing);
        let siblings = self.siblings(mine, remote);
        // A record that is empty and brings no new write would bring back a tombstone that was purged here.
        let brings_news = remote.last.iter().any(|dot| !self.seen.has(dot));
        if local.is_none() && siblings.is_empty() && !brings_news {
            return None;
        }
        let is_same = siblings.iter().map(|s| s.dot).eq(mine.siblings.iter().map(|s| s.dot));
        if is_same && local.is_some() && mine.knows(remote) {
            return None;
        }
        let (mut last, mut coverage, mut history) = (mine.last.clone(), mine.coverage.clone(), mine.history.clone());
        last.join(&remote.last);
        coverage.join(&remote.coverage);
        history.join(&remote.history);
        Some(Record { siblings, last, coverage, history })
    }

    fn siblings(&self, mine: &Record, theirs: &Record) -> Vec<Arc<Sibling>> {
        let superseded = |s: &Sibling| {
            let dropped = self.sender.is_some_and(|sender| sender.has(s.dot)) && self.rules.hold(Rule::FullSyncDrops);
            theirs.has_seen(s.dot) || dropped
        };
        let kept = mine.siblings.iter().filter(|s| theirs.sibling(s.dot).is_some() || !superseded(s));
        let unheard = |s: &Sibling| !self.seen.has(s.dot) && !mine.has_seen(s.dot);
        let added = theirs.siblings.iter().filter(|s| mine.sibling(s.dot).is_none() && unheard(s));
        let mut siblings: Vec<Arc<Sibling>> = kept.chain(added).cloned().collect();
        siblings.sort_unstable_by_key(|sibling| sibling.dot);
        siblings.shrink_to_fit();
        siblings
    }
}
