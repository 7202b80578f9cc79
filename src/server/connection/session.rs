//! One connection, from its first byte to its end.
//!
//! A session is one task. It decodes all that a read brought, answers at once what needs no other node, and writes once
//! for the whole batch; what needs other nodes it awaits beside its connection, and drops when it ends. Whatever the
//! other side does, only its own connection suffers:
//!
//! - nothing is read while too many replies wait to be taken, and who doesn't take them is cut;
//! - a hello, a frame and a reply have their time, and so has silence;
//! - what can't be read ends the connection, and nothing else.

use std::io;
use std::sync::Arc;

use tokio::time::{Duration, Instant, timeout};

use crate::protocol::{
    Brought, Channel, Decoder, Frame, FrameKind, Operation, ProtocolError, RefusalReason, Reply, Request, Scope, Seen, Welcome,
    decode_body,
};
use crate::transport::BoxStream;

use super::answering::Answered;
use super::handshake::{self, Caller};
use super::pace::{Pace, State};
use super::turn::{Event, Wire};
use crate::server::answer::fault;
use crate::server::core::Core;
use crate::server::load::{Portion, Share};

/// A frame longer than this takes a part of what all connections may be receiving.
const LONG_FRAME: usize = 64 << 10;

/// How long the other side may take to hear the last replies when a connection ends.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Why a session ends. All ends are ordinary: the connection is closed, and that is all.
#[derive(Debug, thiserror::Error)]
pub enum End {
    /// The other side closed it.
    #[error("closed by the other side")]
    Closed,
    /// The connection broke.
    #[error("{0}")]
    Broken(#[from] io::Error),
    /// What came can't be read.
    #[error("{0}")]
    Malformed(#[from] ProtocolError),
    /// The hello was refused.
    #[error("the hello was refused")]
    Refused,
    /// A time limit.
    #[error("{0}")]
    TooSlow(&'static str),
    /// Too many bytes of long frames are coming in over all connections.
    #[error("too many long frames at once")]
    Crowded,
    /// The node has left.
    #[error("the node has left")]
    NodeLeft,
}

/// One connection.
pub struct Session {
    core: Arc<Core>,
    wire: Wire,
    decoder: Decoder,
    pace: Pace,
    /// As what the other side was taken, once it said hello.
    caller: Option<Caller>,
    /// A client's place among the connections.
    place: Option<Share>,
    /// The place of the long frame that is coming in.
    receiving: Option<Share>,
    /// What it adds to the bytes that wait to be taken over all connections.
    unsent: Portion,
    /// The view that the other side was told last.
    told: u64,
    /// The other side has asked for names of the whole cluster.
    asks_cluster: bool,
    /// How many changes of what this node shows it was told of.
    brought: u64,
    /// Whole frames taken.
    frames: u64,
    /// Requests among them that the node's count does not have yet.
    served: u64,
}

impl Session {
    /// A session over `stream`, which was just accepted.
    pub fn new(core: Arc<Core>, stream: BoxStream) -> Self {
        let limits = &core.limits;
        Self {
            wire: Wire::new(stream, core.bulletins.clone()),
            decoder: Decoder::new(limits.frames()),
            pace: Pace::new(Instant::now(), limits),
            caller: None,
            place: None,
            receiving: None,
            unsent: Portion::new(&core.load.unsent),
            told: 0,
            asks_cluster: false,
            brought: 0,
            frames: 0,
            served: 0,
            core,
        }
    }

    /// Runs to the connection's end.
    pub async fn run(mut self) -> End {
        let end = loop {
            if let Err(end) = self.work() {
                break end;
            }
            let room = self.has_room();
            self.unsent.set(self.wire.unsent());
            self.pace.note(self.state(room), Instant::now());
            let event = self.wire.turn(room.then_some(&mut self.decoder), self.pace.deadline()).await;
            if let Err(end) = self.handle(event) {
                break end;
            }
        };
        if let (Some(Caller::Peer(peer, Channel::Replication)), false) = (self.caller, matches!(end, End::NodeLeft)) {
            self.core.replication.disconnected(peer);
        }
        if matches!(end, End::Refused | End::Malformed(_) | End::NodeLeft | End::Crowded) {
            let _ = timeout(LAST_WORDS, self.wire.finish()).await;
        }
        end
    }

    fn handle(&mut self, event: Event) -> Result<(), End> {
        match event {
            Event::Read(Ok(0)) => Err(End::Closed),
            Event::Read(Ok(_)) | Event::Wrote => Ok(()),
            Event::Read(Err(error)) | Event::Broken(error) => Err(error.into()),
            Event::Answered(answers) => {
                for Answered { request_id, answer, place } in answers {
                    self.bring(answer.token.as_deref());
                    self.reply(request_id, &answer.reply);
                    drop(place);
                }
                Ok(())
            }
            Event::Bulletin => self.tell_view(),
            Event::Timer => {
                // What was noted last was noted before its replies were written: they may have been taken at once.
                self.pace.note(self.state(self.has_room()), Instant::now());
                self.pace.over(Instant::now()).map_or(Ok(()), |what| Err(End::TooSlow(what)))
            }
        }
    }

    /// Whether there is room for more replies.
    fn has_room(&self) -> bool {
        self.wire.unsent() <= self.core.limits.unsent
    }

    fn state(&self, reading: bool) -> State {
        State {
            frames: self.frames,
            // While nothing is read, it is not the other side that keeps a frame waiting.
            mid_frame: reading && self.decoder.is_mid_frame(),
            unsent: self.wire.unsent(),
            taken: self.wire.taken(),
            in_flight: self.wire.in_flight(),
            greeted: self.caller.is_some(),
        }
    }

    /// Takes whole frames as long as their replies have room.
    fn work(&mut self) -> Result<(), End> {
        self.core.replication.look_at_time(Instant::now());
        let worked = loop {
            if self.wire.unsent() > self.core.limits.unsent {
                break Ok(());
            }
            match self.decoder.next_frame() {
                Ok(Some(frame)) => {
                    self.receiving = None;
                    self.frames += 1;
                    if let Err(end) = self.take(&frame) {
                        break Err(end);
                    }
                }
                Ok(None) => break self.reserve(),
                Err(error) => break Err(error.into()),
            }
        };
        self.core.load.serve(std::mem::take(&mut self.served));
        worked
    }

    /// Takes a place for the long frame that is coming in, before its bytes are.
    fn reserve(&mut self) -> Result<(), End> {
        let Some(header) = self.decoder.pending_header() else { return Ok(()) };
        if header.length <= LONG_FRAME || self.receiving.is_some() {
            return Ok(());
        }
        self.receiving = self.core.load.receiving.take(header.length, self.core.limits.receiving);
        if self.receiving.is_none() {
            if header.kind == FrameKind::Request {
                self.refuse(header.request_id);
            }
            return Err(End::Crowded);
        }
        Ok(())
    }

    fn take(&mut self, frame: &Frame) -> Result<(), End> {
        match (self.caller, frame.header.kind) {
            (None, _) => self.greet(frame),
            (Some(caller), FrameKind::Request) => self.request(caller, frame),
            (Some(Caller::Peer(from, Channel::Replication | Channel::Copies)), FrameKind::Message) => {
                self.core.replication.receive(from, decode_body(FrameKind::Message, &frame.body)?);
                Ok(())
            }
            (Some(_), other) => Err(ProtocolError::OutOfPlace(other.as_str()).into()),
        }
    }

    fn greet(&mut self, frame: &Frame) -> Result<(), End> {
        let limits = self.core.limits.frames();
        match handshake::judge(&self.core, frame)? {
            Ok(taken) => {
                self.told = taken.welcome.view.id();
                self.caller = Some(taken.caller);
                if let Caller::Peer(peer, Channel::Replication) = taken.caller {
                    self.core.replication.reconnected(peer);
                }
                self.place = taken.place;
                Welcome::encode_answer(&Ok(taken.welcome), self.wire.out(), limits)?;
                Ok(())
            }
            Err(refusal) => {
                Welcome::encode_answer(&Err(refusal), self.wire.out(), limits)?;
                Err(End::Refused)
            }
        }
    }

    fn request(&mut self, caller: Caller, frame: &Frame) -> Result<(), End> {
        let id = frame.header.request_id;
        self.served += 1;
        if !Operation::is_known(frame.header.flags) {
            let message = format!("this node does not know operation {}; update it", frame.header.flags);
            self.reply(id, &Reply::Failed(fault::not_supported(message)));
            return Ok(());
        }
        let request: Request = decode_body(FrameKind::Request, &frame.body)?;
        if caller == Caller::Client && self.core.load.unsent.level() > self.core.limits.unsent_in_all {
            self.refuse(id);
            return Ok(());
        }
        self.asks_cluster |= request.scope == Scope::Cluster;
        match self.core.answer_now(caller, &request) {
            Some(reply) => {
                self.bring(None);
                self.reply(id, &reply);
            }
            None => self.put_off(id, request),
        }
        Ok(())
    }

    /// Tells a client of the cluster, before a reply, what it has seen with it: what this node shows, where that has
    /// changed since it was told, and `more`.
    fn bring(&mut self, more: Option<&Seen>) {
        if !self.asks_cluster || self.caller != Some(Caller::Client) {
            return;
        }
        let limits = self.core.limits.frames();
        let changes = self.core.replication.shown_changes();
        // What does not fit a frame is not told; no cluster has that many writers.
        if std::mem::replace(&mut self.brought, changes) != changes {
            let shown = Seen::clone(&self.core.replication.shown());
            let _ = Brought { seen: shown, is_here: true }.encode(self.wire.out(), limits);
        }
        if let Some(more) = more {
            let _ = Brought { seen: more.clone(), is_here: false }.encode(self.wire.out(), limits);
        }
    }

    /// Has a request answered that needs other nodes, where there is room for it.
    fn put_off(&mut self, id: u64, request: Request) {
        if self.wire.in_flight() >= self.core.limits.in_flight_per_connection {
            return self.refuse(id);
        }
        match self.core.admit_waiting(&request) {
            Ok(place) => {
                let deadline = Instant::now() + Duration::from_micros(u64::from(request.time_left));
                let answer = Arc::clone(&self.core).answer_later(request, deadline);
                self.wire.answering().push(id, place, answer);
            }
            Err(refusal) => self.reply(id, &refusal),
        }
    }

    /// There is too much in flight.
    fn refuse(&mut self, id: u64) {
        let refusal = self.core.refused(RefusalReason::Overloaded);
        self.reply(id, &Reply::Failed(refusal));
    }

    fn reply(&mut self, id: u64, reply: &Reply) {
        let limits = self.core.limits.frames();
        if reply.encode(self.wire.out(), id, limits).is_err() {
            // The only thing that can be wrong with a reply of ours is its length.
            let fault = fault::over_limit(format!("the reply is longer than {} bytes; ask for less at once", limits.frame));
            // A fault without partial results always fits.
            let _ = Reply::Failed(fault).encode(self.wire.out(), id, limits);
        }
    }

    /// Pushes the view where it changed, and ends the session where the node has left.
    fn tell_view(&mut self) -> Result<(), End> {
        let bulletin = self.core.bulletin();
        let view = bulletin.for_clients.id();
        if self.caller == Some(Caller::Client) && view != self.told {
            self.told = view;
            self.wire.out().extend_from_slice(&bulletin.frame);
        }
        if bulletin.left { Err(End::NodeLeft) } else { Ok(()) }
    }
}
