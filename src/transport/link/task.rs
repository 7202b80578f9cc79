//! A link's task: it reads replies and views, and writes what callers could not write themselves.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf};

use crate::failure::Phase;
use crate::protocol::{Decoder, Frame, FrameKind, Hello, Limits, Outcome, ProtocolError, Reply, Welcome, decode_body};

use super::super::error::{TransportError, TransportErrorKind};
use super::super::network::BoxStream;
use super::state::Shared;

/// How much one read takes at most while no long frame is coming.
const READ: usize = 16 << 10;

/// Says hello and reads the answer. What came behind it stays in the decoder.
pub(super) async fn greet(
    mut stream: BoxStream,
    hello: &Hello,
    limits: Limits,
) -> Result<(BoxStream, Decoder, Welcome), TransportError> {
    let failed = |kind| TransportError::new(Phase::Handshake, kind);
    let broken = |error: io::Error| TransportError::io(Phase::Handshake, &error);
    let mut out = BytesMut::new();
    hello.encode(&mut out, limits).map_err(|error| failed(error.into()))?;
    stream.write_all(&out).await.map_err(broken)?;
    let mut decoder = Decoder::new(limits);
    let frame = loop {
        if let Some(frame) = decoder.next_frame().map_err(|error| failed(error.into()))? {
            break frame;
        }
        if read_some(&mut stream, &mut decoder).await.map_err(broken)? == 0 {
            return Err(failed(TransportErrorKind::Lost));
        }
    };
    match Welcome::decode_answer(frame.header.kind, frame.header.flags, &frame.body) {
        Ok(Ok(welcome)) => Ok((stream, decoder, welcome)),
        Ok(Err(fault)) => Err(failed(TransportErrorKind::Rejected(Box::new(fault)))),
        Err(error) => Err(failed(error.into())),
    }
}

/// Runs until the connection ends, then fails whatever is under way.
pub(super) async fn run(shared: Arc<Shared>, reader: ReadHalf<BoxStream>, decoder: Decoder) {
    let kind = tokio::select! {
        kind = read_all(&shared, reader, decoder) => kind,
        kind = shared.write_all() => kind,
    };
    shared.end(&kind);
}

async fn read_all(shared: &Shared, mut reader: ReadHalf<BoxStream>, mut decoder: Decoder) -> TransportErrorKind {
    loop {
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => {
                    if let Err(error) = take(shared, &frame) {
                        return error.into();
                    }
                }
                Ok(None) => break,
                Err(error) => return error.into(),
            }
        }
        shared.set_incoming(decoder.pending_header());
        match read_some(&mut reader, &mut decoder).await {
            Ok(0) => return TransportErrorKind::Lost,
            Ok(_) => shared.hear(),
            Err(error) => return TransportError::io(Phase::Wait, &error).kind,
        }
    }
}

async fn read_some(reader: &mut (impl AsyncReadExt + Unpin), decoder: &mut Decoder) -> io::Result<usize> {
    let coming = decoder.pending_header().map_or(0, |header| header.length);
    let buffer = decoder.buffer();
    let missing = coming.saturating_sub(buffer.len());
    buffer.reserve(missing.max(READ));
    reader.read_buf(buffer).await
}

/// A body that can't be read spoils its own request: the frames behind it are still whole.
fn take(shared: &Shared, frame: &Frame) -> Result<(), ProtocolError> {
    let header = frame.header;
    match header.kind {
        FrameKind::Reply => {
            let reply = Reply::decode(header.flags, &frame.body).map_err(|error| TransportError {
                phase: Phase::Receive,
                kind: error.into(),
                outcome: Some(Outcome::from_flags(header.flags)),
            });
            shared.deliver(header.request_id, reply);
            Ok(())
        }
        FrameKind::View => {
            shared.push_view(decode_body(FrameKind::View, &frame.body)?);
            Ok(())
        }
        FrameKind::Seen => {
            shared.push_brought(decode_body(FrameKind::Seen, &frame.body)?);
            Ok(())
        }
        other => Err(ProtocolError::OutOfPlace(other.as_str())),
    }
}
