//! What the engines of the cluster tree tell each other, in bytes: their shape, and what is taken of them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hanaming::cluster::history::{Digest, Event, Outcome};
use hanaming::cluster::message::{Message, Write};
use hanaming::cluster::obstacle::{Existing, Obstacle, Quota};
use hanaming::cluster::oplog::Horizons;
use hanaming::cluster::record::{Named, Record, Sibling};
use hanaming::cluster::replica::{Draft, Replica};
use hanaming::cluster::reply::{LinkOnWay, Receipt, Refusal, Reply, Uncertainty};
use hanaming::cluster::request::{Binding, Intent, Level, Request};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::stamp::Stamp;
use hanaming::cluster::sync::{Claim, Progress, SyncPart, SyncRequest, Unsettled};
use hanaming::cluster::vector::{Dot, Seen, Vector};
use hanaming::naming::{Content, EntryKind, Name, Value};
use hanaming::protocol::{Limits, OperationId};
use hanaming::topology::NodeId;
use rand::SeedableRng;
use rand::rngs::StdRng;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn dot(sequence: u64) -> Dot {
    Dot { actor: u128::MAX - 0xAA, sequence }
}

fn operation() -> OperationId {
    OperationId { client: u128::MAX - 0xBB, sequence: 7 }
}

fn vector() -> Vector {
    [dot(4)].into_iter().collect()
}

fn seen() -> Seen {
    let mut seen = Seen::from(vector());
    seen.add(dot(6));
    seen
}

fn sibling() -> Arc<Sibling> {
    Arc::new(Sibling {
        dot: dot(5),
        stamp: Stamp(300),
        created: Stamp(200),
        content: Content::link("x"),
        operation: operation(),
        writer: Arc::from("n1"),
        lease: Some(Duration::from_secs(10)),
    })
}

fn record() -> Arc<Record> {
    let digest = Digest { asked: 1, moved: 2 };
    let event = Event { dot: dot(5), operation: operation(), digest, stamp: Stamp(300), outcome: Outcome::Done };
    Arc::new(Record { siblings: vec![sibling()], last: vector(), coverage: vector(), history: vec![event].into() })
}

fn named() -> Vec<Named> {
    vec![Named { name: name("a/b"), record: record() }]
}

fn request(intent: Intent) -> Request {
    let (token, level, within) = (seen(), Level::AllLive, Duration::from_millis(1500));
    Request { operation: operation(), name: name("a/b"), intent, is_retry: true, token, level, within }
}

fn intents() -> Vec<Intent> {
    let binding = Binding { content: Content::link("x"), create_parents: true, lease: Some(Duration::from_secs(10)) };
    vec![
        Intent::Bind(binding.clone()),
        Intent::Rebind(binding),
        Intent::Unbind,
        Intent::Rename { to: name("c") },
        Intent::CreateSubcontext { create_parents: true },
        Intent::DestroySubcontext,
        Intent::ResolveConflict { keep: Some(dot(5)) },
        Intent::Renew { version: dot(5) },
        Intent::Release { version: dot(5) },
    ]
}

fn replies() -> Vec<Reply> {
    let receipt = || Receipt { acked_by: vec![NodeId(1), NodeId(2)], live: 3, members: 4 };
    let name = || name("a/b");
    let obstacles = [
        Obstacle::NotFound { name: name(), resolved: 1 },
        Obstacle::NotContext { name: name(), resolved: 1 },
        Obstacle::AlreadyBound { name: name(), existing: Existing::of(&sibling()) },
        Obstacle::NotEmpty { name: name(), child: name() },
        Obstacle::ContextMoves { name: name() },
        Obstacle::Superseded { name: name(), version: dot(5) },
        Obstacle::OverQuota { name: name(), quota: Quota::Names(9) },
        Obstacle::CameToNothing { name: name() },
    ];
    let definite = [
        Reply::Done { version: Some(dot(5)), receipt: receipt() },
        Reply::Link(LinkOnWay { at: name(), rest: name(), link: sibling() }),
        Reply::Refused(Refusal::Quiescing),
        Reply::Refused(Refusal::ReadOnly),
        Reply::Refused(Refusal::Overloaded),
        Reply::Unknown { reason: Uncertainty::TooFewHold, receipt: receipt() },
        Reply::Unknown { reason: Uncertainty::DiskFailed, receipt: receipt() },
        Reply::Misused,
    ];
    definite.into_iter().chain(obstacles.map(Reply::Obstructed)).collect()
}

fn part(records: Vec<Named>) -> SyncPart {
    let claim = Claim { seen: seen(), floor: vector(), horizons: Horizons::default() };
    SyncPart { session: 1, answer: 2, index: 0, total: 1, full: true, records, claim: Some(Arc::new(claim)) }
}

