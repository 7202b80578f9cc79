//! The asyncio face: `hanaming.aio`.
//!
//! The event loop itself watches the sockets, the codec decodes in Rust, and futures are completed on the loop's own
//! thread: no other thread touches Python. A method is a plain function that returns a future of the running loop, so a
//! call starts when it is made.
//!
//! A context has one [`turning`] for each loop that it is used on: a [driver](crate::client::nonblocking) and the loop that
//! it runs on. Loops end without saying so (`asyncio.run`): a [`session`] forgets those that are closed when it's used on
//! another one. A loop that can't watch descriptors (Windows' proactor) is refused with a clear error.
//!
//! That a future was cancelled is not told by a callback, which would cost a turn of the loop for every call: it's looked
//! at where it matters (before a mutation is sent that wasn't sent at once, before a further attempt, and when somebody asks
//! with `explain()`).

mod closing;
mod context;
mod explained;
mod futures;
mod ha_context;
mod session;
mod turning;
mod waiter;

pub use context::{_panic_on_loop, PyAioContext, PyAioHAContext, aio_context_of};
