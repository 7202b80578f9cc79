//! What has left, and what hasn't: counted at the other end.
//!
//! The other end is deaf: it welcomes and then never reads, so that the kernel takes some bytes, and then no more.

use std::io::{ErrorKind as Io, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use hanaming::client::ClientConfig;
use hanaming::client::nonblocking::{Base, Finished};
use hanaming::failure::CompletionStatus;
use hanaming::naming::Value;
use hanaming::protocol::{Decoder, FrameKind, Limits};

use crate::scripted::{member, welcome};
use crate::turning::Turning;
use crate::{ATTEMPT, LONG, bind, config, lookup};

/// The other end.
struct Deaf {
    listener: TcpListener,
    streams: Vec<(TcpStream, Decoder)>,
}

fn deaf() -> (Deaf, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    (Deaf { listener, streams: Vec::new() }, address)
}

impl Deaf {
    /// Takes a connection, reads the hello that must come alone, and welcomes.
    fn welcome(&mut self, turning: &mut Turning) {
        turning.turn_until(|_| {
            let accepted = self.listener.accept().ok();
            self.streams.extend(accepted.map(|(stream, _)| (stream, Decoder::new(Limits::default()))));
            !self.streams.is_empty()
        });
        let (stream, decoder) = &mut self.streams[0];
        stream.set_nonblocking(true).unwrap();
        turning.turn_until(|_| {
            receive(stream, decoder);
            decoder.next_frame().unwrap().is_some_and(|frame| frame.header.kind == FrameKind::Hello)
        });
        let address = self.listener.local_addr().unwrap();
        let mut out = BytesMut::new();
        welcome(member("n1", address), vec![member("n1", address)], &mut out);
        stream.write_all(&out).unwrap();
    }

    /// Counts the whole requests that come, over all connections that were made, while the loop turns.
    fn all_that_leave(&mut self, turning: &mut Turning) -> usize {
        while let Ok((stream, _)) = self.listener.accept() {
            self.streams.push((stream, Decoder::new(Limits::default())));
        }
        let mut count = 0;
        for _ in 0..50 {
            count += self.whole_requests();
            turning.turn();
        }
        count
    }

    /// Counts the whole requests that have come, without waiting for more.
    fn whole_requests(&mut self) -> usize {
        let mut count = 0;
        for (stream, decoder) in &mut self.streams {
            stream.set_nonblocking(true).unwrap();
            receive(stream, decoder);
            while let Some(frame) = decoder.next_frame().unwrap() {
                count += usize::from(frame.header.kind == FrameKind::Request);
            }
        }
        count
    }
}

/// Reads what there is.
fn receive(stream: &mut TcpStream, decoder: &mut Decoder) {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => decoder.buffer().extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == Io::WouldBlock => return,
            Err(error) => panic!("{error}"),
        }
    }
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

#[test]
fn when_the_time_is_over() {
    let (mut deaf, address) = deaf();
    let mut turning = towards(address, ATTEMPT);
    let tokens = begin(&mut turning, 400, LONG / 10);
    deaf.welcome(&mut turning);
    let completions: Vec<_> = tokens.into_iter().map(|token| completion(&turning.wait(token))).collect();
    let maybe = count(&completions, CompletionStatus::Maybe);
    assert!(maybe > 0, "some have left");
    assert!(maybe < completions.len(), "24 MB are more than the socket buffers take");
    let now = turning.now();
    turning.driver.close(now);
    turning.carry_out();
    assert_eq!(deaf.all_that_leave(&mut turning), maybe, "exactly those that have left may have run");
}

#[test]
fn what_was_given_up_as_not_run_does_not_leave_afterwards() {
    let (mut deaf, address) = deaf();
    let mut turning = towards(address, LONG);
    // These leave, and are waited for.
    let waiting = begin(&mut turning, 10, LONG);
    deaf.welcome(&mut turning);
    let short = begin(&mut turning, 400, ATTEMPT);
    let completions: Vec<_> = short.into_iter().map(|token| completion(&turning.wait(token))).collect();
    let maybe = count(&completions, CompletionStatus::Maybe);
    assert!(count(&completions, CompletionStatus::No) > 0);
    // Now there is room: the bytes that come are those that were taken, and no others.
    assert_eq!(deaf.all_that_leave(&mut turning), waiting.len() + maybe);
    assert_eq!(turning.driver.under_way(), waiting.len());
}

#[test]
fn when_the_connection_is_lost() {
    let (mut deaf, address) = deaf();
    let mut turning = towards(address, LONG);
    let tokens = begin(&mut turning, 400, LONG);
    deaf.welcome(&mut turning);
    for _ in 0..20 {
        turning.turn();
    }
    let left = deaf.whole_requests();
    assert!(left > 0 && left < tokens.len());
    // What is tried again is refused.
    drop(deaf);
    let completions: Vec<_> = tokens.into_iter().map(|token| completion(&turning.wait(token))).collect();
    assert_eq!(count(&completions, CompletionStatus::Maybe), left);
    assert_eq!(count(&completions, CompletionStatus::No), completions.len() - left);
}

#[test]
fn when_the_caller_gives_up() {
    let (mut deaf, address) = deaf();
    let mut turning = towards(address, LONG);
    begin(&mut turning, 400, LONG);
    deaf.welcome(&mut turning);
    for _ in 0..20 {
        turning.turn();
    }
    let calls: Vec<_> = turning.driver.calls().map(|(id, _)| id).collect();
    let now = turning.now();
    let completions: Vec<_> =
        calls.into_iter().filter_map(|id| turning.driver.cancel(id, now)).map(|finished| completion(&finished)).collect();
    turning.carry_out();
    let left = deaf.all_that_leave(&mut turning);
    assert!(left > 0 && left < completions.len());
    assert_eq!(count(&completions, CompletionStatus::Maybe), left);
}

/// A read travels with the hello; a mutation waits for the welcome, and so is known not to have run where none comes.
#[test]
fn before_the_welcome_only_reads_leave() {
    let (mut deaf, address) = deaf();
    let mut turning = towards(address, ATTEMPT);
    let (_, read) = turning.begin(lookup("a"), LONG);
    let mutations = begin(&mut turning, 3, LONG / 10);
    let completions: Vec<_> = mutations.into_iter().map(|token| completion(&turning.wait(token))).collect();
    assert_eq!(count(&completions, CompletionStatus::No), 3);
    assert_eq!(deaf.all_that_leave(&mut turning), 1, "the lookup alone");
    let now = turning.now();
    assert_eq!(completion(&turning.driver.cancel(read, now).unwrap()), CompletionStatus::Maybe);
}
