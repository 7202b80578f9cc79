//! What terminals read as colours and movements, which loggers and `CPython` 3.13's tracebacks leave in their text. A
//! sequence may stand next to a class or within it, so it goes before anything is looked at.

/// How a sequence begins: as the terminal reads it, as rsyslog writes control characters, and as escapes in JSON,
/// in source text and of `cat -v`.
const STARTS: &[&str] = &["\u{1b}[", "\u{9b}", "#033[", "\\u001b[", "\\u001B[", "\\x1b[", "\\x1B[", "\\033[", "\\e[", "^[["];
const MOST: usize = 40;

/// The length of the control sequence at the start of a text; nothing where none is.
pub fn sequence(text: &str) -> Option<usize> {
    let start = STARTS.iter().find(|start| text.starts_with(**start))?.len();
    // Parameters and intermediates, then the one byte that says what to do.
    let inside = text.as_bytes()[start..].iter().take(MOST).take_while(|b| (0x20..0x40).contains(*b)).count();
    let last = *text.as_bytes().get(start + inside)?;
    // Written out as text, only a colour is told from what else may stand there.
    let is_raw = text.starts_with(['\u{1b}', '\u{9b}']);
    (last == b'm' || (is_raw && (0x40..0x7f).contains(&last))).then_some(start + inside + 1)
}
