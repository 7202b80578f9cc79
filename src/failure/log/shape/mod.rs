//! The shapes by which failures are recognised in text.
//!
//! Everything here looks at one place of a text and a bounded piece behind it, and knows nothing of lines, events or
//! chains: [`class`] and [`name`] are exceptions', [`told`] and [`listing`] say which of them are only spoken of, [`link`],
//! [`frame`], [`member`] and [`introduction`] are what stands around them, [`fields`], [`status`], [`errno`] and [`phrase`]
//! what tells of a failure besides or instead. [`kind`] says what a whole line is by the first of them in it.

pub mod class;
pub mod errno;
pub mod fields;
pub mod frame;
pub mod introduction;
pub mod kind;
pub mod link;
pub mod listing;
pub mod member;
mod name;
pub mod phrase;
pub mod status;
pub mod told;
pub mod words;
