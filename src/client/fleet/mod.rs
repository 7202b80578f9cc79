//! All the servers that a client knows, and how they are.
//!
//! Targets come from sources and stay while any source lists them ([`relist`]); each has a health that its answers, and
//! their absence, decide ([`health`]). Those in good health form the *rotation*, from which a policy picks. A target that
//! failed leaves the rotation, is due for a probe after a backoff, and comes back when a probe or a call succeeds. One that
//! was merely announced is probed before it joins. Where the rotation is empty the others are tried anyway.
//!
//! The fleet is pure: a driver holds it under a short lock, tells it what happened, and asks it what is due.

mod firsts;
mod health;
mod pick;
mod relist;

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::discovery::dns::DnsConfig;
use crate::discovery::{Accepts, Answer, Hint, Place, Question, Source};
use crate::protocol::{Brought, Known, OperationId, Reply, Scope, Welcome};
use crate::topology::{Endpoint, MemberState, View, owner};

use super::balance::Balance;
use super::budget::Budget;
use super::cache::Cache;
use super::config::{ClientConfig, Policy};
use super::election::{Elections, Electorate};
use super::members::Members;
use super::metrics::Metrics;
use super::roster::Roster;
use super::session::{Extent, Session};
use super::sources::Sources;
use super::target::{Health, Origin, Target, TargetId};

pub(super) use pick::{Pick, Reach};

pub use super::sources::{Names, Servers};

/// How long a server's view counts against other servers' without a word from it.
const VIEW_COUNTS_FOR: Duration = Duration::from_secs(30);

/// Whether a fleet is of one node alone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Only {
    /// It's of a cluster.
    NotOne,
    /// It's of one, which has not answered yet.
    Whoever,
    /// It's of the one that answered here.
    This(Endpoint),
}

/// The servers that a client knows.
#[derive(Debug)]
pub struct Fleet {
    roster: Roster,
    rotation: Vec<TargetId>,
    sources: Sources,
    balance: Balance,
    pub(super) budget: Budget,
    members: Members,
    /// What lookups were answered, where that is kept.
    pub cache: Option<Cache>,
    pub(super) rng: StdRng,
    follow_views: bool,
    /// One node is meant, and the first that answered is it: another behind the same host name is not.
    only: Only,
    client_id: u128,
    mutations: u64,
    pub(super) session: Session,
    /// When the first choice is made, once somebody could be chosen.
    chooses_at: Option<Duration>,
    next_id: u32,
    revision: u64,
    /// The next change of a target's health means that targets are listed anew: the sources have changed, or there are
    /// two ways to one node.
    relist_on_change: bool,
    alarm: bool,
    metrics: Metrics,
}

impl Fleet {
    /// A fleet that knows the configuration's providers. `seed` decides all its random choices.
    pub fn new(config: &ClientConfig, elections: Arc<Elections>, names: Names, seed: u64) -> Self {
        let providers = config.providers.iter().map(|source| Place::new(source.clone(), Origin::Provider)).collect();
        let balance = Balance::new(config.policy, electorate(config), elections);
        let mut fleet = Self::with(Sources::new(names, Servers::Fixed(providers), &config.dns), balance, seed);
        fleet.members = config.members.clone();
        fleet.cache = config.cache.clone().map(Cache::new);
        fleet.session = Session::new(config.scope == Scope::Cluster);
        fleet.follow_views = config.follow_views && config.scope != Scope::Local;
        fleet.only = if config.scope == Scope::Local { Only::Whoever } else { Only::NotOne };
        fleet
    }

    /// The servers of any service: nothing is known of them but where they are.
    pub fn of_service(servers: Servers, policy: Policy, dns: &DnsConfig, elections: Arc<Elections>, seed: u64) -> Self {
        let electorate = match &servers {
            Servers::Fixed(places) => among(places.iter().map(|place| place.source.clone()).collect()),
            Servers::Followed(name) => Electorate::Service(Arc::clone(name)),
        };
        let balance = Balance::new(policy, electorate, elections);
        Self::with(Sources::new(Names::Resolved, servers, dns), balance, seed)
    }

