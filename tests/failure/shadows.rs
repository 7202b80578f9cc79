//! No row of the tables is hidden: what it asks for must not all be taken by rows before it.

use hanaming::failure::Rule;
use hanaming::failure::tables;

/// One thing that a row fits: each of these is one alternative of its conditions, or none where it has no such condition.
#[derive(Clone, Copy, Debug)]
struct Match {
    class: Option<&'static str>,
    code: Option<&'static str>,
    words: Option<&'static str>,
    beside: Option<&'static str>,
}

fn matches(row: &Rule) -> Vec<Match> {
    let each = |all: &'static [&'static str]| -> Vec<Option<&'static str>> {
        if all.is_empty() { vec![None] } else { all.iter().copied().map(Some).collect() }
    };
    let mut found = Vec::new();
    for class in each(row.classes) {
        for code in each(row.codes) {
            for words in each(row.words) {
                found.extend(each(row.beside).into_iter().map(|beside| Match { class, code, words, beside }));
            }
        }
    }
    found
}

/// Whether each exception of that class is one of `class` as well, as a row asks for it.
fn is_class(asked: &str, class: &str) -> bool {
    let simple = |class: &str| class.rsplit('.').next().unwrap().to_owned();
    match asked.strip_prefix('*') {
        Some(end) => class.ends_with(end),
        None if asked.contains('.') => class == asked || class.ends_with(&format!(".{asked}")),
        None => !class.starts_with('*') && simple(class) == asked,
    }
}

/// Whether an earlier row fits all that this match of `row` fits.
fn takes(earlier: &Rule, row: &Rule, taken: Match) -> bool {
    let has =
        |all: &[&str], one: Option<&str>| all.is_empty() || one.is_some_and(|one| all.iter().any(|part| one.contains(part)));
    (earlier.classes.is_empty() || taken.class.is_some_and(|class| earlier.classes.iter().any(|asked| is_class(asked, class))))
        && (earlier.codes.is_empty() || taken.code.is_some_and(|code| earlier.codes.contains(&code)))
        && has(earlier.words, taken.words)
        && has(earlier.beside, taken.beside)
        && earlier.without.iter().all(|words| row.without.contains(words))
        && (!earlier.connecting || row.connecting)
}

/// The matches of each row that another one before it takes.
fn hidden(rows: &[Rule]) -> Vec<(usize, Vec<Match>, bool)> {
    let of = |at: usize| {
        let all = matches(&rows[at]);
        let whole = all.len();
        let taken: Vec<Match> =
            all.into_iter().filter(|one| rows[..at].iter().any(|earlier| takes(earlier, &rows[at], *one))).collect();
        let all_taken = taken.len() == whole;
        (at, taken, all_taken)
    };
    (0..rows.len()).map(of).filter(|(_, taken, _)| !taken.is_empty()).collect()
}

#[test]
fn no_row_is_hidden_by_those_before_it() {
    let rows: Vec<Rule> = tables::rows().copied().collect();
    assert!(rows.len() > 150, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    for (at, taken, whole) in hidden(&rows) {
        let row = &rows[at];
        // Where the row before says the same, nothing is lost.
        let differs = |one: &&Match| {
            let first = rows[..at].iter().find(|earlier| takes(earlier, row, **one)).unwrap();
            (first.meaning.category, first.meaning.completion) != (row.meaning.category, row.meaning.completion)
        };
        let lost: Vec<_> = taken.iter().filter(differs).collect();
        if whole || !lost.is_empty() {
            wrong.push(format!(
                "{:?} {} ({}): {lost:?}{}",
                row.classes,
                row.meaning.detail,
                row.meaning.why,
                if whole { ", all of it" } else { "" }
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The check itself finds what it is for.
#[test]
fn a_hidden_row_is_found() {
    let general = Rule::class(&["ServiceUnavailableException"], tables::rows().next().unwrap().meaning);
    let worded = general.words(&["socket closed"]);
    assert_eq!(hidden(&[general, worded]).len(), 1);
    assert!(hidden(&[worded, general]).is_empty());
    assert!(hidden(&[general.without(&["socket closed"]), worded]).is_empty());
}
