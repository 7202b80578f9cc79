//! Listings over several trees, surveys, checks, and writes.

use std::sync::Arc;
use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, ErrorKind, Listed, Lookup, Source};
use hanaming::protocol::{
    Answer, Fault, Mutation, Operation, Page, PageRequest, Reply, Report, ReportItem, Scope, SurveyAnswer, TreeChoice, Written,
};

use crate::world::{Manner, World, bind, text};
use tokio::time::sleep;

fn page_request(name: &str, tree: TreeChoice) -> PageRequest {
    PageRequest { name: name.to_owned(), tree, after: None, limit: 100, values: false }
}

async fn list(world: &World, node: usize, name: &str, tree: TreeChoice) -> Reply {
    world.ask(node, Scope::Cluster, Operation::List(page_request(name, tree)), 250).await.0
}

#[track_caller]
fn page(reply: Reply) -> Page {
    match reply {
        Reply::Done(Answer::Page(page)) => page,
        other => panic!("no page: {other:?}"),
    }
}

#[track_caller]
fn failed(reply: Reply) -> (ErrorKind, Fault) {
    match reply {
        Reply::Failed(fault) => (ErrorKind::from_code(fault.code), fault),
        other => panic!("no failure: {other:?}"),
    }
}

/// `component: source node, …`, the answering one first.
fn told(row: &Listed) -> String {
    let sources: Vec<_> = row.sources.iter().map(|(source, node)| format!("{} {node}", source.as_str())).collect();
    assert_eq!(sources[0], format!("{} {}", row.source.as_str(), row.node));
    format!("{}: {}", row.component, sources.join(", "))
}

fn rows(reply: Reply) -> Vec<String> {
    page(reply).entries.iter().map(told).collect()
}

/// `a` is a context everywhere, with a different child in each tree and one in all.
fn three() -> World {
    let world = World::new(3);
    for node in 0..3 {
        world.bind(node, &format!("a/only{node}"), "x");
        world.bind(node, "a/all", "x");
    }
    bind(&world.cores[0].cluster, "a/all", text("x"));
    world
}

#[tokio::test(start_paused = true)]
async fn all_trees_are_merged() {
    let world = three();
    let expected = ["all: cluster n0, local n0, peer n1, peer n2", "only0: local n0", "only1: peer n1", "only2: peer n2"];
    assert_eq!(rows(list(&world, 0, "a", TreeChoice::All).await), expected);
    let expected = ["all: local n1, peer n0, peer n2", "only0: peer n0", "only1: local n1", "only2: peer n2"];
    assert_eq!(rows(list(&world, 1, "a", TreeChoice::Local).await), expected);
    assert_eq!(rows(list(&world, 0, "a", TreeChoice::Cluster).await), ["all: cluster n0"]);
    assert_eq!(rows(list(&world, 0, "", TreeChoice::All).await), ["a: cluster n0, local n0, peer n1, peer n2"]);
}

