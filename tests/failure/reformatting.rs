//! How a text is set does not change what it means: prefixes, hard wraps, blanks, and what stands behind it.

use std::sync::LazyLock;

use hanaming::failure::{Category, CompletionStatus, classify_text};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::cases::cases;

/// What decides about a failed call.
#[derive(Clone, Debug, PartialEq)]
struct Meaning {
    category: Category,
    completion: Option<CompletionStatus>,
    action: &'static str,
}

/// The cases' texts with what they mean, which is worked out once.
fn texts() -> &'static [(String, String, Meaning)] {
    static TEXTS: LazyLock<Vec<(String, String, Meaning)>> = LazyLock::new(|| {
        let all = ["handed.jsonl", "tables.jsonl", "field.jsonl", "around.jsonl"].into_iter().flat_map(cases);
        let all = all.filter(|case| !is_by_line(&case.id));
        let texts = all.filter_map(|case| Some((case.id, case.input.as_str()?.to_owned())));
        texts.map(|(id, text)| (id, meaning(&text), text)).map(|(id, meaning, text)| (id, text, meaning)).collect()
    });
    &TEXTS
}

/// Whether what tells stands on one line alone: a program's own words, or a prefix that shows where records begin.
fn is_by_line(id: &str) -> bool {
    id.ends_with("-by-line")
}

/// Whether indentation alone says what the text means, such as whose cause a cause is.
fn is_by_indentation(id: &str) -> bool {
    id.ends_with("-by-indentation")
}

/// Whether a list's dash reads as well as the one that loggers put before a message, where a time stands before it: a
/// failure then.
fn is_by_dash(id: &str) -> bool {
    id.ends_with("-by-dash")
}

/// Whether several plain words alone tell of the failure: with one or two of them on a line it is no longer found.
fn is_by_phrase(id: &str) -> bool {
    id.ends_with("-by-phrase")
}

fn meaning(text: &str) -> Meaning {
    let verdict = classify_text(text.as_bytes());
    Meaning { category: verdict.category, completion: verdict.completion, action: verdict.action.as_str() }
}

const PREFIXES: &[&str] = &[
    "[java] ",
    "     [java] ",
    "2026-05-06 12:13:14,567 ERROR [stderr] (default task-1) ",
    "2026-05-06T12:13:14.567Z ",
    "[2026-05-06T12:13:14.567Z] ",
    "web_1  | ",
    "Nov  3 10:16:51 host app[123]: ",
    "[8/12/26 10:23:45:123 EDT] 0000002b SystemErr     R ",
    "> ",
    UNKNOWN,
    "12:13:14.567 [main] ERROR c.e.App - ",
    "E0307 05:10:36.624904    4386 log.cc:13] ",
    "ERROR: ",
    "    ",
];

/// A prefix of a form that the reader does not know.
const UNKNOWN: &str = "node7 >> ";

/// An unrelated stack, as another thread of the same program may print it.
const UNRELATED: &str =
    "\njava.lang.NullPointerException: cart\n\tat com.other.Cart.total(Cart.java:41)\n\tat com.other.Shop.pay(Shop.java:7)\n";

fn prefixed(text: &str, prefix: &str) -> String {
    text.split('\n').flat_map(|line| [prefix, line, "\n"]).collect()
}

/// Breaks lines at blanks, so that none is longer than `width` where that can be.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.split('\n') {
        let mut length = 0;
        for (at, word) in line.split_inclusive([' ', '\t']).enumerate() {
            if at > 0 && length + word.trim_end().len() > width && !out.ends_with(['\n', '\t']) {
                out.push('\n');
                length = 0;
            }
            out.push_str(word);
            length += word.len();
        }
        out.push('\n');
    }
    out
}

