//! Where exceptions go: into the chain itself, into what was suppressed, or into the members of a group.

use super::draft::Draft;
use super::members::Members;
use crate::failure::log::shape::fields::Field;
use crate::failure::log::shape::member::{self, Begins};
use crate::failure::{Chain, Link, Thrown};

const MOST_THROWN: usize = 64;

/// What takes the next exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Chain,
    /// The last part, which a line of that indentation began.
    Part { indentation: usize },
    /// The last member of a group.
    Member,
}

/// The exceptions of a text so far.
#[derive(Debug, Default)]
pub struct Tree {
    chain: Vec<Draft>,
    parts: Vec<Vec<Draft>>,
    members: Members,
    /// What Python printed before, which is deeper.
    deeper: Vec<Draft>,
    place: Place,
    /// Fields that came before any exception.
    early: Vec<Field>,
    /// From which exception on the last part may as well go on with the chain itself.
    otherwise: Option<usize>,
}

impl Tree {
    /// What takes the next exception.
    pub fn current(&mut self) -> &mut Vec<Draft> {
        match self.place {
            Place::Part { .. } if !self.parts.is_empty() => {
                let last = self.parts.len() - 1;
                &mut self.parts[last]
            }
            Place::Member if !self.members.is_empty() => self.members.last().unwrap_or(&mut self.chain),
            _ => &mut self.chain,
        }
    }

    /// The last exception.
    pub fn last(&mut self) -> Option<&mut Draft> {
        self.current().last_mut()
    }

    /// Takes an exception.
    pub fn push(&mut self, mut draft: Draft) {
        let current = self.current();
        if current.len() < MOST_THROWN {
            if draft.thrown.link != Link::Near && current.iter().all(|draft| draft.thrown.link == Link::Near) {
                draft.thrown.link = Link::Outermost;
            }
            current.push(draft);
        }
    }

    /// Takes fields, which belong to the last system exception that lacks them; to the first one that comes where there is no
    /// exception yet.
    pub fn put(&mut self, found: &[Field]) {
        if self.current().is_empty() {
            self.early.extend_from_slice(found);
            return;
        }
        let current = self.current();
        let at = current
            .iter()
            .rposition(|draft| draft.is_system && found.iter().any(|field| draft.lacks(field)))
            .or_else(|| current.iter().rposition(|draft| draft.is_system));
        if let Some(draft) = at.and_then(|at| current.get_mut(at)) {
            for field in found {
                draft.put(field);
            }
        }
    }

    /// What was suppressed begins, in a line of that indentation.
    pub fn begin_part(&mut self, indentation: usize) {
        self.parts.push(Vec::new());
        self.otherwise = None;
        self.place = Place::Part { indentation };
    }

    /// A link begins a line of that indentation: it may lead out of what was suppressed.
    pub fn link(&mut self, at: usize) {
        let Place::Part { indentation } = self.place else { return };
        if at < indentation {
            self.place = Place::Chain;
        } else if indentation == 0 && self.otherwise.is_none() {
            // Java indents what was suppressed. That is gone here, and the cause may be the whole's as well.
            self.otherwise = Some(self.current().len());
        }
    }

    /// Python's words that what came before is this to what follows.
    pub fn turn(&mut self, link: Link, text: &str, at: usize) {
        if self.place == Place::Member && !self.members.have_ended(text, at) {
            self.members.turn(link);
            return;
        }
        self.settle_members();
        if let Some(first) = self.chain.first_mut() {
            first.thrown.link = link;
        }
        self.chain.append(&mut self.deeper);
        std::mem::swap(&mut self.chain, &mut self.deeper);
        self.place = Place::Chain;
    }

    /// Whether a group's member may begin here; a rule between two of them is all that is left of some.
    pub fn may_begin(&self, begins: Begins) -> bool {
        !self.members.is_empty()
            || self.chain.iter().any(|draft| member::is_group(&draft.thrown.class))
            || (begins == Begins::One { is_first: false } && !self.chain.is_empty())
    }

    /// A group's member begins at `at`.
    pub fn begin_member(&mut self, begins: Begins, at: usize) {
        if self.members.is_empty() {
            // .NET prints the first one as if it were the cause.
            let group = self.chain.iter().rposition(|draft| member::is_group(&draft.thrown.class));
            let first = self.chain.split_off(group.map_or(0, |group| group + 1));
            self.members.begin(at, first);
        }
        self.members.each = begins == Begins::Each;
        self.members.begin(at, Vec::new());
        self.place = Place::Member;
    }

    /// A class begins a line at `at`: of some groups that is a member's.
    pub fn begin_line(&mut self, at: usize) {
        if self.members.each && self.place == Place::Member {
            self.members.begin(at, Vec::new());
        }
    }

    /// The group is over: its worst member goes on with its chain.
    fn settle_members(&mut self) {
        let (mut worst, others) = std::mem::take(&mut self.members).settle();
        self.chain.append(&mut worst);
        self.parts.extend(others);
    }

    /// A code before the class is the first exception's, and a status beside it, where it prints none itself. A status alone
    /// may be a word of the sentence.
    fn settle_early(&mut self) {
        let early = std::mem::take(&mut self.early);
        let has_code = early.iter().any(|field| matches!(field, Field::Minor(_)));
        if let Some(first) = self.chain.first_mut().filter(|first| first.is_system && has_code) {
            for field in &early {
                first.put(field);
            }
        }
    }

    /// The chain.
    pub fn finish(mut self) -> Chain {
        self.settle_early();
        self.settle_members();
        self.chain.append(&mut self.deeper);
        let thrown = |drafts: Vec<Draft>| drafts.into_iter().map(Draft::finish).collect::<Vec<Thrown>>();
        let parts: Vec<_> = self.parts.into_iter().map(thrown).collect();
        let otherwise = self.otherwise.and_then(|from| {
            let (last, before) = parts.split_last()?;
            let whole = self.chain.iter().cloned().map(Draft::finish).chain(last.get(from..)?.iter().cloned());
            let parts = before.iter().map(Vec::as_slice).chain([&last[..from]]);
            let parts = parts.filter(|part| !part.is_empty()).map(<[Thrown]>::to_vec).collect();
            Some(Box::new(Chain { thrown: whole.collect(), parts, otherwise: None }))
        });
        let parts = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Chain { thrown: thrown(self.chain), parts, otherwise }
    }
}
