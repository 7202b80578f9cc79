//! One operation as Python asks for it: its arguments become an invocation, its product becomes an object.
//!
//! Both faces, the synchronous and the asyncio one, ask and finish through this; what lies between is theirs.

use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::client::config::seconds;
use crate::client::{BindOptions, Invocation, Product, Subject};
use crate::failure::Attempt;
use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::{Texts, TreeChoice};

use super::argument::{each, wrong_type};
use super::asked::{self, Asked, Rows};
use super::attempts;
use super::error;
use super::parameter::Timeout;
use super::product::{self, Home};
use super::registration::{self, Offer, PyRegistration};
use super::{factories, name, records, value};

/// What an operation's product becomes.
enum Shape {
    /// The object that is bound; an object factory makes it of a reference.
    Object,
    /// The same, or this where there is nothing.
    ObjectOr(Py<PyAny>),
    /// The value that is bound, a reference or a link as it is.
    Value,
    /// A `dict` without the absent names.
    Objects(Vec<Py<PyAny>>),
    /// `Resolution`.
    Resolution,
    /// A list of `Resolution`.
    Resolutions,
    /// Whether there is something.
    Presence,
    /// A list of `NameEntry` or `Binding`.
    Listing(Rows),
    /// A list of names.
    Names,
    /// A list of `Instance`.
    Instances,
    /// `Receipt`.
    Receipt,
    /// `Registration`.
    Registration,
    /// Whether something went.
    Removal,
    /// Nothing; an error where nothing went.
    Deletion,
    /// The context that was made.
    Context,
    /// `CheckReport`.
    Report,
    /// `NodeStatus`.
    Status,
    /// `OperationStatus`.
    Became,
    /// `None`.
    Nothing,
}

/// Names that room is made for before they have come.
const FEW: usize = 4096;

/// One operation on its way through the client.
pub struct Asking {
    shape: Shape,
    base: Name,
    subject: Subject,
    /// How the caller spelt the name, where that is not the canonical way.
    spelt: Option<String>,
    /// What would help where the name is not found, as a message's end.
    remedy: &'static str,
}

/// The name that an argument gives, within the context at `base`.
struct Given {
    subject: Subject,
    spelt: Option<String>,
}

impl Given {
    /// The context itself, where an operation has no name.
    fn itself(base: &Name) -> Self {
        Self { subject: Subject::new(base, &Name::empty()), spelt: None }
    }

    /// `place` is what the argument is called.
    fn read(base: &Name, argument: &Bound<'_, PyAny>, place: &str) -> PyResult<Self> {
        let given = name::extract(argument, place)?;
        let spelt = match argument.cast::<PyString>() {
            Ok(text) if text.to_str()? != given.as_str() => Some(text.to_str()?.to_owned()),
            _ => None,
        };
        Ok(Self { subject: Subject::new(base, &given), spelt })
    }
}

/// An operation that is ready to go, and what becomes of its product.
pub type Prepared = (Invocation, Asking);

fn prepare(
    py: Python<'_>,
    base: &Name,
    given: Given,
    shape: Shape,
    invocation: impl FnOnce(Subject) -> Result<Invocation, NamingError>,
) -> PyResult<Prepared> {
    let asking = Asking { shape, base: base.clone(), subject: given.subject.clone(), spelt: given.spelt, remedy: "" };
    match invocation(given.subject) {
        Ok(invocation) => Ok((invocation, asking)),
        Err(error) => Err(asking.raise(py, error)),
    }
}

fn about(
    base: &Name,
    argument: &Bound<'_, PyAny>,
    shape: Shape,
    invocation: impl FnOnce(Subject) -> Result<Invocation, NamingError>,
) -> PyResult<Prepared> {
    prepare(argument.py(), base, Given::read(base, argument, "name")?, shape, invocation)
}

/// `lookup`.
pub fn lookup(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Object, Invocation::lookup)
}

/// `get`.
pub fn get(base: &Name, name: &Bound<'_, PyAny>, default: Py<PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::ObjectOr(default), Invocation::get)
}

/// `name in context`.
pub fn contains(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Presence, Invocation::get)
}

/// `lookup_link`.
pub fn lookup_link(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Value, Invocation::lookup_link)
}

