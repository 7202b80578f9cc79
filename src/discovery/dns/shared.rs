//! What clients of one process share: each name is asked for once at a time, and at most once a second.
//!
//! To name servers a name is the same however it is spelt and whatever port is meant, so it's one question here as well.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::topology::Endpoint;

use super::super::refresh::Pace;
use super::super::source::{Accepts, Answer, Place, Question, Source};
use super::config::DnsServers;
use super::lookup::Lookups;
use super::system::{SystemFiles, SystemSettings};

/// How long a question that nobody puts any longer is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(60);

/// Asks name servers.
pub struct Dns {
    servers: Servers,
    questions: Mutex<HashMap<Asked, Arc<Slot>>>,
}

/// Whom to ask: as is written in the system's files by now, or for good.
enum Servers {
    System(SystemSettings),
    Given(Result<Arc<Lookups>, String>),
}

/// What a question is to name servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Addresses(Box<str>),
    Services(Box<str>),
}

/// One question. Whoever holds the lock puts it; the others wait for that.
type Slot = tokio::sync::Mutex<Heard>;

/// What came of a question.
#[derive(Default)]
struct Heard {
    last: Option<Told>,
    /// The last good answer, where some client takes any.
    good: Option<Told>,
    /// There is such a client.
    keeps: bool,
}

#[derive(Clone)]
struct Told {
    asked: Instant,
    came: Instant,
    outcome: Result<Answer, String>,
}

impl Dns {
    /// Asks these name servers. Nothing is read or sent yet.
    pub fn new(servers: &DnsServers) -> Self {
        match servers {
            DnsServers::System => Self::of_system(SystemFiles::default()),
            DnsServers::Given(_) => Self::with(Servers::Given(Lookups::given(servers).map(Arc::new))),
        }
    }

    /// Asks whom these files say, whenever they say something else.
    pub fn of_system(files: SystemFiles) -> Self {
        Self::with(Servers::System(SystemSettings::new(files)))
    }

    fn with(servers: Servers) -> Self {
        Self { servers, questions: Mutex::default() }
    }

    /// What name servers answer, or why there is no answer: a sentence that names them and the question.
    pub async fn ask(&self, question: &Question, accepts: Accepts) -> Result<Answer, String> {
        let arrived = Instant::now();
        let lookups = match &self.servers {
            Servers::System(settings) => settings.now(),
            Servers::Given(lookups) => lookups.clone(),
        };
        let searches = lookups.as_ref().is_ok_and(|lookups| lookups.searches());
        let asked = Asked::of(question, searches).ok_or_else(|| "that is not in DNS".to_owned())?;
        let slot = self.slot(asked, arrived);
        let mut heard = slot.lock().await;
        heard.keeps |= accepts == Accepts::Any;
        loop {
            let until = heard.last.as_ref().map(|told| told.asked + Pace::DNS.at_most_every).filter(|until| *until > arrived);
            let will_do = |told: &&Told| told.came >= arrived || (until.is_some() && accepts != Accepts::New);
            let kept = heard.good.as_ref().filter(|_| accepts == Accepts::Any);
            if let Some(told) = kept.or(heard.last.as_ref().filter(will_do)) {
                return told.aged().map(|answer| for_port(question, answer));
            }
            let Some(until) = until.filter(|until| *until > Instant::now()) else { break };
            // Others may take what there is meanwhile.
            drop(heard);
            sleep_until(until).await;
            heard = slot.lock().await;
        }
        let asked = Instant::now();
        let is_first = heard.last.as_ref().is_none_or(|told| told.outcome.is_err());
        let outcome = match lookups {
            Ok(lookups) => lookups.ask(question, is_first).await,
            Err(why) => Err(why),
        };
        let fresh = Told { asked, came: Instant::now(), outcome };
        if heard.keeps && fresh.outcome.is_ok() {
            heard.good = Some(fresh.clone());
        }
        heard.last.insert(fresh).outcome.clone()
    }

    fn slot(&self, question: Asked, now: Instant) -> Arc<Slot> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = questions.get(&question) {
            return Arc::clone(slot);
        }
        questions.retain(|_, slot| {
            let is_new = |told: &Told| told.came + REMEMBERED_FOR > now;
            slot.try_lock().map_or(true, |heard| heard.keeps || heard.last.as_ref().is_none_or(is_new))
        });
        Arc::clone(questions.entry(question).or_default())
    }
}

impl Asked {
    /// `None` where name servers are not asked that. A dot at the end says something only where there is a search list.
    fn of(question: &Question, searches: bool) -> Option<Self> {
        let name = |name: &str| {
            let name = if searches { name } else { name.strip_suffix('.').unwrap_or(name) };
            name.to_lowercase().into()
        };
        match question {
            Question::Addresses(endpoint) => Some(Self::Addresses(name(endpoint.host()))),
            Question::Services(services) => Some(Self::Services(name(services))),
            Question::Multicast(_) | Question::List(_) => None,
        }
    }
}

/// An answer that may have been given for another port.
fn for_port(question: &Question, answer: Answer) -> Answer {
    let Question::Addresses(wanted) = question else { return answer };
    let is_for_it = |place: &Place| !matches!(&place.source, Source::Host(address) if address.port() != wanted.port());
    if answer.places.iter().all(is_for_it) {
        return answer;
    }
    let moved = |place: &Place| match &place.source {
        Source::Host(address) => Place { source: Endpoint::new(address.host(), wanted.port()).into(), ..place.clone() },
        _ => place.clone(),
    };
    Answer { places: answer.places.iter().map(moved).collect(), ..answer }
}

impl Told {
    /// What came of it, as old as it is by now.
    fn aged(&self) -> Result<Answer, String> {
        let age = self.came.elapsed();
        self.outcome.clone().map(|answer| Answer { good_for: answer.good_for.map(|time| time.saturating_sub(age)), ..answer })
    }
}

impl std::fmt::Debug for Dns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dns").finish_non_exhaustive()
    }
}
