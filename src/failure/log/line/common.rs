//! A prefix of no known form, which several lines share.

use super::Line;

/// The length of a prefix of no known form that each line has: up to a blank, and nothing that tells of a failure.
pub fn common_prefix<'a>(lines: impl ExactSizeIterator<Item = &'a Line>) -> usize {
    const MOST: usize = 80;
    let are_several = lines.len() > 1;
    let mut contents = lines.map(|line| line.content.as_str()).filter(|content| !content.is_empty());
    let Some(first) = contents.next().filter(|_| are_several) else { return 0 };
    // A line that is nothing but its prefix has lost the blank at its end.
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes().chain([b' '])).take(MOST).take_while(|(a, b)| a == b).count();
    let length = contents.map(|content| same(first, content)).min().unwrap_or(0);
    let Some(shared) = first.get(..length).and_then(|shared| Some(&shared[..=shared.rfind(' ')?])) else { return 0 };
    let tells = ["xception", "rror", "aused", "uppressed", "at ", "nested", "CORBA", "minor", "completed"];
    let is_prefix =
        !shared.trim().is_empty() && !shared.starts_with([' ', '\t']) && !tells.iter().any(|word| shared.contains(word));
    if is_prefix { shared.len() } else { 0 }
}
