//! Where a key ends, and what escapes mean.

use super::line::is_blank;

/// Key and value of a logical line, both as they are written. The first `=`, `:` or blank that no backslash stands
/// before ends the key; blanks may stand around one `=` or `:`.
pub fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c| {
        let ends = !escaped && (is_blank(c) || matches!(c, '=' | ':'));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let rest = line[end..].trim_start_matches(is_blank);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], value.trim_start_matches(is_blank))
}

/// The text that a written key or value means.
pub fn plain(written: &str) -> String {
    if !written.contains('\\') {
        return written.to_owned();
    }
    // Java's escapes are UTF-16 units: two may be halves of one character.
    let mut units = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        let Some(escaped) = rest.chars().next() else { break };
        rest = &rest[escaped.len_utf8()..];
        let meant = match escaped {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'u' => {
                if let Some(unit) = rest.get(..4).and_then(hexadecimal) {
                    units.push(unit);
                    rest = &rest[4..];
                    continue;
                }
                // Java refuses the whole file; here it stays to be seen.
                units.push(u16::from(b'\\'));
                'u'
            }
            other => other,
        };
        units.extend_from_slice(meant.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&units)
}

fn hexadecimal(digits: &str) -> Option<u16> {
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}
