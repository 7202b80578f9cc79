//! A server that does what its script says: over real sockets, on a thread of its own.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::{Bytes, BytesMut};
use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, EntryKind, ErrorKind, Source};
use hanaming::protocol::{
    Answer, Decoder, Fault, Found, Frame, FrameKind, HEADER_LEN, Hello, Introduction, Limits, MAGIC, Operation, Outcome,
    PROTOCOL_VERSION, Refusal, RefusalReason, Reply, Request, Welcome, Written, decode_body, encode_frame,
};
use hanaming::topology::{Endpoint, Member, MemberState, NodeId, View};

/// What the script does with one request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers.
    Reply(Reply),
    /// Answers nothing, ever.
    Silence,
    /// Closes the connection.
    Hang,
    /// Sends the reply's header, and half of its body, then closes.
    HalfReply(Reply),
    /// Sends a whole reply whose body is rubbish; its header tells this outcome.
    Rubbish(Outcome),
    /// Answers after the next request's answer.
    Later(Reply),
    /// Answers after what was put off with `Later`.
    Behind(Reply),
}

type Script = dyn Fn(&Request, usize) -> Act + Send + Sync;

/// A listening server. Its threads end with the process, its connections with [`kill`](Self::kill).
pub struct Scripted {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    address: SocketAddr,
    refuse: Option<Fault>,
    script: Box<Script>,
    seen: Mutex<Vec<Request>>,
    /// Connections that brought a request: probes bring none.
    used: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
    view: Mutex<Vec<Member>>,
}

impl Scripted {
    /// Starts one. The script is given each request and how many came before it.
    pub fn start(name: &str, script: impl Fn(&Request, usize) -> Act + Send + Sync + 'static) -> Self {
        Self::start_refusing(name, None, script)
    }

