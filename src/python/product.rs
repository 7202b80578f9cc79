//! What an operation gave, as Python objects.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::client::{Freshness, Located, Settled, Subject};
use crate::failure::{Attempt, CompletionStatus};
use crate::naming::{Content, Detail, EntryKind, ErrorKind, Listed, Name, NamingError, Value};
use crate::protocol::{Found, Report, ReportItem, SurveyAnswer, SurveyItem};

use super::imports::Imported;
use super::registration::Registrar;
use super::{error, factories, name, records, value};

/// A context, as far as it makes others of its kind.
pub trait Home {
    /// A context rooted at that full name, over the same client.
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>>;
    /// Who takes back what was registered through it.
    fn registrar(&self, py: Python<'_>) -> PyResult<Box<dyn Registrar>>;
}

/// The object that is bound: a context, a value, or what an object factory makes of a reference.
pub fn object<'py>(py: Python<'py>, home: &dyn Home, subject: &Subject, located: &Located) -> PyResult<Bound<'py, PyAny>> {
    let content = &located.found.content;
    match object_of(py, content.kind, &content.value, || Ok(subject.given().as_str()))? {
        Some(object) => Ok(object),
        None => home.subcontext(py, located.at.as_ref().unwrap_or(subject.full()).clone()),
    }
}

/// The same for what is of that kind, has these bytes and was asked for by that name; `None` where it is a context.
fn object_of<'py, T: AsRef<str>>(
    py: Python<'py>,
    kind: EntryKind,
    bytes: &[u8],
    name: impl FnOnce() -> PyResult<T>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if kind != EntryKind::Reference {
        return value::of_kind(py, kind, bytes);
    }
    let decoded = Value::of_kind(kind, bytes).map_err(|wrong| error::raise(py, wrong))?;
    let made = value::to_object(py, &decoded)?;
    match &decoded {
        Value::Reference(reference) => Ok(Some(factories::object(py, reference, &made, name()?.as_ref())?.unwrap_or(made))),
        _ => Ok(Some(made)),
    }
}

/// A `dict` of what is bound at many names within the context at `base`, without the names at which nothing is.
pub fn objects<'py>(
    py: Python<'py>,
    home: &dyn Home,
    base: &Name,
    keys: &[Py<PyAny>],
    items: &Settled,
) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (key, item) in keys.iter().zip(items.iter()) {
        let Some(item) = item else { continue };
        let name = || Ok(key.bind(py).str()?.to_string());
        let object = match (object_of(py, item.kind, item.value, name)?, item.at) {
            (Some(object), _) => object,
            (None, Some(at)) => home.subcontext(py, at.clone())?,
            (None, None) => home.subcontext(py, base.join(&name::extract(key.bind(py), "name")?))?,
        };
        dict.set_item(key, object)?;
    }
    Ok(dict.into_any())
}

/// What is bound, as it is: a context, or the value.
pub fn plain<'py>(py: Python<'py>, home: &dyn Home, full: &Name, located: &Located) -> PyResult<Bound<'py, PyAny>> {
    standing_at(py, home, located.at.as_ref().unwrap_or(full), &located.found.content)
}

fn standing_at<'py>(py: Python<'py>, home: &dyn Home, full: &Name, content: &Content) -> PyResult<Bound<'py, PyAny>> {
    match value::from_content(py, content)? {
        Some(value) => Ok(value),
        None => home.subcontext(py, full.clone()),
    }
}

/// `Resolution`.
pub fn resolution<'py>(
    py: Python<'py>,
    home: &dyn Home,
    full: &Name,
    located: &Located,
    elapsed: Duration,
    attempts: &[Attempt],
) -> PyResult<Bound<'py, PyAny>> {
    records::resolution(py, &plain(py, home, full, located)?, &located.found, elapsed, attempts, located.freshness)
}

/// A `list` of `Resolution`, or the error with what was gathered.
pub type Surveyed<'py> = Result<Bound<'py, PyAny>, (NamingError, Option<Bound<'py, PyList>>)>;

/// Every node's answer. Where a node was silent, or none has the name, that is an error.
pub fn survey<'py>(
    py: Python<'py>,
    home: &dyn Home,
    given: &Name,
    full: &Name,
    items: &[SurveyItem],
    elapsed: Duration,
    attempts: &[Attempt],
) -> PyResult<Surveyed<'py>> {
    let answers = PyList::empty(py);
    let mut answered = Vec::new();
    let mut silent = Vec::new();
    let mut furthest = (false, 0);
    let is_complete = items.iter().all(|item| item.answer != SurveyAnswer::Silent);
    for item in items {
        match &item.answer {
            SurveyAnswer::Silent => silent.push(item.node.clone()),
            SurveyAnswer::Absent { not_context, resolved } => {
                answered.push(item.node.clone());
                furthest = furthest.max((*not_context, *resolved));
            }
            SurveyAnswer::Found(found) | SurveyAnswer::Link(crate::protocol::LinkMet { found, .. }) => {
                answered.push(item.node.clone());
                let value = match value::from_content(py, &found.content)? {
                    Some(value) => value,
                    None if is_complete => home.subcontext(py, full.clone())?,
                    // An error can be pickled, and a context can't.
                    None => py.None().into_bound(py),
                };
                answers.append(records::resolution(py, &value, found, elapsed, attempts, Freshness::Asked)?)?;
            }
        }
    }
    answered.dedup();
    if !silent.is_empty() {
        let told = answered.iter().map(|node| format!("{node}: answered"));
        let told: Vec<_> = told.chain(silent.iter().map(|node| format!("{node}: silent"))).collect();
        let message = format!("not every node answered. {}. Safe to retry.", told.join("; "));
        let error = NamingError::new(ErrorKind::ServiceUnavailable, message)
            .with_completion(CompletionStatus::Yes)
            .with_repeatable(true)
            .with_detail(Detail::Silence { answered, silent, partial: Vec::new() });
        return Ok(Err((error, Some(answers))));
    }
    if answers.is_empty() {
        let (not_context, resolved) = furthest;
        let (kind, message) = if not_context {
            (ErrorKind::NotContext, "on no node all that is on the way is a context")
        } else {
            (ErrorKind::NameNotFound, "no node has such a name")
        };
        let resolved = usize::try_from(resolved).unwrap_or(usize::MAX).min(full.len());
        let error = NamingError::new(kind, message);
        return Ok(Err((resolved_to(error, given, full, resolved), None)));
    }
    Ok(Ok(answers.into_any()))
}

