//! Who is in the cluster: an engine without I/O.
//!
//! Every node keeps one *link* to each other member, dialled by itself, for control frames alone. On it it *asks*, and each
//! answer is a sign of life. Only answers count, not what the other side sends by itself: so a member is one that can be
//! reached both ways, and a one-way cut is seen from both ends. What is said and answered has a fixed size: who speaks, where
//! that has changed; a number for whom it believes alive; and packets of the *failure detector* ([`swim`]), which knows who
//! lives from what all of them find out. A link that rests is asked twice a second, so the traffic of a node grows with the
//! number of its links and not faster.
//!
//! - **Meeting.** Whoever says hello, speaks, or is named by the failure detector is dialled; it is a member once it
//!   welcomed us.
//! - **Dying.** A member is dead when the failure detector says so: it did not answer, nobody could vouch for it, and it did
//!   not deny it in time. It is dead at once when its link broke and two redials were refused, or another incarnation has
//!   taken its place. A link that is silent for 1.5 s is closed and dialled again; the member leaves this node's view with
//!   it if nobody vouches for it, else when it wasn't reached for three seconds, whoever else reaches it. A tick that comes
//!   late discards evidence of silence: then it was this node that slept. The dead are dialled on, so that a split heals by
//!   itself; who lives and was called dead is told so, and takes up another life.
//! - **Leaving** is said, and takes effect at once.
//! - **Forming** an identity is in [`forming`]; two nodes of one name are told apart in `names`.
//! - **Ready** is a node once it is in one view with every seed that answered, and has the cluster tree.
//!
//! The engine is given the time, and a seed for what the failure detector draws. [`Membership::step`] takes an event and
//! gives what is to be done. The wire's two questions that want an answer at once are [`Membership::admit`] and
//! [`Membership::answer`].

mod book;
mod config;
mod contact;
mod event;
mod forming;
mod names;
mod refusal;
mod rules;
mod seeds;
mod standing;
mod swim;
mod telling;
mod warnings;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::protocol::{Fault, Gossip, Introduction};
use crate::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};

use book::{Book, Origin};
pub use config::{Config, Detection, Past, Timing};
pub use event::{DialFailure, Input, LinkId, Output};
use forming::Identity;
pub use rules::{Rule, Rules};
use seeds::Seeds;
use swim::Swim;
use telling::Telling;
use warnings::Warnings;

/// How many incarnations that left are remembered, so that late gossip does not bring them back.
const DEPARTED: usize = 256;

/// The membership of one node.
#[derive(Debug)]
pub struct Membership {
    me: Member,
    cluster: String,
    timing: Timing,
    rules: Rules,
    identity: Identity,
    /// The id that this node gave up last, and when: its mates may still bear it.
    left_behind: Option<(ClusterId, Duration)>,
    peers: BTreeMap<NodeId, Peer>,
    swim: Swim,
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
    telling: Telling,
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
    /// What it said last of itself.
    introduction: Introduction,
    /// The number of that; `None` where it is only known from its welcome.
    edition: Option<u32>,
    /// The last id that both this node and it had.
    shared_id: Option<ClusterId>,
    is_settled: bool,
    link: Option<LinkId>,
    /// Where it was reached.
    via: Endpoint,
    /// When it answered last.
    heard: Duration,
    /// When something is asked at the latest.
    next_beat: Duration,
    /// The number of what it has of what this node says of itself.
    has: Option<u32>,
    /// A number for whom it believes alive.
    beheld: u64,
    /// It believes this node alive.
    sees_us: bool,
    /// How often redialling was refused since its link broke.
    refusals: u32,
}

impl Peer {
    fn member(&self) -> &Member {
        &self.introduction.member
    }

    fn identity(&self) -> Identity {
        Identity::of(&self.introduction)
    }
}

impl Membership {
    /// A node that starts at `now`. It begins to act with its first [`Input::Tick`].
    pub fn new(now: Duration, config: Config) -> Self {
        let Config { mut member, cluster, seeds, past, timing, seed, rules } = config;
        member.state = MemberState::Joining;
        let seeds = Seeds::new(seeds, &member.endpoint);
        let identity = Identity { id: past.cluster_id, firm: past.cluster_id.is_some() };
        let view = View::new(cluster.clone(), identity.id, vec![member.clone()]);
        let mut book = Book::default();
        for address in past.members.iter().filter(|address| **address != member.endpoint) {
            book.note(now, address, Origin::Known, false);
        }
        Self {
            swim: Swim::new(&member, &timing.detection, seed),
            me: member,
            cluster,
            timing,
            rules,
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
            telling: Telling::default(),
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
            Input::Leave => self.leave(now),
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
        let (asker, has) = (gossip.speaker, gossip.has);
        self.telling.asker = Some(asker);
        self.hear(now, gossip);
        let outputs = self.settle(now);
        (self.reply(asker, has), outputs)
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

    fn set_state(&mut self, state: MemberState) {
        if self.me.state < state {
            self.me.state = state;
            self.telling.is_news = true;
        }
    }

    fn leave(&mut self, now: Duration) {
        self.me.state = MemberState::Quiescing;
        if self.rules.hold(Rule::LeavingIsTold) {
            self.swim.leave(now);
            self.has_left = true;
            self.telling.is_news = true;
        }
    }

    fn warn(&mut self, now: Duration, about: &Endpoint, fault: &Fault) {
        if self.warnings.add(now, about, &fault.message) {
            self.outputs.push(Output::Warned(fault.message.clone()));
        }
    }
}