/// `wait_for`.
pub fn wait_for(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Object, Invocation::wait_for)
}

/// `lookup_many`.
pub fn lookup_many(base: &Name, names: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    if names.is_instance_of::<PyString>() || names.is_instance_of::<name::PyName>() {
        return Err(PyTypeError::new_err("names must be a list of names, not a single one; for that there is lookup"));
    }
    // A length is a hint, and what has none says so when it is asked for items.
    let count = names.len().unwrap_or_default().min(FEW);
    let (mut keys, mut texts) = (Vec::with_capacity(count), Texts::with_capacity(count));
    for (index, argument) in each(names, "names", "names")?.enumerate() {
        let argument = argument?;
        name::extract_text(&argument, || format!("names[{index}]"), |text| texts.push(text))?;
        let key = if argument.is_exact_instance_of::<PyString>() { argument } else { argument.str()?.into_any() };
        keys.push(key.unbind());
    }
    prepare(names.py(), base, Given::itself(base), Shape::Objects(keys), |_| Invocation::lookup_many(base, texts))
}

/// `resolve`.
pub fn resolve(base: &Name, name: &Bound<'_, PyAny>, all: bool) -> PyResult<Prepared> {
    if all {
        return about(base, name, Shape::Resolutions, Invocation::survey);
    }
    about(base, name, Shape::Resolution, Invocation::resolve)
}

/// `bind` and `rebind`.
pub fn bind(
    base: &Name,
    name: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    options: BindOptions,
    lease: Option<f64>,
) -> PyResult<Prepared> {
    let given = Given::read(base, name, "name")?;
    let lease = lease.map(|lease| seconds("lease", lease)).transpose().map_err(|wrong| error::raise(name.py(), wrong))?;
    let options = BindOptions { lease: lease.map(in_milliseconds), ..options };
    let content = value::to_content(value, given.subject.given().as_str())?;
    let prepared = prepare(name.py(), base, given, Shape::Receipt, |subject| Invocation::bind(subject, content?, options))?;
    Ok(told_of_parents(prepared, options.create_parents))
}

/// `register`, as the instance of this name.
pub fn register(
    base: &Name,
    service: &Bound<'_, PyAny>,
    offer: &Offer<'_, '_>,
    lease: f64,
    instance: &str,
) -> PyResult<Prepared> {
    let py = service.py();
    let given = registration::service_name(service)?.child(instance);
    let lease = in_milliseconds(seconds("lease", lease).map_err(|wrong| error::raise(py, wrong))?);
    let content = offer.content(&given)?;
    let given = Given { subject: Subject::new(base, &given), spelt: None };
    let options = registration::options(Some(lease));
    prepare(py, base, given, Shape::Registration, |subject| Invocation::bind(subject, content, options))
}

fn in_milliseconds(lease: Duration) -> u32 {
    u32::try_from(lease.as_millis()).unwrap_or(u32::MAX)
}

/// What is said where a context on the way is missing.
const MAKE_PARENTS: &str = "; create_parents=True makes the contexts on the way";

fn told_of_parents((invocation, asking): Prepared, create_parents: bool) -> Prepared {
    (invocation, Asking { remedy: if create_parents { "" } else { MAKE_PARENTS }, ..asking })
}

/// `unbind`.
pub fn unbind(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Removal, Invocation::unbind)
}

/// `del context[name]`.
pub fn delete(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Deletion, Invocation::unbind)
}

/// `rename`.
pub fn rename(base: &Name, old: &Bound<'_, PyAny>, new: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    let from = Given::read(base, old, "old")?;
    let to = Given::read(base, new, "new")?.subject;
    prepare(old.py(), base, from, Shape::Nothing, |from| Invocation::rename(from, to))
}

/// `list_names` and `list_bindings`.
pub fn list(base: &Name, name: &Bound<'_, PyAny>, tree: &str, rows: Rows) -> PyResult<Prepared> {
    let tree = tree_choice(name.py(), tree)?;
    about(base, name, Shape::Listing(rows), |subject| Invocation::list(subject, tree, rows == Rows::Bindings))
}

/// Iteration over a context.
pub fn names(py: Python<'_>, base: &Name) -> PyResult<Prepared> {
    prepare(py, base, Given::itself(base), Shape::Names, |subject| Invocation::list(subject, TreeChoice::All, false))
}

