//! Who is welcome, and what the others are told.

use bytes::{BufMut, BytesMut};
use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Hello, RefusalReason, Role};
use hanaming::topology::MemberState;

use crate::raw::{LIMITS, Raw, lookup, node, request_frame};

fn hello() -> Hello {
    Hello::new(Role::Client { id: 1 }, None)
}

#[test]
fn a_client_is_welcomed_with_the_view() {
    let node = node(|config| config.cluster = "blue".to_owned());
    for cluster in [None, Some("blue".to_owned())] {
        let welcome = Raw::dial(&node).welcome(&Hello { cluster, ..hello() }).unwrap();
        assert_eq!((welcome.version, welcome.features), (1, 0));
        let [member] = welcome.view.members() else { panic!("{:?}", welcome.view) };
        assert_eq!((member.name.as_str(), &member.endpoint, member.state), ("n1", node.listening(), MemberState::Live));
        assert_eq!(welcome.introduction.member.id, node.id());
        assert_eq!(welcome.view.cluster(), "blue");
    }
}

#[test]
fn requests_may_follow_the_hello_at_once() {
    let node = node(|_| {});
    let mut raw = Raw::dial(&node);
    let mut out = BytesMut::new();
    hello().encode(&mut out, LIMITS).unwrap();
    out.extend_from_slice(&request_frame(7, hanaming::protocol::Scope::Cluster, lookup("a")));
    raw.send(&out);
    assert_eq!(raw.frame().unwrap().header.kind, hanaming::protocol::FrameKind::Welcome);
    assert_eq!(raw.reply().0, 7);
}

#[test]
fn another_cluster_is_told_so_and_the_connection_ends() {
    let node = node(|config| config.cluster = "blue".to_owned());
    let mut raw = Raw::dial(&node);
    let fault = raw.welcome(&Hello { cluster: Some("green".to_owned()), ..hello() }).unwrap_err();
    assert_eq!((ErrorKind::from_code(fault.code), fault.completion), (ErrorKind::Configuration, CompletionStatus::No));
    assert!(fault.message.contains("blue") && fault.message.contains("green"), "{}", fault.message);
    raw.is_ended();
}

#[test]
fn another_version_is_told_so_and_the_connection_ends() {
    let node = node(|_| {});
    let mut raw = Raw::dial(&node);
    let fault = raw.welcome(&Hello { lowest: 2, highest: 9, ..hello() }).unwrap_err();
    assert_eq!((ErrorKind::from_code(fault.code), fault.completion), (ErrorKind::Configuration, CompletionStatus::No));
    assert!(fault.message.contains("version 1"), "{}", fault.message);
    raw.is_ended();
}

#[test]
fn another_protocol_hears_nothing() {
    let node = node(|_| {});
    for text in ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3} TLS"] {
        let mut raw = Raw::dial(&node);
        raw.send(text.as_bytes());
        raw.is_ended();
    }
    // The right frame with the wrong magic number.
    let mut raw = Raw::dial(&node);
    let mut out = BytesMut::new();
    Hello { magic: 1, ..hello() }.encode(&mut out, LIMITS).unwrap();
    raw.send(&out);
    raw.is_ended();
    // A request without a hello.
    let mut raw = Raw::dial(&node);
    raw.send(&request_frame(1, hanaming::protocol::Scope::Cluster, lookup("a")));
    raw.is_ended();
}

#[test]
fn a_frame_out_of_place_ends_the_connection() {
    let node = node(|_| {});
    let mut again = Raw::greet(&node);
    let mut out = BytesMut::new();
    hello().encode(&mut out, LIMITS).unwrap();
    again.send(&out);
    again.is_ended();
    for kind in [2, 4, 5, 6, 255] {
        let mut raw = Raw::greet(&node);
        let mut frame = BytesMut::new();
        frame.put_u32_le(0);
        frame.put_slice(&[1, kind, 0, 0]);
        frame.put_u64_le(1);
        raw.send(&frame);
        raw.is_ended();
    }
}

#[test]
fn beyond_the_limit_of_clients_the_hello_is_refused() {
    let node = node(|config| config.limits.connections = 2);
    let first = Raw::greet(&node);
    let _second = Raw::greet(&node);
    let mut third = Raw::dial(&node);
    let fault = third.welcome(&hello()).unwrap_err();
    assert_eq!((ErrorKind::from_code(fault.code), fault.completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
    assert_eq!(fault.refusal.unwrap().reason, RefusalReason::Overloaded);
    third.is_ended();
    drop(first);
    crate::raw::eventually("the place is free again", || Raw::dial(&node).welcome(&hello()).is_ok());
}
