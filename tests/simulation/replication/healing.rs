//! The healing phase: all faults end, everybody pulls from everybody, and all must be equal.

use std::collections::BTreeSet;

use hanaming::cluster::replica::Replica;
use hanaming::cluster::vector::{Dot, Vector};

use super::host::Effects;
use super::world::World;

impl World {
    /// Heals, and checks what was promised.
    pub fn heal(&mut self) -> Result<(), String> {
        self.network.calm();
        for node in 0..self.hosts.len() {
            self.hosts[node].disk.ailment = None;
            self.hosts[node].frozen_until = self.schedule.now();
            self.start(node);
        }
        self.drain()?;
        for _ in 0..3 {
            self.pull_all()?;
        }
        self.check_equal()?;
        self.check_kept()?;
        // With everybody's vector covering everything the tombstones go, and nothing comes back.
        let before = self.live(0);
        self.purge_all()?;
        self.pull_all()?;
        self.check_equal()?;
        if self.live(0) == before { Ok(()) } else { Err("a purge changed what is bound".to_owned()) }
    }

    fn drain(&mut self) -> Result<(), String> {
        while let Some(event) = self.schedule.next() {
            self.happen(event)?;
        }
        Ok(())
    }

    fn pull_all(&mut self) -> Result<(), String> {
        for node in 0..self.hosts.len() {
            for from in (0..self.hosts.len()).filter(|from| *from != node) {
                self.pull(node, from);
            }
            self.drain()?;
        }
        Ok(())
    }

    fn purge_all(&mut self) -> Result<(), String> {
        let now = self.schedule.now();
        let vectors: Vec<Vector> = self.hosts.iter().filter_map(|h| Some(h.replica.as_ref()?.seen().vector().clone())).collect();
        let everybody = vectors.iter().skip(1).fold(vectors[0].clone(), |both, one| both.meet(one));
        for node in 0..self.hosts.len() {
            if let Some(replica) = &mut self.hosts[node].replica {
                replica.purge(now, &everybody);
            }
            self.finish(node, Effects::default());
        }
        self.drain()
    }

    fn live(&self, node: usize) -> BTreeSet<Dot> {
        let replica = self.hosts[node].replica.as_ref();
        let records = replica.into_iter().flat_map(Replica::records);
        records.flat_map(|(_, record)| record.siblings.iter().map(|sibling| sibling.dot)).collect()
    }

    /// Equal dumps and equal vectors.
    fn check_equal(&self) -> Result<(), String> {
        let first = self.hosts[0].replica.as_ref().ok_or("n0 did not start")?;
        for (node, host) in self.hosts.iter().enumerate().skip(1) {
            let replica = host.replica.as_ref().ok_or_else(|| format!("n{node} did not start"))?;
            if self.live(node) != self.live(0) {
                return Err(format!("after healing n0 has {:?}, n{node} has {:?}", self.live(0), self.live(node)));
            }
            if replica.seen() != first.seen() {
                return Err(format!("after healing n0 has seen {:?}, n{node} {:?}", first.seen(), replica.seen()));
            }
        }
        Ok(())
    }

    fn check_kept(&mut self) -> Result<(), String> {
        let Some(replica) = &self.hosts[0].replica else { return Ok(()) };
        self.counts.conflicts += replica.records().filter(|(_, record)| record.is_conflict()).count() as u64;
        self.ledger.check_end(replica, &self.live(0), |(node, generation)| self.hosts[node].generation == generation)
    }
}
