//! The servers, and the name that lists them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::discovery::{Answer, Origin, Place};
use crate::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};

use super::plan::Change;
use super::scenario::{Addresses, Scenario};

/// The port of all servers.
const PORT: u16 = 11100;
/// What the servers call their cluster.
const CLUSTER: &str = "simulation";

/// One server, whatever its address.
#[derive(Clone, Debug, Default)]
struct Server {
    /// It is to be there.
    wanted: bool,
    up: bool,
    /// Where it is, or was.
    address: u32,
    /// How often it has started.
    starts: u32,
    connections: u64,
}

impl Server {
    fn as_member(&self, number: usize) -> Member {
        let id = (number as u128) << 32 | u128::from(self.starts);
        Member { name: format!("s{}", number + 1), id: NodeId(id), endpoint: endpoint(self.address), state: MemberState::Live }
    }
}

/// A connection to a server as it was since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Connection {
    pub(super) server: usize,
    starts: u32,
}

#[derive(Debug)]
pub(super) struct World {
    servers: Vec<Server>,
    /// Whose each address is, in the order in which they were given.
    addresses: Vec<usize>,
    kept: Addresses,
    ttl: Duration,
    listed: Arc<[Place]>,
    name_server_works: bool,
    /// Who is up, as the servers see it.
    view: View,
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut world = Self {
            servers: vec![Server::default(); scenario.most_servers() as usize],
            addresses: Vec::new(),
            kept: scenario.restarts.addresses,
            ttl: scenario.ttl,
            listed: Arc::default(),
            name_server_works: true,
            view: View::new(CLUSTER, Some(ClusterId(1)), Vec::new()),
        };
        world.change(Change::Scale(scenario.servers));
        world
    }

    /// The name by which clients know the servers.
    pub(super) fn name() -> Endpoint {
        Endpoint::new("servers.simulation", PORT)
    }

    pub(super) fn change(&mut self, change: Change) {
        match change {
            Change::Start(server) if self.servers[server].wanted => self.start(server),
            Change::Start(_) => {}
            Change::Stop(server) => self.stop(server),
            Change::NameServer(works) => self.name_server_works = works,
            Change::Scale(wanted) => {
                for server in 0..self.servers.len() {
                    let was_wanted = self.servers[server].wanted;
                    self.servers[server].wanted = server < wanted as usize;
                    match (was_wanted, self.servers[server].wanted) {
                        (false, true) => self.start(server),
                        (true, false) => self.stop(server),
                        _ => {}
                    }
                }
            }
        }
        let kept = self.kept == Addresses::Kept;
        let listed = self.servers.iter().filter(|server| server.wanted && (server.up || kept));
        self.listed = listed.map(|server| Place::new(endpoint(server.address), Origin::Dns)).collect();
        let up = self.servers.iter().enumerate().filter(|(_, server)| server.up);
        self.view = View::new(CLUSTER, Some(ClusterId(1)), up.map(|(number, server)| server.as_member(number)).collect());
    }

    fn start(&mut self, number: usize) {
        let server = &mut self.servers[number];
        if server.up {
            return;
        }
        if server.starts == 0 || self.kept == Addresses::New {
            server.address = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
            self.addresses.push(number);
        }
        server.up = true;
        server.starts += 1;
    }

    fn stop(&mut self, number: usize) {
        self.servers[number].up = false;
        self.servers[number].connections = 0;
    }

    /// What the name server says.
    pub(super) fn resolve(&self) -> Result<Answer, String> {
        if !self.name_server_works {
            return Err("the name server failed (SERVFAIL)".to_owned());
        }
        let places = Arc::clone(&self.listed);
        Ok(Answer { places, ..Answer::new(Vec::new(), self.ttl) })
    }

    /// The server that answers at this address.
    pub(super) fn at(&self, address: Option<SocketAddr>) -> Option<usize> {
        let IpAddr::V4(ip) = address?.ip() else { return None };
        let number = u32::from(ip).checked_sub(u32::from(FIRST))?;
        let server = *self.addresses.get(number as usize)?;
        let found = &self.servers[server];
        (found.up && found.address == number).then_some(server)
    }

    /// Whom servers know to be there.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    pub(super) fn is_up(&self, server: usize) -> bool {
        self.servers[server].up
    }

    /// How many connections a server has.
    pub(super) fn connections(&self, server: usize) -> u64 {
        self.servers[server].connections
    }

    pub(super) fn connect(&mut self, server: usize) -> Connection {
        self.servers[server].connections += 1;
        Connection { server, starts: self.servers[server].starts }
    }

    /// Whether a connection still stands: it broke when its server stopped.
    pub(super) fn stands(&self, connection: Connection) -> bool {
        let server = &self.servers[connection.server];
        server.up && server.starts == connection.starts
    }

    pub(super) fn disconnect(&mut self, connection: Connection) {
        if self.stands(connection) {
            self.servers[connection.server].connections -= 1;
        }
    }
}

/// The first address that is given.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

fn endpoint(address: u32) -> Endpoint {
    Endpoint::new(Ipv4Addr::from(u32::from(FIRST).saturating_add(address)).to_string(), PORT)
}
