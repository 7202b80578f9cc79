//! Where targets come from, and how sources are merged.

use hanaming::client::{ClientConfig, Elections, Fleet, Health, Input, Names};
use hanaming::discovery::Question;
use hanaming::topology::{Endpoint, MemberState};

use crate::stage::{
    Stage, addresses, config, connection_refused, endpoint, found, lookup, lost, member, ms, view, view_of, welcome,
};

/// Each target: its letter, where it's from, its state.
fn shown(fleet: &Fleet) -> Vec<String> {
    let word = |target: &hanaming::client::Target| {
        format!("{} {} {}", crate::stage::letter(&target.label), target.origin.as_str(), target.state())
    };
    fleet.targets().map(word).collect()
}

fn welcomed(fleet: &mut Fleet, by: char, letters: &str, at: u64) {
    let label = endpoint(by).to_string();
    let id = fleet.targets().find(|target| *target.label == *label).unwrap().id;
    fleet.welcomed(id, &welcome(member(by, 1, MemberState::Live), view(letters)), ms(at));
}

fn from(letters: &str) -> Fleet {
    crate::stage::fleet(&config(letters), 1)
}

#[test]
fn members_of_a_view_join_and_leave_with_it() {
    let mut fleet = from("a");
    welcomed(&mut fleet, 'a', "abc", 5);
    assert_eq!(shown(&fleet), ["a provider good", "b view untried", "c view untried"]);
    assert_eq!(fleet.targets().nth(1).unwrap().since, ms(5));
    let a = fleet.targets().next().unwrap().id;
    fleet.saw_view(a, &view("bd"), ms(6));
    assert_eq!(shown(&fleet), ["a provider failed", "b view untried", "d view untried"], "the provider's stays, to be probed");
    assert_eq!(fleet.view().unwrap().members().len(), 2);
}

#[test]
fn a_target_stays_while_any_server_lists_it() {
    let mut fleet = from("ab");
    welcomed(&mut fleet, 'a', "abc", 1);
    welcomed(&mut fleet, 'b', "abc", 1);
    let a = fleet.targets().next().unwrap().id;
    fleet.saw_view(a, &view("ab"), ms(2));
    assert_eq!(shown(&fleet).len(), 3, "b still lists c");
    let b = fleet.targets().nth(1).unwrap().id;
    fleet.saw_view(b, &view("ab"), ms(3));
    assert_eq!(shown(&fleet).len(), 2);
}

#[test]
fn the_view_of_a_failed_server_gives_way_to_another_but_is_never_the_last_to_go() {
    let mut stage = Stage::new("a", lookup("orders"));
    let id = stage.id('a');
    assert_eq!(stage.start(), "send a 250");
    stage.fleet.welcomed(id, &welcome(member('a', 1, MemberState::Live), view("abc")), ms(0));
    stage.step(lost());
    assert_eq!(shown(&stage.fleet), ["a provider failed", "b view untried", "c view untried"]);
    let b = stage.id('b');
    stage.fleet.welcomed(b, &welcome(member('b', 1, MemberState::Live), view("bd")), ms(1));
    assert_eq!(shown(&stage.fleet), ["a provider failed", "b view good", "d view untried"]);
    // All are lost: where they were is still known.
    stage.step(lost());
    stage.step(connection_refused());
    assert_eq!(shown(&stage.fleet).len(), 3);
}

#[test]
fn views_are_not_followed_where_that_was_not_wanted() {
    let config = ClientConfig { follow_views: false, ..config("a") };
    let mut fleet = crate::stage::fleet(&config, 1);
    welcomed(&mut fleet, 'a', "abc", 0);
    assert_eq!(shown(&fleet), ["a provider good"]);
    assert!(fleet.view().is_some(), "it's shown all the same");
}

#[test]
fn a_draining_target_finishes_and_gets_nothing_new() {
    let mut stage = Stage::new("a", lookup("orders"));
    stage.introduce("a");
    let a = stage.id('a');
    stage.fleet.saw_view(a, &view("ab"), ms(0));
    while stage.start() != "send b 250" {
        stage.step(found());
        stage.again(lookup("orders"));
    }
    stage.fleet.saw_view(a, &view("a"), ms(1));
    assert_eq!(shown(&stage.fleet)[1], "b view draining");
    let mut in_flight =
        std::mem::replace(&mut stage.call, hanaming::client::Call::new(lookup("x"), &stage.config, ms(1), ms(5000)));
    for _ in 0..5 {
        assert_eq!(stage.start(), "send a 250");
        stage.step(found());
        stage.again(lookup("orders"));
    }
    let before = stage.fleet.revision();
    in_flight.step(&mut stage.fleet, ms(2), found());
    assert_eq!(shown(&stage.fleet).len(), 1);
    assert_ne!(stage.fleet.revision(), before);
}

