//! What was found of many names. The values stay in the replies that brought them, and are read where they lie.

use std::collections::HashMap;

use crate::naming::{EntryKind, Name, Seen};
use crate::protocol::Items;

/// What is bound at each of many names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    replies: Vec<Items>,
    places: Vec<Option<Place>>,
    led: HashMap<usize, Name>,
}

/// What is bound at one of many names.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOfMany<'a> {
    /// What kind of thing it is.
    pub kind: EntryKind,
    /// The value's canonical bytes.
    pub value: &'a [u8],
    /// The name from the root under which it stands, where links led to another than was asked for.
    pub at: Option<&'a Name>,
}

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    kind: EntryKind,
    reply: u32,
    start: u32,
    end: u32,
}

impl Settled {
    /// Of so many names, none of which is settled yet.
    pub(super) fn new(names: usize) -> Self {
        Self { places: vec![None; names], ..Self::default() }
    }

    /// The name at `index` is bound to what `reply` shows; links led to it at another name, if anywhere.
    pub(super) fn settle(&mut self, index: usize, reply: &Items, seen: &Seen, led: Option<Name>) {
        let range = reply.range_of(seen.value);
        // A reply fits a frame, whose length has 32 bits, and each brings one name at least.
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (reply, start, end) = (number(self.replies.len()), number(range.start), number(range.end));
        self.places[index] = Some(Place { kind: seen.kind, reply, start, end });
        self.led.extend(led.map(|name| (index, name)));
    }

    /// Keeps the reply that [`settle`](Self::settle) was shown last.
    pub(super) fn keep(&mut self, reply: Items) {
        self.replies.push(reply);
    }

    /// What is bound at each name, in the order in which they were given; `None` where nothing is.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<OneOfMany<'_>>> {
        self.places.iter().enumerate().map(|(index, place)| {
            let Place { kind, reply, start, end } = (*place)?;
            let value = self.replies.get(reply as usize)?.as_bytes().get(start as usize..end as usize)?;
            Some(OneOfMany { kind, value, at: self.led.get(&index) })
        })
    }
}
