//! A cache's answers: which are kept, when they cease to be true, and what a call makes of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hanaming::client::cache::{Cache, Generation};
use hanaming::client::{ClientConfig, Input, Invocation};
use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, ErrorKind, Source};
use hanaming::protocol::{Answer, Found, LinkMet, Position, Reply, WatchFrom, WatchNext, WatchRow, WatchScope, Watched};

use crate::stage::{
    Stage, bind, config, connection_refused, content, fault, found_content, link, lookup, member, ms, node, not_found, subject,
    view_of, welcome, written,
};

const NOW: Duration = ms(1000);

fn watched(letter: char, names: &[&str], log: u128, sequence: u64) -> Watched {
    let row =
        |name: &&str| WatchRow { name: (*name).to_owned(), bound: None, is_conflict: false, moved_from: None, ends_write: true };
    let next = WatchNext::Position(Position { log, sequence });
    Watched { node: node(letter), rows: names.iter().map(row).collect(), next }
}

fn lost_log() -> Watched {
    Watched { node: node('a'), rows: Vec::new(), next: WatchNext::Lost { log: 9 } }
}

/// What a node answers of its cluster tree.
fn of_cluster(letter: char) -> Found {
    Found { source: Source::Cluster, ..found_content(content(7), letter) }
}

fn reply_of(found: Found) -> Reply {
    Reply::Done(Answer::Found(found))
}

fn absent() -> Reply {
    Reply::Failed(fault(ErrorKind::NameNotFound, CompletionStatus::Yes, "no such name"))
}

/// A cache that follows node a's log.
fn following() -> Cache {
    let mut cache = Cache::new(Generation::default());
    cache.hear(watched('a', &[], 7, 1), NOW);
    cache
}

fn keep(cache: &mut Cache, name: &str) {
    let moment = cache.moment();
    cache.keep(name, &reply_of(of_cluster('a')), moment, NOW);
    assert!(cache.answer(name, NOW).is_some(), "{name} is kept");
}

#[test]
fn only_the_followed_nodes_answers_of_the_cluster_tree_are_kept() {
    let mut cache = Cache::new(Generation::default());
    cache.keep("x", &reply_of(of_cluster('a')), 0, NOW);
    assert_eq!(cache.answer("x", NOW), None, "no log is followed");
    let first = cache.request();
    assert_eq!((first.scope, first.from, first.hold), (WatchScope::Object, WatchFrom::Start, 0));
    cache.hear(watched('a', &[], 7, 1), NOW);
    let next = cache.request();
    assert_eq!((next.scope, next.from), (WatchScope::Subtree, WatchFrom::Position(Position { log: 7, sequence: 1 })));
    cache.keep("x", &reply_of(of_cluster('a')), 0, NOW);
    assert_eq!(cache.answer("x", NOW), None, "it was asked before the log was followed");
    let moment = cache.moment();
    cache.keep("x", &reply_of(of_cluster('b')), moment, NOW);
    assert_eq!(cache.answer("x", NOW), None, "node b may lag behind a");
    cache.keep("x", &reply_of(of_cluster('a')), moment, NOW);
    assert_eq!(cache.answer("x", NOW), Some(reply_of(of_cluster('a'))));
    assert_eq!(cache.answer("y", NOW), None);
}

#[test]
fn a_change_ends_what_is_kept_of_the_name_and_of_what_is_reached_by_it() {
    let kept = ["a", "a/b", "a/b/c", "ab", "b"];
    let left_after = |names: &[&str]| {
        let mut cache = following();
        for name in kept {
            keep(&mut cache, name);
        }
        cache.hear(watched('a', names, 7, 2), NOW);
        kept.iter().filter(|name| cache.answer(name, NOW).is_some()).copied().collect::<Vec<_>>()
    };
    assert_eq!(left_after(&[]), kept);
    assert_eq!(left_after(&["z"]), kept);
    assert_eq!(left_after(&["a/b/c"]), ["ab", "b"], "the contexts above may be there for it");
    assert_eq!(left_after(&["a"]), ["ab", "b"], "a link may stand there now");
    assert_eq!(left_after(&["ab", "b"]), ["a", "a/b", "a/b/c"]);
    assert_eq!(left_after(&[""]), Vec::<&str>::new());
}

