//! Short texts that repeat from message to message (names of nodes, class names) are read into one shared copy.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// How many texts a thread keeps.
const KEPT: usize = 8;
/// A longer text is never kept.
const LONGEST: usize = 64;

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::default();
}

/// The texts that a thread read last.
#[derive(Default)]
struct Recent {
    texts: [Option<Arc<str>>; KEPT],
    next: usize,
}

impl Recent {
    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.iter().flatten().find(|known| ***known == *text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        if text.len() <= LONGEST {
            self.texts[self.next] = Some(Arc::clone(&new));
            self.next = (self.next + 1) % KEPT;
        }
        new
    }
}

/// The copy of a text that this thread shares.
pub fn shared(text: &str) -> Arc<str> {
    RECENT.with_borrow_mut(|recent| recent.share(text))
}

/// For serde's `deserialize_with`.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    deserializer.deserialize_str(Share)
}

/// A text that can be read from a frame.
pub trait Text<'de>: Sized {
    /// Reads it.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de> Text<'de> for Arc<str> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

/// It stays in the frame.
impl<'de: 'a, 'a> Text<'de> for &'a str {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer)
    }
}

struct Share;

impl Visitor<'_> for Share {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Arc<str>, E> {
        Ok(shared(text))
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, LONGEST, Recent};
    use std::sync::Arc;

    #[test]
    fn a_text_that_was_read_lately_is_shared_and_a_long_one_never() {
        let mut recent = Recent::default();
        let first = recent.share("n1");
        assert!(Arc::ptr_eq(&first, &recent.share("n1")));
        for number in 0..KEPT {
            recent.share(&format!("other {number}"));
        }
        let again = recent.share("n1");
        assert!(!Arc::ptr_eq(&first, &again) && *again == *first);
        let long = "x".repeat(LONGEST + 1);
        assert!(!Arc::ptr_eq(&recent.share(&long), &recent.share(&long)));
    }
}
