//! What shows in text that an exception is several at once: Python's `ExceptionGroup`, .NET's `AggregateException`, Node's
//! `AggregateError`, and where each member of it begins.

/// How the classes of groups end.
const GROUPS: &[&str] = &["ExceptionGroup", "AggregateException", "AggregateError", "MultiError"];

/// Whether a class is a group's.
pub fn is_group(class: &str) -> bool {
    GROUPS.iter().any(|end| class.ends_with(end))
}

/// What begins members, where a word begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// The first one, or the next one.
    One { is_first: bool },
    /// All of them, each by its class.
    Each,
}

/// What begins members at `at`, and where that ends: Python's rule `---- 1 ----`, .NET's `---> (Inner Exception #1)`,
/// Node's `[errors]: [`.
pub fn begins(text: &str, at: usize) -> Option<(Begins, usize)> {
    let (before, rest) = text.split_at(at);
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        let number = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
        let ruled = before.trim_end().ends_with("---") && rest[number..].trim_start().starts_with("---");
        return ruled.then(|| (Begins::One { is_first: &rest[..number] == "1" }, at + number));
    }
    if let Some(inner) = rest.strip_prefix("Inner Exception #").filter(|_| before.ends_with('(')) {
        let number = inner.bytes().take(4).take_while(u8::is_ascii_digit).count();
        let end = text.len() - inner.len() + number + 1;
        return inner[number..].starts_with(')').then(|| (Begins::One { is_first: &inner[..number] == "0" }, end));
    }
    let each = rest.starts_with("errors]: [") && before.ends_with('[');
    each.then_some((Begins::Each, at + "errors]: [".len()))
}

/// Whether a line is the rule before a member.
pub fn is_rule(line: &str) -> bool {
    let number = line.trim_start_matches(['+', '-', '|', ' ']);
    let digits = number.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let ruled = line.len() > number.len() || line.contains("---");
    digits > 0
        && ruled
        && number[digits..].trim_start().starts_with("---")
        && number[digits..].trim_matches([' ', '-']).is_empty()
}

/// Whether a line ends a group: a rule without a number.
pub fn ends_group(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("+---") && line.bytes().skip(1).all(|b| b == b'-')
}
