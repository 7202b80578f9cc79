//! The network in memory: each fault does what it says, and leaves the completion status that it should.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use hanaming::failure::Phase;
use hanaming::protocol::{Decoder, FrameKind, Operation, Reply, Request, Texts, Welcome};
use hanaming::topology::Endpoint;
use hanaming::transport::link::Link;
use hanaming::transport::memory::{MemoryNetwork, Mishap, Rule};
use hanaming::transport::{BoxListener, BoxStream, Network, TransportError, TransportErrorKind as Kind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::fixtures::{LONG, SHORT, done, hello, limits, lookup, welcome};

/// A server at `server:1` that welcomes and answers everything; it ends with the test's runtime.
async fn serve(network: &MemoryNetwork) -> Endpoint {
    let at = Endpoint::new("server", 1);
    let listener: BoxListener = network.host("server").listen(&at).await.unwrap();
    tokio::spawn(accept(listener));
    at
}

async fn accept(mut listener: BoxListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: BoxStream) {
    let mut decoder = Decoder::new(limits());
    loop {
        let mut out = BytesMut::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            match frame.header.kind {
                FrameKind::Hello => Welcome::encode_answer(&Ok(welcome()), &mut out, limits()).unwrap(),
                _ => done().encode(&mut out, frame.header.request_id, limits()).unwrap(),
            }
        }
        if stream.write_all(&out).await.is_err() || !matches!(stream.read_buf(decoder.buffer()).await, Ok(1..)) {
            return;
        }
    }
}

async fn connect(network: &Arc<dyn Network>, to: &Endpoint) -> Result<Link, TransportError> {
    Link::open(&**network, to, hello(), limits(), LONG).await.map(|(link, _)| link)
}

