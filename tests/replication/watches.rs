//! Watches of the cluster tree on nodes that replicate it: what other nodes write is told, and what a split leaves behind.

use std::sync::Arc;

use hanaming::client::watch::{Listened, Told};
use hanaming::client::{Direct, Driver, Watch};
use hanaming::naming::Name;
use hanaming::protocol::{Mutation, Scope, WatchScope};

use crate::nodes::{Cluster, LONG, bind, clock, rebind, unbind, until};

pub fn watch(cluster: &Cluster, number: usize) -> Watch {
    let direct = Direct::new(Arc::new(cluster.nodes[number].clone()), Scope::Cluster, LONG);
    let watch = direct.watch(Name::empty(), WatchScope::Subtree, true).unwrap();
    watch.begun(LONG, &mut || false).unwrap();
    watch
}

/// What is heard next, as `kind name old→new`.
pub fn hear(watch: &Watch) -> String {
    let deadline = clock() + LONG;
    let Ok(Listened::Event(event)) = watch.next(&mut || clock() > deadline) else { panic!("nothing was heard") };
    let value = |told: Option<Told>| {
        told.map_or_else(|| "-".to_owned(), |told| String::from_utf8_lossy(&told.content.value).into_owned())
    };
    format!("{} {} {}→{}", event.kind.as_str(), event.name, value(event.old), value(event.new))
}

#[test]
fn what_any_node_writes_is_told_on_each() {
    let cluster = Cluster::start(3);
    let watches: Vec<Watch> = (0..3).map(|number| watch(&cluster, number)).collect();
    cluster.written(0, bind("a", "1"));
    cluster.written(1, rebind("a", "2"));
    cluster.written(2, Mutation::Rename { from: "a".to_owned(), to: "b".to_owned() });
    cluster.change(0, unbind("b"));
    for watch in &watches {
        let heard: Vec<String> = (0..4).map(|_| hear(watch)).collect();
        assert_eq!(heard, ["added a -→1", "changed a 1→2", "renamed b 2→2", "removed b 2→-"]);
    }
}

#[test]
fn a_conflict_is_told_on_each_node_when_a_split_has_healed() {
    let cluster = Cluster::start(3);
    let watches: Vec<Watch> = (0..3).map(|number| watch(&cluster, number)).collect();
    cluster.network.partition(&[&["n0"], &["n1", "n2"]]);
    until("two sides", || cluster.nodes[0].view().members().len() == 1 && cluster.nodes[1].view().members().len() == 2);
    cluster.written(0, bind("both", "minority's"));
    cluster.written(1, bind("both", "majority's"));
    let sides = ["minority's", "majority's", "majority's"];
    for (watch, side) in watches.iter().zip(sides) {
        assert_eq!(hear(watch), format!("added both -→{side}"));
    }
    cluster.network.heal();
    cluster.settled();
    for (watch, side) in watches.iter().zip(sides) {
        assert_eq!(hear(watch), format!("conflict both {side}→minority's"));
    }
    cluster.written(2, rebind("both", "settled"));
    for watch in &watches {
        assert_eq!(hear(watch), "changed both minority's→settled");
    }
    // Who comes later hears of a conflict that is there, and of none that is over.
    let late = watch(&cluster, 1);
    assert_eq!(hear(&late), "added both -→settled");
    cluster.change(0, unbind("both"));
    assert_eq!(hear(&late), "removed both settled→-");
}
