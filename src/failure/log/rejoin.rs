//! JSON whose lines were broken: by a mail's margin, or to be read by people. Each object becomes one line again.
//!
//! The break says nothing then, and a field's key would stand on another line than its value.

use super::line;

/// The text with one line for each object, where some of them are broken.
pub fn objects(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut object = Object::default();
    let mut broken = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let content = line::strip(line).content;
        if object.depth == 0 {
            let inside = content.trim_start().strip_prefix('{').map(str::trim_start);
            let begins = match inside {
                Some("") => lines.peek().is_some_and(|next| line::strip(next).content.trim_start().starts_with('"')),
                Some(inside) => inside.starts_with('"'),
                None => false,
            };
            if !begins {
                out.extend([line, "\n"]);
                continue;
            }
        } else {
            broken = true;
            // A wrap takes the blank that it is made at.
            if !out.ends_with(' ') {
                out.push(' ');
            }
        }
        object.read(content);
        out.push_str(content);
        if object.depth == 0 {
            out.push('\n');
        }
    }
    (broken && object.depth == 0).then_some(out)
}

/// Where a walk is in an object.
#[derive(Default)]
struct Object {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Object {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' if !self.in_string => self.depth += 1,
                b'}' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}
