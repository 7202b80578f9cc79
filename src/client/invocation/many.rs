//! Many names in one operation: those that lead through links, or that a server could not settle, are asked for again in
//! further rounds.

use std::sync::Arc;

use crate::naming::LinkWalk;
use crate::naming::Name;
use crate::protocol::ManyItem;

use super::super::fault;
use super::{Located, Next, Subject};

/// Names in one request at most.
const AT_ONCE: usize = 1024;

/// A name that isn't settled yet.
#[derive(Clone, Debug)]
struct Pending {
    index: usize,
    given: Name,
    name: Name,
    walk: Option<LinkWalk>,
}

/// Many lookups.
#[derive(Clone, Debug)]
pub(super) struct Many {
    /// In the order of the next requests.
    pending: Vec<Pending>,
    settled: Vec<Option<Located>>,
    at_once: usize,
}

impl Many {
    pub(super) fn new(subjects: Vec<Subject>) -> Self {
        let settled = vec![None; subjects.len()];
        let pending = subjects.into_iter().enumerate();
        let pending = pending.map(|(index, subject)| Pending { index, given: subject.given, name: subject.full, walk: None });
        Self { pending: pending.collect(), settled, at_once: AT_ONCE }
    }

    pub(super) fn asked(&self) -> usize {
        self.pending.len().min(self.at_once)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.pending[..self.asked()].iter().map(|pending| pending.name.to_string()).collect()
    }

    /// The names as the caller gave them that aren't settled yet.
    pub(super) fn undecided(&self) -> impl ExactSizeIterator<Item = &Name> {
        self.pending.iter().map(|pending| &pending.given)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<Option<Located>> {
        std::mem::take(&mut self.settled)
    }

    /// The answers were over a limit together: asks for half as many at once. `false` where it's one already.
    pub(super) fn ask_fewer(&mut self) -> bool {
        let asked = self.asked();
        self.at_once = asked.div_ceil(2);
        asked > 1
    }

    /// Takes the answers to the names last asked for.
    pub(super) fn accept(&mut self, items: Vec<ManyItem>) -> Next {
        let asked = self.asked();
        if items.len() != asked {
            return Next::Fail(super::hops::unexpected(&format!("{} answers to {asked} names", items.len())));
        }
        let later = self.pending.split_off(asked);
        let asked = std::mem::replace(&mut self.pending, later);
        let mut unsettled = Vec::new();
        let mut answered: Vec<Arc<str>> = Vec::new();
        let mut silent: Vec<Arc<str>> = Vec::new();
        for (mut pending, item) in asked.into_iter().zip(items) {
            match item {
                ManyItem::Found(found) => {
                    let at = pending.walk.is_some().then_some(pending.name);
                    self.settled[pending.index] = Some(Located { found, at });
                }
                ManyItem::Absent { .. } => {}
                ManyItem::Link(met) => match super::hops::follow(&mut pending.walk, &pending.name, &pending.given, &met) {
                    Ok(name) => self.pending.push(Pending { name, ..pending }),
                    Err(error) => return Next::Fail(error),
                },
                ManyItem::Unknown { answered: some, silent: others } => {
                    merge(&mut answered, some);
                    merge(&mut silent, others);
                    unsettled.push(pending);
                }
                ManyItem::Fault(fault) => {
                    return Next::Fail(fault::to_error(*fault).with_name(pending.given.as_str()));
                }
            }
        }
        let incomplete = !unsettled.is_empty();
        self.pending.splice(0..0, unsettled);
        if incomplete {
            return Next::Incomplete { answered, silent };
        }
        if self.is_settled() { Next::done(super::Product::Many(self.take())) } else { Next::More }
    }
}

fn merge(into: &mut Vec<Arc<str>>, names: Vec<Arc<str>>) {
    for name in names {
        if !into.contains(&name) {
            into.push(name);
        }
    }
}
