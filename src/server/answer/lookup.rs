//! Lookups that need other nodes: drives the [rule](crate::server::peers::delegation) for one name or many.

use std::sync::{Arc, PoisonError};
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::naming::Source;
use crate::protocol::{Answer, Found, ItemWriter, LinkMet, ManyItem, Reply, Scope, Texts};
use crate::topology::NodeId;

use super::fault;
use super::own::{Absence, Told};
use crate::server::bulletin::Bulletin;
use crate::server::core::Core;
use crate::server::peers::delegation::{Delegation, Heard, Next, Verdict};

/// Names of one request that are delegated at once.
pub const WINDOW: usize = 512;

/// The part of a frame that stays free when it is filled with answers: room for what stands around them.
const MARGIN: usize = 16;

impl Core {
    /// One name, whether or not other nodes are needed for it.
    pub async fn lookup(self: Arc<Self>, scope: Scope, name: String, deadline: Instant) -> Told {
        match self.own(scope, &name) {
            Told::Absent(absence) if scope == Scope::Cluster => self.delegate(Arc::from(name), absence, deadline).await,
            told => told,
        }
    }

    /// The answers to many names, where the own trees suffice.
    pub fn many_now(&self, scope: Scope, names: &Texts) -> Option<Reply> {
        if let Some(refusal) = self.too_many(names) {
            return Some(refusal);
        }
        let gathered = self.at_one_moment(scope, |look| {
            let mut gathered = Gathered::new(self.limits.frame, scope);
            for name in names.iter() {
                let goes_on = match look(name) {
                    Ok((entry, _)) => gathered.push(&ManyItem::Found { content: &entry.content, version: Some(entry.version) }),
                    Err(told) if self.is_settled(scope, &told) => gathered.push(&told.into_item()),
                    Err(_) => return None,
                };
                if !goes_on {
                    break;
                }
            }
            Some(gathered)
        });
        Some(gathered?.into_reply(names.len()))
    }

    /// The answers to many names, by the lookup rule for each.
    pub async fn many(self: Arc<Self>, scope: Scope, names: Texts, deadline: Instant) -> Reply {
        let mut gathered = Gathered::new(self.limits.frame, scope);
        let own: Vec<Told> = self.at_one_moment(scope, |look| names.iter().map(|name| self.told(look(name))).collect());
        let mut own = own.into_iter();
        for start in (0..names.len()).step_by(WINDOW) {
            let mut told: Vec<Told> = Vec::with_capacity(WINDOW.min(own.len()));
            let mut delegated = FuturesUnordered::new();
            for (place, own) in own.by_ref().take(WINDOW).enumerate() {
                told.push(match own {
                    Told::Absent(absence) if scope == Scope::Cluster => {
                        let core = Arc::clone(&self);
                        let name = Arc::from(names.get(start + place));
                        delegated.push(async move { (place, core.delegate(name, absence, deadline).await) });
                        Told::Fault(fault::internal("a delegated lookup ended without an answer"))
                    }
                    told => told,
                });
            }
            while let Some((place, answer)) = delegated.next().await {
                told[place] = answer;
            }
            for told in told {
                if !gathered.push(&told.into_item()) {
                    return gathered.into_reply(names.len());
                }
            }
        }
        gathered.into_reply(names.len())
    }

    fn too_many(&self, names: &Texts) -> Option<Reply> {
        let limit = self.limits.names_per_request;
        (names.len() > limit)
            .then(|| Reply::Failed(fault::over_limit(format!("{} names in one request; {limit} are allowed", names.len()))))
    }

