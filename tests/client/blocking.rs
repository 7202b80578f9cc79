//! The blocking driver: its sockets, its waits, and what ends them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hanaming::client::{Client, ClientConfig, Driver, Invocation, Product};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::Scope;
use hanaming::topology::Endpoint;

use crate::cluster::{Cluster, ask, bind_local, client, clock, look, until};
use crate::stage::{bind, lookup, ms, subject};

/// A port that takes connections and never says anything.
fn mute() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::from(listener.local_addr().unwrap());
    (listener, endpoint)
}

/// A port where nobody listens.
fn nobody() -> Endpoint {
    Endpoint::from(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

/// Carries bytes to a server and back, and counts connections.
fn relay(to: &Endpoint) -> (Endpoint, Arc<AtomicUsize>) {
    let (listener, endpoint) = mute();
    let (count, to) = (Arc::new(AtomicUsize::new(0)), to.socket_addr().unwrap());
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(near), Ok(far)) = (stream, TcpStream::connect(to)) else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            for (mut from, mut into) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        if into.write_all(&bytes[..count]).is_err() {
                            return;
                        }
                    }
                    let _ = into.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    (endpoint, count)
}

#[test]
fn calls_in_turn_share_one_connection_and_at_most_eight_are_kept() {
    let cluster = Cluster::start(1);
    bind_local(&cluster.nodes[0], "orders", 7);
    let (endpoint, connections) = relay(&cluster.nodes[0].endpoint());
    let config = ClientConfig { follow_views: false, ..ClientConfig::new(vec![endpoint]) };
    let client = Client::new(config).unwrap();
    for _ in 0..20 {
        assert_eq!(look(&client, "orders").unwrap(), 7);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    let barrier = std::sync::Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..200 {
                    look(&client, "orders").unwrap();
                }
            });
        }
    });
    until("no more than eight idle ones are kept", || cluster.nodes[0].status().connections <= 8);
    let before = connections.load(Ordering::SeqCst);
    assert!(before <= 16 * 200, "{before}");
    for _ in 0..20 {
        look(&client, "orders").unwrap();
    }
    assert_eq!(connections.load(Ordering::SeqCst), before);
}

#[test]
fn nothing_is_dialled_before_the_first_operation() {
    let (listener, endpoint) = mute();
    listener.set_nonblocking(true).unwrap();
    let client = client(vec![endpoint]);
    assert_eq!(client.targets().len(), 1);
    assert!(client.view().is_none());
    assert!(listener.accept().is_err(), "somebody dialled");
}

#[test]
fn where_nobody_listens_the_error_comes_within_half_a_second() {
    let client = client(vec![nobody(), nobody()]);
    // A loaded machine may hold one call up; it doesn't hold up all of five.
    let fastest = (0..5).map(|_| {
        let start = clock();
        let error = look(&client, "orders").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ServiceUnavailable);
        assert_eq!(error.fields().attempts.len(), 4);
        assert!(error.safe_to_retry());
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < ms(500), "{fastest:?}");
}

#[test]
fn a_mute_server_costs_one_attempt_and_is_left_out() {
    let cluster = Cluster::start(2);
    cluster.bind_everywhere("orders", 7);
    let (_listener, silent) = mute();
    let mut endpoints = cluster.endpoints();
    endpoints.insert(1, silent);
    let client = client(endpoints);
    let mut missed = Vec::new();
    for nth in 0..100 {
        let (product, trail) = client.perform(lookup("orders"), None, &mut || false).unwrap();
        assert!(matches!(product, Product::Found(_)));
        let attempts = trail.attempts();
        if attempts.len() > 1 {
            assert!(attempts[0].elapsed >= ms(240) && attempts[0].elapsed < ms(600), "{attempts:?}");
            missed.push(nth);
        }
    }
    assert!(!missed.is_empty() && missed.len() <= 3, "it's asked again by probes, not by calls: {missed:?}");
}

