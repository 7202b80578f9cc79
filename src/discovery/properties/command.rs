//! Options of a command line: `-Dkey=value`.

/// The definitions on a line that is options of a JVM: it starts with one, or with `java`, or sets a variable such as
/// `JAVA_OPTS`. `None` where it is no such line.
pub fn definitions(line: &str) -> Option<Vec<(String, String)>> {
    let first = line.split([' ', '\t']).next().unwrap_or_default();
    let program = first.rsplit(['/', '\\']).next().unwrap_or(first).trim_end_matches(".exe");
    let command = (first.starts_with('-') && first.len() > 1) || matches!(program, "java" | "javaw" | "exec");
    if !(command || line.contains("-D") && sets_options(line)) {
        return None;
    }
    let options = if command { line } else { line.split_once('=').map_or(line, |(_, value)| value) };
    let mut found = Vec::new();
    for word in words(options) {
        // `JAVA_OPTS="-Da=b -Dc=d"`: quotes around several words.
        for word in if word.starts_with("-D") && word.contains(" -D") { words(&word) } else { vec![word] } {
            let Some(definition) = word.strip_prefix("-D").filter(|definition| !definition.is_empty()) else { continue };
            let (key, value) = definition.split_once('=').unwrap_or((definition, ""));
            found.push((key.to_owned(), value.to_owned()));
        }
    }
    Some(found)
}

/// `JAVA_OPTS=…`, `export X_OPTIONS=…`, `set JAVA_ARGS=…`: a variable of a shell, in capitals.
fn sets_options(line: &str) -> bool {
    let Some((name, _)) = line.split_once('=') else { return false };
    let name = ["export ", "set ", "SET "].iter().find_map(|word| name.strip_prefix(word)).unwrap_or(name).trim();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Words as a shell separates them: quotes hold blanks together and vanish. A backslash is itself, since Windows' paths
/// have them, but before a quote.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut inside = false;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) if chars.peek().is_some_and(|next| matches!(next, '"' | '\'')) => {
                word.extend(chars.next());
                inside = true;
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                inside = true;
            }
            (c, None) if c.is_whitespace() => {
                if inside {
                    found.push(std::mem::take(&mut word));
                }
                inside = false;
            }
            (c, _) => {
                word.push(c);
                inside = true;
            }
        }
    }
    if inside {
        found.push(word);
    }
    found
}
