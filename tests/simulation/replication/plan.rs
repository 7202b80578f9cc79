//! What happens in a run of the replication scenario.
//!
//! The shares are chosen so that the rare things meet: few names, few nodes, many syncs, purges without grace as by a
//! node that was told to forget all others, long delays, and nodes that crash with data behind the others'.

use std::time::Duration;

use crate::campaign::Plan;
use crate::disk::{Ailment, Fate};
use crate::random::Dice;
use crate::schedule::ms;

/// How many names there are.
pub const NAMES: usize = 3;

/// One request or fault.
#[derive(Clone, Debug)]
pub enum Action {
    /// A user binds (or rebinds) a name.
    Write { node: usize, name: usize },
    /// A user unbinds a name.
    Remove { node: usize, name: usize },
    /// A node asks another for what it lacks.
    Pull { node: usize, from: usize },
    /// A node drops its tombstones, as if all others had been forgotten.
    Purge { node: usize },
    /// One direction is cut.
    Cut { from: usize, to: usize },
    /// The nodes of a bit set are split from the others.
    Split { side: u32 },
    /// All cuts heal.
    Heal,
    /// A process dies; what it was committing meets its fate.
    Crash { node: usize, fate: Fate },
    /// A process that died starts again.
    Start { node: usize },
    /// A process and its data go, and it starts anew.
    Wipe { node: usize },
    /// A process stands still.
    Freeze { node: usize, lasting: Duration },
    /// A backup of the disk is made.
    Backup { node: usize },
    /// The backup is put in the place of the data, and the process starts from it.
    Restore { node: usize },
    /// The disk falls ill.
    Ail { node: usize, ailment: Ailment, lasting: Duration },
}

impl Action {
    /// Whether this is the world's doing and not the users' or the nodes'.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Remove { .. } | Self::Pull { .. } | Self::Purge { .. })
    }
}

/// Draws the plan of a seed.
pub fn draw(seed: u64, actions: usize) -> Plan<Action> {
    let mut dice = Dice::new(seed, 1);
    let nodes = 3 + dice.index(3);
    let mut at = Duration::ZERO;
    let actions = (0..actions).map(|_| {
        at += ms(dice.below(20));
        (at, one(&mut dice, nodes))
    });
    Plan { seed, nodes, actions: actions.collect() }
}

fn one(dice: &mut Dice, nodes: usize) -> Action {
    let node = dice.index(nodes);
    let other = (node + 1 + dice.index(nodes - 1)) % nodes;
    let name = dice.index(NAMES);
    match dice.below(1000) {
        0..280 => Action::Write { node, name },
        280..400 => Action::Remove { node, name },
        400..640 => Action::Pull { node, from: other },
        640..800 => Action::Purge { node },
        800..830 => Action::Split { side: u32::try_from(dice.below(1 << nodes)).unwrap() },
        830..845 => Action::Cut { from: node, to: other },
        845..885 => Action::Heal,
        885..915 => Action::Crash { node, fate: [Fate::Lost, Fate::Kept][dice.index(2)] },
        915..945 => Action::Start { node },
        945..950 => Action::Wipe { node },
        950..951 => Action::Crash { node, fate: Fate::Torn },
        951..970 => Action::Freeze { node, lasting: ms(50 + dice.below(800)) },
        970..978 => Action::Backup { node },
        978..985 => Action::Restore { node },
        _ => {
            let ailment = [Ailment::Full, Ailment::Io][dice.index(2)];
            Action::Ail { node, ailment, lasting: ms(50 + dice.below(500)) }
        }
    }
}
