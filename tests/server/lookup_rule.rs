//! The whole lookup rule between nodes whose every delay is given.

use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Source};
use hanaming::protocol::{Answer, Fault, Found, ManyItem, Operation, Reply, Scope};
use hanaming::server::ServerLimits;
use tokio::time::sleep;

use crate::world::{Manner, World, bind, text};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The value found, the step that answered, and the node in whose tree it stands.
#[track_caller]
fn found(reply: Reply) -> (String, Source, String) {
    match reply {
        Reply::Done(Answer::Found(found)) => value(&found),
        other => panic!("not found: {other:?}"),
    }
}

fn value(found: &Found) -> (String, Source, String) {
    (String::from_utf8(found.content.value.to_vec()).unwrap(), found.source, found.node.to_string())
}

#[track_caller]
fn failed(reply: Reply) -> (ErrorKind, Fault) {
    match reply {
        Reply::Failed(fault) => (ErrorKind::from_code(fault.code), fault),
        other => panic!("no failure: {other:?}"),
    }
}

fn names(nodes: &[std::sync::Arc<str>]) -> Vec<&str> {
    nodes.iter().map(|n| &**n).collect()
}

fn is(value: &str, source: Source, node: &str) -> (String, Source, String) {
    (value.to_owned(), source, node.to_owned())
}

/// Invariant 6.
#[tokio::test(start_paused = true)]
async fn the_cluster_tree_then_the_own_tree_then_a_peer() {
    let world = World::new(3);
    world.bind(2, "a", "peer's");
    assert_eq!(found(world.lookup(0, "a").await.0), is("peer's", Source::Peer, "n2"));
    world.bind(0, "a", "own");
    assert_eq!(found(world.lookup(0, "a").await.0), is("own", Source::Local, "n0"));
    bind(&world.cores[0].cluster, "a", text("all's"));
    assert_eq!(found(world.lookup(0, "a").await.0), is("all's", Source::Cluster, "n0"));
}

