//! The writing scenarios: one name or a small tree, clients that retry, lost replies, freezes inside handlers (3.5, 3.6).

mod checks;
mod client;
mod host;
mod lease;
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
        Self {
            kind,
            faults: Faults {
                freeze: ms(1100),
                lost_replies: 50,
                stalls: false,
                crashes: false,
                splits: false,
                suspensions: false,
            },
        }
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

    /// The same with disks that fill up for a while.
    pub const fn with_suspensions(mut self) -> Self {
        self.faults.suspensions = true;
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

    /// The calls of races and sequences are what the checks are about, and so are leases and that their holders leave.
    fn may_drop(&self, action: &plan::Action) -> bool {
        match action {
            plan::Action::Call { call, .. } => self.kind == Kind::Tree || call.what == plan::What::Read,
            plan::Action::Leave { .. } => false,
            _ => true,
        }
    }

    fn run(&self, plan: &Plan<plan::Action>, rules: Rules) -> Result<Tally, String> {
        let mut world = world::World::new(plan, self.faults, Timing::default(), rules);
        world.run(plan)?;
        checks::converged(&world)?;
        checks::settled(&world)?;
        match self.kind {
            Kind::Race => checks::race(&world)?,
            Kind::Sequence | Kind::Futile => checks::sequence(&world)?,
            Kind::Tree => checks::tree(&world)?,
            Kind::Lease => checks::leases(&world)?,
        }
        checks::survivor(&mut world, plan.seed)?;
        checks::started_again(&mut world)?;
        Ok(world.tally())
    }
}
