//! The shared link: many requests on one connection, and the phase of every way in which one breaks.

use std::time::Duration;

use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Answer, Decoder, FrameKind, Operation, Outcome, ProtocolError, Reply, decode_body};
use hanaming::topology::Endpoint;
use hanaming::transport::link::Link;
use hanaming::transport::tcp::TcpNetwork;
use hanaming::transport::{BoxFuture, BoxListener, BoxStream, Network, TransportError, TransportErrorKind as Kind};

use super::fixtures::{
    LONG, SHORT, done, endless, fault, found, hello, limits, lookup, refusal_bytes, reply_bytes, view, view_bytes, welcome,
    welcome_bytes,
};
use super::scripted::{Server, Step, nobody};

async fn open(server: &Server) -> Link {
    let (link, greeting) = Link::open(&TcpNetwork, &server.endpoint(), hello(), limits(), LONG).await.unwrap();
    assert_eq!(greeting, welcome());
    link
}

async fn opened(to: Endpoint, within: Duration) -> TransportError {
    Link::open(&TcpNetwork, &to, hello(), limits(), within).await.unwrap_err()
}

/// One request to a server that welcomes, takes the request and then does `steps`.
async fn broken_by(steps: &[Step], within: Duration) -> TransportError {
    let mut script = vec![Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1)];
    script.extend_from_slice(steps);
    let server = Server::start(script);
    open(&server).await.ask(lookup("orders"), within).await.unwrap_err()
}

#[tokio::test]
async fn many_requests_share_a_connection_and_replies_find_their_askers() {
    let replies = (1..=64_u64).rev().map(|id| {
        let value: &'static [u8] = Box::leak(id.to_string().into_bytes().into_boxed_slice());
        Step::Send(reply_bytes(&Reply::Done(Answer::Found(found(value))), id))
    });
    let mut script = vec![Step::Take(1), Step::Send(welcome_bytes()), Step::Take(64)];
    script.extend(replies);
    let server = Server::start(script);
    let link = open(&server).await;
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let link = link.clone();
        asked.spawn(async move { link.ask(lookup("a"), LONG).await.unwrap() });
    }
    let mut values: Vec<u64> = Vec::new();
    while let Some(reply) = asked.join_next().await {
        let Reply::Done(Answer::Found(found)) = reply.unwrap() else { panic!("an answer") };
        values.push(std::str::from_utf8(&found.content.value).unwrap().parse().unwrap());
    }
    values.sort_unstable();
    assert_eq!(values, (1..=64).collect::<Vec<_>>());
    assert_eq!(server.frames().len(), 65);
}

#[tokio::test]
async fn connecting_is_refused() {
    assert_eq!(opened(nobody().into(), LONG).await, TransportError::new(Phase::Connect, Kind::Refused));
}

#[tokio::test]
async fn a_host_without_an_address() {
    let error = opened(Endpoint::new("no-such-host.invalid", 1), LONG).await;
    assert_eq!(error.phase, Phase::Resolve);
    assert!(matches!(error.kind, Kind::Resolution(_)), "{error:?}");
}

#[tokio::test]
async fn the_handshake_breaks() {
    let server = Server::start([Step::Take(1)]);
    assert_eq!(opened(server.endpoint(), LONG).await, TransportError::new(Phase::Handshake, Kind::Lost));
    let server = Server::start([Step::Take(1), Step::Stay]);
    assert_eq!(opened(server.endpoint(), SHORT).await, TransportError::new(Phase::Handshake, Kind::TimedOut(SHORT)));
    let server = Server::start([Step::Take(1), Step::Send(refusal_bytes())]);
    let error = opened(server.endpoint(), LONG).await;
    assert_eq!((error.phase, error.to_string().as_str()), (Phase::Handshake, "refused: this is cluster 'b'"));
    let server = Server::start([Step::Take(1), Step::Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())]);
    let error = opened(server.endpoint(), LONG).await;
    assert_eq!(error, TransportError::new(Phase::Handshake, Kind::Protocol(ProtocolError::Version(b'2'))));
}

