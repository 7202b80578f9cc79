//! The bytes of every kind of frame, as this version writes them.
//!
//! These are the wire: a node of this version and one of the next must understand each other. Where a snapshot changes,
//! the protocol has changed, and that needs a feature bit or another version number. New messages get new snapshots.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, EntryKind, ErrorKind, InstanceDetail, Listed, Source, Version};
use hanaming::protocol::{
    Answer, Brought, Channel, Decoder, Fault, FrameKind, Gossip, Hello, Known, LinkMet, ManyItem, Mutation, NodeStatus,
    Operation, OperationId, Page, PageRequest, Position, Refusal, RefusalReason, Reply, Report, ReportItem, Request, Role, Scope,
    Seen, Setting, SurveyAnswer, SurveyItem, TreeChoice, TreeCopy, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope,
    Watched, Welcome, Written, decode_body, encode_frame,
};
use hanaming::topology::{MemberState, View};

use super::fixtures::{fault, found, hello, introduction, limits, lookup, member, view, welcome};

/// Bytes in rows of sixteen, the header in a row of its own.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    let (header, body) = bytes.split_at(16);
    for row in std::iter::once(header).chain(body.chunks(16)) {
        let ascii: String = row.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect();
        let pairs: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{:47}  {ascii}", pairs.join(" ")).unwrap();
    }
    text
}

fn encoded(encode: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(&mut out);
    out.to_vec()
}

fn whole(bytes: &[u8]) -> hanaming::protocol::Frame {
    let mut decoder = Decoder::new(limits());
    decoder.buffer().extend_from_slice(bytes);
    let frame = decoder.next_frame().unwrap().expect("a whole frame");
    assert!(!decoder.is_mid_frame());
    frame
}

fn request(operation: Operation) -> Request {
    Request { operation, ..lookup("") }
}

fn mutation(mutation: Mutation) -> Request {
    let operation_id = Some(OperationId { client: 0xC1, sequence: 300 });
    Request { operation_id, ..request(Operation::Mutate(mutation)) }
}

fn content() -> Content {
    Content {
        kind: EntryKind::Value,
        class_name: Arc::from("dict"),
        value: Bytes::from_static(&[1, 2, 3]),
        instance: Some(Box::new(InstanceDetail { weight: 2.5, metadata: Bytes::from_static(&[0]) })),
    }
}

fn listed() -> Listed {
    Listed {
        component: "orders".to_owned(),
        content: Content::context(),
        source: Source::Peer,
        node: Arc::from("n2"),
        version: Some(Version { actor: 5, sequence: 200 }),
        sources: vec![(Source::Peer, Arc::from("n2")), (Source::Cluster, Arc::from("n1"))],
    }
}

fn written() -> Written {
    Written { version: Some(Version { actor: 5, sequence: 1 }), acked_by: vec![Arc::from("n1")], live: 3, members: 4 }
}

fn link_met() -> LinkMet {
    let found = found(b"./current");
    LinkMet { at: "a/latest".to_owned(), target: "./current".to_owned(), rest: "db".to_owned(), found }
}

fn watch() -> WatchRequest {
    let from = WatchFrom::Position(Position { log: 7, sequence: 300 });
    WatchRequest { name: "a".to_owned(), scope: WatchScope::Subtree, from, hold: 1000 }
}

fn watched() -> Watched {
    let bound = Some((content(), Version { actor: 5, sequence: 200 }));
    let rows = vec![
        WatchRow { name: "a/b".to_owned(), bound, is_conflict: true, moved_from: Some("a/c".to_owned()), ends_write: false },
        WatchRow { name: "a/c".to_owned(), bound: None, is_conflict: false, moved_from: None, ends_write: true },
    ];
    Watched { node: Arc::from("n1"), rows, next: WatchNext::Lost { log: 8 } }
}

/// Four writes of one actor, and one of another beyond a gap.
fn seen() -> Seen {
    let mut seen = Seen::default();
    (1..=4).for_each(|sequence| seen.add(Version { actor: 5, sequence }));
    seen.add(Version { actor: u128::MAX, sequence: 200 });
    seen
}

fn gossip() -> Gossip {
    Gossip {
        speaker: introduction().member.id,
        edition: 300,
        introduction: Some(Box::new(introduction())),
        has: Some(7),
        beheld: u64::MAX,
        sees_you: true,
        leaving: false,
        settled: true,
        packets: vec![Bytes::from_static(b"packet")],
    }
}

