//! Logical lines: comments and blank lines left out, continued ones joined.

/// Each logical line and the number of its first, from 1. Its leading blanks are gone.
pub fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in physical_lines(text).enumerate() {
        let line = line.trim_start_matches(is_blank);
        let (start, mut logical) = match open.take() {
            Some(continued) => continued,
            None if line.is_empty() || line.starts_with(['#', '!']) => continue,
            None => (number + 1, String::new()),
        };
        if is_continued(line) {
            logical.push_str(&line[..line.len() - 1]);
            open = Some((start, logical));
        } else {
            logical.push_str(line);
            found.push((start, logical));
        }
    }
    found.extend(open);
    found
}

/// Java's white space within a line.
pub fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Lines end with `\n`, `\r` or both.
fn physical_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// An odd number of backslashes at the end; an even one is as many halves of them.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
