//! Lines become events: which lines belong together.
//!
//! An event [`begins`](mod@begin) with a line that shows a failure. Frames and links belong to it, and so does what its last
//! lines leave [`unfinished`]: a link without its exception, an open bracket, `completed:` without its value. It ends with
//! the next failure, with another [`record`] of the log, or after some lines of anything else.

mod begin;
mod kept;
mod open;
mod record;
mod repeats;
mod spoken;
mod unfinished;

pub use begin::begin;
pub use open::{Open, Step};
