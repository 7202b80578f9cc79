//! Stack frames of Java, Python, .NET and Node.

use super::name::path;
use super::words::starts;

/// The end of the stack frame at `at`: Java's `at x.y.Z.m(F.java:1)`, Python's `File "f", line 1, in m`, and the words
/// for those left out.
pub fn end(text: &str, at: usize) -> Option<usize> {
    const MOST: usize = 400;
    let rest = &text[at..];
    if let Some(place) = rest.strip_prefix("at").filter(|place| place.starts_with([' ', '\t', '\n'])) {
        let place = place.trim_start();
        let skipped = rest.len() - place.len();
        // WildFly names a destination in the form of a frame.
        if place.starts_with("...use") {
            return place.bytes().take(MOST).position(|b| b == b')').map(|close| at + skipped + close + 1);
        }
        if let Some(length) = node_frame(place) {
            return Some(at + skipped + length);
        }
        let open = place.find(['(', ' ', '\t', '\n', '['])?;
        if place.as_bytes()[open] != b'(' {
            return place.starts_with("[internal classes]").then_some(at + skipped + 18);
        }
        let close = place.bytes().take(MOST).position(|b| b == b')')?;
        let module = place[..open].contains('.');
        return module.then_some(at + skipped + close + 1);
    }
    if let Some(length) = INNER_ENDS.iter().find_map(|words| starts(rest, words)) {
        return Some(at + length);
    }
    if rest.starts_with("File") {
        return python_frame(rest).map(|length| at + length);
    }
    let dots = rest.strip_prefix("... ").or_else(|| rest.strip_prefix("…"))?;
    let digits = dots.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let words = dots[digits..].trim_start();
    let more = ["more", "common frames omitted", "frames truncated"].into_iter().find(|more| words.starts_with(more))?;
    Some(at + rest.len() - words.len() + more.len())
}

/// Whether a line is the place of one of Java's frames and nothing else, as a wrap leaves it: `com.acme.Shop.pay(Shop.java:7)`.
pub fn is_place(line: &str) -> bool {
    let Some((method, place)) = line.trim().split_once('(') else { return false };
    let line_number = place.strip_suffix(')').and_then(|place| place.split_once(".java:"));
    let is_number = line_number.is_some_and(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()));
    is_number && method.contains('.') && path(method).is_some_and(|path| path.len() == method.len())
}

/// Between .NET's frames.
const INNER_ENDS: &[&str] = &["End of inner exception stack trace ---", "End of stack trace from previous location"];

/// The length of Node's place at the start of a text: `async main (/app/index.js:10:15)`, `node:net:1555:16`.
fn node_frame(text: &str) -> Option<usize> {
    const MOST: usize = 400;
    let end = text.bytes().take(MOST).position(|b| b == b'\n').unwrap_or(text.len().min(MOST));
    let line = text.get(..end)?.trim_end().trim_end_matches(['{', ',', ' ']);
    let place = line.strip_suffix(')').map_or(Some(line), |line| Some(line.rsplit_once('(')?.1))?;
    // Its line and its column.
    let mut parts = place.rsplitn(3, ':');
    let mut is_number = || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    (is_number() && is_number() && parts.next().is_some()).then_some(line.len())
}

/// The length of `File "socket.py", line 845, in create_connection`.
fn python_frame(text: &str) -> Option<usize> {
    const MOST: usize = 1000;
    let path = text.strip_prefix("File")?.trim_start().strip_prefix('"')?;
    let close = path.bytes().take(MOST).position(|b| b == b'"')?;
    let rest = path[close + 1..].strip_prefix(',')?.trim_start().strip_prefix("line")?.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let Some(name) = rest.strip_prefix(',').and_then(|rest| rest.trim_start().strip_prefix("in")) else {
        return Some(text.len() - rest.len());
    };
    let name = name.trim_start();
    let length = name.find(char::is_whitespace).unwrap_or(name.len());
    Some(text.len() - name.len() + length)
}