#[tokio::test]
async fn closed_or_reset_after_the_request() {
    assert_eq!(broken_by(&[], LONG).await, TransportError::new(Phase::Wait, Kind::Lost));
    assert_eq!(broken_by(&[Step::Reset], LONG).await, TransportError::new(Phase::Wait, Kind::Lost));
}

#[tokio::test]
async fn half_a_header() {
    let half = reply_bytes(&done(), 1)[..15].to_vec();
    assert_eq!(broken_by(&[Step::Send(half)], LONG).await, TransportError::new(Phase::Wait, Kind::Lost));
}

#[tokio::test]
async fn a_header_without_its_whole_body_tells_the_outcome() {
    let failed = Reply::Failed(fault(ErrorKind::NameAlreadyBound, "taken"));
    for (reply, outcome) in [(done(), Outcome::Done), (failed, Outcome::Failed(ErrorKind::NameAlreadyBound))] {
        let part = reply_bytes(&reply, 1)[..17].to_vec();
        let lost = broken_by(&[Step::Send(part.clone())], LONG).await;
        assert_eq!(lost, TransportError { phase: Phase::Receive, kind: Kind::Lost, outcome: Some(outcome) });
        let late = broken_by(&[Step::Send(part), Step::Stay], SHORT).await;
        assert_eq!(late, TransportError { phase: Phase::Receive, kind: Kind::TimedOut(SHORT), outcome: Some(outcome) });
    }
}

#[tokio::test]
async fn silence_leaves_the_link_and_a_late_reply_finds_nobody() {
    let script = [
        Step::Take(1),
        Step::Send(welcome_bytes()),
        Step::Take(1),
        Step::Await,
        Step::Send(reply_bytes(&done(), 1)),
        Step::Take(1),
        Step::Send(reply_bytes(&Reply::Done(Answer::Accepted), 2)),
        Step::Stay,
    ];
    let server = Server::start(script);
    let link = open(&server).await;
    let error = link.ask(lookup("a"), SHORT).await.unwrap_err();
    assert_eq!(error, TransportError::new(Phase::Wait, Kind::TimedOut(SHORT)));
    assert_eq!(error.completion(), CompletionStatus::Maybe);
    server.go();
    assert_eq!(link.ask(lookup("b"), LONG).await, Ok(Reply::Done(Answer::Accepted)));
    assert!(!link.is_closed());
}

#[tokio::test]
async fn a_body_that_cannot_be_read_spoils_its_own_request_alone() {
    let mut unreadable = reply_bytes(&done(), 1);
    unreadable[16..].fill(0xFF);
    let script = [
        Step::Take(1),
        Step::Send(welcome_bytes()),
        Step::Take(1),
        Step::Send(unreadable),
        Step::Take(1),
        Step::Send(reply_bytes(&done(), 2)),
        Step::Stay,
    ];
    let server = Server::start(script);
    let link = open(&server).await;
    let error = link.ask(lookup("a"), LONG).await.unwrap_err();
    assert_eq!(error.phase, Phase::Receive);
    assert_eq!(error.outcome, Some(Outcome::Done));
    assert_eq!(link.ask(lookup("b"), LONG).await, Ok(done()));
}

#[tokio::test]
async fn a_frame_out_of_place_ends_the_link() {
    let server =
        Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1), Step::Send(welcome_bytes()), Step::Stay]);
    let link = open(&server).await;
    let error = link.ask(lookup("a"), LONG).await.unwrap_err();
    assert_eq!(error, TransportError::new(Phase::Wait, Kind::Protocol(ProtocolError::OutOfPlace("welcome"))));
    assert!(link.is_closed());
    assert_eq!(link.ask(lookup("a"), LONG).await.unwrap_err().phase, Phase::Send);
}

