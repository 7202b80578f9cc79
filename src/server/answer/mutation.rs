//! Changes: into the node's local tree, or into the cluster tree.
//!
//! A tree applies a change in one step and never waits, so each is answered at once. The cluster tree is not replicated
//! yet: a node that is alone may write into it, in a cluster of several the write is refused before anything ran.

use std::sync::Arc;

use crate::naming::{BindOptions, Change, Name, NamingError, Source, Tree, Version};
use crate::protocol::{Answer, Fault, Mutation, Reply, Scope, Written};

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
    /// Applies a change and tells what was done.
    pub fn mutate(&self, scope: Scope, mutation: &Mutation) -> Reply {
        let (tree, source) = match scope {
            Scope::Local => (&self.local, Source::Local),
            Scope::Cluster => (&self.cluster, Source::Cluster),
            Scope::Peer => return Reply::Failed(fault::not_supported("a node does not write into another's local tree")),
        };
        if let (Scope::Cluster, Mutation::Rename { from, to }) = (scope, mutation)
            && is_one_name(from, to)
        {
            return self.rename_onto_itself(mutation);
        }
        if let Some(refusal) = self.unsupported(scope, mutation) {
            return Reply::Failed(refusal);
        }
        self.apply(tree, source, mutation)
    }

    /// It changes nothing, so that it is no write, which a cluster of several nodes would refuse: the name only has to
    /// be there, in one of the trees that this node reads for a lookup.
    fn rename_onto_itself(&self, rename: &Mutation) -> Reply {
        let refused = match self.apply(&self.cluster, Source::Cluster, rename) {
            Reply::Failed(fault) => fault,
            done @ Reply::Done(_) => return done,
        };
        match self.apply(&self.local, Source::Local, rename) {
            Reply::Failed(_) => Reply::Failed(refused),
            done @ Reply::Done(_) => done,
        }
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

    fn unsupported(&self, scope: Scope, mutation: &Mutation) -> Option<Fault> {
        if let Mutation::Bind { lease: Some(_), .. } = mutation {
            return Some(fault::not_supported("the option lease is not supported yet; bind without it, and unbind when done"));
        }
        if scope == Scope::Cluster && !self.is_alone() {
            return Some(fault::not_supported(format!(
                "the cluster tree is not replicated yet, so a cluster of {} nodes takes no writes into it; bind through one \
                 node's local context (Context(\"hn://host:port\"), or node.local in process, or --local): every node \
                 finds what is bound there",
                self.bulletin().members()
            )));
        }
        None
    }

    fn written(&self, version: Option<Version>) -> Written {
        let bulletin = self.bulletin();
        Written { version, acked_by: vec![Arc::clone(&self.name)], live: bulletin.live(), members: bulletin.members() }
    }
}

fn is_one_name(from: &str, to: &str) -> bool {
    matches!((Name::parse(from), Name::parse(to)), (Ok(from), Ok(to)) if from == to)
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
    })
}

/// What was done, or the link that stands on the way to it.
fn told<T>(change: Change<T>, done: impl FnOnce(T) -> Done) -> Change<Done> {
    match change {
        Change::Done(what) => Change::Done(done(what)),
        Change::Link(link) => Change::Link(link),
    }
}
