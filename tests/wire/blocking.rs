//! The blocking connection: what one exchange costs, and the phase of every way in which it breaks.

use std::time::{Duration, Instant};

use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::{FrameKind, Outcome, ProtocolError, Reply};
use hanaming::transport::blocking::Connection;
use hanaming::transport::{TransportError, TransportErrorKind as Kind};

use super::fixtures::{
    LONG, SHORT, done, endless, fault, hello, limits, lookup, refusal_bytes, reply_bytes, view, view_bytes, welcome_bytes,
};
use super::scripted::{Server, Step, nobody};

#[expect(clippy::disallowed_methods, reason = "the caller of a blocking connection has a clock")]
fn within(time: Duration) -> Instant {
    Instant::now() + time
}

fn open(server: &Server) -> Connection {
    Connection::open(server.address, &hello(), limits(), within(LONG)).unwrap()
}

/// One exchange with a server that takes hello and request and then does `steps`.
fn broken_by(steps: &[Step], time: Duration) -> TransportError {
    let mut script = vec![Step::Take(2)];
    script.extend_from_slice(steps);
    let server = Server::start(script);
    let mut connection = open(&server);
    let error = connection.exchange(&lookup("orders"), within(time)).unwrap_err();
    assert!(connection.is_stale(), "a connection that broke is not used again");
    assert_eq!(connection.exchange(&lookup("orders"), within(time)).unwrap_err().phase, Phase::Send);
    error
}

#[test]
fn hello_and_request_travel_together_and_replies_come_back() {
    let first = [welcome_bytes(), reply_bytes(&done(), 1)].concat();
    let server = Server::start([Step::Take(2), Step::Send(first), Step::Take(1), Step::Send(reply_bytes(&done(), 2))]);
    let mut connection = open(&server);
    assert!(connection.welcome().is_none());
    assert_eq!(connection.exchange(&lookup("a"), within(LONG)), Ok(done()));
    assert_eq!(connection.welcome().unwrap().introduction.member.name, "n1");
    assert_eq!(connection.take_view(), Some(view(&[1, 2])));
    assert_eq!(connection.take_view(), None);
    assert_eq!(connection.exchange(&lookup("b"), within(LONG)), Ok(done()));
    let frames = server.frames();
    let kinds: Vec<_> = frames.iter().map(|frame| (frame.header.kind, frame.header.request_id)).collect();
    assert_eq!(kinds, [(FrameKind::Hello, 0), (FrameKind::Request, 1), (FrameKind::Request, 2)]);
}

#[test]
fn refused() {
    let error = Connection::open(nobody(), &hello(), limits(), within(LONG)).unwrap_err();
    assert_eq!(error, TransportError::new(Phase::Connect, Kind::Refused));
    assert_eq!(error.completion(), CompletionStatus::No);
}

#[test]
fn closed_after_the_request() {
    let error = broken_by(&[], LONG);
    assert_eq!(error, TransportError::new(Phase::Wait, Kind::Lost));
    assert_eq!(error.completion(), CompletionStatus::Maybe);
}

#[test]
fn reset_after_the_request() {
    assert_eq!(broken_by(&[Step::Reset], LONG), TransportError::new(Phase::Wait, Kind::Lost));
}

#[test]
fn half_a_header() {
    let half = reply_bytes(&done(), 1)[..15].to_vec();
    let error = broken_by(&[Step::Send(welcome_bytes()), Step::Send(half)], LONG);
    assert_eq!(error, TransportError::new(Phase::Wait, Kind::Lost));
}

/// Invariant 11.
#[test]
fn a_header_without_its_whole_body_tells_the_outcome() {
    let refused = Reply::Failed(fault(ErrorKind::NameNotFound, "no such name"));
    for (reply, outcome) in [(done(), Outcome::Done), (refused, Outcome::Failed(ErrorKind::NameNotFound))] {
        let whole = reply_bytes(&reply, 1);
        for part in [16, whole.len() - 1] {
            let sends = [Step::Send(welcome_bytes()), Step::Send(whole[..part].to_vec())];
            let error = broken_by(&sends, LONG);
            assert_eq!(error, TransportError { phase: Phase::Receive, kind: Kind::Lost, outcome: Some(outcome) });
            assert_eq!(error.completion(), CompletionStatus::Yes);
            let silent = [sends.as_slice(), &[Step::Stay]].concat();
            let error = broken_by(&silent, SHORT);
            assert_eq!((error.phase, error.outcome), (Phase::Receive, Some(outcome)));
            assert!(matches!(error.kind, Kind::TimedOut(_)));
        }
    }
}