/// Invariant 11.
#[tokio::test]
async fn what_did_not_leave_completely_did_not_run() {
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1), Step::Await]);
    let link = open(&server).await;
    let written = tokio::spawn({
        let link = link.clone();
        async move { link.ask(lookup("written"), LONG).await.unwrap_err() }
    });
    tokio::task::yield_now().await;
    // Half of this one is written, then the server takes no more.
    let patience = Duration::from_millis(600);
    let stuck = tokio::spawn({
        let link = link.clone();
        async move { link.ask(endless(), patience).await.unwrap_err() }
    });
    tokio::task::yield_now().await;
    // This one waits behind it: nothing of it is written, and nothing will be.
    let behind = link.ask(lookup("behind"), SHORT).await.unwrap_err();
    assert_eq!(behind, TransportError::new(Phase::Send, Kind::TimedOut(SHORT)));
    assert!(!link.is_closed());
    let stuck = stuck.await.unwrap();
    assert_eq!(stuck, TransportError::new(Phase::Send, Kind::TimedOut(patience)));
    // What is reported as not run must not arrive whole later: the link has ended, and with it the first request.
    let written = written.await.unwrap();
    assert_eq!(written, TransportError::new(Phase::Wait, Kind::Lost));
    assert!(link.is_closed());
    server.go();
    assert_eq!(server.frames().len(), 2);
}

#[tokio::test]
async fn a_request_too_long_for_a_frame_harms_nobody() {
    let server = Server::start([
        Step::Take(1),
        Step::Send(welcome_bytes()),
        Step::Take(1),
        Step::Send(reply_bytes(&done(), 2)),
        Step::Stay,
    ]);
    let link = open(&server).await;
    let error = link.ask(lookup(&"x".repeat(limits().frame)), LONG).await.unwrap_err();
    assert!(matches!(error.kind, Kind::Protocol(ProtocolError::MessageTooLong { .. })));
    assert_eq!(error.phase, Phase::Send);
    assert_eq!(link.ask(lookup("a"), LONG).await, Ok(done()));
}

/// Invariant 16.
#[tokio::test]
async fn pushed_views_are_seen() {
    let server = Server::start([
        Step::Take(1),
        Step::Send([welcome_bytes(), view_bytes(&view(&[1])), view_bytes(&view(&[1, 2, 3]))].concat()),
        Step::Stay,
    ]);
    let link = open(&server).await;
    let mut views = link.views();
    let seen = views.wait_for(|seen| seen.as_ref() == Some(&view(&[1, 2, 3])));
    assert!(tokio::time::timeout(LONG, seen).await.unwrap().is_ok());
}

#[tokio::test]
async fn the_connection_ends_with_the_last_handle() {
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1)]);
    let link = open(&server).await;
    let other = link.clone();
    drop(link);
    assert_eq!(other.ask(lookup("a"), LONG).await.unwrap_err().kind, Kind::Lost);
    tokio::time::timeout(LONG, other.closed()).await.unwrap();
    // A server that waits for the client's end sees it once the last handle is gone.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::from(listener.local_addr().unwrap());
    let (opened, accepted) = tokio::join!(Link::open(&TcpNetwork, &endpoint, hello(), limits(), LONG), async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&welcome_bytes()).await.unwrap();
        let mut hello = [0; 16];
        stream.read_exact(&mut hello).await.unwrap();
        stream
    });
    drop(opened.unwrap());
    let (mut accepted, mut rest) = (accepted, Vec::new());
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut accepted, &mut rest);
    tokio::time::timeout(LONG, ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_time_left_counts_the_wait_before_writing() {
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1), Step::Send(reply_bytes(&done(), 1))]);
    let mut request = lookup("a");
    request.time_left = u32::MAX;
    open(&server).await.ask(request, Duration::from_secs(2)).await.unwrap();
    let frames = server.frames();
    let sent: hanaming::protocol::Request = hanaming::protocol::decode_body(frames[1].header.kind, &frames[1].body).unwrap();
    assert!(sent.time_left <= 2_000_000 && sent.time_left > 1_500_000, "{}", sent.time_left);
    assert!(matches!(sent.operation, Operation::Lookup { .. }));
}

/// A network of one connection, whose buffer is as small as the test wants.
#[derive(Debug)]
struct OnePipe(std::sync::Mutex<Option<tokio::io::DuplexStream>>);

impl Network for OnePipe {
    fn connect<'a>(&'a self, _: &'a Endpoint) -> BoxFuture<'a, std::io::Result<BoxStream>> {
        let stream = self.0.lock().unwrap().take().expect("one connection");
        Box::pin(std::future::ready(Ok(Box::new(stream) as BoxStream)))
    }

