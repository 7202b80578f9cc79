//! Frames and their bodies from any bytes, however they are cut into reads.

use bytes::BytesMut;
use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Listed, Source, Value, Version};
use hanaming::protocol::{
    Answer, Brought, Decoder, Fault, Found, Frame, FrameKind, Hello, Items, Limits, LinkMet, MAGIC, ManyItem, Mutation,
    Operation, OperationId, Page, PageRequest, Refusal, RefusalReason, Reply, Request, Role, Scope, TreeChoice, Welcome, Written,
    decode_body, encode_frame,
};
use hanaming::topology::View;

use crate::seeds::{Choice, damaged};

const LIMITS: Limits = Limits { frame: 4096 };

fn found() -> Found {
    Found {
        content: Value::from("value").to_content().unwrap(),
        source: Source::Peer,
        node: "n1".into(),
        version: Some(Version { actor: u128::MAX, sequence: 300 }),
        asked: vec!["n1".into(), "n2".into()],
    }
}

fn listed() -> Listed {
    let Found { content, source, node, version, .. } = found();
    Listed { component: "c".into(), content, source, node: node.clone(), version, sources: vec![(source, node)] }
}

fn requests() -> Vec<Request> {
    let content = found().content;
    let bind = Mutation::Bind { name: "a/b".into(), content, replace: true, create_parents: false, lease: Some(9) };
    let page = PageRequest { name: "a".into(), tree: TreeChoice::All, after: Some("x".into()), limit: 100, values: true };
    [
        Operation::Lookup { name: "a/b".into() },
        Operation::LookupMany { names: ["a", "b"].into_iter().collect() },
        Operation::List(page),
        Operation::Mutate(bind),
        Operation::Mutate(Mutation::Rename { from: "a".into(), to: "b".into() }),
        Operation::Status,
    ]
    .map(|operation| Request {
        time_left: 250_000,
        scope: Scope::Cluster,
        operation_id: Some(OperationId { client: 1 << 100, sequence: 5 }),
        is_retry: true,
        operation,
        known: Some(Box::default()),
    })
    .to_vec()
}

fn replies() -> Vec<Reply> {
    let link = LinkMet { at: "a".into(), target: "./b".into(), rest: "c".into(), found: found() };
    let written = Written { version: found().version, acked_by: vec!["n1".into()], live: 3, members: 3 };
    let fault = Fault {
        code: ErrorKind::ServiceUnavailable.code(),
        completion: CompletionStatus::No,
        message: "quiescing".into(),
        resolved_name: Some("a".into()),
        remaining_name: Some("b".into()),
        existing: Some(Box::new(listed())),
        answered: vec!["n1".into()],
        silent: vec!["n2".into()],
        partial: vec![listed()],
        refusal: Some(Refusal { reason: RefusalReason::Quiescing, retry_after: 100, view: Some(view()) }),
    };
    vec![
        Reply::Done(Answer::Found(found())),
        Reply::Done(Answer::Link(link.clone())),
        Reply::Done(Answer::Many(Items::from_iter([
            ManyItem::Found { content: found().content, version: found().version },
            ManyItem::Link(Box::new(link)),
            ManyItem::Absent { not_context: true, resolved: 1 },
        ]))),
        Reply::Done(Answer::Page(Page { entries: vec![listed()], more: true })),
        Reply::Done(Answer::Removed { existed: true, written }),
        Reply::Failed(fault),
    ]
}

fn view() -> View {
    View::new("default", None, vec![])
}

fn hello() -> Hello {
    Hello {
        magic: MAGIC,
        lowest: 1,
        highest: 1,
        features: 0,
        cluster: Some("default".into()),
        credentials: bytes::Bytes::from_static(b"room"),
        role: Role::Client { id: 7 },
    }
}

/// Whole frames of every kind.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut add = |write: &dyn Fn(&mut BytesMut)| {
        let mut out = BytesMut::new();
        write(&mut out);
        frames.push(out.to_vec());
    };
    for request in requests() {
        add(&|out| request.encode(out, 3, LIMITS).unwrap());
    }
    for reply in replies() {
        add(&|out| reply.encode(out, 3, LIMITS).unwrap());
    }
    add(&|out| encode_frame(out, FrameKind::Hello, 0, 1, &hello(), LIMITS).unwrap());
    add(&|out| encode_frame(out, FrameKind::View, 0, 0, &view(), LIMITS).unwrap());
    frames
}