#[test]
fn silence() {
    let start = within(Duration::ZERO);
    let error = broken_by(&[Step::Send(welcome_bytes()), Step::Stay], SHORT);
    assert_eq!(error.phase, Phase::Wait);
    assert!(matches!(error.kind, Kind::TimedOut(allowed) if allowed <= SHORT && allowed > SHORT / 2), "{error:?}");
    let took = start.elapsed();
    assert!(took >= SHORT && took < SHORT + Duration::from_millis(500), "{took:?}");
}

#[test]
fn a_refused_hello_ran_nothing() {
    let error = broken_by(&[Step::Send(refusal_bytes())], LONG);
    assert_eq!(error.phase, Phase::Handshake);
    assert_eq!(error.to_string(), "refused: this is cluster 'b'");
}

#[test]
fn another_program_ran_nothing() {
    let error = broken_by(&[Step::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())], LONG);
    assert_eq!(error, TransportError::new(Phase::Handshake, Kind::Protocol(ProtocolError::Version(b'/'))));
    let error = broken_by(&[Step::Send(reply_bytes(&done(), 1))], LONG);
    assert_eq!(error, TransportError::new(Phase::Handshake, Kind::Protocol(ProtocolError::NotHanaming)));
}

/// A request that may not be repeated leaves only once the server took us.
#[test]
fn greeting_comes_before_the_request_where_that_was_asked_for() {
    let server = Server::start([Step::Take(1), Step::Send(welcome_bytes()), Step::Take(1), Step::Send(reply_bytes(&done(), 1))]);
    let mut connection = open(&server);
    for _ in 0..2 {
        assert_eq!(connection.greet(within(LONG), &mut || false), Ok(()), "a second time it's nothing");
    }
    assert!(connection.welcome().is_some());
    assert_eq!(connection.exchange(&lookup("a"), within(LONG)), Ok(done()));
}

#[test]
fn who_is_not_greeted_has_sent_no_request() {
    let http = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    for (steps, time, told) in [
        (vec![Step::Stay], SHORT, "no answer in"),
        (vec![], LONG, "connection lost"),
        (vec![Step::Send(welcome_bytes()[..20].to_vec())], LONG, "connection lost"),
        (vec![Step::Send(refusal_bytes())], LONG, "refused: this is cluster 'b'"),
        (vec![Step::Send(http)], LONG, "protocol"),
    ] {
        let server = Server::start([vec![Step::Take(1)], steps].concat());
        let mut connection = open(&server);
        let error = connection.greet(within(time), &mut || false).unwrap_err();
        assert_eq!((error.phase, error.completion()), (Phase::Handshake, CompletionStatus::No), "{error}");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(connection.greet(within(time), &mut || false).unwrap_err().phase, Phase::Handshake);
        drop(connection);
        assert_eq!(server.frames().len(), 1, "the hello alone");
    }
}

#[test]
fn a_request_that_did_not_leave_completely_did_not_run() {
    let server = Server::start([Step::Stay]);
    let mut connection = open(&server);
    let error = connection.exchange(&endless(), within(SHORT)).unwrap_err();
    assert_eq!(error.phase, Phase::Send);
    assert!(matches!(error.kind, Kind::TimedOut(_)));
    assert_eq!(error.completion(), CompletionStatus::No);
}

#[test]
fn a_request_that_is_too_long_leaves_the_connection_as_it_was() {
    let server = Server::start([Step::Take(2), Step::Send([welcome_bytes(), reply_bytes(&done(), 2)].concat())]);
    let mut connection = open(&server);
    let longest = "x".repeat(limits().frame + 1);
    let error = connection.exchange(&lookup(&longest), within(LONG)).unwrap_err();
    assert!(matches!(error.kind, Kind::Protocol(ProtocolError::MessageTooLong { .. })));
    assert_eq!(error.phase, Phase::Send);
    assert_eq!(connection.exchange(&lookup("a"), within(LONG)), Ok(done()));
}

