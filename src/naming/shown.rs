//! Texts that came from elsewhere, as messages show them: on one line, steering no terminal, and not at any length.

use std::fmt::{self, Write as _};

/// A text of so many characters is shown whole.
const WHOLE: usize = 100;
/// Of a longer one so many of the first characters are shown, and so many of the last.
const ENDS: (usize, usize) = (70, 25);

/// Shows a text as it is, but for what is no visible character, which is escaped as in Python.
pub struct OneLine<'a>(pub &'a str);

/// Shows a name, or of one that nobody would read to its end both ends.
pub struct Short<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((place, steering)) = rest.char_indices().find(|(_, character)| is_invisible(*character)) {
            f.write_str(&rest[..place])?;
            match (steering, u32::from(steering)) {
                ('\n', _) => f.write_str("\\n"),
                ('\r', _) => f.write_str("\\r"),
                ('\t', _) => f.write_str("\\t"),
                (_, code @ 0..=0xFF) => write!(f, "\\x{code:02x}"),
                (_, code @ 0x100..=0xFFFF) => write!(f, "\\u{code:04x}"),
                (_, code) => write!(f, "\\U{code:08x}"),
            }?;
            rest = &rest[place + steering.len_utf8()..];
        }
        f.write_str(rest)
    }
}

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = ENDS;
        if self.0.len() <= WHOLE || self.0.chars().nth(WHOLE).is_none() {
            return OneLine(self.0).fmt(f);
        }
        let at = |nth: usize| self.0.char_indices().nth(nth).map_or(self.0.len(), |(place, _)| place);
        let last = self.0.char_indices().rev().nth(last - 1).map_or(0, |(place, _)| place);
        OneLine(&self.0[..at(first)]).fmt(f)?;
        f.write_char('…')?;
        OneLine(&self.0[last..]).fmt(f)
    }
}

/// Whether a terminal would do something else with it than show it: controls, line ends, marks of direction and others
/// that are not seen.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped_and_the_rest_is_as_it_is() {
        let text = "a\n\x1b[31m\u{85}'\"\\ é\u{301} 名 \u{202e}\u{e0001}\u{2028}";
        assert_eq!(OneLine(text).to_string(), "a\\n\\x1b[31m\\x85'\"\\ é\u{301} 名 \\u202e\\U000e0001\\u2028");
    }

    #[test]
    fn of_a_long_name_both_ends_are_shown() {
        assert_eq!(Short(&"é".repeat(100)).to_string(), "é".repeat(100));
        let long = format!("{}\n{}", "é".repeat(69), "x".repeat(31));
        assert_eq!(Short(&long).to_string(), format!("{}\\n…{}", "é".repeat(69), "x".repeat(25)));
    }
}
