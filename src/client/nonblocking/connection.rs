//! One non-blocking connection: what has left, what has come.
//!
//! The rule that everything here serves: it is *known* of each request whether its frame has left completely. A
//! frame has left when the kernel has taken its last byte; until then the request cannot have run.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};

use bytes::{Buf, Bytes, BytesMut};
use socket2::{Domain, Protocol, Socket, Type};

use crate::failure::Phase;
use crate::protocol::{Brought, Decoder, Fault, FrameKind, Hello, Limits, Outcome, ProtocolError, Request, Welcome, decode_body};
use crate::topology::View;
use crate::transport::{TransportError, TransportErrorKind};

/// How many bytes one call of [`Connection::read`] takes at most, so that one busy connection cannot keep the others
/// of its loop waiting.
const READ_AT_ONCE: usize = 256 << 10;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The kernel is still connecting.
    Connecting,
    /// Connected; the server's welcome has not come. Reads are sent nevertheless.
    Greeting,
    /// The server took us.
    Open,
}

/// A connection's socket, to be dropped only after nobody watches it any more.
#[derive(Debug)]
pub struct ClosedSocket(#[expect(dead_code, reason = "held until the watches are gone, and for nothing else")] Socket);

/// What came in.
#[derive(Debug)]
pub(super) enum Incoming {
    /// The server took us.
    Welcome(Box<Welcome>),
    /// The server refused our hello.
    Rejected(Box<Fault>),
    /// The reply to a request, its body still encoded.
    Reply {
        /// The request's id.
        id: u64,
        /// The outcome as the header has it.
        flags: u16,
        /// The body.
        body: Bytes,
    },
    /// The cluster's view changed.
    View(View),
    /// What was seen with the replies that follow.
    Brought(Brought),
}

/// One non-blocking connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    stage: Stage,
    limits: Limits,
    out: BytesMut,
    /// How many bytes the kernel has taken so far.
    taken: u64,
    decoder: Decoder,
}

