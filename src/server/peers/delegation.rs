//! The lookup rule's third and fourth step, without I/O: whom to ask, how long to wait, and what the answers mean.
//!
//! One [`Delegation`] decides one name that the node's own trees don't have. It is told what peers answered and what
//! the time is, and says what to do next; it never reads a clock and never sends anything. The rule:
//!
//! 1. a peer that is remembered to have had the name is asked alone, for a short time;
//! 2. then all others are asked at once; the first positive answer wins, an error ends it;
//! 3. "not found" and "not a context" are answers, silence is none: only when *every* live peer answered is the name
//!    absent. A peer that left the view is no longer waited for, one whose connection broke is asked again.
//!
//! Limits nest: the time given is a part of what the request's sender still waits, so that the sender hears who was
//! silent before it gives up itself.

use std::time::Duration;

use crate::topology::NodeId;

/// How long a remembered peer is asked alone, at most.
pub const ALONE: Duration = Duration::from_millis(20);

/// How long all are asked, at most.
const ALL: Duration = Duration::from_millis(120);

/// After how long a peer whose connection broke is asked again.
pub const AGAIN: Duration = Duration::from_millis(10);

/// How long all are asked for one answer, whatever the question, where its sender still waits for `left`: the sender
/// hears who was silent while it can still turn to somebody else.
pub fn patience(left: Duration) -> Duration {
    ALL.min(left * 3 / 5)
}

/// How far a tree resolved a name that it doesn't have; the greater one says more. "Not a context" says more than "not
/// found", and the longer way more than the shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach {
    /// Something on the way is no context.
    pub not_context: bool,
    /// How many components lead to it, or to the context that has not the next one.
    pub resolved: u32,
}

/// What a peer's connection brought for the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard<A> {
    /// The name, or a link on the way to it.
    Positive(A),
    /// It has no such name: so far it got.
    Absent(Reach),
    /// An error that ends the lookup.
    Error(A),
    /// The connection broke, or the peer refused: nothing was learnt.
    Broke,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<A> {
    /// Ask these peers, then call [`Delegation::next`] again.
    Ask {
        /// Whom.
        peers: Vec<NodeId>,
        /// Until when an answer is of use.
        until: Duration,
    },
    /// Wait for an answer or a new view, at most until then.
    Wait(Duration),
    /// It is decided.
    Done(Verdict<A>),
}

/// What the answers mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<A> {
    /// A peer has it.
    Positive {
        /// Which.
        from: NodeId,
        /// What it answered.
        answer: A,
    },
    /// A peer's error ended the lookup.
    Error {
        /// Which peer's.
        from: NodeId,
        /// The error.
        answer: A,
    },
    /// Every live peer answered that it has no such name. The first of those that got furthest, if there are peers.
    Absent(Option<(NodeId, Reach)>),
    /// Nobody had it, and somebody was silent.
    Unknown {
        /// Who answered, in the order asked.
        answered: Vec<NodeId>,
        /// Who did not, in the order asked.
        silent: Vec<NodeId>,
        /// The first of those who answered that got furthest.
        furthest: Option<(NodeId, Reach)>,
    },
}

/// Where one peer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// To be asked at that time.
    Due(Duration),
    /// Asked, and not heard from.
    Asked,
    /// It has no such name.
    Answered,
}

#[derive(Clone, Debug)]
struct Peer {
    id: NodeId,
    standing: Standing,
}

/// The third and fourth step for one name.
#[derive(Debug)]
pub struct Delegation<A> {
    /// In the order asked; those not yet asked stand at the end.
    peers: Vec<Peer>,
    /// Everybody asked, in order, those who left since as well.
    asked: Vec<NodeId>,
    /// The remembered peer, while it is asked alone, and until when.
    alone: Option<(NodeId, Duration)>,
    /// When the request's sender gives up.
    deadline: Duration,
    /// When all were asked, until when.
    until: Option<Duration>,
    furthest: Option<(NodeId, Reach)>,
    decided: Option<Verdict<A>>,
}

