//! Words that are looked for, however they are spaced, and classes by how they end.

/// Whether a status of gRPC belongs to that class.
pub fn status_class(class: &str) -> bool {
    ["RpcError", "Rendezvous", "StatusRuntimeException", "StatusException", "RpcException"].iter().any(|end| class.ends_with(end))
}

/// The length of `words` at the start of a text, where any blanks stand for one.
pub fn starts(text: &str, words: &str) -> Option<usize> {
    if text.as_bytes().first() != words.as_bytes().first() {
        return None;
    }
    let mut rest = text;
    for (at, word) in words.trim_end().split(' ').enumerate() {
        let after = rest.trim_start();
        if at > 0 && after.len() == rest.len() {
            return None;
        }
        rest = if at == 0 { rest } else { after }.strip_prefix(word)?;
    }
    if words.ends_with(' ') && !rest.starts_with([' ', '\n', '\t']) {
        return None;
    }
    Some(text.len() - rest.len())
}

/// The first bytes of a text: what is looked at from each of many places must be short.
pub fn near(text: &str) -> &str {
    const NEAR_BYTES: usize = 200;
    let mut end = text.len().min(NEAR_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The places of a text, from `start` on, at which a word begins.
pub fn places(text: &str, start: usize) -> impl Iterator<Item = usize> + '_ {
    let joins = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || !b.is_ascii();
    let bytes = text.as_bytes();
    (start..bytes.len()).filter(move |at| joins(bytes[*at]) && (*at == 0 || !joins(bytes[*at - 1])))
}
