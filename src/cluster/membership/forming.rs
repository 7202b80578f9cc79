//! Which cluster this is: how ids are proposed, taken over, given up and defended.
//!
//! An id is *provisional* while the cluster forms and *firm* later. Between two nodes that meet there is one rule, and
//! both come to the same result, each on its own:
//!
//! | mine | theirs | result |
//! |---|---|---|
//! | none | none | what the lower node name proposes, provisional; a node proposes its incarnation |
//! | none | any | theirs |
//! | provisional | firm | theirs |
//! | provisional | provisional | the lower id: so all that meet end up with one |
//! | firm | firm, another | clash: neither gives way |
//!
//! A clash needs two clusters that were whole before they met, so an id must not become firm while its cluster forms
//! (see `firm` in [`Membership`](super::Membership)). One case remains: a node adopts another cluster's id in the very
//! moment in which its mates make theirs firm. Then they follow it, since it was one of them.

use crate::topology::{ClusterId, Member};

/// Which cluster a node belongs to, as far as it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) id: Option<ClusterId>,
    pub(super) firm: bool,
}

/// What a node does when it meets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// Keep what it has: the other is of the same cluster or gives way.
    Keep,
    /// Take this.
    Adopt(Identity),
    /// Two firm clusters.
    Clash,
}

impl Identity {
    /// The id that a node proposes for a cluster without one.
    pub(super) fn proposed_by(member: &Member) -> Self {
        Self { id: Some(ClusterId(member.id.0)), firm: false }
    }

    /// The rule of this module, as `me` sees it.
    pub(super) fn meet(self, me: &Member, theirs: Self, them: &Member) -> Meeting {
        match (self.id, theirs.id) {
            (None, None) => {
                let proposer = if (&me.name, me.id) < (&them.name, them.id) { me } else { them };
                Meeting::Adopt(Self::proposed_by(proposer))
            }
            (Some(_), None) => Meeting::Keep,
            (None, Some(_)) => Meeting::Adopt(theirs),
            (Some(mine), Some(other)) if mine == other => {
                if theirs.firm && !self.firm {
                    Meeting::Adopt(theirs)
                } else {
                    Meeting::Keep
                }
            }
            (Some(mine), Some(other)) => match (self.firm, theirs.firm) {
                (true, true) => Meeting::Clash,
                (false, true) => Meeting::Adopt(theirs),
                (false, false) if other < mine => Meeting::Adopt(theirs),
                (true | false, false) => Meeting::Keep,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Endpoint, MemberState, NodeId};

    fn member(name: &str, id: u128) -> Member {
        Member { name: name.to_owned(), id: NodeId(id), endpoint: Endpoint::new("::1", 1), state: MemberState::Joining }
    }

    fn identity(id: u128, firm: bool) -> Identity {
        Identity { id: Some(ClusterId(id)), firm }
    }

    #[test]
    fn the_whole_table() {
        let (a, b) = (member("a", 9), member("b", 5));
        let none = Identity::default();
        assert_eq!(none.meet(&a, none, &b), Meeting::Adopt(identity(9, false)));
        assert_eq!(none.meet(&b, none, &a), Meeting::Adopt(identity(9, false)));
        for firm in [true, false] {
            assert_eq!(none.meet(&a, identity(7, firm), &b), Meeting::Adopt(identity(7, firm)));
            assert_eq!(identity(7, firm).meet(&a, none, &b), Meeting::Keep);
            assert_eq!(identity(7, firm).meet(&a, identity(7, firm), &b), Meeting::Keep);
        }
        assert_eq!(identity(7, false).meet(&a, identity(7, true), &b), Meeting::Adopt(identity(7, true)));
        assert_eq!(identity(7, true).meet(&a, identity(7, false), &b), Meeting::Keep);
        assert_eq!(identity(7, false).meet(&a, identity(8, true), &b), Meeting::Adopt(identity(8, true)));
        assert_eq!(identity(7, true).meet(&a, identity(6, false), &b), Meeting::Keep);
        assert_eq!(identity(7, false).meet(&a, identity(6, false), &b), Meeting::Adopt(identity(6, false)));
        assert_eq!(identity(6, false).meet(&a, identity(7, false), &b), Meeting::Keep);
        assert_eq!(identity(7, true).meet(&a, identity(6, true), &b), Meeting::Clash);
    }
}
