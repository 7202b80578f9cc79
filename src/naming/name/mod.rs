//! Composite names: what everything is bound and looked up by.
//!
//! A [`Name`] is a sequence of components. Its *canonical text* is the one spelling that a name has everywhere: on
//! the wire, as a key of the trees, in messages. `Name::parse(name.as_str()) == name` holds for every name, whatever
//! its components are made of; so two names are equal exactly where their canonical texts are.
//!
//! The empty name (`""`) means the context itself. An empty *component* is legal in a name (`"a//b"`) and refused by
//! every operation on a tree. Limits are checked by operations too, not by parsing.

mod components;
mod syntax;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;
use std::sync::{Arc, LazyLock, OnceLock};

use super::error::{ErrorKind, NamingError};

pub use components::Components;
pub(super) use syntax::escaped;

/// An immutable composite name. Cheap to clone.
#[derive(Clone)]
pub struct Name(Arc<Parts>);

struct Parts {
    text: Arc<str>,
    /// Split off when somebody first asks for all of them as they are kept: most names are only ever looked up, compared and
    /// walked by their text, and a tree has many. Until then the text is *plain*: no component is empty, escaped or quoted.
    components: OnceLock<Box<[Arc<str>]>>,
}

static EMPTY: LazyLock<Name> = LazyLock::new(|| Name::from_parts(Vec::new()));

impl Name {
    /// The longest canonical text an operation takes, in bytes of UTF-8.
    pub const MAX_BYTES: usize = 1024;

    /// The most components an operation takes.
    pub const MAX_COMPONENTS: usize = 32;

    /// Reads a name: `/` separates, `\` escapes, `'` and `"` quote at the start of a component. The error
    /// (`InvalidName`) says which character is wrong.
    pub fn parse(text: &str) -> Result<Self, NamingError> {
        if text.is_empty() {
            return Ok(Self::empty());
        }
        if Self::is_plain(text) {
            return Ok(Self::of_plain(text));
        }
        match syntax::parse(text) {
            Ok(components) => Ok(Self::from_parts(components)),
            Err(error) => Err(NamingError::new(ErrorKind::InvalidName, error.to_string()).with_name(text)),
        }
    }

    /// Whether a text is a name whose components are what stands between its separators: none is empty, escaped or
    /// quoted.
    pub fn is_plain(text: &str) -> bool {
        syntax::is_plain(text)
    }

    /// The name of no component: the context itself.
    pub fn empty() -> Self {
        EMPTY.clone()
    }

    /// A name of these components, taken as they are: nothing in them separates, escapes or quotes.
    pub fn from_components<I>(components: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        Self::from_parts(components.into_iter().map(|component| Arc::from(component.as_ref())).collect())
    }

    fn from_parts(components: Vec<Arc<str>>) -> Self {
        let text = Arc::from(syntax::canonical(&components));
        Self(Arc::new(Parts { text, components: OnceLock::from(components.into_boxed_slice()) }))
    }

    /// The components, unescaped.
    pub fn components(&self) -> &[Arc<str>] {
        self.0.components.get_or_init(|| self.0.text.split('/').map(Arc::from).collect())
    }

