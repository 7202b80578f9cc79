//! Text whose lines were cut at a margin, within words where it came so: as terminals and mail programs do.
//!
//! A cut line is as long as the margin is wide, and no line is longer. That is also true of the longest line of any text, so
//! more must speak for it: several such lines, or a margin that is in use; and words that go on behind it.

use super::line;
use super::shape::frame;
use super::shape::words::starts;

/// Text as lines that were cut at a margin.
pub struct Uncut {
    /// The text, each line whole again.
    pub text: String,
    /// Several lines are as long as the margin.
    pub is_evident: bool,
}

/// Margins in use.
const MARGINS: &[usize] = &[60, 64, 70, 72, 75, 76, 78, 79, 80, 100, 120, 128, 132, 160];
const LEAST: usize = 40;
/// More than this is a log, which nobody pasted.
const MOST_BYTES: usize = 64 * 1024;

/// The text with the lines joined that were cut, if some were.
pub fn uncut(text: &str) -> Option<Uncut> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let length = |line: &&str| line.chars().count();
    let margin = lines.iter().map(length).max().filter(|margin| *margin >= LEAST)?;
    let (mut out, mut cut, mut within) = (String::with_capacity(text.len()), 0, 0);
    for (at, line) in lines.iter().enumerate() {
        out.push_str(line);
        match lines.get(at + 1).filter(|next| length(line) == margin && goes_on(line, next)) {
            Some(next) => {
                cut += 1;
                within += usize::from(line.ends_with(joins) && next.starts_with(joins));
            }
            None => out.push('\n'),
        }
    }
    // Most breaks at a margin are within a word.
    let is_evident = cut > 1 && within * 2 >= cut;
    (is_evident || (within > 0 && MARGINS.contains(&margin))).then_some(Uncut { text: out, is_evident })
}

/// What the middle of a word, a path or a number is made of.
fn joins(c: char) -> bool {
    c.is_alphanumeric() || "._$/:-([=,'\"".contains(c)
}

/// Words that a part of a trace begins with.
const BEGUN: &[&str] = &["Caused by:", "Suppressed:", "Traceback (most", "The above exception", "During handling"];
/// Packages that no word within another one begins with.
const ROOTS: &[&str] = &["java.", "javax.", "jakarta.", "org.", "com.", "sun.", "io.", "net.", "weblogic.", "System."];

/// Whether a line may be the rest of the one before: it begins nothing of its own, and that one ends with no class or frame.
fn goes_on(line: &str, next: &str) -> bool {
    let begun = next.trim_start();
    // What both begin with is a prefix.
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let own = begun.is_empty()
        || first(line) == first(next)
        || BEGUN.iter().any(|words| starts(begun, words).is_some())
        || frame::end(begun, 0).is_some()
        || (!line.ends_with('.') && ROOTS.iter().any(|root| begun.starts_with(root)));
    let is_frame = line.find("File \"").is_some_and(|at| frame::end(line, at) == Some(line.len()));
    let is_class = ["Exception", "Error"].iter().any(|end| line.ends_with(end));
    !own && !is_class && !is_frame && !line::strip(next).is_record
}
