//! What a node runs with: its file, and what its status says of where each setting is from.

use hanaming::naming::ErrorKind;
use hanaming::server::ServerConfig;
use hanaming::server::config_file::{Given, read};
use hanaming::topology::Endpoint;

fn refusal(text: &str) -> String {
    let error = read(text).expect_err(text);
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.to_string()
}

fn told(config: &ServerConfig) -> Vec<String> {
    config.settings().into_iter().map(|one| format!("{} = {} ({})", one.name, one.value, one.source)).collect()
}

#[test]
fn a_file_gives_what_is_in_it_and_nothing_else() {
    assert_eq!(read("").unwrap(), []);
    let read = read("seeds = ['a:1', \"b:2\"] # two\ninsecure = false\nname = 'n\u{e9}'\n").unwrap();
    let seeds = Given::Texts(vec!["a:1".to_owned(), "b:2".to_owned()]);
    assert_eq!(read, [("insecure", Given::Flag(false)), ("name", Given::Text("n\u{e9}".to_owned())), ("seeds", seeds)]);
}

#[test]
fn a_refusal_says_where_and_what_was_meant() {
    for (text, says) in [
        ("\n\n  lisen = 'h:1'", "line 3, column 3: 'lisen' is not a setting; did you mean 'listen'?"),
        ("nmae = 'x'", "line 1, column 1: 'nmae' is not a setting; did you mean 'name'?"),
        ("clusters = 'x'", "line 1, column 1: 'clusters' is not a setting; did you mean 'cluster'?"),
        (
            "x = 1",
            "'x' is not a setting; known are name, listen, advertise, seeds, cluster, data_dir, mdns, mdns_interface, insecure",
        ),
        ("name.first = 'x'", "'name' must be a string, not "),
        ("name = '\u{e9}' \u{e9}", "line 1, column 12: not TOML: "),
        ("seeds = ['a:1', 2]", "line 1, column 9: 'seeds' must be a list of strings, not ['a:1', 2]"),
    ] {
        let message = refusal(text);
        assert!(message.contains(says), "{text:?}: {message}");
        assert!(message.starts_with("line "), "{message}");
    }
}

#[test]
fn each_setting_says_where_it_is_from() {
    assert_eq!(
        told(&ServerConfig::new("n1")),
        ["name = n1 (argument)", "listen = 127.0.0.1:0 (default)", "cluster = default (default)"]
    );
    let mut config = ServerConfig {
        listen: Endpoint::new("10.0.0.5", 11100),
        seeds: vec![Endpoint::new("a", 1), Endpoint::new("b", 2)],
        data_dir: Some("/d".into()),
        insecure: true,
        ..ServerConfig::new("n2")
    };
    let sources = [("name", "default"), ("listen", "flag"), ("seeds", "HANAMING_SEEDS"), ("cluster", "node.toml")];
    config.sources = sources.map(|(name, source)| (name.to_owned(), source.to_owned())).into();
    assert_eq!(
        told(&config),
        [
            "name = n2 (default)",
            "listen = 10.0.0.5:11100 (flag)",
            "seeds = a:1, b:2 (HANAMING_SEEDS)",
            "cluster = default (node.toml)",
            "data_dir = /d (argument)",
            "insecure = true (argument)",
        ]
    );
}

#[test]
fn a_nodes_status_tells_them() {
    let node = crate::raw::node(|config| config.cluster = "blue".to_owned());
    let settings = node.status().settings;
    assert!(settings.iter().any(|one| (&*one.name, &*one.value, &*one.source) == ("cluster", "blue", "argument")));
}
