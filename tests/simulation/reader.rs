//! A reader's structure that follows a node by its changes alone.

use std::collections::BTreeMap;

use hanaming::cluster::projection::Change;
use hanaming::cluster::replica::Replica;
use hanaming::cluster::shown::Shown;
use hanaming::naming::Name;

/// What the readers of one node are shown.
#[derive(Default)]
pub struct Reader {
    shown: BTreeMap<Name, Shown>,
}

impl Reader {
    /// The readers of a node that starts.
    pub fn of(replica: &Replica) -> Self {
        Self { shown: replica.all_shown().collect() }
    }

    /// Follows a step. An error tells of a change that does not fit what was shown.
    pub fn follow(&mut self, changes: &[Change]) -> Result<(), String> {
        for change in changes {
            let known = self.shown(&change.name);
            if !known.is_same(&change.old) {
                return Err(format!("{:?} is said to have been {:?} and was {known:?}", change.name, change.old));
            }
            match &change.new {
                Shown::Nothing => self.shown.remove(&change.name),
                shown => self.shown.insert(change.name.clone(), shown.clone()),
            };
        }
        Ok(())
    }

    /// What stands at a name.
    pub fn shown(&self, name: &Name) -> Shown {
        self.shown.get(name).cloned().unwrap_or(Shown::Nothing)
    }

    /// Whether it shows what the node does, and every name on the way to another is a context.
    pub fn check(&self, replica: &Replica) -> Result<(), String> {
        let told: Vec<(Name, Shown)> = replica.all_shown().collect();
        let differs = |((name, shown), (told_name, told_shown)): (_, &(Name, Shown))| {
            let (name, shown): (&Name, &Shown) = (name, shown);
            name != told_name || !shown.is_same(told_shown)
        };
        if told.len() != self.shown.len() || self.shown.iter().zip(&told).any(differs) {
            return Err(format!("readers are shown {:?} instead of {told:?}", self.shown));
        }
        let lost = self.shown.keys().find(|name| {
            let parent = name.parent().unwrap_or_default();
            !parent.is_empty() && !self.shown(&parent).is_context()
        });
        lost.map_or(Ok(()), |name| Err(format!("{name:?} is shown beneath what is no context")))
    }
}
