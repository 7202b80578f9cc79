//! The wire, spelt once.
//!
//! A connection is a stream of frames. A frame is a fixed header of [`HEADER_LEN`] bytes and a body in postcard:
//!
//! ```text
//! length u32 | protocol u8 | kind u8 | flags u16 | request id u64 | body
//! ```
//!
//! All integers are little-endian; `length` counts the body alone and is checked before memory is taken. In a reply,
//! `flags` is the *outcome*: 0 where the operation was done, else the error's code (low 12 bits), so that whoever has
//! only the header knows how it ended; its highest bit says that the node
//! lacks some of what the client has seen; in a request it is the operation's number. The first frame of a connection is a
//! [`Hello`]; requests may follow it at once, without waiting for the [`Welcome`]. A refused hello is answered by a
//! welcome whose flags are the refusal's code; nothing that followed it ran.
//!
//! Bodies can't be skipped over: a new field goes at the end of its message, behind a feature bit.

mod body;
mod codec;
mod error;
mod fault;
mod found;
mod frame;
mod greeting;
mod handshake;
mod limits;
mod many;
mod message;
mod operation;
mod seen;
mod standing;
mod watch;

pub use body::decode_body;
pub use codec::{Body, Decoder, Frame, Header, encode_frame};
pub use error::ProtocolError;
pub use fault::{Fault, Refusal, RefusalReason};
pub use found::{Found, LinkMet, SurveyAnswer, SurveyItem};
pub use frame::{FrameKind, Outcome, PROTOCOL_VERSION};
pub use greeting::{Channel, Hello, Introduction, MAGIC, Role, Welcome};
pub use limits::{HEADER_LEN, Limits};
pub use many::{ItemWriter, Items, ManyItem, Texts};
pub use message::{Reply, Request, Scope};
pub use operation::{
    Answer, Became, Mutation, Operation, OperationId, Page, PageRequest, Report, ReportItem, TreeChoice, Written,
};
pub use seen::{Actor, Brought, Known, Seen, Vector};
pub use standing::{Gossip, NodeStatus, Setting, TreeCopy};
pub use watch::{Position, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope, Watched};
