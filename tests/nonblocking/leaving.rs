//! What has left, and what hasn't: counted at the other end.
//!
//! The other end is deaf: it never accepts, so that the kernel connects, takes some bytes, and then no more.

use std::io::{ErrorKind as Io, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use hanaming::client::ClientConfig;
use hanaming::client::nonblocking::{Base, Finished};
use hanaming::failure::CompletionStatus;
use hanaming::naming::Value;
use hanaming::protocol::{Decoder, FrameKind, Limits};

use crate::turning::Turning;
use crate::{ATTEMPT, LONG, bind, config};

fn deaf() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    (listener, address)
}

fn towards(address: SocketAddr, mutation_timeout: Duration) -> Turning {
    let config = ClientConfig { mutation_timeout, follow_views: false, ..config(&[address]) };
    Turning::new(Base::over_network(config).unwrap())
}

/// Begins so many binds, 60 kB each.
fn begin(turning: &mut Turning, count: usize, timeout: Duration) -> Vec<u32> {
    let value = Value::Bytes(vec![0; 60_000]);
    (0..count).map(|number| turning.begin(bind(&format!("x{number}"), &value), timeout).0).collect()
}

fn completion(finished: &Finished<u32>) -> CompletionStatus {
    finished.result.as_ref().unwrap_err().fields().completion
}

fn count(completions: &[CompletionStatus], wanted: CompletionStatus) -> usize {
    completions.iter().filter(|completion| **completion == wanted).count()
}

/// Counts the whole requests that have come, without waiting for more.
fn whole_requests(stream: &mut TcpStream, decoder: &mut Decoder) -> usize {
    stream.set_nonblocking(true).unwrap();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => decoder.buffer().extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == Io::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    let mut count = 0;
    while let Some(frame) = decoder.next_frame().unwrap() {
        count += usize::from(frame.header.kind == FrameKind::Request);
    }
    count
}

/// Counts the whole requests that come, over all connections that were made, while the loop turns.
fn all_that_leave(listener: &TcpListener, turning: &mut Turning) -> usize {
    let mut streams = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        streams.push((stream, Decoder::new(Limits::default())));
    }
    let mut count = 0;
    for _ in 0..50 {
        for (stream, decoder) in &mut streams {
            count += whole_requests(stream, decoder);
        }
        turning.turn();
    }
    count
}

#[test]
fn when_the_time_is_over() {
    let (listener, address) = deaf();
    let mut turning = towards(address, ATTEMPT);
    let tokens = begin(&mut turning, 400, LONG / 10);
    let completions: Vec<_> = tokens.into_iter().map(|token| completion(&turning.wait(token))).collect();
    let maybe = count(&completions, CompletionStatus::Maybe);
    assert!(maybe > 0, "some have left");
    assert!(maybe < completions.len(), "24 MB are more than the socket buffers take");
    let now = turning.now();
    turning.driver.close(now);
    turning.carry_out();
    assert_eq!(all_that_leave(&listener, &mut turning), maybe, "exactly those that have left may have run");
}

#[test]
fn what_was_given_up_as_not_run_does_not_leave_afterwards() {
    let (listener, address) = deaf();
    let mut turning = towards(address, LONG);
    // These leave, and are waited for.
    let waiting = begin(&mut turning, 10, LONG);
    let short = begin(&mut turning, 400, ATTEMPT);
    let completions: Vec<_> = short.into_iter().map(|token| completion(&turning.wait(token))).collect();
    let maybe = count(&completions, CompletionStatus::Maybe);
    assert!(count(&completions, CompletionStatus::No) > 0);
    // Now there is room: the bytes that come are those that were taken, and no others.
    assert_eq!(all_that_leave(&listener, &mut turning), waiting.len() + maybe);
    assert_eq!(turning.driver.under_way(), waiting.len());
}

#[test]
fn when_the_connection_is_lost() {
    let (listener, address) = deaf();
    let mut turning = towards(address, LONG);
    let tokens = begin(&mut turning, 400, LONG);
    for _ in 0..20 {
        turning.turn();
    }
    let (mut stream, _) = listener.accept().unwrap();
    // What is tried again is refused.
    drop(listener);
    let left = whole_requests(&mut stream, &mut Decoder::new(Limits::default()));
    drop(stream);
    let completions: Vec<_> = tokens.into_iter().map(|token| completion(&turning.wait(token))).collect();
    assert_eq!(count(&completions, CompletionStatus::Maybe), left);
    assert_eq!(count(&completions, CompletionStatus::No), completions.len() - left);
}

#[test]
fn when_the_caller_gives_up() {
    let (listener, address) = deaf();
    let mut turning = towards(address, LONG);
    begin(&mut turning, 400, LONG);
    for _ in 0..20 {
        turning.turn();
    }
    let calls: Vec<_> = turning.driver.calls().map(|(id, _)| id).collect();
    let now = turning.now();
    let completions: Vec<_> =
        calls.into_iter().filter_map(|id| turning.driver.cancel(id, now)).map(|finished| completion(&finished)).collect();
    turning.carry_out();
    let left = all_that_leave(&listener, &mut turning);
    assert!(left > 0 && left < completions.len());
    assert_eq!(count(&completions, CompletionStatus::Maybe), left);
}
