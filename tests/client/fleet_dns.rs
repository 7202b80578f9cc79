//! Names in DNS as sources of a fleet: priorities, weights, early refreshes, and calls that wait for news.

use hanaming::client::{Call, ClientConfig, Elections, Fleet, Input, Metrics, Names};
use hanaming::discovery::dns::DnsConfig;
use hanaming::discovery::{Answer, Origin, Place, Question, RefreshMode, Source};
use hanaming::topology::{Endpoint, MemberState};

use crate::stage::{Stage, addresses, config, connection_refused, found, letter, lookup, member, ms, view, welcome};

fn host(name: &str) -> Question {
    Question::Addresses(Endpoint::new(name, 1))
}

fn services() -> Question {
    Question::Services("_hn._tcp.test".into())
}

fn stage(source: Source, refresh: RefreshMode) -> Stage {
    let dns = DnsConfig { refresh, ..DnsConfig::default() };
    let config = ClientConfig { dns, seed: Some(1), ..ClientConfig::over(vec![source]) };
    let fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 1);
    let call = Call::new(lookup("orders"), &config, ms(0), config.timeout);
    Stage { config, fleet, now: ms(0), call }
}

/// A stage over one host name, which stands for these at 0.
fn resolved(letters: &str, refresh: RefreshMode) -> Stage {
    let mut stage = stage(Source::Host(Endpoint::new("h", 1)), refresh);
    assert_eq!(stage.fleet.questions_due(ms(0)), [host("h")]);
    stage.fleet.told(&host("h"), Ok(addresses(letters, 30)), ms(0));
    stage
}

fn srv(name: &str, priority: u16, weight: f64) -> Place {
    Place { priority, weight, ..Place::new(Endpoint::new(name, 1), Origin::Srv) }
}

/// Each target: its letter, host name, origin, priority and weight.
fn shown(fleet: &Fleet) -> Vec<String> {
    let word = |target: &hanaming::client::Target| {
        let (origin, priority, weight) = (target.origin.as_str(), target.priority, target.weight);
        format!("{} {} {origin} {priority} {weight}", letter(&target.label), target.hostname)
    };
    fleet.targets().map(word).collect()
}

fn refuse(stage: &mut Stage) -> String {
    stage.step(connection_refused())
}

#[test]
fn a_view_changes_nothing_of_the_order_that_srv_records_give() {
    let mut stage = stage(Source::Services("_hn._tcp.test".into()), RefreshMode::Ttl);
    stage.start();
    stage.fleet.questions_due(ms(0));
    stage.fleet.told(&services(), Ok(Answer::new(vec![srv("one", 10, 0.5), srv("spare", 20, 1.0)], ms(30_000))), ms(1));
    stage.fleet.questions_due(ms(1));
    stage.fleet.told(&host("one"), Ok(addresses("a", 30)), ms(2));
    stage.fleet.told(&host("spare"), Ok(addresses("c", 30)), ms(2));
    let a = stage.fleet.targets().find(|target| letter(&target.label) == 'a').unwrap().id;
    stage.fleet.welcomed(a, &welcome(member('a', 1, MemberState::Live), view("acf")), ms(3));
    let (of_a, of_c, of_f) = ("a one srv 10 0.5", "c spare srv 20 1", "f 10.0.0.6 view 20 1");
    let mut shown = shown(&stage.fleet);
    shown.sort();
    assert_eq!(shown, [of_a, of_c, of_f], "whom the view alone names comes with the last");
}

