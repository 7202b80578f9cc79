//! The members of a group while its text is being read. They stand side by side, each with a chain of its own. What a group
//! means is what the worst of them means, since none of the calls it came from may be delivered twice; the others are evidence.

use super::draft::Draft;
use crate::failure::log::shape::member;
use crate::failure::{Chain, CompletionStatus, Link, Thrown, classify_chain};

/// The members of the group that is being read.
#[derive(Debug, Default)]
pub struct Members {
    all: Vec<Vec<Draft>>,
    /// What Python printed before in the last member, which is deeper.
    deeper: Vec<Draft>,
    /// Each class at the start of a line begins one.
    pub each: bool,
    /// Up to where the end of the group was looked for.
    looked: usize,
}

impl Members {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A member begins at `at`.
    pub fn begin(&mut self, at: usize, drafts: Vec<Draft>) {
        self.end_last();
        self.all.push(drafts);
        self.looked = at;
    }

    /// The last one.
    pub fn last(&mut self) -> Option<&mut Vec<Draft>> {
        self.all.last_mut()
    }

    /// What the last one has so far is deeper than what follows, Python's way.
    pub fn turn(&mut self, link: Link) {
        let Some(last) = self.all.last_mut() else { return };
        if let Some(first) = last.first_mut() {
            first.thrown.link = link;
        }
        last.append(&mut self.deeper);
        std::mem::swap(last, &mut self.deeper);
    }

    /// Whether the group has ended before `at`.
    pub fn have_ended(&mut self, text: &str, at: usize) -> bool {
        let ended = text.get(self.looked..at).is_some_and(|text| text.lines().any(member::ends_group));
        self.looked = at;
        ended
    }

    fn end_last(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.append(&mut self.deeper);
        }
    }

    /// The worst of them, which goes on with the group's chain, and the others.
    pub fn settle(mut self) -> (Vec<Draft>, Vec<Vec<Draft>>) {
        self.end_last();
        self.all.retain(|member| !member.is_empty());
        let worst = (0..self.all.len()).max_by_key(|at| severity(&self.all[*at]));
        let mut worst = worst.map(|at| self.all.remove(at)).unwrap_or_default();
        if let Some(first) = worst.first_mut() {
            first.thrown.link = Link::Nested;
        }
        (worst, self.all)
    }
}

/// How much is to be feared: a call that may have run more than one that ran, and that more than one that did not.
fn severity(member: &[Draft]) -> Option<CompletionStatus> {
    let thrown: Vec<Thrown> = member.iter().cloned().map(Draft::finish).collect();
    classify_chain(&Chain { thrown, ..Chain::default() }).completion
}
