//! Watches over real nodes: state and changes, renames, failover, slow listeners, and every end.

use std::sync::Arc;
use std::time::Duration;

use hanaming::client::watch::{Listened, Told};
use hanaming::client::{Client, ClientConfig, Context, Direct, Driver, EventKind, HaContext, Watch};
use hanaming::naming::{ErrorKind, Name, Value};
use hanaming::protocol::{Scope, WatchScope};
use hanaming::server::{Node, ServerConfig, ServerLimits};
use hanaming::transport::Service;

use crate::cluster::{Cluster, LONG, bind_local, client, clock, until};
use crate::stage::name;

/// What is heard next, as `kind name old→new`.
fn hear(watch: &Watch) -> String {
    let deadline = clock() + LONG;
    match watch.next(&mut || clock() > deadline).unwrap() {
        Listened::Event(event) => {
            let value = |told: Option<Told>| {
                told.map_or_else(
                    || "-".to_owned(),
                    |told| match Value::from_content(&told.content) {
                        Ok(Value::Int(number)) => number.to_string(),
                        _ => told.content.kind.as_str().to_owned(),
                    },
                )
            };
            format!("{} {} {}→{}", event.kind.as_str(), event.name, value(event.old), value(event.new))
        }
        other => panic!("{other:?} was heard"),
    }
}

/// That nothing is heard for a while.
fn hear_nothing(watch: &Watch) {
    let deadline = clock() + Duration::from_millis(300);
    let heard = watch.next(&mut || clock() > deadline).unwrap();
    assert!(matches!(heard, Listened::Nothing), "{heard:?}");
}

fn ha(cluster: &Cluster) -> HaContext {
    HaContext::new(ClientConfig::new(cluster.endpoints())).unwrap()
}

fn watch(driver: &dyn Driver, text: &str, scope: WatchScope) -> Watch {
    driver.watch(name(text), scope, true).unwrap()
}

#[test]
fn an_ha_context_watches_the_cluster_tree_and_a_local_one_its_node_s() {
    let cluster = Cluster::start(2);
    let (ctx, client) = (ha(&cluster), client(cluster.endpoints()));
    ctx.bind("a", &Value::Int(1)).unwrap();
    let all = watch(&client, "", WatchScope::Subtree);
    assert_eq!(hear(&all), "added a -→1");
    ctx.rebind("a", &Value::Int(2)).unwrap();
    assert_eq!(hear(&all), "changed a 1→2");
    ctx.create_subcontext("c").unwrap();
    assert_eq!(hear(&all), "added c -→context");
    ctx.rename("a", "c/b").unwrap();
    assert_eq!(hear(&all), "renamed c/b 2→2");
    ctx.unbind("c/b").unwrap();
    assert_eq!(hear(&all), "removed c/b 2→-");
    bind_local(&cluster.nodes[0], "own", 1);
    hear_nothing(&all);

    let local = Client::new(ClientConfig::local(&cluster.nodes[0].endpoint().to_string()).unwrap()).unwrap();
    let own = watch(&local, "", WatchScope::Subtree);
    assert_eq!(hear(&own), "added own -→1");
    cluster.nodes[0].local_tree().rename(&name("own"), &name("other")).unwrap();
    assert_eq!(hear(&own), "renamed other 1→1");
    ctx.bind("z", &Value::Int(1)).unwrap();
    hear_nothing(&own);
}

#[test]
fn scopes_limit_what_is_heard() {
    let cluster = Cluster::start(1);
    let (ctx, client) = (ha(&cluster), client(cluster.endpoints()));
    ctx.create_subcontext("a").unwrap();
    ctx.bind("a/b", &Value::Int(1)).unwrap();
    ctx.create_subcontext("a/c").unwrap();
    ctx.bind("a/c/d", &Value::Int(2)).unwrap();
    ctx.bind("ab", &Value::Int(3)).unwrap();
    let object = watch(&client, "a/b", WatchScope::Object);
    assert_eq!(hear(&object), "added a/b -→1");
    let level = watch(&client, "a", WatchScope::OneLevel);
    assert_eq!([hear(&level), hear(&level)], ["added a/b -→1", "added a/c -→context"]);
    let subtree = watch(&client, "a", WatchScope::Subtree);
    let heard: Vec<String> = (0..4).map(|_| hear(&subtree)).collect();
    assert_eq!(heard, ["added a -→context", "added a/b -→1", "added a/c -→context", "added a/c/d -→2"]);
    ctx.rebind("ab", &Value::Int(4)).unwrap();
    ctx.rebind("a/c/d", &Value::Int(5)).unwrap();
    assert_eq!(hear(&subtree), "changed a/c/d 2→5");
    ctx.rename("a/c/d", "a/d").unwrap();
    assert_eq!([hear(&level), hear(&subtree)], ["added a/d -→5", "renamed a/d 5→5"], "its old name is deeper");
    ctx.unbind("a/b").unwrap();
    assert_eq!([hear(&object), hear(&level), hear(&subtree)], ["removed a/b 1→-"; 3]);
    [&object, &level, &subtree].into_iter().for_each(hear_nothing);
}

