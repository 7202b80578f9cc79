//! What the sources say that a fleet's targets should be.
//!
//! The list of servers is given once, or asked for again and again where somebody else keeps it; a name on it stands for
//! all that its own [inquiry](Inquiry) lists; the views that servers push are kept one for each server that told one.
//! Nothing is compared here: what any of them lists is wanted.

use std::sync::Arc;
use std::time::Duration;

use crate::discovery::dns::{DnsConfig, DnsServers};
use crate::discovery::{Accepts, Answer, Hint, Inquiry, Origin, Place, Question, Source};
use crate::topology::{Endpoint, Member, MemberState, NodeId, View};

use super::target::TargetId;

/// What a fleet's network does with host names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// They are resolved, and each address is a target of its own.
    Resolved,
    /// The network dials them as they are.
    Dialled,
}

/// The list of servers.
#[derive(Clone, Debug, PartialEq)]
pub enum Servers {
    /// This one, for good.
    Fixed(Vec<Place>),
    /// One that is asked for in the background; this is how people call it.
    Followed(Arc<str>),
}

/// A target that some source wants.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) endpoint: Endpoint,
    pub(super) hostname: Arc<str>,
    pub(super) origin: Origin,
    pub(super) priority: u16,
    pub(super) weight: f64,
    pub(super) member: Option<Arc<Member>>,
    /// The questions whose answers it's on.
    pub(super) asked: Vec<Question>,
}

/// A view, and who told it.
#[derive(Debug)]
struct Told {
    teller: TargetId,
    view: Arc<View>,
}

#[derive(Debug)]
pub(super) struct Sources {
    names: Names,
    dns: DnsConfig,
    given: Vec<Place>,
    /// Where the list is asked for.
    followed: Option<Question>,
    /// All that has to be asked.
    inquiries: Vec<Inquiry>,
    /// Askings, and failed ones, of inquiries that are gone.
    past: (u64, u64),
    /// The newest last.
    told: Vec<Told>,
}

impl Sources {
    pub(super) fn new(names: Names, servers: Servers, dns: &DnsConfig) -> Self {
        let (given, followed) = match servers {
            Servers::Fixed(places) => (places, None),
            Servers::Followed(name) => (Vec::new(), Some(Question::List(name))),
        };
        let (inquiries, told) = (Vec::new(), Vec::new());
        let mut sources = Self { names, dns: dns.clone(), given, followed, inquiries, past: (0, 0), told };
        sources.inquire();
        sources
    }

    /// Takes up what has to be asked to know all servers, and forgets what nobody lists any longer.
    fn inquire(&mut self) {
        let mut wanted: Vec<Question> = self.followed.iter().cloned().collect();
        if self.names == Names::Resolved {
            let members = self.told.iter().flat_map(|told| told.view.members());
            let of_views = members.map(|member| Source::Host(member.endpoint.clone()));
            let listed = self.given.iter().map(|place| place.source.clone()).chain(of_views);
            wanted.extend(listed.filter_map(|source| source.question()));
        }
        let mut at = 0;
        while let Some(question) = wanted.get(at) {
            let known = self.inquiries.iter().position(|inquiry| inquiry.question() == question);
            let known = known.unwrap_or_else(|| {
                self.inquiries.push(Inquiry::new(question.clone(), self.dns.refresh));
                self.inquiries.len() - 1
            });
            let further: Vec<Question> = self.inquiries[known].places().iter().filter_map(|place| self.of(place)).collect();
            wanted.extend(further.into_iter().filter(|question| !wanted.contains(question)).collect::<Vec<_>>());
            at += 1;
        }
        let past = &mut self.past;
        self.inquiries.retain(|inquiry| {
            let kept = wanted.contains(inquiry.question());
            if !kept {
                let (asked, failed) = inquiry.counts();
                *past = (past.0 + asked, past.1 + failed);
            }
            kept
        });
    }

    /// What has to be asked to know where a place is.
    fn of(&self, place: &Place) -> Option<Question> {
        place.source.question().filter(|_| self.names == Names::Resolved)
    }

    fn inquiry(&self, question: &Question) -> Option<&Inquiry> {
        self.inquiries.iter().find(|inquiry| inquiry.question() == question)
    }

