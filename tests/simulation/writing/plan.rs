//! What happens in a run of the writing scenarios.
//!
//! Freezes fall where they hurt: in the first milliseconds of an attempt, in the middle of a handler, so that some of
//! its messages have left and the others leave when the process is thawed.

use std::time::Duration;

use hanaming::naming::Name;
use hanaming::topology::owner;

use crate::campaign::Plan;
use crate::random::Dice;
use crate::schedule::ms;

use super::host::{id, index};

/// What a client does at one of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which name.
    pub at: usize,
    /// What.
    pub what: What,
}

/// What a client does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Create if absent.
    Bind(u64),
    /// Create or replace.
    Rebind(u64),
    /// Remove.
    Unbind,
    /// Move to another of the names.
    Move(usize),
    /// Make a context.
    Create,
    /// Remove an empty context.
    Destroy,
    /// Create or replace, with a lease that is renewed until the client leaves.
    Lease(u64),
    /// Look what is there.
    Read,
}

/// A request or fault.
#[derive(Clone, Debug)]
pub enum Action {
    /// A client gets one more thing to do, after what it has.
    Call { client: usize, call: Call },
    /// A process stands still at the end of its next handler, of whose messages so many have left.
    Freeze { node: usize, sent: usize, lasting: Duration },
    /// One direction between two nodes stalls: what is sent meanwhile arrives when it goes on.
    Stall { from: usize, to: usize, lasting: Duration },
    /// A process dies and starts again from its disk.
    Crash { node: usize, lasting: Duration },
    /// The nodes of a bit set are split from the others.
    Split { side: u32, lasting: Duration },
    /// A node's disk takes nothing for a while.
    Suspend { node: usize, lasting: Duration },
    /// A client renews its lease no longer.
    Leave { client: usize },
}

/// Which kind of history is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Three clients bind one name at the same moment.
    Race,
    /// One client binds, rebinds, unbinds and binds again.
    Sequence,
    /// The same, and every other call comes to nothing: the name is taken, or there is nothing to remove.
    Futile,
    /// Three clients do everything with a few names and contexts, and look at them.
    Tree,
    /// Three clients hold a lease each, and look at the others'.
    Lease,
}

/// The limits of what is drawn.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says what the others don't")]
pub struct Faults {
    /// The longest freeze.
    pub freeze: Duration,
    /// Of a thousand replies to clients, how many are lost.
    pub lost_replies: u64,
    /// Whether links between nodes stall.
    pub stalls: bool,
    /// Whether processes die and start again with their data.
    pub crashes: bool,
    /// Whether the nodes are split.
    pub splits: bool,
    /// Whether disks fill up for a while.
    pub suspensions: bool,
}

/// The names; the first is the one of which races and sequences are about.
pub fn names() -> Vec<Name> {
    ["orders", "a", "b", "a/x", "b/x", "b/y/z"].iter().map(|text| Name::parse(text).unwrap()).collect()
}