fn requests() -> Vec<(&'static str, Request)> {
    let name = || "a/b".to_owned();
    let page = PageRequest { name: name(), tree: TreeChoice::Local, after: Some("m".to_owned()), limit: 500, values: true };
    let bind = Mutation::Bind { name: name(), content: content(), replace: true, create_parents: false, lease: Some(9) };
    vec![
        ("lookup", Request { scope: Scope::Peer, ..lookup("a/b") }),
        ("lookup_many", request(Operation::LookupMany { names: [name().as_str(), "c"].into_iter().collect() })),
        ("survey", request(Operation::Survey { name: name() })),
        ("list", Request { scope: Scope::Local, ..request(Operation::List(page)) }),
        ("bind", mutation(bind)),
        ("unbind", mutation(Mutation::Unbind { name: name() })),
        ("rename", mutation(Mutation::Rename { from: name(), to: "c".to_owned() })),
        ("create_subcontext", mutation(Mutation::CreateSubcontext { name: name(), create_parents: true })),
        ("destroy_subcontext", mutation(Mutation::DestroySubcontext { name: name() })),
        ("check", request(Operation::Check { name: name() })),
        ("status", request(Operation::Status)),
        ("quiesce", request(Operation::Quiesce)),
        ("gossip", request(Operation::Gossip(gossip()))),
        ("watch", request(Operation::Watch(watch()))),
        ("await", request(Operation::Await { name: "a/b".to_owned(), hold: 50 })),
        ("known", Request { known: Some(Box::new(Known { seen: seen(), is_required: true })), ..lookup("a") }),
    ]
}

fn full_fault() -> Fault {
    Fault {
        completion: CompletionStatus::Yes,
        resolved_name: Some("a".to_owned()),
        remaining_name: Some("b/c".to_owned()),
        existing: Some(Box::new(listed())),
        answered: vec![Arc::from("n1")],
        silent: vec![Arc::from("n3")],
        partial: vec![listed()],
        ..fault(ErrorKind::NameAlreadyBound, "taken")
    }
}

fn refused(reason: RefusalReason) -> Fault {
    let refusal = Refusal { reason, retry_after: 250, view: Some(view(&[2])) };
    Fault { refusal: Some(refusal), ..fault(ErrorKind::ServiceUnavailable, reason.as_str()) }
}

fn replies() -> Vec<(&'static str, Reply)> {
    let answers = |from: &str, answer| SurveyItem { node: Arc::from(from), source: Source::Cluster, answer };
    let survey = vec![
        answers("n1", SurveyAnswer::Found(found(b"x"))),
        answers("n2", SurveyAnswer::Link(link_met())),
        answers("n3", SurveyAnswer::Absent { not_context: true, resolved: 2 }),
        answers("n4", SurveyAnswer::Silent),
    ];
    let many = vec![
        ManyItem::Found { content: content(), version: Some(Version { actor: u128::MAX, sequence: 200 }) },
        ManyItem::Link(Box::new(link_met())),
        ManyItem::Absent { not_context: true, resolved: 2 },
        ManyItem::Unknown { answered: vec![Arc::from("n1")], silent: vec![Arc::from("n2")] },
        ManyItem::Fault(Box::new(fault(ErrorKind::InvalidName, "bad"))),
    ];
    let report = Report {
        conflicts: Vec::new(),
        mismatches: vec![ReportItem { name: "a".to_owned(), answers: vec![found(b"1"), found(b"2")] }],
        hidden: Vec::new(),
    };
    let status = NodeStatus {
        introduction: introduction(),
        view: view(&[1]),
        cluster_names: 1,
        local_names: 200,
        connections: 3,
        requests: 70_000,
        uptime: 5,
        warnings: vec!["look".to_owned()],
        settings: vec![Setting { name: "listen".to_owned(), value: "h:1".to_owned(), source: "flag".to_owned() }],
        copy: TreeCopy { writes: 300, seen: 1, digest: u64::MAX, conflicts: 2, lagging: vec![Arc::from("n2")] },
    };
    let done = |answer| Reply::Done(answer);
    vec![
        ("found", done(Answer::Found(found(b"orders")))),
        ("link", done(Answer::Link(link_met()))),
        ("many", done(Answer::Many(many.into_iter().collect()))),
        ("survey", done(Answer::Survey(survey))),
        ("page", done(Answer::Page(Page { entries: vec![listed()], more: true }))),
        ("written", done(Answer::Written(written()))),
        ("removed", done(Answer::Removed { existed: false, written: written() })),
        ("report", done(Answer::Report(report))),
        ("status", done(Answer::Status(Box::new(status)))),
        ("accepted", done(Answer::Accepted)),
        ("gossip", done(Answer::Gossip(gossip()))),
        ("watched", done(Answer::Watched(watched()))),
        ("fault", Reply::Failed(full_fault())),
        ("joining", Reply::Failed(refused(RefusalReason::Joining))),
        ("quiescing", Reply::Failed(refused(RefusalReason::Quiescing))),
        ("overloaded", Reply::Failed(refused(RefusalReason::Overloaded))),
        ("closed", Reply::Failed(refused(RefusalReason::Closed))),
        ("behind", Reply::Failed(refused(RefusalReason::Behind))),
        ("waking", Reply::Failed(refused(RefusalReason::Waking))),
        ("stale", Reply::Stale(Box::new(done(Answer::Found(found(b"orders")))))),
        ("stale_fault", Reply::Stale(Box::new(Reply::Failed(fault(ErrorKind::NameNotFound, "no such name"))))),
    ]
}