#[test]
fn a_caller_that_gives_up_is_let_go_and_told_what_is_known() {
    let (_listener, endpoint) = mute();
    // A lookup has left with the hello; a mutation waits for the welcome.
    for (invocation, completion) in [(bind("x"), CompletionStatus::No), (lookup("x"), CompletionStatus::Maybe)] {
        let client = Client::new(ClientConfig {
            attempt_timeout: Duration::from_secs(5),
            mutation_timeout: Duration::from_secs(5),
            ..ClientConfig::new(vec![endpoint.clone()])
        })
        .unwrap();
        let start = clock();
        let mut asked = 0;
        let error = client
            .perform(invocation, None, &mut || {
                asked += 1;
                start.elapsed() > ms(120)
            })
            .unwrap_err();
        assert!(start.elapsed() < ms(2000), "{:?}", start.elapsed());
        assert!(asked >= 2);
        assert_eq!(error.fields().completion, completion);
        assert!(error.to_string().contains("given up by the caller"), "{error}");
    }
}

#[test]
fn a_caller_that_waits_for_servers_can_give_up_too() {
    let client = client(vec![nobody()]);
    let start = clock();
    let wait_for = Invocation::wait_for(subject("orders")).unwrap();
    let error = client.perform(wait_for, Some(Duration::from_secs(10)), &mut || start.elapsed() > ms(300)).unwrap_err();
    assert!(start.elapsed() < ms(3000), "{:?}", start.elapsed());
    assert_eq!(error.fields().completion, CompletionStatus::No);
}

#[test]
fn close_ends_whoever_waits() {
    let (_listener, endpoint) = mute();
    let waiting_for_a_reply = ClientConfig { attempt_timeout: Duration::from_secs(5), ..ClientConfig::new(vec![endpoint]) };
    for (config, invocation) in [
        (waiting_for_a_reply, lookup("orders")),
        (ClientConfig::new(vec![nobody()]), Invocation::wait_for(subject("orders")).unwrap()),
    ] {
        let client = Client::new(config).unwrap();
        let waiter = client.clone();
        let (started, starts) = std::sync::mpsc::sync_channel(1);
        let thread = thread::spawn(move || {
            let mut once = Some(started);
            let outcome = waiter.perform(invocation, None, &mut || {
                if let Some(started) = once.take() {
                    let _ = started.send(());
                }
                false
            });
            (outcome.unwrap_err(), clock())
        });
        starts.recv_timeout(Duration::from_secs(5)).unwrap();
        let closed = clock();
        client.close();
        let (error, ended) = thread.join().unwrap();
        assert_eq!(error.kind(), ErrorKind::ContextClosed);
        assert!(ended - closed < ms(2000), "{:?}", ended - closed);
        assert_eq!(look(&client, "orders").unwrap_err().kind(), ErrorKind::ContextClosed);
    }
}

#[test]
fn a_local_context_asks_its_node_alone() {
    let cluster = Cluster::start(2);
    bind_local(&cluster.nodes[0], "here", 1);
    bind_local(&cluster.nodes[1], "there", 2);
    let local = Client::new(ClientConfig::local(&cluster.nodes[0].endpoint().to_string()).unwrap()).unwrap();
    assert_eq!(look(&local, "here").unwrap(), 1);
    assert_eq!(look(&local, "there").unwrap_err().kind(), ErrorKind::NameNotFound);
    assert_eq!(local.targets().len(), 1);
    assert!(matches!(ask(&local, bind("new")).unwrap(), Product::Written(_)));
    assert_eq!(look(&local, "new").unwrap(), 1);
    let start = clock();
    cluster.nodes[0].close();
    let error = look(&local, "here").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ServiceUnavailable, "it never fails over");
    assert!(start.elapsed() < Duration::from_secs(3));
    let whole = client(cluster.endpoints());
    assert_eq!(look(&whole, "there").unwrap(), 2);
}