/// `instances`.
pub fn instances(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Instances, |subject| Invocation::list(subject, TreeChoice::All, true))
}

/// `create_subcontext`.
pub fn create_subcontext(base: &Name, name: &Bound<'_, PyAny>, create_parents: bool) -> PyResult<Prepared> {
    let prepared = about(base, name, Shape::Context, |subject| Invocation::create_subcontext(subject, create_parents))?;
    Ok(told_of_parents(prepared, create_parents))
}

/// `destroy_subcontext`.
pub fn destroy_subcontext(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Removal, Invocation::destroy_subcontext)
}

/// `check`.
pub fn check(base: &Name, name: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    about(base, name, Shape::Report, Invocation::check)
}

/// `resolve_conflict`.
pub fn resolve_conflict(base: &Name, name: &Bound<'_, PyAny>, keep: &Bound<'_, PyAny>) -> PyResult<Prepared> {
    let keep = if keep.is_none() {
        None
    } else if let Ok(version) = keep.extract::<String>() {
        Some(version)
    } else {
        match keep.getattr("version").and_then(|version| version.extract::<String>()) {
            Ok(version) => Some(version),
            Err(_) => return Err(wrong_type("keep", "a Binding of check()'s conflicts, its version or None", keep)),
        }
    };
    about(base, name, Shape::Receipt, |subject| Invocation::resolve_conflict(subject, keep))
}

/// `operation_status`.
pub fn operation_status(py: Python<'_>, base: &Name, operation_id: &str) -> PyResult<Prepared> {
    let id = operation_id.parse().map_err(|()| {
        let message = format!("operation_id={operation_id:?} is none; an error's operation_id is");
        error::raise(py, NamingError::new(ErrorKind::Configuration, message))
    })?;
    prepare(py, base, Given::itself(base), Shape::Became, |_| Ok(Invocation::became(id)))
}

/// `forget`.
pub fn forget(py: Python<'_>, base: &Name, node: &str) -> PyResult<Prepared> {
    prepare(py, base, Given::itself(base), Shape::Nothing, |_| Ok(Invocation::forget(node)))
}

/// `status`.
pub fn status(py: Python<'_>, base: &Name) -> PyResult<Prepared> {
    prepare(py, base, Given::itself(base), Shape::Status, |_| Ok(Invocation::status()))
}

/// `quiesce`.
pub fn quiesce(py: Python<'_>, base: &Name) -> PyResult<Prepared> {
    prepare(py, base, Given::itself(base), Shape::Nothing, |_| Ok(Invocation::quiesce()))
}

fn tree_choice(py: Python<'_>, tree: &str) -> PyResult<TreeChoice> {
    match tree {
        "all" => Ok(TreeChoice::All),
        "cluster" => Ok(TreeChoice::Cluster),
        "local" => Ok(TreeChoice::Local),
        other => {
            let message = format!("tree={other:?} is unknown; it is all, cluster or local");
            Err(error::raise(py, NamingError::new(ErrorKind::Configuration, message)))
        }
    }
}

/// The time that an operation is given.
pub fn duration(timeout: Option<Timeout>) -> Result<Option<Duration>, NamingError> {
    timeout.map(|Timeout(given)| seconds("timeout", given)).transpose()
}