#[test]
fn a_node_of_this_process_is_watched_without_a_network() {
    let node = Node::start(ServerConfig::new("n1")).unwrap();
    let service: Arc<dyn Service> = Arc::new(node.clone());
    let direct = Direct::new(service, Scope::Local, LONG);
    let own = direct.watch(Name::empty(), WatchScope::Subtree, false).unwrap();
    hear_nothing(&own);
    bind_local(&node, "a", 1);
    assert_eq!(hear(&own), "added a -→1");
    node.close();
    let ended = own.next(&mut || false).unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::ContextClosed);
}

/// A large state comes in pages, and what changes meanwhile is not lost.
#[test]
fn a_large_state_is_whole() {
    let cluster = Cluster::start(1);
    let node = &cluster.nodes[0];
    for number in 0..3000 {
        bind_local(node, &format!("many/{number}"), number);
    }
    let local = Client::new(ClientConfig::local(&node.endpoint().to_string()).unwrap()).unwrap();
    let many = watch(&local, "many", WatchScope::OneLevel);
    let mut heard: Vec<String> = (0..3000).map(|_| hear(&many)).collect();
    heard.sort();
    let mut bound: Vec<String> = (0..3000).map(|number| format!("added many/{number} -→{number}")).collect();
    bound.sort();
    assert_eq!(heard, bound);
    hear_nothing(&many);
}

/// Who is watched dies again and again: the last that is heard of each name is what is bound there.
#[test]
fn a_watch_survives_its_nodes() {
    let mut cluster = Cluster::start(3);
    let client = client(cluster.endpoints());
    let ctx = ha(&cluster);
    let all = watch(&client, "", WatchScope::Subtree);
    let mut told = std::collections::BTreeMap::new();
    for round in 0..6_i64 {
        ctx.rebind("a", &Value::Int(round)).unwrap();
        if round % 2 == 0 {
            ctx.bind("b", &Value::Int(round)).unwrap();
        } else {
            ctx.unbind("b").unwrap();
        }
        cluster.restart(usize::try_from(round).unwrap() % 3);
    }
    ctx.bind("end", &Value::Int(1)).unwrap();
    while !told.contains_key("end") {
        let heard = hear(&all);
        let [kind, name, values]: [&str; 3] = heard.split(' ').collect::<Vec<_>>().try_into().unwrap();
        assert_ne!(kind, "resynchronised", "another node's state says what has become of each name");
        let new = values.split_once('→').unwrap().1;
        if new == "-" {
            told.remove(name)
        } else {
            told.insert(name.to_owned(), new.to_owned())
        };
    }
    let told: Vec<(&str, &str)> = told.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(told, [("a", "5"), ("end", "1")]);
}

/// Who listens slowly holds up nobody, hears of each name once, and is told where something was missed.
#[test]
fn a_slow_listener_is_told_late_and_of_each_name_at_last() {
    let cluster = Cluster::start(1);
    let node = &cluster.nodes[0];
    let local = Client::new(ClientConfig::local(&node.endpoint().to_string()).unwrap()).unwrap();
    let all = watch(&local, "", WatchScope::Subtree);
    bind_local(node, "first", 0);
    assert_eq!(hear(&all), "added first -→0");
    // More names than wait to be told, and more changes than a log keeps.
    for number in 0..69_000 {
        bind_local(node, &format!("n{}", number % 3000), number);
    }
    let mut last = std::collections::BTreeMap::new();
    let mut events = 0;
    let mut resynchronised = 0;
    until("all was heard", || {
        while let Ok(Listened::Event(event)) = all.poll() {
            events += 1;
            match event.new {
                None => resynchronised += usize::from(event.kind == EventKind::Resynchronised),
                Some(new) => drop(last.insert(event.name.to_string(), Value::from_content(&new.content).unwrap())),
            }
        }
        last.len() == 3000
            && last.iter().all(|(name, value)| {
                let number: i64 = name[1..].parse().unwrap();
                *value == Value::Int(66_000 + number)
            })
    });
    assert!(events < 10_000, "{events} events for 3,000 names");
    assert_eq!(resynchronised, 1);
}

