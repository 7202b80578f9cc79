//! Failures in text: a log of any size, streamed, in constant memory.
//!
//! Bytes come in pieces of any size ([`LogReader::feed`]); events come out, and are the same however the bytes were
//! cut. On the way: [`encoding`] makes UTF-8 of it, [`scan`] finds the few lines that can matter, [`mod@line`] cleans them, [`shape`] says what each is,
//! [`event`] joins those that belong together, [`parse`] makes a chain of them, and [`group`] counts the same ones.
//! Everything is bounded: the bytes of a line, the lines of an event, the groups.

mod cut;
mod encoding;
mod event;
mod group;
mod line;
mod parse;
mod reader;
mod rejoin;
mod scan;
mod shape;
mod text;

pub use group::{Group, Groups};
pub use reader::{Event, LogReader};
pub use scan::LITERALS;
pub use shape::status::of_number as grpc_status;
pub use text::{chain_of_text, classify_text};
