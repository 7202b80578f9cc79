//! The Python face: thin classes over `client` and `server`, and the only place where pyo3 is used.
//!
//! Nothing is decided here. An object becomes a value ([`value`]), a name is read ([`name`]), an operation is handed to
//! the client's engine with the interpreter released ([`context`]), and what comes back becomes an object, a record
//! ([`records`]) or an exception ([`error`]). What happens to the process as a whole stands in [`process`].
//!
//! The classes are `hanaming._native`'s and say they are `hanaming`'s, where users import them from.

mod error;
mod factories;
mod imports;
mod log;
mod name;
mod operation;
mod process;
mod product;
mod records;
mod reference;
mod value;

use pyo3::prelude::*;

/// hanaming's Rust core.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::factories::{register_object_factory, register_state_factory};
    #[pymodule_export]
    use super::log::{log_level, log_records};
    #[pymodule_export]
    use super::name::PyName;
    #[pymodule_export]
    use super::process::{_after_fork, _at_exit};
    #[pymodule_export]
    use super::reference::{PyLinkRef, PyReference};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