fn messages() -> Vec<Message> {
    let write = || Write { dot: dot(5), operation: Some(operation()), records: named() };
    let unsettled = vec![Unsettled { name: name("a/b"), dot: dot(5) }];
    let forwarded = |reply| Message::Forwarded { operation: operation(), reply, token: seen() };
    let others = [
        Message::Create(write()),
        Message::CreateHeld(dot(5)),
        Message::CreateObjection { dot: dot(5), records: named() },
        Message::CreateKnown { dot: dot(5), records: named() },
        Message::Write(write()),
        Message::Held(dot(5)),
        Message::Inquire(operation()),
        Message::Informed { operation: operation(), records: named(), is_forgotten: true },
        Message::Pull(SyncRequest { session: 1, seen: seen(), floor: vector(), unsettled }),
        Message::Part(part(named())),
        Message::CaughtUp(vector()),
        Message::Lagging,
        Message::Renewed { name: name("a/b"), version: dot(5) },
        Message::Suspended,
    ];
    let forwards = intents().into_iter().map(|intent| Message::Forward(request(intent)));
    forwards.chain(replies().into_iter().map(forwarded)).chain(others).collect()
}

fn bytes(message: &Message) -> Vec<u8> {
    postcard::to_allocvec(message).unwrap()
}

/// Where this changes, nodes of this version and of the one before no longer understand each other, and where a record
/// does, data folders have another format.
#[test]
fn the_bytes_of_each_message() {
    let mut text = String::new();
    for message in messages() {
        let kind = format!("{message:?}");
        let kind: String = kind.chars().take_while(|c| c.is_alphanumeric()).collect();
        write!(text, "{kind} ").unwrap();
        for byte in bytes(&message) {
            write!(text, "{byte:02x}").unwrap();
        }
        writeln!(text).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_said_is_heard() {
    for message in messages() {
        let bytes = bytes(&message);
        assert_eq!(postcard::from_bytes::<Message>(&bytes).unwrap(), message);
        for end in 0..bytes.len() {
            assert!(postcard::from_bytes::<Message>(&bytes[..end]).is_err(), "{message:?} cut at {end}");
        }
    }
}

#[test]
fn an_id_takes_its_sixteen_bytes() {
    assert_eq!(bytes(&Message::Held(dot(5))).len(), 1 + 16 + 1);
}

#[test]
fn a_name_is_one_that_an_operation_takes_or_nothing_is_heard() {
    let renewed = |text: &str| {
        let mut bytes = vec![bytes(&Message::Renewed { name: name("a"), version: dot(5) })[0]];
        bytes.extend(postcard::to_allocvec(text).unwrap());
        bytes.extend([0; 17]);
        postcard::from_bytes::<Message>(&bytes)
    };
    assert!(renewed("a/b").is_ok());
    for wrong in ["a//b".to_owned(), "x".repeat(1025), "a/".repeat(33) + "a", "a\\".to_owned()] {
        assert!(renewed(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_in_no_order_is_put_in_order() {
    let dots = [Dot { actor: 9, sequence: 1 }, Dot { actor: 3, sequence: 2 }, Dot { actor: 9, sequence: 4 }];
    let raw: Vec<([u8; 16], u64)> = dots.iter().map(|dot| (dot.actor.to_le_bytes(), dot.sequence)).collect();
    let vector: Vector = postcard::from_bytes(&postcard::to_allocvec(&raw).unwrap()).unwrap();
    assert_eq!(vector, dots.into_iter().collect());
    assert!(dots.iter().all(|dot| vector.covers(*dot)));
    let late = Arc::new(Sibling { dot: dot(9), ..Sibling::clone(&sibling()) });
    let disordered = Record { siblings: vec![late.clone(), sibling(), late], ..Record::clone(&record()) };
    let record: Record = postcard::from_bytes(&postcard::to_allocvec(&disordered).unwrap()).unwrap();
    assert!(record.siblings.iter().map(|sibling| sibling.dot).eq([dot(5), dot(9)]));
}

#[test]
fn the_parts_of_a_sync_fit_their_frames() {
    let new = |seed| {
        let rng = StdRng::seed_from_u64(seed);
        Replica::new(Arc::from("n"), Duration::from_secs(1), rng, Rules::ALL)
    };
    let (mut one, mut two) = (new(1), new(2));
    let value =
        Content { kind: EntryKind::Value, class_name: "bytes".into(), value: vec![7; Value::MAX_BYTES].into(), instance: None };
    for sequence in 1..=100 {
        let operation = OperationId { client: 1, sequence };
        one.write(Duration::ZERO, &name(&format!("n{sequence}")), Draft::of(operation, Some(value.clone())));
    }
    let (request, mut pull) = two.begin_pull();
    let parts = one.answer_pull(&request);
    assert!(parts.len() > 6, "{} parts", parts.len());
    let mut last = Progress::Waiting;
    for part in parts {
        let length = bytes(&Message::Part(part.clone())).len();
        assert!(length < Limits::default().frame / 4, "{length} bytes");
        last = two.take_part(Duration::ZERO, &mut pull, part);
    }
    assert_eq!(last, Progress::Complete { full: false });
    assert_eq!(one.digest(), two.digest());
}
