//! One operation of the user: which request comes next, and what a reply means.
//!
//! Most operations are one request. Links make more of it (a server tells where a link stands and what it says, the
//! client goes on from there), and so do long listings and many names. Each such request is a *hop*; how a hop is carried
//! to some server or other is the [call](super::call)'s affair and not known here.

mod hops;
mod many;
mod mutate;
mod product;
mod settled;
mod told;

use std::time::Duration;

use crate::naming::LinkWalk;
use crate::naming::{Content, ErrorKind, Listed, Name, NamingError, Version};
use crate::protocol::{Answer, Fault, Found, Operation, OperationId, PageRequest, Texts, TreeChoice, WatchRequest};

use super::trail::Outcome;
use many::Many;
use mutate::Write;

pub(super) use hops::{Next, unexpected};
pub(super) use mutate::LeaseChange;
pub use product::{Freshness, Located, Product};
pub use settled::{OneOfMany, Settled};

/// Rows asked for at once; a server may give fewer.
const PAGE: u32 = 1000;

/// For how long a node holds the question for a name that is waited for. What other nodes bind in their own trees is
/// found when the question is asked again.
const AWAIT: Duration = Duration::from_millis(50);

/// A name as the caller gave it, and what it is from the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    given: Name,
    full: Name,
}

impl Subject {
    /// `name`, as it's meant in the context at `base`.
    pub fn new(base: &Name, name: &Name) -> Self {
        Self { given: name.clone(), full: base.join(name) }
    }

    /// The name from the root.
    pub fn full(&self) -> &Name {
        &self.full
    }

    /// The name as the caller gave it.
    pub fn given(&self) -> &Name {
        &self.given
    }

    /// Refuses a name that no operation takes. Limits count from the root.
    fn checked(self) -> Result<Self, NamingError> {
        match self.full.check_operation() {
            Ok(()) => Ok(self),
            Err(error) => Err(error.with_name(self.given.as_str()).or_unresolved()),
        }
    }

    /// The same for a mutation, which can't be of the context itself.
    fn checked_for_change(self) -> Result<Self, NamingError> {
        if self.given.is_empty() {
            let message = "the empty name means the context itself, which can't be bound, moved or removed";
            return Err(NamingError::new(ErrorKind::InvalidName, message).with_name("").or_unresolved());
        }
        self.checked()
    }
}

/// A name: of the root context.
impl From<Name> for Subject {
    fn from(name: Name) -> Self {
        Self { given: name.clone(), full: name }
    }
}

/// How a bind is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindOptions {
    /// What is bound there gives way (`rebind`).
    pub replace: bool,
    /// Contexts on the way are made.
    pub create_parents: bool,
    /// Lifetime in milliseconds, unless it is renewed.
    pub lease: Option<u32>,
}

/// How a lookup is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says what the others don't")]
struct Aim {
    /// The last link is followed too.
    follow_last: bool,
    /// A missing name is an answer and no error.
    may_be_absent: bool,
    /// A missing name is waited for.
    waits: bool,
    /// Somebody is asked, whatever is known.
    afresh: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Lookup { name: Name, aim: Aim },
    Many(Box<Many>),
    Survey,
    List { name: Name, tree: TreeChoice, values: bool, rows: Vec<Listed> },
    Write(Write),
    Check,
    Watch(Box<WatchRequest>),
    Status,
    Quiesce,
    Became(OperationId),
    Forget(String),
}

/// One operation of the user, on its way.
#[derive(Clone, Debug)]
pub struct Invocation {
    subject: Subject,
    kind: Kind,
    walk: Option<LinkWalk>,
}

impl Invocation {
    fn of(subject: Subject, kind: Kind) -> Self {
        Self { subject, kind, walk: None }
    }

    fn look(subject: Subject, aim: Aim) -> Result<Self, NamingError> {
        let subject = subject.checked()?;
        let name = subject.full.clone();
        Ok(Self::of(subject, Kind::Lookup { name, aim }))
    }

