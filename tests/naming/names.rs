//! Names: the reference's 356 strings exactly, and what is better than the reference.

use std::collections::HashSet;

use hanaming::naming::{ErrorKind, Name};
use proptest::prelude::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn every_string_of_the_oracle_reads_as_in_the_reference() {
    let oracle = include_str!("data/composite_names.jsonl");
    let mut seen = 0;
    for line in oracle.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = case["input"].as_str().unwrap();
        seen += 1;
        let Some(components) = case["components"].as_array() else {
            let error = Name::parse(input).expect_err(input);
            assert_eq!(error.kind(), ErrorKind::InvalidName, "{input}");
            assert!(error.fields().message.contains("at index"), "{input}: {error}");
            assert_eq!(error.fields().name.as_deref(), Some(input));
            continue;
        };
        let expected: Vec<&str> = components.iter().map(|component| component.as_str().unwrap()).collect();
        let read = Name::parse(input).expect(input);
        assert_eq!(read.iter().collect::<Vec<_>>(), expected, "{input}");
        assert_eq!(read.len() as u64, case["size"].as_u64().unwrap(), "{input}");
        assert_eq!(read.to_string(), case["roundtrip"].as_str().unwrap(), "{input}");
        assert_eq!(name(&read.to_string()), read, "{input}");
    }
    assert_eq!(seen, 356);
}

#[test]
fn an_error_names_the_wrong_character() {
    for (text, message) in [
        ("\"a", "'\"' at index 0 opens a quoted component that is never closed"),
        ("é/'b", "\"'\" at index 2 opens a quoted component that is never closed"),
        ("\"é\"b", "'b' at index 3 follows a closing quote; only '/' or the end may"),
        ("x/\\asdf\\", "'\\' at index 7 escapes nothing: it is the last character"),
    ] {
        assert_eq!(Name::parse(text).unwrap_err().fields().message, message, "{text}");
    }
}

/// Shapes that the reference writes as something that it reads differently or not at all.
#[test]
fn what_the_reference_loses_survives() {
    for components in [
        &["a/\\"][..],
        &["/\\"],
        &["a/b\\", "c"],
        &["\"a/\\"],
        &["'/\\\\"],
        &["\\/\\"],
        &["x", "\\/'\\"],
        &[""],
        &["", ""],
        &["", "\""],
        &["\\\"/\\\""],
    ] {
        let built = Name::from_components(components);
        assert_eq!(name(&built.to_string()), built, "{components:?} as {built}");
    }
}

#[test]
fn names_slice_join_and_order() {
    let abc = name("a/b/c");
    assert_eq!(abc.prefix(2), name("a/b"));
    assert_eq!(abc.suffix(1), name("b/c"));
    assert_eq!(abc.suffix(9), Name::empty());
    assert_eq!(abc.slice(1..=1), name("b"));
    assert_eq!(abc.parent(), Some(name("a/b")));
    assert_eq!(Name::empty().parent(), None);
    assert_eq!(name("a").join(&name("b/c")), abc);
    assert_eq!(Name::empty().join(&abc), abc);
    assert_eq!(name("a").child("b/c").to_string(), "a/\"b/c\"");
    assert!(abc.starts_with(&name("a/b")) && !abc.starts_with(&name("a/c")));
    assert!(name("a/b") < name("a.b"), "by components, not by text");
    assert!(name("a") < name("a/b"));
    assert_eq!(name("\"\"/x"), name("/x"));
    assert_eq!(HashSet::from([name("'a'"), name("a")]).len(), 1);
}

#[test]
fn limits_count_bytes_and_components() {
    let most = name(&vec!["c"; 32].join("/"));
    assert!(most.check_operation().is_ok());
    let error = most.child("c").check_limits().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidName);
    assert_eq!(error.fields().message, "the name has 33 components; 32 are allowed");

    let longest = Name::from_components(["é".repeat(512)]);
    assert!(longest.check_limits().is_ok());
    let error = Name::from_components([format!("{longest}x")]).check_limits().unwrap_err();
    assert_eq!(error.fields().message, "the name is 1025 bytes long; 1024 are allowed");
    // What counts is the canonical text: the quotes and the escape are in it.
    assert!(Name::from_components([format!("{}/", "x".repeat(1022))]).check_limits().is_err());

    assert!(name("a//b").check_limits().is_ok());
    assert_eq!(name("a//b").check_operation().unwrap_err().fields().message, "component 2 of 3 is empty");
    assert!(Name::empty().check_operation().is_ok());
}