/// Draws the plan of a seed.
pub fn draw(seed: u64, kind: Kind, faults: Faults) -> Plan<Action> {
    let mut dice = Dice::new(seed, 11);
    let nodes = 2 + dice.index(4);
    let mut actions = match kind {
        Kind::Race => race(&mut dice),
        Kind::Sequence => sequence(),
        Kind::Futile => futile(),
        Kind::Tree => tree(&mut dice),
        Kind::Lease => leases(&mut dice),
    };
    // Where all goes through the owner, nothing meets. So it is the owner that freezes, more often than not.
    let owner = index(owner(names()[0].get(0).unwrap(), (0..nodes).map(id)).unwrap());
    let longest = u64::try_from(faults.freeze.as_millis()).unwrap();
    for _ in 0..dice.below(6) {
        let node = if dice.chance(500) { owner } else { dice.index(nodes) };
        // At the first attempt, while others run it instead of the owner, at the second attempt, or at any time.
        let from = [0, 150, 300, 700, dice.below(3000)][dice.index(5)];
        let spread = [8_000, 150_000][dice.index(2)];
        let at = ms(from) + Duration::from_micros(dice.below(spread));
        actions.push((at, Action::Freeze { node, sent: dice.index(4), lasting: ms(10 + dice.below(longest)) }));
    }
    let crashes = if faults.crashes { dice.below(4) } else { 0 };
    for _ in 0..crashes {
        let node = if dice.chance(500) { owner } else { dice.index(nodes) };
        let at = ms([0, 150, 700, dice.below(3000)][dice.index(4)]) + Duration::from_micros(dice.below(60_000));
        actions.push((at, Action::Crash { node, lasting: ms(5 + dice.below(1000)) }));
    }
    if faults.stalls {
        for _ in 0..dice.below(4) {
            let from = if dice.chance(500) { owner } else { dice.index(nodes) };
            let to = (from + 1 + dice.index(nodes - 1)) % nodes;
            let (from, to) = if dice.chance(500) { (from, to) } else { (to, from) };
            let at = ms([0, 150, 300, 700][dice.index(4)]) + Duration::from_micros(dice.below(150_000));
            actions.push((at, Action::Stall { from, to, lasting: ms(20 + dice.below(800)) }));
        }
    }
    for _ in 0..if faults.splits { dice.below(3) } else { 0 } {
        let side = u32::try_from(1 + dice.below((1 << nodes) - 2)).unwrap();
        let lasting = ms([100, 400, 2500][dice.index(3)] + dice.below(300));
        actions.push((ms(dice.below(2000)), Action::Split { side, lasting }));
    }
    for _ in 0..if faults.suspensions { dice.below(3) } else { 0 } {
        let node = if dice.chance(500) { owner } else { dice.index(nodes) };
        let at = ms([0, 150, 300, dice.below(2000)][dice.index(4)]) + Duration::from_micros(dice.below(60_000));
        actions.push((at, Action::Suspend { node, lasting: ms(20 + dice.below(1500)) }));
    }
    actions.sort_by_key(|(at, _)| *at);
    Plan { seed, nodes, actions }
}

fn race(dice: &mut Dice) -> Vec<(Duration, Action)> {
    let bind = |client| (Duration::from_micros(dice.below(4000)), call(client, 0, What::Bind(10 + client as u64)));
    (0..3).map(bind).collect()
}

fn call(client: usize, at: usize, what: What) -> Action {
    Action::Call { client, call: Call { at, what } }
}

/// No call removes or replaces a value in the first half, so that until then none may be lost.
fn tree(dice: &mut Dice) -> Vec<(Duration, Action)> {
    let names = names().len();
    let one = |number: u64| {
        let (client, at, other) = (dice.index(3), dice.index(names), dice.index(names));
        let what = match dice.below(130) {
            100.. => What::Read,
            0..40 => What::Bind(100 + number),
            40..75 => What::Move(other),
            75..85 => What::Create,
            85..90 => What::Destroy,
            90..95 if number > 10 => What::Rebind(100 + number),
            _ if number > 10 => What::Unbind,
            _ => What::Bind(100 + number),
        };
        let at_time = ms(number / 4 * 150) + Duration::from_micros(dice.below(4000));
        (at_time, call(client, at, what))
    };
    (0..20).map(one).collect()
}

/// Each has a name of its own, and all look at all of them.
fn leases(dice: &mut Dice) -> Vec<(Duration, Action)> {
    let mut actions = Vec::new();
    for client in 0..3 {
        actions.push((Duration::from_micros(dice.below(4000)), call(client, client, What::Lease(1 + client as u64))));
        for _ in 0..4 {
            actions.push((ms(100 + dice.below(3000)), call(client, dice.index(3), What::Read)));
        }
        actions.push((ms(500 + dice.below(4000)), Action::Leave { client }));
    }
    actions
}

fn sequence() -> Vec<(Duration, Action)> {
    use What::{Bind, Rebind, Unbind};
    one_after_the_other([Bind(1), Rebind(2), Rebind(3), Unbind, Bind(4), Rebind(5), Rebind(6)])
}

fn futile() -> Vec<(Duration, Action)> {
    use What::{Bind, Rebind, Unbind};
    one_after_the_other([Unbind, Bind(1), Bind(2), Unbind, Unbind, Rebind(3), Bind(4), Unbind, Unbind, Bind(5)])
}

fn one_after_the_other(calls: impl IntoIterator<Item = What>) -> Vec<(Duration, Action)> {
    calls.into_iter().map(|what| (Duration::ZERO, call(0, 0, what))).collect()
}
