//! The tokio driver over TCP: host names and probes, by its own background task.

use hanaming::client::{AsyncClient, BindOptions, ClientConfig, Invocation, Product};
use hanaming::naming::{ErrorKind, Lookup, Value};
use hanaming::topology::Endpoint;

use crate::cluster::{Cluster, until};
use crate::stage::{bind, lookup, ms, subject};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn host_names_are_resolved() {
    let cluster = Cluster::start(1);
    cluster.bind_everywhere("orders", 7);
    let named = Endpoint::new("localhost", cluster.nodes[0].endpoint().port());
    runtime().block_on(async {
        let client = AsyncClient::new(ClientConfig::new(vec![named])).unwrap();
        assert!(client.targets().is_empty());
        let (product, _) = client.perform(lookup("orders"), None).await.unwrap();
        assert!(matches!(product, Product::Found(_)));
        let unknown = AsyncClient::new(ClientConfig::new(vec![Endpoint::new("no-such-host.invalid", 1)])).unwrap();
        let error = unknown.perform(lookup("orders"), None).await.unwrap_err();
        assert_eq!(error.fields().attempts[0].target, "no-such-host.invalid:1");
    });
}

#[test]
fn a_node_that_comes_back_is_found_by_a_probe_without_any_call() {
    let mut cluster = Cluster::start(2);
    cluster.bind_everywhere("orders", 7);
    let runtime = runtime();
    let client = AsyncClient::new(ClientConfig::new(cluster.endpoints())).unwrap();
    let failed = || client.targets().iter().filter(|(target, _)| target.state() == "failed").count();
    cluster.nodes[1].close();
    runtime.block_on(async {
        for _ in 0..4 {
            client.perform(lookup("orders"), None).await.unwrap();
        }
    });
    assert_eq!(failed(), 1);
    cluster.restart(1);
    until("a probe takes it back", || {
        runtime.block_on(async { tokio::time::sleep(ms(5)).await });
        failed() == 0
    });
}

#[test]
fn a_client_that_is_dropped_ends_its_background() {
    let cluster = Cluster::start(1);
    let mut endpoints = cluster.endpoints();
    endpoints.push(Endpoint::new("127.0.0.1", 1));
    let runtime = runtime();
    runtime.block_on(async {
        let client = AsyncClient::new(ClientConfig::new(endpoints)).unwrap();
        for _ in 0..2 {
            let _ = client.perform(lookup("orders"), None).await;
        }
        assert!(tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0);
    });
    until("no task is left", || {
        runtime.block_on(async { tokio::time::sleep(ms(5)).await });
        runtime.metrics().num_alive_tasks() == 0
    });
}

#[test]
fn writes_and_waits_work_as_they_do_elsewhere() {
    let cluster = Cluster::start(1);
    let provider = cluster.nodes[0].endpoint().to_string();
    runtime().block_on(async {
        let local = AsyncClient::new(ClientConfig::local(&provider).unwrap()).unwrap();
        let waiter = local.clone();
        let wait_for = Invocation::wait_for(subject("orders")).unwrap();
        let waiting = tokio::spawn(async move { waiter.perform(wait_for, None).await });
        tokio::time::sleep(ms(20)).await;
        assert!(matches!(local.perform(bind("orders"), None).await.unwrap().0, Product::Written(_)));
        assert!(matches!(waiting.await.unwrap().unwrap().0, Product::Found(_)));
        let again = local.perform(bind("orders"), None).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::NameAlreadyBound);
    });
}

#[test]
fn leases_are_renewed_as_long_as_the_client_is_there_and_given_back_when_that_is_asked() {
    let cluster = Cluster::start(1);
    let runtime = runtime();
    let tree = cluster.nodes[0].cluster_tree();
    let stands = |name: &str| matches!(tree.lookup(name), Lookup::Found(_));
    let client = || AsyncClient::new(ClientConfig::new(cluster.endpoints())).unwrap();
    let lease = async |client: &AsyncClient, name: &str, lease: u32| {
        let options = BindOptions { lease: Some(lease), ..BindOptions::default() };
        let invocation = Invocation::bind(subject(name), Value::Int(1).to_content().unwrap(), options).unwrap();
        client.perform(invocation, None).await.unwrap();
    };
    runtime.block_on(async {
        let (stays, goes) = (client(), client());
        lease(&stays, "stays", 1000).await;
        lease(&goes, "goes", 1000).await;
        drop(goes);
        for _ in 0..500 {
            tokio::time::sleep(ms(20)).await;
            if !stands("goes") {
                break;
            }
        }
        assert!(!stands("goes"), "nobody renews for a client that is gone");
        tokio::time::sleep(ms(1500)).await;
        assert!(stands("stays"));
        lease(&stays, "hours", 3_600_000).await;
        stays.release().await;
        assert!(!stands("stays") && !stands("hours"));
        stays.close();
    });
}
