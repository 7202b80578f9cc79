//! What must hold at the end of a writing run.

use std::collections::BTreeSet;

use hanaming::cluster::obstacle::Obstacle;
use hanaming::cluster::reply::Reply;

use super::client::Finished;
use super::plan::Call;
use super::world::World;

/// All nodes show the same, without help, a few seconds after the last fault.
pub fn converged(world: &World) -> Result<(), String> {
    let dots = |node: usize| -> Vec<_> {
        let record = world.hosts[node].engine.replica().record(&world.name);
        record.into_iter().flat_map(|record| record.siblings.iter().map(|sibling| sibling.dot)).collect()
    };
    for node in 1..world.hosts.len() {
        if dots(node) != dots(0) {
            return Err(format!("diverged: n0 has {:?}, n{node} has {:?}", dots(0), dots(node)));
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
        let Call::Bind(value) = call.call else { continue };
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

/// One client alone: each call takes effect once and finds what the calls before left.
pub fn sequence(world: &World) -> Result<(), String> {
    let calls = &world.clients[0].finished;
    for call in calls {
        match &call.reply {
            Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })) => {
                return Err(format!("{:?} met a binding of its own", call.call));
            }
            Some(Reply::Done { version: None, .. }) => return Err(format!("{:?} found nothing", call.call)),
            Some(Reply::Misused) => return Err(format!("{:?} was called misused", call.call)),
            Some(Reply::Obstructed(_) | Reply::Link(_)) => return Err(format!("{:?} was obstructed", call.call)),
            Some(Reply::Unknown { .. } | Reply::Refused(_)) | None => return Err(format!("{:?} ended unknown", call.call)),
            Some(Reply::Done { .. }) => {}
        }
    }
    let expected: BTreeSet<u64> = match calls.last().map(|call| call.call) {
        Some(Call::Bind(value) | Call::Rebind(value)) => BTreeSet::from([value]),
        Some(Call::Unbind) | None => BTreeSet::new(),
    };
    let bound = values(world);
    if bound == expected { Ok(()) } else { Err(format!("bound is {bound:?} and not {expected:?}")) }
}

fn is_done(call: &Finished) -> bool {
    matches!(call.reply, Some(Reply::Done { .. }))
}

/// The values that are bound, those of one operation once.
fn values(world: &World) -> BTreeSet<u64> {
    let record = world.hosts[0].engine.replica().record(&world.name);
    let value = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    record.into_iter().flat_map(|record| &record.siblings).map(|sibling| value(&sibling.content.value)).collect()
}
