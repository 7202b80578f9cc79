//! Many names in one operation: those that lead through links, or that a server could not settle, are asked for again in
//! further rounds.
//!
//! The names are texts in one piece, and those still asked for are numbers. Only what a link led elsewhere has a name of
//! its own.

use std::collections::HashMap;
use std::sync::Arc;

use crate::naming::{LinkWalk, Name, NamingError, Seen};
use crate::protocol::{Items, LinkMet, ManyItem, Texts};

use super::super::fault;
use super::hops::unexpected;
use super::settled::Settled;
use super::{Next, Product};

/// Names in one request at most.
const AT_ONCE: usize = 1024;

/// Where links led, of one name.
#[derive(Clone, Debug)]
struct Led {
    to: Name,
    walk: Option<LinkWalk>,
}

/// Many lookups.
#[derive(Clone, Debug)]
pub(super) struct Many {
    /// The names from the root, in the order in which they were given.
    names: Texts,
    /// What of each of them the caller did not give: the name of the context, and a separator.
    context: usize,
    /// Those that are not settled, in the order of the next requests.
    pending: Vec<usize>,
    led: HashMap<usize, Led>,
    settled: Settled,
    at_once: usize,
}

impl Many {
    /// `given` are names in the context at `base`, in their canonical texts. Refuses those that no operation takes.
    pub(super) fn new(base: &Name, given: Texts) -> Result<Self, NamingError> {
        let (names, context) = if base.is_empty() { (given, 0) } else { joined(base, &given) };
        let many = Self {
            pending: (0..names.len()).collect(),
            settled: Settled::new(names.len()),
            names,
            context,
            led: HashMap::new(),
            at_once: AT_ONCE,
        };
        for (index, name) in many.names.iter().enumerate() {
            Name::check_text(name).map_err(|error| error.with_name(many.given(index)).or_unresolved())?;
        }
        Ok(many)
    }

    pub(super) fn asked(&self) -> usize {
        self.pending.len().min(self.at_once)
    }

    /// The names of the next request.
    pub(super) fn names(&self) -> Texts {
        if self.asked() == self.names.len() && self.led.is_empty() {
            // The first request, of all.
            return self.names.clone();
        }
        self.pending[..self.asked()].iter().map(|index| self.name(*index)).collect()
    }

    fn name(&self, index: usize) -> &str {
        self.led.get(&index).map_or_else(|| self.names.get(index), |led| led.to.as_str())
    }

    /// A name as the caller gave it.
    fn given(&self, index: usize) -> &str {
        self.names.get(index).get(self.context..).unwrap_or_default()
    }

    /// The names as the caller gave them that aren't settled yet.
    pub(super) fn undecided(&self) -> impl ExactSizeIterator<Item = &str> {
        self.pending.iter().map(|index| self.given(*index))
    }

    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    pub(super) fn take(&mut self) -> Settled {
        std::mem::take(&mut self.settled)
    }

    /// The answers were over a limit together: asks for half as many at once. `false` where it's one already.
    pub(super) fn ask_fewer(&mut self) -> bool {
        let asked = self.asked();
        self.at_once = asked.div_ceil(2);
        asked > 1
    }

    /// Takes the answers to the names last asked for.
    pub(super) fn accept(&mut self, reply: &Items) -> Next {
        let later = self.pending.split_off(self.asked());
        let asked = std::mem::replace(&mut self.pending, later);
        let mut unsettled = Vec::new();
        let mut answered: Vec<Arc<str>> = Vec::new();
        let mut silent: Vec<Arc<str>> = Vec::new();
        let mut items = reply.iter::<Seen>();
        for (nth, &index) in asked.iter().enumerate() {
            match items.next() {
                Some(Ok(ManyItem::Found { content, .. })) => {
                    let led = self.led.get(&index).map(|led| led.to.clone());
                    self.settled.settle(index, reply, &content, led);
                }
                Some(Ok(ManyItem::Absent { .. })) => {}
                Some(Ok(ManyItem::Link(met))) => match self.follow(index, &met) {
                    Ok(()) => self.pending.push(index),
                    Err(error) => return Next::Fail(error),
                },
                Some(Ok(ManyItem::Unknown { answered: some, silent: others })) => {
                    merge(&mut answered, some);
                    merge(&mut silent, others);
                    unsettled.push(index);
                }
                Some(Ok(ManyItem::Fault(fault))) => {
                    return Next::Fail(fault::to_error(*fault).with_name(self.given(index)));
                }
                Some(Err(error)) => return Next::Fail(unexpected(&format!("answer {nth} of {}: {error}", asked.len()))),
                None => return Next::Fail(unexpected(&format!("{nth} answers to {} names", asked.len()))),
            }
        }
        if items.next().is_some() {
            return Next::Fail(unexpected(&format!("more than {} answers to as many names", asked.len())));
        }
        self.settled.keep(reply.clone());
        let incomplete = !unsettled.is_empty();
        self.pending.splice(0..0, unsettled);
        if incomplete {
            return Next::Incomplete { answered, silent, not_context: None };
        }
        if self.is_settled() { Next::done(Product::Many(self.take())) } else { Next::More }
    }

    /// Goes on behind a link that one of the names met.
    fn follow(&mut self, index: usize, met: &LinkMet) -> Result<(), NamingError> {
        let given = Name::parse(self.given(index))?;
        let Led { to, mut walk } = match self.led.remove(&index) {
            Some(led) => led,
            None => Led { to: Name::parse(self.names.get(index))?, walk: None },
        };
        let to = super::hops::follow(&mut walk, &to, &given, met)?;
        self.led.insert(index, Led { to, walk });
        Ok(())
    }
}

/// The names from the root of those given in the context at `base`, and how much longer they are.
fn joined(base: &Name, given: &Texts) -> (Texts, usize) {
    let mut names = Texts::with_capacity(given.len());
    for name in given.iter() {
        let between = if name.is_empty() { "" } else { "/" };
        names.push_joined([base.as_str(), between, name]);
    }
    (names, base.as_str().len() + 1)
}

fn merge(into: &mut Vec<Arc<str>>, names: Vec<Arc<str>>) {
    for name in names {
        if !into.contains(&name) {
            into.push(name);
        }
    }
}
