//! The layers, held by a test: who may import whom, what the pure parts may touch, how large a file may grow.
//!
//! The rule stands here once, as [`RULE`]; `ARCHITECTURE.md` shows it as a table, and a test compares the two. The
//! sources are read as text: comments and literals are blanked out, then every path that starts at the crate's root
//! is an arrow from the part whose file it stands in to the part that it names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A part of the crate, and the parts that it may import.
const RULE: &[(&str, &[&str])] = &[
    ("topology", &[]),
    ("failure", &[]),
    ("naming", &["failure"]),
    ("protocol", &["naming", "topology", "failure"]),
    ("transport", &["topology", "protocol", "failure"]),
    ("discovery", &["topology", "failure"]),
    ("client", &["naming", "topology", "failure", "protocol", "transport", "discovery"]),
    ("cluster", &["naming", "topology", "failure", "protocol", "transport"]),
    ("server", &["naming", "topology", "failure", "protocol", "transport", "discovery", "cluster"]),
    ("simulation", &["naming", "topology", "failure", "discovery", "client"]),
    ("python", &["naming", "topology", "failure", "protocol", "transport", "discovery", "client", "server", "simulation"]),
];

/// Where decisions are made: no runtime, no clock, no socket, no thread. A path without its ending stands for the
/// file and for the folder of that name.
const PURE: &[&str] = &[
    "src/topology",
    "src/failure",
    "src/naming",
    "src/protocol",
    "src/discovery/address",
    "src/discovery/dns/config",
    "src/discovery/inquiry",
    "src/discovery/multicast/search",
    "src/discovery/multicast/sighting",
    "src/discovery/neighbourhood",
    "src/discovery/provider_url",
    "src/discovery/refresh",
    "src/discovery/source",
    "src/discovery/properties",
    "src/discovery/environment",
    "src/client/backoff",
    "src/client/balance",
    "src/client/budget",
    "src/client/call",
    "src/client/election",
    "src/client/evening",
    "src/client/fault",
    "src/client/fleet",
    "src/client/invocation",
    "src/client/metrics",
    "src/client/roster",
    "src/client/rounds",
    "src/client/sources",
    "src/client/target",
    "src/client/trail",
    "src/cluster",
    "src/client/config",
    "src/client/weights",
    "src/client/words",
    "src/client/watch/event",
    "src/client/watch/follower",
    "src/client/watch/news",
    "src/simulation",
];

/// What a pure part does not name, and why.
const BANNED_IN_PURE: &[(&str, &str)] = &[
    ("tokio", "a runtime"),
    ("socket2", "a socket"),
    ("Instant", "a clock"),
    ("SystemTime", "a clock"),
    ("TcpStream", "a socket"),
    ("TcpListener", "a socket"),
    ("UdpSocket", "a socket"),
    ("std::fs", "a disk"),
    ("std::env", "the environment"),
    ("std::thread", "a thread"),
    ("std::process", "a process"),
    ("rand::rng", "a global source of randomness"),
    ("rand::random", "a global source of randomness"),
    ("thread_rng", "a global source of randomness"),
];

/// Nothing in the Python package turns what came over the wire into code.
const BANNED_IN_PYTHON: &[&str] =
    &["eval(", "exec(", "import pickle", "pickle.load", "import marshal", "import_module", "__import__("];

const MOST_LINES: usize = 600;

/// How a test says which invariant it holds.
const CITATION: &str = "Invariant ";

