//! The writing scenarios: one name or a small tree, clients that retry, lost replies, freezes inside handlers (3.5, 3.6).

mod checks;
mod client;
mod host;
mod plan;
mod world;

use hanaming::cluster::engine::Timing;
use hanaming::cluster::rules::Rules;

use crate::campaign::{Plan, Scenario, Tally};
use crate::schedule::ms;

pub use plan::{Faults, Kind};

/// A writing scenario.
pub struct Writing {
    /// What is drawn.
    pub kind: Kind,
    /// What goes wrong.
    pub faults: Faults,
}

impl Writing {
    /// Replies get lost; freezes stay below what detection takes for a death.
    pub const fn new(kind: Kind) -> Self {
        Self { kind, faults: Faults { freeze: ms(1100), lost_replies: 50, stalls: false, crashes: false, splits: false } }
    }

    /// The same with links that stall.
    pub const fn with_stalls(mut self) -> Self {
        self.faults.stalls = true;
        self
    }

    /// The same with splits.
    pub const fn with_splits(mut self) -> Self {
        self.faults.splits = true;
        self
    }

    /// The same with processes that die and start again from their disks.
    pub const fn with_crashes(mut self) -> Self {
        self.faults.crashes = true;
        self
    }
}

impl Scenario for Writing {
    type Action = plan::Action;

    fn plan(&self, seed: u64) -> Plan<plan::Action> {
        plan::draw(seed, self.kind, self.faults)
    }

    /// The calls of races and sequences are what the checks are about.
    fn may_drop(&self, action: &plan::Action) -> bool {
        self.kind == Kind::Tree || !matches!(action, plan::Action::Call { .. })
    }

    fn run(&self, plan: &Plan<plan::Action>, rules: Rules) -> Result<Tally, String> {
        let mut world = world::World::new(plan, self.faults, Timing::default(), rules);
        world.run(plan)?;
        checks::converged(&world)?;
        match self.kind {
            Kind::Race => checks::race(&world)?,
            Kind::Sequence => checks::sequence(&world)?,
            Kind::Tree => checks::tree(&world)?,
        }
        Ok(world.tally())
    }
}
