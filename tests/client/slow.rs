//! A server that is there and slow, through the drivers that wait for one request at a time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use hanaming::client::{AsyncClient, Client, ClientConfig, Driver as _, Trail};
use hanaming::protocol::HEADER_LEN;
use hanaming::topology::Endpoint;

use crate::cluster::Cluster;
use crate::stage::{lookup, ms};

/// How long an attempt takes at first.
const ATTEMPT: Duration = ms(400);
/// How long the server thinks about a request.
const THINKS: Duration = ms(1000);

/// Carries bytes to a server and back: the welcome at once, what comes behind it later.
fn slow_relay(to: &Endpoint) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (endpoint, to) = (Endpoint::from(listener.local_addr().unwrap()), to.socket_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(near), Ok(far)) = (stream, TcpStream::connect(to)) else { return };
            let (mut from_near, mut to_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from_near, &mut to_far));
            thread::spawn(move || slowly(far, near));
        }
    });
    endpoint
}

fn slowly(mut from: TcpStream, mut into: TcpStream) {
    let mut header = [0; HEADER_LEN];
    if from.read_exact(&mut header).is_err() {
        return;
    }
    let mut body = vec![0; u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize];
    let _ = from.read_exact(&mut body).and_then(|()| into.write_all(&[&header[..], &body].concat()));
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        thread::park_timeout(THINKS);
        if into.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

/// Whether the name was found by the first attempt, in one of three lookups with a client of their own each: on a loaded
/// machine even the welcome may be late.
fn found_at_once(look: impl Fn(ClientConfig) -> Trail) -> bool {
    let cluster = Cluster::start(1);
    cluster.bind_everywhere("orders", 7);
    let slow = slow_relay(&cluster.endpoints()[0]);
    let config = ClientConfig { attempt_timeout: ATTEMPT, follow_views: false, ..ClientConfig::new(vec![slow]) };
    (0..3).any(|_| look(config.clone()).attempts().len() == 1)
}

#[test]
fn the_blocking_driver_waits_for_the_only_server() {
    assert!(found_at_once(|config| Client::new(config).unwrap().perform(lookup("orders"), None, &mut || false).unwrap().1));
}

#[test]
fn the_tokio_driver_waits_for_the_only_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(found_at_once(|config| {
        runtime.block_on(async { AsyncClient::new(config).unwrap().perform(lookup("orders"), None).await.unwrap().1 })
    }));
}