#[test]
fn a_rename_is_of_both_names() {
    let mut cache = following();
    keep(&mut cache, "old");
    keep(&mut cache, "new");
    let mut moved = watched('a', &["new"], 7, 2);
    moved.rows[0].moved_from = Some("old".to_owned());
    cache.hear(moved, NOW);
    assert_eq!([cache.answer("old", NOW), cache.answer("new", NOW)], [None, None]);
}

#[test]
fn an_answer_that_a_change_overtook_is_not_kept() {
    for changed in ["x/y", "x", ""] {
        let mut cache = following();
        let moment = cache.moment();
        cache.hear(watched('a', &[changed], 7, 2), NOW);
        cache.keep("x/y", &reply_of(of_cluster('a')), moment, NOW);
        assert_eq!(cache.answer("x/y", NOW), None, "{changed:?} changed under way");
        let later = cache.moment();
        cache.keep("x/y", &reply_of(of_cluster('a')), later, NOW);
        assert!(cache.answer("x/y", NOW).is_some(), "asked again it is kept");
    }
    let mut cache = following();
    let moment = cache.moment();
    for number in 0..2000 {
        cache.changed(&format!("other/{number}"));
    }
    cache.keep("x", &reply_of(of_cluster('a')), moment, NOW);
    assert_eq!(cache.answer("x", NOW), None, "more changed than is remembered");
}

#[test]
fn a_log_that_is_lost_or_silent_vouches_for_nothing_and_what_was_known_last_stays() {
    type End = fn(&mut Cache);
    let ends: [(&str, End); 3] = [
        ("nobody answers", Cache::lost),
        ("the node has gone on too far", |cache| cache.hear(lost_log(), NOW)),
        ("it's another page than was asked for", |cache| {
            let rest = WatchNext::Rest { position: Position { log: 7, sequence: 2 }, after: "a".into() };
            cache.hear(Watched { next: rest, ..watched('a', &[], 7, 2) }, NOW);
        }),
    ];
    for (what, end) in ends {
        let generation = Generation::default();
        let mut cache = Cache::new(Arc::clone(&generation));
        cache.hear(watched('a', &[], 7, 1), NOW);
        keep(&mut cache, "x");
        let before = generation.load(Ordering::Relaxed);
        end(&mut cache);
        assert!(generation.load(Ordering::Relaxed) > before, "{what}: whoever keeps objects hears of it");
        assert_eq!(cache.answer("x", NOW), None, "{what}");
        assert_eq!(cache.request().from, WatchFrom::Start, "{what}: it begins anew");
        assert_eq!(cache.last_known("x"), Some(reply_of(of_cluster('a'))), "{what}");
        cache.hear(watched('a', &[], 7, 5), NOW);
        assert_eq!(cache.answer("x", NOW), None, "{what}: nobody knows what was missed");
    }
    let mut silent = following();
    keep(&mut silent, "x");
    assert!(silent.answer("x", NOW + ms(2500)).is_some());
    assert_eq!(silent.answer("x", NOW + ms(2501)), None, "no word for too long");
    silent.hear(watched('a', &[], 7, 1), NOW + ms(2600));
    assert!(silent.answer("x", NOW + ms(2700)).is_some(), "and then one that nothing has changed");
}

