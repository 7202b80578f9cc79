//! Names, values, links and trees, as their contracts say.

mod concurrency;
mod links;
mod model;
mod names;
mod operations;
mod support;
mod values;