    /// The third and fourth step for a name that the own trees don't have.
    async fn delegate(self: &Arc<Self>, name: Arc<str>, own: Absence, deadline: Instant) -> Told {
        let mut bulletins = self.bulletins.clone();
        let bulletin = Arc::clone(&bulletins.borrow_and_update());
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&name);
        let deadline = self.clock.at(deadline);
        let mut rule = Delegation::new(bulletin.peer_ids(), remembered, self.clock.now(), deadline);
        let mut words: Vec<(NodeId, oneshot::Receiver<Heard<ManyItem>>)> = Vec::new();
        loop {
            match rule.next(self.clock.now()) {
                Next::Ask { peers, until } => {
                    for peer in peers {
                        words.push((peer, self.inquiries.ask(peer, &name, until, remembered == Some(peer))));
                    }
                }
                Next::Done(verdict) => return self.conclude(&bulletin, &name, own, rule.asked(), verdict),
                Next::Wait(until) => {
                    // Words first: after a pause of this whole process they are there, and the time is over as well.
                    tokio::select! {
                        biased;
                        (peer, heard) = first(&mut words) => {
                            if remembered == Some(peer) && matches!(heard, Heard::Absent(_)) {
                                self.remembered.lock().unwrap_or_else(PoisonError::into_inner).forget(&name, peer);
                            }
                            rule.heard(peer, heard, self.clock.now());
                        }
                        changed = bulletins.changed() => match changed {
                            Ok(()) => rule.view(&bulletins.borrow_and_update().peer_ids()),
                            // The node ends; nobody waits for this answer.
                            Err(_) => return nobody_heard(&bulletin),
                        },
                        () = sleep_until(self.clock.instant(until)) => {}
                    }
                }
            }
        }
    }

    /// What the verdict means to whoever asked.
    fn conclude(&self, bulletin: &Bulletin, name: &Arc<str>, own: Absence, asked: &[NodeId], verdict: Verdict<ManyItem>) -> Told {
        let with_self = |ids: &[NodeId]| {
            let mut all = vec![Arc::clone(&self.name)];
            all.extend(names(bulletin, ids));
            all
        };
        match verdict {
            Verdict::Positive { from, answer } => {
                self.remembered.lock().unwrap_or_else(PoisonError::into_inner).put(name, from);
                let node = bulletin.name_of(from).cloned().unwrap_or_default();
                let seen_from_here =
                    |content, version| Found { content, source: Source::Peer, node, version, asked: with_self(asked) };
                match answer {
                    ManyItem::Found { content, version } => Told::Found(seen_from_here(content, version)),
                    ManyItem::Link(link) => {
                        let LinkMet { at, target, rest, found: Found { content, version, .. } } = *link;
                        Told::Link(LinkMet { at, target, rest, found: seen_from_here(content, version) })
                    }
                    // Only these two are ever heard as positive.
                    ManyItem::Absent { .. } | ManyItem::Unknown { .. } | ManyItem::Fault(_) => Told::Absent(own),
                }
            }
            Verdict::Error { answer: ManyItem::Fault(fault), .. } => Told::Fault(*fault),
            Verdict::Error { from, .. } => Told::Unknown {
                answered: vec![Arc::clone(&self.name)],
                silent: names(bulletin, &[from]),
                not_context: own.what_is_not_context(),
            },
            Verdict::Absent(furthest) => Told::Absent(own.or_by_peer(bulletin, furthest)),
            Verdict::Unknown { answered, silent, furthest } => Told::Unknown {
                answered: with_self(&answered),
                silent: names(bulletin, &silent),
                not_context: own.or_by_peer(bulletin, furthest).what_is_not_context(),
            },
        }
    }
}

fn nobody_heard(bulletin: &Bulletin) -> Told {
    Told::Unknown { answered: Vec::new(), silent: names(bulletin, &bulletin.peer_ids()), not_context: None }
}

fn names(bulletin: &Bulletin, ids: &[NodeId]) -> Vec<Arc<str>> {
    ids.iter().filter_map(|id| bulletin.name_of(*id).cloned()).collect()
}

/// The first word of any peer. A peer whose word will never come is dropped: its time is over elsewhere.
async fn first(words: &mut Vec<(NodeId, oneshot::Receiver<Heard<ManyItem>>)>) -> (NodeId, Heard<ManyItem>) {
    std::future::poll_fn(|cx| {
        let mut place = 0;
        while place < words.len() {
            let (peer, word) = &mut words[place];
            let peer = *peer;
            match std::pin::Pin::new(word).poll(cx) {
                Poll::Ready(Ok(heard)) => {
                    words.swap_remove(place);
                    return Poll::Ready((peer, heard));
                }
                Poll::Ready(Err(_)) => {
                    words.swap_remove(place);
                }
                Poll::Pending => place += 1,
            }
        }
        Poll::Pending
    })
    .await
}

/// Answers to many names, as far as they fit a frame.
struct Gathered {
    items: ItemWriter,
    scope: Scope,
    room: usize,
    full: bool,
}

impl Gathered {
    fn new(frame: usize, scope: Scope) -> Self {
        Self { items: ItemWriter::default(), scope, room: frame - frame / MARGIN, full: false }
    }

    /// Takes one more; `false` where it does not fit.
    fn push(&mut self, item: &ManyItem<impl Serialize>) -> bool {
        self.full = !self.items.push_within(item, self.room);
        !self.full
    }

    /// A peer is given what fits and asks again for the rest; anybody else is told to ask for fewer.
    fn into_reply(self, asked: usize) -> Reply {
        if self.full && self.scope != Scope::Peer {
            return Reply::Failed(fault::over_limit(format!(
                "the values of {asked} names do not fit one reply; {} did: ask for fewer at once",
                self.items.len()
            )));
        }
        Reply::Done(Answer::Many(self.items.finish()))
    }
}
