//! An exception that is named twice: by the line that tells of it, and at the head of its trace.

use crate::failure::Thrown;
use crate::failure::log::line::Line;
use crate::failure::log::shape::class;

/// Whether the event's one exception is named once more by a line, which tells all that was said of it: a class alone, as the
/// head of `WebSphere`'s incidents has it, or a class and a message that stood behind other words.
pub fn goes_on(lines: &[Line], next: &Line) -> bool {
    let Some((first, named)) = lines.iter().find_map(|line| Some((line, class::first(&line.content)?))) else { return false };
    let Some(again) = class::first(&next.content) else { return false };
    if Thrown::simple_name(named.class) != Thrown::simple_name(again.class) {
        return false;
    }
    let begins = |line: &Line, at: usize| line.content[..at].trim().is_empty();
    let said = first.content[named.end..].trim_matches([':', ' ', '\t', '.', ';']);
    let says = next.content[again.end..].trim_start_matches([':', ' ', '\t']);
    let is_head = !begins(first, named.end - named.class.len());
    says.starts_with(said) && (said.is_empty() || (is_head && begins(next, again.end - again.class.len())))
}
