//! One question, and the last good answer to it.

use std::sync::Arc;
use std::time::Duration;

use rand::Rng;

use super::refresh::{Hint, Pace, Refresh, RefreshMode};
use super::source::{Accepts, Answer, Family, Place, Question, Source};

/// When it is asked again where somebody was in a hurry.
const SOON: Duration = Duration::from_secs(1);

/// One question, when it is due, and the last good answer.
#[derive(Clone, Debug)]
pub struct Inquiry {
    question: Question,
    refresh: Refresh,
    places: Vec<Place>,
    /// The last answer that said all, as it was told.
    told: Option<Arc<[Place]>>,
    trouble: Option<Arc<str>>,
    asked: u64,
    failed: u64,
}

impl Inquiry {
    /// A question that was never put, and is due at once.
    pub fn new(question: Question, mode: RefreshMode) -> Self {
        let refresh = match question {
            // Nodes are asked for their list at one pace, whatever was said of DNS.
            Question::List(_) => Refresh::new(RefreshMode::Ttl, Pace::LIST),
            // The network tells by itself; it's asked for those who said nothing.
            Question::Multicast(_) => Refresh::new(RefreshMode::Ttl, Pace::DNS),
            Question::Addresses(_) | Question::Services(_) => Refresh::new(mode, Pace::DNS),
        };
        Self { question, refresh, places: Vec::new(), told: None, trouble: None, asked: 0, failed: 0 }
    }

    /// What is asked.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Whoever is on the last good answer.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// What is wrong, where the last answer was none, or was silent on some addresses.
    pub fn trouble(&self) -> Option<&Arc<str>> {
        self.trouble.as_ref()
    }

    /// How often it was put, and how often that failed, if only in part.
    pub fn counts(&self) -> (u64, u64) {
        (self.asked, self.failed)
    }

    /// Whether there was neither an answer nor a failure yet.
    pub fn is_open(&self) -> bool {
        self.places.is_empty() && self.trouble.is_none()
    }

    /// Which answers will do that the process was given before: whoever knows nothing yet takes what there is, and one who
    /// asks only when nobody can be reached takes it however old it is.
    pub fn accepts(&self) -> Accepts {
        match self.refresh.mode() {
            _ if !self.is_open() => Accepts::New,
            RefreshMode::OnEmpty => Accepts::Any,
            RefreshMode::Ttl | RefreshMode::Always | RefreshMode::Every(_) => Accepts::Recent,
        }
    }

    /// When to put it; `None` while it's under way, or as long as nothing happens.
    pub fn due(&self) -> Option<Duration> {
        self.refresh.due()
    }

    /// Whether an answer can be expected at once that knows what happened after `since`.
    pub fn is_about_to_know(&self, since: Duration, now: Duration) -> bool {
        self.refresh.is_about_to_know(since, now)
    }

    /// Whether to put it now; it then counts as under way until [`take`](Self::take).
    pub fn begin_if_due(&mut self, now: Duration) -> bool {
        let due = self.refresh.begin_if_due(now);
        self.asked += u64::from(due);
        due
    }

    /// What came of it. Gives whether the list is another than before.
    pub fn take(&mut self, outcome: Result<Answer, String>, now: Duration, rng: &mut impl Rng) -> bool {
        match outcome {
            Ok(answer) if !answer.places.is_empty() => {
                let (silent_on, why) = answer.silent_on.unzip();
                if answer.hasty {
                    self.refresh.answered(Some(SOON), now, rng);
                } else if silent_on.is_some() {
                    self.failed += 1;
                    self.refresh.half_answered(answer.good_for, now, rng);
                } else if !answer.more {
                    self.refresh.answered(answer.good_for, now, rng);
                }
                self.trouble = why;
                if silent_on.is_none() && self.told.as_ref().is_some_and(|told| Arc::ptr_eq(told, &answer.places)) {
                    return false;
                }
                let mut places = answer.places.to_vec();
                if let Some(silent_on) = silent_on {
                    places.extend(self.places.iter().filter(|place| is_of(place, silent_on)).cloned());
                }
                self.told = silent_on.is_none().then_some(answer.places);
                // Name servers turn their lists from answer to answer. What is listed twice counts as what is best of it.
                let by_weight = |one: &Place, other: &Place| other.weight.total_cmp(&one.weight);
                let better = |one: &Place, other: &Place| one.priority.cmp(&other.priority).then_with(|| by_weight(one, other));
                places.sort_by(|one, other| one.source.cmp(&other.source).then_with(|| better(one, other)));
                places.dedup_by(|one, other| one.source == other.source);
                let changed = places != self.places;
                self.places = places;
                changed
            }
            other => {
                self.refresh.failed(now, rng);
                self.failed += 1;
                let empty = || format!("an empty list was told for {}", self.question);
                self.trouble = Some(other.err().unwrap_or_else(empty).into());
                false
            }
        }
    }

    /// Something happened that makes it worth asking before the time. Gives whether it is due earlier than it was.
    pub fn hint(&mut self, hint: Hint, now: Duration) -> bool {
        self.refresh.hint(hint, now)
    }
}

fn is_of(place: &Place, family: Family) -> bool {
    let Source::Host(endpoint) = &place.source else { return false };
    endpoint.socket_addr().is_some_and(|address| Family::of(address.ip()) == family)
}
