//! Messages that the tests send, and their frames.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, EntryKind, ErrorKind, Source, Version};
use hanaming::protocol::{Answer, Fault, Found, Hello, Introduction, Limits, Operation, Reply, Request, Role, Scope, Welcome};
use hanaming::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};

/// A limit that no test should reach.
pub const LONG: Duration = Duration::from_secs(10);
/// A limit that a test lets run out.
pub const SHORT: Duration = Duration::from_millis(60);

pub fn member(name: &str, number: u128) -> Member {
    Member { name: name.to_owned(), id: NodeId(number), endpoint: Endpoint::new("10.0.0.1", 11100), state: MemberState::Live }
}

pub fn view(numbers: &[u128]) -> View {
    let members = numbers.iter().map(|number| member(&format!("n{number}"), *number)).collect();
    View::new("default", Some(ClusterId(7)), members)
}

pub fn introduction() -> Introduction {
    Introduction { member: member("n1", 1), cluster: "default".to_owned(), cluster_id: Some(ClusterId(7)), firm: true }
}

pub fn hello() -> Hello {
    Hello::new(Role::Client { id: 0xC1 }, Some("default".to_owned()))
}

pub fn welcome() -> Welcome {
    Welcome { version: 1, features: 0, introduction: introduction(), view: view(&[1, 2]) }
}

pub fn lookup(name: &str) -> Request {
    Request {
        time_left: 250_000,
        scope: Scope::Cluster,
        operation_id: None,
        is_retry: false,
        operation: Operation::Lookup { name: name.to_owned() },
        known: None,
    }
}

/// A request so long that no socket buffer takes it whole.
pub fn endless() -> Request {
    lookup(&"x".repeat(limits().frame - 100))
}

/// Limits that let [`endless`] through.
pub fn limits() -> Limits {
    Limits { frame: 16 << 20 }
}

pub fn found(value: &'static [u8]) -> Found {
    Found {
        content: Content {
            kind: EntryKind::Value,
            class_name: Arc::from("str"),
            value: Bytes::from_static(value),
            instance: None,
        },
        source: Source::Local,
        node: Arc::from("n1"),
        version: Some(Version { actor: 9, sequence: 3 }),
        asked: vec![Arc::from("n1")],
    }
}

pub fn done() -> Reply {
    Reply::Done(Answer::Found(found(b"orders")))
}

pub fn fault(kind: ErrorKind, message: &str) -> Fault {
    Fault::new(kind, CompletionStatus::No, message)
}

pub fn bytes(encode: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(&mut out);
    out.to_vec()
}

pub fn welcome_bytes() -> Vec<u8> {
    bytes(|out| Welcome::encode_answer(&Ok(welcome()), out, limits()).unwrap())
}

pub fn refusal_bytes() -> Vec<u8> {
    let refusal = fault(ErrorKind::Configuration, "this is cluster 'b'");
    bytes(|out| Welcome::encode_answer(&Err(refusal), out, limits()).unwrap())
}

pub fn reply_bytes(reply: &Reply, id: u64) -> Vec<u8> {
    bytes(|out| reply.encode(out, id, limits()).unwrap())
}

pub fn view_bytes(view: &View) -> Vec<u8> {
    use hanaming::protocol::{FrameKind, encode_frame};
    bytes(|out| encode_frame(out, FrameKind::View, 0, 0, view, limits()).unwrap())
}
