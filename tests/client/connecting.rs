//! A connection that isn't made: nothing was sent, so nobody waits for it where another server is well.

use std::net::SocketAddr;
use std::time::Duration;

use hanaming::client::{AsyncClient, Call, Client, ClientConfig, Driver as _, Fleet, Input, Output, TargetId};
use hanaming::failure::{Attempt, CompletionStatus, Phase};
use hanaming::topology::Endpoint;
use hanaming::transport::TransportErrorKind;

use crate::cluster::Cluster;
use crate::hole::Hole;
use crate::stage::{Stage, bind, broke, fleet, ms, written};

/// A limit that attempts don't reach, but those at a place where connects are swallowed.
const LONG: Duration = ms(20_000);

/// Who is asked, and how long a connection and an answer may take.
fn sent(stage: &mut Stage, input: Input) -> (TargetId, u128, u128) {
    match stage.call.step(&mut stage.fleet, stage.now, input) {
        Output::Send(send) => {
            let within = |at: Duration| at.saturating_sub(stage.now).as_millis();
            (send.target, within(send.connects_by), within(send.ends))
        }
        other => panic!("nothing is sent: {other:?}"),
    }
}

fn not_connected() -> Input {
    broke(Phase::Connect, TransportErrorKind::TimedOut(ms(100)))
}

#[test]
fn a_connection_has_to_stand_soon_as_long_as_another_server_is_well() {
    let mut stage = Stage::new("ab", bind("x"));
    let (a, b) = (stage.id('a'), stage.id('b'));
    assert_eq!(sent(&mut stage, Input::Start), (a, 100, 1000));
    stage.now += ms(100);
    assert_eq!(sent(&mut stage, not_connected()), (b, 1000, 1000), "nobody else is left");
    assert_eq!(stage.after(5, written()), "done written by na");
    assert!(stage.attempts()[0].starts_with("a connect NO"), "{:?}", stage.attempts());
    // It's left out from then on: the next call doesn't go there.
    stage.again(bind("y"));
    assert_eq!(sent(&mut stage, Input::Start).0, b);
}

#[test]
fn who_is_far_away_has_time_to_connect() {
    let mut stage = Stage::new("ab", bind("x"));
    let a = stage.id('a');
    stage.start();
    stage.after(20, written());
    let connects_within = loop {
        stage.again(bind("y"));
        let (target, connects_within, _) = sent(&mut stage, Input::Start);
        if target == a {
            break connects_within;
        }
        stage.step(written());
    };
    assert_eq!(connects_within, 400, "twenty times what it took to answer");
}

/// Six addresses of which one family is swallowed: the other has its turn next, whatever the order.
#[test]
fn after_one_family_the_other_is_tried() {
    let addresses = ["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"];
    let endpoints: Vec<_> = addresses.iter().map(|address| Endpoint::from(address.parse::<SocketAddr>().unwrap())).collect();
    for seed in 0..20 {
        let config = ClientConfig { seed: Some(seed), ..ClientConfig::new(endpoints.clone()) };
        let fleet = fleet(&config, seed);
        let call = Call::new(bind("x"), &config, Duration::ZERO, config.timeout);
        let mut stage = Stage { config, fleet, now: Duration::ZERO, call };
        let family = |fleet: &Fleet, id| fleet.target(id).unwrap().address.unwrap().is_ipv6();
        let (first, ..) = sent(&mut stage, Input::Start);
        stage.now += ms(100);
        let (second, ..) = sent(&mut stage, not_connected());
        assert_ne!(family(&stage.fleet, first), family(&stage.fleet, second));
        // Where that one is swallowed as well, the first one's others are tried.
        stage.now += ms(100);
        let (third, ..) = sent(&mut stage, not_connected());
        assert_eq!(family(&stage.fleet, third), family(&stage.fleet, first));
        assert_ne!(third, first);
    }
}

/// A change that first goes to a place where connects are swallowed.
fn options(hole: &Hole, cluster: &Cluster) -> ClientConfig {
    let providers = vec![Endpoint::from(hole.address), cluster.endpoints()[0].clone()];
    let patient =
        ClientConfig { attempt_timeout: LONG, mutation_timeout: LONG, timeout: LONG * 2, ..ClientConfig::new(providers) };
    let patient = ClientConfig { follow_views: false, ..patient };
    (0..1000).map(|seed| ClientConfig { seed: Some(seed), ..patient.clone() }).find(begins_there).unwrap()
}

fn begins_there(config: &ClientConfig) -> bool {
    let mut fleet = fleet(config, config.seed.unwrap());
    let mut call = Call::new(bind("x"), config, Duration::ZERO, LONG);
    let output = call.step(&mut fleet, Duration::ZERO, Input::Start);
    matches!(output, Output::Send(send) if *fleet.target(send.target).unwrap().label == *config.providers[0].to_string())
}

fn went_elsewhere(attempts: &[Attempt]) {
    let [swallowed, answered] = attempts else { panic!("{attempts:?}") };
    assert_eq!((swallowed.phase, swallowed.completion), (Phase::Connect, CompletionStatus::No));
    assert!(swallowed.elapsed < LONG / 2, "{swallowed:?}");
    assert_eq!(answered.completion, CompletionStatus::Yes);
}

#[test]
fn the_blocking_driver_goes_elsewhere_soon() {
    let (hole, cluster) = (Hole::dig("::1"), Cluster::start(1));
    let client = Client::new(options(&hole, &cluster)).unwrap();
    went_elsewhere(&client.perform(bind("x"), None, &mut || false).unwrap().1.attempts());
}

#[test]
fn the_tokio_driver_goes_elsewhere_soon() {
    let (hole, cluster) = (Hole::dig("::1"), Cluster::start(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let trail =
        runtime.block_on(async { AsyncClient::new(options(&hole, &cluster)).unwrap().perform(bind("x"), None).await.unwrap().1 });
    went_elsewhere(&trail.attempts());
}