/// The error of a name of which so many components were resolved, counted from the root, in the words of the context that
/// was asked.
pub fn resolved_to(error: NamingError, given: &Name, full: &Name, resolved: usize) -> NamingError {
    let context = full.len().saturating_sub(given.len());
    let resolved = resolved.saturating_sub(context);
    error.with_resolution(given.prefix(resolved).as_str(), given.suffix(resolved).as_str())
}

/// `Listing`, a list of `NameEntry`.
pub fn entries<'py>(py: Python<'py>, given: &Name, rows: &[Listed]) -> PyResult<Bound<'py, PyAny>> {
    let built = rows.iter().map(|row| records::name_entry(py, given.child_from_text(&row.component).as_str(), row));
    records::listing(py, built.collect::<PyResult<Vec<_>>>()?)
}

/// `Listing`, a list of `Binding`.
pub fn bindings<'py>(
    py: Python<'py>,
    home: &dyn Home,
    given: &Name,
    full: &Name,
    rows: &[Listed],
) -> PyResult<Bound<'py, PyAny>> {
    let built = rows.iter().map(|row| {
        let value = match value::from_content(py, &row.content)? {
            Some(value) => value,
            None => home.subcontext(py, full.child_from_text(&row.component))?,
        };
        records::binding(py, given.child_from_text(&row.component).as_str(), row, &value)
    });
    records::listing(py, built.collect::<PyResult<Vec<_>>>()?)
}

/// A list of names.
pub fn names<'py>(py: Python<'py>, rows: &[Listed]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, rows.iter().map(|row| PyString::new(py, &row.component)))?.into_any())
}

/// A list of `Instance`; what was not registered is passed over.
pub fn instances<'py>(py: Python<'py>, rows: &[Listed]) -> PyResult<Bound<'py, PyAny>> {
    let built = PyList::empty(py);
    for row in rows {
        if let Some(instance) = records::instance(py, row)? {
            built.append(instance)?;
        }
    }
    Ok(built.into_any())
}

/// `CheckReport`.
pub fn report<'py>(py: Python<'py>, home: &dyn Home, report: &Report) -> PyResult<Bound<'py, PyAny>> {
    static REPORT: Imported = Imported::new("hanaming.records", "CheckReport");
    static MISMATCH: Imported = Imported::new("hanaming.records", "Mismatch");
    static HIDDEN: Imported = Imported::new("hanaming.records", "Hidden");
    static CONFLICT: Imported = Imported::new("hanaming.records", "Conflict");
    let mismatches = report.mismatches.iter().map(|item| {
        let answers = answers(py, home, item)?;
        MISMATCH.get(py)?.call1((item.name.as_str(), answers))
    });
    let hidden = report.hidden.iter().map(|item| {
        let (first, others) = split(answers(py, home, item)?);
        HIDDEN.get(py)?.call1((item.name.as_str(), first, others))
    });
    let conflicts = report.conflicts.iter().map(|item| {
        let versions = item.answers.iter().map(|found| versioned(py, home, &item.name, found));
        let (first, others) = split(versions.collect::<PyResult<Vec<_>>>()?);
        CONFLICT.get(py)?.call1((item.name.as_str(), first, others))
    });
    let fields = (
        conflicts.collect::<PyResult<Vec<_>>>()?,
        mismatches.collect::<PyResult<Vec<_>>>()?,
        hidden.collect::<PyResult<Vec<_>>>()?,
    );
    REPORT.get(py)?.call1(fields)
}

fn answers<'py>(py: Python<'py>, home: &dyn Home, item: &ReportItem) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let full = Name::parse(&item.name).map_err(|wrong| error::raise(py, wrong))?;
    let answers = item.answers.iter().map(|found| {
        let value = standing_at(py, home, &full, &found.content)?;
        records::resolution(py, &value, found, Duration::ZERO, &[], Freshness::Asked)
    });
    answers.collect()
}

/// One version of a name in the cluster tree, as a binding.
fn versioned<'py>(py: Python<'py>, home: &dyn Home, name: &str, found: &Found) -> PyResult<Bound<'py, PyAny>> {
    let full = Name::parse(name).map_err(|wrong| error::raise(py, wrong))?;
    let value = standing_at(py, home, &full, &found.content)?;
    let row = Listed {
        component: full.suffix(full.len().saturating_sub(1)).to_string(),
        content: found.content.clone(),
        source: found.source,
        node: found.node.clone(),
        version: found.version,
        sources: vec![(found.source, found.node.clone())],
    };
    records::binding(py, name, &row, &value)
}

type Split<'py> = (Option<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>);

/// The first, and the others.
fn split(mut all: Vec<Bound<'_, PyAny>>) -> Split<'_> {
    let others = all.split_off(all.len().min(1));
    (all.pop(), others)
}