impl Connection {
    /// Begins to connect. The hello is written before the first request, without waiting for its answer.
    pub(super) fn open(address: SocketAddr, hello: &Hello, limits: Limits) -> Result<Self, TransportError> {
        let failed = |error: &io::Error| TransportError::io(Phase::Connect, error);
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP)).map_err(|e| failed(&e))?;
        socket.set_nonblocking(true).map_err(|e| failed(&e))?;
        socket.set_tcp_nodelay(true).map_err(|e| failed(&e))?;
        let stage = match socket.connect(&address.into()) {
            Ok(()) => Stage::Greeting,
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Stage::Connecting,
            Err(error) => return Err(failed(&error)),
        };
        let mut out = BytesMut::with_capacity(4096);
        hello.encode(&mut out, limits).map_err(|error| TransportError::new(Phase::Connect, error.into()))?;
        Ok(Self { socket, stage, limits, out, taken: 0, decoder: Decoder::new(limits) })
    }

    /// The descriptor to watch.
    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// How far the connection has come.
    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether there are bytes that the kernel has not taken.
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// How many bytes the kernel has not taken.
    pub(super) fn output(&self) -> usize {
        self.out.len()
    }

    /// Gives up what the kernel has not taken. Nothing may be written behind it.
    pub(super) fn discard_output(&mut self) {
        self.out.clear();
    }

    /// Appends a request behind what is to be written, and gives the place in the stream where its frame ends (see
    /// [`has_taken`](Self::has_taken)).
    pub(super) fn push(&mut self, id: u64, request: &Request) -> Result<u64, ProtocolError> {
        request.encode(&mut self.out, id, self.limits)?;
        Ok(self.taken + self.out.len() as u64)
    }

    /// Whether the kernel has taken all bytes up to this place.
    pub(super) fn has_taken(&self, place: u64) -> bool {
        place <= self.taken
    }

    /// The kernel says that the connecting ended, one way or the other.
    pub(super) fn connected(&mut self) -> Result<(), TransportError> {
        match self.socket.take_error() {
            Ok(None) => {
                self.stage = Stage::Greeting;
                Ok(())
            }
            Ok(Some(error)) | Err(error) => Err(TransportError::io(Phase::Connect, &error)),
        }
    }

    /// Whether the kernel has connected, said or not.
    pub(super) fn is_connected(&self) -> bool {
        self.stage > Stage::Connecting || self.socket.peer_addr().is_ok()
    }

    /// Writes as much as the kernel takes now. What it doesn't take stays for the next time.
    pub(super) fn write(&mut self) -> Result<(), TransportErrorKind> {
        while !self.out.is_empty() {
            match self.socket.write(&self.out) {
                Ok(0) => return Err(TransportErrorKind::Lost),
                Ok(count) => {
                    self.out.advance(count);
                    self.taken += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TransportError::io(Phase::Send, &error).kind),
            }
        }
        Ok(())
    }

    /// Reads what there is, up to a bound, and gives whether it was stopped by that; the frames are then taken with
    /// [`next`](Self::next). An error says how the connection ended; what came before it can still be taken.
    pub(super) fn read(&mut self, scratch: &mut [u8]) -> Result<bool, TransportErrorKind> {
        let mut total = 0;
        while total < READ_AT_ONCE {
            match self.socket.read(scratch) {
                Ok(0) => return Err(TransportErrorKind::Lost),
                Ok(count) => {
                    self.decoder.buffer().extend_from_slice(&scratch[..count]);
                    total += count;
                    if count < scratch.len() {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TransportError::io(Phase::Wait, &error).kind),
            }
        }
        Ok(true)
    }

    /// The next frame that has come whole.
    pub(super) fn next(&mut self) -> Result<Option<Incoming>, ProtocolError> {
        let Some(frame) = self.decoder.next_frame()? else { return Ok(None) };
        let header = frame.header;
        match (header.kind, self.stage) {
            (FrameKind::Reply, Stage::Open) => {
                Ok(Some(Incoming::Reply { id: header.request_id, flags: header.flags, body: frame.body }))
            }
            (kind, Stage::Greeting | Stage::Connecting) => match Welcome::decode_answer(kind, header.flags, &frame.body)? {
                Ok(welcome) => {
                    self.stage = Stage::Open;
                    Ok(Some(Incoming::Welcome(Box::new(welcome))))
                }
                Err(fault) => Ok(Some(Incoming::Rejected(Box::new(fault)))),
            },
            (FrameKind::View, Stage::Open) => decode_body(FrameKind::View, &frame.body).map(|view| Some(Incoming::View(view))),
            (FrameKind::Seen, Stage::Open) => {
                decode_body(FrameKind::Seen, &frame.body).map(|brought| Some(Incoming::Brought(brought)))
            }
            (kind, Stage::Open) => Err(ProtocolError::OutOfPlace(kind.as_str())),
        }
    }

    /// How far the request has come whose frame ends at `place`, were the connection to end now.
    pub(super) fn fate(&self, id: u64, place: u64) -> (Phase, Option<Outcome>) {
        if !self.has_taken(place) {
            return (self.waiting_phase(), None);
        }
        match self.decoder.pending_header() {
            Some(header) if header.kind == FrameKind::Reply && header.request_id == id => {
                (Phase::Receive, Some(Outcome::from_flags(header.flags)))
            }
            _ => (Phase::Wait, None),
        }
    }

    /// The phase of a request that has not left.
    pub(super) fn waiting_phase(&self) -> Phase {
        match self.stage {
            Stage::Connecting => Phase::Connect,
            Stage::Greeting => Phase::Handshake,
            Stage::Open => Phase::Send,
        }
    }

    /// Ends the connection; the socket lives on until nobody watches it.
    pub(super) fn close(self) -> ClosedSocket {
        ClosedSocket(self.socket)
    }
}
