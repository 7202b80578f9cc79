//! A node's life in its process: started, quiesced, closed, asked without a network.

use std::net::TcpListener;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Answer, FrameKind, Operation, RefusalReason, Reply, Request, Scope};
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::{Endpoint, MemberState, View};
use hanaming::transport::Service;
use hanaming::transport::memory::MemoryNetwork;
use tokio::time::Instant;

use crate::raw::{LONG, Raw, eventually, lookup, node};
use crate::world::{bind, request, text};

/// Threads of this process whose name starts so.
fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|comm| comm.starts_with(name)).count()
}

fn submit(node: &Node, request: Request, within: Duration) -> Reply {
    let (sender, reply) = sync_channel(1);
    node.submit(request, within, Box::new(move |reply| sender.send(reply).unwrap()));
    reply.recv_timeout(LONG).expect("a reply, exactly one")
}

#[track_caller]
fn refusal(reply: Reply) -> (ErrorKind, CompletionStatus, Option<RefusalReason>) {
    match reply {
        Reply::Failed(fault) => (ErrorKind::from_code(fault.code), fault.completion, fault.refusal.map(|refusal| refusal.reason)),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_node_is_ready_when_it_has_started() {
    let node = node(|_| {});
    assert_ne!(node.listening().port(), 0);
    assert_eq!(&node.endpoint(), node.listening());
    assert_eq!(node.view().members()[0].state, MemberState::Live);
    let status = Raw::greet(&node).ask(Scope::Cluster, Operation::Status);
    assert!(matches!(status, Reply::Done(Answer::Status(_))), "{status:?}");
    assert!(!node.is_closed() && !node.has_left());
}

#[test]
fn the_advertised_address_is_told() {
    let node = node(|config| config.advertise = Some(Endpoint::new("naming.example", 0)));
    let told = Endpoint::new("naming.example", node.listening().port());
    assert_eq!((node.endpoint(), &node.view().members()[0].endpoint), (told.clone(), &told));
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Endpoint::from(taken.local_addr().unwrap());
    let error = Node::start(ServerConfig { listen: address.clone(), ..ServerConfig::new("n1") }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let message = error.to_string();
    assert!(message.contains(&format!("{address} is already in use")) && message.contains("choose another port"), "{message}");
}

#[test]
fn an_address_of_another_machine_is_named() {
    let listen = Endpoint::new("192.0.2.1", 0);
    let config = ServerConfig { listen, insecure: true, ..ServerConfig::new("n1") };
    let message = Node::start(config).unwrap_err().to_string();
    assert!(message.contains("192.0.2.1:0 is no address of this machine"), "{message}");
}

/// Whether it is loopback is not known of a name that stands for nothing.
#[test]
fn a_name_that_does_not_resolve_is_told_as_such() {
    for insecure in [false, true] {
        let listen = Endpoint::new("no.such.invalid", 0);
        let config = ServerConfig { listen, insecure, ..ServerConfig::new("n1") };
        let message = Node::start(config).unwrap_err().to_string();
        assert!(message.contains("no.such.invalid:0 can't be opened: its host name does not resolve"), "{message}");
        assert!(!message.contains("loopback"), "{message}");
    }
}

#[test]
fn a_node_listens_at_what_a_loopback_name_stands_for() {
    let node = node(|config| config.listen = Endpoint::new("localhost", 0));
    assert!(node.listening().socket_addr().unwrap().ip().is_loopback());
}

/// Invariant 20. In this network each name stands for itself, and so for no loopback address.
#[test]
fn a_name_is_judged_by_what_it_stands_for() {
    let config = ServerConfig { listen: Endpoint::new("outside", 0), ..ServerConfig::new("n1") };
    let message = Node::start_on(MemoryNetwork::new(1).host("outside"), config).unwrap_err().to_string();
    assert!(message.contains("not a loopback address") && message.contains("insecure=True"), "{message}");
}

#[test]
fn a_node_that_does_not_start_leaves_no_threads() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = Endpoint::from(taken.local_addr().unwrap());
    Node::start(ServerConfig { listen, ..ServerConfig::new("nostart") }).unwrap_err();
    eventually("its threads ended", || threads("hanaming-nostar") == 0);
}

#[test]
fn the_status_tells_what_is_there() {
    let node = node(|_| {});
    bind(&node.local_tree(), "a/b", text("x"));
    bind(&node.cluster_tree(), "c", text("x"));
    let mut raw = Raw::greet(&node);
    for _ in 0..10 {
        raw.ask(Scope::Cluster, lookup("a"));
    }
    let Reply::Done(Answer::Status(status)) = raw.ask(Scope::Local, Operation::Status) else { panic!("no status") };
    assert_eq!((status.local_names, status.cluster_names, status.connections), (2, 1, 1));
    // The status itself is counted with its batch, when it has been answered.
    assert_eq!(status.requests, 10);
    assert_eq!(status.introduction.member.name, "n1");
    assert_eq!(status.view, *node.view());
}

#[test]
fn in_process_requests_need_no_network() {
    let node = node(|_| {});
    bind(&node.local_tree(), "a", text("x"));
    let asked = request(Scope::Cluster, lookup("a"));
    for reply in [node.try_now(&asked).unwrap(), submit(&node, asked, LONG)] {
        assert!(matches!(&reply, Reply::Done(Answer::Found(found)) if &*found.node == "n1"), "{reply:?}");
    }
    let check = request(Scope::Cluster, Operation::Check { name: String::new() });
    assert_eq!(node.try_now(&check), None);
    assert!(matches!(submit(&node, check, LONG), Reply::Done(Answer::Report(_))));
    assert_eq!((Service::name(&node), Service::endpoint(&node)), ("n1", node.endpoint()));
}

#[test]
fn a_request_ends_within_its_time() {
    let node = node(|_| {});
    for number in 0..20_000 {
        bind(&node.local_tree(), &format!("{number}"), text("x"));
    }
    let check = request(Scope::Cluster, Operation::Check { name: String::new() });
    let (kind, completion, _) = refusal(submit(&node, check, Duration::ZERO));
    assert_eq!((kind, completion), (ErrorKind::TimeLimitExceeded, CompletionStatus::No));
}

/// Invariant 23.
#[test]
fn after_close_everything_is_refused_and_nothing_is_left() {
    let node = node(|config| config.name = "closing".to_owned());
    eventually("its threads run", || threads("hanaming-closin") >= 2);
    let mut raw = Raw::greet(&node);
    let start = Instant::now();
    node.close();
    node.close();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    eventually("its threads ended", || threads("hanaming-closin") == 0);
    raw.is_ended();
    let address = node.listening().socket_addr().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
    let closed = (ErrorKind::ContextClosed, CompletionStatus::No, Some(RefusalReason::Closed));
    assert_eq!(refusal(node.try_now(&request(Scope::Cluster, lookup("a"))).unwrap()), closed);
    assert_eq!(refusal(submit(&node, request(Scope::Local, lookup("a")), LONG)), closed);
    let check = request(Scope::Cluster, Operation::Check { name: String::new() });
    assert_eq!(refusal(submit(&node, check, LONG)), closed);
    assert!(node.is_closed());
    assert_eq!(node.quiesce(LONG).unwrap_err().kind(), ErrorKind::ContextClosed);
}

#[test]
fn the_last_handle_closes() {
    let node = node(|config| config.name = "dropping".to_owned());
    let other = node.clone();
    drop(node);
    eventually("its threads run", || threads("hanaming-droppi") >= 2);
    assert!(!other.is_closed());
    drop(other);
    eventually("its threads ended", || threads("hanaming-droppi") == 0);
}

#[test]
fn a_node_may_be_started_and_closed_inside_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let node = node(|config| config.name = "inside".to_owned());
        bind(&node.local_tree(), "a", text("x"));
        node.quiesce(LONG).unwrap();
        node.close();
    });
    eventually("its threads ended", || threads("hanaming-inside") == 0);
}

