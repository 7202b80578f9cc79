//! The first two frames of a connection: the hello, and the welcome or refusal that answers it.

use bytes::{Bytes, BytesMut};

use super::body::decode_body;
use super::codec::{Frame, encode_frame};
use super::error::ProtocolError;
use super::fault::Fault;
use super::frame::{FrameKind, Outcome, PROTOCOL_VERSION};
use super::greeting::{Hello, MAGIC, Role, Welcome};
use super::limits::Limits;

impl Hello {
    /// A hello of this version; `cluster` is the cluster wanted, `None` for any.
    pub fn new(role: Role, cluster: Option<String>) -> Self {
        Self {
            magic: MAGIC,
            lowest: PROTOCOL_VERSION,
            highest: PROTOCOL_VERSION,
            features: 0,
            cluster,
            credentials: Bytes::new(),
            role,
        }
    }

    /// Appends the hello as a frame.
    pub fn encode(&self, out: &mut BytesMut, limits: Limits) -> Result<(), ProtocolError> {
        encode_frame(out, FrameKind::Hello, 0, 0, self, limits)
    }

    /// Reads the first frame of a connection that was taken. Anything but a hello of this protocol is
    /// [`ProtocolError::NotHanaming`]: the other side is some other program.
    pub fn decode(frame: &Frame) -> Result<Self, ProtocolError> {
        if frame.header.kind != FrameKind::Hello || frame.body.first_chunk() != Some(&postcard_magic()) {
            return Err(ProtocolError::NotHanaming);
        }
        decode_body(FrameKind::Hello, &frame.body)
    }

    /// The version to speak with the side that said this: the highest that both know.
    pub fn choose_version(&self) -> Result<u8, ProtocolError> {
        if (self.lowest..=self.highest).contains(&PROTOCOL_VERSION) {
            Ok(PROTOCOL_VERSION)
        } else {
            Err(ProtocolError::Version(self.highest))
        }
    }
}

impl Welcome {
    /// Appends the answer to a hello as a frame; the header's flags tell a refusal, as in a reply.
    pub fn encode_answer(answer: &Result<Self, Fault>, out: &mut BytesMut, limits: Limits) -> Result<(), ProtocolError> {
        match answer {
            Ok(welcome) => encode_frame(out, FrameKind::Welcome, Outcome::Done.to_flags(), 0, welcome, limits),
            Err(fault) => encode_frame(out, FrameKind::Welcome, fault.code & 0x0FFF, 0, fault, limits),
        }
    }

    /// Reads the answer to a hello from its frame's kind, flags and body.
    pub fn decode_answer(kind: FrameKind, flags: u16, body: &[u8]) -> Result<Result<Self, Fault>, ProtocolError> {
        if kind != FrameKind::Welcome {
            return Err(ProtocolError::NotHanaming);
        }
        match Outcome::from_flags(flags) {
            Outcome::Done => decode_body(kind, body).map(Ok),
            Outcome::Failed(_) => decode_body(kind, body).map(Err),
        }
    }
}

/// The magic number as it stands on the wire: postcard writes a `u32` as a varint of five bytes here.
fn postcard_magic() -> [u8; 5] {
    let mut bytes = [0; 5];
    let mut rest = MAGIC;
    for byte in &mut bytes {
        *byte = u8::try_from(rest & 0x7F).unwrap_or(0) | 0x80;
        rest >>= 7;
    }
    bytes[4] &= 0x7F;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_is_what_postcard_writes() {
        let mut out = BytesMut::new();
        Hello::new(Role::Client { id: 1 }, None).encode(&mut out, Limits::default()).unwrap();
        assert_eq!(out[16..21], postcard_magic());
    }

    #[test]
    fn versions_are_negotiated() {
        let mut hello = Hello::new(Role::Client { id: 1 }, None);
        assert_eq!(hello.choose_version(), Ok(1));
        (hello.lowest, hello.highest) = (0, 7);
        assert_eq!(hello.choose_version(), Ok(1));
        (hello.lowest, hello.highest) = (2, 7);
        assert_eq!(hello.choose_version(), Err(ProtocolError::Version(7)));
    }
}