#[test]
fn what_no_log_tells_of_is_kept_for_a_second_or_until_the_members_change() {
    let kept = [("local", reply_of(found_content(content(1), 'b'))), ("absent", absent())];
    let filled = || {
        let mut cache = following();
        for (name, reply) in &kept {
            cache.keep(name, reply, cache.moment(), NOW);
        }
        keep(&mut cache, "cluster");
        cache
    };
    for (name, reply) in &kept {
        assert_eq!(filled().answer(name, NOW + ms(999)).as_ref(), Some(reply));
        assert_eq!(filled().answer(name, NOW + ms(1000)), None);
        let mut cache = filled();
        cache.members_changed();
        assert_eq!(cache.answer(name, NOW), None);
        assert!(cache.answer("cluster", NOW).is_some());
        let mut cache = filled();
        cache.changed(name);
        assert_eq!(cache.answer(name, NOW), None, "an own write");
    }
    let mut cache = filled();
    assert!(cache.last_known("local").is_some());
    assert_eq!(cache.last_known("absent"), None, "that nothing was there is nothing to go on with");
    // A parent that is made on the way to a name is there from then on.
    cache.changed("absent/beneath");
    assert_eq!(cache.answer("absent", NOW), None);
}

#[test]
fn what_is_kept_has_a_bound_and_the_oldest_go() {
    let mut cache = following();
    for number in 0..10_050 {
        keep(&mut cache, &format!("n{number}"));
    }
    assert_eq!(cache.answer("n49", NOW), None);
    assert!(cache.answer("n50", NOW).is_some());
    let mut cache = following();
    let large = Content { value: vec![0; 4 << 20].into(), ..content(1) };
    for name in ["a", "b", "c", "d"] {
        let moment = cache.moment();
        cache.keep(name, &reply_of(Found { content: large.clone(), ..of_cluster('a') }), moment, NOW);
    }
    assert_eq!(cache.answer("a", NOW), None, "16 MiB at most");
    assert!(cache.answer("b", NOW).is_some());
    // The same name again and again takes no room.
    let mut cache = following();
    for _ in 0..100_000 {
        keep(&mut cache, "x");
    }
    keep(&mut cache, "y");
    assert!(cache.answer("x", NOW).is_some());
}

/// A call over nodes a and b whose cache follows `followed`.
fn stage(invocation: Invocation, followed: char) -> Stage {
    let config = ClientConfig { cache: Some(Generation::default()), ..config("ab") };
    let mut stage = Stage::with(config, invocation);
    stage.introduce("ab");
    let cache = stage.fleet.cache.as_mut().unwrap();
    cache.hear(watched(followed, &[], 7, 1), Duration::ZERO);
    stage
}

fn replies(found: Found) -> Input {
    Input::Reply(reply_of(found))
}

#[test]
fn a_lookup_asks_the_followed_node_and_the_next_one_nobody() {
    for (letter, sent) in [('a', "send a 250"), ('b', "send b 250")] {
        let mut stage = stage(lookup("x"), letter);
        assert_eq!(stage.start(), sent);
        assert_eq!(stage.step(replies(of_cluster(letter))), "done found");
        stage.again(lookup("x"));
        assert_eq!(stage.start(), "done found kept");
        assert_eq!(stage.attempts(), Vec::<String>::new());
        stage.again(Invocation::get(subject("x")).unwrap());
        assert_eq!(stage.start(), "done found kept");
        stage.again(Invocation::resolve(subject("x")).unwrap());
        assert_eq!(stage.start(), sent, "who resolves asks");
        stage.again(Invocation::wait_for(subject("y")).unwrap());
        assert!(stage.start().starts_with("send"), "nobody waits for what is kept");
    }
}

#[test]
fn a_target_that_never_said_who_it_is_may_be_the_followed_node() {
    let config = ClientConfig { cache: Some(Generation::default()), follow_views: false, ..config("ab") };
    let mut stage = Stage::with(config, lookup("x"));
    assert_eq!(stage.start(), "send a 250");
    let id = stage.id('a');
    let alone = member('a', 1, hanaming::topology::MemberState::Live);
    stage.fleet.welcomed(id, &welcome(alone.clone(), view_of(vec![alone])), stage.now);
    stage.step(replies(of_cluster('a')));
    stage.fleet.cache.as_mut().unwrap().hear(watched('b', &[], 7, 1), stage.now);
    for _ in 0..3 {
        stage.again(lookup("x"));
        assert_eq!(stage.start(), "send b 250");
        stage.step(replies(of_cluster('b')));
        stage.again(lookup("x"));
        assert_eq!(stage.start(), "done found kept");
        stage.fleet.cache.as_mut().unwrap().changed("x");
    }
}