#[test]
fn every_end_is_told() {
    let cluster = Cluster::start(1);
    let client = client(cluster.endpoints());
    let closed = watch(&client, "", WatchScope::Subtree);
    closed.close();
    assert!(matches!(closed.next(&mut || false), Ok(Listened::Closed)));
    assert!(matches!(closed.poll(), Ok(Listened::Closed)));

    // A listener that waits hears of it at once.
    let waiting = Arc::new(watch(&client, "", WatchScope::Subtree));
    let theirs = Arc::clone(&waiting);
    let listener = std::thread::spawn(move || matches!(theirs.next(&mut || false), Ok(Listened::Closed)));
    std::thread::park_timeout(Duration::from_millis(20));
    waiting.close();
    assert!(listener.join().unwrap());

    let of_closed = watch(&client, "", WatchScope::Subtree);
    client.close();
    assert_eq!(of_closed.next(&mut || false).unwrap_err().kind(), ErrorKind::ContextClosed);
    assert_eq!(client.watch(Name::empty(), WatchScope::Subtree, true).unwrap_err().kind(), ErrorKind::ContextClosed);
}

/// A node that has all the watches it takes sends the others elsewhere; it has room again when one ends.
#[test]
fn watches_are_limited_and_leave_room_when_they_end() {
    let limits = ServerLimits { watches: 1, ..ServerLimits::default() };
    let node = Node::start(ServerConfig { limits, ..ServerConfig::new("n1") }).unwrap();
    let driver = client(vec![node.endpoint()]);
    let first = watch(&driver, "", WatchScope::Subtree);
    bind_cluster(&node, "a", 1);
    assert_eq!(hear(&first), "added a -→1");
    let second = watch(&driver, "", WatchScope::Subtree);
    assert_eq!(hear(&second), "added a -→1", "a state is always told");
    first.close();
    bind_cluster(&node, "b", 2);
    assert_eq!(hear(&second), "added b -→2");
}

fn bind_cluster(node: &Node, text: &str, number: i64) {
    let direct = Direct::new(Arc::new(node.clone()), Scope::Cluster, LONG);
    Context::over(Arc::new(direct)).bind(text, &Value::Int(number)).unwrap();
}

#[test]
fn what_is_written_after_a_watch_has_begun_is_told() {
    let cluster = Cluster::start(1);
    let ctx = ha(&cluster);
    for initial in [true, false] {
        let all = ctx.watch("", WatchScope::Subtree, initial).unwrap();
        ctx.bind("a", &Value::Int(1)).unwrap();
        ctx.rebind("a", &Value::Int(2)).unwrap();
        ctx.unbind("a").unwrap();
        assert_eq!([hear(&all), hear(&all), hear(&all)], ["added a -→1", "changed a 1→2", "removed a 2→-"]);
    }
}

#[test]
fn who_can_ask_nobody_from_the_beginning_is_told_so() {
    let nobody = client(vec![hanaming::topology::Endpoint::new("127.0.0.1", 1)]);
    let all = watch(&nobody, "", WatchScope::Subtree);
    assert_eq!(all.begun(LONG, &mut || false).unwrap_err().kind(), ErrorKind::ServiceUnavailable);
    assert_eq!(all.next(&mut || false).unwrap_err().kind(), ErrorKind::ServiceUnavailable);
}

#[test]
fn what_is_waited_for_is_found_when_it_is_bound() {
    let cluster = Cluster::start(2);
    let ctx = ha(&cluster);
    let waiting = ctx.clone();
    let found = std::thread::spawn(move || {
        waiting.wait_for("late", LONG).unwrap();
        clock()
    });
    std::thread::park_timeout(Duration::from_millis(200));
    let bound = clock();
    ctx.bind("late", &Value::Int(1)).unwrap();
    let took = found.join().unwrap().saturating_duration_since(bound);
    assert!(took < Duration::from_millis(200), "found {took:?} after the bind began");
}