impl Asking {
    /// What the caller gets. `elapsed` is how long the operation took, `attempts` gives what was tried, for those
    /// products that tell it.
    pub fn finish<'py>(
        &self,
        py: Python<'py>,
        home: &dyn Home,
        product: &Product,
        elapsed: Duration,
        attempts: &dyn Fn() -> Vec<Attempt>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let full = self.subject.full();
        Ok(match (&self.shape, product) {
            (Shape::Object | Shape::ObjectOr(_), Product::Found(located)) => {
                product::object(py, home, &self.subject, located).map_err(|raised| with_attempts(py, raised, attempts))?
            }
            (Shape::ObjectOr(default), Product::Absent) => default.bind(py).clone(),
            (Shape::Presence, product) => (*product != Product::Absent).into_pyobject(py)?.to_owned().into_any(),
            (Shape::Value, Product::Found(located)) => product::plain(py, home, full, located)?,
            (Shape::Objects(keys), Product::Many(items)) => {
                product::objects(py, home, &self.base, keys, items).map_err(|raised| with_attempts(py, raised, attempts))?
            }
            (Shape::Resolution, Product::Found(located)) => product::resolution(py, home, full, located, elapsed, &attempts())?,
            (Shape::Resolutions, Product::Survey(items)) => {
                return match product::survey(py, home, self.subject.given(), full, items, elapsed, &attempts())? {
                    Ok(answers) => Ok(answers),
                    Err((error, gathered)) => {
                        let exception = {
                            let named = error.with_name(self.subject.given().as_str()).with_attempts(attempts());
                            self.raise(py, named)
                        };
                        if let Some(gathered) = gathered {
                            exception.value(py).setattr("partial", gathered)?;
                        }
                        Err(exception)
                    }
                };
            }
            (Shape::Listing(Rows::Entries), Product::Listing(rows)) => product::entries(py, self.subject.given(), rows)?,
            (Shape::Listing(Rows::Bindings), Product::Listing(rows)) => {
                product::bindings(py, home, self.subject.given(), full, rows)?
            }
            (Shape::Names, Product::Listing(rows)) => product::names(py, rows)?,
            (Shape::Instances | Shape::Listing(Rows::Instances), Product::Listing(rows)) => product::instances(py, rows)?,
            (Shape::Receipt, Product::Written(written)) => records::receipt(py, written)?,
            (Shape::Registration, Product::Written(_)) => {
                let registration = PyRegistration::new(home.registrar(py)?, full.clone());
                Bound::new(py, registration)?.into_any()
            }
            (Shape::Removal, Product::Removed { existed, .. }) => existed.into_pyobject(py)?.to_owned().into_any(),
            (Shape::Deletion, Product::Removed { existed: false, .. }) => {
                let given = self.subject.given();
                let error =
                    NamingError::new(ErrorKind::NameNotFound, "no such name").with_name(given.as_str()).with_attempts(attempts());
                // What is missing is the last component: all that is before it is there, or that is another error.
                let before = full.len().saturating_sub(1);
                return Err(self.raise(py, product::resolved_to(error, given, full, before)));
            }
            (Shape::Context, Product::Written(_)) => home.subcontext(py, full.clone())?,
            (Shape::Report, Product::Report(report)) => product::report(py, home, report)?,
            (Shape::Became, Product::Became(became)) => records::operation_status(py, became)?,
            (Shape::Status, Product::Status(status)) => records::node_status(py, status)?,
            (Shape::Nothing, Product::Written(_) | Product::Accepted) | (Shape::Deletion, Product::Removed { .. }) => {
                py.None().into_bound(py)
            }
            (_, other) => {
                let message = format!("the client gave what was not asked for: {other:?}");
                return Err(self.raise(py, NamingError::new(ErrorKind::Internal, message)));
            }
        })
    }

    /// The exception of an error of this operation.
    pub fn raise(&self, py: Python<'_>, error: NamingError) -> PyErr {
        let given = self.subject.given();
        let spelt = self.spelt.as_deref().unwrap_or(given.as_str());
        let error = match &error.fields().name {
            Some(name) if name != given.as_str() => error,
            None if spelt.is_empty() => error,
            _ => error.with_name(spelt),
        };
        let error = if error.kind() == ErrorKind::NameNotFound && !self.remedy.is_empty() {
            let message = format!("{}{}", error.fields().message, self.remedy);
            error.with_message(message)
        } else {
            error
        };
        let listing = match self.shape {
            Shape::Listing(rows) => Some(rows),
            Shape::Names => Some(Rows::Entries),
            Shape::Instances => Some(Rows::Instances),
            _ => None,
        };
        asked::raise(py, error, Asked { given, listing })
    }
}

/// The exception of a factory, with what was tried before it was called.
fn with_attempts(py: Python<'_>, raised: PyErr, attempts: &dyn Fn() -> Vec<Attempt>) -> PyErr {
    let add = || raised.value(py).setattr("attempts", attempts::attempts(py, &attempts())?);
    match if factories::is_failure(py, &raised) { add() } else { Ok(()) } {
        Ok(()) => raised,
        Err(other) => other,
    }
}