    fn with(sources: Sources, balance: Balance, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let client_id = rng.random();
        let mut fleet = Self {
            roster: Roster::default(),
            rotation: Vec::new(),
            sources,
            balance,
            budget: Budget::default(),
            members: Members::default(),
            cache: None,
            rng,
            follow_views: false,
            only: Only::NotOne,
            client_id,
            mutations: 0,
            session: Session::default(),
            chooses_at: None,
            next_id: 0,
            revision: 0,
            relist_on_change: false,
            alarm: false,
            metrics: Metrics::default(),
        };
        fleet.relist(Duration::ZERO);
        fleet.alarm = fleet.sources.next_due().is_some();
        fleet
    }

    /// The fleet of one target: a node of this process.
    pub(super) fn of_process(config: &ClientConfig, node: &str, seed: u64) -> Self {
        let mut fleet = Self::new(config, Elections::new(), Names::Dialled, seed);
        for target in fleet.roster.iter_mut() {
            target.node_name = Some(Arc::from(node));
        }
        fleet
    }

    /// A target, unless it's gone.
    pub fn target(&self, id: TargetId) -> Option<&Target> {
        self.roster.get(id)
    }

    /// All targets, the oldest first.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.roster.iter()
    }

    /// The newest view that a server told.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.sources.view()
    }

    /// Changes whenever a target comes, goes, fails or is taken back. A driver that keeps connections compares it, and
    /// drops those of targets that are gone or failed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether something new is due for the background (a probe, a resolution), once for each time. A driver asks after
    /// it has told the fleet something, and wakes its background work.
    pub fn take_alarm(&mut self) -> bool {
        std::mem::take(&mut self.alarm)
    }

    /// When [`probes_due`](Self::probes_due), [`questions_due`](Self::questions_due) or [`looks_due`](Self::looks_due) is to be
    /// asked next.
    pub fn next_due(&self) -> Option<Duration> {
        let hunger = self.cache.as_ref().is_some_and(Cache::is_hungry).then_some(Duration::ZERO);
        let balance = self.balance.due();
        self.next_probe().into_iter().chain(self.sources.next_due()).chain(hunger).chain(balance).min()
    }

    /// From now on the driver looks how loaded the servers are when that is due.
    pub fn have_looks(&mut self) {
        self.balance.have_looks();
    }

    /// Servers to be asked now how many connections they have; tell what they said with [`saw_loads`](Self::saw_loads).
    pub fn looks_due(&mut self, now: Duration) -> Vec<(TargetId, Endpoint)> {
        self.settle(now);
        if !self.balance.look(now, &mut self.rng) {
            return Vec::new();
        }
        let known = self.rotation.iter().filter_map(|id| Some((*id, self.roster.get(*id)?.endpoint.clone())));
        known.collect()
    }

    /// How many connections each server said that it has; those that said nothing are left out.
    pub fn saw_loads(&mut self, loads: &[(TargetId, u64)], now: Duration) {
        self.balance.saw(loads, &self.rotation, &self.roster, now, &mut self.rng);
        self.leave();
        self.alarm = true;
    }

    /// The server that this client stays with, where its policy elects one: servers count as its clients those that have a
    /// connection there, so one is to be held for it while it has none of its own.
    pub fn stays_with(&self) -> Option<(TargetId, Endpoint)> {
        let target = self.roster.get(self.balance.stays_with()?)?;
        (self.rotation.contains(&target.id)).then(|| (target.id, target.endpoint.clone()))
    }

    /// Whoever has elected stays with a server in good health.
    fn settle(&mut self, now: Duration) {
        self.balance.settle(&self.rotation, &self.roster, now, &mut self.rng);
        self.leave();
    }

    /// Connections to the server that was left for another are needed no longer.
    fn leave(&mut self) {
        if let Some(left) = self.balance.take_left().and_then(|left| self.roster.get_mut(left)) {
            left.left = true;
            self.revision += 1;
        }
    }

    /// Whether to begin to follow a log for the cache, once.
    pub fn feed_due(&mut self) -> bool {
        self.cache.as_mut().is_some_and(Cache::take_hunger)
    }

    /// What is kept of an earlier answer, where that is known to be true.
    pub(super) fn recall(&mut self, name: &str, now: Duration) -> Option<Reply> {
        let cache = self.cache.as_mut()?;
        let answer = cache.answer(name, now);
        self.alarm |= cache.is_hungry();
        answer
    }

    /// The target in good health whose answers can be kept, or one that may turn out to be it.
    pub(super) fn followed(&self, now: Duration) -> Option<TargetId> {
        let node = self.cache.as_ref()?.followed(now)?;
        let name = |id: &TargetId| self.roster.get(*id).and_then(|target| target.node_name.as_ref());
        let is_it = self.rotation.iter().find(|id| name(id) == Some(node));
        is_it.or_else(|| self.rotation.iter().find(|id| name(id).is_none())).copied()
    }

    /// Questions to put to their sources now; tell the outcome of each with [`told`](Self::told).
    pub fn questions_due(&mut self, now: Duration) -> Vec<Question> {
        self.sources.questions_due(now)
    }

    /// Which answers to this question will do that the process was given before.
    pub fn accepts(&self, question: &Question) -> Accepts {
        self.sources.accepts(question)
    }

    /// What a source said: its whole list, or why there is none. New servers join, those that are gone are drained, the
    /// others are untouched. No list, or an empty one, removes nothing. A source may tell again without being asked.
    pub fn told(&mut self, question: &Question, outcome: Result<Answer, String>, now: Duration) {
        if self.sources.take(question, outcome, now, &mut self.rng) {
            self.relist(now);
        }
        // Whoever waits for the answer hears of it, whatever it says.
        self.revision += 1;
        self.alarm = true;
    }

    /// What is wrong with the sources, where the last answer of one was none.
    pub fn trouble(&self) -> Option<&str> {
        self.sources.trouble()
    }

    /// What was counted so far.
    pub fn metrics(&self) -> Metrics {
        let (refreshes, failed_refreshes) = self.sources.counts();
        Metrics { refreshes, failed_refreshes, moves: self.balance.moves(), ..self.metrics }
    }

    /// The server at this target introduced itself.
    pub fn welcomed(&mut self, id: TargetId, welcome: &Welcome, now: Duration) {
        self.connecting(id, now);
        self.introduce(id, welcome, now);
        self.saw_view(id, &welcome.view, now);
    }

    /// The server at this target told its view, with its welcome, with a refusal or on its own.
    pub fn saw_view(&mut self, id: TargetId, view: &View, now: Duration) {
        if let Some(target) = self.roster.get_mut(id) {
            target.heard = now;
        }
        if !self.sources.tell(id, view) {
            return;
        }
        if let Some(cluster) = view.cluster_id() {
            self.balance.joined(cluster);
        }
        self.members.tell(view);
        if let Some(cache) = &mut self.cache {
            cache.members_changed();
        }
        self.retire_views(now);
        self.relist(now);
        self.alarm = true;
    }

    /// The server at this target said what was seen with its replies.
    pub fn saw(&mut self, id: TargetId, brought: &Brought) {
        if let Some(extent) = self.session.saw(brought) {
            self.has_seen(id, extent);
        }
    }

    /// What a request to this target says that the client has seen, where the server may lack some of it. `always` for a
    /// change, which another node may carry out; with `settles` the server answers in any case.
    pub(super) fn known(&self, id: TargetId, always: bool, settles: bool) -> Option<Box<Known>> {
        let extent = self.roster.get(id).map_or(Extent::default(), |target| target.extent);
        let extent = if always { Extent::default() } else { extent };
        self.session.told(extent, settles)
    }

    /// The server has shown that it has so much of what the client has seen.
    pub(super) fn has_seen(&mut self, id: TargetId, extent: Extent) {
        if let Some(target) = self.roster.get_mut(id) {
            target.extent = target.extent.max(extent);
        }
    }

    /// The server at this target may be another one by now.
    pub(super) fn forget_extent(&mut self, id: TargetId) {
        if let Some(target) = self.roster.get_mut(id) {
            target.extent = Extent::default();
        }
    }

    /// Forgets the views of servers that failed, are gone, or were not heard for long.
    fn retire_views(&mut self, now: Duration) -> bool {
        let roster = &self.roster;
        self.sources.retire(|teller| {
            roster.get(teller).is_none_or(|target| {
                matches!(target.health, Health::Failed { .. }) || now.saturating_sub(target.heard) > VIEW_COUNTS_FOR
            })
        })
    }

    /// The target in good health that coordinates changes of the names under this component, where it is known.
    pub(super) fn owner_of(&self, component: &str) -> Option<TargetId> {
        let members = self.sources.view()?.members();
        let live = members.iter().filter(|member| member.state == MemberState::Live).map(|member| member.id);
        let owner = owner(component, live)?;
        let is_owner =
            |id: &&TargetId| self.roster.get(**id).is_some_and(|target| target.node.is_some_and(|(node, _)| node == owner));
        self.rotation.iter().find(is_owner).copied()
    }

    /// The id of this client: its mutations' ids and its hello bear it.
    pub fn client_id(&self) -> u128 {
        self.client_id
    }

    /// An id for one more mutation.
    pub(super) fn next_operation_id(&mut self) -> OperationId {
        self.mutations += 1;
        OperationId { client: self.client_id, sequence: self.mutations }
    }

    /// Whether the list of servers may have changed after `since`, and whether it has is about to be known.
    pub(super) fn is_about_to_know(&self, since: Duration, now: Duration) -> bool {
        self.sources.is_about_to_know(since, now)
    }

    /// A new connection to this target is made, or was.
    pub(super) fn connecting(&mut self, id: TargetId, now: Duration) {
        if let Some(target) = self.roster.get(id) {
            self.alarm |= self.sources.hint(&target.asked, Hint::Connecting, now);
        }
    }

    /// Questions to which there is no answer yet, neither way.
    pub(super) fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.sources.open()
    }

    /// Who is asked a question, as a part of a sentence.
    pub(super) fn asked_whom(&self, question: &Question) -> String {
        match question {
            Question::Addresses(_) | Question::Services(_) => format!(" from {}", self.sources.resolver()),
            Question::Multicast(of) => format!(" by multicast on {}", of.interface),
            Question::List(_) => String::new(),
        }
    }

    /// Lists of which nothing is known, and why.
    pub(super) fn unresolvable(&self) -> impl Iterator<Item = (Arc<str>, &str)> {
        self.sources.unresolvable()
    }

    /// A request is sent to this target.
    pub(super) fn begin(&mut self, id: TargetId) {
        if let Some(target) = self.roster.get_mut(id) {
            target.outstanding += 1;
            target.sent += 1;
            target.left = false;
        }
    }

    /// A request to this target has ended, however it did.
    pub(super) fn end(&mut self, id: TargetId) {
        let Some(target) = self.roster.get_mut(id) else { return };
        target.outstanding = target.outstanding.saturating_sub(1);
        if target.draining && target.outstanding == 0 {
            self.roster.retain(|target| target.id != id);
            self.revision += 1;
        }
    }
}

/// For which cluster this client elects, as long as it does not know the cluster's id.
fn electorate(config: &ClientConfig) -> Electorate {
    if let Some(name) = config.wanted_cluster() {
        return Electorate::Name(name);
    }
    among(config.providers.clone())
}

fn among(mut sources: Vec<Source>) -> Electorate {
    sources.sort_unstable();
    Electorate::Providers(sources)
}