    /// Keeps the view that `teller` told. Gives `false` where that is what it had told before.
    pub(super) fn tell(&mut self, teller: TargetId, view: &View) -> bool {
        let before = self.told.iter().position(|told| told.teller == teller);
        if let Some(at) = before {
            if self.told[at].view.id() == view.id() {
                return false;
            }
            self.told.remove(at);
        }
        self.told.push(Told { teller, view: Arc::new(view.clone()) });
        self.inquire();
        true
    }

    /// Forgets the views of those for whom `stale` holds, unless no other view would be left: a client that has lost
    /// touch with all servers still knows where they were. Gives whether anything changed.
    pub(super) fn retire(&mut self, stale: impl Fn(TargetId) -> bool) -> bool {
        let before = self.told.len();
        if self.told.iter().any(|told| !stale(told.teller)) {
            self.told.retain(|told| !stale(told.teller));
        }
        let changed = before != self.told.len();
        if changed {
            self.inquire();
        }
        changed
    }

    /// The newest view.
    pub(super) fn view(&self) -> Option<&Arc<View>> {
        self.told.last().map(|told| &told.view)
    }

    /// The member that the newest view to know this incarnation tells.
    pub(super) fn member(&self, id: NodeId) -> Option<&Member> {
        self.told.iter().rev().find_map(|told| told.view.member(id))
    }

