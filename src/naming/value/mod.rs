//! Values: data, never code.
//!
//! A [`Value`] has one canonical encoding, and two values are equal exactly where their canonical bytes are: the keys
//! of a dict are sorted, `True`, `1` and `1.0` differ, `0.0` and `-0.0` differ, every NaN is the same NaN. Only the two ends read these
//! bytes; a server carries them.

mod decode;
mod encode;
mod tag;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use super::reference::{LinkRef, Reference};

/// What can be bound.
#[derive(Clone, Debug)]
pub enum Value {
    /// `None`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping from texts.
    Dict(BTreeMap<String, Value>),
    /// How to reach an object that lives elsewhere.
    Reference(Reference),
    /// A symbolic link.
    Link(LinkRef),
}

impl Value {
    /// How deep lists and dicts may stand in each other.
    pub const MAX_DEPTH: usize = 32;

    /// The longest encoding, in bytes, unless a limit is given.
    pub const MAX_BYTES: usize = 64 << 10;

    /// The class as listings show it: Python's name of the type, or the class that a reference names.
    pub fn class_name(&self) -> &str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Reference(reference) => &reference.class_name,
            Self::Link(_) => "link",
        }
    }
}

/// The bits by which a float is encoded and compared: those of one quiet NaN for all NaNs.
fn float_bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() & !(1 << 63) } else { number.to_bits() }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => float_bits(*a) == float_bits(*b),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Dict(a), Self::Dict(b)) => a == b,
            (Self::Reference(a), Self::Reference(b)) => a == b,
            (Self::Link(a), Self::Link(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(value) => value.hash(state),
            Self::Float(value) => float_bits(*value).hash(state),
            Self::Str(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
            Self::List(value) => value.hash(state),
            Self::Dict(value) => value.hash(state),
            Self::Reference(value) => value.hash(state),
            Self::Link(value) => value.hash(state),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Str(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Self::List(value)
    }
}

impl From<BTreeMap<String, Value>> for Value {
    fn from(value: BTreeMap<String, Value>) -> Self {
        Self::Dict(value)
    }
}

impl From<Reference> for Value {
    fn from(value: Reference) -> Self {
        Self::Reference(value)
    }
}

impl From<LinkRef> for Value {
    fn from(value: LinkRef) -> Self {
        Self::Link(value)
    }
}
