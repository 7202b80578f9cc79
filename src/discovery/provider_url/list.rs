//! Lists of addresses: `a,b`, with what people put between them by mistake.

/// One entry of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The scheme, where the entry has one of its own.
    pub scheme: Option<&'a str>,
    /// What stands between the scheme and the path.
    pub authority: &'a str,
    /// What follows it from the first of `/`, `?`, `#`.
    pub path: &'a str,
    /// What stands before the entry where a comma should.
    pub stray: Option<char>,
    /// The entry as it was written.
    pub text: &'a str,
}

/// Splits at commas, and at `;` and blanks, which stand where a comma should. Empty entries come as they are.
pub fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = Some(text.trim());
    let mut stray = None;
    std::iter::from_fn(move || {
        let text = rest?;
        let (entry, next, separator) = cut(text);
        rest = next;
        let found = read(entry, stray);
        stray = separator.filter(|c| *c != ',');
        Some(found)
    })
}

/// One entry by itself.
pub fn entry(text: &str) -> Entry<'_> {
    read(text.trim(), None)
}

/// The first entry, the rest if there is one, and what stands between: a comma or `;` with its blanks, else a blank.
fn cut(text: &str) -> (&str, Option<&str>, Option<char>) {
    let Some(at) = text.find(|c: char| c == ',' || c == ';' || c.is_whitespace()) else { return (text, None, None) };
    let (entry, after) = text.split_at(at);
    let next = after.trim_start();
    match next.chars().next() {
        Some(c @ (',' | ';')) => (entry, Some(next[1..].trim_start()), Some(c)),
        _ => (entry, Some(next), Some(' ')),
    }
}

fn read(text: &str, stray: Option<char>) -> Entry<'_> {
    let (scheme, rest) = scheme(text).map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Entry { scheme, authority: &rest[..end], path: &rest[end..], stray, text }
}

/// The scheme before `://` and what follows, where it has a scheme's characters.
pub fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let first = scheme.bytes().next()?;
    let sound =
        first.is_ascii_alphabetic() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    sound.then_some((scheme, rest))
}

/// The sentence about a separator that is none.
pub fn stray_separator(stray: char, scheme: &str) -> String {
    let shown = if stray == ';' { "\";\"" } else { "a blank" };
    format!("{shown} is read as a separator; addresses are separated by commas: {scheme}://h1:port,h2:port")
}
