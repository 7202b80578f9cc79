//! Announced nodes and the Rust clients, blocking and tokio, in a network of their own: a namespace with a loopback interface
//! and nothing else. It takes root, `unshare` and `ip`.

use std::process::Command;
use std::time::Duration;

use hanaming::client::{AsyncClient, ClientConfig, HaContext, Invocation, Product, Subject};
use hanaming::naming::{Name, Value};
use hanaming::server::{Node, ServerConfig};

use crate::cluster::until;

/// Runs one of the ignored tests here within such a network.
#[expect(clippy::print_stderr, reason = "what is left out is said")]
fn alone(test: &str) {
    let possible = Command::new("unshare").args(["--net", "ip", "link", "set", "lo", "up"]).output();
    if !possible.is_ok_and(|tried| tried.status.success()) {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "no network namespace can be made here");
        eprintln!("SKIPPED: a network namespace can't be made here (it takes root, `unshare` and `ip`)");
        return;
    }
    let done = Command::new("unshare")
        .args(["--net", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("multicast::{test}"), "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

fn node(name: &str, cluster: &str) -> Node {
    Node::start(ServerConfig { cluster: cluster.into(), mdns: true, ..ServerConfig::new(name) }).unwrap()
}

#[test]
fn the_tokio_client_finds_nodes_and_loses_them() {
    alone("tokio");
}

#[test]
#[ignore = "runs within a network of its own"]
fn tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let n1 = node("n1", "prod");
        let other = node("n1", "test");
        let config = ClientConfig { follow_views: false, ..ClientConfig::from_providers(["hn+mdns://prod"]).unwrap() };
        let client = AsyncClient::new(config).unwrap();
        let ports = || client.targets().iter().map(|(target, _)| target.endpoint.port()).collect::<Vec<_>>();
        let get = || Invocation::get(Subject::new(&Name::empty(), &Name::parse("x").unwrap())).unwrap();
        assert!(matches!(client.perform(get(), None).await, Ok((Product::Absent, _))));
        assert_eq!(ports(), [n1.endpoint().port()]);
        let n2 = node("n2", "prod");
        until("the new one", || ports() == [n1.endpoint().port(), n2.endpoint().port()]);
        n1.close();
        until("the one that is left", || ports() == [n2.endpoint().port()]);
        n2.close();
        until("that nobody is left", || client.metrics().failed_refreshes > 0);
        // Nobody is there, and another is looked for.
        let n3 = node("n3", "prod");
        until("the next one", || ports() == [n3.endpoint().port()]);
        assert!(matches!(client.perform(get(), None).await, Ok((Product::Absent, _))));
        client.close();
        drop((n3, other));
    });
}

#[test]
fn blocking_clients_of_one_process_hear_the_same() {
    alone("blocking");
}

#[test]
#[ignore = "runs within a network of its own"]
fn blocking() {
    let n1 = node("n1", "prod");
    let contexts: Vec<HaContext> = (0..20).map(|_| HaContext::connect(["hn+mdns://prod"]).unwrap()).collect();
    contexts[0].bind("x", &Value::Int(1)).unwrap();
    for context in &contexts {
        assert_eq!(context.lookup("x").unwrap().value(), Some(Value::Int(1)));
        assert_eq!(context.targets()[0].0.endpoint, n1.endpoint());
    }
    // However many they are, one thread listens, and one announces.
    assert_eq!(threads("mDNS_daemon"), 2);
    drop(contexts);
    until("the listener's end", || threads("mDNS_daemon") == 1);
    n1.close();
    until("the announcer's end", || threads("mDNS_daemon") == 0);
    // Who comes after the end finds somebody, too.
    let n2 = node("n2", "prod");
    let late = HaContext::connect(["hn+mdns://prod"]).unwrap();
    assert!(late.get("y").unwrap().is_none());
    n2.quiesce(Duration::from_secs(1)).unwrap();
}

/// How many threads of this process are called so.
fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|comm| comm.trim() == name).count()
}
