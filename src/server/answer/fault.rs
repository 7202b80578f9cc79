//! Errors as they are told to the other side: the one border where the server translates.

use std::sync::Arc;

use crate::failure::CompletionStatus;
use crate::naming::{Detail, ErrorKind, Listed, NamingError};
use crate::protocol::{Fault, Refusal, RefusalReason};
use crate::topology::View;

/// After how many milliseconds a refused client may ask again, by reason.
fn retry_after(reason: RefusalReason) -> u32 {
    match reason {
        RefusalReason::Joining | RefusalReason::Waking => 100,
        RefusalReason::Overloaded => 50,
        RefusalReason::Behind => 200,
        RefusalReason::Quiescing | RefusalReason::Closed => 1000,
    }
}

/// Something that this node does not do; nothing ran.
pub fn not_supported(message: impl Into<String>) -> Fault {
    Fault::new(ErrorKind::OperationNotSupported, CompletionStatus::No, message)
}

/// Something over a limit; nothing ran.
pub fn over_limit(message: impl Into<String>) -> Fault {
    Fault::new(ErrorKind::LimitExceeded, CompletionStatus::No, message)
}

/// A fault of our own; whether something ran is not known.
pub fn internal(message: impl Into<String>) -> Fault {
    Fault::new(ErrorKind::Internal, CompletionStatus::Maybe, message)
}

/// A tree's or a check's error.
pub fn from_error(error: NamingError) -> Fault {
    let fields = error.into_fields();
    let mut fault = Fault::new(fields.kind, fields.completion, fields.message);
    fault.resolved_name = fields.resolved_name;
    fault.remaining_name = fields.remaining_name;
    match fields.detail {
        Detail::Existing(existing) => fault.existing = Some(existing),
        Detail::Silence { answered, silent, partial } => {
            fault.answered = answered;
            fault.silent = silent;
            fault.partial = partial;
        }
        Detail::None | Detail::Chain(_) => {}
    }
    fault
}

/// A refusal before anything ran, because of the node's state. `view` tells the client where else to go.
pub fn refused(reason: RefusalReason, node: &str, view: Option<View>) -> Fault {
    let (kind, message) = match reason {
        RefusalReason::Joining => {
            (ErrorKind::ServiceUnavailable, format!("node {node} is joining the cluster and does not serve yet"))
        }
        RefusalReason::Quiescing => {
            (ErrorKind::ServiceUnavailable, format!("node {node} is quiescing and takes no new requests"))
        }
        RefusalReason::Overloaded => (ErrorKind::ServiceUnavailable, format!("node {node} has too much in flight")),
        RefusalReason::Behind => {
            (ErrorKind::ServiceUnavailable, format!("node {node} lacks what this client has seen of the cluster tree"))
        }
        RefusalReason::Waking => (ErrorKind::ServiceUnavailable, format!("node {node} stood still and finds out what it missed")),
        RefusalReason::Closed => (ErrorKind::ContextClosed, format!("node {node} is closed")),
    };
    let mut fault = Fault::new(kind, CompletionStatus::No, message);
    fault.refusal = Some(Refusal { reason, retry_after: retry_after(reason), view });
    fault
}

/// Some node was silent, and nobody who answered settled the matter. The completion is `NO`: asking another node can
/// do no harm and may bring the answer.
pub fn silence(answered: Vec<Arc<str>>, silent: Vec<Arc<str>>, partial: Vec<Listed>) -> Fault {
    let message = format!("no answer from {}: what is bound there is not known", silent.join(", "));
    Fault { answered, silent, partial, ..Fault::new(ErrorKind::ServiceUnavailable, CompletionStatus::No, message) }
}
