//! A connection of one caller at a time, on the calling thread, without a runtime.
//!
//! A call in the common case is one write and one read. The hello travels in the same write as the first request, unless
//! [`greet`](Connection::greet) was called for: a request that may not be repeated leaves only once the server took us.
//! After an error the connection is spent: a late reply could otherwise be taken for another's.

mod inbox;
mod socket;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;

use crate::failure::Phase;
use crate::protocol::{Brought, FrameKind, Header, Hello, Limits, Outcome, ProtocolError, Reply, Request, Welcome, decode_body};
use crate::topology::View;

use super::error::{TransportError, TransportErrorKind};
use inbox::Inbox;
use socket::{Patience, Socket, Wait};

/// A connection to one server, for one request at a time.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    limits: Limits,
    /// What is written next: the hello until the first request took it along.
    out: BytesMut,
    inbox: Inbox,
    last_id: u64,
    welcome: Option<Welcome>,
    view: Option<View>,
    brought: Vec<Brought>,
    /// Something has come since the last request left.
    heard: bool,
    spent: bool,
}

impl Connection {
    /// Connects. Nothing is said before the first exchange.
    pub fn open(address: SocketAddr, hello: &Hello, limits: Limits, deadline: Instant) -> Result<Self, TransportError> {
        Self::open_interruptible(address, hello, limits, deadline, &mut || false)
    }

