//! Which folders a node takes, and what it says of the others.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use hanaming::naming::{ErrorKind, NamingError};
use hanaming::server::{Node, ServerConfig};

use crate::folders::Scratch;
use crate::nodes::{Cluster, LONG, bind, until};

fn config(name: &str, folder: &Path) -> ServerConfig {
    let mut config = ServerConfig::new(name);
    config.data_dir = Some(folder.to_owned());
    config
}

#[track_caller]
fn refused(config: ServerConfig) -> String {
    let error = Node::start(config).map(|node| node.name().to_owned()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    error.to_string()
}

#[test]
fn a_folder_has_one_node_at_a_time() {
    let scratch = Scratch::new();
    let folder = scratch.path("deep/data");
    let node = Node::start(config("n1", &folder)).unwrap();
    let why = refused(config("n1", &folder));
    let process = std::process::id().to_string();
    assert!(why.contains("is in use by") && why.contains(&process) && why.contains("deep/data"), "{why}");
    node.close();
    Node::start(config("n1", &folder)).unwrap().close();
}

#[test]
fn a_folder_that_is_none_or_not_ours_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.path("file");
    fs::write(&file, "x").unwrap();
    let why = refused(config("n1", &file));
    assert!(why.contains("it is no folder"), "{why}");
    let why = refused(config("n1", &file.join("below")));
    assert!(why.contains("it is no folder"), "{why}");
    let why = refused(config("n1", &scratch.path("")));
    assert!(why.contains("file lies in it") && why.contains("a folder for this node alone"), "{why}");
    let mut empty = config("n1", Path::new(""));
    assert!(refused(empty.clone()).contains("the data folder's name is empty"));
    empty.data_dir = None;
    empty.resync_from_peers = true;
    assert!(refused(empty).contains("no data folder"));
}

#[test]
fn another_nodes_data_is_refused() {
    let scratch = Scratch::new();
    let folder = scratch.path("data");
    Node::start(config("n1", &folder)).unwrap().close();
    let why = refused(config("n2", &folder));
    assert!(why.contains("that of node n1 of the cluster 'default', not of node n2"), "{why}");
    let mut other = config("n1", &folder);
    other.cluster = "c2".to_owned();
    let why = refused(other);
    assert!(why.contains("not of node n1 of 'c2'"), "{why}");
    let identity = folder.join("node.toml");
    let text = fs::read_to_string(&identity).unwrap();
    fs::write(&identity, text.replace("format = 1", "format = 2")).unwrap();
    assert!(refused(config("n1", &folder)).contains("has format 2"));
}

/// Which file it is, what is wrong with it, and what to do.
#[test]
fn a_file_that_is_none_of_a_nodes_is_named_with_the_remedy() {
    let scratch = Scratch::new();
    let folder = scratch.path("data");
    Node::start(config("n1", &folder)).unwrap().close();
    let backup = "put it back from a backup; or move the folder away";
    let cases: [(&str, Option<&[u8]>, &str, &str); 9] = [
        ("node.toml", Some(b""), "is damaged: 'format' is missing", backup),
        ("node.toml", Some(b"format = 1"), "is damaged: 'node' is missing", backup),
        ("node.toml", Some(b"format = 'x'"), "is damaged: 'format' is no number", backup),
        ("node.toml", Some(b"a = 1\nformat"), "is damaged: line 2, column 7: not TOML", backup),
        ("node.toml", Some(b"\xff\0\xfe"), "is damaged: no text in UTF-8 (invalid utf-8 sequence of 1 bytes from", backup),
        ("node.toml", None, "can't be used: Is a directory", "move what is there away"),
        ("lock", None, "can't be used: Is a directory", "move what is there away"),
        ("tree.redb", None, "can't be used: Is a directory", "move what is there away"),
        ("tree.redb", Some(b"x"), "is damaged", "put a backup of the whole folder in its place"),
    ];
    for (name, content, what, remedy) in cases {
        let (file, aside) = (folder.join(name), scratch.path("aside"));
        fs::rename(&file, &aside).unwrap();
        match content {
            Some(content) => fs::write(&file, content).unwrap(),
            None => fs::create_dir(&file).unwrap(),
        }
        let why = refused(config("n1", &folder));
        assert!(why.starts_with(&file.display().to_string()) && why.contains(what) && why.contains(remedy), "{why}");
        fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).unwrap();
        fs::rename(&aside, &file).unwrap();
    }
    Node::start(config("n1", &folder)).unwrap().close();
}

