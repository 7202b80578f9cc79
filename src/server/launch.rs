//! How a node comes up: its port, its trees, its cluster, its tasks, in this order.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::cluster::membership::{Past, Timing};
use crate::cluster::store::Meta;
use crate::discovery::multicast::Announcer;
use crate::naming::{ErrorKind, NamingError, Observer, Source, Tree};
use crate::protocol::Fault;
use crate::topology::{Endpoint, Member, MemberState, NodeId};
use crate::transport::{BoxListener, Network};

use super::acceptor::accept;
use super::announcing::{announce, announcement, say_goodbye};
use super::bulletin::Bulletin;
use super::clock::Clock;
use super::config::ServerConfig;
use super::core::{Core, Identity};
use super::data::{self, Folder};
use super::herald::{Departure, proclaim, retire};
use super::log::ChangeLog;
use super::members::{Members, MembersConfig};
use super::peers::Peers;
use super::replication::{Keeper, Origin, follow_views, keep_time, remember_members};

/// How long it may take to resolve the host name to listen at.
pub const LISTEN: Duration = Duration::from_secs(5);

/// How long reading a data folder may take.
pub const LOAD: Duration = Duration::from_secs(60);

/// How long copying the tree may take at most, as long as it goes on.
pub const COPY: Duration = Duration::from_secs(600);

/// How long the node's own bulletin may lag behind its view.
const LAG: Duration = Duration::from_secs(2);

/// A node that is ready.
pub struct Launched {
    /// What all its tasks share.
    pub core: Arc<Core>,
    /// The address that it listens at, with the real port.
    pub listening: Endpoint,
    /// Set when it has left.
    pub departed: watch::Receiver<Option<Departure>>,
    /// What makes its data durable, where it has a data folder; to be ended last.
    pub keeper: Option<Keeper>,
    /// What says on the network that it's there, where that is wanted.
    pub announcer: Option<Arc<Announcer>>,
}

/// Opens the port, joins the cluster, and begins to serve.
pub async fn launch(network: Arc<dyn Network>, config: ServerConfig) -> Result<Launched, NamingError> {
    let places = located(&*network, &config).await?;
    let found = open_data(&config).await?;
    let listener = listen(&*network, &config.listen, &places).await?;
    let listening = listener.endpoint();
    let member = Member {
        name: config.name.clone(),
        id: NodeId(rand::random()),
        endpoint: config.advertised(&listening),
        state: MemberState::Joining,
    };
    let words = announcement(&config, &member, &listening).map_err(refused)?;
    let (past, origin, kept) = past(found);
    let name: Arc<str> = Arc::from(config.name.as_str());
    let logs = [(); 2].map(|()| Arc::new(ChangeLog::new(rand::random())));
    let tree = |source, log: &Arc<ChangeLog>| {
        let tree = Tree::new(rand::random()).with_origin(source, Arc::clone(&name));
        Arc::new(tree.with_observer(Arc::clone(log) as Arc<dyn Observer>))
    };
    let identity = Identity {
        id: member.id,
        local: tree(Source::Local, &logs[0]),
        cluster: tree(Source::Cluster, &logs[1]),
        logs,
        name: Arc::clone(&name),
        settings: config.settings(),
        origin,
    };
    let peers = join(network, &config, member, past);
    let views = peers.views();
    let frames = config.limits.frames();
    let bulletins = watch::Sender::new(Arc::new(Bulletin::new(Arc::clone(&views.borrow()), identity.id, false, frames)));
    let core = Core::new(identity, peers, config.limits, Clock::default(), bulletins.subscribe());
    let mut known = Vec::new();
    let mut keeper = None;
    if let Some(Kept { folder, identity, tables, last }) = kept {
        let started = Keeper::start(Arc::clone(&core.replication), tables, last, Some(folder));
        keeper = Some(started.map_err(|error| refused(format!("the thread for the data folder could not be started: {error}")))?);
        known.clone_from(&identity.members);
        tokio::spawn(remember_members(Arc::clone(&core.replication), identity, core.peers.views()));
    }
    let (departure, departed) = watch::channel(None);
    tokio::spawn(proclaim(Arc::clone(&core), views, bulletins.clone()));
    tokio::spawn(retire(Arc::clone(&core), bulletins, departure));
    tokio::spawn(keep_time(Arc::clone(&core.replication)));
    tokio::spawn(follow_views(Arc::clone(&core.replication), known, core.peers.views()));
    tokio::spawn(accept(Arc::clone(&core), listener));
    ready(&core, config.ready_within).await?;
    let announcer = announce(words).await.map_err(refused)?;
    if let Some(announcer) = &announcer {
        tokio::spawn(say_goodbye(Arc::clone(&core), Arc::clone(announcer)));
    }
    Ok(Launched { core, listening, departed, keeper, announcer })
}