    /// As [`open`](Self::open); `give_up` is asked at least every 100 ms (on Linux) and after each signal, and ends the
    /// wait by giving `true`.
    pub fn open_interruptible(
        address: SocketAddr,
        hello: &Hello,
        limits: Limits,
        deadline: Instant,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<Self, TransportError> {
        let mut out = BytesMut::with_capacity(1024);
        hello.encode(&mut out, limits).map_err(|error| TransportError::new(Phase::Connect, error.into()))?;
        let mut patience = Patience { deadline, give_up };
        let allowed = patience.left();
        let socket = Socket::connect(address, &mut patience).map_err(|wait| failed(Phase::Connect, wait, allowed))?;
        Ok(Self {
            socket,
            limits,
            out,
            inbox: Inbox::new(),
            last_id: 0,
            welcome: None,
            view: None,
            brought: Vec::new(),
            heard: false,
            spent: false,
        })
    }

    /// Says hello and waits for the welcome, where that has not come: until then nothing can have run. `give_up` is as in
    /// [`open_interruptible`](Self::open_interruptible).
    pub fn greet(&mut self, deadline: Instant, give_up: &mut dyn FnMut() -> bool) -> Result<(), TransportError> {
        if self.welcome.is_some() {
            return Ok(());
        }
        let mut patience = Patience { deadline, give_up };
        let allowed = patience.left();
        if self.spent || allowed.is_zero() {
            let kind = if self.spent { TransportErrorKind::Lost } else { TransportErrorKind::TimedOut(allowed) };
            return Err(TransportError::new(Phase::Handshake, kind));
        }
        self.spent = true;
        let greeted = self.send(&mut patience, allowed).and_then(|()| self.receive_welcome(&mut patience, allowed));
        greeted.map_err(|error| TransportError { phase: Phase::Handshake, ..error })?;
        self.spent = false;
        Ok(())
    }

    fn receive_welcome(&mut self, patience: &mut Patience<'_>, allowed: Duration) -> Result<(), TransportError> {
        loop {
            if let Some((header, _)) = next_frame(&self.inbox, self.limits).map_err(|error| self.spoilt(error))? {
                self.take_welcome(header)?;
                self.inbox.drop_frame(header);
                return Ok(());
            }
            self.fill(patience, allowed)?;
        }
    }

    /// Sends the request and waits for its reply until `deadline`.
    pub fn exchange(&mut self, request: &Request, deadline: Instant) -> Result<Reply, TransportError> {
        self.exchange_interruptible(request, deadline, &mut || false)
    }

    /// As [`exchange`](Self::exchange); `give_up` is asked at least every 100 ms and after each signal, and ends the wait
    /// by giving `true`.
    pub fn exchange_interruptible(
        &mut self,
        request: &Request,
        deadline: Instant,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<Reply, TransportError> {
        let mut patience = Patience { deadline, give_up };
        let allowed = patience.left();
        if self.spent {
            return Err(TransportError::new(Phase::Send, TransportErrorKind::Lost));
        }
        if allowed.is_zero() {
            return Err(TransportError::new(Phase::Send, TransportErrorKind::TimedOut(allowed)));
        }
        self.last_id += 1;
        // A request that cannot be encoded leaves the connection as it was.
        let encoded = request.encode(&mut self.out, self.last_id, self.limits);
        encoded.map_err(|error| TransportError::new(Phase::Send, error.into()))?;
        self.spent = true;
        self.send(&mut patience, allowed)?;
        self.heard = false;
        let reply = self.receive(&mut patience, allowed)?;
        self.spent = false;
        Ok(reply)
    }

    /// Waits on for the reply that did not come in time. Nothing is sent.
    pub fn wait_on(&mut self, deadline: Instant, give_up: &mut dyn FnMut() -> bool) -> Result<Reply, TransportError> {
        let mut patience = Patience { deadline, give_up };
        let allowed = patience.left();
        self.socket.prepare(allowed).map_err(|error| TransportError::io(Phase::Wait, &error))?;
        let reply = self.receive(&mut patience, allowed)?;
        self.spent = false;
        Ok(reply)
    }

    /// Whether something has come since the last request left: the server is there.
    pub fn shows_life(&self) -> bool {
        self.heard
    }

    /// Writes all that is in `out`: only a request whose last byte was taken can run.
    fn send(&mut self, patience: &mut Patience<'_>, allowed: Duration) -> Result<(), TransportError> {
        let prepared = self.socket.prepare(allowed);
        prepared.map_err(|error| TransportError::io(Phase::Send, &error))?;
        let mut sent = 0;
        while sent < self.out.len() {
            let taken = self.socket.write(&self.out[sent..], patience);
            sent += taken.map_err(|wait| failed(Phase::Send, wait, allowed))?;
        }
        self.out.clear();
        Ok(())
    }

    fn receive(&mut self, patience: &mut Patience<'_>, allowed: Duration) -> Result<Reply, TransportError> {
        loop {
            while let Some((header, body)) = next_frame(&self.inbox, self.limits).map_err(|e| self.spoilt(e))? {
                let taken = if self.welcome.is_none() {
                    self.take_welcome(header)?;
                    None
                } else if header.kind == FrameKind::Reply && header.request_id == self.last_id {
                    Some(Reply::decode(header.flags, body).map_err(|error| self.spoilt(error))?)
                } else {
                    self.take_push(header).map_err(|error| self.spoilt(error))?;
                    None
                };
                self.inbox.drop_frame(header);
                if let Some(reply) = taken {
                    return Ok(reply);
                }
            }
            self.fill(patience, allowed)?;
        }
    }

    /// Waits for more bytes.
    fn fill(&mut self, patience: &mut Patience<'_>, allowed: Duration) -> Result<(), TransportError> {
        let room = match self.inbox.room(self.limits) {
            Ok(room) => room,
            Err(error) => return Err(self.spoilt(error)),
        };
        match self.socket.read(room, patience) {
            Ok(0) => Err(self.broken(TransportErrorKind::Lost)),
            Ok(count) => {
                self.inbox.filled(count);
                self.heard = true;
                Ok(())
            }
            Err(wait) => Err(self.broken(failed(Phase::Wait, wait, allowed).kind)),
        }
    }

    fn take_welcome(&mut self, header: Header) -> Result<(), TransportError> {
        let refused = |kind| TransportError::new(Phase::Handshake, kind);
        let body = self.inbox.body(header).unwrap_or_default();
        match Welcome::decode_answer(header.kind, header.flags, body) {
            Ok(Ok(welcome)) => {
                self.view = Some(welcome.view.clone());
                self.welcome = Some(welcome);
                Ok(())
            }
            Ok(Err(fault)) => Err(refused(TransportErrorKind::Rejected(Box::new(fault)))),
            Err(error) => Err(refused(error.into())),
        }
    }

    fn take_push(&mut self, header: Header) -> Result<(), ProtocolError> {
        let body = self.inbox.body(header).unwrap_or_default();
        match header.kind {
            FrameKind::View => self.view = Some(decode_body(FrameKind::View, body)?),
            FrameKind::Seen => decode_body::<Brought>(FrameKind::Seen, body)?.add_to(&mut self.brought),
            other => return Err(ProtocolError::OutOfPlace(other.as_str())),
        }
        Ok(())
    }

    /// The exchange broke after the request had left: how far had its reply come?
    fn broken(&self, kind: TransportErrorKind) -> TransportError {
        match self.inbox.header(self.limits) {
            Ok(Some(header)) if header.kind == FrameKind::Reply && header.request_id == self.last_id => {
                TransportError { phase: Phase::Receive, kind, outcome: Some(Outcome::from_flags(header.flags)) }
            }
            _ => TransportError::new(Phase::Wait, kind),
        }
    }

    /// The other side broke the protocol. Before the welcome that means it is no server of ours and ran nothing.
    fn spoilt(&self, error: ProtocolError) -> TransportError {
        match self.welcome {
            None => TransportError::new(Phase::Handshake, error.into()),
            Some(_) => self.broken(error.into()),
        }
    }

    /// Whether this connection should not be used again: it broke, the other side closed it, or sent what nobody asked
    /// for. Never waits; views that were pushed meanwhile are taken.
    pub fn is_stale(&mut self) -> bool {
        if !self.spent && self.socket.has_news() {
            self.spent = self.read_news().is_err();
        }
        self.spent
    }

    fn read_news(&mut self) -> Result<(), TransportError> {
        let fresh = self.welcome.is_none();
        while self.socket.has_news() {
            let room = match self.inbox.room(self.limits) {
                Ok(room) => room,
                Err(error) => return Err(self.spoilt(error)),
            };
            match self.socket.read_available(room) {
                Ok(0) | Err(_) => return Err(self.broken(TransportErrorKind::Lost)),
                Ok(count) => self.inbox.filled(count),
            }
            while let Some((header, _)) = next_frame(&self.inbox, self.limits).map_err(|e| self.spoilt(e))? {
                let taken = if fresh { Err(ProtocolError::NotHanaming) } else { self.take_push(header) };
                taken.map_err(|error| self.spoilt(error))?;
                self.inbox.drop_frame(header);
            }
        }
        Ok(())
    }

    /// The newest view that the server pushed, once.
    pub fn take_view(&mut self) -> Option<View> {
        self.view.take()
    }

    /// What the server said that was seen with its replies, once.
    pub fn take_brought(&mut self) -> Vec<Brought> {
        std::mem::take(&mut self.brought)
    }

    /// The server's welcome, once it has come.
    pub fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }
}

fn next_frame(inbox: &Inbox, limits: Limits) -> Result<Option<(Header, &[u8])>, ProtocolError> {
    let Some(header) = inbox.header(limits)? else { return Ok(None) };
    Ok(inbox.body(header).map(|body| (header, body)))
}

fn failed(phase: Phase, wait: Wait, allowed: Duration) -> TransportError {
    match wait {
        Wait::TimedOut => TransportError::new(phase, TransportErrorKind::TimedOut(allowed)),
        Wait::Cancelled => TransportError::new(phase, TransportErrorKind::Cancelled),
        Wait::Io(error) => TransportError::io(phase, &error),
    }
}