#[test]
fn servers_of_srv_records_are_names_of_their_own() {
    let mut stage = stage(Source::Services("_hn._tcp.test".into()), RefreshMode::Ttl);
    assert_eq!(stage.start(), "wait 5000");
    assert_eq!(stage.fleet.questions_due(ms(0)), [services()]);
    let listed = vec![srv("one", 0, 1.5), srv("two", 0, 0.5), srv("spare", 9, 1.0)];
    stage.fleet.told(&services(), Ok(Answer::new(listed, ms(30_000))), ms(1));
    assert_eq!(stage.fleet.questions_due(ms(1)).len(), 3);
    stage.fleet.told(&host("spare"), Ok(addresses("c", 30)), ms(2));
    stage.fleet.told(&host("one"), Ok(addresses("a", 30)), ms(2));
    stage.fleet.told(&host("two"), Ok(addresses("de", 30)), ms(2));
    assert_eq!(shown(&stage.fleet), ["c spare srv 9 1", "a one srv 0 1.5", "d two srv 0 0.25", "e two srv 0 0.25"]);
    // The spare one is asked when the others have failed, and only then.
    for _ in 0..40 {
        stage.again(lookup("orders"));
        assert!(!stage.start().starts_with("send c"));
        stage.step(found());
    }
    stage.again(lookup("orders"));
    stage.start();
    assert!(refuse(&mut stage).starts_with("send "));
    assert!(refuse(&mut stage).starts_with("send "));
    let last = refuse(&mut stage);
    assert!(last.starts_with("send c") || last.starts_with("wait"), "{last}");
    stage.again(lookup("orders"));
    assert_eq!(stage.start(), "send c 250");
    // A name that is no longer listed is no longer asked for.
    stage.fleet.told(&services(), Ok(Answer::new(vec![srv("one", 0, 1.0)], ms(30_000))), ms(100));
    assert_eq!(shown(&stage.fleet), ["c spare srv 9 1", "a one srv 0 1"], "one drains, two are gone");
    assert!(!stage.fleet.questions_due(ms(60_000)).contains(&host("two")));
}

#[test]
fn in_the_old_mode_a_name_is_asked_for_when_nobody_is_left() {
    let mut stage = resolved("ab", RefreshMode::OnEmpty);
    stage.start();
    refuse(&mut stage);
    assert_eq!(stage.fleet.questions_due(ms(60_000)), [], "one is left");
    stage.now = ms(2_000);
    refuse(&mut stage);
    assert_eq!(stage.fleet.questions_due(ms(2_000)), [host("h")]);
}

#[test]
fn always_means_on_each_connection() {
    use crate::stage::{member, view, welcome};
    for (mode, asked) in [(RefreshMode::Always, vec![host("h")]), (RefreshMode::Ttl, Vec::new())] {
        let mut stage = resolved("a", mode);
        let a = stage.id('a');
        let live = member('a', 1, hanaming::topology::MemberState::Live);
        stage.fleet.welcomed(a, &welcome(live, view("a")), ms(1_500));
        assert_eq!(stage.fleet.questions_due(ms(1_500)), asked, "{mode:?}");
    }
}

#[test]
fn where_all_refuse_a_call_waits_for_the_list_that_is_about_to_be_known() {
    let mut stage = resolved("ab", RefreshMode::Ttl);
    stage.now = ms(500);
    stage.again(lookup("orders"));
    stage.start();
    refuse(&mut stage);
    let pause = refuse(&mut stage);
    assert!(pause.starts_with("wait "), "{pause}");
    stage.after(101, Input::Woke);
    refuse(&mut stage);
    assert_eq!(refuse(&mut stage), "wait 1250", "it's asked again at 1 s, and this waits");
    stage.now = ms(1_000);
    assert_eq!(stage.fleet.questions_due(stage.now), [host("h")]);
    assert!(stage.after(1, Input::Woke).starts_with("wait "), "it's being asked");
    stage.fleet.told(&host("h"), Ok(addresses("cd", 30)), stage.now);
    let sent = stage.after(1, Input::Woke);
    assert!(sent == "send c 250" || sent == "send d 250", "{sent}");
    assert_eq!(stage.step(found()), "done found", "no call is lost");
    let Metrics { refreshes, failed_refreshes, joined, drained, moves } = stage.fleet.metrics();
    assert_eq!((refreshes, failed_refreshes, joined, drained, moves), (2, 0, 4, 2, 0));
}

/// The only server that is known has refused, and who else there is will be asked a second after it was asked last.
fn all_refused() -> Stage {
    let mut stage = resolved("a", RefreshMode::Ttl);
    stage.now = ms(500);
    stage.again(lookup("orders"));
    stage.start();
    refuse(&mut stage);
    stage.after(101, Input::Woke);
    assert_eq!(refuse(&mut stage), "wait 1250");
    stage
}

