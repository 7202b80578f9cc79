//! What all blocking drivers offer: an operation goes in, its product or its error comes out.

use std::time::Duration;

use crate::discovery::dns::DnsServers;
use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::WatchScope;

use super::invocation::{Invocation, Product};
use super::lease::Releasing;
use super::trail::Trail;
use super::watch::Watch;

/// Asked from time to time while a call waits, without any lock held; `true` gives the call up.
pub type GiveUp<'a> = &'a mut dyn FnMut() -> bool;

/// Carries operations out on the calling thread.
pub trait Driver: Send + Sync + 'static {
    /// Carries out one operation. `timeout` is the time it has, `None` the configured one. `give_up` is asked at least
    /// every 100 ms while the call waits. Beside the product stand the tries that were made; an error carries its own.
    fn perform(
        &self,
        invocation: Invocation,
        timeout: Option<Duration>,
        give_up: GiveUp<'_>,
    ) -> Result<(Product, Trail), NamingError>;

    /// Begins to watch `name`, from the root. With `initial` what is bound now comes first. Nothing is waited for.
    fn watch(&self, name: Name, scope: WatchScope, initial: bool) -> Result<Watch, NamingError>;

    /// Gives back the lease of a name, if one is held there: it is unbound, in the background.
    fn give_back(&self, name: &Name) -> Releasing;

    /// Whom it asks for names, where its servers may have names.
    fn dns_servers(&self) -> Option<&DnsServers> {
        None
    }

    /// Ends it: calls under way and later ones fail with `ContextClosed`, watches too. Leases are given back, which is waited
    /// for as long as that makes sense.
    fn close(&self);

    /// Whether it was closed.
    fn is_closed(&self) -> bool;
}

/// What is said to whoever uses a closed context.
const CLOSED: &str = "the context is closed; open a new one";

/// The error of an operation on a closed context. It bears the name that the operation is of, where it's of one.
pub fn closed(invocation: &Invocation) -> NamingError {
    bearing(invocation.given().map(Name::as_str), closed_context())
}

/// The error of whatever else is asked of a closed context.
pub fn closed_context() -> NamingError {
    NamingError::new(ErrorKind::ContextClosed, CLOSED)
}

/// The error of an operation under which the context was closed; `abandoned` tells what had come of it.
pub(super) fn closed_under(abandoned: NamingError) -> NamingError {
    let told = abandoned.into_fields();
    let error = bearing(told.name.as_deref(), closed_context())
        .with_completion(told.completion)
        .with_repeatable(told.repeatable)
        .with_attempts(told.attempts);
    match told.operation {
        Some(operation) => error.with_operation(operation),
        None => error,
    }
}

/// The error, bearing the name that the operation is of.
pub(super) fn bearing(name: Option<&str>, error: NamingError) -> NamingError {
    match name {
        Some(name) => error.with_name(name).or_unresolved(),
        None => error,
    }
}
