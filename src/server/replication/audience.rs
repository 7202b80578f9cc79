//! Who takes part in the cluster tree: views, and whoever was in one and may come back.

use std::collections::BTreeMap;

use crate::cluster::engine::Members;
use crate::server::data::Acquaintance;
use crate::topology::{Endpoint, Member, MemberState, NodeId, View};

/// The members by their names. One that leaves says so and is forgotten; one that died is kept, since it may come back
/// with what it holds; another incarnation of a name takes its place.
#[derive(Debug, Default)]
pub(super) struct Audience {
    known: BTreeMap<String, Member>,
    /// Of so many it was said that they never come back.
    forgotten: usize,
}

impl Audience {
    /// Adds one who was known before, and may come back.
    pub(super) fn add(&mut self, name: &str, id: NodeId, endpoint: &Endpoint) {
        let member = Member { name: name.to_owned(), id, endpoint: endpoint.clone(), state: MemberState::Live };
        self.known.insert(name.to_owned(), member);
    }

    /// All but `own` that have served.
    pub(super) fn others(&self, own: &str) -> Vec<Acquaintance> {
        let others = self.known.values().filter(|member| member.name != own && member.state != MemberState::Joining);
        let kept = |member: &Member| Acquaintance { name: member.name.clone(), id: member.id, endpoint: member.endpoint.clone() };
        others.map(kept).collect()
    }

    /// These were forgotten since the start. Who comes back is known again.
    pub(super) fn forget(&mut self, names: &[String]) {
        for name in names.iter().skip(std::mem::replace(&mut self.forgotten, names.len())) {
            self.known.remove(name);
        }
    }

    /// Takes a view, and gives the members as the engine knows them.
    pub(super) fn see(&mut self, view: &View) -> Members {
        let is_there = |name: &str| view.members().iter().any(|member| member.name == name);
        self.known.retain(|name, member| member.state == MemberState::Live || is_there(name));
        for member in view.members() {
            self.known.insert(member.name.clone(), member.clone());
        }
        let mut members = Members::default();
        for member in view.members() {
            match member.state {
                MemberState::Live => members.live.insert(member.id),
                MemberState::Joining | MemberState::Quiescing => members.guests.insert(member.id),
            };
        }
        members.all = self.known.values().filter(|member| member.state != MemberState::Joining).map(|member| member.id).collect();
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(members: &[(&str, u128, MemberState)]) -> View {
        let member = |&(name, id, state): &(&str, u128, MemberState)| Member {
            name: name.to_owned(),
            id: NodeId(id),
            endpoint: Endpoint::new("h", 1),
            state,
        };
        View::new("c", None, members.iter().map(member).collect())
    }

    fn ids(members: &Members) -> [Vec<u128>; 3] {
        [&members.live, &members.guests, &members.all].map(|ids| ids.iter().map(|id| id.0).collect())
    }

    #[test]
    fn the_forgotten_are_known_again_when_they_come_back() {
        use MemberState::Live;
        let (both, alone) = (view(&[("a", 1, Live), ("b", 2, Live)]), view(&[("a", 1, Live)]));
        let mut audience = Audience::default();
        audience.see(&both);
        assert_eq!(ids(&audience.see(&alone))[2], [1, 2]);
        let forgotten = ["b".to_owned()];
        audience.forget(&forgotten);
        assert_eq!(ids(&audience.see(&alone))[2], [1]);
        audience.see(&both);
        audience.forget(&forgotten);
        assert_eq!(ids(&audience.see(&alone))[2], [1, 2], "it is forgotten once");
    }

    #[test]
    fn the_dead_are_kept_and_those_who_left_are_not() {
        use MemberState::{Joining, Live, Quiescing};
        let mut audience = Audience::default();
        let seen = audience.see(&view(&[("a", 1, Live), ("b", 2, Live), ("c", 3, Live), ("d", 4, Joining)]));
        assert_eq!(ids(&seen), [vec![1, 2, 3], vec![4], vec![1, 2, 3]]);
        let seen = audience.see(&view(&[("a", 1, Live), ("c", 3, Quiescing)]));
        assert_eq!(ids(&seen), [vec![1], vec![3], vec![1, 2, 3]]);
        let seen = audience.see(&view(&[("a", 1, Live)]));
        assert_eq!(ids(&seen), [vec![1], vec![], vec![1, 2]]);
        let seen = audience.see(&view(&[("a", 1, Live), ("b", 5, Joining)]));
        assert_eq!(ids(&seen), [vec![1], vec![5], vec![1]], "another incarnation takes the place of the dead one");
    }
}
