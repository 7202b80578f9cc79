//! A node of this process: answered at once, or from a thread of the node's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hanaming::client::nonblocking::Base;
use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Value};
use hanaming::protocol::{Refusal, RefusalReason, Reply, Request, Scope};
use hanaming::topology::Endpoint;
use hanaming::transport::{ReplyTo, Service};

use crate::scripted::{fault, found, looked_up, not_found};
use crate::turning::Turning;
use crate::{LONG, bind, content, lookup};

/// Knows `at once`; other lookups are answered from a thread, mutations never; refuses when it's told to.
#[derive(Default)]
struct Node {
    refusing: Mutex<Option<RefusalReason>>,
    asked: Mutex<Vec<Request>>,
    within: Mutex<Vec<Duration>>,
    threads: AtomicBool,
}

impl Service for Node {
    fn try_now(&self, request: &Request) -> Option<Reply> {
        if let Some(reason) = *self.refusing.lock().unwrap() {
            let mut refused = fault(ErrorKind::ServiceUnavailable, CompletionStatus::No);
            refused.refusal = Some(Refusal { reason, retry_after: 0, view: None });
            return Some(Reply::Failed(refused));
        }
        match &request.operation {
            hanaming::protocol::Operation::Lookup { name } if name == "at once" => Some(found("n1", b"at once")),
            hanaming::protocol::Operation::Lookup { name } if name == "nowhere" => Some(not_found()),
            _ => None,
        }
    }

    fn submit(&self, request: Request, within: Duration, reply_to: ReplyTo) {
        self.asked.lock().unwrap().push(request.clone());
        self.within.lock().unwrap().push(within);
        if request.operation_id.is_none() {
            self.threads.store(true, Ordering::SeqCst);
            thread::spawn(move || reply_to(found("n1", looked_up(&request).as_bytes())));
        }
    }

    fn name(&self) -> &'static str {
        "n1"
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::new("10.0.0.1", 1)
    }
}

fn turning() -> (Turning, Arc<Node>) {
    let node = Arc::new(Node::default());
    let service: Arc<dyn Service> = node.clone();
    (Turning::new(Base::in_process(service, Scope::Cluster, LONG)), node)
}

#[test]
fn what_the_node_knows_is_answered_before_submit_returns() {
    let (mut turning, node) = turning();
    let (token, _) = turning.begin(lookup("at once"), LONG);
    assert_eq!(turning.driver.under_way(), 0);
    assert_eq!(content(&turning.wait(token)).value, b"at once"[..]);
    assert_eq!(turning.call(lookup("nowhere"), LONG).result.unwrap_err().kind(), ErrorKind::NameNotFound);
    assert!(turning.watches_nothing(), "no other thread has anything to say");
    assert!(node.asked.lock().unwrap().is_empty());
}

#[test]
fn what_it_finds_out_comes_from_its_thread() {
    let (mut turning, node) = turning();
    let tokens: Vec<u32> = (0..100).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    for (number, token) in tokens.into_iter().enumerate() {
        let finished = turning.wait(token);
        assert_eq!(content(&finished).value, format!("x{number}").as_bytes());
        assert_eq!(finished.trail.attempts()[0].completion, CompletionStatus::Yes);
    }
    assert!(node.within.lock().unwrap().iter().all(|within| *within <= LONG && *within > LONG / 2));
    let now = turning.now();
    turning.driver.close(now);
    turning.carry_out();
    assert!(turning.watches_nothing());
}

#[test]
fn its_silence_is_maybe() {
    let (mut turning, _) = turning();
    let finished = turning.call(bind("a", &Value::Null), Duration::from_millis(50));
    let error = finished.result.unwrap_err();
    assert_eq!((error.kind(), error.fields().completion), (ErrorKind::TimeLimitExceeded, CompletionStatus::Maybe));
    let (_, id) = turning.begin(bind("a", &Value::Null), LONG);
    let now = turning.now();
    let given_up = turning.driver.cancel(id, now).unwrap().result.unwrap_err();
    assert_eq!(given_up.fields().completion, CompletionStatus::Maybe);
}

#[test]
fn its_leaving_is_final() {
    for (reason, kind) in
        [(RefusalReason::Quiescing, ErrorKind::ServiceUnavailable), (RefusalReason::Closed, ErrorKind::ContextClosed)]
    {
        let (mut turning, node) = turning();
        *node.refusing.lock().unwrap() = Some(reason);
        let error = turning.call(lookup("at once"), LONG).result.unwrap_err();
        assert_eq!((error.kind(), error.fields().completion), (kind, CompletionStatus::No));
        assert_eq!(turning.driver.under_way(), 0);
    }
}
