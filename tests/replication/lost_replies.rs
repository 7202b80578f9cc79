//! Clients some of whose replies are lost: they go to another node with the same change, and it is applied once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hanaming::client::{AsyncClient, BindOptions, ClientConfig, Elections, Invocation, Names, Product};
use hanaming::naming::{Name, Value};
use hanaming::protocol::FrameKind;
use hanaming::topology::Endpoint;
use hanaming::transport::memory::{Mishap, Rule};

use crate::campaign::rounds;
use crate::nodes::Cluster;

const CALLERS: usize = 64;

fn at(name: &str) -> hanaming::client::Subject {
    Name::parse(name).unwrap().into()
}

fn bind(name: &str, number: usize, replace: bool) -> Invocation {
    let content = Value::Int(i64::try_from(number).unwrap()).to_content().unwrap();
    Invocation::bind(at(name), content, BindOptions { replace, create_parents: true, lease: None }).unwrap()
}

/// Promises: exactly once, and no false "already bound". Some names are then unbound or bound anew: a bind that ran again
/// afterwards would be seen.
#[test]
fn a_bind_whose_reply_was_lost_is_applied_once() {
    let cluster = Cluster::start(3);
    for node in ["n0", "n1", "n2"] {
        cluster.network.add(Rule::new(Mishap::Lose).from(node).to("client").kind(FrameKind::Reply).chance(0.05));
    }
    let count = rounds(2_000, 10_000);
    let mut config = ClientConfig::new((0..3).map(|number| Endpoint::new(format!("n{number}"), 1)).collect());
    config.timeout = Duration::from_secs(20);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = AsyncClient::over(cluster.network.host("client"), Names::Dialled, Elections::new(), config).unwrap();
        let next = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let (client, next) = (client.clone(), Arc::clone(&next));
                tokio::spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        let name = format!("c{}/name{number}", number % 20);
                        client.perform(bind(&name, number, false), None).await.unwrap();
                        match number % 4 {
                            0 => {
                                let (removed, _) = client.perform(Invocation::unbind(at(&name)).unwrap(), None).await.unwrap();
                                assert!(matches!(removed, Product::Removed { existed: true, .. }), "{name}: {removed:?}");
                            }
                            1 => drop(client.perform(bind(&name, number + count, true), None).await.unwrap()),
                            _ => {}
                        }
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
    let lost = usize::try_from(cluster.network.struck()).unwrap();
    assert!(lost > count / 40, "{lost} replies were lost");
    cluster.network.heal();
    cluster.equal(&[0, 1, 2]);
    for number in 0..count {
        let expected = match number % 4 {
            0 => None,
            1 => Some(number + count),
            _ => Some(number),
        };
        let expected = expected.map(|number| Value::Int(i64::try_from(number).unwrap()).to_content().unwrap().value);
        assert_eq!(cluster.bytes(number % 3, &format!("c{}/name{number}", number % 20)), expected, "name{number}");
    }
    assert!(cluster.nodes.iter().all(|node| node.conflicts(&Name::empty()).is_empty()));
}
