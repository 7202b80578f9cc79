//! What a node is told when it starts, and what is wrong with it.
//!
//! Everything is checked before a socket is opened, and every refusal names the remedy: a node that would be open to
//! the world by accident, or that nobody could reach under the address it tells others, does not start.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::naming::{ErrorKind, NamingError};
use crate::protocol::Limits;
use crate::topology::Endpoint;

/// The longest name of a node or cluster, in bytes.
const LONGEST_NAME: usize = 128;

/// How a node starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The node's name, unique in its cluster.
    pub name: String,
    /// Where it listens; port 0 is any free one.
    pub listen: Endpoint,
    /// The address told to others; the address listened at where none is given. Port 0 stands for the real port.
    pub advertise: Option<Endpoint>,
    /// Nodes to meet the cluster through. None: the node is one of its own until somebody comes.
    pub seeds: Vec<Endpoint>,
    /// The cluster's name.
    pub cluster: String,
    /// The folder in which the cluster tree is kept; none: in memory alone.
    pub data_dir: Option<PathBuf>,
    /// What is damaged in that folder is set aside, and the cluster tree copied from the other nodes.
    pub resync_from_peers: bool,
    /// The node announces itself by multicast.
    pub mdns: bool,
    /// The interface by which it does, by its name or its address; none: by all.
    pub mdns_interface: Option<String>,
    /// Listen beyond loopback although nothing is encrypted and nobody is authenticated.
    pub insecure: bool,
    /// Where settings are from, by their names, as whoever starts the node knows it: its status tells it.
    pub sources: BTreeMap<String, String>,
    /// Threads that serve.
    pub workers: usize,
    /// How long `start` waits for the node to be ready, once the copy of the tree does not go on.
    pub ready_within: Duration,
    /// What the node takes from others at most.
    pub limits: ServerLimits,
}

/// What a node takes from others, at most. Beyond each limit only the connection or request concerned suffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Client connections. Peers have room of their own beside them.
    pub connections: usize,
    /// Requests of one connection that wait for other nodes.
    pub in_flight_per_connection: usize,
    /// Requests of all connections that wait for other nodes, a request for many names counting for several.
    pub in_flight: usize,
    /// Watches of all connections that wait for changes; those of one count as its requests that wait.
    pub watches: usize,
    /// Names in one request for many.
    pub names_per_request: usize,
    /// The longest frame taken, and the longest sent, in bytes.
    pub frame: usize,
    /// Bytes of long frames that may be coming in at once, over all connections.
    pub receiving: usize,
    /// Bytes of replies that wait to be taken by one connection, before nothing more is read from it.
    pub unsent: usize,
    /// Bytes of replies that wait to be taken by all connections, before requests are refused.
    pub unsent_in_all: usize,
    /// From the connection's start to its hello.
    pub handshake: Duration,
    /// From a frame's first byte to its last.
    pub frame_time: Duration,
    /// A connection that sends nothing and waits for nothing is closed after this time.
    pub idle: Duration,
    /// A connection that does not take its replies is cut after this time.
    pub unsent_time: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
            in_flight_per_connection: 1024,
            in_flight: 16 * 1024,
            watches: 4096,
            names_per_request: 16 * 1024,
            frame: Limits::default().frame,
            receiving: 64 << 20,
            unsent: 256 << 10,
            unsent_in_all: 256 << 20,
            handshake: Duration::from_secs(5),
            frame_time: Duration::from_secs(10),
            idle: Duration::from_secs(600),
            unsent_time: Duration::from_secs(10),
        }
    }
}