/// The view that the next frame pushes.
fn pushed_view(raw: &mut Raw) -> View {
    let frame = raw.frame().expect("a view");
    assert_eq!(frame.header.kind, FrameKind::View);
    hanaming::protocol::decode_body(FrameKind::View, &frame.body).unwrap()
}

#[test]
fn a_node_that_quiesces_says_so_refuses_and_leaves() {
    let node = node(|_| {});
    bind(&node.local_tree(), "a", text("x"));
    let mut raw = Raw::greet(&node);
    let start = Instant::now();
    assert_eq!(raw.ask(Scope::Cluster, Operation::Quiesce), Reply::Done(Answer::Accepted));
    assert_eq!(pushed_view(&mut raw).members()[0].state, MemberState::Quiescing);
    let refused = raw.ask(Scope::Cluster, lookup("a"));
    let Reply::Failed(fault) = &refused else { panic!("{refused:?}") };
    let told = fault.refusal.as_ref().unwrap();
    assert_eq!(told.view.as_ref().unwrap().members()[0].state, MemberState::Quiescing);
    assert!(told.retry_after > 0);
    let quiescing = (ErrorKind::ServiceUnavailable, CompletionStatus::No, Some(RefusalReason::Quiescing));
    assert_eq!(refusal(refused), quiescing);
    assert!(node.wait_left(LONG));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    raw.is_ended();
    // It stays in the process and refuses.
    assert_eq!(refusal(node.try_now(&request(Scope::Cluster, lookup("a"))).unwrap()), quiescing);
    assert_eq!(refusal(submit(&node, request(Scope::Local, lookup("a")), LONG)), quiescing);
    eventually("its port is closed", || std::net::TcpStream::connect(node.listening().socket_addr().unwrap()).is_err());
    node.quiesce(LONG).unwrap();
    assert!(!node.is_closed() && node.has_left());
}

#[test]
fn closing_ends_a_quiesce_that_waits() {
    let node = node(|_| {});
    let other = node.clone();
    let waiting = std::thread::spawn(move || other.wait_left(LONG));
    node.close();
    let start = Instant::now();
    assert!(!waiting.join().unwrap());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
