//! The components of a name one by one, without splitting off what nobody asked to keep.

use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

/// The components of a name, in order.
#[derive(Clone, Debug)]
pub struct Components<'a>(Source<'a>);

#[derive(Clone, Debug)]
enum Source<'a> {
    /// They were split off before.
    Split(slice::Iter<'a, Arc<str>>),
    /// They are what stands between the separators of a text, so many of them.
    Plain { rest: &'a str, left: usize },
}

impl<'a> Components<'a> {
    pub(super) fn split(components: &'a [Arc<str>]) -> Self {
        Self(Source::Split(components.iter()))
    }

    /// Those of a plain text.
    pub(super) fn plain(text: &'a str, count: usize) -> Self {
        Self(Source::Plain { rest: text, left: count })
    }
}

impl<'a> Iterator for Components<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        match &mut self.0 {
            Source::Split(components) => components.next().map(AsRef::as_ref),
            Source::Plain { rest, left } => {
                *left = left.checked_sub(1)?;
                let (component, behind) = rest.split_once('/').unwrap_or((rest, ""));
                *rest = behind;
                Some(component)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Source::Split(components) => components.len(),
            Source::Plain { left, .. } => *left,
        };
        (left, Some(left))
    }
}

impl<'a> DoubleEndedIterator for Components<'a> {
    fn next_back(&mut self) -> Option<&'a str> {
        match &mut self.0 {
            Source::Split(components) => components.next_back().map(AsRef::as_ref),
            Source::Plain { rest, left } => {
                *left = left.checked_sub(1)?;
                let (before, component) = rest.rsplit_once('/').unwrap_or(("", rest));
                *rest = before;
                Some(component)
            }
        }
    }
}

impl ExactSizeIterator for Components<'_> {}

/// How two plain texts compare, component by component, without looking for where these end: at the first byte that differs, a
/// separator comes before all else, for the component that it ends is the beginning of the other. Trees compare names all the
/// time.
pub(super) fn cmp_plain(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    // Names in one tree begin alike: eight bytes at a time.
    while let (Some((own, more)), Some((others, more_others))) = (one.split_first_chunk::<8>(), other.split_first_chunk())
        && own == others
    {
        (one, other) = (more, more_others);
    }
    let rank = |byte: u8| (byte != b'/', byte);
    match one.iter().zip(other).find(|(own, others)| own != others) {
        Some((own, others)) => rank(*own).cmp(&rank(*others)),
        None => one.len().cmp(&other.len()),
    }
}