    /// All that is wanted, the given list's first. A member that is joining is not: servers don't give it to clients.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = Vec::new();
        let followed = self.followed.iter().filter_map(|question| self.inquiry(question));
        for place in self.given.iter().chain(followed.flat_map(Inquiry::places)) {
            self.expand(place, &Vec::from_iter(self.followed.clone()), None, &mut wanted);
        }
        // A view says nothing of an order: whom it alone names comes with the last of those that are given.
        let last = wanted.iter().map(|given| given.priority).max().unwrap_or_default();
        for told in self.told.iter().rev() {
            for member in told.view.members() {
                let newest = self.member(member.id).is_some_and(|newest| newest == member);
                if newest && member.state != MemberState::Joining {
                    let place = Place { priority: last, ..Place::new(member.endpoint.clone(), Origin::View) };
                    self.expand(&place, &[], Some(&Arc::new(member.clone())), &mut wanted);
                }
            }
        }
        wanted
    }

    /// Adds whatever a place stands for.
    fn expand(&self, place: &Place, asked: &[Question], member: Option<&Arc<Member>>, wanted: &mut Vec<Wanted>) {
        let Some(question) = self.of(place) else {
            if let Source::Host(endpoint) = &place.source {
                add(place, endpoint, endpoint.host(), asked, member, wanted);
            }
            return;
        };
        let Some(inquiry) = self.inquiry(&question) else { return };
        let is_of_services = asked.iter().any(|question| matches!(question, Question::Services(_)));
        let asked: Vec<Question> = asked.iter().cloned().chain([question]).collect();
        // The weight that an SRV record gives is the whole server's, however many addresses it has.
        let shared_by = if is_of_services { inquiry.places().len() } else { 1 };
        let share = 1.0 / f64::from(u32::try_from(shared_by).unwrap_or(u32::MAX));
        for found in inquiry.places() {
            let origin = if place.origin == Origin::Provider { found.origin } else { place.origin };
            let (priority, weight) = (place.priority.max(found.priority), place.weight * found.weight * share);
            let inner = Place { source: found.source.clone(), priority, weight, origin };
            match (&place.source, &inner.source) {
                (Source::Host(name), Source::Host(address)) => add(&inner, address, name.host(), &asked, member, wanted),
                _ => self.expand(&inner, &asked, member, wanted),
            }
        }
    }

    /// Questions to put now; each counts as under way until [`take`](Self::take).
    pub(super) fn questions_due(&mut self, now: Duration) -> Vec<Question> {
        let due = self.inquiries.iter_mut().filter_map(|inquiry| inquiry.begin_if_due(now).then(|| inquiry.question().clone()));
        due.collect()
    }

    /// Which earlier answers to this question will do.
    pub(super) fn accepts(&self, question: &Question) -> Accepts {
        self.inquiry(question).map_or(Accepts::Recent, Inquiry::accepts)
    }

    /// When the next question is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.inquiries.iter().filter_map(Inquiry::due).min()
    }

    /// What came of a question. Gives whether the list is another than before.
    pub(super) fn take(
        &mut self,
        question: &Question,
        outcome: Result<Answer, String>,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) -> bool {
        let inquiry = self.inquiries.iter_mut().find(|inquiry| inquiry.question() == question);
        let changed = inquiry.is_some_and(|inquiry| inquiry.take(outcome, now, rng));
        if changed {
            self.inquire();
        }
        changed
    }

    /// Something happened to a server on the answers to these questions. Gives whether one is due earlier than it was.
    pub(super) fn hint(&mut self, questions: &[Question], hint: Hint, now: Duration) -> bool {
        let concerned = self.inquiries.iter_mut().filter(|inquiry| questions.contains(inquiry.question()));
        concerned.filter_map(|inquiry| inquiry.hint(hint, now).then_some(())).count() > 0
    }

    /// No server is left to be asked.
    pub(super) fn hint_all_exhausted(&mut self, now: Duration) -> bool {
        self.inquiries.iter_mut().filter_map(|inquiry| inquiry.hint(Hint::Exhausted, now).then_some(())).count() > 0
    }

    /// Whether some list is about to be known that may have changed after `since`.
    pub(super) fn is_about_to_know(&self, since: Duration, now: Duration) -> bool {
        self.inquiries.iter().any(|inquiry| inquiry.is_about_to_know(since, now))
    }

    /// Whether some list is not known yet, and not known to be none.
    pub(super) fn is_unsettled(&self) -> bool {
        self.inquiries.iter().any(Inquiry::is_open)
    }

    /// Whether some SRV records are known, and the name of one that is to be used first isn't resolved yet.
    pub(super) fn lacks_first_services(&self) -> bool {
        let answered = self.inquiries.iter().filter(|inquiry| matches!(inquiry.question(), Question::Services(_)));
        answered.map(Inquiry::places).any(|places| {
            let first = places.iter().map(|place| place.priority).min();
            let firsts = places.iter().filter(|place| Some(place.priority) == first);
            firsts.filter_map(|place| self.of(place)).any(|name| self.inquiry(&name).is_some_and(Inquiry::is_open))
        })
    }

    /// Lists of which nothing is known, and why.
    pub(super) fn unresolvable(&self) -> impl Iterator<Item = (Arc<str>, &str)> {
        let missing = self.inquiries.iter().filter(|inquiry| inquiry.places().is_empty());
        missing.filter_map(|inquiry| Some((inquiry.question().subject().into(), inquiry.trouble()?.as_ref())))
    }

    /// Whom questions of DNS are put to.
    pub(super) fn resolver(&self) -> &DnsServers {
        &self.dns.servers
    }

    /// Questions that were not answered yet, neither way.
    pub(super) fn open(&self) -> impl Iterator<Item = &Question> {
        self.inquiries.iter().filter(|inquiry| inquiry.is_open()).map(Inquiry::question)
    }

    /// What is wrong with the sources, where the last answer was none.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.inquiries.iter().find_map(|inquiry| inquiry.trouble().map(AsRef::as_ref))
    }

    /// How many questions were put, and how many of them failed.
    pub(super) fn counts(&self) -> (u64, u64) {
        let all = self.inquiries.iter().map(Inquiry::counts);
        all.fold(self.past, |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }
}

fn add(
    place: &Place,
    endpoint: &Endpoint,
    hostname: &str,
    asked: &[Question],
    member: Option<&Arc<Member>>,
    wanted: &mut Vec<Wanted>,
) {
    let Some(known) = wanted.iter_mut().find(|known| known.endpoint == *endpoint) else {
        wanted.push(Wanted {
            endpoint: endpoint.clone(),
            hostname: Arc::from(hostname),
            origin: place.origin,
            priority: place.priority,
            weight: place.weight,
            member: member.cloned(),
            asked: asked.to_vec(),
        });
        return;
    };
    // Listed twice, it still is one server.
    known.member = known.member.take().or_else(|| member.cloned());
    if place.origin != Origin::View {
        known.weight = known.weight.max(place.weight);
        known.priority = known.priority.min(place.priority);
    }
    known.asked.extend(asked.iter().filter(|question| !known.asked.contains(question)).cloned().collect::<Vec<_>>());
}
