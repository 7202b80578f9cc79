//! Names, values, links and trees, as their contracts say.

mod names;
