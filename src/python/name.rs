//! `hanaming.Name`, and how a name is taken from an argument.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PySlice, PyString, PyTuple, PyType};

use crate::naming::{ErrorKind, Name, NamingError};

use super::argument::{Argument, each, wrong_type};
use super::error::{self, entered};
use super::parameter::{Index, Start, Stop, place, some_place};

/// An immutable composite name: a sequence of its components.
///
/// `/` separates, `\` escapes, `'` and `"` quote at the start of a component; `Name(str(n)) == n` for every name.
/// Limits are checked by operations, not here.
#[pyclass(name = "Name", module = "hanaming", frozen, eq, ord, hash)]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PyName(pub Name);

#[pymethods]
impl PyName {
    #[new]
    #[pyo3(signature = (text = Argument::Absent), text_signature = "(text='')")]
    fn new(text: Argument<'_>) -> PyResult<Self> {
        entered(|| text.into_given().map_or_else(|| Ok(Self(Name::empty())), |text| extract(&text, "text").map(Self)))
    }

    /// The name of these components, taken as they are: nothing in them separates, escapes or quotes.
    #[classmethod]
    fn from_components(_class: &Bound<'_, PyType>, components: &Bound<'_, PyAny>) -> PyResult<Self> {
        entered(|| {
            let mut taken = Vec::new();
            for (index, component) in each(components, "components", "str")?.enumerate() {
                let component = component?;
                let Ok(text) = component.cast::<PyString>() else {
                    return Err(wrong_type(&format!("components[{index}]"), "a str", &component));
                };
                taken.push(text_of(text, &format!("components[{index}]"))?.to_owned());
            }
            Ok(Self(Name::from_components(taken)))
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __bool__(&self) -> bool {
        !self.0.is_empty()
    }

    fn __str__(&self) -> &str {
        self.0.as_str()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        entered(|| Ok(format!("Name({})", PyString::new(py, self.0.as_str()).repr()?)))
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let py = index.py();
            if let Ok(slice) = index.cast::<PySlice>() {
                let part = slice.indices(isize::try_from(self.0.len())?)?;
                let mut at = part.start;
                let mut picked = Vec::with_capacity(part.slicelength);
                for _ in 0..part.slicelength {
                    picked.extend(usize::try_from(at).ok().and_then(|at| self.0.get(at)));
                    at += part.step;
                }
                return Ok(Bound::new(py, Self(Name::from_components(picked)))?.into_any());
            }
            let at = place::<Index>(index)?;
            let from_start = if at < 0 { at.saturating_add_unsigned(self.0.len()) } else { at };
            match usize::try_from(from_start).ok().and_then(|at| self.0.get(at)) {
                Some(component) => Ok(PyString::new(py, component).into_any()),
                None => Err(PyIndexError::new_err(format!("the name has {} components", self.0.len()))),
            }
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        entered(|| PyTuple::new(py, self.0.iter())?.try_iter())
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        entered(|| PyTuple::new(py, self.0.iter().rev())?.try_iter())
    }

    fn __contains__(&self, component: &Bound<'_, PyAny>) -> bool {
        component.extract::<&str>().is_ok_and(|wanted| self.0.iter().any(|has| has == wanted))
    }

    /// The position of the first component equal to `value`; `ValueError` where there is none.
    #[pyo3(signature = (value, start = 0, stop = None))]
    fn index(
        &self,
        value: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = place::<Start>)] start: isize,
        #[pyo3(from_py_with = some_place::<Stop>)] stop: Option<isize>,
    ) -> PyResult<usize> {
        entered(|| {
            let components = PyTuple::new(value.py(), self.0.iter())?;
            let length = isize::try_from(self.0.len())?;
            let clamp = |at: isize| usize::try_from(if at < 0 { at.saturating_add(length).max(0) } else { at.min(length) });
            for at in clamp(start)?..clamp(stop.unwrap_or(length))? {
                if components.get_item(at)?.eq(value)? {
                    return Ok(at);
                }
            }
            Err(PyValueError::new_err(format!("{} is no component of the name", value.repr()?)))
        })
    }

    /// How many components are equal to `value`.
    fn count(&self, value: &Bound<'_, PyAny>) -> usize {
        value.extract::<&str>().map_or(0, |wanted| self.0.iter().filter(|has| *has == wanted).count())
    }

    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        entered(|| Ok(Self(self.0.join(&extract(other, "what is behind the /")?))))
    }

    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        entered(|| Ok(Self(extract(other, "what is before the /")?.join(&self.0))))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}

/// The name that an argument gives: a `str`, which is read, or a `Name`. `place` is what an error calls the argument.
pub fn extract(argument: &Bound<'_, PyAny>, place: &str) -> PyResult<Name> {
    if let Ok(text) = argument.cast::<PyString>() {
        return Name::parse(text_of(text, place)?).map_err(|wrong| error::raise(argument.py(), wrong));
    }
    if let Ok(name) = argument.cast::<PyName>() {
        return Ok(name.get().0.clone());
    }
    Err(wrong_type(place, "a str or a Name", argument))
}

/// Shows `take` the canonical text of the name that an argument gives; of most names, no [`Name`] is made for it.
pub fn extract_text(argument: &Bound<'_, PyAny>, place: impl FnOnce() -> String, take: impl FnOnce(&str)) -> PyResult<()> {
    if let Ok(text) = argument.cast::<PyString>() {
        // What is no text is told below, where the place is known.
        if let Ok(text) = text.to_str()
            && Name::is_plain(text)
        {
            take(text);
            return Ok(());
        }
    }
    take(extract(argument, &place())?.as_str());
    Ok(())
}

/// The text of the string at `place`, which must have one in UTF-8.
fn text_of<'a>(text: &'a Bound<'_, PyString>, place: &str) -> PyResult<&'a str> {
    text.to_str().map_err(|_| {
        let shown = text.to_string_lossy();
        let message = format!("{place} has a lone surrogate, which no text in UTF-8 has");
        let wrong = NamingError::new(ErrorKind::InvalidName, message);
        error::raise(text.py(), wrong.with_name(shown))
    })
}
