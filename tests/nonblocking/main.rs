//! The driver for event loops that others turn, over real sockets: `client::nonblocking`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod busy;
mod exchange;
mod giving_up;
#[path = "../shared/hole.rs"]
mod hole;
mod in_process;
mod leaving;
mod lines;
mod phases;
mod scripted;
mod turning;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hanaming::client::ClientConfig;
use hanaming::client::invocation::{BindOptions, Invocation, Product};
use hanaming::client::nonblocking::{Base, Finished};
use hanaming::naming::{Content, Name, Value};
use hanaming::topology::Endpoint;

/// More than any call here needs.
const LONG: Duration = Duration::from_secs(5);
/// How long an attempt waits for its answer where a test is about answers that don't come. Elsewhere it waits for long: a
/// busy machine makes the best server slow.
const ATTEMPT: Duration = Duration::from_millis(300);

/// The base of drivers for these servers, in this order, that follows no views.
fn client(servers: &[SocketAddr]) -> Arc<Base> {
    Base::over_network(ClientConfig { follow_views: false, ..config(servers) }).unwrap()
}

fn config(servers: &[SocketAddr]) -> ClientConfig {
    let providers = servers.iter().copied().map(Endpoint::from).collect();
    ClientConfig { attempt_timeout: LONG, mutation_timeout: LONG, seed: Some(7), ..ClientConfig::new(providers) }
}

/// The same, with attempts that don't wait for long.
fn impatient(servers: &[SocketAddr]) -> ClientConfig {
    ClientConfig { attempt_timeout: ATTEMPT, mutation_timeout: ATTEMPT, follow_views: false, ..config(servers) }
}

fn lookup(name: &str) -> Invocation {
    Invocation::lookup(Name::parse(name).unwrap().into()).unwrap()
}

fn bind(name: &str, value: &Value) -> Invocation {
    Invocation::bind(Name::parse(name).unwrap().into(), value.to_content().unwrap(), BindOptions::default()).unwrap()
}

/// The content that a lookup found.
fn content(finished: &Finished<u32>) -> &Content {
    match &finished.result {
        Ok(Product::Found(located)) => &located.found.content,
        other => panic!("nothing was found: {other:?}"),
    }
}

/// Where each attempt went, how far it came and whether it ran: `127.0.0.1:1 connect NO`.
fn trail(finished: &Finished<u32>) -> Vec<String> {
    let attempts = finished.trail.attempts();
    attempts.iter().map(|attempt| format!("{} {} {}", attempt.target, attempt.phase, attempt.completion)).collect()
}
