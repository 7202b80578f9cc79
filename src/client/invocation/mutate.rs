//! Mutations: links on the way are followed, a link at the end is what is changed.

use std::sync::Arc;
use std::time::Duration;

use crate::naming::LinkWalk;
use crate::naming::{Content, Name, NamingError, Version};
use crate::protocol::{LinkMet, Mutation, Written};

use super::{BindOptions, Product};

/// A change and the names that it is of by now.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Bind { name: Name, content: Content, options: BindOptions },
    Unbind { name: Name },
    Rename { from: Name, to: Name, to_given: Name, to_walk: Option<LinkWalk> },
    Create { name: Name, create_parents: bool },
    Destroy { name: Name },
    Resolve { name: Name, keep: Option<String> },
    Renew { name: Name, version: Version },
    Release { name: Name, version: Version },
}

/// What a change does to leases.
pub(in super::super) enum LeaseChange<'a> {
    /// What is bound at the name has one from now on.
    Given { name: &'a Name, lease: Duration },
    /// What is bound there has none any longer, or nothing is bound.
    Ended { name: &'a Name },
    /// It is taken along.
    Moved { from: &'a Name, to: &'a Name },
}

impl Write {
    pub(super) fn lease_change(&self) -> Option<LeaseChange<'_>> {
        Some(match self {
            Self::Bind { name, options: BindOptions { lease: Some(lease), .. }, .. } => {
                LeaseChange::Given { name, lease: Duration::from_millis((*lease).into()) }
            }
            Self::Bind { name, .. } | Self::Unbind { name } | Self::Release { name, .. } => LeaseChange::Ended { name },
            Self::Rename { from, to, .. } => LeaseChange::Moved { from, to },
            Self::Create { .. } | Self::Destroy { .. } | Self::Resolve { .. } | Self::Renew { .. } => return None,
        })
    }

    pub(super) fn mutation(&self) -> Mutation {
        match self {
            Self::Bind { name, content, options } => Mutation::Bind {
                name: name.as_str().to_owned(),
                content: content.clone(),
                replace: options.replace,
                create_parents: options.create_parents,
                lease: options.lease,
            },
            Self::Unbind { name } => Mutation::Unbind { name: name.as_str().to_owned() },
            Self::Rename { from, to, .. } => Mutation::Rename { from: from.to_string(), to: to.to_string() },
            Self::Create { name, create_parents } => {
                Mutation::CreateSubcontext { name: name.as_str().to_owned(), create_parents: *create_parents }
            }
            Self::Destroy { name } => Mutation::DestroySubcontext { name: name.as_str().to_owned() },
            Self::Resolve { name, keep } => Mutation::ResolveConflict { name: name.as_str().to_owned(), keep: keep.clone() },
            Self::Renew { name, version } => Mutation::Renew { name: name.as_str().to_owned(), version: *version },
            Self::Release { name, version } => Mutation::Release { name: name.as_str().to_owned(), version: *version },
        }
    }

    /// The name that it's of by now; of a rename, the old one.
    pub(super) fn name(&self) -> &Name {
        match self {
            Self::Bind { name, .. }
            | Self::Unbind { name }
            | Self::Create { name, .. }
            | Self::Destroy { name }
            | Self::Resolve { name, .. }
            | Self::Renew { name, .. }
            | Self::Release { name, .. } => name,
            Self::Rename { from, .. } => from,
        }
    }

    /// Goes on behind a link that stands on the way to one of its names. `given` and `walk` are those of the first name.
    pub(super) fn follow(&mut self, met: &LinkMet, given: &Name, walk: &mut Option<LinkWalk>) -> Result<(), NamingError> {
        match self {
            Self::Bind { name, .. }
            | Self::Unbind { name }
            | Self::Create { name, .. }
            | Self::Destroy { name }
            | Self::Resolve { name, .. }
            | Self::Renew { name, .. }
            | Self::Release { name, .. } => {
                *name = super::hops::follow(walk, name, given, met)?;
            }
            Self::Rename { from, to, to_given, to_walk } => {
                let met_by_first = Name::parse(&met.at)?.join(&Name::parse(&met.rest)?) == *from;
                if met_by_first {
                    *from = super::hops::follow(walk, from, given, met)?;
                } else {
                    *to = super::hops::follow(to_walk, to, to_given, met)?;
                }
            }
        }
        Ok(())
    }

    /// Whether its caller is told something that its success alone does not say: whether there was anything to remove.
    pub(super) fn tells(&self) -> bool {
        matches!(self, Self::Unbind { .. } | Self::Destroy { .. })
    }

    /// What is known where it's certain that it ran at this node, and no more.
    pub(super) fn assumed(&self, node: &Arc<str>) -> Option<Product> {
        let written = Written { version: None, acked_by: vec![Arc::clone(node)], live: 1, members: 1 };
        match self {
            Self::Bind { .. } | Self::Rename { .. } | Self::Create { .. } | Self::Resolve { .. } | Self::Renew { .. } => {
                Some(Product::Written(written))
            }
            Self::Release { .. } => Some(Product::Removed { existed: true, written }),
            Self::Unbind { .. } | Self::Destroy { .. } => None,
        }
    }
}
