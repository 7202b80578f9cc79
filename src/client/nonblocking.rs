//! The driver for event loops that others turn: one non-blocking connection per target and loop.
//!
//! A [`Driver`] owns the calls of one event loop and knows nothing of the loop. It's told what happened (a descriptor is
//! ready, time has passed) and it answers with [`Effect`]s (watch this descriptor, wake me then) and [`Finished`] calls,
//! both of which the loop's side takes and carries out when it's done telling. Under Python the loop's side is asyncio;
//! in tests it's a plain poll. Four rules:
//!
//! - *What has left is known.* A request counts as sent when the kernel has taken its last byte, not before. What is
//!   still queued, or half written, did not run.
//! - *Writes are gathered.* Where nothing is outstanding on a connection a request is written at once; else it waits for
//!   the end of the loop's turn, and all of that turn go out together.
//! - *The owner is asked before a further request goes out, or a mutation that was not written at once*: a caller may have
//!   given up meanwhile, and the loop's side knows (see [`Driver::leaving`]).
//! - *One timer.* It rings at the earliest end of an attempt and sweeps over all. A loop that is busy is no evidence of a
//!   server's silence: an attempt's time begins when its request leaves, and what has come is read before it ends.

mod active;
mod base;
mod connection;
mod driver;
mod effect;
mod elsewhere;
mod events;
mod inbox;
mod line;
mod slots;
mod timer;

pub use base::Base;
pub use connection::ClosedSocket;
pub use driver::{CallId, Driver, Finished};
pub use effect::{Closed, Effect, Watch};