#[test]
fn a_member_that_is_leaving_gets_nothing_new_and_one_that_is_joining_is_no_target() {
    let mut stage = Stage::new("a", lookup("orders"));
    let a = stage.id('a');
    let members = vec![
        member('a', 1, MemberState::Live),
        member('b', 1, MemberState::Quiescing),
        member('c', 1, MemberState::Joining),
        member('d', 1, MemberState::Live),
    ];
    stage.fleet.welcomed(a, &welcome(member('a', 1, MemberState::Live), view_of(members)), ms(0));
    assert_eq!(shown(&stage.fleet), ["a provider good", "b view quiescing", "d view untried"]);
    for _ in 0..10 {
        assert_ne!(stage.start(), "send b 250");
        stage.step(found());
        stage.again(lookup("orders"));
    }
}

#[test]
fn a_node_that_came_back_as_a_new_incarnation_is_due_for_a_probe_at_once() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.introduce("ab");
    let (a, b) = (stage.id('a'), stage.id('b'));
    stage.start();
    stage.step(lost());
    stage.fleet.saw_view(b, &view("b"), ms(1));
    for _ in 0..6 {
        let at = stage.fleet.next_due().unwrap();
        assert_eq!(stage.fleet.probes_due(at).len(), 1);
        let refused = crate::stage::error(hanaming::failure::Phase::Connect, hanaming::transport::TransportErrorKind::Refused);
        stage.fleet.probed(a, Err(&refused), at, at);
        stage.now = at;
    }
    assert!(stage.fleet.next_due().unwrap() > stage.now + ms(3000));
    let back = view_of(vec![member('a', 2, MemberState::Live), member('b', 1, MemberState::Live)]);
    stage.fleet.saw_view(b, &back, stage.now);
    assert_eq!(stage.fleet.next_due(), Some(stage.now));
    assert_eq!(stage.fleet.targets().count(), 2);
    assert!(matches!(stage.health('a'), Health::Failed { .. }));
}

#[test]
fn two_ways_to_one_node_are_one_target_as_long_as_the_given_one_works() {
    // The provider names a proxy at z; the node behind it is a, and advertises a's address.
    let mut stage = Stage::with(config("z"), lookup("orders"));
    let z = stage.id('z');
    stage.start();
    stage.fleet.welcomed(z, &welcome(member('a', 1, MemberState::Live), view("ab")), ms(0));
    stage.step(found());
    assert_eq!(shown(&stage.fleet), ["z provider good", "b view untried"]);
    // The proxy fails: the advertised address is tried.
    loop {
        stage.again(lookup("orders"));
        if stage.start() == "send z 250" {
            break;
        }
        stage.step(found());
    }
    stage.step(lost());
    assert_eq!(shown(&stage.fleet), ["z provider failed", "b view good", "a view untried"]);
    let at = stage.fleet.next_due().unwrap();
    stage.fleet.probes_due(at);
    stage.fleet.probed(z, Ok(&welcome(member('a', 1, MemberState::Live), view("ab"))), at, at);
    let listed = shown(&stage.fleet);
    assert!(listed.contains(&"z provider good".to_owned()), "{listed:?}");
    assert!(listed.iter().all(|target| !target.starts_with("a ") || target.ends_with("draining")), "{listed:?}");
}

