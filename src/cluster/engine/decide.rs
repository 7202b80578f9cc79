//! What a request comes to, by what this node shows: the table of outcomes.
//!
//! Nothing is changed here. A link on the way is answered and never followed: where it leads is for the client to find
//! out, in the view that it asked.

use std::sync::Arc;

use crate::cluster::obstacle::{Existing, Obstacle, Quota};
use crate::cluster::projection::weight;
use crate::cluster::record::{Record, Sibling};
use crate::cluster::replica::Bound;
use crate::cluster::reply::{LinkOnWay, Reply};
use crate::cluster::request::{Binding, Intent, Request, digest_of};
use crate::cluster::rules::Rule;
use crate::cluster::shown::Shown;
use crate::cluster::vector::Dot;
use crate::naming::{Content, EntryKind, Name};
use crate::protocol::OperationId;

use super::Engine;

/// What a request comes to.
pub(super) enum Decision {
    /// There is nothing to do.
    Nothing,
    /// It can't be done, or not from here.
    Answer(Reply),
    /// Another request for the name is under way.
    Contended,
    /// A lease goes on, that of this version.
    Renewal(Dot),
    /// This is to be written.
    Event(Event),
}

/// What one event writes.
#[derive(Default)]
pub(super) struct Event {
    /// The contexts on the way that are missing.
    pub parents: Vec<Name>,
    /// The name from which something is moved away, and by which operation that was bound. Other versions stay there.
    pub source: Option<(Name, OperationId)>,
    /// A digest of what is moved.
    pub moved: u32,
    /// What is bound at the request's principal name; `None` where something is removed.
    pub binds: Option<Bound>,
    /// The versions that stay there.
    pub keep: Vec<Dot>,
}

type Decided<T> = Result<T, Decision>;

impl Engine {
    /// What the request comes to.
    pub(super) fn decide(&self, request: &Request) -> Decision {
        let name = &request.name;
        let event = match &request.intent {
            Intent::Bind(binding) => self.bind(request, name, binding),
            Intent::CreateSubcontext { create_parents } => {
                let binding = Binding { content: Content::context(), create_parents: *create_parents, lease: None };
                self.bind(request, name, &binding)
            }
            Intent::Rebind(binding) => self.rebind(request, binding),
            Intent::Unbind => self.remove(name, false),
            Intent::DestroySubcontext => self.remove(name, true),
            Intent::Rename { to } => self.rename(request, to),
            Intent::ResolveConflict { keep } => self.resolve(request, *keep),
            Intent::Renew { version } => self.renew(name, *version),
            Intent::Release { version } => self.release(name, *version),
        };
        match event {
            Ok(event) => self.over_quota(request, &event).unwrap_or(Decision::Event(event)),
            Err(decision) => decision,
        }
    }

    fn bind(&self, request: &Request, name: &Name, binding: &Binding) -> Decided<Event> {
        let parents = self.way(name, binding.create_parents)?;
        let own = self.free(request, name)?;
        Ok(Event { parents, binds: Some(self.bound(request, binding, &own)), keep: self.beside(&own), ..Event::default() })
    }

    fn rebind(&self, request: &Request, binding: &Binding) -> Decided<Event> {
        let parents = self.way(&request.name, binding.create_parents)?;
        self.gives_way(&request.name)?;
        Ok(Event { parents, binds: Some(self.bound(request, binding, &[])), ..Event::default() })
    }

    fn remove(&self, name: &Name, only_context: bool) -> Decided<Event> {
        self.way(name, false)?;
        match self.replica.shown(name) {
            Shown::Nothing => return Err(Decision::Nothing),
            Shown::Value(_) if only_context => return Err(not_context(name, name.len())),
            Shown::Value(_) | Shown::Context(_) => self.gives_way(name)?,
        }
        // A value that the context hid was meant by nobody who removes a context.
        let record = self.record_of(name);
        let hidden = record.siblings.iter().filter(|sibling| only_context && !sibling.is_context());
        Ok(Event { keep: hidden.map(|sibling| sibling.dot).collect(), ..Event::default() })
    }