#[test]
fn it_does_not_wait_for_what_it_knows_or_what_nobody_will_tell() {
    // The list was asked for after the call began, or asking fails: the error comes at once.
    for fails in [false, true] {
        let mut stage = all_refused();
        stage.now = ms(1_000);
        stage.fleet.questions_due(stage.now);
        let outcome = if fails { Err("silent".to_owned()) } else { Ok(addresses("a", 30)) };
        stage.fleet.told(&host("h"), outcome, stage.now);
        let again = stage.after(1, Input::Woke);
        assert!(again.starts_with("send a"), "{again}");
        let over = refuse(&mut stage);
        assert!(over.starts_with("ServiceUnavailable NO"), "{over}");
    }
    // Nor for a name server that says nothing.
    let mut stage = all_refused();
    stage.now = ms(1_000);
    assert_eq!(stage.fleet.questions_due(stage.now), [host("h")]);
    let again = stage.after(1250, Input::Woke);
    let over = if again.starts_with("send") { refuse(&mut stage) } else { again };
    assert!(over.starts_with("ServiceUnavailable NO"), "{over}");

    let mut plain = Stage::with(config("a"), lookup("orders"));
    plain.start();
    refuse(&mut plain);
    plain.after(101, Input::Woke);
    assert!(refuse(&mut plain).starts_with("ServiceUnavailable NO"), "an address is an address");
}

/// A stage that knows the SRV records of `light` (1 of 10) and `heavy`, and of one to spare; `light` and the spare one are
/// resolved first.
fn light_is_known(seed: u64) -> Stage {
    let mut stage = stage(Source::Services("_hn._tcp.test".into()), RefreshMode::Ttl);
    stage.fleet = Fleet::new(&stage.config, Elections::new(), Names::Resolved, seed);
    assert_eq!(stage.start(), "wait 5000");
    stage.fleet.questions_due(ms(0));
    let listed = vec![srv("light", 0, 0.2), srv("heavy", 0, 1.8), srv("spare", 9, 1.0)];
    stage.fleet.told(&services(), Ok(Answer::new(listed, ms(30_000))), ms(1));
    stage.fleet.questions_due(ms(1));
    stage.now = ms(1);
    stage.fleet.told(&host("spare"), Ok(addresses("c", 30)), ms(1));
    assert_eq!(stage.step(Input::Woke), "wait 50", "the first ones come first");
    stage.fleet.told(&host("light"), Ok(addresses("a", 30)), ms(1));
    stage
}

#[test]
fn first_calls_go_by_weight_whoever_is_resolved_first() {
    let firsts = (0..1000).filter(|seed| {
        let mut stage = light_is_known(*seed);
        assert_eq!(stage.after(10, Input::Woke), "wait 40");
        stage.fleet.told(&host("heavy"), Ok(addresses("b", 30)), stage.now);
        stage.step(Input::Woke).starts_with("send a")
    });
    let share = firsts.count();
    assert!((60..150).contains(&share), "{share} of 1000 for a tenth of the weight");
}

#[test]
fn a_first_call_does_not_wait_long_for_a_name_and_a_later_one_not_at_all() {
    let mut stage = light_is_known(1);
    assert!(stage.after(50, Input::Woke).starts_with("send a"), "whoever is known by then");
    stage.step(found());
    stage.again(lookup("orders"));
    assert!(stage.start().starts_with("send a"));
    stage.step(found());
    // A name that can't be resolved is nothing to wait for.
    let mut stage = light_is_known(1);
    stage.fleet.told(&host("heavy"), Err("no such host".to_owned()), ms(2));
    assert!(stage.after(1, Input::Woke).starts_with("send a"));
    // Nor is one that a record names only later.
    stage.step(found());
    let listed = vec![srv("light", 0, 0.2), srv("late", 0, 1.8)];
    stage.fleet.told(&services(), Ok(Answer::new(listed, ms(30_000))), ms(9));
    stage.again(lookup("orders"));
    assert_eq!(stage.start(), "send a 250");
}