#[tokio::test(start_paused = true)]
async fn own_names_cost_no_question() {
    let world = World::new(3);
    world.bind(0, "a", "own");
    world.set(1, Manner::Frozen);
    let (reply, took) = world.lookup(0, "a").await;
    assert_eq!((found(reply), took), (is("own", Source::Local, "n0"), ms(0)));
    assert_eq!(world.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn the_first_positive_answer_wins_and_nobody_else_is_waited_for() {
    let world = World::new(4);
    world.set(1, Manner::Frozen);
    world.set(2, Manner::Answers(ms(30)));
    world.set(3, Manner::Answers(ms(5)));
    world.bind(2, "a", "slow");
    world.bind(3, "a", "quick");
    let (reply, took) = world.lookup(0, "a").await;
    assert_eq!((found(reply.clone()), took), (is("quick", Source::Peer, "n3"), ms(5)));
    let Reply::Done(Answer::Found(found)) = reply else { unreachable!() };
    assert_eq!(names(&found.asked), ["n0", "n1", "n2", "n3"]);
}

#[tokio::test(start_paused = true)]
async fn not_found_when_everybody_said_so() {
    let world = World::new(3);
    world.bind(0, "a/b", "x");
    let (reply, took) = world.lookup(0, "a/c/d").await;
    let (kind, fault) = failed(reply);
    assert_eq!((kind, fault.completion, took), (ErrorKind::NameNotFound, CompletionStatus::Yes, ms(1)));
    assert_eq!((fault.resolved_name.as_deref(), fault.remaining_name.as_deref()), (Some("a"), Some("c/d")));
}

#[tokio::test(start_paused = true)]
async fn not_a_context_falls_through_and_is_told_in_the_end() {
    let world = World::new(3);
    world.bind(0, "a", "a value");
    world.bind(2, "a/b", "beneath");
    assert_eq!(found(world.lookup(0, "a/b").await.0), is("beneath", Source::Peer, "n2"));
    let (kind, fault) = failed(world.lookup(0, "a/x").await.0);
    assert_eq!((kind, fault.message.as_str()), (ErrorKind::NotContext, "'a' is not a context (in the local tree of n0)"));
    // Only a peer says so: the error names it.
    let (kind, fault) = failed(world.lookup(1, "a/x").await.0);
    assert_eq!((kind, fault.message.as_str()), (ErrorKind::NotContext, "'a' is not a context (in the local tree of n0)"));
    bind(&world.cores[1].cluster, "a", text("x"));
    let (_, fault) = failed(world.lookup(1, "a/x").await.0);
    assert_eq!(fault.message, "'a' is not a context (in the cluster tree of n1)");
}

#[tokio::test(start_paused = true)]
async fn an_error_tells_the_longest_way_in_any_tree() {
    let world = World::new(3);
    world.bind(0, "deep/v", "x");
    world.bind(1, "deep/er/v", "x");
    world.bind(2, "val", "x");
    bind(&world.cores[0].cluster, "deep/er/still/v", text("x"));
    for (asked, name, kind, resolved, remaining) in [
        (2, "deep/zz", ErrorKind::NameNotFound, "deep", "zz"),
        (2, "deep/er/x/y", ErrorKind::NameNotFound, "deep/er", "x/y"),
        (0, "deep/er/still/y", ErrorKind::NameNotFound, "deep/er/still", "y"),
        (0, "val/x/y", ErrorKind::NotContext, "val", "x/y"),
        // "Not a context" says more than a longer way.
        (0, "deep/v/x", ErrorKind::NotContext, "deep/v", "x"),
        (2, "deep/er/v/x/y", ErrorKind::NotContext, "deep/er/v", "x/y"),
        (2, "nowhere/at/all", ErrorKind::NameNotFound, "", "nowhere/at/all"),
    ] {
        let (told, fault) = failed(world.lookup(asked, name).await.0);
        let way = (fault.resolved_name.as_deref(), fault.remaining_name.as_deref());
        assert_eq!((told, way), (kind, (Some(resolved), Some(remaining))), "{name} from n{asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_frozen_peer_is_named_in_time() {
    let world = World::new(3);
    world.set(2, Manner::Frozen);
    for (left, took) in [(5000, 120), (250, 120), (100, 60)] {
        let operation = Operation::Lookup { name: "a".to_owned() };
        let (reply, elapsed) = world.ask(0, Scope::Cluster, operation, left).await;
        let (kind, fault) = failed(reply);
        assert_eq!((kind, fault.completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
        assert_eq!((names(&fault.answered), names(&fault.silent)), (vec!["n0", "n1"], vec!["n2"]));
        assert_eq!(elapsed, ms(took), "{left} ms left");
    }
}

#[tokio::test(start_paused = true)]
async fn beside_silence_it_is_told_what_is_no_context() {
    let world = World::new(3);
    world.bind(1, "a", "a value");
    world.set(2, Manner::Frozen);
    for (asked, name, told) in [(1, "a/x", Some("a")), (0, "a/x", Some("a")), (0, "b/x", None)] {
        let (kind, fault) = failed(world.lookup(asked, name).await.0);
        assert_eq!((kind, fault.resolved_name.as_deref()), (ErrorKind::ServiceUnavailable, told), "{name} from n{asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_the_view_is_not_waited_for() {
    let world = World::new(3);
    world.set(2, Manner::Frozen);
    let leaving = async {
        sleep(ms(50)).await;
        world.leave(2, 0);
    };
    let ((reply, took), ()) = tokio::join!(world.lookup(0, "a"), leaving);
    assert_eq!((failed(reply).0, took), (ErrorKind::NameNotFound, ms(50)));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_tried_again() {
    let world = World::new(2);
    world.bind(1, "a", "x");
    world.set(1, Manner::Broken);
    let mending = async {
        sleep(ms(35)).await;
        world.set(1, Manner::Answers(ms(1)));
    };
    let ((reply, took), ()) = tokio::join!(world.lookup(0, "a"), mending);
    assert_eq!((found(reply), took), (is("x", Source::Peer, "n1"), ms(41)));
    world.set(1, Manner::Broken);
    let (kind, fault) = failed(world.lookup(0, "b").await.0);
    assert_eq!((kind, names(&fault.silent)), (ErrorKind::ServiceUnavailable, vec!["n1"]));
}

#[tokio::test(start_paused = true)]
async fn the_remembered_peer_is_asked_first_and_alone() {
    let world = World::new(4);
    world.bind(2, "a", "x");
    found(world.lookup(0, "a").await.0);
    assert_eq!(world.asked_names().len(), 3);
    let (reply, _) = world.lookup(0, "a").await;
    let Reply::Done(Answer::Found(answer)) = reply else { panic!("{reply:?}") };
    assert_eq!(names(&answer.asked), ["n0", "n2"]);
    assert_eq!(world.asked_names(), [(2, vec!["a".to_owned()])]);
}

#[tokio::test(start_paused = true)]
async fn a_remembered_peer_that_lost_the_name_is_forgotten() {
    let world = World::new(3);
    world.bind(2, "a", "x");
    found(world.lookup(0, "a").await.0);
    world.cores[2].local.unbind(&hanaming::naming::Name::parse("a").unwrap()).unwrap();
    world.bind(1, "a", "y");
    world.asked();
    assert_eq!(found(world.lookup(0, "a").await.0), is("y", Source::Peer, "n1"));
    assert_eq!(world.asked_names().iter().map(|(node, _)| *node).collect::<Vec<_>>(), [2, 1]);
    found(world.lookup(0, "a").await.0);
    assert_eq!(world.asked_names().iter().map(|(node, _)| *node).collect::<Vec<_>>(), [1]);
    // Where nobody has it any more, the next lookup asks all at once.
    world.cores[1].local.unbind(&hanaming::naming::Name::parse("a").unwrap()).unwrap();
    assert_eq!(world.lookup(0, "a").await.1, ms(2));
    assert_eq!(world.lookup(0, "a").await.1, ms(1));
}

#[tokio::test(start_paused = true)]
async fn a_frozen_remembered_peer_costs_twenty_milliseconds() {
    let world = World::new(3);
    world.bind(2, "a", "x");
    found(world.lookup(0, "a").await.0);
    world.bind(1, "a", "y");
    world.set(2, Manner::Frozen);
    let (reply, took) = world.lookup(0, "a").await;
    assert_eq!((found(reply), took), (is("y", Source::Peer, "n1"), ms(21)));
}

#[tokio::test(start_paused = true)]
async fn a_bad_name_is_refused_without_asking_anybody() {
    let world = World::new(3);
    for bad in ["'a", "a//b", &"x".repeat(1025), &["x"; 33].join("/")] {
        let (kind, fault) = failed(world.lookup(0, bad).await.0);
        assert_eq!((kind, fault.completion), (ErrorKind::InvalidName, CompletionStatus::No), "{bad}");
    }
    assert_eq!(world.asked(), []);
}

/// Invariant 8.
#[tokio::test(start_paused = true)]
async fn a_peer_that_asks_is_never_delegated_to_others() {
    let world = World::new(3);
    world.bind(2, "a", "x");
    let request = crate::world::request(Scope::Peer, Operation::Lookup { name: "a".to_owned() });
    let caller = hanaming::server::connection::Caller::Peer(hanaming::topology::NodeId(1), hanaming::protocol::Channel::Data);
    let reply = world.cores[0].answer_now(caller, &request).expect("answered from the own tree alone");
    assert_eq!(failed(reply).0, ErrorKind::NameNotFound);
    assert_eq!(world.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn a_local_context_sees_one_tree() {
    let world = World::new(2);
    world.bind(1, "a", "x");
    bind(&world.cores[0].cluster, "b", text("y"));
    for name in ["a", "b"] {
        let (reply, _) = world.ask(0, Scope::Local, Operation::Lookup { name: name.to_owned() }, 250).await;
        assert_eq!(failed(reply).0, ErrorKind::NameNotFound);
    }
    assert_eq!(world.asked(), []);
}

/// Invariant 5.
#[tokio::test(start_paused = true)]
async fn links_are_answered_as_links_wherever_they_stand() {
    let world = World::new(3);
    bind(&world.cores[2].local, "here/link", hanaming::naming::Content::link("./there"));
    let (reply, _) = world.lookup(0, "here/link/rest/of it").await;
    let Reply::Done(Answer::Link(link)) = reply else { panic!("{reply:?}") };
    assert_eq!((link.at.as_str(), link.target.as_str(), link.rest.as_str()), ("here/link", "./there", "rest/of it"));
    assert_eq!((link.found.source, &*link.found.node), (Source::Peer, "n2"));
}

#[tokio::test(start_paused = true)]
async fn many_names_are_each_looked_up_by_the_rule() {
    let world = World::new(3);
    world.bind(0, "own", "1");
    world.bind(1, "peer", "2");
    world.bind(2, "value", "3");
    let names = ["own", "peer", "nowhere", "value/x", "own", "a//b"].into_iter().collect();
    let (reply, _) = world.ask(0, Scope::Cluster, Operation::LookupMany { names }, 250).await;
    let Reply::Done(Answer::Many(items)) = reply else { panic!("{reply:?}") };
    let items = items.to_vec().unwrap();
    let [own, peer, absent, not_context, again, ManyItem::Fault(bad)] = &items[..] else { panic!("{items:?}") };
    let value = |item: &ManyItem| match item {
        ManyItem::Found { content, version: Some(_) } => content.value.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!((value(own), value(peer)), (b"1".to_vec(), b"2".to_vec()));
    assert_eq!((again, ErrorKind::from_code(bad.code)), (own, ErrorKind::InvalidName));
    assert_eq!(absent, &ManyItem::Absent { not_context: false, resolved: 0 });
    assert_eq!(not_context, &ManyItem::Absent { not_context: true, resolved: 1 });

    world.set(2, Manner::Frozen);
    let names = ["nowhere", "peer"].into_iter().collect();
    let (reply, took) = world.ask(0, Scope::Cluster, Operation::LookupMany { names }, 250).await;
    let Reply::Done(Answer::Many(items)) = reply else { panic!("{reply:?}") };
    let items = items.to_vec().unwrap();
    let [ManyItem::Unknown { silent, .. }, ManyItem::Found { .. }] = &items[..] else { panic!("{items:?}") };
    assert_eq!((self::names(silent), took), (vec!["n2"], ms(120)));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_names_cost_a_peer_a_few_requests() {
    let world = World::new(3);
    let names: Vec<String> = (0..1000).map(|n| format!("name {n}")).collect();
    for name in &names {
        world.bind(2, name, "x");
    }
    let (reply, _) = world.ask(0, Scope::Cluster, Operation::LookupMany { names: names.iter().collect() }, 250).await;
    let Reply::Done(Answer::Many(items)) = reply else { panic!("{reply:?}") };
    let items = items.to_vec().unwrap();
    assert_eq!(items.iter().filter(|item| matches!(item, ManyItem::Found { .. })).count(), 1000);
    let asked = world.asked_names();
    // Two windows, two peers: four requests of one name that came first, then all that had come meanwhile.
    assert!(asked.len() <= 20, "{} requests", asked.len());
}

#[tokio::test(start_paused = true)]
async fn values_too_long_for_one_reply_of_a_peer_come_all_the_same() {
    let world = World::with_limits(2, &ServerLimits { frame: 256 << 10, ..ServerLimits::default() });
    let names: Vec<String> = (0..100).map(|n| format!("name {n}")).collect();
    for name in &names {
        world.bind(1, name, &"x".repeat(60_000));
    }
    // Asked one by one at the same time, they go to the peer together.
    let world = std::sync::Arc::new(world);
    let mut lookups = tokio::task::JoinSet::new();
    for name in names.clone() {
        let world = std::sync::Arc::clone(&world);
        lookups.spawn(async move { found(world.lookup(0, &name).await.0).0.len() });
    }
    assert_eq!(lookups.join_all().await, [60_000; 100]);
    assert!(world.asked_names().iter().any(|(_, names)| names.len() > 10));
    // Together they don't fit one reply to the client, who is told to ask for fewer.
    let (reply, _) = world.ask(0, Scope::Cluster, Operation::LookupMany { names: names.iter().collect() }, 250).await;
    let (kind, fault) = failed(reply);
    assert_eq!((kind, fault.completion), (ErrorKind::LimitExceeded, CompletionStatus::No));
    let few = names[..3].iter().collect();
    let (reply, _) = world.ask(0, Scope::Cluster, Operation::LookupMany { names: few }, 250).await;
    assert!(matches!(reply, Reply::Done(Answer::Many(items)) if items.to_vec().unwrap().len() == 3));
}

#[tokio::test(start_paused = true)]
async fn misses_together_cost_a_bounded_number_of_requests() {
    let world = std::sync::Arc::new(World::new(3));
    let mut lookups = tokio::task::JoinSet::new();
    for number in 0..10_000 {
        let world = std::sync::Arc::clone(&world);
        lookups.spawn(async move {
            // Ten in each millisecond.
            sleep(Duration::from_micros(number * 100)).await;
            failed(world.lookup(0, &format!("miss {number}")).await.0).0
        });
    }
    while let Some(kind) = lookups.join_next().await {
        assert_eq!(kind.unwrap(), ErrorKind::NameNotFound);
    }
    let asked = world.asked_names();
    let per_peer = asked.iter().filter(|(node, _)| *node == 1).count();
    assert!(per_peer <= 1300, "{per_peer} requests for 10,000 misses in a second");
    let told: usize = asked.iter().filter(|(node, _)| *node == 1).map(|(_, names)| names.len()).sum();
    assert_eq!(told, 10_000);
}

#[tokio::test(start_paused = true)]
async fn the_same_miss_of_many_is_asked_once() {
    let world = World::new(2);
    world.set(1, Manner::Answers(ms(10)));
    // Four requests are under way; the rest is collected.
    let mut lookups: Vec<_> = (0..100).map(|_| Box::pin(world.lookup(0, "a"))).collect();
    for lookup in &mut lookups {
        let first_poll = std::future::poll_fn(|cx| std::task::Poll::Ready(lookup.as_mut().poll(cx).is_ready()));
        assert!(!first_poll.await);
        tokio::task::yield_now().await;
    }
    for lookup in lookups {
        assert_eq!(failed(lookup.await.0).0, ErrorKind::NameNotFound);
    }
    let asked = world.asked_names();
    assert!(asked.len() <= 5 && asked.iter().all(|(_, names)| names.len() == 1), "{asked:?}");
}

/// A question that is under way when a name is bound must not answer a lookup that comes after the bind.
#[tokio::test(start_paused = true)]
async fn a_lookup_after_a_bind_never_hears_what_was_before() {
    let world = World::new(2);
    world.set(1, Manner::Answers(ms(10)));
    // The world answers when the delay ends; this question is answered "absent" from before the bind.
    let mut early = Box::pin(world.lookup(0, "a"));
    let pending = std::future::poll_fn(|cx| std::task::Poll::Ready(early.as_mut().poll(cx).is_pending()));
    assert!(pending.await);
    tokio::task::yield_now().await;
    assert_eq!(world.asked_names().len(), 1);
    world.bind(1, "a", "x");
    let (late, _) = world.lookup(0, "a").await;
    assert_eq!(found(late), is("x", Source::Peer, "n1"));
    assert_eq!(world.asked_names().len(), 1, "the later lookup sent a request of its own");
    early.await;
}

#[tokio::test(start_paused = true)]
async fn what_is_over_the_limit_of_requests_in_flight_is_refused() {
    let world = World::with_limits(2, &ServerLimits { in_flight: 2, ..ServerLimits::default() });
    let request = crate::world::request(Scope::Cluster, Operation::Lookup { name: "a".to_owned() });
    let first = world.cores[0].admit_waiting(&request).unwrap();
    let second = world.cores[0].admit_waiting(&request).unwrap();
    let refusal = world.cores[0].admit_waiting(&request).unwrap_err();
    let (kind, fault) = failed(refusal);
    assert_eq!((kind, fault.completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
    let refusal = fault.refusal.unwrap();
    assert_eq!(refusal.reason, hanaming::protocol::RefusalReason::Overloaded);
    assert!(refusal.view.is_some() && refusal.retry_after > 0);
    drop((first, second));
    world.cores[0].admit_waiting(&request).unwrap();
}

#[tokio::test(start_paused = true)]
async fn too_many_names_in_one_request_are_refused() {
    let world = World::with_limits(2, &ServerLimits { names_per_request: 10, ..ServerLimits::default() });
    let names = ["a"; 11].into_iter().collect();
    let (reply, _) = world.ask(0, Scope::Cluster, Operation::LookupMany { names }, 250).await;
    assert_eq!(failed(reply).0, ErrorKind::LimitExceeded);
    assert_eq!(world.asked(), []);
}