/// The frames in a stream that comes in reads of `step` bytes, and how it ended.
fn cut(stream: &[u8], step: usize) -> (Vec<Frame>, bool) {
    let mut decoder = Decoder::new(LIMITS);
    let mut frames = Vec::new();
    for read in stream.chunks(step) {
        decoder.buffer().extend_from_slice(read);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return (frames, true),
            }
        }
    }
    (frames, false)
}

/// Reads a frame's body as its header says it is; what can be read can be written, and reads the same again.
fn check(frame: &Frame) {
    let Frame { header, body } = frame;
    assert_eq!(header.length, body.len());
    assert!(body.len() <= LIMITS.frame);
    let wide = Limits::default();
    let mut out = BytesMut::new();
    match header.kind {
        FrameKind::Request => {
            if let Ok(request) = decode_body::<Request>(header.kind, body) {
                request.encode(&mut out, header.request_id, wide).unwrap();
                let read: Request = decode_body(header.kind, &only(&out).body).unwrap();
                assert_eq!(format!("{read:?}"), format!("{request:?}"));
            }
        }
        FrameKind::Reply => {
            if let Ok(reply) = Reply::decode(header.flags, body) {
                reply.encode(&mut out, header.request_id, wide).unwrap();
                let Frame { header, body } = only(&out);
                let read = Reply::decode(header.flags, &body).unwrap();
                assert_eq!(format!("{read:?}"), format!("{reply:?}"));
            }
        }
        FrameKind::Hello => drop(decode_body::<Hello>(header.kind, body)),
        FrameKind::Welcome => drop(decode_body::<Welcome>(header.kind, body)),
        FrameKind::View => drop(decode_body::<View>(header.kind, body)),
        FrameKind::Seen => drop(decode_body::<Brought>(header.kind, body)),
        // Its body is of the engines, which read it themselves.
        FrameKind::Message => {}
    }
}

/// The one frame in a stream of our own, which may be longer than the limit that strangers have.
fn only(stream: &[u8]) -> Frame {
    let mut decoder = Decoder::new(Limits::default());
    decoder.buffer().extend_from_slice(stream);
    decoder.next_frame().unwrap().unwrap()
}

#[test]
fn sound_frames_come_through() {
    let stream = frames().concat();
    for step in [1, 7, stream.len()] {
        let (cut, broken) = cut(&stream, step);
        assert!(!broken);
        assert_eq!(cut.len(), frames().len());
        cut.iter().for_each(check);
    }
    let (cut, _) = cut(&stream, stream.len());
    assert_eq!(decode_body::<Request>(FrameKind::Request, &cut[0].body).unwrap(), requests()[0]);
    assert_eq!(Reply::decode(cut[6].header.flags, &cut[6].body).unwrap(), replies()[0]);
}

#[test]
fn any_stream_gives_frames_or_an_error() {
    bolero::check!().with_iterations(5000).for_each(|stream: &[u8]| {
        let (whole, broken) = cut(stream, stream.len().max(1));
        whole.iter().for_each(check);
        assert_eq!(cut(stream, 1), (whole, broken), "the reads do not matter");
    });
}

#[test]
fn damaged_frames_give_frames_or_an_error() {
    let sound = frames();
    bolero::check!().with_iterations(20_000).with_type::<Choice>().for_each(|choice| {
        let stream = damaged(&sound, choice);
        let (frames, _) = cut(&stream, 5);
        frames.iter().for_each(check);
    });
}

/// The bodies without their frames, so that damage meets the decoder of bodies alone.
#[test]
fn damaged_bodies_are_read_or_refused() {
    let sound: Vec<(u16, Vec<u8>)> =
        cut(&frames().concat(), 4096).0.into_iter().map(|frame| (frame.header.flags, frame.body.to_vec())).collect();
    let bodies: Vec<Vec<u8>> = sound.iter().map(|(_, body)| body.clone()).collect();
    bolero::check!().with_iterations(20_000).with_type::<Choice>().for_each(|choice| {
        let body = damaged(&bodies, choice);
        let _ = decode_body::<Request>(FrameKind::Request, &body);
        for flags in [0, 1, sound[usize::from(choice.0) % sound.len()].0] {
            let _ = Reply::decode(flags, &body);
        }
    });
}
