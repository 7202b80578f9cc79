//! Values as they are bound, and back: [`Content`] beside [`Value`].

use super::entry::{Content, EntryKind};
use super::error::{ErrorKind, NamingError};
use super::reference::LinkRef;
use super::shared;
use super::value::Value;

/// The longest class name, in bytes: every listing carries it.
const MAX_CLASS_NAME: usize = 1024;

impl Value {
    /// The value as it is bound. `LimitExceeded` where it is over a limit, `InvalidName` for a link to what is no name.
    pub fn to_content(&self) -> Result<Content, NamingError> {
        let content = match self {
            Self::Link(link) => Content::link(&link.target),
            value => Content {
                kind: if matches!(value, Self::Reference(_)) { EntryKind::Reference } else { EntryKind::Value },
                class_name: shared::shared(value.class_name()),
                value: value.encode()?,
                instance: None,
            },
        };
        content.check()?;
        Ok(content)
    }

    /// The value that is bound. `InvalidValue` where the bytes are none, and for a context, which has no value.
    pub fn from_content(content: &Content) -> Result<Self, NamingError> {
        Self::of_kind(content.kind, &content.value)
    }

    /// The same for what is of that kind and has these bytes.
    pub fn of_kind(kind: EntryKind, value: &[u8]) -> Result<Self, NamingError> {
        match kind {
            EntryKind::Link => link_target(value).map(|target| Self::Link(LinkRef::new(target))),
            EntryKind::Context => Err(NamingError::new(ErrorKind::InvalidValue, "a context has no value")),
            EntryKind::Reference => match Self::decode(value)? {
                reference @ Self::Reference(_) => Ok(reference),
                other => {
                    let message = format!("bound as a reference, it is a {}", other.class_name());
                    Err(NamingError::new(ErrorKind::InvalidValue, message))
                }
            },
            EntryKind::Value => Self::decode(value),
        }
    }
}

impl Content {
    /// Refuses what must not be bound: a value or class name over its limit (`LimitExceeded`), a link to what is no
    /// name (`InvalidName`), a context, an instance without a sensible weight (`InvalidValue`). The value's bytes are not
    /// read.
    pub fn check(&self) -> Result<(), NamingError> {
        if self.kind == EntryKind::Context {
            let message = "a context is no value to bind; create_subcontext makes one";
            return Err(NamingError::new(ErrorKind::InvalidValue, message));
        }
        let metadata = self.instance.as_ref().map_or(0, |instance| instance.metadata.len());
        for (what, length, limit) in [
            ("the value", self.value.len(), Value::MAX_BYTES),
            ("the class name", self.class_name.len(), MAX_CLASS_NAME),
            ("the instance's metadata", metadata, Value::MAX_BYTES),
        ] {
            if length > limit {
                let message = format!("{what} is {length} bytes long; {limit} are allowed");
                return Err(NamingError::new(ErrorKind::LimitExceeded, message));
            }
        }
        if let Some(instance) = &self.instance
            && !(instance.weight.is_finite() && instance.weight > 0.0)
        {
            let message = format!("an instance's weight is positive and finite, not {}", instance.weight);
            return Err(NamingError::new(ErrorKind::InvalidValue, message));
        }
        if self.kind == EntryKind::Link {
            LinkRef::parse_target(link_target(&self.value)?)?;
        }
        Ok(())
    }
}

/// The target of a link.
pub(super) fn link_target(value: &[u8]) -> Result<&str, NamingError> {
    std::str::from_utf8(value).map_err(|_| NamingError::new(ErrorKind::InvalidValue, "the target of the link is not UTF-8"))
}
