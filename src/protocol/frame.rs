//! What stands in a frame's header beside lengths and numbers: which version is spoken, what the body is, how it ended.

use crate::naming::ErrorKind;

/// The protocol version spoken here.
pub const PROTOCOL_VERSION: u8 = 1;

/// The kinds of frames. The numbers stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameKind {
    /// [`Hello`](super::Hello): the first frame of the side that dialled.
    Hello = 1,
    /// [`Welcome`](super::Welcome): the answer to it; a refused hello has a [`Fault`](super::Fault) for a body.
    Welcome = 2,
    /// [`Request`](super::Request).
    Request = 3,
    /// [`Reply`](super::Reply) to the request of the same id.
    Reply = 4,
    /// [`View`](crate::topology::View): pushed by the server after each change; the request id is 0.
    View = 5,
    /// What one node's engine tells another's, which nobody replies to; the request id is 0.
    Message = 6,
    /// [`Brought`](super::Brought): pushed by the server before a reply that tells of more than before; the request id is 0.
    Seen = 7,
}

impl FrameKind {
    /// The kind behind its number.
    pub fn from_u8(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Hello,
            2 => Self::Welcome,
            3 => Self::Request,
            4 => Self::Reply,
            5 => Self::View,
            6 => Self::Message,
            7 => Self::Seen,
            _ => return None,
        })
    }

    /// The word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Welcome => "welcome",
            Self::Request => "request",
            Self::Reply => "reply",
            Self::View => "view",
            Self::Message => "message",
            Self::Seen => "seen",
        }
    }
}

/// How a request ended, as its reply's header tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done: the body is an [`Answer`](super::Answer).
    Done,
    /// Failed or refused: the body is a [`Fault`](super::Fault).
    Failed(ErrorKind),
}

impl Outcome {
    /// The outcome as a header's flags.
    pub fn to_flags(self) -> u16 {
        match self {
            Self::Done => 0,
            Self::Failed(kind) => kind.code() & 0x0FFF,
        }
    }

    /// The outcome behind a header's flags.
    pub fn from_flags(flags: u16) -> Self {
        match flags & 0x0FFF {
            0 => Self::Done,
            code => Self::Failed(ErrorKind::from_code(code)),
        }
    }
}
