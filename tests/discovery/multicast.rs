//! Who announces itself as a node of one cluster, as it's heard.

use std::net::IpAddr;
use std::time::Duration;

use hanaming::discovery::multicast::{Heard, Input, Search, Sighting};
use hanaming::discovery::{Interface, Neighbourhood, Origin};

fn search() -> Search {
    Search::new(Neighbourhood { cluster: "prod".into(), interface: Interface::Named("eth0".into()) })
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// An instance: its name, cluster and port, and its addresses; those behind a `~` were heard of within the machine.
fn heard(instance: &str, cluster: &str, port: u16, addresses: &[&str]) -> Input {
    let address = |text: &&str| Heard {
        address: text.trim_start_matches('~').parse::<IpAddr>().unwrap(),
        is_within: text.starts_with('~'),
    };
    let cluster = (!cluster.is_empty()).then(|| cluster.to_owned());
    Input::Sighted(Sighting { instance: instance.into(), cluster, port, addresses: addresses.iter().map(address).collect() })
}

fn n(number: u32) -> Input {
    heard(&format!("n{number}._hanaming._tcp.local."), "prod", 1, &[&format!("10.0.{}.{}", number / 250, number % 250 + 1)])
}

fn gone(number: u32) -> Input {
    Input::Gone(format!("n{number}._hanaming._tcp.local."))
}

/// What is told, in words: the list and whether more may come, or why there is none.
fn told(search: &mut Search, at: Duration, input: Input) -> String {
    match search.step(at, input) {
        None => String::new(),
        Some(Err(why)) => why,
        Some(Ok(answer)) => {
            assert_eq!(answer.good_for, None, "it tells again by itself");
            assert!(answer.places.iter().all(|place| place.origin == Origin::Mdns));
            let more = answer.more.then(|| "…".to_owned());
            answer.places.iter().map(|place| place.source.to_string()).chain(more).collect::<Vec<_>>().join(" ")
        }
    }
}

#[test]
fn who_is_heard_of_is_told_at_once_and_who_leaves_is_gone_at_once() {
    let mut search = search();
    assert_eq!(told(&mut search, s(0), Input::Asked), "");
    assert_eq!(search.due(), Some(s(3)));
    assert_eq!(told(&mut search, ms(100), n(1)), "10.0.0.2:1 …");
    assert_eq!(told(&mut search, ms(110), n(2)), "10.0.0.2:1 10.0.0.3:1 …");
    assert_eq!(told(&mut search, ms(120), n(2)), "", "nothing new");
    assert_eq!(search.due(), Some(ms(1100)), "a second after the first one");
    assert_eq!(told(&mut search, ms(1100), Input::Time), "10.0.0.2:1 10.0.0.3:1");
    assert_eq!(search.due(), None);
    assert_eq!(told(&mut search, s(60), n(3)), "10.0.0.2:1 10.0.0.3:1 10.0.0.4:1");
    assert_eq!(told(&mut search, s(61), Input::Gone("N2._HANAMING._tcp.local.".into())), "10.0.0.2:1 10.0.0.4:1");
    assert_eq!(told(&mut search, s(62), gone(2)), "");
    assert_eq!(told(&mut search, s(63), heard("n1._hanaming._tcp.local.", "prod", 7, &["10.0.0.9"])), "10.0.0.4:1 10.0.0.9:7");
}

#[test]
fn nobody_at_all_is_told_when_there_was_time_enough() {
    let mut search = search();
    told(&mut search, s(10), Input::Asked);
    assert_eq!(told(&mut search, ms(12_999), Input::Time), "");
    let nobody = "no server answered multicast for cluster prod on interface eth0 within 3 s";
    assert_eq!(told(&mut search, s(13), Input::Time), nobody);
    assert_eq!(told(&mut search, s(14), Input::Time), "", "once");
    assert_eq!(told(&mut search, s(15), n(1)), "10.0.0.2:1", "it may come later");
    assert_eq!(
        told(&mut search, s(16), gone(1)),
        "no server of cluster prod announces itself any longer by multicast on interface eth0"
    );
}

#[test]
fn an_asking_is_answered_although_nothing_has_changed() {
    let mut search = search();
    told(&mut search, s(0), n(1));
    told(&mut search, s(10), Input::Asked);
    assert_eq!(search.due(), Some(ms(10_500)));
    assert_eq!(told(&mut search, s(10), n(1)), "");
    assert_eq!(told(&mut search, ms(10_500), Input::Time), "10.0.0.2:1");
    assert_eq!(search.due(), None);
}

#[test]
fn what_is_of_no_use_is_ignored() {
    for (why, input) in [
        ("another cluster's", heard("x", "test", 1, &["10.0.0.1"])),
        ("another cluster's, by its letters", heard("x", "Prod", 1, &["10.0.0.1"])),
        ("no cluster's", heard("x", "", 1, &["10.0.0.1"])),
        ("without a port", heard("x", "prod", 0, &["10.0.0.1"])),
        ("without an address", heard("x", "prod", 1, &[])),
        ("nobody's address", heard("x", "prod", 1, &["0.0.0.0", "::", "224.0.0.251", "ff02::fb"])),
        ("an address without its interface", heard("x", "prod", 1, &["fe80::1"])),
        ("the machine's own, from without", heard("x", "prod", 1, &["127.0.0.1", "::1", "::ffff:127.0.0.1"])),
    ] {
        assert_eq!(told(&mut search(), s(0), input), "", "{why}");
    }
    let mut search = search();
    assert_eq!(
        told(&mut search, s(0), heard("x", "prod", 1, &["~127.0.0.1", "~::1", "fd00::5"])),
        "127.0.0.1:1 [::1]:1 [fd00::5]:1"
    );
    let many: Vec<String> = (1..100).map(|last| format!("10.0.0.{last}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(told(&mut search, s(0), heard("x", "prod", 1, &many)), "10.0.0.1:1 10.0.0.2:1 10.0.0.3:1 10.0.0.4:1");
    assert!(told(&mut search, s(0), heard("x", "test", 1, &["10.0.0.1"])).starts_with("no server of"), "it went over to another");
}

#[test]
fn who_is_known_stays_whatever_a_flood_says() {
    let mut search = search();
    told(&mut search, s(0), n(0));
    for number in 1..=5000 {
        told(&mut search, s(1), n(number));
    }
    told(&mut search, s(2), Input::Asked);
    let list = told(&mut search, s(3), Input::Time);
    assert_eq!(list.split(' ').count(), 256);
    assert!(list.contains("10.0.0.1:1"));
    assert_eq!(told(&mut search, s(4), n(6000)), "");
    assert_eq!(told(&mut search, s(5), gone(3)).split(' ').count(), 255);
    assert_eq!(told(&mut search, s(6), n(6000)).split(' ').count(), 256, "there is room again");
}

#[test]
fn who_is_not_heard_of_again_after_a_new_beginning_is_gone() {
    let mut search = search();
    told(&mut search, s(0), Input::Anew);
    assert_eq!(search.due(), None);
    for number in 1..=3 {
        told(&mut search, s(1), n(number));
    }
    told(&mut search, s(10), Input::Anew);
    assert_eq!(search.due(), Some(s(40)));
    assert_eq!(told(&mut search, s(11), n(2)), "");
    assert_eq!(told(&mut search, ms(39_999), Input::Time), "");
    assert_eq!(told(&mut search, s(40), Input::Time), "10.0.0.3:1");
    assert_eq!(search.due(), None);
}

#[test]
fn a_network_that_cannot_be_asked_says_why_and_removes_nobody() {
    let mut search = search();
    told(&mut search, s(0), n(1));
    told(&mut search, s(1), Input::Asked);
    let why = told(&mut search, s(1), Input::Deaf("there is no such interface".into()));
    assert_eq!(why, "interface eth0 can't be asked by multicast for cluster prod: there is no such interface");
    assert_eq!(search.due(), None);
    assert_eq!(told(&mut search, s(2), n(2)), "10.0.0.2:1 10.0.0.3:1");
}
