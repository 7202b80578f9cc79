//! From one event to the next, until the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::client::Elections;
use crate::naming::NamingError;

use super::client::{Client, Ended};
use super::outcome::{Outcome, width};
use super::plan::plan;
use super::scenario::Scenario;
use super::world::World;

/// After so many events it's asked whether to give up.
const EVENTS_BETWEEN_QUESTIONS: u32 = 4096;

/// Runs a scenario. `None` where `give_up` says so, which is asked from time to time.
pub fn run(scenario: &Scenario, give_up: &mut dyn FnMut() -> bool) -> Result<Option<Outcome>, NamingError> {
    scenario.validate()?;
    let mut world = World::new(scenario);
    let mut clients = clients(scenario);
    let mut outcome = Outcome::new(scenario);
    let mut due: BinaryHeap<Reverse<(Duration, usize)>> =
        clients.iter().enumerate().map(|(nth, client)| Reverse((client.first(), nth))).collect();
    let mut plan = plan(scenario).into_iter().peekable();
    let width = width(scenario).max(Duration::from_nanos(1));
    let mut slice = 0;
    let mut events = 0_u32;
    while let Some(Reverse((client_at, nth))) = due.pop() {
        let (at, change) = match plan.next_if(|(at, _)| *at <= client_at) {
            Some((at, change)) => (at, Some(change)),
            None => (client_at, None),
        };
        if at >= scenario.length {
            break;
        }
        events = events.wrapping_add(1);
        if events.is_multiple_of(EVENTS_BETWEEN_QUESTIONS) && give_up() {
            return Ok(None);
        }
        let now = usize::try_from(at.as_nanos() / width.as_nanos()).unwrap_or(usize::MAX).min(outcome.slices.len() - 1);
        while slice < now {
            note_up(&mut outcome, slice, &world);
            slice += 1;
        }
        if let Some(change) = change {
            world.change(change);
            due.push(Reverse((client_at, nth)));
            continue;
        }
        let counted = &mut outcome.slices[slice];
        let next = clients[nth].wake(&mut world, at, &mut |ended| match ended {
            Ended::Answered(server) => counted.answered[server] += 1,
            Ended::Failed => counted.failed += 1,
        });
        due.push(Reverse((next, nth)));
    }
    (slice..outcome.slices.len()).for_each(|slice| note_up(&mut outcome, slice, &world));
    for client in &clients {
        let (metrics, last) = client.counted();
        outcome.add(metrics, last);
    }
    Ok(Some(outcome))
}

/// All contexts, those of one program beside each other.
fn clients(scenario: &Scenario) -> Vec<Client> {
    let mut rng = StdRng::seed_from_u64(scenario.seed);
    let mut clients = Vec::new();
    for _ in 0..scenario.clients {
        let elections: Arc<Elections> = Elections::seeded(rng.random());
        clients.extend((0..scenario.contexts).map(|_| Client::new(scenario, &elections, rng.random())));
    }
    clients
}

fn note_up(outcome: &mut Outcome, slice: usize, world: &World) {
    let up = &mut outcome.slices[slice].up;
    for (server, up) in up.iter_mut().enumerate() {
        *up = world.is_up(server);
    }
}
