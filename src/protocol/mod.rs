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
//! only the header knows how it ended; in a request it is the operation's number. The first frame of a connection is a
//! [`Hello`]; requests may follow it at once, without waiting for the [`Welcome`]. A refused hello is answered by a
//! welcome whose flags are the refusal's code; nothing that followed it ran.
//!
//! Bodies can't be skipped over: a new field goes at the end of its message, behind a feature bit.

mod codec;
mod error;
mod handshake;
mod limits;
mod many;
mod message;
mod operation;
mod watch;

pub use codec::{Body, Decoder, Frame, Header, decode_body, encode_frame};
pub use error::ProtocolError;
pub use limits::{HEADER_LEN, Limits};
pub use many::{ItemWriter, Items, ManyItem, Texts};
pub use message::{
    Channel, Fault, FrameKind, Hello, Introduction, MAGIC, Outcome, PROTOCOL_VERSION, Refusal, RefusalReason, Reply, Request,
    Role, Scope, Welcome,
};
pub use operation::{
    Answer, Found, Gossip, GossipMember, LinkMet, Mutation, NodeStatus, Operation, OperationId, Page, PageRequest, Report,
    ReportItem, Setting, SurveyAnswer, SurveyItem, TreeChoice, TreeCopy, Written,
};
pub use watch::{Position, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope, Watched};
