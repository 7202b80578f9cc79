//! A server that accepts and never greets, or that refuses in its welcome, before a mutation: it has not run, and
//! another server runs it, once.

use std::net::TcpListener;

use hanaming::client::{AsyncClient, Client, ClientConfig, Driver, Trail};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::Lookup;
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::Endpoint;

use crate::cluster::Cluster;
use crate::stage::bind;

/// Gives `perform` clients of both servers until one has asked the first server first, and looks at what that did.
fn goes_elsewhere(first: &Endpoint, perform: impl Fn(ClientConfig, &str) -> Trail) {
    let cluster = Cluster::start(1);
    let mut asked = None;
    for seed in 0..50 {
        let providers = vec![first.clone(), cluster.nodes[0].endpoint()];
        let config = ClientConfig { follow_views: false, seed: Some(seed), ..ClientConfig::new(providers) };
        let name = format!("x{seed}");
        let attempts = perform(config, &name).attempts();
        let bound = cluster.nodes[0].cluster_tree().lookup(&name);
        assert!(matches!(bound, Lookup::Found(_)), "{bound:?}");
        if attempts[0].target == first.to_string() {
            asked = Some(attempts);
            break;
        }
    }
    let attempts = asked.expect("the first one is asked first by half of all clients");
    let told: Vec<_> = attempts.iter().map(|attempt| (attempt.phase, attempt.completion)).collect();
    assert_eq!(told, [(Phase::Handshake, CompletionStatus::No), (Phase::Answer, CompletionStatus::Yes)], "{attempts:?}");
}

fn blocking(config: ClientConfig, name: &str) -> Trail {
    Client::new(config).unwrap().perform(bind(name), None, &mut || false).unwrap().1
}

fn on_tokio(config: ClientConfig, name: &str) -> Trail {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { AsyncClient::new(config).unwrap().perform(bind(name), None).await }).unwrap().1
}

/// Invariant 11.
#[test]
fn a_server_that_never_greets_has_not_run_a_mutation() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let first = Endpoint::from(silent.local_addr().unwrap());
    goes_elsewhere(&first, blocking);
    goes_elsewhere(&first, on_tokio);
}

#[test]
fn a_server_of_another_cluster_has_not_run_a_mutation() {
    let other = Node::start(ServerConfig { cluster: "other".to_owned(), ..ServerConfig::new("elsewhere") }).unwrap();
    let named = |config| ClientConfig { cluster: Some("default".into()), ..config };
    goes_elsewhere(&other.endpoint(), |config, name| blocking(named(config), name));
    goes_elsewhere(&other.endpoint(), |config, name| on_tokio(named(config), name));
    assert_eq!(other.status().requests, 0);
}