#[test]
fn hellos() {
    let role = Role::Peer { introduction: introduction(), channel: Channel::Control };
    for (name, hello) in [("client", hello()), ("peer", Hello::new(role, None))] {
        let bytes = encoded(|out| hello.encode(out, limits()).unwrap());
        insta::assert_snapshot!(format!("hello_{name}"), hex(&bytes));
        assert_eq!(Hello::decode(&whole(&bytes)), Ok(hello));
    }
}

#[test]
fn welcomes() {
    let refusal = fault(ErrorKind::Configuration, "other cluster");
    for (name, answer) in [("taken", Ok(welcome())), ("refused", Err(refusal))] {
        let bytes = encoded(|out| Welcome::encode_answer(&answer, out, limits()).unwrap());
        insta::assert_snapshot!(format!("welcome_{name}"), hex(&bytes));
        let frame = whole(&bytes);
        assert_eq!(Welcome::decode_answer(frame.header.kind, frame.header.flags, &frame.body), Ok(answer));
    }
}

#[test]
fn every_request() {
    for (index, (name, request)) in requests().into_iter().enumerate() {
        let id = u64::try_from(index).unwrap() + 1;
        let bytes = encoded(|out| request.encode(out, id, limits()).unwrap());
        insta::assert_snapshot!(format!("request_{name}"), hex(&bytes));
        let frame = whole(&bytes);
        assert_eq!((frame.header.kind, frame.header.request_id), (FrameKind::Request, id));
        assert_eq!(frame.header.flags, request.operation.code());
        assert!(Operation::is_known(frame.header.flags));
        assert_eq!(decode_body(FrameKind::Request, &frame.body), Ok(request));
    }
}

#[test]
fn every_reply() {
    for (name, reply) in replies() {
        let bytes = encoded(|out| reply.encode(out, u64::MAX, limits()).unwrap());
        insta::assert_snapshot!(format!("reply_{name}"), hex(&bytes));
        let frame = whole(&bytes);
        assert_eq!((frame.header.kind, frame.header.request_id), (FrameKind::Reply, u64::MAX));
        assert_eq!(Reply::decode(frame.header.flags, &frame.body), Ok(reply));
    }
}

#[test]
fn pushed_views() {
    let mut joining = member("n2", 2);
    joining.state = MemberState::Joining;
    let mut quiescing = member("n3", 3);
    quiescing.state = MemberState::Quiescing;
    let view = View::new("default", None, vec![member("n1", 1), joining, quiescing]);
    let bytes = encoded(|out| encode_frame(out, FrameKind::View, 0, 0, &view, limits()).unwrap());
    insta::assert_snapshot!("view", hex(&bytes));
    assert_eq!(decode_body(FrameKind::View, &whole(&bytes).body), Ok(view));
}

#[test]
fn what_was_seen() {
    let brought = Brought { seen: seen(), is_here: true };
    let bytes = encoded(|out| brought.encode(out, limits()).unwrap());
    insta::assert_snapshot!("brought", hex(&bytes));
    assert_eq!(decode_body(FrameKind::Seen, &whole(&bytes).body), Ok(brought));
}

/// The numbers that stand on the wire are never reused.
#[test]
fn numbers() {
    let mut table = String::new();
    for code in 0..=16 {
        writeln!(table, "error {code} {:?}", ErrorKind::from_code(code)).unwrap();
    }
    for number in 0..=8 {
        writeln!(table, "frame {number} {:?}", FrameKind::from_u8(number)).unwrap();
    }
    for (name, request) in requests() {
        writeln!(table, "operation {} {name}", request.operation.code()).unwrap();
    }
    insta::assert_snapshot!("numbers", table);
}
