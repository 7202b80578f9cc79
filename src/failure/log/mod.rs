//! Failures in text: a log of any size, streamed, in constant memory.
//!
//! Bytes come in pieces of any size ([`LogReader::feed`]); events come out, and are the same however the bytes were
//! cut. On the way: [`scan`] finds the few lines that can matter, [`mod@line`], [`json`] and [`prefix`] clean them, [`kind`]
//! says what each is, [`event`] joins those that belong together and to one [`record`], [`parse`] makes a chain of them by
//! the shapes in [`shape`], [`fields`] and [`status`], and [`group`] counts the same ones. Everything is bounded: the bytes of a line, the lines of an event, the groups.

mod colour;
mod draft;
mod errno;
mod event;
mod fields;
mod group;
mod json;
mod kind;
mod line;
mod listing;
mod members;
mod parse;
mod prefix;
mod reader;
mod record;
mod rejoin;
mod scan;
mod shape;
mod status;
mod text;
mod words;

pub use group::{Group, Groups};
pub use reader::{Event, LogReader};
pub use scan::LITERALS;
pub use status::of_number as grpc_status;
pub use text::{chain_of_text, classify_text};