#[tokio::test(start_paused = true)]
async fn a_local_context_lists_its_own_tree_only() {
    let world = three();
    let operation = Operation::List(page_request("a", TreeChoice::All));
    let (reply, _) = world.ask(1, Scope::Local, operation, 250).await;
    assert_eq!(rows(reply), ["all: local n1", "only1: local n1"]);
    let operation = Operation::List(page_request("a", TreeChoice::Cluster));
    assert_eq!(failed(world.ask(1, Scope::Local, operation, 250).await.0).0, ErrorKind::OperationNotSupported);
    assert_eq!(world.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn pages_follow_each_other_without_gap_or_repetition() {
    let world = World::new(3);
    for number in 0..500 {
        world.bind(number % 3, &format!("{number:03}"), "x");
    }
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let request = PageRequest { after, limit: 7, ..page_request("", TreeChoice::All) };
        let page = page(world.ask(0, Scope::Cluster, Operation::List(request), 250).await.0);
        assert!(page.entries.len() <= 7);
        after = page.entries.last().map(|row| row.component.clone());
        listed.extend(page.entries.into_iter().map(|row| row.component));
        if !page.more {
            break;
        }
    }
    assert_eq!(listed, (0..500).map(|number| format!("{number:03}")).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn values_come_where_they_are_asked_for() {
    let world = World::new(2);
    world.bind(0, "a", "own");
    world.bind(1, "b", "peer's");
    for values in [true, false] {
        let request = PageRequest { values, ..page_request("", TreeChoice::All) };
        let page = page(world.ask(0, Scope::Cluster, Operation::List(request), 250).await.0);
        let got: Vec<_> = page.entries.iter().map(|row| row.content.value.as_ref()).collect();
        assert_eq!(got, if values { [&b"own"[..], b"peer's"] } else { [&b""[..], b""] });
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_fails_the_listing_which_tells_what_it_had() {
    let world = three();
    world.set(1, Manner::Frozen);
    let (kind, fault) = failed(list(&world, 0, "a", TreeChoice::All).await);
    assert_eq!((kind, fault.completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
    assert_eq!((fault.answered.len(), &*fault.silent[0]), (2, "n1"));
    let partial: Vec<_> = fault.partial.iter().map(told).collect();
    assert_eq!(partial, ["all: cluster n0, local n0, peer n2", "only0: local n0", "only2: peer n2"]);
    // Also where nobody else has the context: it can't be told whether it exists.
    let (kind, fault) = failed(list(&world, 0, "nowhere", TreeChoice::All).await);
    assert_eq!((kind, &*fault.silent[0]), (ErrorKind::ServiceUnavailable, "n1"));
}

/// A node that is silent costs whoever asks no more than a lookup would: 120 ms, or 60 % of the time given.
#[tokio::test(start_paused = true)]
async fn silence_costs_a_listing_a_survey_and_a_check_what_it_costs_a_lookup() {
    let world = three();
    world.set(1, Manner::Frozen);
    let name = || "a".to_owned();
    for (left, most) in [(5000, 120), (250, 120), (100, 60)] {
        for operation in [
            Operation::Lookup { name: "nowhere".to_owned() },
            Operation::List(page_request("a", TreeChoice::All)),
            Operation::Survey { name: name() },
            Operation::Check { name: name() },
        ] {
            let (_, took) = world.ask(0, Scope::Cluster, operation.clone(), left).await;
            assert_eq!(took, Duration::from_millis(most), "{operation:?}, {left} ms given");
        }
    }
}

/// A peer that does answer is waited for as often as there are pages.
#[tokio::test(start_paused = true)]
async fn the_time_for_an_answer_starts_anew_with_each_page_of_a_check() {
    let world = World::new(2);
    for number in 0..2500 {
        for node in 0..2 {
            world.bind(node, &format!("{number:04}"), "x");
        }
    }
    world.set(1, Manner::Answers(Duration::from_millis(100)));
    let (reply, took) = world.ask(0, Scope::Cluster, Operation::Check { name: String::new() }, 5000).await;
    assert_eq!((report(reply), took), (Report::default(), Duration::from_millis(300)));
}

#[tokio::test(start_paused = true)]
async fn only_trees_in_which_the_name_is_a_context_are_merged() {
    let world = World::new(3);
    world.bind(0, "a", "a value");
    world.bind(2, "a/b", "x");
    assert_eq!(rows(list(&world, 0, "a", TreeChoice::All).await), ["b: peer n2"]);
    let (kind, fault) = failed(list(&world, 0, "a/b", TreeChoice::All).await);
    assert_eq!((kind, fault.message.as_str()), (ErrorKind::NotContext, "'a/b' is not a context (in the local tree of n2)"));
    assert_eq!((fault.resolved_name.as_deref(), fault.remaining_name.as_deref()), (Some("a/b"), Some("")));
    assert_eq!(failed(list(&world, 0, "nowhere", TreeChoice::All).await).0, ErrorKind::NameNotFound);
    assert_eq!(failed(list(&world, 0, "a//b", TreeChoice::All).await).0, ErrorKind::InvalidName);
}

#[tokio::test(start_paused = true)]
async fn a_link_is_followed_where_a_lookup_would_meet_it_first() {
    let world = World::new(3);
    bind(&world.cores[1].local, "a", Content::link("b"));
    let reply = list(&world, 0, "a", TreeChoice::All).await;
    let Reply::Done(Answer::Link(link)) = reply else { panic!("{reply:?}") };
    assert_eq!((link.target.as_str(), link.found.source, &*link.found.node), ("b", Source::Peer, "n1"));
    // An own context comes before a peer's link.
    world.bind(0, "a/x", "x");
    assert_eq!(rows(list(&world, 0, "a", TreeChoice::All).await), ["x: local n0"]);
    // An own link comes before everything of the peers, and needs none of them.
    world.asked();
    assert!(matches!(list(&world, 1, "a", TreeChoice::All).await, Reply::Done(Answer::Link(_))));
    assert_eq!(world.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn a_survey_tells_what_every_tree_says() {
    let world = World::new(4);
    bind(&world.cores[0].cluster, "a", text("all's"));
    bind(&world.cores[1].cluster, "a", text("all's"));
    bind(&world.cores[2].cluster, "a", text("not yet all's"));
    world.bind(1, "a", "n1's");
    bind(&world.cores[2].local, "a", Content::link("b"));
    world.set(3, Manner::Frozen);
    let (reply, took) = world.ask(0, Scope::Cluster, Operation::Survey { name: "a".to_owned() }, 250).await;
    let Reply::Done(Answer::Survey(items)) = reply else { panic!("{reply:?}") };
    let told: Vec<_> = items
        .iter()
        .map(|item| {
            let answer = match &item.answer {
                SurveyAnswer::Found(found) => {
                    assert_eq!((found.source, &found.node), (item.source, &item.node));
                    String::from_utf8(found.content.value.to_vec()).unwrap()
                }
                SurveyAnswer::Link(link) => format!("→ {}", link.target),
                SurveyAnswer::Absent { .. } => "absent".to_owned(),
                SurveyAnswer::Silent => "silent".to_owned(),
            };
            format!("{} {}: {answer}", item.source.as_str(), item.node)
        })
        .collect();
    assert_eq!(
        told,
        [
            "cluster n0: all's",
            "local n0: absent",
            "peer n1: n1's",
            "cluster n2: not yet all's",
            "peer n2: → b",
            "peer n3: silent"
        ]
    );
    assert_eq!(took, Duration::from_millis(120));
}

#[track_caller]
fn report(reply: Reply) -> Report {
    match reply {
        Reply::Done(Answer::Report(report)) => report,
        other => panic!("no report: {other:?}"),
    }
}

async fn check(world: &World, name: &str) -> Reply {
    world.ask(0, Scope::Cluster, Operation::Check { name: name.to_owned() }, 5000).await.0
}

/// `name: value at source node, …`
fn findings(items: &[ReportItem]) -> Vec<String> {
    let answers = |item: &ReportItem| {
        let told = item.answers.iter().map(|found| {
            let what = match found.content.kind {
                hanaming::naming::EntryKind::Context => "context".to_owned(),
                _ => String::from_utf8(found.content.value.to_vec()).unwrap(),
            };
            format!("{what} at {} {}", found.source.as_str(), found.node)
        });
        told.collect::<Vec<_>>().join(", ")
    };
    items.iter().map(|item| format!("{}: {}", item.name, answers(item))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_check_finds_different_values_and_hidden_ones() {
    let world = World::new(3);
    for node in 0..3 {
        world.bind(node, "same", "x");
        world.bind(node, &format!("only{node}/deep"), "x");
    }
    world.bind(0, "a/b/differs", "0");
    world.bind(2, "a/b/differs", "2");
    world.bind(0, "kind", "value");
    world.bind(1, "kind/of", "x");
    bind(&world.cores[0].cluster, "c/hides", text("shown"));
    world.bind(1, "c/hides", "hidden");
    bind(&world.cores[0].cluster, "c/alone", text("x"));
    let found = report(check(&world, "").await);
    assert_eq!(found.conflicts, []);
    assert_eq!(
        findings(&found.mismatches),
        ["kind: value at local n0, context at peer n1", "a/b/differs: 0 at local n0, 2 at peer n2"]
    );
    assert_eq!(findings(&found.hidden), ["c/hides: shown at cluster n0, hidden at peer n1"]);

    assert_eq!(findings(&report(check(&world, "a").await).mismatches), ["a/b/differs: 0 at local n0, 2 at peer n2"]);
    assert_eq!(findings(&report(check(&world, "kind").await).mismatches), ["kind: value at local n0, context at peer n1"]);
    assert_eq!(report(check(&world, "same").await), Report::default());
}

#[tokio::test(start_paused = true)]
async fn a_check_goes_through_all_pages_and_only_where_trees_meet() {
    let world = World::new(2);
    for number in 0..2500 {
        world.bind(number % 2, &format!("one sided {number}/x"), "x");
    }
    for number in 0..1500 {
        world.bind(0, &format!("both/{number:04}"), "x");
        world.bind(1, &format!("both/{number:04}"), if number == 1499 { "y" } else { "x" });
    }
    world.asked();
    let found = report(check(&world, "").await);
    assert_eq!(findings(&found.mismatches), ["both/1499: x at local n0, y at peer n1"]);
    let asked = world.asked().len();
    assert!(asked < 10, "{asked} requests");
}

#[tokio::test(start_paused = true)]
async fn a_check_with_a_silent_node_says_so() {
    let world = World::new(3);
    world.bind(0, "a", "x");
    world.set(2, Manner::Frozen);
    for name in ["", "a"] {
        let (kind, fault) = failed(check(&world, name).await);
        assert_eq!((kind, &*fault.silent[0]), (ErrorKind::ServiceUnavailable, "n2"), "{name}");
        assert_eq!(fault.answered.iter().map(|n| &**n).collect::<Vec<_>>(), ["n0", "n1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_that_does_not_fit_says_so() {
    let world = World::new(2);
    for number in 0..50 {
        for node in 0..2 {
            world.bind(node, &format!("{number}"), &node.to_string().repeat(60_000));
        }
    }
    let (kind, fault) = failed(check(&world, "").await);
    assert_eq!(kind, ErrorKind::LimitExceeded);
    assert!(fault.message.contains("check beneath a longer name"), "{}", fault.message);
}

#[tokio::test(start_paused = true)]
async fn a_local_context_has_nothing_to_compare() {
    let world = World::new(2);
    world.bind(0, "a", "x");
    world.bind(1, "a", "y");
    let (reply, _) = world.ask(0, Scope::Local, Operation::Check { name: String::new() }, 250).await;
    assert_eq!(report(reply), Report::default());
}

fn bind_to(name: &str, value: &str) -> Operation {
    Operation::Mutate(Mutation::Bind {
        name: name.to_owned(),
        content: text(value),
        replace: false,
        create_parents: false,
        lease: None,
    })
}

fn unbind(name: &str) -> Operation {
    Operation::Mutate(Mutation::Unbind { name: name.to_owned() })
}

#[tokio::test(start_paused = true)]
async fn writes_through_a_local_context_go_into_that_tree() {
    let world = World::new(3);
    let (reply, _) = world.ask(1, Scope::Local, bind_to("a", "x"), 250).await;
    let Reply::Done(Answer::Written(Written { version, acked_by, live, members })) = reply else { panic!("{reply:?}") };
    assert!(version.is_some());
    assert_eq!((acked_by.iter().map(|n| &**n).collect::<Vec<_>>(), live, members), (vec!["n1"], 1, 1));
    assert_eq!((world.cores[1].local.len(), world.cores[1].cluster.len(), world.cores[0].local.len()), (1, 0, 0));

    let (kind, fault) = failed(world.ask(1, Scope::Local, bind_to("a", "y"), 250).await.0);
    let existing = fault.existing.unwrap();
    assert_eq!((kind, existing.source, &*existing.node), (ErrorKind::NameAlreadyBound, Source::Local, "n1"));

    for existed in [true, false] {
        let (reply, _) = world.ask(1, Scope::Local, unbind("a"), 250).await;
        assert!(matches!(reply, Reply::Done(Answer::Removed { existed: e, .. }) if e == existed), "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_mutation_reaches_the_tree() {
    let world = World::new(1);
    let name = |name: &str| name.to_owned();
    let mutations = [
        Mutation::CreateSubcontext { name: name("a/b"), create_parents: true },
        Mutation::Bind { name: name("a/b/c"), content: text("x"), replace: true, create_parents: false, lease: None },
        Mutation::Rename { from: name("a/b/c"), to: name("a/d") },
        Mutation::DestroySubcontext { name: name("a/b") },
    ];
    for mutation in mutations {
        let (reply, _) = world.ask(0, Scope::Local, Operation::Mutate(mutation), 250).await;
        assert!(matches!(reply, Reply::Done(Answer::Written(_) | Answer::Removed { existed: true, .. })), "{reply:?}");
    }
    let bound: Vec<_> = world.cores[0].local.snapshot().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(bound, ["a", "a/d"]);
    let (kind, _) = failed(world.ask(0, Scope::Local, unbind("a"), 250).await.0);
    assert_eq!(kind, ErrorKind::ContextNotEmpty);
    for bad in ["", "a//b", "'"] {
        let (kind, fault) = failed(world.ask(0, Scope::Local, unbind(bad), 250).await.0);
        assert_eq!((kind, fault.completion), (ErrorKind::InvalidName, CompletionStatus::No), "{bad:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_follows_links_on_the_way() {
    let world = World::new(1);
    bind(&world.cores[0].local, "link", Content::link("there"));
    let (reply, _) = world.ask(0, Scope::Local, bind_to("link/a", "x"), 250).await;
    let Reply::Done(Answer::Link(link)) = reply else { panic!("{reply:?}") };
    assert_eq!((link.at.as_str(), link.target.as_str(), link.rest.as_str()), ("link", "there", "a"));
    let (reply, _) = world.ask(0, Scope::Local, unbind("link"), 250).await;
    assert!(matches!(reply, Reply::Done(Answer::Removed { existed: true, .. })));
}

/// What is done to the cluster tree, and that all nodes show the same then.
#[tokio::test(start_paused = true)]
async fn the_cluster_tree_takes_writes_on_any_node() {
    for nodes in [1, 3] {
        let world = World::new(nodes);
        sleep(Duration::from_millis(100)).await;
        let mutate = |operation| world.ask_as(0, operation);
        let Reply::Done(Answer::Written(written)) = mutate(bind_to("a", "x")).await else { panic!("not written") };
        let all: Vec<Arc<str>> = (0..nodes).map(|n| Arc::from(format!("n{n}"))).collect();
        assert_eq!(written.acked_by, all);
        assert_eq!((u128::from(written.live), u128::from(written.members)), (nodes, nodes));
        for core in &world.cores {
            assert!(matches!(core.cluster.lookup("a"), Lookup::Found(_)));
            assert!(core.local.is_empty());
        }
        let (kind, fault) = failed(mutate(bind_to("a", "y")).await);
        assert_eq!((kind, fault.completion), (ErrorKind::NameAlreadyBound, CompletionStatus::Yes));
        assert_eq!(fault.existing.unwrap().version, written.version);
        assert!(matches!(mutate(unbind("a")).await, Reply::Done(Answer::Removed { existed: true, .. })));
        assert!(matches!(mutate(unbind("a")).await, Reply::Done(Answer::Removed { existed: false, .. })));
        sleep(Duration::from_millis(10)).await;
        assert!(world.cores.iter().all(|core| core.cluster.is_empty()));
        let digests: Vec<u64> = world.cores.iter().map(|core| core.replication.digest()).collect();
        assert!(digests.iter().all(|digest| *digest == digests[0]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_refused_by_name() {
    let world = World::new(1);
    let Operation::Mutate(Mutation::Bind { name, content, .. }) = bind_to("a", "x") else { unreachable!() };
    let leased = Operation::Mutate(Mutation::Bind { name, content, replace: false, create_parents: false, lease: Some(1000) });
    let (kind, fault) = failed(world.ask(0, Scope::Local, leased, 250).await.0);
    assert_eq!((kind, fault.completion), (ErrorKind::OperationNotSupported, CompletionStatus::No));
    assert!(fault.message.contains("lease"), "{}", fault.message);
    assert!(world.cores[0].local.is_empty());
}
