//! References and links: values that point at something else.

use super::error::{ErrorKind, NamingError};
use super::name::Name;
use super::shown::Short;

/// How to reach an object that lives elsewhere: its class, addresses of several kinds, and the name of the factory
/// that makes it. A client uses only factories that its own process registered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The class of the object referred to.
    pub class_name: String,
    /// Where it can be reached, in order of preference.
    pub addresses: Vec<Address>,
    /// Under which name the factory is registered; `None` where the reference itself is what callers want.
    pub factory: Option<String>,
}

impl Reference {
    /// A reference without addresses and factory.
    pub fn new(class_name: impl Into<String>) -> Self {
        Self { class_name: class_name.into(), addresses: Vec::new(), factory: None }
    }

    /// With one more address in text, such as `("url", "http://10.0.0.5:8080")`.
    pub fn with_text(mut self, kind: impl Into<String>, text: impl Into<String>) -> Self {
        self.addresses.push(Address { kind: kind.into(), content: AddressContent::Text(text.into()) });
        self
    }

    /// With one more address in bytes.
    pub fn with_bytes(mut self, kind: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.addresses.push(Address { kind: kind.into(), content: AddressContent::Bytes(bytes.into()) });
        self
    }

    /// With the name of a factory.
    pub fn with_factory(mut self, factory: impl Into<String>) -> Self {
        self.factory = Some(factory.into());
        self
    }
}

/// One address of a [`Reference`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// What kind of address it is, such as `"url"` or `"host"`.
    pub kind: String,
    /// The address.
    pub content: AddressContent,
}

/// What an [`Address`] consists of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AddressContent {
    /// A text.
    Text(String),
    /// Bytes, such as a stringified stub.
    Bytes(Vec<u8>),
}

/// A symbolic link. A target that starts with `./` is relative to the context in which the link is bound, every other
/// one to the root; `.` and `..` mean nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinkRef {
    /// The name it leads to, in the syntax of names.
    pub target: String,
}

impl LinkRef {
    /// What a relative target starts with.
    pub const RELATIVE: &str = "./";

    /// A link to `target`, which is checked when the link is bound.
    pub fn new(target: impl Into<String>) -> Self {
        Self { target: target.into() }
    }

    /// The name that a target spells, and whether it is relative to the link's own context. Refuses (`InvalidName`)
    /// what no operation would take.
    pub fn parse_target(target: &str) -> Result<(Name, bool), NamingError> {
        let (text, relative) = match target.strip_prefix(Self::RELATIVE) {
            Some(rest) => (rest, true),
            None => (target, false),
        };
        let name = Name::parse(text).and_then(|name| name.check_operation().map(|()| name));
        match name {
            Ok(name) => Ok((name, relative)),
            Err(error) => {
                let message = format!("the target '{}' of a link is no name: {}", Short(target), error.fields().message);
                Err(NamingError::new(ErrorKind::InvalidName, message))
            }
        }
    }
}