#[test]
fn every_arrow_is_in_the_rule() {
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let Some(part) = part_of(&file) else { continue };
        let allowed = allowed(&part);
        for (line, target) in arrows(&blanked(&read(&file)), &module_path(&file)) {
            if target != part && !allowed.contains(&target.as_str()) {
                wrong.push(format!("{}:{line}: {part} → {target}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "not in the rule of who may import whom:\n{}", wrong.join("\n"));
}

#[test]
fn the_rule_names_each_part_and_has_no_circle() {
    let ruled: BTreeSet<String> = RULE.iter().map(|(part, _)| (*part).to_owned()).collect();
    let declared: BTreeSet<String> = blanked(&read(Path::new("src/lib.rs")))
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned))
        .collect();
    assert_eq!(declared, ruled, "src/lib.rs and the rule name different parts");

    // A part stands behind all that it imports, so no walk along the arrows comes back.
    let mut left: Vec<&str> = RULE.iter().map(|(part, _)| *part).collect();
    while !left.is_empty() {
        let before = left.len();
        let stuck = left.clone();
        left.retain(|part| allowed(part).iter().any(|target| stuck.contains(target)));
        assert!(left.len() < before, "a circle among {left:?}");
    }
}

/// Folders in which no file or folder imports another in a circle. What is on the wire is spelt once, and each file's part of it
/// stands on others'; a helper of the Python face that knew the classes above it would tie them all together; the log's
/// reader goes by stages, and each of these is many shapes.
const WITHOUT_CIRCLES: &[&str] = &[
    "src/protocol",
    "src/python",
    "src/failure/log",
    "src/failure/log/event",
    "src/failure/log/line",
    "src/failure/log/parse",
    "src/failure/log/shape",
];

#[test]
fn siblings_import_each_other_in_no_circle() {
    for folder in WITHOUT_CIRCLES {
        let here = module_path(&Path::new(folder).join("mod.rs"));
        let mut left: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in rust_files(folder) {
            let path = module_path(&file);
            let Some(node) = path.get(here.len()) else { continue };
            let imported = imports(&blanked(&read(&file)), &path);
            let imported = imported.into_iter().filter(|target| target.starts_with(&here));
            let siblings = imported.filter_map(|target| target.get(here.len()).cloned()).filter(|target| target != node);
            left.entry(node.clone()).or_default().extend(siblings);
        }
        assert!(left.len() > 2 && left.values().any(|imported| !imported.is_empty()), "{folder}: {left:?}");
        while !left.is_empty() {
            let stuck: Vec<String> = left.keys().cloned().collect();
            left.retain(|_, imported| imported.iter().any(|file| stuck.contains(file)));
            assert!(left.len() < stuck.len(), "{folder}: a circle among {left:?}");
        }
    }
}

#[test]
fn the_table_of_the_architecture_is_the_rule() {
    let text = read(Path::new("ARCHITECTURE.md"));
    let mut shown = Vec::new();
    for line in text.lines().skip_while(|line| !line.starts_with("| part | may import |")).skip(2) {
        let Some(row) = line.strip_prefix('|') else { break };
        let mut cells = row.split('|').map(str::trim);
        let part = cells.next().unwrap().trim_matches('`').to_owned();
        let targets = cells.next().unwrap();
        let targets = targets.split(", ").map(|t| t.trim_matches('`')).filter(|t| *t != "nothing");
        shown.push((part, targets.map(str::to_owned).collect::<BTreeSet<_>>()));
    }
    let ruled: Vec<_> = RULE
        .iter()
        .map(|(part, targets)| ((*part).to_owned(), targets.iter().map(|t| (*t).to_owned()).collect::<BTreeSet<_>>()))
        .collect();
    assert_eq!(shown, ruled, "ARCHITECTURE.md shows another rule than tests/architecture.rs holds");
}

/// Invariant 21.
#[test]
fn pure_parts_touch_nothing_outside() {
    let mut wrong = Vec::new();
    for pure in PURE {
        let files: Vec<PathBuf> = rust_files("src").into_iter().filter(|file| is_within(file, pure)).collect();
        assert!(!files.is_empty(), "{pure} is in the list of pure parts and not in the tree");
        for file in files {
            let code = blanked(&read(&file));
            for (word, what) in BANNED_IN_PURE {
                for line in lines_naming(&code, word) {
                    wrong.push(format!("{}:{line}: `{word}` is {what}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a pure part reaches outside:\n{}", wrong.join("\n"));
}

#[test]
fn pyo3_stays_in_the_python_face() {
    for file in rust_files("src").into_iter().filter(|file| !is_within(file, "src/python")) {
        let lines = lines_naming(&blanked(&read(&file)), "pyo3");
        assert!(lines.is_empty(), "{} names pyo3 at {lines:?}", file.display());
    }
}

#[test]
fn nothing_is_unsafe() {
    assert!(read(Path::new("Cargo.toml")).contains("unsafe_code = \"forbid\""));
    for file in rust_files("src") {
        let lines = lines_naming(&blanked(&read(&file)), "unsafe");
        assert!(lines.is_empty(), "{} has `unsafe` at {lines:?}", file.display());
    }
}

#[test]
fn files_stay_small() {
    let mut files = rust_files("src");
    files.extend(rust_files("tests"));
    files.extend(rust_files("benches"));
    for folder in ["python", "tests", "benches", "examples", "scripts"] {
        files.extend(files_under(folder, "py"));
    }
    let large: Vec<String> = files
        .iter()
        .map(|file| (read(file).lines().count(), file))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .map(|(lines, file)| format!("{}: {lines}", file.display()))
        .collect();
    assert!(large.is_empty(), "over {MOST_LINES} lines, split by idea:\n{}", large.join("\n"));
}

/// Invariant 2.
#[test]
fn the_python_package_runs_nothing_it_was_sent() {
    for file in files_under("python", "py") {
        let text = read(&file);
        for banned in BANNED_IN_PYTHON {
            let at = text.lines().position(|line| line.contains(banned) && !line.trim_start().starts_with('#'));
            assert!(at.is_none(), "{}:{}: {banned}", file.display(), at.unwrap_or(0) + 1);
        }
    }
}

#[test]
fn every_invariant_is_cited_by_a_test_and_every_citation_is_of_one() {
    let text = read(Path::new("ARCHITECTURE.md"));
    let section = text.split("\n## ").find(|part| part.starts_with("Invariants")).unwrap();
    let stated: BTreeSet<u32> = section.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect();
    let mut files = rust_files("tests");
    files.extend(files_under("tests", "py"));
    let mut cited = BTreeSet::new();
    for file in &files {
        for after in read(file).split(CITATION).skip(1) {
            let number: String = after.chars().take_while(char::is_ascii_digit).collect();
            cited.extend(number.parse::<u32>().ok());
        }
    }
    assert_eq!(stated, (1..=stated.len().try_into().unwrap()).collect(), "the invariants are numbered in order");
    assert_eq!(cited, stated, "tests cite the invariants of ARCHITECTURE.md by their numbers");
}

#[test]
fn the_reader_sees_each_shape_of_an_arrow() {
    let seen = |code: &str| -> Vec<String> {
        let path = vec!["client".to_owned(), "call".to_owned()];
        arrows(&blanked(code), &path).into_iter().map(|(_, target)| target).collect()
    };
    assert_eq!(seen("use crate::naming::Name;"), ["naming"]);
    assert_eq!(seen("use crate::{naming::{Name, Value}, topology::View, failure};"), ["naming", "topology", "failure"]);
    assert_eq!(seen("fn f() -> crate::protocol::Reply { $crate::server::start() }"), ["protocol", "server"]);
    assert_eq!(seen("use super::super::cluster::Members;"), ["cluster"]);
    assert_eq!(seen("use super::budget::Budget;"), Vec::<String>::new());
    assert_eq!(seen("use crate::*; use crate::{self as all};"), ["*", "self"]);
    assert_eq!(seen("pub(crate) fn f() {} // crate::server\n/* crate::a /* crate::b */ */"), Vec::<String>::new());
    assert_eq!(seen(r##"let a = "crate::server"; let b = r#"crate::"x"#; let c = '"'; crate::naming::x();"##), ["naming"]);
    assert_eq!(seen("fn f<'a>(x: &'a str) { crate::topology::y(x) }"), ["topology"]);
    let imported = |code: &str| -> Vec<String> {
        let path = ["failure", "log", "shape", "class"].map(str::to_owned);
        imports(&blanked(code), &path).into_iter().map(|path| path.join("::")).collect()
    };
    assert_eq!(
        imported("use super::{a, b::{self, C}};"),
        ["failure::log::shape::a", "failure::log::shape::b::self", "failure::log::shape::b::C"]
    );
    assert_eq!(
        imported("super::super::line::x(); use crate::failure::{Link, log::y};"),
        ["failure::Link", "failure::log::y", "failure::log::line::x"]
    );
    assert_eq!(lines_naming("use tokio::net;\nlet tokio_like = 1;\nInstant::now()", "tokio"), [1]);
}

/// The parts that `part` may import; `lib.rs` is no part.
fn allowed(part: &str) -> &'static [&'static str] {
    RULE.iter().find(|(name, _)| *name == part).unwrap_or_else(|| panic!("the rule has no part {part:?}")).1
}

/// `src/client/call.rs` belongs to `client`; `src/lib.rs` to none.
fn part_of(file: &Path) -> Option<String> {
    module_path(file).into_iter().next()
}

/// `src/client/call.rs` is `[client, call]`, `src/client/mod.rs` is `[client]`, `src/lib.rs` is empty.
fn module_path(file: &Path) -> Vec<String> {
    let within = file.strip_prefix("src").unwrap().with_extension("");
    let mut path: Vec<String> = within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod" || last == "lib") {
        path.pop();
    }
    path
}

fn is_within(file: &Path, part: &str) -> bool {
    file.starts_with(part) || file == Path::new(&format!("{part}.rs"))
}

/// Each path from the crate's root in `code`: its line, and its first segment.
fn arrows(code: &str, module: &[String]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in places(code, "crate") {
        let line = line_at(code, at);
        let rest = code[at + "crate".len()..].trim_start();
        if let Some(rest) = rest.strip_prefix("::") {
            found.extend(first_segments(rest.trim_start()).into_iter().map(|target| (line, target)));
        }
    }
    // `super` climbs; only what climbs out of the part is an arrow.
    let climb = "super::".repeat(module.len());
    for (at, _) in code.match_indices(&climb).filter(|_| !module.is_empty()) {
        let starts = !code[..at].ends_with("super::") && !code[..at].ends_with(is_word);
        let target = first_segments(&code[at + climb.len()..]);
        if starts && target.iter().all(|target| RULE.iter().any(|(part, _)| part == target)) {
            found.extend(target.into_iter().map(|target| (line_at(code, at), target)));
        }
    }
    found
}

/// Each path of the code that starts at the crate's root or climbs, as it stands seen from the root.
fn imports(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for at in places(code, "crate").chain(places(code, "super")) {
        if code[..at].ends_with("super::") {
            continue;
        }
        let (mut base, mut rest) = (module.to_vec(), &code[at..]);
        while let Some(above) = rest.strip_prefix("super::") {
            base.pop();
            rest = above;
        }
        if let Some(below) = rest.strip_prefix("crate::") {
            (base, rest) = (Vec::new(), below);
        }
        if rest.len() < code.len() - at {
            found.extend(expanded(rest).into_iter().map(|path| [base.clone(), path].concat()));
        }
    }
    found
}

/// The paths that a text begins with: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn expanded(text: &str) -> Vec<Vec<String>> {
    let Some(group) = text.strip_prefix('{') else {
        let word: String = text.chars().take_while(|c| is_word(*c)).collect();
        return match text[word.len()..].strip_prefix("::") {
            Some(rest) => expanded(rest).into_iter().map(|path| [vec![word.clone()], path].concat()).collect(),
            None => vec![vec![word]],
        };
    };
    elements(group).iter().flat_map(|path| expanded(path)).collect()
}

/// The first segment of a path, or of each path in a group: `{naming::{A, B}, failure}` gives `naming, failure`.
fn first_segments(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        let word: String = path.chars().take_while(|c| is_word(*c)).collect();
        return vec![if word.is_empty() { path.chars().take(1).collect() } else { word }];
    };
    elements(group).iter().flat_map(|path| first_segments(path)).collect()
}

/// The elements of a group whose brace was read.
fn elements(group: &str) -> Vec<String> {
    let (mut depth, mut current, mut all) = (0_usize, String::new(), Vec::new());
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => all.push(std::mem::take(&mut current)),
            _ => {}
        }
        if depth > 0 || c != ',' {
            current.push(c);
        }
    }
    all.push(current);
    all.iter().map(|path| path.trim().to_owned()).filter(|path| !path.is_empty()).collect()
}

/// The lines on which `word` stands as a whole path segment or path.
fn lines_naming(code: &str, word: &str) -> Vec<usize> {
    places(code, word).map(|at| line_at(code, at)).collect()
}

fn places<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (&code[..*at], &code[at + word.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

fn line_at(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The code with comments and literals replaced by blanks, line breaks kept.
fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = comment_or_literal(rest, out.chars().next_back());
        if skip == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..skip].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[skip..];
        }
    }
    out
}

/// The length of the comment or literal at the start of `rest`; 0 where there is none.
fn comment_or_literal(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        // A character, not a lifetime: closed after one character or after an escape.
        let one = inner.chars().next().is_some_and(|c| c != '\\' && inner[c.len_utf8()..].starts_with('\''));
        return if one || inner.starts_with('\\') { quoted(rest, '\'') } else { 0 };
    }
    let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
    if let Some(raw) = raw.filter(|_| !before.is_some_and(is_word)) {
        let hashes = raw.chars().take_while(|c| *c == '#').count();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = rest.len() - raw.len() + hashes + 1;
            return rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len());
        }
    }
    0
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    files_under(folder, "rs")
}

