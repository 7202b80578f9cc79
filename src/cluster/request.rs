//! What a client asks of the cluster tree.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::naming::{Content, EntryKind, Name};
use crate::protocol::OperationId;

use super::vector::{Dot, Seen};
use super::wire;

/// A change that a client asks for. It executes as *one* event, whatever it writes: all of it or nothing, on every
/// node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Marks it, however often it is sent and to whomever.
    #[serde(with = "wire::numbered")]
    pub operation: OperationId,
    /// The name to change; of a rename the old one.
    #[serde(with = "wire::name")]
    pub name: Name,
    /// How.
    pub intent: Intent,
    /// The client says that it sent this before.
    pub is_retry: bool,
    /// All that the client has seen: a node that is behind it does not answer.
    pub token: Seen,
    /// Whose acknowledgements are waited for.
    pub level: Level,
    /// How long the client waits.
    pub within: Duration,
}

/// The change itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Intent {
    /// Create if absent.
    Bind(Binding),
    /// Create or replace.
    Rebind(Binding),
    /// Remove if present; an empty context too.
    Unbind,
    /// Move what is bound, not a context, to a name that is free.
    Rename {
        /// The new name.
        #[serde(with = "wire::name")]
        to: Name,
    },
    /// Create a context if the name is free.
    CreateSubcontext {
        /// Make the contexts on the way.
        create_parents: bool,
    },
    /// Remove an empty context if present.
    DestroySubcontext,
    /// End a conflict: one version stays, all others go.
    ResolveConflict {
        /// The version that stays; `None` keeps a context that is there for what lies under it.
        #[serde(with = "wire::perhaps_numbered")]
        keep: Option<Dot>,
    },
    /// A lease goes on: its time starts anew.
    Renew {
        /// The version that the lease was given to.
        #[serde(with = "wire::numbered")]
        version: Dot,
    },
    /// A lease is given back: the version that has it is removed if it is there, and nothing else.
    Release {
        /// The version that the lease was given to.
        #[serde(with = "wire::numbered")]
        version: Dot,
    },
}

/// What is bound, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The content.
    pub content: Content,
    /// Make the contexts on the way.
    pub create_parents: bool,
    /// How long it stays unless it is renewed; `None` for good.
    pub lease: Option<Duration>,
}

impl Binding {
    /// Bound for good, beneath a context that exists.
    pub fn of(content: Content) -> Self {
        Self { content, create_parents: false, lease: None }
    }
}

impl Request {
    /// The name at which the event stands that tells what became of the operation.
    pub fn principal(&self) -> &Name {
        match &self.intent {
            Intent::Rename { to } => to,
            _ => &self.name,
        }
    }

    /// A digest of what is asked for, to notice an id that is used for something else.
    pub fn digest(&self) -> u32 {
        self.intent.digest(&self.name)
    }
}

impl Intent {
    /// Binds, if the name is free.
    pub fn bind(content: Content) -> Self {
        Self::Bind(Binding::of(content))
    }

    /// Binds, whatever is there.
    pub fn rebind(content: Content) -> Self {
        Self::Rebind(Binding::of(content))
    }

    /// Whether it must be the only one of its kind, so that others may object to it.
    pub fn is_exclusive(&self) -> bool {
        matches!(self, Self::Bind(_) | Self::Rename { .. } | Self::CreateSubcontext { .. })
    }

    /// Whether the contexts on the way are made.
    pub fn creates_parents(&self) -> bool {
        match self {
            Self::Bind(binding) | Self::Rebind(binding) => binding.create_parents,
            Self::CreateSubcontext { create_parents } => *create_parents,
            _ => false,
        }
    }