    fn rename(&self, request: &Request, to: &Name) -> Decided<Event> {
        let from = &request.name;
        let own = self.own(request, to);
        if own.is_empty() {
            self.way(from, false)?;
        }
        let (thing, moved) = match (self.replica.shown(from), own.first()) {
            // It was moved already, by an execution that is not settled.
            (_, Some(thing)) => {
                let event = self.record_of(to).history.get(thing.dot).copied();
                (Arc::clone(thing), event.map_or(0, |event| event.digest.moved))
            }
            (Shown::Value(value), None) => {
                let moved = digest_of(value.operation);
                (value, moved)
            }
            (Shown::Nothing, None) => return Err(not_found(from, from.len() - 1)),
            (Shown::Context(_), None) if from == to => return Err(Decision::Nothing),
            (Shown::Context(_), None) => return Err(obstructed(Obstacle::ContextMoves { name: from.clone() })),
        };
        if from == to {
            return Err(Decision::Nothing);
        }
        self.way(to, false)?;
        let own = self.free(request, to)?;
        // What stands at the old name after that execution is something else.
        let source = own.is_empty().then(|| (from.clone(), thing.operation));
        let binding = Binding { content: thing.content.clone(), create_parents: false, lease: thing.lease };
        let (binds, keep) = (Some(self.bound(request, &binding, &own)), self.beside(&own));
        Ok(Event { parents: Vec::new(), source, moved, binds, keep })
    }

    fn resolve(&self, request: &Request, keep: Option<Dot>) -> Decided<Event> {
        let name = &request.name;
        self.way(name, false)?;
        let record = self.record_of(name);
        let Some(version) = keep else {
            // What lies under the name keeps the context; without that nothing would be left.
            let is_hidden = self.replica.is_implied(name) && !record.is_tombstone();
            return if is_hidden { Ok(Event::default()) } else { Err(Decision::Nothing) };
        };
        let superseded = || obstructed(Obstacle::Superseded { name: name.clone(), version });
        let kept = record.sibling(version).ok_or_else(superseded)?;
        if !kept.is_context() {
            self.has_no_children(name)?;
        }
        if record.siblings.len() == 1 {
            return Err(Decision::Nothing);
        }
        let binding = Binding { content: kept.content.clone(), create_parents: false, lease: kept.lease };
        let bound = Bound { created: Some(kept.created), ..self.bound(request, &binding, &[]) };
        Ok(Event { binds: Some(bound), ..Event::default() })
    }

    fn renew(&self, name: &Name, version: Dot) -> Decided<Event> {
        let superseded = || obstructed(Obstacle::Superseded { name: name.clone(), version });
        let record = self.record_of(name);
        Err(Decision::Renewal(record.leased_with(version).next().ok_or_else(superseded)?.dot))
    }

    fn release(&self, name: &Name, version: Dot) -> Decided<Event> {
        let record = self.record_of(name);
        let leased: Vec<Dot> = record.leased_with(version).map(|sibling| sibling.dot).collect();
        if leased.is_empty() {
            return Err(Decision::Nothing);
        }
        let others = record.siblings.iter().map(|sibling| sibling.dot).filter(|other| !leased.contains(other));
        Ok(Event { keep: others.collect(), ..Event::default() })
    }

    /// Sees that the way to a name leads through contexts; the ones that are missing and may be made.
    fn way(&self, name: &Name, create_parents: bool) -> Decided<Vec<Name>> {
        // A context's own way leads through contexts.
        if name.parent().is_none_or(|parent| self.replica.shown(&parent).is_context()) {
            return Ok(Vec::new());
        }
        for count in 1..name.len() {
            match self.replica.shown(&name.prefix(count)) {
                Shown::Context(_) => {}
                Shown::Value(link) if link.content.kind == EntryKind::Link => {
                    let on_way = LinkOnWay { at: name.prefix(count), rest: name.suffix(count), link };
                    return Err(Decision::Answer(Reply::Link(on_way)));
                }
                Shown::Value(_) => return Err(not_context(name, count)),
                Shown::Nothing if create_parents => return Ok((count..name.len()).map(|count| name.prefix(count)).collect()),
                Shown::Nothing => return Err(not_found(name, count - 1)),
            }
        }
        Ok(Vec::new())
    }

