//! Cases: what stood in a log or a description, and what it means.
//!
//! `handed.jsonl` are real failures as they were found; `tables.jsonl` go through the contract's tables, form by form;
//! `field.jsonl` is what products, languages and log collectors print, written down before the reader had seen it;
//! `around.jsonl` is what stands around failures: heads that name them before, traces of servers, other failures in one chain,
//! documents that only speak of them;
//! `rules.jsonl` has a text for rules of the log reader that no other text needs, as it stands: each fails without its rule.

use std::fmt::Write;
use std::path::Path;

use hanaming::failure::{Description, Verdict, classify_chain, classify_text};
use serde_json::Value;

/// A case of either file.
pub struct Case {
    pub id: String,
    pub input: Value,
    pub expected: Value,
    pub ambiguous: bool,
}

/// The cases of a file beside this one.
pub fn cases(file: &str) -> Vec<Case> {
    let path = Path::new("tests/failure/cases").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let traits = case["traits"].as_array().cloned().unwrap_or_default();
        Case {
            id: case["id"].as_str().unwrap().to_owned(),
            input: case["input"].clone(),
            expected: case["expected"].clone(),
            ambiguous: traits.iter().any(|word| word.as_str().unwrap().contains("ambiguous")),
        }
    };
    text.lines().filter(|line| !line.is_empty()).map(read).collect()
}

/// The verdict on a case's input.
pub fn verdict(input: &Value) -> Verdict {
    match input {
        Value::String(text) => classify_text(text.as_bytes()),
        Value::Object(fields) => {
            let text = |key: &str| match &fields.get(key) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let mut described = Description {
                exception: text("exception"),
                message: [text("message"), text("description")].into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
                completed: text("completed"),
                vmcid: text("vmcid"),
                minor: ["minor", "minor_decimal", "minor_hex_text"]
                    .map(text)
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .collect(),
                code: text("grpc_code"),
                cause: text("cause"),
                phase: text("phase"),
                frames: Vec::new(),
            };
            if !described.code.is_empty() && described.exception.is_empty() {
                described.exception.push_str("grpc.RpcError");
            }
            classify_chain(&described.chain())
        }
        other => panic!("{other}"),
    }
}

/// What is wrong with a verdict, in words; empty where nothing is.
pub fn wrong(case: &Case, verdict: &Verdict) -> String {
    let mut wrong = String::new();
    let mut compare = |field: &str, got: &str| {
        if let Some(expected) = case.expected[field].as_str()
            && expected != got
        {
            let _ = writeln!(wrong, "  {field}: expected {expected}, got {got}");
        }
    };
    let completion = verdict.completion.map_or("NA", |status| status.as_str());
    compare("completion", completion);
    compare("action", verdict.action.as_str());
    compare("action_if_idempotent", verdict.action_if_idempotent.as_str());
    if !case.ambiguous {
        compare("category", verdict.category.as_str());
    }
    compare("detail", verdict.detail);
    if !wrong.is_empty() {
        wrong = format!("{}: {}\n{wrong}  evidence: {}\n  reason: {}\n", case.id, case.input, verdict.evidence, verdict.reason);
    }
    wrong
}

fn all_right(file: &str, at_least: usize) {
    let cases = cases(file);
    assert!(cases.len() >= at_least, "{file} has only {} cases", cases.len());
    let wrong: Vec<String> =
        cases.iter().map(|case| wrong(case, &verdict(&case.input))).filter(|wrong| !wrong.is_empty()).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_handed_cases() {
    all_right("handed.jsonl", 41);
}

#[test]
fn the_cases_of_the_field() {
    all_right("field.jsonl", 550);
}

#[test]
fn the_cases_of_what_surrounds_failures() {
    all_right("around.jsonl", 150);
}

#[test]
fn the_cases_of_the_reader_s_rules() {
    all_right("rules.jsonl", 25);
}

#[test]
fn the_cases_of_the_tables() {
    all_right("tables.jsonl", 60);
}
