//! Names that are answered differently depending on where they are asked.
//!
//! Two things surprise people who use a cluster of local trees, and neither is an error while it lasts: one name bound
//! to *different* values on different nodes (a *mismatch*), and a name of the cluster tree under which some local tree
//! has something of its own that no HA context will ever see (a *hidden* binding). The check walks all trees side by
//! side, page by page, and goes down only where two trees have a context of one name: elsewhere nothing can differ.
//! Memory is bounded by pages, depth and the number of findings, and not by the size of the trees.

use std::sync::Arc;

use tokio::task::yield_now;
use tokio::time::Instant;

use crate::cluster::record::Sibling;
use crate::naming::{Content, EntryKind, Listed, Name, Source};
use crate::protocol::{
    Answer, Fault, Found, PageRequest, Reply, Report, ReportItem, Scope, SurveyAnswer, SurveyItem, TreeChoice,
};

use super::fault;
use super::listing::{Contexts, PAGE_ROWS};
use super::merge::{Group, group, row_size};
use super::own::parse;
use crate::server::core::Core;

/// Bytes of findings at most: the report is one frame.
const REPORT_BYTES: usize = 1 << 20;

/// What the findings may still take.
struct Findings {
    report: Report,
    room: usize,
}

impl Core {
    /// A report where there is nothing to compare: a local context has one tree.
    pub fn check_now(&self, scope: Scope, name: &str) -> Option<Reply> {
        if let Err(error) = parse(name) {
            return Some(Reply::Failed(fault::from_error(error)));
        }
        (scope != Scope::Cluster).then(|| Reply::Done(Answer::Report(Report::default())))
    }

    /// The findings at `name` and beneath it.
    pub async fn check(self: Arc<Self>, name: String, deadline: Instant) -> Reply {
        let mut findings = Findings { report: Report::default(), room: REPORT_BYTES };
        self.replication.settled().await;
        if let Err(fault) = self.conflicts(&name, &mut findings) {
            return Reply::Failed(fault);
        }
        match self.walk(&name, deadline, &mut findings).await {
            Ok(()) => Reply::Done(Answer::Report(findings.report)),
            Err(reply) => reply,
        }
    }

    /// Adds the names of the cluster tree at which versions disagree: what is shown stands first.
    fn conflicts(&self, name: &str, findings: &mut Findings) -> Result<(), Fault> {
        let name = parse(name).map_err(fault::from_error)?;
        let shown = self.cluster.snapshot();
        for conflict in self.replication.conflicts(&name) {
            let Some(entry) = shown.get(&conflict.name) else { continue };
            let (mut rows, others): (Vec<_>, Vec<_>) =
                conflict.versions.iter().map(version_row).partition(|row| row.version == Some(entry.version));
            if rows.is_empty() {
                // A context that is there for what lies under it: no write made it.
                rows.push(self.listed(String::new(), entry, Source::Cluster, true));
            }
            rows.extend(others);
            let item = findings.item(&conflict.name, &rows.iter().collect::<Vec<_>>())?;
            findings.report.conflicts.push(item);
        }
        Ok(())
    }

    async fn walk(self: &Arc<Self>, name: &str, deadline: Instant, findings: &mut Findings) -> Result<(), Reply> {
        let name = parse(name).map_err(|error| Reply::Failed(fault::from_error(error)))?;
        if !name.is_empty() && !self.compare_at(&name, deadline, findings).await? {
            return Ok(());
        }
        let mut open = vec![Walk { context: name, after: None, pending: Vec::new(), more: true }];
        while let Some(walk) = open.last_mut() {
            if let Some(child) = walk.pending.pop() {
                let context = walk.context.child_from_text(&child);
                open.push(Walk { context, after: None, pending: Vec::new(), more: true });
            } else if walk.more {
                self.compare_page(walk, deadline, findings).await?;
                // A long walk over own trees alone never waits by itself.
                yield_now().await;
            } else {
                open.pop();
            }
        }
        Ok(())
    }