    /// The components as strings.
    pub fn iter(&self) -> Components<'_> {
        match self.0.components.get() {
            Some(components) => Components::split(components),
            None => Components::plain(&self.0.text, count_plain(&self.0.text)),
        }
    }

    /// The text, where it is plain as far as is known.
    fn plain(&self) -> Option<&str> {
        self.0.components.get().is_none().then_some(&*self.0.text)
    }

    /// The name of a plain text.
    fn of_plain(text: &str) -> Self {
        Self(Arc::new(Parts { text: Arc::from(text), components: OnceLock::new() }))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The canonical text, shared.
    pub fn text(&self) -> &Arc<str> {
        &self.0.text
    }

    /// How many components it has.
    pub fn len(&self) -> usize {
        match self.0.components.get() {
            Some(components) => components.len(),
            None => count_plain(&self.0.text),
        }
    }

    /// Whether it has no component at all.
    pub fn is_empty(&self) -> bool {
        self.0.components.get().is_some_and(|components| components.is_empty())
    }

    /// The component at `index`, from 0.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.iter().nth(index)
    }

    /// The last component.
    pub fn last(&self) -> Option<&str> {
        self.iter().next_back()
    }

    /// The name without its last component; `None` for the empty name.
    pub fn parent(&self) -> Option<Self> {
        (!self.is_empty()).then(|| self.prefix(self.len() - 1))
    }

    /// The first `count` components, or all where there are fewer.
    pub fn prefix(&self, count: usize) -> Self {
        self.slice(..count)
    }

    /// What is left without the first `skipped` components.
    pub fn suffix(&self, skipped: usize) -> Self {
        self.slice(skipped..)
    }

    /// The components of a range, which is cut to those that exist.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Self {
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => usize::MAX,
        }
        .min(self.len());
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        }
        .min(end);
        if start == 0 && end == self.len() {
            return self.clone();
        }
        if start == end {
            return Self::empty();
        }
        match self.plain() {
            Some(text) => Self::of_plain(plain_range(text, start, end)),
            None => Self::from_parts(self.components()[start..end].to_vec()),
        }
    }

    /// This name, followed by another.
    pub fn join(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        match (self.plain(), other.plain()) {
            (Some(before), Some(behind)) => Self::of_plain(&format!("{before}/{behind}")),
            _ => Self::from_parts(self.components().iter().chain(other.components()).cloned().collect()),
        }
    }

    /// This name, followed by one component, taken as it is.
    pub fn child(&self, component: &str) -> Self {
        Self::from_parts(self.components().iter().cloned().chain([Arc::from(component)]).collect())
    }

    /// This name, followed by one component in its canonical text, as listings give it.
    pub fn child_from_text(&self, text: &str) -> Self {
        Self::parse(text).map_or_else(|_| self.child(text), |component| self.join(&component))
    }

    /// Whether it begins with all components of `prefix`.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        let mut components = self.iter();
        prefix.iter().all(|component| components.next() == Some(component))
    }

    /// Refuses (`InvalidName`) what is over a limit: [`MAX_BYTES`](Self::MAX_BYTES) of canonical text,
    /// [`MAX_COMPONENTS`](Self::MAX_COMPONENTS).
    pub fn check_limits(&self) -> Result<(), NamingError> {
        within_limits(self.as_str(), self.len())
    }

    /// The same as [`check_operation`](Self::check_operation), for a name of which there is only the canonical text.
    pub fn check_text(text: &str) -> Result<(), NamingError> {
        if !Self::is_plain(text) {
            return Self::parse(text)?.check_operation();
        }
        within_limits(text, count_plain(text))
    }

    /// Refuses (`InvalidName`) what no operation on a tree takes: a name over a limit, or with an empty component.
    pub fn check_operation(&self) -> Result<(), NamingError> {
        self.check_limits()?;
        if self.0.components.get().is_none() {
            return Ok(());
        }
        match self.iter().position(str::is_empty) {
            None => Ok(()),
            Some(index) => {
                let problem = format!("component {} of {} is empty", index + 1, self.len());
                Err(NamingError::new(ErrorKind::InvalidName, problem).with_name(self.as_str()))
            }
        }
    }
}

/// The text of some components of a plain one, of which there is one at least.
fn plain_range(text: &str, start: usize, end: usize) -> &str {
    let separator = |nth: usize| text.match_indices('/').nth(nth).map(|(at, _)| at);
    let from = start.checked_sub(1).and_then(separator).map_or(0, |at| at + 1);
    let to = end.checked_sub(1).and_then(separator).unwrap_or(text.len());
    &text[from..to]
}

/// How many components a plain text has.
fn count_plain(text: &str) -> usize {
    1 + text.bytes().filter(|&byte| byte == b'/').count()
}

fn within_limits(text: &str, components: usize) -> Result<(), NamingError> {
    let problem = if components > Name::MAX_COMPONENTS {
        format!("the name has {components} components; {} are allowed", Name::MAX_COMPONENTS)
    } else if text.len() > Name::MAX_BYTES {
        format!("the name is {} bytes long; {} are allowed", text.len(), Name::MAX_BYTES)
    } else {
        return Ok(());
    };
    Err(NamingError::new(ErrorKind::InvalidName, problem).with_name(text))
}

impl Default for Name {
    fn default() -> Self {
        Self::empty()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.text.hash(state);
    }
}

/// By components, so that what stands under a context follows it at once.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.plain(), other.plain()) {
            (Some(own), Some(others)) => components::cmp_plain(own, others),
            _ => self.iter().cmp(other.iter()),
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The canonical text.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({:?})", self.as_str())
    }
}

impl FromStr for Name {
    type Err = NamingError;

    fn from_str(text: &str) -> Result<Self, NamingError> {
        Self::parse(text)
    }
}

impl<'a> IntoIterator for &'a Name {
    type Item = &'a str;
    type IntoIter = Components<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