impl ServerConfig {
    /// A node named `name` on a free loopback port, alone in the cluster `default`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            listen: Endpoint::new("127.0.0.1", 0),
            advertise: None,
            seeds: Vec::new(),
            cluster: "default".to_owned(),
            data_dir: None,
            resync_from_peers: false,
            mdns: false,
            mdns_interface: None,
            insecure: false,
            sources: BTreeMap::new(),
            workers: 2,
            ready_within: Duration::from_secs(10),
            limits: ServerLimits::default(),
        }
    }

    /// Refuses what could not work or would be open by accident. Nothing was opened yet.
    pub fn validate(&self) -> Result<(), NamingError> {
        check_name("node", &self.name)?;
        check_name("cluster", &self.cluster)?;
        self.check_listen()?;
        self.check_advertise()?;
        for seed in &self.seeds {
            check_reachable("a seed", seed)?;
        }
        self.check_mdns()?;
        self.check_data()?;
        self.check_limits()
    }

    /// The address to advertise, where `real` is the one that is listened at.
    pub fn advertised(&self, real: &Endpoint) -> Endpoint {
        match &self.advertise {
            Some(address) if address.port() == 0 => Endpoint::new(address.host(), real.port()),
            Some(address) => address.clone(),
            None => real.clone(),
        }
    }

    fn check_listen(&self) -> Result<(), NamingError> {
        // What a host name stands for is not known yet.
        if ip(&self.listen).is_some() { self.check_loopback(&self.listen) } else { Ok(()) }
    }

    /// Refuses an address to listen at that is open to the network, unless that was said. `address` is what `listen` stands
    /// for.
    pub(super) fn check_loopback(&self, address: &Endpoint) -> Result<(), NamingError> {
        if self.insecure || is_loopback(address) {
            return Ok(());
        }
        let what = if *address == self.listen {
            format!("{address} is")
        } else {
            format!("{} stands for {address}, which is", self.listen)
        };
        Err(wrong(format!(
            "{what} not a loopback address: listening there would open the node to the network without encryption or \
             authentication; listen on 127.0.0.1, or say insecure=True (--insecure) if the network is trusted"
        )))
    }

    fn check_advertise(&self) -> Result<(), NamingError> {
        match &self.advertise {
            Some(address) if is_unspecified(address) => Err(wrong(format!(
                "{address} cannot be advertised, nobody can connect to it; advertise the address under which others \
                 reach this node, for instance advertise=\"10.0.0.5:11100\""
            ))),
            None if is_unspecified(&self.listen) => Err(wrong(format!(
                "a node that listens on {} must say under which address others reach it; give advertise=\"host:port\" \
                 (--advertise), for instance \"10.0.0.5:{}\"",
                self.listen,
                self.listen.port()
            ))),
            _ => Ok(()),
        }
    }

    fn check_mdns(&self) -> Result<(), NamingError> {
        match self.mdns_interface.as_deref() {
            Some("") => Err(wrong("the interface for multicast is \"\"; name one, or leave mdns_interface out for all")),
            Some(name) if !self.mdns => Err(wrong(format!(
                "the interface {name} is for a node that announces itself; say mdns=True (--mdns), or leave it out"
            ))),
            _ => Ok(()),
        }
    }

    fn check_data(&self) -> Result<(), NamingError> {
        match &self.data_dir {
            Some(folder) if folder.as_os_str().is_empty() => {
                Err(wrong("the data folder's name is empty; name a folder, or leave data_dir out for a node without data"))
            }
            None if self.resync_from_peers => Err(wrong(
                "--resync-from-peers is for a node whose data is damaged, and this one has no data folder; give --data-dir, or \
                 leave it out: a node without data copies the cluster tree anyway",
            )),
            _ => Ok(()),
        }
    }

    fn check_limits(&self) -> Result<(), NamingError> {
        let limits = &self.limits;
        let counts = [
            ("workers", self.workers),
            ("connections", limits.connections),
            ("in_flight_per_connection", limits.in_flight_per_connection),
            ("in_flight", limits.in_flight),
            ("watches", limits.watches),
            ("names_per_request", limits.names_per_request),
            ("receiving", limits.receiving),
            ("unsent", limits.unsent),
            ("unsent_in_all", limits.unsent_in_all),
        ];
        if let Some((what, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(wrong(format!("the limit {what} is 0, so that nothing could be served; make it 1 or more")));
        }
        let times = [
            ("handshake", limits.handshake),
            ("frame_time", limits.frame_time),
            ("idle", limits.idle),
            ("unsent_time", limits.unsent_time),
            ("ready_within", self.ready_within),
        ];
        if let Some((what, _)) = times.into_iter().find(|(_, time)| time.is_zero()) {
            return Err(wrong(format!("the time limit {what} is 0, so that nothing could be served; make it longer")));
        }
        // A value of the greatest size must fit, with what stands around it.
        if limits.frame < 128 << 10 || u32::try_from(limits.frame).is_err() {
            return Err(wrong(format!("the frame limit is {} bytes; it must be from 128 KiB to 4 GiB", limits.frame)));
        }
        Ok(())
    }
}

impl ServerLimits {
    /// The limits of frames.
    pub fn frames(&self) -> Limits {
        Limits { frame: self.frame }
    }
}

fn wrong(message: impl Into<String>) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}

fn check_name(what: &str, name: &str) -> Result<(), NamingError> {
    if name.is_empty() {
        return Err(wrong(format!("the {what}'s name is empty; give it one, for instance \"n1\"")));
    }
    if name.len() > LONGEST_NAME {
        return Err(wrong(format!("the {what}'s name has {} bytes; {LONGEST_NAME} are allowed", name.len())));
    }
    if let Some(bad) = name.chars().find(|c| c.is_control()) {
        return Err(wrong(format!("the {what}'s name has the control character {bad:?} in it; leave it out")));
    }
    if name.trim().is_empty() {
        return Err(wrong(format!("the {what}'s name is nothing but blanks; give it one, for instance \"n1\"")));
    }
    Ok(())
}

fn check_reachable(what: &str, address: &Endpoint) -> Result<(), NamingError> {
    if address.port() == 0 {
        return Err(wrong(format!("{what} is {address}; it needs its real port")));
    }
    if is_unspecified(address) {
        return Err(wrong(format!("{what} is {address}, to which nobody can connect; give its real address")));
    }
    Ok(())
}

fn is_loopback(address: &Endpoint) -> bool {
    address.host().eq_ignore_ascii_case("localhost") || ip(address).is_some_and(|ip| ip.to_canonical().is_loopback())
}

fn is_unspecified(address: &Endpoint) -> bool {
    ip(address).is_some_and(|ip| ip.to_canonical().is_unspecified())
}

fn ip(address: &Endpoint) -> Option<IpAddr> {
    address.host().parse().ok()
}
