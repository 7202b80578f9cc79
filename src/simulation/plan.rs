//! What happens to the world, and when: all of it is known before a run begins.

use std::time::Duration;

use super::scenario::Scenario;

/// Something that happens to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// The server of this number comes back, if it's still wanted.
    Start(usize),
    /// The name server works again, or fails.
    NameServer(bool),
    /// So many servers are wanted from now on.
    Scale(u32),
    /// The server of this number stops, if it's up.
    Stop(usize),
}

/// All that happens, in its order.
pub(super) fn plan(scenario: &Scenario) -> Vec<(Duration, Change)> {
    let mut plan: Vec<(Duration, Change)> = Vec::new();
    plan.extend(scenario.scaling.iter().map(|(at, servers)| (*at, Change::Scale(*servers))));
    for (from, time) in &scenario.dns_failures {
        plan.push((*from, Change::NameServer(false)));
        let until = from.saturating_add(*time);
        // One that fails anew before it works again does not work in between.
        if !scenario.dns_failures.iter().any(|(other, time)| *other <= until && other.saturating_add(*time) > until) {
            plan.push((until, Change::NameServer(true)));
        }
    }
    for (at, server) in restarts(scenario) {
        plan.push((at, Change::Stop(server)));
        plan.push((at + scenario.restarts.downtime, Change::Start(server)));
    }
    plan.retain(|(at, _)| *at < scenario.length);
    plan.sort_unstable();
    plan
}

/// When which server is restarted.
fn restarts(scenario: &Scenario) -> Vec<(Duration, usize)> {
    let Some(every) = scenario.restarts.every else { return Vec::new() };
    let mut restarts = Vec::new();
    let mut began = Duration::ZERO;
    while began < scenario.length {
        let servers = scenario.servers_at(began);
        let gap = scenario.restarts.gap.unwrap_or(every / servers);
        let one_after_the_other = (1..=servers).map(|nth| (began.saturating_add(gap * nth), nth as usize - 1));
        restarts.extend(one_after_the_other.filter(|(at, _)| *at < scenario.length));
        began += every;
    }
    restarts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Restarts;

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn planned(scenario: &Scenario) -> Vec<(u64, Change)> {
        plan(scenario).into_iter().map(|(at, change)| (at.as_secs(), change)).collect()
    }

    fn scenario(every: Option<u64>, gap: Option<u64>) -> Scenario {
        let default = Scenario::default();
        let restarts = Restarts { every: every.map(secs), gap: gap.map(secs), downtime: secs(5), ..default.restarts };
        Scenario { servers: 2, length: secs(200), restarts, ..default }
    }

    #[test]
    fn restarts_are_spread_or_in_a_row() {
        let (start, stop) = (Change::Start, Change::Stop);
        let spread = [(50, stop(0)), (55, start(0)), (100, stop(1)), (105, start(1)), (150, stop(0)), (155, start(0))];
        assert_eq!(planned(&scenario(Some(100), None)), spread);
        let mut in_a_row = vec![(10, stop(0)), (15, start(0)), (20, stop(1)), (25, start(1))];
        in_a_row.extend([(110, stop(0)), (115, start(0)), (120, stop(1)), (125, start(1))]);
        assert_eq!(planned(&scenario(Some(100), Some(10))), in_a_row);
        assert_eq!(planned(&scenario(None, None)), []);
    }

    #[test]
    fn failures_that_overlap_are_one() {
        let dns_failures = vec![(secs(10), secs(20)), (secs(30), secs(5)), (secs(190), secs(50))];
        let planned = planned(&Scenario { dns_failures, ..scenario(None, None) });
        let name_server = Change::NameServer;
        assert_eq!(
            planned,
            [(10, name_server(false)), (30, name_server(false)), (35, name_server(true)), (190, name_server(false))]
        );
    }
}
