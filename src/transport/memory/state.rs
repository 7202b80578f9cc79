//! The network's hosts, connections and faults.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Weak};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::{Notify, mpsc};

use crate::protocol::Header;
use crate::topology::Endpoint;

use super::super::network::BoxStream;
use super::pipe::Wire;
use super::rule::{Mishap, Rule};

/// The first port given to who asks for any.
const FIRST_PORT: u16 = 30_000;

type Backlog = mpsc::Sender<(BoxStream, Endpoint)>;

#[derive(Debug)]
struct Listening {
    host: Arc<str>,
    backlog: Backlog,
}

#[derive(Debug)]
pub(super) struct State {
    listeners: BTreeMap<Endpoint, Listening>,
    wires: Vec<Weak<Wire>>,
    rules: Vec<Rule>,
    cuts: BTreeSet<(String, String)>,
    frozen: BTreeSet<String>,
    dead: BTreeSet<String>,
    next_port: u16,
    struck: u64,
    healed: Arc<Notify>,
    chance: StdRng,
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            listeners: BTreeMap::new(),
            wires: Vec::new(),
            rules: Vec::new(),
            cuts: BTreeSet::new(),
            frozen: BTreeSet::new(),
            dead: BTreeSet::new(),
            next_port: FIRST_PORT,
            struck: 0,
            healed: Arc::new(Notify::new()),
            chance: StdRng::seed_from_u64(seed),
        }
    }

    pub(super) fn listen(&mut self, host: &Arc<str>, at: &Endpoint, backlog: Backlog) -> io::Result<Endpoint> {
        if self.dead.contains(&**host) {
            return Err(io::ErrorKind::NetworkDown.into());
        }
        let endpoint = if at.port() == 0 {
            self.next_port += 1;
            Endpoint::new(at.host(), self.next_port)
        } else {
            at.clone()
        };
        if self.listeners.get(&endpoint).is_some_and(|listening| !listening.backlog.is_closed()) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        self.listeners.insert(endpoint.clone(), Listening { host: Arc::clone(host), backlog });
        Ok(endpoint)
    }

    /// Who listens there, as seen by the host `from`.
    pub(super) fn listener(&self, from: &str, to: &Endpoint) -> io::Result<(Arc<str>, Backlog)> {
        if self.dead.contains(from) {
            return Err(io::ErrorKind::NetworkDown.into());
        }
        match self.listeners.get(to) {
            Some(listening) => Ok((Arc::clone(&listening.host), listening.backlog.clone())),
            None => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    pub(super) fn forget_closed_listeners(&mut self) {
        self.listeners.retain(|_, listening| !listening.backlog.is_closed());
    }

    pub(super) fn connected(&mut self, wire: &Arc<Wire>) {
        self.wires.retain(|wire| wire.strong_count() > 0);
        self.wires.push(Arc::downgrade(wire));
    }

    pub(super) fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    pub(super) fn struck(&self) -> u64 {
        self.struck
    }

    pub(super) fn cut(&mut self, from: &str, to: &str) {
        self.cuts.insert((from.to_owned(), to.to_owned()));
    }

    pub(super) fn is_cut(&self, from: &str, to: &str) -> bool {
        !self.cuts.is_empty() && self.cuts.contains(&(from.to_owned(), to.to_owned()))
    }

    /// Whether what `from` sent to `to` is held back for now.
    pub(super) fn is_held(&self, from: &str, to: &str) -> bool {
        self.frozen.contains(from) || self.frozen.contains(to) || self.is_cut(from, to)
    }

    pub(super) fn freeze(&mut self, host: &str) {
        self.frozen.insert(host.to_owned());
    }

    pub(super) fn thaw(&mut self, host: &str) {
        self.frozen.remove(host);
        self.wake();
    }

    pub(super) fn kill(&mut self, host: &str) {
        self.dead.insert(host.to_owned());
        self.listeners.retain(|_, listening| *listening.host != *host);
        self.each_wire(|wire| wire.touches(host), Wire::reset);
    }

    pub(super) fn revive(&mut self, host: &str) {
        self.dead.remove(host);
    }

    pub(super) fn reset(&mut self, one: &str, other: &str) {
        self.each_wire(|wire| wire.touches(one) && wire.touches(other), Wire::reset);
    }

    pub(super) fn heal(&mut self) {
        self.cuts.clear();
        self.frozen.clear();
        self.rules.clear();
        self.wake();
    }

    /// Rung whenever something is healed.
    pub(super) fn healed(&self) -> Arc<Notify> {
        Arc::clone(&self.healed)
    }

    /// What befalls this frame, where a rule strikes it.
    pub(super) fn judge(&mut self, from: &str, to: &str, header: &Header) -> Option<Mishap> {
        for rule in &mut self.rules {
            if rule.fits(from, to, header) && self.chance.random_bool(rule.chance) {
                if let Some(times) = &mut rule.times {
                    *times -= 1;
                }
                self.struck += 1;
                return Some(rule.mishap.clone());
            }
        }
        None
    }

    /// A time from the range of a delay.
    pub(super) fn draw(&mut self, range: &std::ops::Range<std::time::Duration>) -> std::time::Duration {
        if range.is_empty() { range.start } else { self.chance.random_range(range.clone()) }
    }

    fn wake(&self) {
        self.healed.notify_waiters();
        self.each_wire(|_| true, Wire::wake);
    }

    fn each_wire(&self, which: impl Fn(&Wire) -> bool, act: impl Fn(&Wire)) {
        for wire in self.wires.iter().filter_map(Weak::upgrade).filter(|wire| which(wire)) {
            act(&wire);
        }
    }
}
