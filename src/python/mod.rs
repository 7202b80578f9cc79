//! The Python face: thin classes over `client` and `server`, and the only place where pyo3 is used.
//!
//! Nothing is decided here. An object becomes a value ([`value`]), a name is read ([`name`]), an operation is handed to
//! the client's engine with the interpreter released ([`context`]), and what comes back becomes an object, a record
//! ([`records`]) or an exception ([`error`]). What happens to the process as a whole stands in [`process`].
//!
//! The classes are `hanaming._native`'s and say they are `hanaming`'s, where users import them from.

mod argument;
mod asked;
mod asyncio;
mod attempts;
mod balancer;
mod context;
mod dialler;
mod dns;
mod error;
mod factories;
mod failure;
mod failure_log;
mod fork;
mod ha_context;
mod hot;
mod imports;
mod known;
mod log;
mod name;
mod node;
mod node_settings;
mod operation;
mod parameter;
mod process;
mod product;
mod records;
mod reference;
mod registration;
mod running_loop;
mod service;
mod session;
mod settings;
mod show;
mod simulation;
mod text;
mod value;
mod watch;

/// hanaming's Rust core.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::asyncio::{_panic_on_loop, aio_context_of};
    #[pymodule_export]
    use super::balancer::{PyBalancing, PyCalling};
    #[pymodule_export]
    use super::context::{PyContext, PyHAContext};
    #[pymodule_export]
    use super::dialler::dialler;
    #[pymodule_export]
    use super::error::_panic;
    #[pymodule_export]
    use super::factories::{register_object_factory, register_state_factory};
    #[pymodule_export]
    use super::failure::{classify_chain, classify_description, classify_text, explain_minor};
    #[pymodule_export]
    use super::failure_log::{PyFailureReader, PyFound};
    #[pymodule_export]
    use super::fork::_after_fork;
    #[pymodule_export]
    use super::log::{log_level, log_records};
    #[pymodule_export]
    use super::name::PyName;
    #[pymodule_export]
    use super::node::PyNode;
    #[pymodule_export]
    use super::node_settings::read_settings;
    #[pymodule_export]
    use super::process::_at_exit;
    #[pymodule_export]
    use super::reference::{PyLinkRef, PyReference};
    #[pymodule_export]
    use super::registration::PyRegistration;
    #[pymodule_export]
    use super::service::PyService;
    #[pymodule_export]
    use super::settings::{read_environment, read_properties, read_provider_url};
    #[pymodule_export]
    use super::simulation::simulate;
    #[pymodule_export]
    use super::watch::PyWatch;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Both faces have a `Context`; here the names must differ.
        let py = module.py();
        module.add("AioContext", py.get_type::<super::asyncio::PyAioContext>())?;
        module.add("AioHAContext", py.get_type::<super::asyncio::PyAioHAContext>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
