//! Names, values and trees: what is bound, and how it is found in one tree. Pure.

mod content;
mod entry;
mod error;
mod name;
mod reference;
mod resolution;
pub mod shared;
pub mod shown;
mod tree;
mod value;

pub use entry::{Content, EntryKind, InstanceDetail, Listed, Seen, Source, Version};
pub use error::{Detail, ErrorKind, Fields, NamingError};
pub use name::Name;
pub use reference::{Address, AddressContent, LinkRef, Reference};
pub use resolution::LinkWalk;
pub use tree::{BindOptions, Change, Display, Entry, Lookup, Moment, Observer, Snapshot, Touched, Tree, TreeLink, TreePage};
pub use value::Value;