/// Damages the database so that redb can't know of it but by its checksums.
fn damage(folder: &Path) {
    let path = folder.join("tree.redb");
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 6).filter(|at| bytes[*at..].starts_with(b"secret")).collect();
    assert!(!places.is_empty());
    for at in places {
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(b"SECRET").unwrap();
    }
}

fn cut(folder: &Path) {
    let file = fs::OpenOptions::new().write(true).open(folder.join("tree.redb")).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length / 3).unwrap();
}

fn scribble(folder: &Path) {
    fs::write(folder.join("tree.redb"), [7; 5000]).unwrap();
}

fn remove(folder: &Path) {
    fs::rename(folder.join("tree.redb"), folder.with_extension("elsewhere")).unwrap();
}

/// Invariant 27.
#[test]
fn damaged_data_is_refused_and_copied_anew_where_that_is_said() {
    for harm in [damage, cut, scribble, remove] {
        let mut cluster = Cluster::durable(2);
        cluster.written(0, bind("name", "secret"));
        cluster.equal(&[0, 1]);
        cluster.kill(0);
        let folder = cluster.folder(0);
        harm(&folder);
        let error: NamingError = cluster.try_restart(0, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("Start once with --resync-from-peers"), "{error}");
        cluster.try_restart(0, |config| config.resync_from_peers = true).unwrap();
        assert_eq!(cluster.shows(0, "name").as_deref(), Some("secret"));
        let harmed = folder.with_extension("elsewhere");
        assert!(harmed.exists() || folder.join("tree.redb.damaged-1").exists(), "nothing is deleted");
        cluster.settled();
        assert_eq!(cluster.written(0, bind("more", "x")).acked_by.len(), 2);
        cluster.kill(0);
        cluster.restart(0);
        cluster.equal(&[0, 1]);
        let _ = fs::remove_file(harmed);
    }
}

/// The option may stay in a unit's file: it does nothing to data that is whole.
#[test]
fn whole_data_is_not_given_up() {
    let mut cluster = Cluster::durable(1);
    cluster.written(0, bind("name", "x"));
    cluster.kill(0);
    cluster.try_restart(0, |config| config.resync_from_peers = true).unwrap();
    assert_eq!(cluster.shows(0, "name").as_deref(), Some("x"));
}

/// It would serve an empty tree as if that were the cluster's.
#[test]
fn who_gave_its_data_up_does_not_serve_before_it_has_met_somebody() {
    let mut cluster = Cluster::durable(2);
    cluster.written(0, bind("name", "x"));
    (0..2).for_each(|number| cluster.kill(number));
    scribble(&cluster.folder(0));
    for resync in [true, false] {
        let alone = |config: &mut ServerConfig| {
            config.resync_from_peers = resync;
            config.ready_within = std::time::Duration::from_millis(3500);
        };
        let error = cluster.try_restart(0, alone).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimeLimitExceeded);
        assert!(error.to_string().contains("its data was given up"), "{error}");
    }
    cluster.start_again();
    assert_eq!(cluster.shows(0, "name").as_deref(), Some("x"));
    let identity = cluster.folder(0).join("node.toml");
    until("the copy is whole", || !fs::read_to_string(&identity).unwrap().contains("copying"));
}

/// Data makes a cluster firm: neither of two gives way, and both say so.
#[test]
fn data_of_another_cluster_is_refused() {
    let scratch = Scratch::new();
    let one = Node::start(config("n1", &scratch.path("one"))).unwrap();
    let two = Node::start(config("n2", &scratch.path("two"))).unwrap();
    for node in [&one, &two] {
        crate::nodes::ask(node, None, hanaming::protocol::Operation::Mutate(bind("name", node.name())));
    }
    for node in [&one, &two] {
        let identity = scratch.path(if node.name() == "n1" { "one" } else { "two" }).join("node.toml");
        until("the cluster is kept", || fs::read_to_string(&identity).unwrap().contains("id = "));
        node.close();
    }
    let one = Node::start(config("n1", &scratch.path("one"))).unwrap();
    let mut other = config("n2", &scratch.path("two"));
    other.seeds = vec![one.listening().clone()];
    let why = refused(other);
    assert!(why.contains("two clusters named 'default' met"), "{why}");
    assert!(one.quiesce(LONG).is_ok());
}
