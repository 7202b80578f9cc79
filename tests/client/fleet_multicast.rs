//! Announced nodes as a source of a fleet: it tells by itself, and is asked for those who said nothing.

use hanaming::client::{Call, ClientConfig, Elections, Fleet, Input, Names};
use hanaming::discovery::{Answer, Interface, Neighbourhood, Origin, Place, Question};
use hanaming::failure::Phase;
use hanaming::protocol::Scope;
use hanaming::topology::MemberState;
use hanaming::transport::{TransportError, TransportErrorKind};

use crate::stage::{Stage, connection_refused, endpoint, letter, lookup, member, ms, view, welcome};

fn of() -> Question {
    Question::Multicast(Neighbourhood { cluster: "prod".into(), interface: Interface::Every })
}

fn stage() -> Stage {
    let config = ClientConfig { seed: Some(1), ..ClientConfig::from_providers(["hn+mdns://prod"]).unwrap() };
    let fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 1);
    let call = Call::new(lookup("orders"), &config, ms(0), config.timeout);
    Stage { config, fleet, now: ms(0), call }
}

fn announced(letters: &str) -> Answer {
    let places = letters.chars().map(|letter| Place::new(endpoint(letter), Origin::Mdns)).collect();
    Answer::new(places, None)
}

fn shown(fleet: &Fleet) -> Vec<String> {
    let word =
        |target: &hanaming::client::Target| format!("{} {} {}", letter(&target.label), target.origin.as_str(), target.state());
    fleet.targets().map(word).collect()
}

#[test]
fn who_is_announced_joins_and_who_leaves_is_gone_without_being_asked_for() {
    let mut stage = stage();
    assert!(stage.fleet.take_alarm(), "it needs the background");
    assert_eq!(stage.start(), "wait 5000", "a call waits for the first one");
    assert_eq!(stage.fleet.questions_due(ms(0)), [of()]);
    stage.fleet.told(&of(), Ok(announced("a")), ms(300));
    assert_eq!(stage.after(300, Input::Woke), "send a 250");
    probed(&mut stage.fleet, "a", 310);
    assert_eq!(stage.fleet.next_due(), None, "it tells by itself");
    stage.fleet.told(&of(), Ok(announced("ab")), ms(60_000));
    assert_eq!(shown(&stage.fleet), ["a mdns good", "b mdns unproven"]);
    stage.fleet.told(&of(), Ok(announced("b")), ms(61_000));
    assert_eq!(shown(&stage.fleet), ["a mdns draining", "b mdns unproven"], "its request is finished");
    assert_eq!(stage.fleet.questions_due(ms(999_000)), []);
    let counted = stage.fleet.metrics();
    assert_eq!((counted.refreshes, counted.failed_refreshes, counted.joined, counted.drained), (1, 0, 2, 1));
}

/// Whoever is due is probed: these answer as nodes, nobody is behind the others.
fn probed(fleet: &mut Fleet, well: &str, at: u64) {
    for (id, endpoint) in fleet.probes_due(ms(at)) {
        let letter = letter(&endpoint.to_string());
        if well.contains(letter) {
            fleet.probed(id, Ok(&welcome(member(letter, 1, MemberState::Live), view(""))), ms(at), ms(at));
        } else {
            fleet.probed(id, Err(&TransportError::new(Phase::Connect, TransportErrorKind::Refused)), ms(at), ms(at));
        }
    }
}

#[test]
fn calls_go_to_who_was_greeted_and_to_others_only_where_nobody_was() {
    let mut stage = stage();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&of(), Ok(announced("a")), ms(0));
    assert_eq!(stage.start(), "send a 250", "nobody else is known");
    stage.fleet.told(&of(), Ok(announced("abcdefgh")), ms(1));
    probed(&mut stage.fleet, "g", 1);
    let states: Vec<String> = shown(&stage.fleet);
    assert_eq!(
        states,
        [
            "a mdns failed",
            "b mdns failed",
            "c mdns failed",
            "d mdns failed",
            "e mdns failed",
            "f mdns failed",
            "g mdns good",
            "h mdns failed"
        ]
    );
    stage.fleet.told(&of(), Ok(announced("abcdefghijk")), ms(2));
    assert_eq!(stage.after(2, connection_refused()), "send g 250", "not one of those that were merely announced");
}

