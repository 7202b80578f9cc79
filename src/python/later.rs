//! What the public face has room for and this version does not do: each is refused with what to do meanwhile.

use crate::naming::{ErrorKind, NamingError};

/// `Node.forget`.
pub fn forget() -> NamingError {
    refused("forget() is not supported yet, and not needed: a member that is dead leaves the view by itself")
}

fn refused(message: &str) -> NamingError {
    NamingError::new(ErrorKind::OperationNotSupported, message)
}