/// What is kept of a data folder while the node runs.
struct Kept {
    folder: Folder,
    identity: data::Identity,
    tables: data::Tables,
    last: Option<Meta>,
}

/// Opens the data folder, where there is to be one, on a thread that may wait for the disk.
async fn open_data(config: &ServerConfig) -> Result<Option<data::Found>, NamingError> {
    let Some(path) = config.data_dir.clone() else { return Ok(None) };
    let (node, cluster, resync) = (config.name.clone(), config.cluster.clone(), config.resync_from_peers);
    let opened = spawn_blocking(move || Folder::open(&path, &node, &cluster, resync)).await;
    opened.map_err(|error| refused(format!("the data folder could not be read: {error}")))?.map(Some)
}

/// What a node begins with, by what was found in its data folder.
fn past(found: Option<data::Found>) -> (Past, Origin, Option<Kept>) {
    let Some(data::Found { folder, identity, state, tables }) = found else {
        return (Past::default(), Origin::Memory, None);
    };
    let members = identity.members.iter().map(|member| member.endpoint.clone()).collect();
    let past = Past { cluster_id: identity.cluster_id, members, needs_others: identity.copying, ..Past::default() };
    let last = state.as_ref().map(|state| state.meta.clone());
    let origin = Origin::Folder { path: folder.path().to_owned(), state };
    (past, origin, Some(Kept { folder, identity, tables, last }))
}

/// The end of joining, where that comes. It may take as long as the copy of the tree goes on.
async fn joined(core: &Core, within: Duration) -> Option<Result<(), Fault>> {
    let mut joined = core.peers.joined();
    let mut copied = core.replication.copied();
    let going_on = async {
        loop {
            if let Ok(joined) = timeout(within, &mut joined).await {
                return Some(joined);
            }
            let (parts, is_busy) = core.replication.copied();
            if !is_busy && parts == copied.0 {
                return None;
            }
            copied.0 = parts;
        }
    };
    timeout(within + COPY, going_on).await.ok().flatten()
}

async fn ready(core: &Core, within: Duration) -> Result<(), NamingError> {
    match joined(core, within).await {
        Some(Ok(())) => {
            // The bulletin follows the view in a moment; whoever asks the started node for its view sees it live.
            let mut bulletins = core.bulletins.clone();
            let live = |bulletin: &Arc<Bulletin>| bulletin.view.member(core.id).is_some_and(|m| m.state != MemberState::Joining);
            drop(timeout(LAG, bulletins.wait_for(live)).await);
            Ok(())
        }
        Some(Err(fault)) => Err(NamingError::new(ErrorKind::from_code(fault.code), fault.message)),
        None => {
            let mut why = core.peers.unready().unwrap_or_else(|| "it is still joining".to_owned());
            for warning in core.peers.warnings() {
                why = format!("{why}; {warning}");
            }
            let message = format!("node {} was not ready within {within:?}: {why}", core.name);
            Err(NamingError::new(ErrorKind::TimeLimitExceeded, message))
        }
    }
}

/// Where to listen: what a host name stands for, so that what is opened is what was judged.
async fn located(network: &dyn Network, config: &ServerConfig) -> Result<Vec<Endpoint>, NamingError> {
    let at = &config.listen;
    let found = match timeout(LISTEN, network.resolve(at)).await {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {LISTEN:?}")),
    };
    let found = found.map_err(|why| {
        let remedy = "listen on an address of this machine, such as 127.0.0.1";
        refused(format!("{at} can't be opened: its host name does not resolve ({why}); {remedy}"))
    })?;
    found.iter().try_for_each(|address| config.check_loopback(address))?;
    Ok(found)
}

/// Opens the first of `places` that can be, which are what `at` stands for.
async fn listen(network: &dyn Network, at: &Endpoint, places: &[Endpoint]) -> Result<BoxListener, NamingError> {
    let mut failed = None;
    for place in places {
        match network.listen(place).await {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = Some(error),
        }
    }
    let error = failed.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into());
    Err(refused(match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{at} is already in use: another node or program listens there; choose another port, or end it")
        }
        io::ErrorKind::AddrNotAvailable => format!("{at} is no address of this machine; listen on one of its own"),
        io::ErrorKind::PermissionDenied => format!("this process may not listen on {at}; choose a port from 1024 on"),
        _ => format!("{at} could not be opened: {error}"),
    }))
}

fn refused(message: String) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}

fn join(network: Arc<dyn Network>, config: &ServerConfig, member: Member, past: Past) -> Arc<dyn Peers> {
    // Nobody knows a port that was drawn for this start.
    let past = Past { may_be_known: config.listen.port() != 0, ..past };
    let config = MembersConfig {
        member,
        cluster: config.cluster.clone(),
        seeds: config.seeds.clone(),
        past,
        limits: config.limits.frames(),
        timing: Timing::default(),
    };
    Arc::new(Members::start(config, network))
}
