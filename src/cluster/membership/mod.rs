//! Who is in the cluster: an engine without I/O, an interim for SWIM behind the same driver.
//!
//! Every node keeps one *link* to each other member, dialled by itself, for control frames alone. On it it sends gossip
//! (who it is, whom it believes alive) every 300 ms; each answer is a sign of life. Only answers count, not what the other
//! side sends by itself: so a member is one that can be reached both ways, and a one-way cut is seen from both ends.
//!
//! - **Meeting.** Whoever says hello, speaks, or is named by a member is dialled; it is a member once it welcomed us.
//! - **Dying.** A member is dead when it answered nothing for 1.5 s; when its link broke and two redials were refused; when
//!   another incarnation of its name has taken its place. A tick that comes late discards evidence of silence: then it
//!   was this node that slept. The dead are dialled on, so that a split heals by itself.
//! - **Leaving** is said, and takes effect at once.
//! - **Forming** an identity is in [`forming`]; two nodes of one name are told apart in `names`.
//! - **Ready** is a node once it is in one view with every seed that answered, and has the cluster tree.
//!
//! The engine is given the time; it draws nothing at random. [`Membership::step`] takes an event and gives what is to be
//! done. The wire's two questions that want an answer at once are [`Membership::admit`] and [`Membership::answer`].

mod book;
mod config;
mod contact;
mod event;
mod forming;
mod names;
mod refusal;
mod seeds;
mod standing;
mod warnings;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::protocol::{Fault, Gossip, GossipMember, Introduction};
use crate::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};

use book::{Book, Origin};
pub use config::{Config, Past, Timing};
pub use event::{DialFailure, Input, LinkId, Output};
use forming::Identity;
use seeds::Seeds;
use warnings::Warnings;

/// How many incarnations that left are remembered, so that late gossip does not bring them back.
const DEPARTED: usize = 256;

/// The membership of one node.
#[derive(Debug)]
pub struct Membership {
    me: Member,
    cluster: String,
    timing: Timing,
    identity: Identity,
    /// The id that this node gave up last, and when: its mates may still bear it.
    left_behind: Option<(ClusterId, Duration)>,
    peers: BTreeMap<NodeId, Peer>,
    book: Book,
    past: Past,
    seeds: Seeds,
    departed: VecDeque<NodeId>,
    /// Newcomers that bear the name of a member, and since when.
    contested: BTreeMap<NodeId, Duration>,
    warnings: Warnings,
    view: View,
    started: Duration,
    /// Since when there is another member.
    company_since: Option<Duration>,
    tick_due: Option<Duration>,
    last_link: u64,
    joining: Joining,
    has_left: bool,
    failed: bool,
    /// All members are to be told at once what has changed here.
    is_news: bool,
    outputs: Vec<Output>,
}

/// What a node has of all that it needs before it serves.
#[derive(Debug, Default)]
struct Joining {
    /// All whom it should know are met.
    met: bool,
    /// It has the cluster tree.
    has_tree: bool,
}

/// Another member.
#[derive(Debug)]
struct Peer {
    member: Member,
    identity: Identity,
    /// The last id that both this node and it had.
    shared_id: Option<ClusterId>,
    is_settled: bool,
    link: Option<LinkId>,
    /// Where it was reached.
    via: Endpoint,
    /// When it answered last.
    heard: Duration,
    next_ping: Duration,
    /// Whom it believes alive.
    believed: BTreeSet<NodeId>,
    /// How often redialling was refused since its link broke.
    refusals: u32,
}

impl Membership {
    /// A node that starts at `now`. It begins to act with its first [`Input::Tick`].
    pub fn new(now: Duration, config: Config) -> Self {
        let Config { mut member, cluster, seeds, past, timing } = config;
        member.state = MemberState::Joining;
        let seeds = Seeds::new(seeds, &member.endpoint);
        let identity = Identity { id: past.cluster_id, firm: past.cluster_id.is_some() };
        let view = View::new(cluster.clone(), identity.id, vec![member.clone()]);
        let mut book = Book::default();
        for address in past.members.iter().filter(|address| **address != member.endpoint) {
            book.note(now, address, Origin::Known, false);
        }
        Self {
            me: member,
            cluster,
            timing,
            identity,
            left_behind: None,
            peers: BTreeMap::new(),
            book,
            past,
            seeds,
            departed: VecDeque::new(),
            contested: BTreeMap::new(),
            warnings: Warnings::default(),
            view,
            started: now,
            company_since: None,
            tick_due: None,
            last_link: 0,
            joining: Joining::default(),
            has_left: false,
            failed: false,
            is_news: false,
            outputs: Vec::new(),
        }
    }

    /// Takes one event and gives what is to be done.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Output> {
        match input {
            Input::Tick => self.tick(now),
            Input::Resolved { seed, addresses } => self.resolved(now, &seed, addresses),
            Input::Opened { link, introduction } => self.opened(now, link, introduction),
            Input::NotOpened { link, failure } => self.not_opened(now, link, failure),
            Input::Lost { link } => self.lost(now, link),
            Input::Answered { link, gossip } => self.answered(now, link, gossip),
            Input::HasTree => self.joining.has_tree = true,
            Input::Quiesce => self.set_state(MemberState::Quiescing),
            Input::Leave => self.leave(),
        }
        self.settle(now)
    }

    /// Whether a node that says hello to this one may speak with it; the fault is the answer to its hello.
    pub fn admit(&mut self, now: Duration, them: &Introduction) -> (Result<(), Fault>, Vec<Output>) {
        let admitted = self.hello(now, them);
        (admitted, self.settle(now))
    }

    /// Takes another node's gossip and answers it.
    pub fn answer(&mut self, now: Duration, gossip: Gossip) -> (Gossip, Vec<Output>) {
        self.hear(now, gossip);
        let outputs = self.settle(now);
        (self.gossip(now), outputs)
    }

    /// How this node introduces itself.
    pub fn introduction(&self) -> Introduction {
        Introduction {
            member: self.me.clone(),
            cluster: self.cluster.clone(),
            cluster_id: self.identity.id,
            firm: self.identity.firm,
        }
    }

    /// The members, this node among them.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Where this node stands in its life.
    pub fn state(&self) -> MemberState {
        self.me.state
    }

    /// What a person should see, each with its remedy.
    pub fn warnings(&self) -> Vec<String> {
        let mut texts = self.warnings.texts();
        if self.me.state == MemberState::Live {
            texts.extend(self.missed_seeds());
        }
        texts
    }

    /// What the node has seen last, as gossip.
    fn gossip(&self, now: Duration) -> Gossip {
        let members = self.peers.values().map(|peer| GossipMember {
            member: peer.member.clone(),
            heard: u32::try_from(now.saturating_sub(peer.heard).as_millis()).unwrap_or(u32::MAX),
        });
        Gossip { from: self.introduction(), members: members.collect(), leaving: self.has_left, settled: self.is_settled() }
    }

    fn set_state(&mut self, state: MemberState) {
        if self.me.state < state {
            self.me.state = state;
            self.is_news = true;
        }
    }

    fn leave(&mut self) {
        self.me.state = MemberState::Quiescing;
        self.has_left = true;
        self.is_news = true;
    }

    fn warn(&mut self, now: Duration, about: &Endpoint, fault: &Fault) {
        if self.warnings.add(now, about, &fault.message) {
            self.outputs.push(Output::Warned(fault.message.clone()));
        }
    }
}
