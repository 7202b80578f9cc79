//! Classes of exceptions that are listed and not thrown: in settings, documentation, and lists of what is to be retried.

/// What a setting's key says of the classes that are its value.
const SETTINGS: &[&str] = &[
    "retr",
    "polic",
    "ignor",
    "handl",
    "expect",
    "allow",
    "exclud",
    "includ",
    "skip",
    "whitelist",
    "blacklist",
    "mapping",
    "fallback",
    "catch",
    "rollback",
    "recover",
    "classes",
    "exceptions",
    "errors",
];
/// Those of them that no message ends with.
const POLICIES: &[&str] =
    &["retryable", "retryon", "retry_on", "retry-on", "polic", "exclude", "include", "whitelist", "blacklist"];
/// An item of a list, in YAML and in text.
const ITEMS: &[&str] = &["-", "*", "+", "\u{2022}"];
/// How the key of what was thrown ends.
const THROWN: &[&str] = &[
    "error",
    "err",
    "exception",
    "exc",
    "ex",
    "e",
    "cause",
    "throwable",
    "reason",
    "message",
    "msg",
    "class",
    "type",
    "kind",
    "name",
    "failure",
    "failed",
    "thrown",
];
/// Markup that documentation puts before a class.
const MARKUP: &[&str] = &["<li>", "<code>", "<dt>", "<td>", "<tt>"];

/// What several of them are called.
const SEVERAL: &[&str] = &["exceptions", "errors", "classes", "Raises", "Throws"];

/// Whether a line ends with the words for several classes, which follow.
pub fn announces(line: &str) -> bool {
    line.strip_suffix(':').is_some_and(|line| SEVERAL.iter().any(|word| line.ends_with(word)))
}

/// Whether what follows a class says when it is thrown, as documentation does: `TimeoutError: if no answer comes`,
/// `NameNotFoundException - the name is not bound`.
pub fn says_when(after: &str) -> bool {
    const WHEN: &[&str] = &["if", "when", "whenever", "raised", "thrown"];
    const WHAT: &[&str] =
        &["the", "a", "an", "this", "it", "indicates", "signals", "occurs", "means", "usually", "for", "is", "you", "your"];
    let first = |text: &str| text.split_whitespace().next().map(str::to_lowercase).unwrap_or_default();
    if let Some(text) = after.strip_prefix(':') {
        return WHEN.contains(&first(text).as_str());
    }
    let dashed = ["- ", "-- ", "\u{2013} ", "\u{2014} "].iter().find_map(|dash| after.trim_start().strip_prefix(dash));
    dashed.map(first).is_some_and(|first| WHEN.contains(&first.as_str()) || WHAT.contains(&first.as_str()))
}

/// Whether a class is only listed, by what stands before it and behind it.
pub fn lists(before: &str, after: &str) -> bool {
    let before = before.rsplit('\n').next().unwrap_or_default();
    if MARKUP.iter().any(|tag| before.ends_with(tag)) {
        return true;
    }
    let after = after.split('\n').next().unwrap_or_default().trim();
    if !(after.is_empty() || after.starts_with([',', '#', '|'])) {
        return false;
    }
    let before = before.trim();
    // Python's documentation has one heading for each.
    if ITEMS.contains(&before) || (before == "exception" && after.is_empty()) {
        return true;
    }
    let Some(key) = before.strip_suffix([':', '=']) else { return false };
    let word = key.trim_end().rsplit([' ', '\t', '"']).next().unwrap_or_default().to_lowercase();
    let is_alone = word.len() == key.trim().len();
    let names = |words: &[&str]| words.iter().any(|part| word.contains(part));
    let last = word.rsplit(['.', '-', '_']).next().unwrap_or_default();
    // `the following exceptions: `, and a line that is a setting and nothing else.
    let is_set = before.ends_with('=');
    SEVERAL.contains(&word.as_str())
        || (is_alone && names(SETTINGS))
        // Behind a prefix of a form that is not known.
        || names(POLICIES)
        || (is_set && (is_alone || word.contains('.')) && !THROWN.contains(&last))
}

/// Whether a class that begins a line is listed by the end of the line before, which was broken there.
pub fn leads(line: &str, next: &str) -> bool {
    let class = next.trim().split([',', ' ', '#', '|']).next().unwrap_or_default();
    is_bare(class) && lists(&format!("{} ", line.trim_end()), &next.trim()[class.len()..])
}

/// Whether a line of a document explains what an exception means: an item, a table's row or a heading whose class is set
/// as code, what a docstring says is raised.
pub fn explains(line: &str) -> bool {
    let line = line.trim_start();
    // Text set as code in reStructuredText.
    let is_class = |class: &str| !class.is_empty() && !class.contains([' ', ':', '(', '`']);
    if line.strip_prefix("``").and_then(|code| code.split_once("``")).is_some_and(|(class, _)| is_class(class)) {
        return true;
    }
    let item = line.trim_start_matches(['-', '*', '+', '|', '#', '\u{2022}', ' ']);
    let number = item.bytes().take_while(u8::is_ascii_digit).count();
    let item = item[number..].strip_prefix(['.', ')']).filter(|_| number > 0).map_or(item, str::trim_start);
    if item.len() == line.len() {
        let raised = RAISED.iter().find_map(|word| line.strip_prefix(word));
        return raised.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()));
    }
    let markup = &line[..line.len() - item.len()];
    let inside = match item.strip_prefix('`') {
        Some(code) => code.trim_start_matches('`').split_once('`'),
        None => item.split_once("**").filter(|_| markup.strip_suffix("**").is_some_and(|item| !item.is_empty())),
    };
    inside.is_some_and(|(class, _)| is_class(class))
}

/// The mark of a comment of a program or of a heading, where a class follows it. Pasted there, a failure has its frames behind
/// the same mark, each on a line of its own.
pub fn remark(line: &str) -> Option<&str> {
    let (mark, rest) = line.split_once(' ')?;
    let is_mark = mark == "//" || mark == "///" || (mark.len() <= 6 && !mark.is_empty() && mark.bytes().all(|b| b == b'#'));
    let first = rest.trim_start().split([' ', ':', '(']).next().unwrap_or_default();
    (is_mark && ["Exception", "Error"].iter().any(|end| first.ends_with(end))).then_some(mark)
}

/// What documentation puts before a class that may be raised.
const RAISED: &[&str] = &[":raises ", ":raise ", ":exception ", ":except ", "@throws ", "@exception ", "@raise ", "\\throws "];

/// Whether a line is a class and nothing else, as in a list of them.
pub fn is_bare(line: &str) -> bool {
    let line = line.trim();
    line.contains('.') && !line.contains([' ', ':', '(', '\t', '['])
}
