//! Errno's symbols where no class stands, in a form that says that a call failed: `connect: EHOSTUNREACH`,
//! `recv failed: ECONNRESET`, `errno=ECONNREFUSED`, `[Errno ETIMEDOUT]`. A symbol alone is a matter of talk.

use crate::failure::Phase;

const SYMBOLS: &[&str] = &[
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "EHOSTUNREACH",
    "EHOSTDOWN",
    "ENETUNREACH",
    "ENETDOWN",
    "ETIMEDOUT",
    "EPIPE",
    "ENOTCONN",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EAI_NONAME",
    "EAI_FAIL",
    "EMFILE",
    "ENFILE",
    "ENOBUFS",
    "EADDRNOTAVAIL",
];

/// Calls of the system, and how far an exchange has come that one of them ends.
const CALLS: &[(&str, Option<Phase>)] = &[
    ("connect", Some(Phase::Connect)),
    ("getaddrinfo", Some(Phase::Resolve)),
    ("read", Some(Phase::Wait)),
    ("recv", Some(Phase::Wait)),
    ("recvmsg", Some(Phase::Wait)),
    ("recvfrom", Some(Phase::Wait)),
    ("send", None),
    ("sendmsg", None),
    ("sendto", None),
    ("write", None),
    ("writev", None),
    ("socket", None),
    ("poll", None),
];

/// A failed call at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// How far the exchange had come, where the call tells.
    pub phase: Option<Phase>,
    /// Where the symbol ends.
    pub length: usize,
}

/// The symbol of Node's `code: 'ECONNRESET'` at the start of a text, and where it ends.
pub fn property(text: &str) -> Option<(&str, usize)> {
    let value = text.strip_prefix("code:")?.trim_start_matches([' ', '\t']).strip_prefix('\'')?;
    let symbol = &value[..value.bytes().take(32).position(|b| b == b'\'')?];
    SYMBOLS.contains(&symbol).then_some((symbol, text.len() - value.len() + symbol.len()))
}

/// The failed call that a text begins with.
pub fn failed(text: &str) -> Option<Failed> {
    // Asked at each word: most are told by their first letter.
    if !matches!(text.as_bytes().first()?.to_ascii_lowercase(), b'e' | b'c' | b'g' | b'r' | b's' | b'w' | b'p') {
        return None;
    }
    let length = text.bytes().take(16).take_while(u8::is_ascii_alphanumeric).count();
    let word = &text[..length];
    let mut rest = &text[length..];
    let mut phase = None;
    if !word.eq_ignore_ascii_case("errno") {
        phase = CALLS.iter().find(|(call, _)| word.eq_ignore_ascii_case(call))?.1;
        rest = rest.strip_prefix("()").unwrap_or(rest);
        let next = rest.trim_start();
        rest = ["failed", "error"].into_iter().find_map(|failed| next.strip_prefix(failed)).unwrap_or(rest);
    }
    let symbol = rest.trim_start_matches([' ', '\t']);
    let symbol = symbol.strip_prefix([':', '=']).unwrap_or(symbol).trim_start_matches([' ', '\t', '\n']);
    if symbol.len() == rest.len() {
        return None;
    }
    let length = symbol.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(symbol.len());
    SYMBOLS.contains(&&symbol[..length]).then_some(Failed { phase, length: text.len() - symbol.len() + length })
}