impl<A> Delegation<A> {
    /// Starts at `now` for a request whose sender gives up at `deadline`. `peers` are the live peers; `remembered` is
    /// asked first where it is one of them.
    pub fn new(peers: impl IntoIterator<Item = NodeId>, remembered: Option<NodeId>, now: Duration, deadline: Duration) -> Self {
        let peers: Vec<Peer> = peers.into_iter().map(|id| Peer { id, standing: Standing::Due(now) }).collect();
        // Where there is but one peer, "alone" and "all" are the same question.
        let remembered = remembered.filter(|id| peers.len() > 1 && peers.iter().any(|p| p.id == *id));
        let alone = remembered.map(|id| (id, now + ALONE.min(deadline.saturating_sub(now) / 4)));
        Self { peers, asked: Vec::new(), alone, deadline, until: None, furthest: None, decided: None }
    }

    /// Everybody who was asked so far, in order.
    pub fn asked(&self) -> &[NodeId] {
        &self.asked
    }

    /// `peer` was heard from.
    pub fn heard(&mut self, peer: NodeId, heard: Heard<A>, now: Duration) {
        let Some(standing) = self.peers.iter_mut().find(|p| p.id == peer).map(|p| &mut p.standing) else { return };
        match heard {
            _ if self.decided.is_some() => {}
            Heard::Positive(answer) => self.decided = Some(Verdict::Positive { from: peer, answer }),
            Heard::Error(answer) => self.decided = Some(Verdict::Error { from: peer, answer }),
            Heard::Absent(reach) => {
                *standing = Standing::Answered;
                if self.furthest.is_none_or(|(_, furthest)| reach > furthest) {
                    self.furthest = Some((peer, reach));
                }
                self.no_longer_alone(peer);
            }
            Heard::Broke => {
                *standing = Standing::Due(now + AGAIN);
                self.no_longer_alone(peer);
            }
        }
    }

    /// The view changed: peers that are not in `live` are no longer waited for. One that joined since is not asked:
    /// what it holds was not bound in this cluster when the lookup began.
    pub fn view(&mut self, live: &[NodeId]) {
        self.peers.retain(|p| live.contains(&p.id));
        if let Some((id, _)) = self.alone
            && !live.contains(&id)
        {
            self.alone = None;
        }
    }

    /// What to do at `now`.
    pub fn next(&mut self, now: Duration) -> Next<A> {
        if let Some(verdict) = self.decided.take() {
            return Next::Done(verdict);
        }
        if self.peers.iter().all(|p| p.standing == Standing::Answered) {
            return Next::Done(Verdict::Absent(self.furthest));
        }
        if let Some((id, until)) = self.alone {
            if now < until {
                return self.ask(now, until, Some(id)).unwrap_or(Next::Wait(until));
            }
            self.alone = None;
        }
        let deadline = self.deadline;
        let until = *self.until.get_or_insert_with(|| now + patience(deadline.saturating_sub(now)));
        if now >= until {
            return Next::Done(self.unknown());
        }
        if let Some(ask) = self.ask(now, until, None) {
            return ask;
        }
        let again = self.peers.iter().filter_map(|p| match p.standing {
            Standing::Due(at) => Some(at),
            Standing::Asked | Standing::Answered => None,
        });
        Next::Wait(again.fold(until, Duration::min))
    }

    /// Whoever is due, or of them `only` the remembered one.
    fn ask(&mut self, now: Duration, until: Duration, only: Option<NodeId>) -> Option<Next<A>> {
        let mut due = Vec::new();
        for peer in &mut self.peers {
            if matches!(peer.standing, Standing::Due(at) if at <= now) && only.is_none_or(|id| id == peer.id) {
                peer.standing = Standing::Asked;
                due.push(peer.id);
                if !self.asked.contains(&peer.id) {
                    self.asked.push(peer.id);
                }
            }
        }
        (!due.is_empty()).then_some(Next::Ask { peers: due, until })
    }

    fn no_longer_alone(&mut self, peer: NodeId) {
        if self.alone.is_some_and(|(id, _)| id == peer) {
            self.alone = None;
        }
    }

    fn unknown(&self) -> Verdict<A> {
        let standing = |id: &NodeId| self.peers.iter().find(|p| p.id == *id).map(|p| p.standing);
        let mut order = self.asked.clone();
        order.extend(self.peers.iter().map(|p| p.id).filter(|id| !self.asked.contains(id)));
        let answered = order.iter().copied().filter(|id| standing(id) == Some(Standing::Answered)).collect();
        let silent =
            order.iter().copied().filter(|id| standing(id).is_some_and(|standing| standing != Standing::Answered)).collect();
        Verdict::Unknown { answered, silent, furthest: self.furthest }
    }
}
