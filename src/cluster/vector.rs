//! Who has seen which writes. What a client has seen travels too, so these are words of the wire.

pub use crate::protocol::{Actor, Seen, Vector};

/// One write: which actor, and the how-manieth of that actor. The same thing that users see as a version.
pub use crate::naming::Version as Dot;
