//! Canonical bytes to a value. The bytes may be anybody's: nothing is believed.
//!
//! Only canonical bytes are taken, so that equal values have equal bytes wherever they are from. Nesting is counted
//! before it is entered, and memory is taken for what is there, never for what is announced.

use std::collections::BTreeMap;

use super::super::error::{ErrorKind, NamingError};
use super::super::reference::{Address, AddressContent, LinkRef, Reference};
use super::{Value, float_bits, tag};

impl Value {
    /// Reads canonical bytes, of which there may be [`MAX_BYTES`](Self::MAX_BYTES). `InvalidValue` says what is wrong
    /// at which byte.
    pub fn decode(bytes: &[u8]) -> Result<Self, NamingError> {
        Self::decode_within(bytes, Self::MAX_BYTES)
    }

    /// Reads canonical bytes, of which there may be `limit`.
    pub fn decode_within(bytes: &[u8], limit: usize) -> Result<Self, NamingError> {
        let mut reader = Reader { bytes, at: 0 };
        let read = if bytes.len() > limit { Err(Flaw::TooLong) } else { reader.whole() };
        read.map_err(|flaw| {
            let message = format!("the bytes are no value: {} at byte {} of {}", flaw.as_str(), reader.at, bytes.len());
            NamingError::new(ErrorKind::InvalidValue, message)
        })
    }
}

impl Value {
    /// The text, where the bytes are a `str`'s and nothing else: without a copy. `None` otherwise, and
    /// [`decode`](Self::decode) says what they are.
    pub fn text_of(bytes: &[u8]) -> Option<&str> {
        let mut reader = Reader { bytes, at: 0 };
        if bytes.len() > Self::MAX_BYTES || reader.byte().ok()? != tag::STR {
            return None;
        }
        let text = reader.text().ok()?;
        (reader.at == bytes.len()).then_some(text)
    }
}

/// What is wrong with the bytes.
#[derive(Clone, Copy)]
enum Flaw {
    TooLong,
    Truncated,
    Trailing,
    UnknownTag,
    MisplacedTag,
    LongVarint,
    LargeVarint,
    Announced,
    NotUtf8,
    KeyOrder,
    OddNan,
    TooDeep,
}

impl Flaw {
    fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too many",
            Self::Truncated => "the end comes too early",
            Self::Trailing => "something follows the value",
            Self::UnknownTag => "an unknown tag",
            Self::MisplacedTag => "a tag that has no place here",
            Self::LongVarint => "a number in a longer form than needed",
            Self::LargeVarint => "a number beyond 64 bits",
            Self::Announced => "more is announced than there is",
            Self::NotUtf8 => "a text that is not UTF-8",
            Self::KeyOrder => "a key out of order",
            Self::OddNan => "a NaN that is not the canonical one",
            Self::TooDeep => "nesting over the limit",
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<Value, Flaw> {
        let value = self.value(0)?;
        if self.at == self.bytes.len() { Ok(value) } else { Err(Flaw::Trailing) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Flaw> {
        Ok(match self.byte()? {
            tag::NULL => Value::Null,
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::INT => Value::Int(unzigzag(self.varint()?)),
            tag::FLOAT => Value::Float(self.float()?),
            tag::STR => Value::Str(self.text()?.to_owned()),
            tag::BYTES => Value::Bytes(self.sized()?.to_vec()),
            tag::LIST => Value::List(self.list(depth)?),
            tag::DICT => Value::Dict(self.dict(depth)?),
            tag::REFERENCE => Value::Reference(self.reference()?),
            tag::LINK => Value::Link(LinkRef::new(self.text()?)),
            _ => {
                self.at -= 1;
                return Err(Flaw::UnknownTag);
            }
        })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value>, Flaw> {
        if depth >= Value::MAX_DEPTH {
            return Err(Flaw::TooDeep);
        }
        let count = self.count()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(depth + 1)?);
        }
        Ok(items)
    }

    fn dict(&mut self, depth: usize) -> Result<BTreeMap<String, Value>, Flaw> {
        if depth >= Value::MAX_DEPTH {
            return Err(Flaw::TooDeep);
        }
        let count = self.count()?;
        let mut entries = BTreeMap::new();
        let mut last: Option<&str> = None;
        for _ in 0..count {
            let key = self.text()?;
            if last.is_some_and(|last| last >= key) {
                return Err(Flaw::KeyOrder);
            }
            last = Some(key);
            entries.insert(key.to_owned(), self.value(depth + 1)?);
        }
        Ok(entries)
    }

    fn reference(&mut self) -> Result<Reference, Flaw> {
        let class_name = self.text()?.to_owned();
        let count = self.count()?;
        let mut addresses = Vec::new();
        for _ in 0..count {
            let kind = self.text()?.to_owned();
            let content = match self.byte()? {
                tag::STR => AddressContent::Text(self.text()?.to_owned()),
                tag::BYTES => AddressContent::Bytes(self.sized()?.to_vec()),
                _ => return Err(self.misplaced()),
            };
            addresses.push(Address { kind, content });
        }
        let factory = match self.byte()? {
            tag::NULL => None,
            tag::STR => Some(self.text()?.to_owned()),
            _ => return Err(self.misplaced()),
        };
        Ok(Reference { class_name, addresses, factory })
    }

    fn misplaced(&mut self) -> Flaw {
        self.at -= 1;
        Flaw::MisplacedTag
    }

    fn byte(&mut self) -> Result<u8, Flaw> {
        let byte = *self.bytes.get(self.at).ok_or(Flaw::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Flaw> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                return Err(Flaw::LargeVarint);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 { Err(Flaw::LongVarint) } else { Ok(number) };
            }
        }
        Err(Flaw::LargeVarint)
    }

    /// A count of things that take a byte each at least.
    fn count(&mut self) -> Result<usize, Flaw> {
        let left = self.bytes.len();
        let count = usize::try_from(self.varint()?).map_err(|_| Flaw::Announced)?;
        if count > left - self.at { Err(Flaw::Announced) } else { Ok(count) }
    }

    fn sized(&mut self) -> Result<&'a [u8], Flaw> {
        let length = self.count()?;
        let bytes = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Flaw> {
        std::str::from_utf8(self.sized()?).map_err(|_| Flaw::NotUtf8)
    }

    fn float(&mut self) -> Result<f64, Flaw> {
        let bytes = self.bytes[self.at..].first_chunk::<8>().ok_or(Flaw::Truncated)?;
        let bits = u64::from_le_bytes(*bytes);
        let number = f64::from_bits(bits);
        if float_bits(number) != bits {
            return Err(Flaw::OddNan);
        }
        self.at += 8;
        Ok(number)
    }
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