#[test]
fn a_server_that_was_greeted_once_is_asked_again_before_any_that_was_merely_announced() {
    let mut stage = stage();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&of(), Ok(announced("a")), ms(0));
    probed(&mut stage.fleet, "a", 0);
    stage.fleet.told(&of(), Ok(announced("abcdefgh")), ms(1));
    assert_eq!(stage.start(), "send a 250");
    assert!(stage.step(connection_refused()).starts_with("wait"), "the round is over with the only one");
    assert_eq!(stage.after(100, Input::Woke), "send a 250");
    let said = stage.step(connection_refused());
    assert!(said.contains("can be reached. na: connection refused. Safe"), "nobody else was called: {said}");
}

#[test]
fn the_last_one_that_was_known_stays_and_others_are_looked_for() {
    let mut stage = stage();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&of(), Ok(announced("a")), ms(100));
    stage.fleet.told(&of(), Err("no server of cluster prod announces itself any longer".to_owned()), ms(5000));
    assert_eq!(shown(&stage.fleet), ["a mdns unproven"]);
    assert_eq!(stage.fleet.questions_due(ms(5500)), []);
    assert_eq!(stage.fleet.questions_due(ms(6001)), [of()]);
    stage.fleet.told(&of(), Ok(announced("b")), ms(6100));
    assert_eq!(shown(&stage.fleet), ["b mdns unproven"]);
}

/// A call whose only target, which was heard of first, refuses, while the asking goes on.
fn waiting() -> Stage {
    let mut stage = stage();
    stage.start();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&of(), Ok(Answer { more: true, ..announced("a") }), ms(10));
    assert_eq!(stage.after(10, Input::Woke), "send a 250");
    stage.after(1, connection_refused());
    assert_eq!(stage.after(100, Input::Woke), "send a 250", "one more round");
    assert!(stage.after(1, connection_refused()).starts_with("wait"), "the asking goes on");
    stage
}

#[test]
fn a_call_waits_for_others_where_those_who_were_heard_first_are_none() {
    let mut stage = waiting();
    stage.fleet.told(&of(), Ok(Answer { more: true, ..announced("ab") }), ms(500));
    probed(&mut stage.fleet, "b", 501);
    assert_eq!(stage.after(400, Input::Woke), "send b 250");
    let mut stage = waiting();
    stage.fleet.told(&of(), Ok(announced("a")), ms(1010));
    assert_eq!(stage.after(900, Input::Woke), "send a 250", "the last round");
    let said = stage.after(1, connection_refused());
    assert!(said.contains("connection refused"), "all there are were heard: {said}");
}

#[test]
fn the_network_is_asked_again_when_a_server_fails_once_a_second_at_most() {
    let mut stage = stage();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&of(), Ok(announced("a")), ms(100));
    stage.now = ms(100);
    assert_eq!(stage.start(), "send a 250");
    stage.after(10, connection_refused());
    assert_eq!(stage.fleet.questions_due(ms(999)), []);
    assert_eq!(stage.fleet.questions_due(ms(1000)), [of()]);
}

#[test]
fn an_error_names_the_source_where_nobody_is_known() {
    let mut stage = stage();
    stage.start();
    stage.fleet.questions_due(ms(0));
    let why = "no server answered multicast for cluster prod on every interface within 3 s";
    stage.fleet.told(&of(), Err(why.to_owned()), ms(3000));
    let mut said = stage.after(3000, Input::Woke);
    for _ in 0..20 {
        // One more round, and an asking that is about to begin.
        said = if said.starts_with("wait") { stage.after(200, Input::Woke) } else { said };
    }
    assert!(said.contains(why) && said.contains("hn+mdns://prod"), "{said}");
}

#[test]
fn a_provider_names_the_cluster_that_is_greeted() {
    let read = |texts: &[&str]| ClientConfig::from_providers(texts.iter().copied()).unwrap();
    assert_eq!(read(&["hn+mdns://prod", "h1"]).wanted_cluster().as_deref(), Some("prod"));
    assert_eq!(read(&["h1"]).wanted_cluster(), None);
    let refused = |config: ClientConfig| config.validate().unwrap_err().to_string();
    let both = ClientConfig { cluster: Some("test".to_owned()), ..read(&["hn+mdns://prod"]) };
    assert!(refused(both).contains("hn+mdns://prod names another cluster than \"test\""));
    assert!(refused(read(&["hn+mdns://prod", "hn+mdns://test"])).contains("hn+mdns://test names another cluster than \"prod\""));
    read(&["hn+mdns://prod?interface=lo", "hn+mdns://prod?interface=eth0"]).validate().unwrap();
    assert!(refused(ClientConfig { scope: Scope::Local, ..read(&["hn+mdns://prod"]) }).contains("is a whole cluster"));
}
