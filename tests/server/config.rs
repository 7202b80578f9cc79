//! What is wrong with a configuration is said before anything is opened, with the remedy.

use std::time::Duration;

use hanaming::naming::ErrorKind;
use hanaming::server::ServerConfig;
use hanaming::topology::Endpoint;

fn endpoint(text: &str) -> Endpoint {
    Endpoint::parse(text, 11100).unwrap()
}

fn refusal(change: impl FnOnce(&mut ServerConfig)) -> String {
    let mut config = ServerConfig::new("n1");
    change(&mut config);
    let error = config.validate().expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.to_string()
}

#[test]
fn the_defaults_are_fine() {
    ServerConfig::new("n1").validate().unwrap();
}

/// Invariant 20.
#[test]
fn listening_beyond_loopback_is_refused_with_the_remedy() {
    for listen in ["0.0.0.0:0", "10.0.0.5:11100", "[::]:0", "192.168.0.1:1"] {
        let message = refusal(|config| config.listen = endpoint(listen));
        assert!(message.contains("insecure=True") && message.contains("127.0.0.1"), "{message}");
    }
    for listen in ["127.0.0.1:0", "127.8.9.1:0", "[::1]:0", "localhost:0", "[::ffff:127.0.0.1]:1"] {
        let config = ServerConfig { listen: endpoint(listen), ..ServerConfig::new("n1") };
        config.validate().unwrap();
    }
    let insecure = ServerConfig { listen: endpoint("10.0.0.5:0"), insecure: true, ..ServerConfig::new("n1") };
    insecure.validate().unwrap();
}

#[test]
fn an_address_that_nobody_can_reach_is_not_advertised() {
    for advertise in ["0.0.0.0:11100", "[::]:11100"] {
        let message = refusal(|config| config.advertise = Some(endpoint(advertise)));
        assert!(message.contains("cannot be advertised"), "{message}");
    }
    let message = refusal(|config| {
        config.listen = endpoint("0.0.0.0:11100");
        config.insecure = true;
    });
    assert!(message.contains("give advertise=\"host:port\""), "{message}");
}

#[test]
fn the_real_port_is_advertised() {
    let real = endpoint("127.0.0.1:40001");
    let mut config = ServerConfig::new("n1");
    assert_eq!(config.advertised(&real), real);
    config.advertise = Some(endpoint("host:0"));
    assert_eq!(config.advertised(&real), endpoint("host:40001"));
    config.advertise = Some(endpoint("host:7"));
    assert_eq!(config.advertised(&real), endpoint("host:7"));
}

#[test]
fn names_and_seeds_are_checked() {
    assert!(refusal(|config| config.name = "  ".to_owned()).contains("the node's name is nothing but blanks"));
    assert!(refusal(|config| config.cluster = String::new()).contains("the cluster's name is empty"));
    assert!(refusal(|config| config.name = "a\nb".to_owned()).contains("'\\n'"));
    assert!(refusal(|config| config.name = "x".repeat(129)).contains("129 bytes"));
    assert!(refusal(|config| config.seeds = vec![endpoint("10.0.0.1:0")]).contains("real port"));
    assert!(refusal(|config| config.seeds = vec![endpoint("0.0.0.0:1")]).contains("nobody can connect"));
}

#[test]
fn a_limit_that_stops_everything_is_refused() {
    assert!(refusal(|config| config.workers = 0).contains("workers"));
    assert!(refusal(|config| config.limits.connections = 0).contains("connections"));
    assert!(refusal(|config| config.limits.idle = Duration::ZERO).contains("idle"));
    assert!(refusal(|config| config.limits.frame = 1000).contains("frame limit"));
}
