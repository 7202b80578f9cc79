//! What a client has seen of the cluster tree, and which servers are known to have all of it.
//!
//! It reads its own writes, and never an older state than before, whichever server it turns to (3.5): a request says what
//! was seen, unless the server is known to have that. A node only ever learns more, so what it once had it has; a server
//! that failed may come back as another, of which nothing is known.

use std::time::Duration;

use crate::protocol::{Brought, Known, Seen};

/// For how long a client that took what there was goes on to do so before it insists again.
const SETTLES_FOR: Duration = Duration::from_secs(1);

/// What a client has seen.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Its names are those of the whole cluster; it tells and hears nothing otherwise.
    is_of_cluster: bool,
    seen: Seen,
    /// How many times that has changed.
    changes: u64,
    /// Until then it takes what there is.
    settles_until: Duration,
}

/// How much of what a client has seen a server has: all, as of so many changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent(u64);

impl Session {
    pub(super) fn new(is_of_cluster: bool) -> Self {
        Self { is_of_cluster, ..Self::default() }
    }

    /// A server said what was seen with its replies. Gives how much it has of all that was seen, where that is all.
    pub(super) fn saw(&mut self, brought: &Brought) -> Option<Extent> {
        let Brought { seen, is_here } = brought;
        if !self.is_of_cluster {
            return None;
        }
        if !self.seen.includes(seen) {
            self.seen.join(seen);
            self.changes += 1;
        }
        (*is_here && seen.includes(&self.seen)).then_some(Extent(self.changes))
    }

    /// What to tell a server that has so much; `None` where it has all. With `settles` it may lack some.
    pub(super) fn told(&self, extent: Extent, settles: bool) -> Option<Box<Known>> {
        let is_told = self.is_of_cluster && (settles || extent.0 < self.changes);
        is_told.then(|| Box::new(Known { seen: self.seen.clone(), is_required: !settles }))
    }

    /// How much a server has that answers what says all that was seen.
    pub(super) fn extent(&self) -> Extent {
        Extent(self.changes)
    }

    /// Whether it takes what there is, as no server had all a moment ago.
    pub(super) fn settles(&self, now: Duration) -> bool {
        now < self.settles_until
    }

    /// An answer came that lacks some, or (not stale) none.
    pub(super) fn answered(&mut self, is_stale: bool, now: Duration) {
        self.settles_until = if is_stale { now + SETTLES_FOR } else { Duration::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::Version;
    use crate::protocol::Vector;

    fn seen(dots: &[(u128, u64)]) -> Seen {
        dots.iter().map(|&(actor, sequence)| Version { actor, sequence }).collect::<Vector>().into()
    }

    fn here(dots: &[(u128, u64)]) -> Brought {
        Brought { seen: seen(dots), is_here: true }
    }

    #[test]
    fn what_another_node_made_is_not_here() {
        let mut session = Session::new(true);
        assert_eq!(session.saw(&Brought { is_here: false, ..here(&[(1, 1)]) }), None);
        assert!(session.told(Extent::default(), false).is_some());
    }

    #[test]
    fn who_is_known_to_have_all_is_told_nothing() {
        let mut session = Session::new(true);
        assert_eq!(session.told(Extent::default(), false), None, "nothing was seen");
        let all = session.saw(&here(&[(1, 5)])).unwrap();
        assert_eq!(session.told(all, false), None);
        let known = session.told(Extent::default(), false).unwrap();
        assert_eq!((known.seen, known.is_required), (seen(&[(1, 5)]), true));
        // Another server is behind; a third has more of one and less of the other.
        assert_eq!(session.saw(&here(&[(1, 4)])), None);
        assert_eq!(session.told(all, false), None);
        assert_eq!(session.saw(&here(&[(2, 1)])), None);
        assert_eq!(session.told(all, false).unwrap().seen, seen(&[(1, 5), (2, 1)]));
    }

    #[test]
    fn who_settles_says_so_for_a_while() {
        let mut session = Session::new(true);
        let at = Duration::from_secs(5);
        assert!(!session.settles(at));
        session.answered(true, at);
        assert!(session.settles(at) && !session.settles(at + SETTLES_FOR));
        let all = session.saw(&here(&[(1, 1)])).unwrap();
        assert!(!session.told(all, true).unwrap().is_required, "that is said even to who has all");
        session.answered(false, at);
        assert!(!session.settles(at));
    }
}
