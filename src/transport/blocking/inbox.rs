//! What was read from a socket and not yet taken: bytes in, frames out, without allocation in the common case.

use crate::protocol::{HEADER_LEN, Header, Limits, ProtocolError};

/// What one read takes at most while no long frame is coming.
const ROOM: usize = 16 << 10;

/// What is kept between calls at most: who asked for a thousand names will do so again.
const KEPT: usize = 256 << 10;

/// A buffer that is read into and cut into frames.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; ROOM], start: 0, end: 0 }
    }

    /// Where the next bytes are read to: room for the rest of the frame that is coming, or for [`ROOM`] bytes.
    pub(super) fn room(&mut self, limits: Limits) -> Result<&mut [u8], ProtocolError> {
        let whole = self.header(limits)?.map_or(0, |header| HEADER_LEN + header.length);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.start + whole > self.bytes.len() || self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if whole > self.bytes.len() {
                self.bytes.resize(whole, 0);
            }
        }
        Ok(&mut self.bytes[self.end..])
    }

    /// Notes that `count` bytes were read into [`room`](Self::room).
    pub(super) fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// The header of the next frame, where it is there.
    pub(super) fn header(&self, limits: Limits) -> Result<Option<Header>, ProtocolError> {
        match self.bytes[self.start..self.end].first_chunk::<HEADER_LEN>() {
            Some(bytes) => Header::parse(bytes, limits).map(Some),
            None => Ok(None),
        }
    }

    /// The body of the frame with that header, where it is whole.
    pub(super) fn body(&self, header: Header) -> Option<&[u8]> {
        self.bytes[self.start..self.end].get(HEADER_LEN..HEADER_LEN + header.length)
    }

    /// Drops the frame with that header.
    pub(super) fn drop_frame(&mut self, header: Header) {
        self.start += HEADER_LEN + header.length;
        if self.start == self.end && self.bytes.len() > KEPT {
            *self = Self::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FrameKind;

    fn frame(length: usize) -> Vec<u8> {
        let mut bytes = u32::try_from(length).unwrap().to_le_bytes().to_vec();
        bytes.extend([1, FrameKind::Reply as u8, 0, 0]);
        bytes.extend(7_u64.to_le_bytes());
        bytes.extend((0..length).map(|i| u8::try_from(i % 251).unwrap()));
        bytes
    }

    /// Feeds `stream` in pieces of `piece` bytes and gives the bodies that come out.
    fn bodies(stream: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let limits = Limits::default();
        let (mut inbox, mut rest, mut bodies) = (Inbox::new(), stream, Vec::new());
        while !rest.is_empty() {
            let room = inbox.room(limits).unwrap();
            let count = piece.min(rest.len()).min(room.len());
            assert!(count > 0, "no room");
            room[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            inbox.filled(count);
            while let Some(header) = inbox.header(limits).unwrap() {
                let Some(body) = inbox.body(header) else { break };
                bodies.push(body.to_vec());
                inbox.drop_frame(header);
            }
        }
        assert_eq!(inbox.start, inbox.end);
        bodies
    }

    #[test]
    fn frames_come_out_whole_however_they_came_in() {
        let lengths = [0, 1, 100, ROOM - HEADER_LEN, ROOM, 3 * ROOM + 5, 17, 2 * ROOM, 0];
        let stream: Vec<u8> = lengths.iter().flat_map(|length| frame(*length)).collect();
        for piece in [1, 7, HEADER_LEN, 1000, ROOM, usize::MAX] {
            let lengths_out: Vec<usize> = bodies(&stream, piece).iter().map(Vec::len).collect();
            assert_eq!(lengths_out, lengths);
            assert_eq!(bodies(&stream, piece)[5], frame(3 * ROOM + 5)[HEADER_LEN..]);
        }
    }

    #[test]
    fn a_length_over_the_limit_takes_no_memory() {
        let mut inbox = Inbox::new();
        let mut header = frame(0);
        header[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        inbox.room(Limits::default()).unwrap()[..HEADER_LEN].copy_from_slice(&header);
        inbox.filled(HEADER_LEN);
        assert!(matches!(inbox.room(Limits::default()), Err(ProtocolError::TooLong { .. })));
        assert_eq!(inbox.bytes.len(), ROOM);
    }
}