#[test]
fn an_idle_connection_that_the_server_closed_is_not_missed() {
    let mut cluster = Cluster::start(1);
    bind_local(&cluster.nodes[0], "orders", 7);
    let local =
        Client::new(ClientConfig { scope: Scope::Local, follow_views: false, ..ClientConfig::new(cluster.endpoints()) }).unwrap();
    assert_eq!(look(&local, "orders").unwrap(), 7);
    cluster.restart(0);
    bind_local(&cluster.nodes[0], "orders", 8);
    let (product, trail) = local.perform(lookup("orders"), None, &mut || false).unwrap();
    assert!(matches!(product, Product::Found(_)));
    let attempts = trail.attempts();
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert!(attempts[0].why_next.as_deref().unwrap().contains("a fresh one"));
    // A mutation looks first: it's sent once, on a connection that lives.
    cluster.restart(0);
    let (_, trail) = local.perform(bind("x"), None, &mut || false).unwrap();
    assert_eq!(trail.len(), 1);
    assert_eq!(trail.attempts()[0].phase, Phase::Answer);
}

#[test]
fn host_names_are_resolved_in_the_background() {
    let cluster = Cluster::start(1);
    bind_local(&cluster.nodes[0], "orders", 7);
    let named = client(vec![Endpoint::new("localhost", cluster.nodes[0].endpoint().port())]);
    assert!(named.targets().is_empty());
    assert_eq!(look(&named, "orders").unwrap(), 7);
    assert!(named.targets().iter().any(|(target, _)| &*target.hostname == "localhost"));
    let unknown = client(vec![Endpoint::new("no-such-host.invalid", 1)]);
    let error = unknown.perform(lookup("x"), Some(Duration::from_secs(10)), &mut || false).unwrap_err();
    assert_eq!(error.fields().attempts[0].phase, Phase::Resolve, "{error}");
    assert_eq!(error.fields().attempts[0].target, "no-such-host.invalid:1");
}

#[test]
fn who_waits_for_a_host_name_is_woken_when_it_is_known() {
    let cluster = Cluster::start(1);
    bind_local(&cluster.nodes[0], "orders", 7);
    let fastest = (0..5).map(|_| {
        let named = client(vec![Endpoint::new("localhost", cluster.nodes[0].endpoint().port())]);
        let start = clock();
        look(&named, "orders").unwrap();
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < ms(80), "looking again every 100 ms is no waking: {fastest:?}");
}

#[test]
fn a_wrong_cluster_says_so() {
    let cluster = Cluster::start(1);
    let config = ClientConfig { cluster: Some("other".into()), ..ClientConfig::new(cluster.endpoints()) };
    let error = look(&Client::new(config).unwrap(), "orders").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    assert!(error.to_string().contains("other"), "{error}");
}

/// Runs in a process of its own: what it does to the process's generation would disturb other tests' clients.
#[test]
#[ignore = "run by `a_forked_child_begins_anew`"]
fn as_if_in_a_forked_child() {
    let cluster = Cluster::start(1);
    bind_local(&cluster.nodes[0], "orders", 7);
    let (endpoint, connections) = relay(&cluster.nodes[0].endpoint());
    let client = Client::new(ClientConfig { follow_views: false, ..ClientConfig::new(vec![endpoint, nobody()]) }).unwrap();
    for _ in 0..4 {
        assert_eq!(look(&client, "orders").unwrap(), 7);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    hanaming::client::fork::in_child();
    for _ in 0..4 {
        assert_eq!(look(&client, "orders").unwrap(), 7);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2, "the parent's socket is not used");
    // The parent's keeper is gone with its thread: the child's own one probes.
    let cluster_of_two = Cluster::start(2);
    cluster_of_two.bind_everywhere("orders", 7);
    let failing = Client::new(ClientConfig::new(vec![Endpoint::new("localhost", cluster_of_two.endpoints()[0].port())])).unwrap();
    assert_eq!(look(&failing, "orders").unwrap(), 7, "a name was resolved by the child's keeper");
}

#[test]
fn a_forked_child_begins_anew() {
    let this = std::env::current_exe().unwrap();
    let child =
        std::process::Command::new(this).args(["--ignored", "--exact", "blocking::as_if_in_a_forked_child"]).output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}
