//! Names, values and trees: what is bound, and how it is found in one tree. Pure.

mod entry;
mod error;
mod name;

pub use entry::{Content, EntryKind, InstanceDetail, Listed, Source, Version};
pub use error::{Detail, ErrorKind, Fields, NamingError};
pub use name::Name;
