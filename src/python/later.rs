//! What the public face has room for and this version does not do: each is refused with what to do meanwhile.

use crate::naming::{ErrorKind, NamingError};

/// `watch`.
pub fn watch() -> NamingError {
    refused("watch() is not supported yet: use wait_for() for a name that is to come, or look up again")
}

/// `Node.forget`.
pub fn forget() -> NamingError {
    refused("forget() is not supported yet, and not needed: a member that is dead leaves the view by itself")
}

fn refused(message: &str) -> NamingError {
    NamingError::new(ErrorKind::OperationNotSupported, message)
}
