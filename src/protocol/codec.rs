//! Frames to bytes and back, without I/O.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::Serialize;

use super::body::{self, decode_body};
use super::error::ProtocolError;
use super::fault::Fault;
use super::frame::{FrameKind, Outcome, PROTOCOL_VERSION};
use super::limits::{HEADER_LEN, Limits};
use super::message::{Reply, Request};
use super::operation::Answer;
use super::seen::Brought;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The body's length in bytes.
    pub length: usize,
    /// What the body is.
    pub kind: FrameKind,
    /// The outcome in a reply, else 0.
    pub flags: u16,
    /// Chosen by the side that asks; a reply bears its request's.
    pub request_id: u64,
}

impl Header {
    /// Reads a header and checks its length against `limits`, before anybody allocates.
    pub fn parse(bytes: &[u8; HEADER_LEN], limits: Limits) -> Result<Self, ProtocolError> {
        let mut bytes = &bytes[..];
        let length = bytes.get_u32_le() as usize;
        let protocol = bytes.get_u8();
        let kind = bytes.get_u8();
        let flags = bytes.get_u16_le();
        let request_id = bytes.get_u64_le();
        if protocol != PROTOCOL_VERSION {
            return Err(ProtocolError::Version(protocol));
        }
        let kind = FrameKind::from_u8(kind).ok_or(ProtocolError::Kind(kind))?;
        if length > limits.frame {
            return Err(ProtocolError::TooLong { length, limit: limits.frame });
        }
        Ok(Self { length, kind, flags, request_id })
    }
}

/// A whole frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its header.
    pub header: Header,
    /// Its body, still encoded.
    pub body: Bytes,
}

/// What can stand in a frame's body.
pub trait Body: Serialize {}
impl<T: Serialize> Body for T {}

/// Appends one frame to `out`. On error `out` is as it was.
pub fn encode_frame(
    out: &mut BytesMut,
    kind: FrameKind,
    flags: u16,
    request_id: u64,
    body: &impl Body,
    limits: Limits,
) -> Result<(), ProtocolError> {
    let start = out.len();
    out.put_u32_le(0);
    out.put_u8(PROTOCOL_VERSION);
    out.put_u8(kind as u8);
    out.put_u16_le(flags);
    out.put_u64_le(request_id);
    let written = body::write(out, body).map_err(|_| ProtocolError::Body(kind.as_str()));
    let length = out.len() - start - HEADER_LEN;
    let checked = written.and_then(|()| match u32::try_from(length) {
        Ok(length32) if length <= limits.frame => Ok(length32),
        _ => Err(ProtocolError::MessageTooLong { length, limit: limits.frame }),
    });
    match checked {
        Ok(length) => {
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

impl Brought {
    /// Appends it as a frame.
    pub fn encode(&self, out: &mut BytesMut, limits: Limits) -> Result<(), ProtocolError> {
        encode_frame(out, FrameKind::Seen, 0, 0, self, limits)
    }
}

/// In a reply's flags: the node lacks some of what the client has seen.
const STALE: u16 = 0x8000;

impl Request {
    /// Appends the request as a frame; the header's flags bear the operation's number.
    pub fn encode(&self, out: &mut BytesMut, request_id: u64, limits: Limits) -> Result<(), ProtocolError> {
        encode_frame(out, FrameKind::Request, self.operation.code(), request_id, self, limits)
    }
}

impl Reply {
    /// The outcome that the reply's header carries.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Done(_) => Outcome::Done,
            Self::Failed(fault) => Outcome::Failed(crate::naming::ErrorKind::from_code(fault.code)),
            Self::Stale(reply) => reply.outcome(),
        }
    }

    /// Appends the reply to `request_id` as a frame.
    pub fn encode(&self, out: &mut BytesMut, request_id: u64, limits: Limits) -> Result<(), ProtocolError> {
        let flags = self.outcome().to_flags();
        match self {
            Self::Done(answer) => encode_frame(out, FrameKind::Reply, flags, request_id, answer, limits),
            Self::Failed(fault) => encode_frame(out, FrameKind::Reply, flags, request_id, fault, limits),
            Self::Stale(reply) => match &**reply {
                Self::Done(answer) => encode_frame(out, FrameKind::Reply, flags | STALE, request_id, answer, limits),
                Self::Failed(fault) => encode_frame(out, FrameKind::Reply, flags | STALE, request_id, fault, limits),
                Self::Stale(_) => reply.encode(out, request_id, limits),
            },
        }
    }

    /// Reads the body of a reply whose header has come.
    pub fn decode(flags: u16, body: &[u8]) -> Result<Self, ProtocolError> {
        let reply = match Outcome::from_flags(flags) {
            Outcome::Done => decode_body::<Answer>(FrameKind::Reply, body).map(Self::Done),
            Outcome::Failed(_) => decode_body::<Fault>(FrameKind::Reply, body).map(Self::Failed),
        }?;
        Ok(if flags & STALE == 0 { reply } else { Self::Stale(Box::new(reply)) })
    }
}

/// Cuts a stream of bytes into frames.
///
/// The reader appends to [`buffer`](Self::buffer) and takes frames with [`next_frame`](Self::next_frame) until it gives `None`.
/// No more is ever reserved than one frame's announced and checked length.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    limits: Limits,
    header: Option<Header>,
}

impl Decoder {
    /// A decoder that refuses frames over `limits`.
    pub fn new(limits: Limits) -> Self {
        Self { buffer: BytesMut::new(), limits, header: None }
    }

    /// Where bytes that were read are appended.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The next whole frame, or `None` until more bytes come.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, ProtocolError> {
        let header = if let Some(header) = self.header {
            header
        } else {
            let Some(bytes) = self.buffer.first_chunk::<HEADER_LEN>() else { return Ok(None) };
            let header = Header::parse(bytes, self.limits)?;
            self.buffer.advance(HEADER_LEN);
            self.header = Some(header);
            header
        };
        if self.buffer.len() < header.length {
            return Ok(None);
        }
        self.header = None;
        Ok(Some(Frame { header, body: self.buffer.split_to(header.length).freeze() }))
    }

    /// The header of the frame that is coming in, where it has come and its body has not: what a broken connection
    /// still told.
    pub fn pending_header(&self) -> Option<Header> {
        self.header
    }

    /// Whether a frame has begun and is not whole.
    pub fn is_mid_frame(&self) -> bool {
        self.header.is_some() || !self.buffer.is_empty()
    }
}