fn collapsed(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Changes each text and compares what it then means.
fn same(change: impl Fn(&str) -> String) {
    same_of(|_| true, change);
}

fn same_of(of: impl Fn(&str) -> bool, change: impl Fn(&str) -> String) {
    // Where indentation is gone, the answer is the one that delivers no call twice.
    compare(of, change, |id, _, is| is_by_indentation(id) && is.completion == Some(CompletionStatus::Maybe));
}

/// The same, or what is as careful: of a failure that the call may have run.
fn careful_of(of: impl Fn(&str) -> bool, change: impl Fn(&str) -> String) {
    compare(of, change, |_, was, is| was.completion.is_some() && is.completion == Some(CompletionStatus::Maybe));
}

fn compare(of: impl Fn(&str) -> bool, change: impl Fn(&str) -> String, is_safe: impl Fn(&str, &Meaning, &Meaning) -> bool) {
    let mut wrong = Vec::new();
    for (id, text, was) in texts().iter().filter(|(id, ..)| of(id)) {
        let changed = change(text);
        let is = meaning(&changed);
        if *was != is && !is_safe(id, was, &is) {
            wrong.push(format!("{id}: {was:?} became {is:?} in\n{changed}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} texts changed their meaning:\n{}", wrong.len(), wrong.join("\n"));
}

/// Texts with a failure in them: another one behind it changes what others mean.
fn fails(id: &str) -> bool {
    !id.contains("none-") && !id.starts_with("nf") && id != "wfnam-59-info"
}

#[test]
fn a_prefix_on_each_line() {
    // Each text with some of them; `all_of_it_at_once` mixes the rest.
    for (at, prefix) in PREFIXES.iter().enumerate() {
        same_of(|id| id.len() % 3 == at % 3 && !is_by_dash(id), |text| prefixed(text, prefix));
    }
}

#[test]
fn hard_wraps() {
    for width in [50, 72, 100] {
        same(|text| wrapped(text, width));
    }
    // So narrow, a message is in so many pieces that some are taken for what they are not: never for less than before.
    careful_of(|id| !is_by_phrase(id), |text| wrapped(text, 30));
}

/// Cuts lines at a margin, in the middle of a word where it comes so.
fn cut(text: &str, margin: usize) -> String {
    let mut out = String::new();
    for line in text.split('\n') {
        let characters: Vec<char> = line.chars().collect();
        for piece in characters.chunks(margin) {
            out.extend(piece);
            out.push('\n');
        }
        if characters.is_empty() {
            out.push('\n');
        }
    }
    out
}

#[test]
fn lines_cut_at_a_margin() {
    let handed: Vec<String> = cases("handed.jsonl").into_iter().map(|case| case.id).collect();
    for margin in [60, 72, 80, 100, 120, 132] {
        same_of(|id| handed.iter().any(|handed| handed == id), |text| cut(text, margin));
        // Never so that a call would be sent again, or not be missed, that would not before.
        compare(
            |id| !is_by_phrase(id) && !is_by_dash(id),
            |text| cut(text, margin),
            |_, was, is| {
                was.completion == is.completion || is.completion.is_none() || is.completion == Some(CompletionStatus::Maybe)
            },
        );
    }
}

#[test]
fn blanks_made_one() {
    same(collapsed);
}

#[test]
fn no_indentation_at_all() {
    let flat = |text: &str| text.split('\n').flat_map(|line| [line.trim_start(), "\n"]).collect::<String>();
    same(flat);
    same_of(is_by_indentation, |text| wrapped(&flat(text), 50));
    for prefix in PREFIXES {
        same_of(is_by_indentation, |text| prefixed(&flat(text), prefix));
    }
}

#[test]
fn blanks_made_many_and_carriage_returns() {
    same(|text| text.replace(' ', "   ").replace('\n', "\r\n"));
}

#[test]
fn escapes_left_in_pasted_text() {
    same(|text| text.replace('\t', "\\t"));
    same(|text| format!("```\n{text}\n```"));
}

#[test]
fn an_unrelated_stack_behind_it() {
    same_of(fails, |text| format!("{text}{UNRELATED}"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::with_cases(500) })]

    #[test]
    fn all_of_it_at_once(chosen in any::<prop::sample::Index>(), prefix in any::<prop::sample::Index>(), width in 40_usize..160, blanks: bool, stack: bool) {
        let texts: Vec<_> = texts().iter().filter(|(id, ..)| !is_by_indentation(id) && !is_by_dash(id)).collect();
        let (id, text, was) = texts[chosen.index(texts.len())];
        let mut changed = if blanks { collapsed(text) } else { text.clone() };
        if stack && fails(id) {
            changed.push_str(UNRELATED);
        }
        let prefix = PREFIXES[prefix.index(PREFIXES.len())];
        // Within a wrapped value, a prefix of no known form cannot be told from the value.
        changed = prefixed(&if prefix == UNKNOWN { changed } else { wrapped(&changed, width) }, prefix);
        let is = meaning(&changed);
        // So narrow, and behind a prefix, a message is in pieces: it may come to mean more than it said, and never less.
        let is_careful = width < 70 && was.completion.is_some() && is.completion == Some(CompletionStatus::Maybe);
        prop_assert!(*was == is || is_careful, "{}: {:?} became {:?} in\n{}", id, was, is, changed);
    }
}
