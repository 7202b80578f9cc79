//! Changes of the node's local tree, which applies each in one step: they are answered at once.

use std::sync::Arc;

use crate::naming::{BindOptions, Change, NamingError, Source, Tree, Version};
use crate::protocol::{Answer, Mutation, Reply, Scope, Written};

use super::fault;
use super::own::parse;
use crate::server::core::Core;

/// What a tree did.
enum Done {
    /// It wrote; the version it made, if anything changed.
    Written(Option<Version>),
    /// It removed; the version that the removal made, if something was there.
    Removed(Option<Version>),
}

impl Core {
    /// Applies a change to the node's local tree and tells what was done.
    pub fn mutate(&self, scope: Scope, mutation: &Mutation) -> Reply {
        if scope == Scope::Peer {
            return Reply::Failed(fault::not_supported("a node does not write into another's local tree"));
        }
        if let Mutation::Bind { lease: Some(_), .. } | Mutation::Renew { .. } | Mutation::Release { .. } = mutation {
            let message = "a local tree keeps no leases: what is bound there goes with its node; bind through an HA context";
            return Reply::Failed(fault::not_supported(message));
        }
        if let Mutation::ResolveConflict { .. } = mutation {
            let message = "a local tree has no conflicts: nobody writes to it but its node; ask an HA context";
            return Reply::Failed(fault::not_supported(message));
        }
        self.apply(&self.local, Source::Local, mutation)
    }

    fn apply(&self, tree: &Tree, source: Source, mutation: &Mutation) -> Reply {
        match apply(tree, mutation) {
            Ok(Change::Done(Done::Written(version))) => Reply::Done(Answer::Written(self.written(version))),
            Ok(Change::Done(Done::Removed(version))) => {
                Reply::Done(Answer::Removed { existed: version.is_some(), written: self.written(version) })
            }
            Ok(Change::Link(link)) => Reply::Done(Answer::Link(self.link_met(&link, source))),
            Err(error) => Reply::Failed(fault::from_error(error)),
        }
    }

    /// A local tree has one member: its node.
    fn written(&self, version: Option<Version>) -> Written {
        Written { version, acked_by: vec![Arc::clone(&self.name)], live: 1, members: 1 }
    }
}

fn apply(tree: &Tree, mutation: &Mutation) -> Result<Change<Done>, NamingError> {
    let wrote = |version| Done::Written(Some(version));
    Ok(match mutation {
        Mutation::Bind { name, content, replace, create_parents, lease: _ } => {
            let options = BindOptions { replace: *replace, create_parents: *create_parents };
            told(tree.bind(&parse(name)?, content.clone(), options)?, wrote)
        }
        Mutation::Unbind { name } => told(tree.unbind(&parse(name)?)?, Done::Removed),
        Mutation::Rename { from, to } => told(tree.rename(&parse(from)?, &parse(to)?)?, Done::Written),
        Mutation::CreateSubcontext { name, create_parents } => {
            told(tree.create_subcontext(&parse(name)?, *create_parents)?, wrote)
        }
        Mutation::DestroySubcontext { name } => told(tree.destroy_subcontext(&parse(name)?)?, Done::Removed),
        // Refused before.
        Mutation::ResolveConflict { .. } | Mutation::Renew { .. } | Mutation::Release { .. } => Change::Done(Done::Written(None)),
    })
}

/// What was done, or the link that stands on the way to it.
fn told<T>(change: Change<T>, done: impl FnOnce(T) -> Done) -> Change<Done> {
    match change {
        Change::Done(what) => Change::Done(done(what)),
        Change::Link(link) => Change::Link(link),
    }
}