#[test]
fn a_missing_name_is_kept_for_both_ways_of_asking() {
    let mut stage = stage(lookup("x"), 'a');
    assert_eq!(stage.start(), "send a 250");
    let told = stage.step(not_found());
    stage.again(lookup("x"));
    assert_eq!(stage.start(), told);
    stage.again(Invocation::get(subject("x")).unwrap());
    assert_eq!(stage.start(), "done absent");
    stage.now += ms(1000);
    stage.again(lookup("x"));
    assert_eq!(stage.start(), "send a 250");
}

#[test]
fn an_own_change_ends_it_at_once() {
    let invocations = [
        bind("x"),
        Invocation::unbind(subject("x")).unwrap(),
        Invocation::rename(subject("y"), subject("x")).unwrap(),
        Invocation::create_subcontext(subject("x"), false).unwrap(),
    ];
    for invocation in invocations {
        let mut stage = stage(lookup("x"), 'a');
        stage.start();
        stage.step(replies(of_cluster('a')));
        stage.again(invocation);
        assert!(stage.start().starts_with("send"));
        // However it ends.
        stage.step(written());
        stage.again(lookup("x"));
        assert_eq!(stage.start(), "send a 250");
    }
}

#[test]
fn each_step_behind_a_link_is_kept_by_itself() {
    let mut stage = stage(lookup("l/x"), 'a');
    let met = |met: LinkMet| Input::Reply(Reply::Done(Answer::Link(LinkMet { found: of_cluster('a'), ..met })));
    stage.start();
    assert_eq!(stage.step(met(link("l", "t", "x"))), "send a 250");
    assert_eq!(stage.step(replies(of_cluster('a'))), "done found at t/x");
    stage.again(lookup("l/x"));
    assert_eq!(stage.start(), "done found at t/x kept");
    // The link leads elsewhere now.
    stage.fleet.cache.as_mut().unwrap().hear(watched('a', &["l"], 7, 2), stage.now);
    stage.again(lookup("l/x"));
    assert_eq!(stage.start(), "send a 250");
    assert_eq!(stage.step(met(link("l", "u", "x"))), "send a 250");
    assert_eq!(stage.request().operation, lookup("u/x").operation());
}

#[test]
fn where_no_server_is_left_what_was_known_last_is_given_and_said_to_be_so() {
    let mut stage = stage(lookup("x"), 'a');
    stage.start();
    stage.step(replies(of_cluster('a')));
    stage.fleet.cache.as_mut().unwrap().lost();
    for (name, ends) in [("x", "done found last known"), ("unknown", "ServiceUnavailable NO")] {
        stage.again(lookup(name));
        let mut output = stage.start();
        let mut steps = 0;
        while !output.starts_with("done") && !output.starts_with("Service") {
            steps += 1;
            assert!(steps < 50, "{output}");
            output = match output.strip_prefix("wait ") {
                Some(millis) => stage.after(millis.parse::<u64>().unwrap() + 1, Input::Woke),
                None => stage.step(connection_refused()),
            };
        }
        assert!(output.starts_with(ends), "{output}");
        assert!(stage.attempts().len() >= 2, "both were tried");
    }
}

#[test]
fn a_view_that_changes_ends_what_was_answered_of_local_trees() {
    let mut stage = stage(lookup("x"), 'a');
    stage.start();
    stage.step(replies(found_content(content(1), 'b')));
    stage.again(lookup("x"));
    assert_eq!(stage.start(), "done found kept");
    let id = stage.id('a');
    let alone = member('a', 1, hanaming::topology::MemberState::Live);
    stage.fleet.welcomed(id, &welcome(alone.clone(), view_of(vec![alone])), stage.now);
    stage.again(lookup("x"));
    assert!(stage.start().starts_with("send"));
}
