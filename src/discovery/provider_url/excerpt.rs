//! Parts of a text that a message shows.

const LONGEST: usize = 120;

/// The text on one line and in quotes, cut where it is long, so that messages stay readable whatever was given. What
/// stands before an `@` is left out: it may be a password.
pub fn excerpt(text: &str) -> String {
    let mut shown = String::with_capacity(LONGEST + 8);
    shown.push('"');
    let text = text.trim();
    let text = match text.rfind('@') {
        Some(at) if is_version(&text[..at]) => text,
        Some(at) => {
            shown.push('…');
            &text[at..]
        }
        None => text,
    };
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            shown.push('…');
            break;
        }
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown.push('"');
    shown
}

/// `…1.2`: what stands before the `@` of a `corbaloc` address, which is no secret.
fn is_version(text: &str) -> bool {
    let after = text.rsplit(':').next().unwrap_or_default();
    after.len() <= 7 && !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}
