//! What a change of the cluster tree is about, as its engine is told.

use std::time::Duration;

use crate::cluster::request::{Binding, Intent};
use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::Mutation;

use super::own::parse;
use crate::server::core::Core;

/// A lease that is shorter would go with one lost renewal.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

impl Core {
    /// The name that a change is about, and what is wanted there.
    pub(super) fn understood(&self, mutation: &Mutation) -> Result<(Name, Intent), NamingError> {
        Ok(match mutation {
            Mutation::Bind { name, content, replace, create_parents, lease } => {
                let name = to_change(name)?;
                content.check().map_err(|error| error.with_name(name.as_str()))?;
                let binding = Binding { content: content.clone(), create_parents: *create_parents, lease: lasting(*lease)? };
                (name, if *replace { Intent::Rebind(binding) } else { Intent::Bind(binding) })
            }
            Mutation::Unbind { name } => (to_change(name)?, Intent::Unbind),
            Mutation::Rename { from, to } => (to_change(from)?, Intent::Rename { to: to_change(to)? }),
            Mutation::CreateSubcontext { name, create_parents } => {
                (to_change(name)?, Intent::CreateSubcontext { create_parents: *create_parents })
            }
            Mutation::DestroySubcontext { name } => (to_change(name)?, Intent::DestroySubcontext),
            Mutation::ResolveConflict { name, keep } => {
                let name = to_change(name)?;
                let Some(shown) = keep else { return Ok((name, Intent::ResolveConflict { keep: None })) };
                let keep = self.replication.version_shown_as(&name, shown).ok_or_else(|| {
                    let message = format!("no version {shown} stands there");
                    NamingError::new(ErrorKind::NameNotFound, message).with_name(name.as_str()).with_resolution("", name.as_str())
                })?;
                (name, Intent::ResolveConflict { keep: Some(keep) })
            }
            Mutation::Renew { name, version } => (to_change(name)?, Intent::Renew { version: *version }),
            Mutation::Release { name, version } => (to_change(name)?, Intent::Release { version: *version }),
        })
    }
}

fn to_change(name: &str) -> Result<Name, NamingError> {
    let name = parse(name)?;
    name.check_mutation()?;
    Ok(name)
}

fn lasting(lease: Option<u32>) -> Result<Option<Duration>, NamingError> {
    let lease = lease.map(|milliseconds| Duration::from_millis(milliseconds.into()));
    if lease.is_some_and(|lease| lease < SHORTEST_LEASE) {
        let message = format!("a lease lasts {} s at least", SHORTEST_LEASE.as_secs());
        return Err(NamingError::new(ErrorKind::InvalidValue, message).with_completion(CompletionStatus::No));
    }
    Ok(lease)
}
