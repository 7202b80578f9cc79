//! Who announces itself as a node of one cluster: a state machine without a clock.
//!
//! Its answers are whole lists, as those of every [source](super::super::source), each time that the list has changed, and
//! at the end of each asking, when there was time enough for all to be heard. Instances go when
//! they say goodbye, when what they said has outlived its time (whoever hears for us says so, as the records' times to live
//! are his), and when they are not heard again after the hearing began anew.
//!
//! Anybody on the network can say anything. Whoever is known stays, whatever others say; beyond a bound nobody new is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::topology::Endpoint;

use super::super::neighbourhood::Neighbourhood;
use super::super::source::{Answer, Origin, Place};
use super::sighting::Sighting;

/// How long an asking goes on while nobody is known.
const WITHIN: Duration = Duration::from_secs(3);
/// How long it goes on after the first one was heard of: who is heard first may be nobody.
const GATHERING: Duration = Duration::from_secs(1);
/// How long it goes on where somebody is known: responders answer within some 100 ms.
const MOMENT: Duration = Duration::from_millis(500);
/// Who is not heard of again in that time, after the hearing began anew, is gone.
const HEARD_AGAIN_WITHIN: Duration = Duration::from_secs(30);
/// So many instances of one cluster are known at most.
const MOST_INSTANCES: usize = 256;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Somebody wants to know, and the network is asked.
    Asked,
    /// The hearing began anew: what was heard before is not repeated by itself.
    Anew,
    /// An instance was heard of.
    Sighted(Sighting),
    /// The instance of this name said goodbye, or was not heard of for too long.
    Gone(String),
    /// The network can't be asked, for this reason.
    Deaf(String),
    /// Time has passed.
    Time,
}

/// Whom an instance leads to.
#[derive(Clone, Debug)]
struct Known {
    endpoints: BTreeSet<Endpoint>,
    /// It was heard of since the hearing began.
    is_confirmed: bool,
}

/// One cluster's nodes, as they announce themselves.
#[derive(Clone, Debug)]
pub struct Search {
    of: Neighbourhood,
    /// By their names in lower case.
    known: BTreeMap<String, Known>,
    /// When the asking ends.
    asked_until: Option<Duration>,
    /// When those who were not heard of again are gone.
    confirmed_by: Option<Duration>,
}

impl Search {
    /// Nobody is known, and nothing asked.
    pub fn new(of: Neighbourhood) -> Self {
        Self { of, known: BTreeMap::new(), asked_until: None, confirmed_by: None }
    }

    /// When [`Input::Time`] is due.
    pub fn due(&self) -> Option<Duration> {
        self.asked_until.into_iter().chain(self.confirmed_by).min()
    }

    /// Takes what happened. Gives what is to be told, if anything is: the whole list, or why there is none.
    pub fn step(&mut self, now: Duration, input: Input) -> Option<Result<Answer, String>> {
        match input {
            Input::Asked => {
                self.asked_until = Some(now + if self.known.is_empty() { WITHIN } else { MOMENT });
                None
            }
            Input::Anew => {
                self.known.values_mut().for_each(|known| known.is_confirmed = false);
                self.confirmed_by = (!self.known.is_empty()).then_some(now + HEARD_AGAIN_WITHIN);
                None
            }
            Input::Sighted(sighting) => self.sighted(&sighting).then(|| {
                self.asked_until = self.asked_until.map(|until| until.min(now + GATHERING));
                self.told()
            }),
            Input::Gone(instance) => self.known.remove(&instance.to_lowercase()).map(|_| self.told()),
            Input::Deaf(why) => {
                self.asked_until = None;
                Some(Err(format!("{} can't be asked by multicast for {}: {why}", self.of.interface, self.cluster())))
            }
            Input::Time => self.time(now),
        }
    }

    /// Gives whether the list is another.
    fn sighted(&mut self, sighting: &Sighting) -> bool {
        let name = sighting.instance.to_lowercase();
        let endpoints = sighting.endpoints(&self.of.cluster);
        if endpoints.is_empty() {
            return self.known.remove(&name).is_some();
        }
        let is_full = self.known.len() >= MOST_INSTANCES;
        match self.known.get_mut(&name) {
            Some(known) => {
                known.is_confirmed = true;
                let changed = known.endpoints != endpoints;
                known.endpoints = endpoints;
                changed
            }
            None if is_full => false,
            None => {
                self.known.insert(name, Known { endpoints, is_confirmed: true });
                true
            }
        }
    }

    fn time(&mut self, now: Duration) -> Option<Result<Answer, String>> {
        let before = self.known.len();
        if self.confirmed_by.take_if(|by| *by <= now).is_some() {
            self.known.retain(|_, known| known.is_confirmed);
        }
        let is_over = self.asked_until.take_if(|until| *until <= now).is_some();
        if is_over && self.known.is_empty() {
            let (of, within) = (&self.of.interface, WITHIN.as_secs());
            return Some(Err(format!("no server answered multicast for {} on {of} within {within} s", self.cluster())));
        }
        (is_over || self.known.len() != before).then(|| self.told())
    }

    /// The whole list as an answer, the last one unless an asking goes on.
    fn told(&self) -> Result<Answer, String> {
        if self.known.is_empty() {
            let of = &self.of.interface;
            return Err(format!("no server of {} announces itself any longer by multicast on {of}", self.cluster()));
        }
        let endpoints: BTreeSet<&Endpoint> = self.known.values().flat_map(|known| &known.endpoints).collect();
        let places = endpoints.into_iter().map(|endpoint| Place::new(endpoint.clone(), Origin::Mdns)).collect();
        Ok(Answer { more: self.asked_until.is_some(), ..Answer::new(places, None) })
    }

    fn cluster(&self) -> String {
        format!("cluster {}", self.of.cluster)
    }
}
