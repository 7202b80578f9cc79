//! Java's `.properties` text, and lists of `-Dkey=value` as they stand in scripts.
//!
//! Escapes, continuation and separators are those of `java.util.Properties`; a line that is a command's options
//! (`-Dkey=value …`, `JAVA_OPTS="…"`) is read as such. Nothing is refused: a malformed escape stays as it is.

mod command;
mod escape;
mod line;

use command::definitions;
use line::logical_lines;

/// One property, as often as it stands there. The last one with a key wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key, without escapes.
    pub key: String,
    /// The value, without escapes. Java keeps blanks at its end.
    pub value: String,
    /// The line that it starts in, from 1; 0 where it comes from no text.
    pub line: usize,
    /// What set it.
    pub origin: Origin,
}

/// What sets a property. A JVM reads some only from one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a properties file, or an environment's entry.
    Entry,
    /// `-D`: a system property.
    Define,
}

/// Reads a text.
///
/// ```
/// use hanaming::discovery::properties;
///
/// let read = properties::read("java.naming.provider.url=jnp\\://h1\\:1099,\\\n    h2:1100");
/// assert_eq!(read[0].value, "jnp://h1:1099,h2:1100");
/// ```
pub fn read(text: &str) -> Vec<Property> {
    let mut properties = Vec::new();
    for (line, logical) in logical_lines(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        if let Some(defined) = definitions(&logical) {
            properties.extend(defined.into_iter().map(|(key, value)| Property { key, value, line, origin: Origin::Define }));
        } else {
            let (key, value) = escape::split(&logical);
            properties.push(Property { key: escape::plain(key), value: escape::plain(value), line, origin: Origin::Entry });
        }
    }
    properties
}