/// Text rich in what the syntax treats specially.
fn tricky() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["/", "\\", "'", "\"", "a", "é", ".", " ", "\u{0}"]), 0..8)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Invariant 1.
    #[test]
    fn the_canonical_text_reads_as_the_name(components in prop::collection::vec(prop_oneof![tricky(), any::<String>()], 0..6)) {
        let built = Name::from_components(&components);
        let read = name(built.as_str());
        prop_assert_eq!(&read, &built);
        prop_assert_eq!(read.iter().collect::<Vec<_>>(), components.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(read.to_string(), built.to_string());
    }

    #[test]
    fn reading_never_fails_otherwise_than_with_an_index(text in prop_oneof![tricky(), any::<String>()]) {
        match Name::parse(&text) {
            Ok(read) => prop_assert_eq!(name(read.as_str()), read),
            Err(error) => prop_assert!(error.fields().message.contains("at index")),
        }
    }

    #[test]
    fn equal_exactly_where_the_components_are(
        left in prop::collection::vec(tricky(), 0..3),
        right in prop::collection::vec(tricky(), 0..3),
    ) {
        let (built_left, built_right) = (Name::from_components(&left), Name::from_components(&right));
        prop_assert_eq!(built_left == built_right, left == right);
        prop_assert_eq!(built_left.cmp(&built_right), left.cmp(&right));
    }

    #[test]
    fn a_cut_name_joins_again(components in prop::collection::vec(tricky(), 0..6), at in 0usize..7) {
        let built = Name::from_components(&components);
        prop_assert_eq!(built.prefix(at).join(&built.suffix(at)), built);
    }
}

proptest! {
    /// A name that was read and one that was made of components are the same, whatever is asked of them.
    #[test]
    fn split_or_not_a_name_is_the_same(
        one in prop::collection::vec("[a-c.!]{1,2}", 1..5),
        other in prop::collection::vec("[a-c.!]{1,2}", 1..5),
        // Long names that begin alike.
        common in prop::collection::vec("[a-c.!]{1,5}", 0..5),
        range in (0_usize..6, 0_usize..6),
    ) {
        let [one, other] = [one, other].map(|own| common.iter().cloned().chain(own).collect::<Vec<_>>());
        let read = |components: &[String]| name(&components.join("/"));
        let (plain, split) = (read(&one), Name::from_components(&one));
        let (plain_other, split_other) = (read(&other), Name::from_components(&other));
        prop_assert!(plain == split && plain.len() == one.len() && plain.iter().len() == one.len());
        prop_assert_eq!(plain.iter().collect::<Vec<_>>(), one.iter().collect::<Vec<_>>());
        prop_assert_eq!(plain.iter().rev().collect::<Vec<_>>(), one.iter().rev().collect::<Vec<_>>());
        prop_assert_eq!(plain.iter().skip(1).rev().collect::<Vec<_>>(), split.iter().skip(1).rev().collect::<Vec<_>>());
        prop_assert_eq!(plain.cmp(&plain_other), one.cmp(&other));
        prop_assert_eq!(plain.cmp(&split_other), one.cmp(&other));
        prop_assert_eq!(plain.starts_with(&plain_other), one.starts_with(&other));
        prop_assert_eq!(plain.join(&plain_other), split.join(&split_other));
        prop_assert_eq!(plain.slice(range.0..range.1), split.slice(range.0..range.1));
        prop_assert_eq!(plain.parent(), split.parent());
        prop_assert_eq!((plain.get(1), plain.last()), (split.get(1), split.last()));
        let again = plain.slice(range.0..range.1);
        prop_assert_eq!(again.len(), split.slice(range.0..range.1).components().len());
        prop_assert_eq!(plain.components(), split.components());
    }
}
