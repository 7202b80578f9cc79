//! What stands against a request: the table of outcomes, as a coordinator finds them on its copy of the tree.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::shown::Short;
use crate::naming::{Content, Detail, EntryKind, ErrorKind, Listed, Name, NamingError, Source};

use super::record::Sibling;
use super::shown::Shown;
use super::vector::Dot;
use super::wire;

/// Why a request can't be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Obstacle {
    /// The first `resolved` components of the name lead to a context that has not the next one.
    NotFound {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// How much of it leads somewhere.
        resolved: u32,
    },
    /// What is bound at the first `resolved` components of the name is no context.
    NotContext {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// How much of it names what is no context.
        resolved: u32,
    },
    /// The name is taken.
    AlreadyBound {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// By this.
        existing: Existing,
    },
    /// The context has children, this one among them.
    NotEmpty {
        /// The context's name.
        #[serde(with = "wire::name")]
        name: Name,
        /// The child's own name.
        #[serde(with = "wire::name")]
        child: Name,
    },
    /// A context can't be renamed.
    ContextMoves {
        /// The context's name.
        #[serde(with = "wire::name")]
        name: Name,
    },
    /// The version that was meant no longer stands at the name.
    Superseded {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// The version.
        #[serde(with = "wire::numbered")]
        version: Dot,
    },
    /// The cluster tree may not grow so far.
    OverQuota {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// What would be exceeded.
        quota: Quota,
    },
    /// It could not be done when it was asked first, and is not done later.
    CameToNothing {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
    },
}

/// What a name is taken by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Existing {
    /// What kind of thing.
    pub kind: EntryKind,
    /// Of which class.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub class_name: Arc<str>,
    /// Which write made it; `None` for a context that is there for what lies under it.
    #[serde(with = "wire::perhaps_numbered")]
    pub version: Option<Dot>,
    /// The node that coordinated that write.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub writer: Arc<str>,
}

/// How large the cluster tree may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quota {
    /// So many names.
    Names(u64),
    /// So many bytes of values.
    Bytes(u64),
}

impl Obstacle {
    /// The error that users see, in the words that all trees use.
    pub fn error(&self) -> NamingError {
        match self {
            Self::NotFound { name, resolved } => NamingError::name_not_found(name, *resolved as usize),
            Self::NotContext { name, resolved } => NamingError::not_context(name, *resolved as usize),
            Self::AlreadyBound { name, existing } => existing.error(name),
            Self::NotEmpty { name, child } => {
                let message = format!("the context is not empty: it holds '{}'", Short(child.as_str()));
                whole(NamingError::new(ErrorKind::ContextNotEmpty, message), name)
            }
            Self::ContextMoves { name } => {
                let message = "a context can't be renamed; rename what it holds, name by name";
                NamingError::new(ErrorKind::OperationNotSupported, message).with_name(name.as_str())
            }
            Self::Superseded { name, version } => {
                let message = format!("version {version} no longer stands there");
                whole(NamingError::new(ErrorKind::NameNotFound, message), name)
            }
            Self::CameToNothing { name } => {
                let message =
                    "this change could not be made when it was tried first, and is not made by a retry: ask for it anew";
                NamingError::new(ErrorKind::OperationNotSupported, message).with_name(name.as_str())
            }
            Self::OverQuota { name, quota } => {
                let message = match quota {
                    Quota::Names(names) => format!("the cluster tree holds {names} names, and may hold no more"),
                    Quota::Bytes(bytes) => format!("the cluster tree's values may take {bytes} bytes, and would take more"),
                };
                NamingError::new(ErrorKind::LimitExceeded, message).with_name(name.as_str())
            }
        }
    }
}

impl Existing {
    /// This version.
    pub fn of(sibling: &Sibling) -> Self {
        Self {
            kind: sibling.content.kind,
            class_name: Arc::clone(&sibling.content.class_name),
            version: Some(sibling.dot),
            writer: Arc::clone(&sibling.writer),
        }
    }

    /// A context, made by somebody or there for what lies under it.
    pub fn context(shown: &Shown) -> Self {
        let implied = || {
            let content = Content::context();
            Self { kind: content.kind, class_name: content.class_name, version: None, writer: Arc::from("") }
        };
        shown.sibling().map_or_else(implied, |sibling| Self::of(sibling))
    }

    fn error(&self, name: &Name) -> NamingError {
        let what = match self.kind {
            EntryKind::Context => "a context".to_owned(),
            EntryKind::Link => "a link".to_owned(),
            EntryKind::Value | EntryKind::Reference => format!("a value of class '{}'", Short(&self.class_name)),
        };
        let by = if self.writer.is_empty() { String::new() } else { format!(" by {}", self.writer) };
        let version = self.version.map_or_else(String::new, |version| format!(" (version {version})"));
        let message = format!("already bound in the cluster tree{by}, to {what}{version}");
        let (kind, class_name) = (self.kind, Arc::clone(&self.class_name));
        let listed = Listed {
            component: name.suffix(name.len().saturating_sub(1)).as_str().to_owned(),
            content: Content { kind, class_name, value: bytes::Bytes::new(), instance: None },
            source: Source::Cluster,
            node: Arc::clone(&self.writer),
            version: self.version,
            sources: vec![(Source::Cluster, Arc::clone(&self.writer))],
        };
        whole(NamingError::new(ErrorKind::NameAlreadyBound, message), name).with_detail(Detail::Existing(Box::new(listed)))
    }
}

/// Nothing of the name remained to be resolved.
fn whole(error: NamingError, name: &Name) -> NamingError {
    error.with_name(name.as_str()).with_resolution(name.as_str(), "")
}
