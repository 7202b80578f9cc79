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
const SEVERAL: &[&str] = &["exceptions", "errors", "classes"];

/// Whether a line ends with the words for several classes, which follow.
pub fn announces(line: &str) -> bool {
    line.strip_suffix(':').is_some_and(|line| SEVERAL.iter().any(|word| line.ends_with(word)))
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
    // An item: of YAML, of a list in text.
    if ["-", "*", "+", "\u{2022}"].contains(&before) {
        return true;
    }
    let Some(key) = before.strip_suffix([':', '=']) else { return false };
    let word = key.trim_end().rsplit([' ', '\t', '"']).next().unwrap_or_default().to_lowercase();
    let is_alone = word.len() == key.trim().len();
    let names = |words: &[&str]| words.iter().any(|part| word.contains(part));
    let last = word.rsplit(['.', '-', '_']).next().unwrap_or_default();
    // `the following exceptions: `, and a line that is a setting and nothing else.
    SEVERAL.contains(&word.as_str())
        || (is_alone && names(SETTINGS))
        || (is_alone && before.ends_with('=') && !THROWN.contains(&last))
}

/// Whether a line is a class and nothing else, as in a list of them.
pub fn is_bare(line: &str) -> bool {
    let line = line.trim();
    line.contains('.') && !line.contains([' ', ':', '(', '\t', '['])
}
