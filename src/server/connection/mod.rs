//! Connections that others opened: taken, judged, served and ended.

mod answering;
mod handshake;
pub mod pace;
mod session;
mod turn;

pub use handshake::Caller;
pub use session::{End, Session};
