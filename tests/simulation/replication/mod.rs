//! The replication scenario: records, merges, syncs and purges under every fault (3.2 to 3.4).
//!
//! Users write at any node; fan-out is lost, late and repeated; nodes pull from each other while others write, crash,
//! lose their data, come back with old data, purge, and split. Then everything heals, and the nodes must be equal,
//! with nothing lost and nothing back.

mod healing;
mod host;
mod ledger;
mod plan;
mod world;

use hanaming::cluster::rules::Rules;

use crate::campaign::{Plan, Scenario, Tally};

/// The scenario, with so many actions a run.
pub struct Replication {
    /// Actions in a plan.
    pub actions: usize,
}

impl Scenario for Replication {
    type Action = plan::Action;

    fn plan(&self, seed: u64) -> Plan<plan::Action> {
        plan::draw(seed, self.actions)
    }

    fn may_drop(&self, _: &plan::Action) -> bool {
        true
    }

    fn run(&self, plan: &Plan<plan::Action>, rules: Rules) -> Result<Tally, String> {
        let mut world = world::World::new(plan, rules);
        world.run(plan)?;
        world.heal()?;
        Ok(world.tally())
    }
}
