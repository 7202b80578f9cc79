//! How an exchange with one server broke, and in which phase.

use std::time::Duration;

use crate::failure::{CompletionStatus, Phase};
use crate::protocol::{Fault, Outcome, ProtocolError};

/// An exchange that brought no usable reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{kind}")]
pub struct TransportError {
    /// How far it came.
    pub phase: Phase,
    /// What happened.
    pub kind: TransportErrorKind,
    /// The outcome in the reply's header, where the header had come whole.
    pub outcome: Option<Outcome>,
}

/// What happened to an exchange.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// Nobody listens there.
    #[error("connection refused")]
    Refused,
    /// There is no way there.
    #[error("unreachable")]
    Unreachable,
    /// The host name has no address, or its resolution failed.
    #[error("name resolution failed: {0}")]
    Resolution(String),
    /// The time given ran out.
    #[error("no answer in {} s", seconds(.0))]
    TimedOut(Duration),
    /// The other side closed or reset the connection.
    #[error("connection lost")]
    Lost,
    /// The other side sent what the protocol forbids.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// The hello was refused.
    #[error("refused: {}", .0.message)]
    Rejected(Box<Fault>),
    /// More waits to be written than the connection should hold.
    #[error("too much waits to be sent")]
    Full,
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// Another fault of the operating system.
    #[error("{0}")]
    Io(std::io::ErrorKind),
}

/// Travels inside an [`std::io::Error`] from a [`Network`](super::Network) whose resolver failed, so that the phase is
/// known where the error is translated.
#[derive(Debug, thiserror::Error)]
#[error("{host}: {reason}")]
pub(super) struct ResolutionFailed {
    host: String,
    reason: String,
}

impl ResolutionFailed {
    /// The resolver's error for `host`, to be recognised by [`TransportError::connecting`].
    pub(super) fn wrap(host: &str, error: &std::io::Error) -> std::io::Error {
        std::io::Error::other(Self { host: host.to_owned(), reason: error.to_string() })
    }
}

impl TransportError {
    /// The error of [`Network::connect`](super::Network::connect): phase `Resolve` or `Connect`.
    pub fn connecting(error: &std::io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<ResolutionFailed>()) {
            Some(failed) => Self::new(Phase::Resolve, TransportErrorKind::Resolution(failed.to_string())),
            None => Self::io(Phase::Connect, error),
        }
    }

    /// An error in `phase`, before any reply header.
    pub fn new(phase: Phase, kind: TransportErrorKind) -> Self {
        Self { phase, kind, outcome: None }
    }

    /// An operating system's error in `phase`.
    pub fn io(phase: Phase, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match error.kind() {
            Io::ConnectionRefused => TransportErrorKind::Refused,
            Io::HostUnreachable | Io::NetworkUnreachable | Io::NetworkDown | Io::AddrNotAvailable => {
                TransportErrorKind::Unreachable
            }
            Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::UnexpectedEof | Io::NotConnected => {
                TransportErrorKind::Lost
            }
            other => TransportErrorKind::Io(other),
        };
        Self::new(phase, kind)
    }

    /// Whether the request ran.
    pub fn completion(&self) -> CompletionStatus {
        self.phase.completion()
    }
}

/// A duration in seconds with as many digits as it needs: `0.25`, `5`.
fn seconds(duration: &Duration) -> String {
    let text = format!("{:.3}", duration.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