    /// What is bound at a name; links are followed. Gives [`Product::Found`].
    pub fn lookup(subject: Subject) -> Result<Self, NamingError> {
        Self::look(subject, Aim { follow_last: true, ..Aim::default() })
    }

    /// The same, and somebody is asked even where the answer is known.
    pub fn resolve(subject: Subject) -> Result<Self, NamingError> {
        Self::look(subject, Aim { follow_last: true, afresh: true, ..Aim::default() })
    }

    /// The same as a lookup, but a link at the end is given and not followed.
    pub fn lookup_link(subject: Subject) -> Result<Self, NamingError> {
        Self::look(subject, Aim::default())
    }

    /// What is bound at a name, or [`Product::Absent`] where every live node has said that there is nothing.
    pub fn get(subject: Subject) -> Result<Self, NamingError> {
        Self::look(subject, Aim { follow_last: true, may_be_absent: true, ..Aim::default() })
    }

    /// What is bound at a name, as soon as it can be looked up.
    pub fn wait_for(subject: Subject) -> Result<Self, NamingError> {
        Self::look(subject, Aim { follow_last: true, waits: true, ..Aim::default() })
    }

    /// What is bound at many names in the context at `base`; `given` are their canonical texts. Gives [`Product::Many`],
    /// in the order of the names.
    pub fn lookup_many(base: &Name, given: Texts) -> Result<Self, NamingError> {
        Ok(Self::of(Name::empty().into(), Kind::Many(Box::new(Many::new(base, given)?))))
    }

    /// What every node has at a name. Gives [`Product::Survey`]; links are told and not followed.
    pub fn survey(subject: Subject) -> Result<Self, NamingError> {
        Ok(Self::of(subject.checked()?, Kind::Survey))
    }

    /// The names in a context, with their values where wanted. Gives [`Product::Listing`].
    pub fn list(subject: Subject, tree: TreeChoice, values: bool) -> Result<Self, NamingError> {
        let subject = subject.checked()?;
        let name = subject.full.clone();
        Ok(Self::of(subject, Kind::List { name, tree, values, rows: Vec::new() }))
    }

    fn write(subject: Subject, write: impl FnOnce(Name) -> Write) -> Result<Self, NamingError> {
        let subject = subject.checked_for_change()?;
        let write = write(subject.full.clone());
        Ok(Self::of(subject, Kind::Write(write)))
    }

