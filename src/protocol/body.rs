//! Bodies, and parts of them, in postcard.

use bytes::{BufMut, BytesMut};
use serde::{Deserialize, Serialize};

use super::error::ProtocolError;
use super::frame::FrameKind;

/// Reads a body. Bytes behind it are ignored: they are fields of a later version.
pub fn decode_body<'a, T: Deserialize<'a>>(kind: FrameKind, body: &'a [u8]) -> Result<T, ProtocolError> {
    postcard::from_bytes(body).map_err(|_| ProtocolError::Body(kind.as_str()))
}

/// Appends something that is to be a part of a body.
pub(super) fn append(out: &mut BytesMut, part: &impl Serialize) {
    // A buffer takes everything, and every part of ours has a spelling.
    let _ = write(out, part);
}

/// Reads the next part of a body; gives also what is behind it.
pub(super) fn decode_next<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<(T, &'a [u8]), ProtocolError> {
    postcard::take_from_bytes(body).map_err(|_| ProtocolError::Body(FrameKind::Reply.as_str()))
}

/// Appends a body. On error some of it may have been appended.
pub(super) fn write(out: &mut BytesMut, body: &impl Serialize) -> postcard::Result<()> {
    postcard::serialize_with_flavor(body, Appender(out))
}

/// Lets postcard write straight into a `BytesMut`.
struct Appender<'a>(&'a mut BytesMut);

impl postcard::ser_flavors::Flavor for Appender<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.put_u8(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
