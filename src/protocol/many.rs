//! Many names in one request, and the answers to them: each in one piece of memory, not in a thousand.
//!
//! Names are [`Texts`]. Answers are [`Items`], which stay as they are on the wire: a server encodes each straight from
//! what its tree holds, and a client reads one after the other where it wants it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::body::{append, decode_next};
use super::error::ProtocolError;
use super::fault::Fault;
use super::found::LinkMet;
use crate::naming::{Content, Version};

/// Texts in their order. On the wire they are a sequence of strings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// None, and room for so many short ones.
    pub fn with_capacity(count: usize) -> Self {
        /// About the length of a name.
        const SHORT: usize = 32;
        Self { text: String::with_capacity(count * SHORT), ends: Vec::with_capacity(count) }
    }

    /// Appends one.
    pub fn push(&mut self, text: &str) {
        self.push_joined([text]);
    }

    /// Appends one that is made of these parts.
    pub fn push_joined<'a>(&mut self, parts: impl IntoIterator<Item = &'a str>) {
        self.text.extend(parts);
        self.ends.push(self.text.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The one at `index`, from 0; the empty text where there are fewer.
    pub fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or_default());
        self.ends.get(index).map_or("", |end| &self.text[start..*end])
    }

    /// All, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Gather;
        impl<'de> Visitor<'de> for Gather {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence of texts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Texts, A::Error> {
                // How many are announced is not believed: memory is taken for what came.
                let mut all = Texts::default();
                while let Some(text) = texts.next_element::<&str>()? {
                    all.push(text);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Gather)
    }
}

/// One answer among many. `C` is the content found: owned, or as a tree or a frame has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ManyItem<C = Content> {
    /// It is bound.
    Found {
        /// What is bound.
        content: C,
        /// Which write made it.
        version: Option<Version>,
    },
    /// A link is on the way.
    Link(Box<LinkMet>),
    /// Every node that had to be asked answered that it has no such name, or that something on the way is no context.
    Absent {
        /// Some tree said "not a context".
        not_context: bool,
        /// How many components of the name lead to what is no context, or to the context that has not the next one.
        resolved: u32,
    },
    /// Nobody had it, and some node was silent.
    Unknown {
        /// The nodes that answered.
        answered: Vec<Arc<str>>,
        /// The nodes that did not.
        silent: Vec<Arc<str>>,
    },
    /// It could not be looked up at all.
    Fault(Box<Fault>),
}

/// The answers to many lookups, each as it is on the wire.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Items(Bytes);

impl Items {
    /// Reads one after the other; an item that can't be read is the last. `C` borrows from here where it can.
    pub fn iter<'a, C: Deserialize<'a>>(&'a self) -> impl Iterator<Item = Result<ManyItem<C>, ProtocolError>> {
        ItemReader { rest: &self.0, _of: PhantomData }
    }

    /// All, where all can be read.
    pub fn to_vec(&self) -> Result<Vec<ManyItem>, ProtocolError> {
        self.iter().collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them as they are on the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Where in [`as_bytes`](Self::as_bytes) a part lies that an item has borrowed from it.
    pub fn range_of(&self, part: &[u8]) -> Range<usize> {
        let start = part.as_ptr().addr().saturating_sub(self.0.as_ptr().addr());
        start..start + part.len()
    }
}

impl FromIterator<ManyItem> for Items {
    fn from_iter<I: IntoIterator<Item = ManyItem>>(items: I) -> Self {
        let mut writer = ItemWriter::default();
        items.into_iter().for_each(|item| writer.push(&item));
        writer.finish()
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter::<Content>()).finish()
    }
}

/// Makes [`Items`].
#[derive(Debug, Default)]
pub struct ItemWriter {
    out: BytesMut,
    count: usize,
}

impl ItemWriter {
    /// Appends one.
    pub fn push<C: Serialize>(&mut self, item: &ManyItem<C>) {
        self.count += 1;
        append(&mut self.out, item);
    }

    /// Appends one where all together then take no more than `room` bytes; gives whether it did.
    pub fn push_within<C: Serialize>(&mut self, item: &ManyItem<C>, room: usize) -> bool {
        let before = self.out.len();
        self.push(item);
        let fits = self.out.len() <= room;
        if !fits {
            self.out.truncate(before);
            self.count -= 1;
        }
        fits
    }

    /// How many were appended.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The items.
    pub fn finish(self) -> Items {
        Items(self.out.freeze())
    }
}

struct ItemReader<'a, C> {
    rest: &'a [u8],
    _of: PhantomData<C>,
}

impl<'a, C: Deserialize<'a>> Iterator for ItemReader<'a, C> {
    type Item = Result<ManyItem<C>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let read = decode_next(self.rest);
        self.rest = read.as_ref().map_or(&[], |(_, rest)| rest);
        Some(read.map(|(item, _)| item))
    }
}