    /// Binds a name. Gives [`Product::Written`].
    pub fn bind(subject: Subject, content: Content, options: BindOptions) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Bind { name, content, options })
    }

    /// Removes what is bound at a name. Gives [`Product::Removed`].
    pub fn unbind(subject: Subject) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Unbind { name })
    }

    /// Moves a value. Gives [`Product::Written`].
    pub fn rename(from: Subject, to: Subject) -> Result<Self, NamingError> {
        let to = to.checked_for_change()?;
        Self::write(from, |from| Write::Rename { from, to: to.full, to_given: to.given, to_walk: None })
    }

    /// Makes a context. Gives [`Product::Written`].
    pub fn create_subcontext(subject: Subject, create_parents: bool) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Create { name, create_parents })
    }

    /// Removes an empty context. Gives [`Product::Removed`].
    pub fn destroy_subcontext(subject: Subject) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Destroy { name })
    }

    /// Ends a conflict: the version that is shown as `keep` stays, or (`None`) a context that is there for what lies under it.
    /// Gives [`Product::Written`].
    pub fn resolve_conflict(subject: Subject, keep: Option<String>) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Resolve { name, keep })
    }

    /// A lease goes on, that was given to this version. Gives [`Product::Written`].
    pub fn renew(subject: Subject, version: Version) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Renew { name, version })
    }

    /// What was given a lease is unbound, this version alone. Gives [`Product::Removed`].
    pub fn release(subject: Subject, version: Version) -> Result<Self, NamingError> {
        Self::write(subject, |name| Write::Release { name, version })
    }

    /// What became of a change. Gives [`Product::Became`].
    pub fn became(id: OperationId) -> Self {
        Self::of(Name::empty().into(), Kind::Became(id))
    }

    /// A dead member never comes back. Gives [`Product::Accepted`].
    pub fn forget(node: impl Into<String>) -> Self {
        Self::of(Name::empty().into(), Kind::Forget(node.into()))
    }

    /// Mismatches, hidden bindings and conflicts beneath a name. Gives [`Product::Report`].
    pub fn check(subject: Subject) -> Result<Self, NamingError> {
        Ok(Self::of(subject.checked()?, Kind::Check))
    }

    /// What is bound at watched names, or what has changed there. Gives [`Product::Watched`].
    pub fn watch(request: WatchRequest) -> Self {
        Self::of(Name::empty().into(), Kind::Watch(Box::new(request)))
    }

    /// A node's state. Gives [`Product::Status`].
    pub fn status() -> Self {
        Self::of(Name::empty().into(), Kind::Status)
    }

    /// Bids a node leave. It is never sent to another node than the first that is asked. Gives [`Product::Accepted`].
    pub fn quiesce() -> Self {
        Self::of(Name::empty().into(), Kind::Quiesce)
    }

    /// The name that it's of; `None` where it is of none or of many.
    pub fn given(&self) -> Option<&Name> {
        match self.kind {
            Kind::Many(_) | Kind::Watch(_) | Kind::Status | Kind::Quiesce | Kind::Became(_) | Kind::Forget(_) => None,
            _ => Some(&self.subject.given),
        }
    }

    /// Whether it changes something.
    pub fn is_mutation(&self) -> bool {
        matches!(self.kind, Kind::Write(_) | Kind::Quiesce)
    }

    /// Whether the caller is told something that does not follow from its success alone.
    pub(super) fn needs_reply(&self) -> bool {
        match &self.kind {
            Kind::Write(write) => write.tells(),
            Kind::Quiesce => false,
            _ => true,
        }
    }

    /// What it does to leases once it has taken effect.
    pub(super) fn lease_change(&self) -> Option<LeaseChange<'_>> {
        match &self.kind {
            Kind::Write(write) => write.lease_change(),
            _ => None,
        }
    }

    /// The first component of the name that is changed: who owns it coordinates the change.
    pub(super) fn changes_under(&self) -> Option<&str> {
        match &self.kind {
            Kind::Write(write) => write.name().get(0),
            _ => None,
        }
    }

    /// Whether it's meant for the one node that it was sent to.
    pub(super) fn is_pinned(&self) -> bool {
        matches!(self.kind, Kind::Quiesce)
    }

    /// The name of the next request, where an answer to it may be kept.
    pub(super) fn looks_up(&self) -> Option<&Name> {
        match &self.kind {
            Kind::Lookup { name, aim: Aim { waits: false, .. } } => Some(name),
            _ => None,
        }
    }

    /// Whether somebody is asked, whatever is known.
    pub(super) fn is_afresh(&self) -> bool {
        matches!(self.kind, Kind::Lookup { aim: Aim { afresh: true, .. }, .. })
    }

    /// The names that it changes.
    pub(super) fn changes(&self) -> [Option<&Name>; 2] {
        match &self.kind {
            Kind::Write(write @ Write::Rename { to, .. }) => [Some(write.name()), Some(to)],
            Kind::Write(write) => [Some(write.name()), None],
            _ => [None, None],
        }
    }

    /// Whether it's one lookup.
    pub(super) fn is_lookup(&self) -> bool {
        matches!(self.kind, Kind::Lookup { .. })
    }

    /// The product of a lookup that a node answered at once.
    pub(super) fn found(&mut self, found: Found) -> Option<Product> {
        match self.accept(Answer::Found(found)) {
            Next::Done(product, _) => Some(product),
            _ => None,
        }
    }

    /// Whether a missing name is waited for.
    pub(super) fn waits(&self) -> bool {
        matches!(self.kind, Kind::Lookup { aim: Aim { waits: true, .. }, .. })
    }

    /// For how long a node may hold the request before it answers.
    pub(super) fn is_held(&self) -> Duration {
        match &self.kind {
            Kind::Lookup { aim: Aim { waits: true, .. }, .. } => AWAIT,
            Kind::Watch(request) => Duration::from_millis(request.hold.into()),
            _ => Duration::ZERO,
        }
    }

    /// How many names one request asks for: what a server needs more time for than for one.
    pub(super) fn weight(&self) -> usize {
        match &self.kind {
            Kind::Many(many) => many.asked(),
            Kind::List { .. } => PAGE as usize,
            _ => 1,
        }
    }

    /// Whether it looks through whole trees, so that its one attempt gets all the time there is.
    pub(super) fn is_thorough(&self) -> bool {
        matches!(self.kind, Kind::Check | Kind::Forget(_))
    }

    /// The product, where nothing has to be asked.
    pub(super) fn at_once(&mut self) -> Option<Product> {
        match &mut self.kind {
            Kind::Many(many) if many.is_settled() => Some(Product::Many(many.take())),
            _ => None,
        }
    }

    /// The rows that a listing has so far.
    pub(super) fn partial(&self) -> &[Listed] {
        match &self.kind {
            Kind::List { rows, .. } => rows,
            _ => &[],
        }
    }

    /// What the next request asks.
    pub fn operation(&self) -> Operation {
        let full = || self.subject.full.as_str().to_owned();
        match &self.kind {
            Kind::Lookup { name, aim: Aim { waits: true, .. } } => {
                let hold = u32::try_from(AWAIT.as_millis()).unwrap_or(u32::MAX);
                Operation::Await { name: name.as_str().to_owned(), hold }
            }
            Kind::Lookup { name, .. } => Operation::Lookup { name: name.as_str().to_owned() },
            Kind::Many(many) => Operation::LookupMany { names: many.names() },
            Kind::Survey => Operation::Survey { name: full() },
            Kind::List { name, tree, values, rows } => Operation::List(PageRequest {
                name: name.as_str().to_owned(),
                tree: *tree,
                after: rows.last().map(|row| row.component.clone()),
                limit: PAGE,
                values: *values,
            }),
            Kind::Write(write) => Operation::Mutate(write.mutation()),
            Kind::Check => Operation::Check { name: full() },
            Kind::Watch(request) => Operation::Watch((**request).clone()),
            Kind::Status => Operation::Status,
            Kind::Quiesce => Operation::Quiesce,
            Kind::Became(id) => Operation::Became { id: *id },
            Kind::Forget(node) => Operation::Forget { node: node.clone() },
        }
    }

    /// Takes a node's answer: what comes next.
    pub(super) fn accept(&mut self, answer: Answer) -> Next {
        hops::accept(self, answer)
    }

    /// Takes a node's fault, where it means something other than that the operation failed.
    pub(super) fn accept_fault(&mut self, fault: &Fault) -> Option<Next> {
        match (&mut self.kind, ErrorKind::from_code(fault.code)) {
            (Kind::Lookup { aim: Aim { may_be_absent: true, .. }, .. }, ErrorKind::NameNotFound | ErrorKind::NotContext) => {
                Some(Next::Done(Product::Absent, Outcome::Fault(ErrorKind::NameNotFound, fault.message.as_str().into())))
            }
            (Kind::Many(many), ErrorKind::LimitExceeded) => many.ask_fewer().then_some(Next::More),
            _ => None,
        }
    }

    /// What the caller is given where it's certain that the operation ran and its reply can't be read: no more than what
    /// follows from that. `None` where the caller needs what the reply said.
    pub(super) fn assumed(&self, node: &std::sync::Arc<str>) -> Option<Product> {
        match &self.kind {
            Kind::Write(write) => write.assumed(node),
            Kind::Quiesce => Some(Product::Accepted),
            _ => None,
        }
    }
}
