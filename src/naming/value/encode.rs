//! A value to its canonical bytes, within limits. What is over a limit is named by its place in the value.

use std::fmt;

use bytes::Bytes;

use super::super::error::{ErrorKind, NamingError};
use super::super::reference::{AddressContent, Reference};
use super::{Value, float_bits, tag};

impl Value {
    /// The canonical bytes. `LimitExceeded` where it is over [`MAX_DEPTH`](Self::MAX_DEPTH) or
    /// [`MAX_BYTES`](Self::MAX_BYTES); the message says at which part.
    pub fn encode(&self) -> Result<Bytes, NamingError> {
        self.encode_within(Self::MAX_BYTES)
    }

    /// The canonical bytes, of which there may be `limit`.
    pub fn encode_within(&self, limit: usize) -> Result<Bytes, NamingError> {
        let mut encoder = Encoder { out: Vec::new(), limit };
        encoder.value(self, &Place::Whole, 0)?;
        Ok(Bytes::from(encoder.out))
    }
}

struct Encoder {
    out: Vec<u8>,
    limit: usize,
}

impl Encoder {
    fn value(&mut self, value: &Value, place: &Place, depth: usize) -> Result<(), NamingError> {
        match value {
            Value::Null => self.bytes(&[tag::NULL], place),
            Value::Bool(false) => self.bytes(&[tag::FALSE], place),
            Value::Bool(true) => self.bytes(&[tag::TRUE], place),
            Value::Int(number) => {
                self.bytes(&[tag::INT], place)?;
                self.varint(zigzag(*number), place)
            }
            Value::Float(number) => {
                self.bytes(&[tag::FLOAT], place)?;
                self.bytes(&float_bits(*number).to_le_bytes(), place)
            }
            Value::Str(text) => self.tagged(tag::STR, text.as_bytes(), place),
            Value::Bytes(bytes) => self.tagged(tag::BYTES, bytes, place),
            Value::List(items) => {
                Self::check_depth(depth, place)?;
                self.bytes(&[tag::LIST], place)?;
                self.count(items.len(), place)?;
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &Place::Item(place, index), depth + 1)?;
                }
                Ok(())
            }
            Value::Dict(entries) => {
                Self::check_depth(depth, place)?;
                self.bytes(&[tag::DICT], place)?;
                self.count(entries.len(), place)?;
                for (key, item) in entries {
                    let place = Place::Key(place, key);
                    self.sized(key.as_bytes(), &place)?;
                    self.value(item, &place, depth + 1)?;
                }
                Ok(())
            }
            Value::Reference(reference) => self.reference(reference, place),
            Value::Link(link) => self.tagged(tag::LINK, link.target.as_bytes(), place),
        }
    }

    fn reference(&mut self, reference: &Reference, place: &Place) -> Result<(), NamingError> {
        self.tagged(tag::REFERENCE, reference.class_name.as_bytes(), &Place::Field(place, "class_name"))?;
        let addresses = Place::Field(place, "addresses");
        self.count(reference.addresses.len(), &addresses)?;
        for (index, address) in reference.addresses.iter().enumerate() {
            let place = Place::Item(&addresses, index);
            self.sized(address.kind.as_bytes(), &place)?;
            match &address.content {
                AddressContent::Text(text) => self.tagged(tag::STR, text.as_bytes(), &place)?,
                AddressContent::Bytes(bytes) => self.tagged(tag::BYTES, bytes, &place)?,
            }
        }
        match &reference.factory {
            None => self.bytes(&[tag::NULL], place),
            Some(factory) => self.tagged(tag::STR, factory.as_bytes(), &Place::Field(place, "factory")),
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8], place: &Place) -> Result<(), NamingError> {
        self.bytes(&[tag], place)?;
        self.sized(bytes, place)
    }

    fn sized(&mut self, bytes: &[u8], place: &Place) -> Result<(), NamingError> {
        self.count(bytes.len(), place)?;
        self.bytes(bytes, place)
    }

    fn count(&mut self, count: usize, place: &Place) -> Result<(), NamingError> {
        self.varint(count as u64, place)
    }

    fn varint(&mut self, mut number: u64, place: &Place) -> Result<(), NamingError> {
        let mut bytes = [0; 10];
        let mut length = 0;
        loop {
            let low = (number & 0x7F) as u8;
            number >>= 7;
            bytes[length] = if number == 0 { low } else { low | 0x80 };
            length += 1;
            if number == 0 {
                return self.bytes(&bytes[..length], place);
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8], place: &Place) -> Result<(), NamingError> {
        if bytes.len() > self.limit.saturating_sub(self.out.len()) {
            return Err(self.too_long(place));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn too_long(&self, place: &Place) -> NamingError {
        let message = match place {
            Place::Whole => format!("value is over {} bytes encoded", self.limit),
            part => format!("value is over {} bytes encoded: the limit is passed at {part}", self.limit),
        };
        NamingError::new(ErrorKind::LimitExceeded, message)
    }

    fn check_depth(depth: usize, place: &Place) -> Result<(), NamingError> {
        if depth < Value::MAX_DEPTH {
            return Ok(());
        }
        let message = format!("{place} is nested over {} deep", Value::MAX_DEPTH);
        Err(NamingError::new(ErrorKind::LimitExceeded, message))
    }
}

/// Interleaves the signs, so that small numbers of either sign are short.
fn zigzag(number: i64) -> u64 {
    (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned()
}

/// A part of a value, as an expression: `value["a"][3]`.
enum Place<'a> {
    Whole,
    Item(&'a Place<'a>, usize),
    Key(&'a Place<'a>, &'a str),
    Field(&'a Place<'a>, &'static str),
}

/// Keys are shown up to here: a message is read by people.
const SHOWN_KEY: usize = 40;

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("value"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Field(parent, field) => write!(f, "{parent}.{field}"),
            Self::Key(parent, key) => match key.char_indices().nth(SHOWN_KEY) {
                None => write!(f, "{parent}[{key:?}]"),
                Some((end, _)) => write!(f, "{parent}[{:?}…]", &key[..end]),
            },
        }
    }
}
