//! Names, values, links and trees, as their contracts say.

mod links;
mod names;
mod operations;
mod support;