    /// Sees that nothing stands at a name but versions of the request's own operation, and gives these.
    fn free(&self, request: &Request, name: &Name) -> Decided<Vec<Arc<Sibling>>> {
        let record = self.record_of(name);
        let (own, others): (Vec<_>, Vec<_>) =
            record.siblings.iter().cloned().partition(|sibling| sibling.operation == request.operation);
        let is_settled = |other: &Arc<Sibling>| Self::is_settled(&record, other.dot);
        if !others.is_empty() && !others.iter().any(is_settled) && self.rules.hold(Rule::LooksAgain) {
            return Err(Decision::Contended);
        }
        // The request's own version may be the one that is shown, while its coordinator has yet to hear of the other.
        let taken_by = others.iter().find(|other| is_settled(other)).or(others.first());
        let existing = match (taken_by, self.replica.shown(name)) {
            (Some(_), Shown::Value(shown)) if shown.operation != request.operation => Existing::of(&shown),
            (Some(other), _) => Existing::of(other),
            (None, shown @ Shown::Context(_)) if own.is_empty() => Existing::context(&shown),
            (None, _) => return Ok(own),
        };
        Err(obstructed(Obstacle::AlreadyBound { name: name.clone(), existing }))
    }

    /// Sees that what stands at a name may be replaced or removed: a context only if it is empty.
    fn gives_way(&self, name: &Name) -> Decided<()> {
        if self.rules.hold(Rule::EmptinessChecked) { self.has_no_children(name) } else { Ok(()) }
    }

    fn has_no_children(&self, name: &Name) -> Decided<()> {
        match self.replica.child_of(name).filter(|_| self.replica.is_implied(name)) {
            Some(child) => Err(obstructed(Obstacle::NotEmpty { name: name.clone(), child })),
            None => Ok(()),
        }
    }

    /// The versions that the request's operation has at a name.
    fn own(&self, request: &Request, name: &Name) -> Vec<Arc<Sibling>> {
        let record: Arc<Record> = self.record_of(name);
        record.siblings.iter().filter(|sibling| sibling.operation == request.operation).cloned().collect()
    }

    /// A new version of an operation that has these already: it stands beside them, as old as the oldest.
    fn bound(&self, request: &Request, binding: &Binding, own: &[Arc<Sibling>]) -> Bound {
        let created = own.iter().map(|sibling| sibling.created).min().filter(|_| self.rules.hold(Rule::SameCreation));
        Bound { content: binding.content.clone(), operation: request.operation, created, lease: binding.lease }
    }

    fn beside(&self, own: &[Arc<Sibling>]) -> Vec<Dot> {
        let stay = self.rules.hold(Rule::CoordinatorWithdraws);
        own.iter().map(|sibling| sibling.dot).filter(|_| stay).collect()
    }

    fn over_quota(&self, request: &Request, event: &Event) -> Option<Decision> {
        let bound = event.binds.as_ref().filter(|_| self.rules.hold(Rule::QuotasChecked))?;
        let (names, bytes) = self.replica.size();
        let is_new = event.source.is_none() && self.record_of(request.principal()).is_tombstone();
        let new_names = event.parents.len() as u64 + u64::from(is_new);
        let new_bytes = if event.source.is_some() { 0 } else { weight(&bound.content) };
        let quota = if new_names > 0 && names + new_names > self.timing.max_names {
            Quota::Names(self.timing.max_names)
        } else if new_bytes > 0 && bytes + new_bytes > self.timing.max_bytes {
            Quota::Bytes(self.timing.max_bytes)
        } else {
            return None;
        };
        Some(obstructed(Obstacle::OverQuota { name: request.principal().clone(), quota }))
    }
}

fn obstructed(obstacle: Obstacle) -> Decision {
    Decision::Answer(Reply::Obstructed(obstacle))
}

fn not_found(name: &Name, resolved: usize) -> Decision {
    obstructed(Obstacle::NotFound { name: name.clone(), resolved: count(resolved) })
}

fn not_context(name: &Name, resolved: usize) -> Decision {
    obstructed(Obstacle::NotContext { name: name.clone(), resolved: count(resolved) })
}

/// A number of components.
fn count(components: usize) -> u32 {
    u32::try_from(components).unwrap_or(u32::MAX)
}