    fn listen<'a>(&'a self, _: &'a Endpoint) -> BoxFuture<'a, std::io::Result<BoxListener>> {
        panic!("nobody listens here")
    }
}

/// What remains of a request that was dropped half written keeps the link's writer waiting: who asks next must not take
/// its place there and let both be forgotten.
#[tokio::test]
async fn a_request_behind_a_dropped_one_that_was_half_written_is_not_forgotten() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (near, mut far) = tokio::io::duplex(1024);
    let network = OnePipe(std::sync::Mutex::new(Some(near)));
    let to = Endpoint::new("far", 1);
    let mut frames = Decoder::new(limits());
    let (opened, ()) = tokio::join!(Link::open(&network, &to, hello(), limits(), LONG), async {
        while frames.next_frame().unwrap().is_none() {
            far.read_buf(frames.buffer()).await.unwrap();
        }
        far.write_all(&welcome_bytes()).await.unwrap();
    });
    let (link, _) = opened.unwrap();
    let half_written = lookup(&"x".repeat(5000));
    assert!(tokio::time::timeout(SHORT, link.ask(half_written, LONG)).await.is_err());
    let behind = tokio::spawn(async move { link.ask(lookup("behind"), LONG / 2).await });
    tokio::time::sleep(SHORT).await;
    let mut taken = 0;
    while taken < 2 {
        match frames.next_frame().unwrap() {
            Some(_) => taken += 1,
            None => assert!(far.read_buf(frames.buffer()).await.unwrap() > 0, "the link is closed"),
        }
    }
    far.write_all(&reply_bytes(&done(), 2)).await.unwrap();
    assert_eq!(behind.await.unwrap(), Ok(done()));
}

#[tokio::test]
async fn messages_are_told_in_order_and_nobody_waits_for_an_answer() {
    let script = [Step::Take(1), Step::Send(welcome_bytes()), Step::Take(4), Step::Send(reply_bytes(&done(), 1)), Step::Stay];
    let server = Server::start(script);
    let link = open(&server).await;
    assert_eq!(link.tell(&["one", "two"]), Ok(()));
    assert_eq!(link.tell(&["three"]), Ok(()));
    assert_eq!(link.ask(lookup("a"), LONG).await, Ok(done()));
    server.go();
    let frames = server.frames();
    let told: Vec<&str> = frames[1..4].iter().map(|frame| decode_body(frame.header.kind, &frame.body).unwrap()).collect();
    assert_eq!(told, ["one", "two", "three"]);
    assert!(frames[1..4].iter().all(|frame| frame.header.kind == FrameKind::Message && frame.header.request_id == 0));
}

#[tokio::test]
async fn who_takes_no_messages_is_told_no_more_than_is_good() {
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Stay]);
    let link = open(&server).await;
    let long = "x".repeat(limits().frame / 2);
    let full = (0..10_000).find_map(|_| link.tell(&[&long]).err());
    assert_eq!(full, Some(TransportError::new(Phase::Send, Kind::Full)));
    link.close();
    assert_eq!(link.tell(&["late"]), Err(TransportError::new(Phase::Send, Kind::Cancelled)));
}

#[tokio::test]
async fn who_tells_in_turn_waits_for_room_and_no_longer_than_the_link_lasts() {
    // More than what connections hold by themselves.
    const COUNT: usize = 100;
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Await, Step::Take(COUNT), Step::Stay]);
    let link = open(&server).await;
    let tell = |count: usize| {
        let (link, long) = (link.clone(), "x".repeat(256 << 10));
        tokio::spawn(async move {
            for _ in 0..count {
                link.tell_in_turn(&long).await?;
            }
            Ok(())
        })
    };
    let full = async || {
        while link.tell(&[""]) != Err(TransportError::new(Phase::Send, Kind::Full)) {
            tokio::task::yield_now().await;
        }
    };
    let telling = tell(COUNT);
    full().await;
    assert!(!telling.is_finished());
    server.go();
    assert_eq!(telling.await.unwrap(), Ok(()));
    let telling = tell(10_000);
    full().await;
    link.close();
    assert_eq!(telling.await.unwrap(), Err(TransportError::new(Phase::Send, Kind::Cancelled)));
}