    /// Compares the name itself, and says whether it is worth going beneath it.
    async fn compare_at(self: &Arc<Self>, name: &Name, deadline: Instant, findings: &mut Findings) -> Result<bool, Reply> {
        let items = match Arc::clone(self).survey(name.to_string(), deadline).await {
            Reply::Done(Answer::Survey(items)) => items,
            other => return Err(other),
        };
        let (answered, silent): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.answer != SurveyAnswer::Silent);
        if !silent.is_empty() {
            let nodes = |items: Vec<&SurveyItem>| {
                let mut nodes: Vec<_> = items.into_iter().map(|item| Arc::clone(&item.node)).collect();
                nodes.dedup();
                nodes
            };
            return Err(Reply::Failed(fault::silence(nodes(answered), nodes(silent), Vec::new())));
        }
        let rows = items.into_iter().filter_map(row_of).collect::<Vec<_>>();
        let below = rows.iter().filter(|row| row.content.kind == EntryKind::Context).count() > 0;
        findings.compare(name, &Group { component: String::new(), rows }).map_err(Reply::Failed)?;
        Ok(below)
    }

    async fn compare_page(&self, walk: &mut Walk, deadline: Instant, findings: &mut Findings) -> Result<(), Reply> {
        let request = PageRequest {
            name: walk.context.to_string(),
            tree: TreeChoice::All,
            after: walk.after.take(),
            limit: PAGE_ROWS,
            values: true,
        };
        let (contexts, silence) = self.gather(&request, deadline).await.into_contexts();
        if !silence.silent.is_empty() {
            return Err(Reply::Failed(fault::silence(silence.answered, silence.silent, Vec::new())));
        }
        let (groups, more) = match contexts {
            Contexts::Parts(parts) => group(parts),
            // It was there a moment ago, or is a link: nothing to compare beneath it.
            Contexts::Reply(_) => (Vec::new(), false),
        };
        walk.more = more;
        walk.after = groups.last().map(|group| group.component.clone());
        for group in groups {
            findings.compare(&walk.context.child_from_text(&group.component), &group).map_err(Reply::Failed)?;
            if group.rows.iter().filter(|row| row.content.kind == EntryKind::Context).count() > 1 {
                walk.pending.push(group.component);
            }
        }
        Ok(())
    }
}

/// A context that is being walked.
struct Walk {
    context: Name,
    after: Option<String>,
    /// Contexts of the last page that are still to be walked.
    pending: Vec<String>,
    more: bool,
}

impl Findings {
    /// Adds what differs at one name.
    fn compare(&mut self, name: &Name, group: &Group) -> Result<(), Fault> {
        let (cluster, local): (Vec<&Listed>, Vec<&Listed>) = group.rows.iter().partition(|row| row.source == Source::Cluster);
        if local.iter().any(|row| !same(&row.content, &local[0].content)) {
            let item = self.item(name, &local)?;
            self.report.mismatches.push(item);
        }
        if let Some(shown) = cluster.first() {
            let both_contexts = |row: &Listed| [shown.content.kind, row.content.kind] == [EntryKind::Context; 2];
            let hidden: Vec<&Listed> = local.into_iter().filter(|row| !both_contexts(row)).collect();
            if !hidden.is_empty() {
                let item = self.item(name, &[&[*shown], &hidden[..]].concat())?;
                self.report.hidden.push(item);
            }
        }
        Ok(())
    }

    fn item(&mut self, name: &Name, rows: &[&Listed]) -> Result<ReportItem, Fault> {
        let name = name.to_string();
        let size = name.len() + rows.iter().map(|row| row_size(row)).sum::<usize>();
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            let found = self.report.conflicts.len() + self.report.mismatches.len() + self.report.hidden.len();
            fault::over_limit(format!("the report does not fit one reply after {found} findings; check beneath a longer name"))
        })?;
        Ok(ReportItem { name, answers: rows.iter().map(|row| found(row)).collect() })
    }
}

/// Whether two entries are the same to whoever looks them up.
fn same(one: &Content, other: &Content) -> bool {
    one.kind == other.kind && one.value == other.value
}

fn found(row: &Listed) -> Found {
    Found {
        content: row.content.clone(),
        source: row.source,
        node: Arc::clone(&row.node),
        version: row.version,
        asked: vec![Arc::clone(&row.node)],
    }
}

/// A version of a name of the cluster tree, by the node that wrote it.
fn version_row(version: &Arc<Sibling>) -> Listed {
    Listed {
        component: String::new(),
        content: version.content.clone(),
        source: Source::Cluster,
        node: Arc::clone(&version.writer),
        version: Some(version.dot),
        sources: Vec::new(),
    }
}

/// A tree's answer for the name itself, as a row.
fn row_of(item: SurveyItem) -> Option<Listed> {
    let found = match item.answer {
        SurveyAnswer::Found(found) => found,
        SurveyAnswer::Link(link) if link.rest.is_empty() => link.found,
        SurveyAnswer::Link(_) | SurveyAnswer::Absent { .. } | SurveyAnswer::Silent => return None,
    };
    Some(Listed {
        component: String::new(),
        content: found.content,
        source: item.source,
        node: Arc::clone(&item.node),
        version: found.version,
        sources: vec![(item.source, item.node)],
    })
}
