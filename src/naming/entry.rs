//! What stands at a name, and how it is told: contents, where an answer is from, the rows of a listing.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::shared::Text;

/// What kind of thing is bound at a name. A server reads this and the class name, and never the value's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    /// Plain data.
    Value,
    /// A [`Reference`](super::Reference).
    Reference,
    /// A symbolic link; the value's bytes are the target's text in UTF-8.
    Link,
    /// A context: it holds names of its own and has no value.
    Context,
}

impl EntryKind {
    /// The word used in listings and on the Python side.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Reference => "reference",
            Self::Link => "link",
            Self::Context => "context",
        }
    }
}

/// What an instance of a service tells beside its value (see `Node.register`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceDetail {
    /// Its share relative to the other instances; positive and finite.
    pub weight: f64,
    /// The canonical bytes of a `dict`, or of `None`.
    pub metadata: Bytes,
}

/// What is bound at a name. Cheap to clone. `N` and `V` hold texts and bytes: shared, or [as a frame has them](Seen).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "N: Serialize, V: Serialize", deserialize = "N: Text<'de>, V: Deserialize<'de>"))]
pub struct Content<N = Arc<str>, V = Bytes> {
    /// What kind of thing it is.
    pub kind: EntryKind,
    /// The class of the value as its binder named it: `"int"`, `"dict"`, a reference's class name, `"context"`.
    #[serde(deserialize_with = "N::read")]
    pub class_name: N,
    /// The value's canonical bytes; empty for a context.
    pub value: V,
    /// Set where the entry is a registered instance, which few are.
    pub instance: Option<Box<InstanceDetail>>,
}

/// A content that still lies in the frame which brought it.
pub type Seen<'a> = Content<&'a str, &'a [u8]>;

impl Content {
    /// The content of an empty context.
    pub fn context() -> Self {
        Self { kind: EntryKind::Context, class_name: Arc::from("context"), value: Bytes::new(), instance: None }
    }

    /// The content of a symbolic link to `target`.
    pub fn link(target: &str) -> Self {
        Self {
            kind: EntryKind::Link,
            class_name: Arc::from("link"),
            value: Bytes::copy_from_slice(target.as_bytes()),
            instance: None,
        }
    }
}

/// Values may be secrets: only their size is shown.
impl<N: fmt::Display, V: AsRef<[u8]>> fmt::Debug for Content<N, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({} bytes)", self.kind.as_str(), self.class_name, self.value.as_ref().len())
    }
}

/// Which write made what is bound: the tree's actor and its running number. Unique, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version {
    /// Who wrote: drawn anew for every tree that starts empty. Its bits are random, so it has all its bytes on the wire.
    #[serde(with = "actor")]
    pub actor: u128,
    /// The how-manieth write of that actor it was, from 1.
    pub sequence: u64,
}

/// An actor as 16 bytes.
mod actor {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(actor: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&actor.to_le_bytes())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        bytes.try_into().map(u128::from_le_bytes).map_err(|_| D::Error::invalid_length(bytes.len(), &"16 bytes"))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}.{}", self.actor >> 96, self.sequence)
    }
}

/// Which step of the lookup rule an answer is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Source {
    /// The replicated cluster tree.
    Cluster,
    /// The answering node's own local tree.
    Local,
    /// Another node's local tree.
    Peer,
}

impl Source {
    /// The word used in answers and on the Python side.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Local => "local",
            Self::Peer => "peer",
        }
    }
}

/// One row of a listing: a name, and where a lookup of it would be answered from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The last component of its name, in its canonical text: a name by itself, as it can be looked up and joined.
    /// Listings are in the order of these texts.
    pub component: String,
    /// What is bound there; the value's bytes are empty unless the listing asked for values.
    pub content: Content,
    /// The step of the lookup rule that would answer.
    pub source: Source,
    /// The node that would answer.
    #[serde(deserialize_with = "super::shared::deserialize")]
    pub node: Arc<str>,
    /// Which write made it.
    pub version: Option<Version>,
    /// All sources that have the name, the answering one first.
    pub sources: Vec<(Source, Arc<str>)>,
}
