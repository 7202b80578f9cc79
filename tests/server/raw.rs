//! A client of bare bytes, well-behaved or not.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use hanaming::protocol::{
    Answer, Decoder, Fault, Frame, FrameKind, Hello, Limits, Operation, Reply, Request, Role, Scope, Welcome,
};
use hanaming::server::{Node, ServerConfig};
use tokio::time::Instant;

/// Longer than anything in these tests takes.
pub const LONG: Duration = Duration::from_secs(20);

/// Limits of a client that takes whatever the server sends.
pub const LIMITS: Limits = Limits { frame: 8 << 20 };

/// A node that is alone, on a free port, with a configuration that a test changes.
pub fn node(change: impl FnOnce(&mut ServerConfig)) -> Node {
    let mut config = ServerConfig::new("n1");
    change(&mut config);
    Node::start(config).unwrap()
}

/// One connection.
pub struct Raw {
    stream: TcpStream,
    decoder: Decoder,
}

impl Raw {
    /// Connects and says nothing.
    pub fn dial(node: &Node) -> Self {
        let address: SocketAddr = node.listening().socket_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        Self { stream, decoder: Decoder::new(LIMITS) }
    }

    /// Connects and is welcomed.
    pub fn greet(node: &Node) -> Self {
        let mut raw = Self::dial(node);
        raw.welcome(&Hello::new(Role::Client { id: 1 }, None)).unwrap();
        raw
    }

    /// Says hello and gives the answer.
    pub fn welcome(&mut self, hello: &Hello) -> Result<Welcome, Fault> {
        let mut out = BytesMut::new();
        hello.encode(&mut out, LIMITS).unwrap();
        self.send(&out);
        let frame = self.frame().expect("an answer to the hello");
        Welcome::decode_answer(frame.header.kind, frame.header.flags, &frame.body).unwrap()
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends what the other side may refuse to take, and says how much it took.
    pub fn try_send(&mut self, bytes: &[u8]) -> usize {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(0) | Err(_) => break,
                Ok(count) => sent += count,
            }
        }
        sent
    }

    /// The same connection for another thread, which only sends.
    pub fn try_clone(&self) -> Self {
        Self { stream: self.stream.try_clone().unwrap(), decoder: Decoder::new(LIMITS) }
    }

    pub fn set_write_timeout(&mut self, within: Duration) {
        self.stream.set_write_timeout(Some(within)).unwrap();
    }

    /// The next frame; `None` where the server ended the connection.
    pub fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            let mut bytes = [0; 16 << 10];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.decoder.buffer().extend_from_slice(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => return None,
                Err(error) => panic!("nothing came within {LONG:?}: {error}"),
            }
        }
    }

    /// The next reply, and to which request.
    pub fn reply(&mut self) -> (u64, Reply) {
        loop {
            let frame = self.frame().expect("a reply");
            match frame.header.kind {
                FrameKind::Reply => return (frame.header.request_id, Reply::decode(frame.header.flags, &frame.body).unwrap()),
                FrameKind::View | FrameKind::Seen => {}
                other => panic!("a {} frame", other.as_str()),
            }
        }
    }

    /// The reply that has come already, if one has.
    pub fn reply_so_far(&mut self) -> Option<(u64, Reply)> {
        self.stream.set_nonblocking(true).unwrap();
        let mut bytes = [0; 16 << 10];
        let came = self.stream.read(&mut bytes).unwrap_or(0);
        self.stream.set_nonblocking(false).unwrap();
        self.decoder.buffer().extend_from_slice(&bytes[..came]);
        let mut frame = self.decoder.next_frame().unwrap()?;
        while frame.header.kind == FrameKind::Seen {
            frame = self.decoder.next_frame().unwrap()?;
        }
        Some((frame.header.request_id, Reply::decode(frame.header.flags, &frame.body).unwrap()))
    }

    /// Asks, and gives the reply.
    pub fn ask(&mut self, scope: Scope, operation: Operation) -> Reply {
        self.send(&request_frame(9, scope, operation));
        let (id, reply) = self.reply();
        assert_eq!(id, 9);
        reply
    }

    /// Whether a lookup of `name` works.
    pub fn finds(&mut self, name: &str) -> bool {
        matches!(self.ask(Scope::Cluster, lookup(name)), Reply::Done(Answer::Found(_)))
    }

    /// Waits until the server ends the connection; fails where it sends anything before.
    #[track_caller]
    pub fn is_ended(&mut self) {
        if let Some(frame) = self.frame() {
            panic!("the connection goes on: {:?}", frame.header);
        }
    }
}

pub fn lookup(name: &str) -> Operation {
    Operation::Lookup { name: name.to_owned() }
}

pub fn request_frame(id: u64, scope: Scope, operation: Operation) -> BytesMut {
    let mut out = BytesMut::new();
    let request = Request { time_left: 5_000_000, scope, operation_id: None, is_retry: false, operation, known: None };
    request.encode(&mut out, id, LIMITS).unwrap();
    out
}

/// Waits until something is the case, for a bounded time.
#[track_caller]
pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}