async fn ask(link: &Link, within: Duration) -> Result<Reply, TransportError> {
    link.ask(lookup("orders"), within).await
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_is_a_silence_and_the_next_arrives() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let link = connect(&network.host("client"), &at).await.unwrap();
    network.add(Rule::new(Mishap::Lose).kind(FrameKind::Reply).from("server").times(1));
    assert_eq!(ask(&link, SHORT).await, Err(TransportError::new(Phase::Wait, Kind::TimedOut(SHORT))));
    assert_eq!(ask(&link, SHORT).await, Ok(done()));
    assert_eq!(network.struck(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_silenced_connection_hangs_and_another_works() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let client = network.host("client");
    let link = connect(&client, &at).await.unwrap();
    network.add(Rule::new(Mishap::Silence).kind(FrameKind::Reply).times(1));
    for _ in 0..2 {
        assert_eq!(ask(&link, SHORT).await, Err(TransportError::new(Phase::Wait, Kind::TimedOut(SHORT))));
    }
    assert_eq!(ask(&connect(&client, &at).await.unwrap(), SHORT).await, Ok(done()));
}

#[tokio::test(start_paused = true)]
async fn a_reset_in_place_of_the_reply_or_of_the_request() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    for kind in [FrameKind::Reply, FrameKind::Request] {
        let link = connect(&network.host("client"), &at).await.unwrap();
        network.add(Rule::new(Mishap::Reset).kind(kind).times(1));
        assert_eq!(ask(&link, LONG).await, Err(TransportError::new(Phase::Wait, Kind::Lost)));
        assert!(link.is_closed());
    }
}

#[tokio::test(start_paused = true)]
async fn rules_choose_hosts_operations_and_chance() {
    let network = MemoryNetwork::new(7);
    let at = serve(&network).await;
    let link = connect(&network.host("client"), &at).await.unwrap();
    network.add(Rule::new(Mishap::Lose).from("nobody"));
    network.add(Rule::new(Mishap::Lose).to("nobody"));
    network.add(Rule::new(Mishap::Lose).operation(5));
    network.add(Rule::new(Mishap::Lose).operation(1).to("server").chance(0.3));
    let mut lost = 0;
    for _ in 0..1000 {
        lost += u64::from(ask(&link, SHORT).await.is_err());
    }
    assert_eq!(network.struck(), lost);
    assert!((250..350).contains(&lost), "{lost} of 1000");
}

#[tokio::test(start_paused = true)]
async fn delays_keep_the_order() {
    let network = MemoryNetwork::new(3);
    let at = serve(&network).await;
    let link = connect(&network.host("client"), &at).await.unwrap();
    network.add(Rule::new(Mishap::Delay(Duration::from_millis(10)..Duration::from_millis(50))).kind(FrameKind::Reply));
    let before = tokio::time::Instant::now();
    assert_eq!(ask(&link, LONG).await, Ok(done()));
    let took = before.elapsed();
    assert!(took >= Duration::from_millis(10) && took < Duration::from_millis(52), "{took:?}");
    assert!(ask(&link, Duration::from_millis(5)).await.is_err());
    assert_eq!(ask(&link, LONG).await, Ok(done()));
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_across_a_cut_arrives_after_healing() {
    for (from, to) in [("client", "server"), ("server", "client")] {
        let network = MemoryNetwork::new(1);
        let at = serve(&network).await;
        let client = network.host("client");
        let link = connect(&client, &at).await.unwrap();
        network.cut(from, to);
        assert_eq!(ask(&link, SHORT).await.unwrap_err().phase, Phase::Wait);
        let dialled = Link::open(&*client, &at, hello(), limits(), SHORT).await.unwrap_err();
        assert_eq!(dialled, TransportError::new(Phase::Connect, Kind::TimedOut(SHORT)));
        let waiting = tokio::spawn(async move { ask(&link, LONG).await });
        tokio::task::yield_now().await;
        network.heal();
        assert_eq!(waiting.await.unwrap(), Ok(done()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_partition_cuts_between_groups_alone() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    network.partition(&[&["a", "server"], &["b"]]);
    assert!(connect(&network.host("a"), &at).await.is_ok());
    assert!(connect(&network.host("outside"), &at).await.is_ok());
    let b = network.host("b");
    assert_eq!(Link::open(&*b, &at, hello(), limits(), SHORT).await.unwrap_err().phase, Phase::Connect);
}

#[tokio::test(start_paused = true)]
async fn a_frozen_host_accepts_and_is_silent() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let client = network.host("client");
    let link = connect(&client, &at).await.unwrap();
    network.freeze("server");
    let dialled = Link::open(&*client, &at, hello(), limits(), SHORT).await.unwrap_err();
    assert_eq!(dialled, TransportError::new(Phase::Handshake, Kind::TimedOut(SHORT)));
    assert_eq!(ask(&link, SHORT).await.unwrap_err().phase, Phase::Wait);
    network.thaw("server");
    assert_eq!(ask(&link, LONG).await, Ok(done()));
}

#[tokio::test(start_paused = true)]
async fn a_killed_host_resets_and_refuses_until_it_listens_again() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let client = network.host("client");
    let link = connect(&client, &at).await.unwrap();
    network.kill("server");
    assert_eq!(ask(&link, LONG).await.unwrap_err().kind, Kind::Lost);
    let refused = TransportError::new(Phase::Connect, Kind::Refused);
    assert_eq!(connect(&client, &at).await.unwrap_err(), refused);
    assert!(network.host("server").listen(&at).await.is_err());
    network.revive("server");
    assert_eq!(connect(&client, &at).await.unwrap_err(), refused);
    serve(&network).await;
    assert!(connect(&client, &at).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn resets_and_free_ports() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let link = connect(&network.host("client"), &at).await.unwrap();
    network.reset("client", "server");
    tokio::time::timeout(LONG, link.closed()).await.unwrap();
    let server = network.host("server");
    assert!(server.listen(&at).await.is_err(), "the port is taken");
    let one = server.listen(&Endpoint::new("server", 0)).await.unwrap();
    let other = server.listen(&Endpoint::new("server", 0)).await.unwrap();
    assert_ne!(one.endpoint(), other.endpoint());
    drop(one);
}

/// A frozen peer's buffer takes the first request whole; the two behind it wait on this side.
#[tokio::test(start_paused = true)]
async fn requests_that_wait_here_are_taken_back_when_they_time_out_or_are_dropped() {
    let network = MemoryNetwork::new(1);
    let at = serve(&network).await;
    let link = connect(&network.host("client"), &at).await.unwrap();
    network.freeze("server");
    let long = lookup(&"x".repeat(300_000));
    assert_eq!(link.ask(long, SHORT).await, Err(TransportError::new(Phase::Wait, Kind::TimedOut(SHORT))));
    network.add(Rule::new(Mishap::Reset).operation(2));
    let never = Request { operation: Operation::LookupMany { names: Texts::default() }, ..lookup("") };
    let timed_out = link.ask(never.clone(), SHORT).await;
    assert_eq!(timed_out, Err(TransportError::new(Phase::Send, Kind::TimedOut(SHORT))));
    assert!(tokio::time::timeout(SHORT, link.ask(never, LONG)).await.is_err());
    let waiting = tokio::spawn(async move { ask(&link, LONG).await });
    tokio::time::sleep(SHORT).await;
    network.thaw("server");
    assert_eq!(waiting.await.unwrap(), Ok(done()), "a request that was taken back would have reset the connection");
    assert_eq!(network.struck(), 0);
}
