//! What clients of one process share: each question is put once at a time, and at most once a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::super::refresh::Pace;
use super::super::source::{Answer, Question};
use super::config::DnsServers;
use super::lookup::Lookups;
use super::system::{SystemFiles, SystemSettings};

/// How long a question that nobody puts any longer is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(60);

/// Asks name servers.
pub struct Dns {
    servers: Servers,
    questions: Mutex<HashMap<Question, Arc<Slot>>>,
}

/// Whom to ask: as is written in the system's files by now, or for good.
enum Servers {
    System(SystemSettings),
    Given(Result<Arc<Lookups>, String>),
}

/// What came of a question. Whoever holds the lock puts it; the others wait for that.
type Slot = tokio::sync::Mutex<Option<Told>>;

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
    pub async fn ask(&self, question: &Question) -> Result<Answer, String> {
        let arrived = Instant::now();
        let slot = self.slot(question, arrived);
        let mut told = slot.lock().await;
        if let Some(told) = told.as_ref()
            && (told.came >= arrived || told.asked + Pace::DNS.at_most_every > arrived)
        {
            return told.aged();
        }
        let asked = Instant::now();
        let is_first = told.as_ref().is_none_or(|told| told.outcome.is_err());
        let outcome = match &self.servers {
            Servers::System(settings) => settings.now(),
            Servers::Given(lookups) => lookups.clone(),
        };
        let outcome = match outcome {
            Ok(lookups) => lookups.ask(question, is_first).await,
            Err(why) => Err(why),
        };
        let fresh = told.insert(Told { asked, came: Instant::now(), outcome });
        fresh.outcome.clone()
    }

    fn slot(&self, question: &Question, now: Instant) -> Arc<Slot> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = questions.get(question) {
            return Arc::clone(slot);
        }
        questions.retain(|_, slot| {
            let told = slot.try_lock();
            told.is_err() || told.is_ok_and(|told| told.as_ref().is_none_or(|told| told.came + REMEMBERED_FOR > now))
        });
        Arc::clone(questions.entry(question.clone()).or_default())
    }
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