#[test]
fn a_resolution_is_a_difference_and_a_failed_one_removes_nothing() {
    let host = Endpoint::new("h", 1);
    let config = ClientConfig { seed: Some(1), ..ClientConfig::new(vec![host.clone()]) };
    let mut fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 1);
    assert!(fleet.take_alarm(), "a name needs the background");
    let question = Question::Addresses(host);
    assert_eq!(fleet.questions_due(ms(0)), std::slice::from_ref(&question));
    fleet.told(&question, Ok(addresses("abb", 30)), ms(1));
    assert_eq!(shown(&fleet).len(), 2);
    let b = fleet.targets().nth(1).unwrap().id;
    fleet.told(&question, Ok(addresses("bc", 30)), ms(2));
    assert_eq!(shown(&fleet), ["b dns untried", "c dns untried"]);
    assert_eq!(fleet.targets().next().unwrap().id, b, "what is unchanged is untouched");
    for bad in [Err("no such host".to_owned()), Ok(addresses("", 30))] {
        fleet.told(&question, bad, ms(3));
        assert_eq!(shown(&fleet).len(), 2);
        assert!(fleet.next_due().is_some(), "and it's repeated");
    }
    // Networks that know names dial them as they are.
    let mut dialled = Fleet::new(&config, Elections::new(), Names::Dialled, 1);
    assert_eq!(dialled.targets().map(|target| target.label.to_string()).collect::<Vec<_>>(), ["h:1"]);
    assert_eq!(dialled.questions_due(ms(0)), []);
}

#[test]
fn a_refused_connection_asks_for_the_addresses_again_but_not_too_often() {
    let host = Endpoint::new("h", 1);
    let config = ClientConfig { seed: Some(1), ..ClientConfig::new(vec![host.clone()]) };
    let fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 1);
    let call = hanaming::client::Call::new(lookup("orders"), &config, ms(0), config.timeout);
    let mut stage = Stage { config, fleet, now: ms(0), call };
    let question = Question::Addresses(host);
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&question, Ok(addresses("a", 30)), ms(0));
    assert_eq!(stage.start(), "send a 250");
    stage.after(10, connection_refused());
    assert_eq!(stage.fleet.questions_due(ms(900)), []);
    assert_eq!(stage.fleet.questions_due(ms(1000)), [question]);
    assert!(stage.step(Input::Woke).starts_with("wait"));
}

#[test]
fn options_that_cannot_be_meant_are_refused_with_a_sentence() {
    use hanaming::client::config::seconds;
    let refused = |config: ClientConfig| config.validate().unwrap_err().to_string();
    let local = ClientConfig { scope: hanaming::protocol::Scope::Local, ..config("ab") };
    assert!(refused(local).contains("2 addresses are given"));
    assert!(refused(ClientConfig { timeout: ms(0), ..config("a") }).contains("timeout is 0"));
    assert!(refused(ClientConfig { attempt_timeout: ms(0), ..config("a") }).contains("attempt_timeout is 0"));
    assert!(refused(ClientConfig::new(Vec::new())).contains("no provider"));
    assert!(refused(ClientConfig { scope: hanaming::protocol::Scope::Peer, ..config("a") }).contains("for nodes"));
    assert!(ClientConfig::local("hn://h1,h2").unwrap_err().to_string().contains("one node's"));
    for bad in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(seconds("timeout", bad).unwrap_err().to_string().contains("positive number of seconds"));
    }
    assert_eq!(seconds("timeout", f64::INFINITY).unwrap(), ms(86_400_000));
    assert_eq!(seconds("timeout", 0.25).unwrap(), ms(250));
}

#[test]
fn a_local_context_stays_with_the_node_that_answered_first() {
    let host = Endpoint::new("h", 1);
    let config = ClientConfig { scope: hanaming::protocol::Scope::Local, ..ClientConfig::new(vec![host.clone()]) };
    let mut fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 1);
    let question = Question::Addresses(host);
    fleet.questions_due(ms(0));
    fleet.told(&question, Ok(addresses("abc", 30)), ms(0));
    assert_eq!(shown(&fleet).len(), 3);
    welcomed(&mut fleet, 'b', "abc", 1);
    assert_eq!(shown(&fleet), ["b dns good"], "a and c are other nodes behind one name");
    fleet.told(&question, Ok(addresses("ac", 30)), ms(2));
    assert_eq!(shown(&fleet).len(), 2, "it moved: whoever the name stands for now is asked");
}

#[test]
fn host_names_that_nobody_lists_any_longer_are_forgotten() {
    let mut fleet = from("a");
    let named = |name: &str| {
        let mut b = member('b', 1, MemberState::Live);
        b.endpoint = Endpoint::new(name, 1);
        view_of(vec![member('a', 1, MemberState::Live), b])
    };
    let a = fleet.targets().next().unwrap().id;
    for nth in 0..100 {
        fleet.saw_view(a, &named(&format!("pod-{nth}")), ms(nth));
    }
    assert_eq!(fleet.questions_due(ms(100)), [Question::Addresses(Endpoint::new("pod-99", 1))]);
}
