//! How a node comes up: its port, its trees, its cluster, its tasks, in this order.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::cluster::membership::Timing;
use crate::naming::{ErrorKind, NamingError, Source, Tree};
use crate::topology::{Endpoint, Member, MemberState, NodeId};
use crate::transport::{BoxListener, Network};

use super::acceptor::accept;
use super::bulletin::Bulletin;
use super::clock::Clock;
use super::config::ServerConfig;
use super::core::{Core, Identity};
use super::herald::{Departure, proclaim, retire};
use super::members::{Members, MembersConfig};
use super::peers::Peers;
use super::replication::{follow_views, keep_time};

/// How long opening the port may take: a host name may have to be resolved.
pub const LISTEN: Duration = Duration::from_secs(5);

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
}

/// Opens the port, joins the cluster, and begins to serve.
pub async fn launch(network: Arc<dyn Network>, config: ServerConfig) -> Result<Launched, NamingError> {
    let listener = listen(&*network, &config.listen).await?;
    let listening = listener.endpoint();
    let member = Member {
        name: config.name.clone(),
        id: NodeId(rand::random()),
        endpoint: config.advertised(&listening),
        state: MemberState::Joining,
    };
    let name: Arc<str> = Arc::from(config.name.as_str());
    let tree = |source, actor| Arc::new(Tree::new(actor).with_origin(source, Arc::clone(&name)));
    let identity = Identity {
        id: member.id,
        local: tree(Source::Local, rand::random()),
        cluster: tree(Source::Cluster, rand::random()),
        name: Arc::clone(&name),
        settings: config.settings(),
    };
    let peers = join(network, &config, member);
    let views = peers.views();
    let frames = config.limits.frames();
    let bulletins = watch::Sender::new(Arc::new(Bulletin::new(Arc::clone(&views.borrow()), identity.id, false, frames)));
    let core = Core::new(identity, peers, config.limits, Clock::default(), bulletins.subscribe());
    let (departure, departed) = watch::channel(None);
    tokio::spawn(proclaim(Arc::clone(&core), views, bulletins.clone()));
    tokio::spawn(retire(Arc::clone(&core), bulletins, departure));
    tokio::spawn(keep_time(Arc::clone(&core.replication)));
    tokio::spawn(follow_views(Arc::clone(&core.replication), core.peers.views()));
    tokio::spawn(accept(Arc::clone(&core), listener));
    ready(&core, config.ready_within).await?;
    Ok(Launched { core, listening, departed })
}

async fn ready(core: &Core, within: Duration) -> Result<(), NamingError> {
    match timeout(within, core.peers.joined()).await {
        Ok(Ok(())) => {
            // The bulletin follows the view in a moment; whoever asks the started node for its view sees it live.
            let mut bulletins = core.bulletins.clone();
            let live = |bulletin: &Arc<Bulletin>| bulletin.view.member(core.id).is_some_and(|m| m.state != MemberState::Joining);
            drop(timeout(LAG, bulletins.wait_for(live)).await);
            Ok(())
        }
        Ok(Err(fault)) => Err(NamingError::new(ErrorKind::from_code(fault.code), fault.message)),
        Err(_) => {
            let mut why = core.peers.unready().unwrap_or_else(|| "it is still joining".to_owned());
            for warning in core.peers.warnings() {
                why = format!("{why}; {warning}");
            }
            let message = format!("node {} was not ready within {within:?}: {why}", core.name);
            Err(NamingError::new(ErrorKind::TimeLimitExceeded, message))
        }
    }
}

async fn listen(network: &dyn Network, at: &Endpoint) -> Result<BoxListener, NamingError> {
    let opened = timeout(LISTEN, network.listen(at)).await;
    let error = match opened {
        Ok(Ok(listener)) => return Ok(listener),
        Ok(Err(error)) => error,
        Err(_) => return Err(refused(format!("{at} could not be opened within {LISTEN:?}; is its host name right?"))),
    };
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

fn join(network: Arc<dyn Network>, config: &ServerConfig, member: Member) -> Arc<dyn Peers> {
    let config = MembersConfig {
        member,
        cluster: config.cluster.clone(),
        seeds: config.seeds.clone(),
        limits: config.limits.frames(),
        timing: Timing::default(),
    };
    Arc::new(Members::start(config, network))
}
