//! What must hold at the end of a writing run.

use std::collections::BTreeSet;

use hanaming::cluster::engine::{Input, Output};
use hanaming::cluster::history::Outcome;
use hanaming::cluster::obstacle::Obstacle;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Intent, Level, Request};
use hanaming::cluster::vector::Seen;
use hanaming::naming::{Content, Name};
use hanaming::protocol::OperationId;

use crate::schedule::ms;

use super::client::Finished;
use super::host::Delivery;
use super::plan::What;
use super::world::World;

/// All nodes have the same, without help, a few seconds after the last fault, and their readers are shown it.
pub fn converged(world: &World) -> Result<(), String> {
    let replica = |node: usize| world.hosts[node].engine.replica();
    let shown = |node: usize| replica(node).all_shown().collect::<Vec<_>>();
    for node in 0..world.hosts.len() {
        if replica(node).digest() != replica(0).digest() {
            return Err(format!("diverged: n0 has {:?}, n{node} has {:?}", shown(0), shown(node)));
        }
        world.hosts[node].reader.check(replica(node)).map_err(|violation| format!("n{node}: {violation}"))?;
    }
    Ok(())
}

/// No name is left as one that is being bound, where nobody goes on with that.
pub fn settled(world: &World) -> Result<(), String> {
    let replica = world.hosts[0].engine.replica();
    for (name, record) in replica.records() {
        let is_pending = |dot| record.history.get(dot).is_some_and(|event| event.outcome == Outcome::Pending);
        if !record.siblings.is_empty() && record.siblings.iter().all(|sibling| is_pending(sibling.dot)) {
            return Err(format!("{name:?} is still being bound, as {}", record.siblings[0].dot));
        }
    }
    Ok(())
}

/// A node that is left alone takes everything: it binds, replaces and removes at once.
pub fn survivor(world: &mut World, seed: u64) -> Result<(), String> {
    let now = world.now();
    let node = usize::try_from(seed).unwrap() % world.hosts.len();
    let host = &mut world.hosts[node];
    host.survive(now)?;
    let name = Name::parse("survivor").unwrap();
    let content = || Content::link("x");
    for (sequence, intent) in (1..).zip([Intent::bind(content()), Intent::rebind(content()), Intent::Unbind]) {
        let operation = OperationId { client: 99, sequence };
        let (name, token, level) = (name.clone(), Seen::default(), Level::AllLive);
        let request = Request { operation, name, intent: intent.clone(), is_retry: false, token, level, within: ms(1000) };
        let outputs = host.handle(now, Delivery::Request(Input::Request { asker: 0, request }))?;
        let is_done = |output: &Output| matches!(output, Output::Answer { reply: Reply::Done { version: Some(_), .. }, .. });
        if !outputs.iter().any(is_done) {
            return Err(format!("n{node} is alone and answers {intent:?} with {outputs:?}"));
        }
    }
    Ok(())
}

/// All are stopped and started again from their disks: each has what it had.
pub fn started_again(world: &mut World) -> Result<(), String> {
    let now = world.now();
    for (node, host) in world.hosts.iter_mut().enumerate() {
        let before = host.engine.replica().digest();
        host.crash();
        host.restart(now)?;
        if host.engine.replica().digest() != before {
            return Err(format!("n{node} was started again, and has another tree than before"));
        }
    }
    Ok(())
}

/// Those who held leases have left: nothing that they held is there.
pub fn leases(world: &World) -> Result<(), String> {
    let replica = world.hosts[0].engine.replica();
    let left: Vec<_> = replica.leased().map(|(_, name, _)| name).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("the leases of {left:?} are over, and they stand there")) }
}

/// Whatever was acknowledged is there, at the name where it was bound or where a move took it, unless something was
/// replaced or removed; and what the nodes hold of it is known to all.
pub fn tree(world: &World) -> Result<(), String> {
    let replica = world.hosts[0].engine.replica();
    let calls = || world.clients.iter().flat_map(|client| &client.finished);
    let was_lossy = calls().any(|call| matches!(call.call.what, What::Rebind(_) | What::Unbind));
    let siblings = || replica.records().flat_map(|(_, record)| &record.siblings);
    for call in calls() {
        let Some(Reply::Done { version: Some(dot), .. }) = call.reply else { continue };
        if !replica.seen().has(dot) {
            return Err(format!("{:?} was acknowledged as {dot}, which is unknown", call.call));
        }
        if let What::Bind(value) = call.call.what
            && !was_lossy
            && !siblings().any(|sibling| sibling.content.value[..] == value.to_le_bytes()[..])
        {
            return Err(format!("the acknowledged bind of {value} is gone, and nobody replaced or removed anything"));
        }
    }
    Ok(())
}

/// One winner, and only one; who was told "already bound" did not win; nobody is left without an answer.
pub fn race(world: &World) -> Result<(), String> {
    let calls: Vec<&Finished> = world.clients.iter().flat_map(|client| &client.finished).collect();
    let bound = values(world);
    let winners = calls.iter().filter(|call| is_done(call)).count();
    let losers = calls.iter().filter(|call| matches!(call.reply, Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })))).count();
    if winners > 1 {
        return Err(format!("{winners} binds of one name succeeded"));
    }
    if !calls.is_empty() && losers == calls.len() {
        return Err("every bind was told that the name is taken".to_owned());
    }
    for call in &calls {
        let What::Bind(value) = call.call.what else { continue };
        match &call.reply {
            Some(Reply::Done { .. }) if !bound.contains(&value) => {
                return Err(format!("the acknowledged bind of {value} is gone"));
            }
            Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })) if bound.contains(&value) => {
                return Err(format!("the bind of {value} was told that the name is taken, by itself"));
            }
            None => return Err(format!("the bind of {value} was never answered")),
            _ => {}
        }
    }
    if bound.len() > 1 {
        return Err(format!("a conflict is left: {bound:?}"));
    }
    Ok(())
}

/// One client alone: each call takes effect once, finds what the calls before left, and comes to what it must.
pub fn sequence(world: &World) -> Result<(), String> {
    let mut there: Option<u64> = None;
    for call in &world.clients[0].finished {
        let came_to = match &call.reply {
            Some(Reply::Done { version, .. }) => version.map_or("nothing", |_| "done"),
            Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })) => "taken",
            other => return Err(format!("{:?} ended as {other:?}", call.call)),
        };
        let expected = match call.call.what {
            What::Bind(_) if there.is_some() => "taken",
            What::Unbind if there.is_none() => "nothing",
            _ => "done",
        };
        if came_to != expected {
            return Err(format!("{:?} came to {came_to} and not to {expected}", call.call));
        }
        there = match call.call.what {
            What::Bind(value) => there.or(Some(value)),
            What::Rebind(value) => Some(value),
            _ => None,
        };
    }
    let (bound, expected) = (values(world), BTreeSet::from_iter(there));
    if bound == expected { Ok(()) } else { Err(format!("bound is {bound:?} and not {expected:?}")) }
}

fn is_done(call: &Finished) -> bool {
    matches!(call.reply, Some(Reply::Done { .. }))
}

/// The values that are bound, those of one operation once.
fn values(world: &World) -> BTreeSet<u64> {
    let record = world.hosts[0].engine.replica().record(&world.names[0]);
    let value = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    record.into_iter().flat_map(|record| &record.siblings).map(|sibling| value(&sibling.content.value)).collect()
}