#[test]
fn the_caller_can_give_up_while_it_waits() {
    let server = Server::start([Step::Take(2), Step::Stay]);
    let mut connection = open(&server);
    let start = within(Duration::ZERO);
    let mut asked = 0;
    let mut give_up = || {
        asked += 1;
        asked == 3
    };
    let error = connection.exchange_interruptible(&lookup("a"), within(LONG), &mut give_up).unwrap_err();
    assert_eq!(error, TransportError::new(Phase::Wait, Kind::Cancelled));
    let took = start.elapsed();
    assert!(took > Duration::from_millis(250) && took < Duration::from_millis(600), "asked every 100 ms: {took:?}");
}

#[test]
fn an_address_that_does_not_answer_is_left_in_time() {
    // A listener whose backlog is full drops further handshakes.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket2::SockRef::from(&listener).listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    let error = loop {
        match Connection::open(address, &hello(), limits(), within(SHORT)) {
            Ok(connection) => held.push(connection),
            Err(error) => break error,
        }
        assert!(held.len() < 64, "the backlog never fills");
    };
    assert_eq!(error.phase, Phase::Connect);
    assert!(matches!(error.kind, Kind::TimedOut(_)), "{error:?}");
    let mut asked = 0;
    let mut give_up = || {
        asked += 1;
        asked == 3
    };
    let error = Connection::open_interruptible(address, &hello(), limits(), within(LONG), &mut give_up).unwrap_err();
    assert_eq!(error, TransportError::new(Phase::Connect, Kind::Cancelled));
}

#[test]
fn staleness_is_seen_without_waiting() {
    let script = [
        Step::Take(2),
        Step::Send([welcome_bytes(), reply_bytes(&done(), 1)].concat()),
        Step::Await,
        Step::Send(view_bytes(&view(&[1, 2, 3]))),
        Step::Await,
    ];
    let server = Server::start(script);
    let mut connection = open(&server);
    assert!(!connection.is_stale(), "a new connection is fresh");
    connection.exchange(&lookup("a"), within(LONG)).unwrap();
    connection.take_view();
    assert!(!connection.is_stale());
    server.go();
    let limit = within(LONG);
    let pushed = loop {
        assert!(!connection.is_stale(), "a pushed view is no reason to leave");
        if let Some(view) = connection.take_view() {
            break view;
        }
        assert!(within(Duration::ZERO) < limit);
    };
    assert_eq!(pushed, view(&[1, 2, 3]));
    server.go();
    while !connection.is_stale() {
        assert!(within(Duration::ZERO) < limit);
    }
}

#[test]
fn what_nobody_asked_for_makes_a_connection_stale() {
    let replies = [welcome_bytes(), reply_bytes(&done(), 1)].concat();
    let server =
        Server::start([Step::Take(2), Step::Send(replies), Step::Await, Step::Send(reply_bytes(&done(), 1)), Step::Stay]);
    let mut connection = open(&server);
    connection.exchange(&lookup("a"), within(LONG)).unwrap();
    server.go();
    let limit = within(LONG);
    while !connection.is_stale() {
        assert!(within(Duration::ZERO) < limit);
    }
}

#[test]
fn long_replies_and_views_in_between() {
    let value: &'static [u8] = Box::leak(vec![7; 300_000].into_boxed_slice());
    let long = Reply::Done(hanaming::protocol::Answer::Found(super::fixtures::found(value)));
    let mut bytes = [welcome_bytes(), view_bytes(&view(&[4])), reply_bytes(&long, 1)].concat();
    bytes.extend(view_bytes(&view(&[5])));
    let pieces: Vec<Step> = bytes.chunks(9_973).map(|piece| Step::Send(piece.to_vec())).collect();
    let server = Server::start([vec![Step::Take(2)], pieces, vec![Step::Stay]].concat());
    let mut connection = open(&server);
    assert_eq!(connection.exchange(&lookup("a"), within(LONG)), Ok(long));
    assert!(connection.take_view().is_some());
}