/// The files beneath `folder` with that ending, relative to the crate's folder, in order. A folder that isn't there
/// has none.
fn files_under(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn read(file: &Path) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A panic must become an ordinary exception wherever Python enters: also while arguments are read.
#[test]
fn every_entry_from_python_is_guarded() {
    let mut entries = 0;
    for file in rust_files("src/python") {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let (mut among_methods, mut is_function) = (false, false);
        for (number, line) in lines.iter().enumerate() {
            among_methods = (among_methods || *line == "#[pymethods]") && *line != "}";
            is_function |= line.starts_with("#[pyfunction]");
            let indent = if among_methods { "    " } else { "" };
            let is_entry = (among_methods || is_function)
                && line.strip_prefix(indent).is_some_and(|rest| rest.starts_with("fn ") || rest.starts_with("pub"));
            if !is_entry {
                continue;
            }
            is_function = false;
            let body = number + lines[number..].iter().position(|line| line.ends_with('{') || line.ends_with('}')).unwrap();
            if lines[number..=body].concat().contains("-> PyResult<") && !line.contains("fn _panic_on_loop") {
                let first = lines[body + 1].trim();
                assert!(first.starts_with("entered("), "{}:{}: begins with `{first}`", file.display(), number + 1);
                entries += 1;
            }
        }
    }
    assert!(entries > 100, "only {entries} were found");
}
