//! Sorted pages of several trees, made into one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use hanaming::naming::{Content, EntryKind, Listed, Source};
use hanaming::server::answer::merge::{PAGE_BYTES, Part, merge};
use proptest::prelude::*;

fn row(component: &str, bytes: usize) -> Listed {
    Listed {
        component: component.to_owned(),
        content: Content {
            kind: EntryKind::Value,
            class_name: Arc::from("bytes"),
            value: Bytes::from(vec![0; bytes]),
            instance: None,
        },
        source: Source::Local,
        node: Arc::from("?"),
        version: None,
        sources: Vec::new(),
    }
}

fn part(source: Source, node: &str, components: &[&str], more: bool) -> Part {
    Part { source, node: Arc::from(node), rows: components.iter().map(|c| row(c, 0)).collect(), more }
}

/// Component, who answers, all who have it.
fn told(parts: Vec<Part>, limit: usize) -> (Vec<(String, String, Vec<String>)>, bool) {
    let page = merge(parts, limit);
    let rows = page.entries.into_iter().map(|row| {
        let sources = row.sources.iter().map(|(source, node)| format!("{} {node}", source.as_str())).collect();
        (row.component, format!("{} {}", row.source.as_str(), row.node), sources)
    });
    (rows.collect(), page.more)
}

#[test]
fn one_row_a_name_from_the_tree_that_a_lookup_asks_first() {
    let parts = vec![
        part(Source::Cluster, "n1", &["b"], false),
        part(Source::Local, "n1", &["a", "b"], false),
        part(Source::Peer, "n2", &["b", "c"], false),
        part(Source::Peer, "n3", &["c"], false),
    ];
    let (rows, more) = told(parts, 100);
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert!(!more);
    assert_eq!(
        rows,
        [
            ("a".to_owned(), "local n1".to_owned(), names(&["local n1"])),
            ("b".to_owned(), "cluster n1".to_owned(), names(&["cluster n1", "local n1", "peer n2"])),
            ("c".to_owned(), "peer n2".to_owned(), names(&["peer n2", "peer n3"])),
        ]
    );
}

#[test]
fn nothing_is_told_of_a_name_that_a_part_may_still_have() {
    let parts = vec![part(Source::Local, "n1", &["a", "b"], true), part(Source::Peer, "n2", &["a", "c"], false)];
    let (rows, more) = told(parts, 100);
    assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(more);
}

#[test]
fn a_part_without_rows_that_claims_more_does_not_stop_the_listing() {
    let parts = vec![part(Source::Local, "n1", &[], true), part(Source::Peer, "n2", &["a"], false)];
    let (rows, more) = told(parts, 100);
    assert_eq!((rows.len(), more), (1, false));
}

#[test]
fn a_page_of_long_values_stays_within_its_bytes_and_goes_on() {
    let rows = (0..100).map(|n| row(&format!("{n:03}"), 64 << 10)).collect();
    let parts = vec![Part { source: Source::Local, node: Arc::from("n1"), rows, more: false }];
    let page = merge(parts, 1000);
    let bytes: usize = page.entries.iter().map(|row| row.content.value.len()).sum();
    assert!(page.more && !page.entries.is_empty() && bytes <= PAGE_BYTES, "{bytes} bytes");
}

/// What a tree's listing gives: rows behind `after`, at most `limit`.
fn page_of(tree: &BTreeSet<String>, after: Option<&str>, limit: usize) -> (Vec<Listed>, bool) {
    let behind: Vec<&String> = tree.iter().filter(|c| after.is_none_or(|after| c.as_str() > after)).collect();
    (behind.iter().take(limit).map(|c| row(c, 0)).collect(), behind.len() > limit)
}

proptest! {
    /// Page after page, whatever their sizes, every name comes once, in order, with all who have it.
    #[test]
    fn paging_through_gives_everything_once(
        trees in prop::collection::vec(prop::collection::btree_set("[a-d]{1,3}", 0..30), 1..5),
        limits in prop::collection::vec(1_usize..9, 5),
        limit in 1_usize..9,
    ) {
        let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, tree) in trees.iter().enumerate() {
            for component in tree {
                expected.entry(component.clone()).or_default().push(format!("n{index}"));
            }
        }
        let mut listed: Vec<(String, Vec<String>)> = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let parts = trees.iter().enumerate().map(|(index, tree)| {
                let (rows, more) = page_of(tree, after.as_deref(), limits[index]);
                Part { source: Source::Peer, node: Arc::from(format!("n{index}")), rows, more }
            });
            let page = merge(parts.collect(), limit);
            prop_assert!(page.entries.len() <= limit);
            prop_assert!(!page.more || !page.entries.is_empty(), "no progress");
            after = page.entries.last().map(|row| row.component.clone());
            listed.extend(page.entries.into_iter().map(|row| {
                (row.component, row.sources.into_iter().map(|(_, node)| node.to_string()).collect())
            }));
            if !page.more {
                break;
            }
        }
        prop_assert_eq!(listed, expected.into_iter().collect::<Vec<_>>());
    }
}
