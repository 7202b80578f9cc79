//! From one event to the next, until the end.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::client::{Elections, Policy};
use crate::naming::NamingError;

use super::client::{Client, Ended};
use super::outcome::{Outcome, width};
use super::plan::plan;
use super::scenario::Scenario;
use super::timetable::Timetable;
use super::world::World;

/// After so many events it's asked whether to give up, where there are few servers.
const EVENTS_BETWEEN_QUESTIONS: u32 = 4096;
/// The square of the number of servers up to which events are as fast: then it counts how long their list is.
const FEW_SERVERS_SQUARED: u32 = 400;

/// Runs a scenario. `None` where `give_up` says so, which is asked from time to time.
pub fn run(scenario: &Scenario, give_up: &mut dyn FnMut() -> bool) -> Result<Option<Outcome>, NamingError> {
    scenario.validate()?;
    let mut world = World::new(scenario);
    let Some(mut clients) = clients(scenario, give_up) else { return Ok(None) };
    let events_between_questions = between_questions(scenario);
    let mut outcome = Outcome::new(scenario);
    let mut due = Timetable::new(clients.iter().map(Client::first).collect());
    let mut plan = plan(scenario).into_iter().peekable();
    let width = width(scenario).max(Duration::from_nanos(1));
    let contexts = if scenario.policy == Policy::FirstAvailableIdenticalAllProxies { scenario.contexts as usize } else { 1 };
    let mut slice = 0;
    let mut events = 0_u32;
    while let Some((client_at, nth)) = due.first() {
        let (at, change) = match plan.next_if(|(at, _)| *at <= client_at) {
            Some((at, change)) => (at, Some(change)),
            None => (client_at, None),
        };
        if at >= scenario.length {
            break;
        }
        events = events.wrapping_add(1);
        if events.is_multiple_of(events_between_questions) && give_up() {
            return Ok(None);
        }
        let now = usize::try_from(at.as_nanos() / width.as_nanos()).unwrap_or(usize::MAX).min(outcome.slices.len() - 1);
        while slice < now {
            note_up(&mut outcome, slice, &world);
            slice += 1;
        }
        if let Some(change) = change {
            world.change(change);
            for (nth, client) in clients.iter_mut().enumerate() {
                if let Some(at) = client.notices(at) {
                    due.hasten(nth, at);
                }
            }
            continue;
        }
        let counted = &mut outcome.slices[slice];
        let stayed_with = clients[nth].stays_with();
        let next = clients[nth].wake(&mut world, at, &mut |ended| match ended {
            Ended::Answered(server) => counted.answered[server] += 1,
            Ended::Failed => counted.failed += 1,
        });
        due.set(nth, next);
        if clients[nth].stays_with() != stayed_with {
            // Those that elect together follow.
            let first = nth - nth % contexts;
            (first..first + contexts).filter(|other| *other != nth).for_each(|other| due.hasten(other, at));
        }
    }
    (slice..outcome.slices.len()).for_each(|slice| note_up(&mut outcome, slice, &world));
    for client in &clients {
        let (metrics, last) = client.counted();
        outcome.add(metrics, last);
    }
    Ok(Some(outcome))
}

/// All contexts, those of one program beside each other; `None` where it's given up.
fn clients(scenario: &Scenario, give_up: &mut dyn FnMut() -> bool) -> Option<Vec<Client>> {
    let mut rng = StdRng::seed_from_u64(scenario.seed);
    let mut clients = Vec::new();
    for _ in 0..scenario.clients {
        let elections: Arc<Elections> = Elections::seeded(rng.random());
        for _ in 0..scenario.contexts {
            if clients.len().is_multiple_of(EVENTS_BETWEEN_QUESTIONS as usize) && give_up() {
                return None;
            }
            clients.push(Client::new(scenario, &elections, rng.random()));
        }
    }
    Some(clients)
}

/// An event may be that a client learns a list of all servers, and that takes the longer, the more there are.
fn between_questions(scenario: &Scenario) -> u32 {
    let servers = scenario.most_servers();
    (EVENTS_BETWEEN_QUESTIONS / (1 + servers * servers / FEW_SERVERS_SQUARED)).max(1)
}

fn note_up(outcome: &mut Outcome, slice: usize, world: &World) {
    let up = &mut outcome.slices[slice].up;
    for (server, up) in up.iter_mut().enumerate() {
        *up = world.is_up(server);
    }
}
