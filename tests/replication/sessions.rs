//! A client reads what it wrote, and nothing older than before, whichever node it turns to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hanaming::client::{AsyncClient, BindOptions, ClientConfig, Elections, Invocation, Names, Policy, Product, Subject, Trail};
use hanaming::naming::{ErrorKind, Name, NamingError};
use hanaming::topology::Endpoint;
use tokio::runtime::Runtime;

use crate::nodes::{Cluster, bind, rebind, text, until};

static SEEDS: AtomicU64 = AtomicU64::new(1);

/// A client on a host of its own.
struct Client {
    client: AsyncClient,
    runtime: Runtime,
}

fn subject(name: &str) -> Subject {
    Name::parse(name).unwrap().into()
}

impl Client {
    /// It turns to these nodes, to the first as long as that will do.
    fn of(cluster: &Cluster, nodes: &[usize]) -> Self {
        let first = format!("n{}:1", nodes[0]);
        // Whom it elects follows from its seed, and so does its id, which no two may share.
        let seeds = std::iter::repeat_with(|| SEEDS.fetch_add(1, Ordering::Relaxed)).take(100);
        let mut clients = seeds.map(|seed| Self::seeded(cluster, nodes, seed));
        let elects_first = |client: &Self| {
            let (_, trail) = client.perform(Invocation::get(subject("nothing")).unwrap()).unwrap();
            trail.attempts()[0].target == first
        };
        clients.find(elects_first).unwrap()
    }

    fn seeded(cluster: &Cluster, nodes: &[usize], seed: u64) -> Self {
        let providers = nodes.iter().map(|number| Endpoint::new(format!("n{number}"), 1)).collect();
        let policy = Policy::FirstAvailable;
        let config = ClientConfig { policy, follow_views: false, seed: Some(seed), ..ClientConfig::new(providers) };
        let runtime = Runtime::new().unwrap();
        let network = cluster.network.host("client");
        let entered = runtime.enter();
        let client = AsyncClient::over(network, Names::Dialled, Elections::new(), config).unwrap();
        drop(entered);
        Self { client, runtime }
    }

    fn perform(&self, invocation: Invocation) -> Result<(Product, Trail), NamingError> {
        self.runtime.block_on(self.client.perform(invocation, Some(Duration::from_secs(5))))
    }

    fn rebind(&self, name: &str, value: &str) {
        let options = BindOptions { replace: true, create_parents: true, lease: None };
        self.perform(Invocation::bind(subject(name), text(value), options).unwrap()).unwrap();
    }

    /// What it finds, whether that was marked, and how many tries it took.
    fn lookup(&self, name: &str) -> (Result<String, ErrorKind>, bool, usize) {
        match self.perform(Invocation::lookup(subject(name)).unwrap()) {
            Ok((Product::Found(located), trail)) => {
                let value = String::from_utf8_lossy(&located.found.content.value).into_owned();
                (Ok(value), trail.is_stale(), trail.len())
            }
            Ok((other, _)) => panic!("{other:?}"),
            Err(error) => (Err(error.kind()), error.fields().message.contains("stale"), error.fields().attempts.len()),
        }
    }
}

/// `alone` hears of nobody but clients, and nobody hears of it.
fn split_off(cluster: &Cluster, alone: usize) {
    let names = ["n0", "n1", "n2"];
    let others: Vec<&str> = (0..3).filter(|number| *number != alone).map(|number| names[number]).collect();
    cluster.network.partition(&[&[names[alone]], &others]);
    until("two sides", || {
        let members = |number: usize| cluster.nodes[number].view().members().len();
        (0..3).all(|number| members(number) == if number == alone { 1 } else { 2 })
    });
}

#[test]
fn a_client_reads_its_writes_on_a_node_that_lacks_them_as_little_as_it_denies_them() {
    let cluster = Cluster::start(3);
    cluster.written(0, bind("a", "old"));
    split_off(&cluster, 2);
    let client = Client::of(&cluster, &[0, 2, 1]);
    client.rebind("a", "new");
    client.rebind("b", "new");
    // n2 comes next, and lacks both.
    cluster.kill(0);
    for name in ["a", "b"] {
        let (found, is_stale, _) = client.lookup(name);
        assert_eq!((found.as_deref(), is_stale), (Ok("new"), false), "{name}");
    }
    // Who has seen nothing is answered from what there is.
    let newcomer = Client::of(&cluster, &[2]);
    assert_eq!(newcomer.lookup("a"), (Ok("old".to_owned()), false, 1));
}

/// Monotonic reads: what was read once is a part of what the client has seen, whoever wrote it.
#[test]
fn a_client_that_only_reads_sees_nothing_older_than_before() {
    let cluster = Cluster::start(3);
    cluster.written(0, bind("a", "old"));
    split_off(&cluster, 2);
    cluster.written(0, rebind("a", "new"));
    let client = Client::of(&cluster, &[0, 2, 1]);
    assert_eq!(client.lookup("a").0.as_deref(), Ok("new"));
    cluster.kill(0);
    assert_eq!(client.lookup("a").0.as_deref(), Ok("new"));
}

#[test]
fn where_all_nodes_are_behind_the_answer_is_marked() {
    let cluster = Cluster::start(3);
    cluster.written(0, bind("a", "old"));
    split_off(&cluster, 2);
    let client = Client::of(&cluster, &[0, 2]);
    client.rebind("a", "new");
    client.rebind("b", "new");
    cluster.kill(0);
    let (found, is_stale, _) = client.lookup("a");
    assert_eq!((found.as_deref(), is_stale), (Ok("old"), true));
    let (found, is_stale, _) = client.lookup("b");
    assert_eq!((found, is_stale), (Err(ErrorKind::NameNotFound), true), "so is its absence");
    // It writes there all the same, reads that, and need not be refused first again.
    client.rebind("c", "later");
    let (found, is_stale, tries) = client.lookup("c");
    assert_eq!((found.as_deref(), is_stale, tries), (Ok("later"), true, 1 + usize::from(tries > 1)));
    // The other side has what was missing.
    cluster.network.heal();
    until("it has caught up", || client.lookup("a") == (Ok("new".to_owned()), false, 1));
    assert_eq!(client.lookup("c").0.as_deref(), Ok("later"));
}

/// A change is carried out by the owner of its name, and answered by the node that was asked; which need not have it yet.
#[test]
fn what_was_written_through_any_node_is_read_there() {
    let cluster = Cluster::start(3);
    for through in 0..3 {
        let client = Client::of(&cluster, &[through, (through + 1) % 3]);
        for number in 0..30 {
            let (name, value) = (format!("w{number}"), format!("{through}.{number}"));
            client.rebind(&name, &value);
            assert_eq!(client.lookup(&name).0.as_deref(), Ok(value.as_str()));
        }
    }
}