    /// FNV-1a over all that is asked for: the same everywhere.
    fn digest(&self, name: &Name) -> u32 {
        let mut digest = Digest::new();
        digest.bytes(name.as_str().as_bytes());
        match self {
            Self::Bind(binding) => digest.binding(1, binding),
            Self::Rebind(binding) => digest.binding(2, binding),
            Self::Unbind => digest.bytes(&[3]),
            Self::Rename { to } => {
                digest.bytes(&[4]);
                digest.bytes(to.as_str().as_bytes());
            }
            Self::CreateSubcontext { create_parents } => digest.bytes(&[5, u8::from(*create_parents)]),
            Self::DestroySubcontext => digest.bytes(&[6]),
            Self::ResolveConflict { keep } => digest.version(7, *keep),
            Self::Renew { version } => digest.version(8, Some(*version)),
            Self::Release { version } => digest.version(9, Some(*version)),
        }
        digest.folded()
    }
}

/// Whose acknowledgements a write waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// The coordinator's own.
    One,
    /// Those of all live nodes that are not lagging.
    #[default]
    AllLive,
}

/// A digest of the operation that bound what is moved.
pub(super) fn digest_of(operation: OperationId) -> u32 {
    let mut digest = Digest::new();
    digest.bytes(&operation.client.to_le_bytes());
    digest.bytes(&operation.sequence.to_le_bytes());
    digest.folded()
}

/// Each part is closed by its length, so that no two requests read the same.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in bytes.iter().chain(&length) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn folded(&self) -> u32 {
        u32::try_from((self.0 ^ (self.0 >> 32)) & u64::from(u32::MAX)).unwrap_or_default()
    }

    fn version(&mut self, kind: u8, version: Option<Dot>) {
        self.bytes(&[kind]);
        if let Some(dot) = version {
            self.bytes(&dot.actor.to_le_bytes());
            self.bytes(&dot.sequence.to_le_bytes());
        }
    }

    fn binding(&mut self, kind: u8, binding: &Binding) {
        let content = &binding.content;
        let entry = match content.kind {
            EntryKind::Value => 1,
            EntryKind::Reference => 2,
            EntryKind::Link => 3,
            EntryKind::Context => 4,
        };
        self.bytes(&[kind, entry, u8::from(binding.create_parents)]);
        self.bytes(content.class_name.as_bytes());
        self.bytes(&content.value);
        if let Some(instance) = &content.instance {
            self.bytes(&instance.weight.to_bits().to_le_bytes());
            self.bytes(&instance.metadata);
        }
        if let Some(lease) = binding.lease {
            self.bytes(&lease.as_micros().to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_otherwise_digests_otherwise() {
        let name = Name::parse("a").unwrap();
        let dot = Dot { actor: 1, sequence: 2 };
        let with = |change: fn(&mut Binding)| {
            let mut binding = Binding::of(Content::link("x"));
            change(&mut binding);
            Intent::Bind(binding)
        };
        let intents = [
            Intent::bind(Content::link("x")),
            Intent::bind(Content::link("y")),
            Intent::rebind(Content::link("x")),
            Intent::bind(Content { kind: EntryKind::Value, ..Content::link("x") }),
            with(|binding| binding.create_parents = true),
            with(|binding| binding.lease = Some(Duration::from_secs(1))),
            with(|binding| binding.lease = Some(Duration::from_secs(2))),
            Intent::Unbind,
            Intent::Rename { to: Name::parse("b").unwrap() },
            Intent::Rename { to: Name::parse("c").unwrap() },
            Intent::CreateSubcontext { create_parents: false },
            Intent::CreateSubcontext { create_parents: true },
            Intent::DestroySubcontext,
            Intent::ResolveConflict { keep: None },
            Intent::ResolveConflict { keep: Some(dot) },
            Intent::Renew { version: dot },
            Intent::Release { version: dot },
        ];
        let digests: std::collections::BTreeSet<u32> = intents.iter().map(|intent| intent.digest(&name)).collect();
        assert_eq!(digests.len(), intents.len());
        assert!(!digests.contains(&Intent::Unbind.digest(&Name::parse("b").unwrap())));
    }
}
