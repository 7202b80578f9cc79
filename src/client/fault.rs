//! A node's fault as the error that users see: the one place where the wire's word becomes a `NamingError`.

use crate::naming::{Detail, ErrorKind, NamingError};
use crate::protocol::Fault;

/// The error that a fault tells, without the name that the caller gave.
pub(super) fn to_error(fault: Fault) -> NamingError {
    let error = NamingError::new(ErrorKind::from_code(fault.code), fault.message).with_completion(fault.completion);
    let error = match (fault.resolved_name, fault.remaining_name) {
        (None, None) => error,
        (resolved, remaining) => error.with_resolution(resolved.unwrap_or_default(), remaining.unwrap_or_default()),
    };
    if let Some(existing) = fault.existing {
        return error.with_detail(Detail::Existing(existing));
    }
    if fault.answered.is_empty() && fault.silent.is_empty() && fault.partial.is_empty() {
        return error;
    }
    error.with_detail(Detail::Silence { answered: fault.answered, silent: fault.silent, partial: fault.partial })
}
