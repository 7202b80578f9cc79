//! The bytes that wait to be written to one connection, and which requests they are. Pure.
//!
//! Frames of many requests are written as one. What this keeps is the exact border between "left completely" and "did
//! not": the completion status of a request whose connection broke rests on it.

use std::collections::VecDeque;

use bytes::{Buf, BytesMut};

use crate::protocol::ProtocolError;

/// Frames not yet written.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: BytesMut,
    /// The position of `bytes[0]` in the whole stream.
    written: u64,
    /// The frames of which a part is in `bytes`, in order.
    frames: VecDeque<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    id: u64,
    begin: u64,
    end: u64,
}

/// What became of a frame that its sender wants back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retraction {
    /// Nothing of it had been written, and nothing of it will be.
    Retracted,
    /// A part of it has been written: the rest must follow, or the connection must end.
    Begun,
    /// It has been written completely.
    Written,
}

impl Outbox {
    /// Appends the frame of request `id`, as `encode` writes it. Where that fails, nothing is appended.
    pub(super) fn push(
        &mut self,
        id: u64,
        encode: impl FnOnce(&mut BytesMut) -> Result<(), ProtocolError>,
    ) -> Result<(), ProtocolError> {
        let begin = self.written + self.bytes.len() as u64;
        encode(&mut self.bytes)?;
        self.frames.push_back(Span { id, begin, end: self.written + self.bytes.len() as u64 });
        Ok(())
    }

    /// What is to be written next; empty when all is.
    pub(super) fn pending(&self) -> &[u8] {
        &self.bytes
    }

    /// Notes that the first `count` bytes of [`pending`](Self::pending) were written.
    pub(super) fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.written += count as u64;
        while self.frames.front().is_some_and(|frame| frame.end <= self.written) {
            self.frames.pop_front();
        }
    }

    /// Whether a part of the frame of request `id` has not been written.
    pub(super) fn holds(&self, id: u64) -> bool {
        self.frames.iter().any(|frame| frame.id == id)
    }

    /// Takes the frame of request `id` back, where nothing of it was written.
    pub(super) fn retract(&mut self, id: u64) -> Retraction {
        let Some(index) = self.frames.iter().position(|frame| frame.id == id) else { return Retraction::Written };
        let frame = self.frames[index];
        if frame.begin < self.written {
            return Retraction::Begun;
        }
        let length = frame.end - frame.begin;
        let mut behind = self.bytes.split_off(self.offset(frame.begin));
        behind.advance(usize::try_from(length).unwrap_or(usize::MAX));
        self.bytes.unsplit(behind);
        self.frames.remove(index);
        for later in self.frames.iter_mut().skip(index) {
            later.begin -= length;
            later.end -= length;
        }
        Retraction::Retracted
    }

    fn offset(&self, position: u64) -> usize {
        usize::try_from(position - self.written).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BufMut;

    fn outbox(frames: &[(u64, &str)]) -> Outbox {
        let mut outbox = Outbox::default();
        for (id, text) in frames {
            let encode = |out: &mut BytesMut| {
                out.put_slice(text.as_bytes());
                Ok(())
            };
            outbox.push(*id, encode).unwrap();
        }
        outbox
    }

    #[test]
    fn the_border_is_exact_to_the_byte() {
        let mut outbox = outbox(&[(1, "abc"), (2, "de")]);
        outbox.advance(2);
        assert!(outbox.holds(1) && outbox.holds(2));
        outbox.advance(1);
        assert!(!outbox.holds(1) && outbox.holds(2));
        assert_eq!((outbox.retract(1), outbox.retract(2)), (Retraction::Written, Retraction::Retracted));
        assert_eq!(outbox.pending(), b"");
    }

    #[test]
    fn what_has_begun_cannot_be_taken_back() {
        let mut outbox = outbox(&[(1, "abc"), (2, "de"), (3, "fgh")]);
        outbox.advance(1);
        assert_eq!(outbox.retract(1), Retraction::Begun);
        assert_eq!(outbox.retract(2), Retraction::Retracted);
        assert_eq!(outbox.pending(), b"bcfgh");
        outbox.advance(2);
        assert!(!outbox.holds(1) && outbox.holds(3));
        outbox.advance(3);
        assert!(!outbox.holds(3));
    }

    #[test]
    fn a_frame_that_cannot_be_encoded_leaves_nothing() {
        let mut outbox = outbox(&[(1, "abc")]);
        assert!(outbox.push(2, |_| Err(ProtocolError::NotHanaming)).is_err());
        assert!(!outbox.holds(2));
        assert_eq!(outbox.pending(), b"abc");
    }
}
