//! How the engines spell in bytes what serde would spell badly or not at all.
//!
//! Ids are drawn at random, so all their bytes count: 16 raw bytes, where an integer of variable length takes up to
//! 19. A name is its canonical text, and what arrives is a name that an operation takes, or nothing. The modules here
//! are for serde's `with`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::naming::{Name, Version};
use crate::protocol::OperationId;

/// An id and a number: the shape of dots and of operation ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Numbered([u8; 16], u64);

impl From<Version> for Numbered {
    fn from(dot: Version) -> Self {
        Self(dot.actor.to_le_bytes(), dot.sequence)
    }
}

impl From<Numbered> for Version {
    fn from(raw: Numbered) -> Self {
        Self { actor: u128::from_le_bytes(raw.0), sequence: raw.1 }
    }
}

impl From<OperationId> for Numbered {
    fn from(operation: OperationId) -> Self {
        Self(operation.client.to_le_bytes(), operation.sequence)
    }
}

impl From<Numbered> for OperationId {
    fn from(raw: Numbered) -> Self {
        Self { client: u128::from_le_bytes(raw.0), sequence: raw.1 }
    }
}

/// An id.
pub(super) mod raw {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(id: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        id.to_le_bytes().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        <[u8; 16]>::deserialize(deserializer).map(u128::from_le_bytes)
    }
}

/// A dot or an operation id.
pub(super) mod numbered {
    use super::{Deserialize, Deserializer, Numbered, Serialize, Serializer};

    pub fn serialize<T: Copy + Into<Numbered>, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        (*id).into().serialize(serializer)
    }

    pub fn deserialize<'de, T: From<Numbered>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Numbered::deserialize(deserializer).map(T::from)
    }
}

/// A dot or an operation id, or none.
pub(super) mod perhaps_numbered {
    use super::{Deserialize, Deserializer, Numbered, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub fn serialize<T: Copy + Into<Numbered>, S: Serializer>(id: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        id.map(Into::into).serialize(serializer)
    }

    pub fn deserialize<'de, T: From<Numbered>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Ok(Option::<Numbered>::deserialize(deserializer)?.map(T::from))
    }
}

/// A name, as its canonical text.
pub(super) mod name {
    use std::fmt;

    use serde::de::{Error, Visitor};

    use super::{Deserializer, Name, Serializer};

    pub fn serialize<S: Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(name.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(Text)
    }

    struct Text;

    impl Visitor<'_> for Text {
        type Value = Name;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a name that an operation takes")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
            // The limit comes first: nothing is built of a text that is over it.
            if text.len() > Name::MAX_BYTES {
                return Err(E::custom("a name over its limit"));
            }
            let name = Name::parse(text).map_err(E::custom)?;
            name.check_operation().map_err(E::custom)?;
            Ok(name)
        }
    }
}
