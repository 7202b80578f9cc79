//! Sorted pages of several trees, made into one. Pure.
//!
//! Each tree gives a part of its listing: rows in order of their components, and whether there are more. A component is
//! settled when no part can have another row for it, which is so up to the last row of every part that has more. Only
//! settled rows are given, so that a page never lacks a source, and the next page starts behind the last one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::naming::{Listed, Source};
use crate::protocol::Page;

/// How many bytes of rows a page holds at most, so that a page of long values fits a frame.
pub const PAGE_BYTES: usize = 1 << 20;

/// Rows of one tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Which tree.
    pub source: Source,
    /// The node in which it stands.
    pub node: Arc<str>,
    /// The rows, in order.
    pub rows: Vec<Listed>,
    /// There are more behind the last.
    pub more: bool,
}

/// All that the trees have at one component, in the order of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The component.
    pub component: String,
    /// The rows.
    pub rows: Vec<Listed>,
}

/// The settled components of all parts, and whether there are more. The parts stand in the order in which a lookup
/// would ask their trees.
pub fn group(parts: Vec<Part>) -> (Vec<Group>, bool) {
    // A part that says it has more and gives no row would stop the listing for ever: it is taken at its rows.
    let unfinished = parts.iter().filter(|part| part.more).filter_map(|part| part.rows.last());
    let horizon = unfinished.map(|row| row.component.as_str()).min().map(str::to_owned);
    let mut more = horizon.is_some();
    let mut groups: BTreeMap<String, Vec<Listed>> = BTreeMap::new();
    for Part { source, node, rows, .. } in parts {
        for row in rows {
            if horizon.as_ref().is_some_and(|horizon| row.component > *horizon) {
                more = true;
                continue;
            }
            let row = Listed { source, node: Arc::clone(&node), sources: vec![(source, Arc::clone(&node))], ..row };
            groups.entry(row.component.clone()).or_default().push(row);
        }
    }
    (groups.into_iter().map(|(component, rows)| Group { component, rows }).collect(), more)
}

/// One page of at most `limit` rows: for each component the row that a lookup would be answered from, and all sources.
pub fn merge(parts: Vec<Part>, limit: usize) -> Page {
    let (groups, mut more) = group(parts);
    let mut entries = Vec::new();
    let mut room = PAGE_BYTES;
    for Group { rows, .. } in groups {
        let sources: Vec<_> = rows.iter().map(|row| (row.source, Arc::clone(&row.node))).collect();
        let Some(first) = rows.into_iter().next() else { continue };
        let size = row_size(&first);
        if entries.len() == limit || (room < size && !entries.is_empty()) {
            more = true;
            break;
        }
        room = room.saturating_sub(size);
        entries.push(Listed { sources, ..first });
    }
    Page { entries, more }
}

/// About how many bytes a row takes in a frame.
pub fn row_size(row: &Listed) -> usize {
    /// Names of nodes, a version, lengths.
    const AROUND: usize = 64;
    let metadata = row.content.instance.as_ref().map_or(0, |instance| instance.metadata.len());
    AROUND * (1 + row.sources.len()) + row.component.len() + row.content.class_name.len() + row.content.value.len() + metadata
}