    /// Starts one that answers each hello with a fault, if there is one.
    pub fn start_refusing(
        name: &str,
        refuse: Option<Fault>,
        script: impl Fn(&Request, usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            address,
            refuse,
            script: Box::new(script),
            seen: Mutex::default(),
            used: AtomicUsize::new(0),
            open: Mutex::default(),
            view: Mutex::new(vec![member(name, address)]),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                serving.open.lock().unwrap().push(stream.try_clone().unwrap());
                let serving = Arc::clone(&serving);
                thread::spawn(move || serving.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// The requests that came, in order.
    pub fn seen(&self) -> Vec<Request> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// How many connections brought requests.
    pub fn used(&self) -> usize {
        self.shared.used.load(Ordering::SeqCst)
    }

    /// What the next welcomes call the members.
    pub fn set_view(&self, members: Vec<Member>) {
        *self.shared.view.lock().unwrap() = members;
    }

    /// Pushes the view to everybody connected.
    pub fn push_view(&self) {
        let mut out = BytesMut::new();
        let view = View::new("default", None, self.shared.view.lock().unwrap().clone());
        encode_frame(&mut out, FrameKind::View, 0, 0, &view, Limits::default()).unwrap();
        for mut stream in self.shared.open.lock().unwrap().iter() {
            let _ = stream.write_all(&out);
        }
    }

    /// Closes all connections.
    pub fn kill(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// This server as a member of a view.
    pub fn member(&self) -> Member {
        member(&self.shared.name, self.address)
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let mut decoder = Decoder::new(Limits::default());
        let mut chunk = vec![0; 64 << 10];
        let mut later = None;
        let mut used = false;
        loop {
            while let Some(frame) = decoder.next_frame().unwrap() {
                if frame.header.kind == FrameKind::Request && !std::mem::replace(&mut used, true) {
                    self.used.fetch_add(1, Ordering::SeqCst);
                }
                if !self.take(&mut stream, &frame, &mut later) {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            }
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(count) => decoder.buffer().extend_from_slice(&chunk[..count]),
            }
        }
    }

    /// Whether the connection goes on.
    fn take(&self, stream: &mut TcpStream, frame: &Frame, later: &mut Option<BytesMut>) -> bool {
        let limits = Limits::default();
        let mut out = BytesMut::new();
        let id = frame.header.request_id;
        match frame.header.kind {
            FrameKind::Hello => {
                let hello: Hello = decode_body(FrameKind::Hello, &frame.body).unwrap();
                assert_eq!(hello.magic, MAGIC);
                if let Some(fault) = &self.refuse {
                    encode_frame(&mut out, FrameKind::Welcome, fault.code, id, fault, limits).unwrap();
                } else {
                    let members = self.view.lock().unwrap().clone();
                    welcome(member(&self.name, self.address), members, &mut out);
                }
            }
            FrameKind::Request => {
                if self.refuse.is_some() {
                    return true;
                }
                let request: Request = decode_body(FrameKind::Request, &frame.body).unwrap();
                let before = {
                    let mut seen = self.seen.lock().unwrap();
                    seen.push(request.clone());
                    seen.len() - 1
                };
                match (self.script)(&request, before) {
                    Act::Reply(reply) => reply.encode(&mut out, id, limits).unwrap(),
                    Act::Silence => {}
                    Act::Hang => return false,
                    Act::HalfReply(reply) => {
                        reply.encode(&mut out, id, limits).unwrap();
                        out.truncate(HEADER_LEN + (out.len() - HEADER_LEN) / 2);
                        let _ = stream.write_all(&out);
                        return false;
                    }
                    Act::Rubbish(outcome) => {
                        encode_frame(&mut out, FrameKind::Reply, outcome.to_flags(), id, &[0xFF_u8; 9], limits).unwrap();
                    }
                    Act::Behind(reply) => {
                        out.extend_from_slice(&later.take().unwrap_or_default());
                        reply.encode(&mut out, id, limits).unwrap();
                    }
                    Act::Later(reply) => {
                        let mut kept = BytesMut::new();
                        reply.encode(&mut kept, id, limits).unwrap();
                        *later = Some(kept);
                        return true;
                    }
                }
                if let Some(kept) = later.take() {
                    out.extend_from_slice(&kept);
                }
            }
            other => panic!("a client sends no {} frame", other.as_str()),
        }
        stream.write_all(&out).is_ok()
    }
}

/// What a server that takes its client says.
pub fn welcome(by: Member, members: Vec<Member>, out: &mut BytesMut) {
    let view = View::new("default", None, members);
    let introduction = Introduction { member: by, cluster: "default".to_owned(), cluster_id: None, firm: false };
    let welcome = Welcome { version: PROTOCOL_VERSION, features: 0, introduction, view };
    encode_frame(out, FrameKind::Welcome, 0, 0, &welcome, Limits::default()).unwrap();
}

/// A live member.
pub fn member(name: &str, address: SocketAddr) -> Member {
    Member {
        name: name.to_owned(),
        id: NodeId(u128::from(address.port())),
        endpoint: Endpoint::from(address),
        state: MemberState::Live,
    }
}

/// An address where nobody listens.
pub fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// "Found", with a text of the answering node's making.
pub fn found(node: &str, bytes: &[u8]) -> Reply {
    Reply::Done(Answer::Found(Found {
        content: Content {
            kind: EntryKind::Value,
            class_name: Arc::from("str"),
            value: Bytes::copy_from_slice(bytes),
            instance: None,
        },
        source: Source::Local,
        node: Arc::from(node),
        version: None,
        asked: vec![Arc::from(node)],
    }))
}

/// The name of a lookup.
pub fn looked_up(request: &Request) -> &str {
    match &request.operation {
        Operation::Lookup { name } => name,
        other => panic!("not a lookup: {other:?}"),
    }
}

/// "Written", by one node alone.
pub fn written() -> Reply {
    Reply::Done(Answer::Written(Written { version: None, acked_by: Vec::new(), live: 1, members: 1 }))
}

/// "No such name".
pub fn not_found() -> Reply {
    Reply::Failed(fault(ErrorKind::NameNotFound, CompletionStatus::Yes))
}

/// A refusal before anything ran.
pub fn quiescing() -> Reply {
    let refusal = Refusal { reason: RefusalReason::Quiescing, retry_after: 0, view: None };
    Reply::Failed(Fault { refusal: Some(refusal), ..fault(ErrorKind::ServiceUnavailable, CompletionStatus::No) })
}

/// A fault of this kind.
pub fn fault(kind: ErrorKind, completion: CompletionStatus) -> Fault {
    Fault::new(kind, completion, "as scripted")
}
