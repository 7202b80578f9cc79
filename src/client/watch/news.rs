//! What waits to be told: piece by piece, and where it is too much, name by name.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::naming::{Content, Version};

/// How many pieces wait before a name that changes again takes the place of what waits of it.
const MANY: usize = 1024;

/// How many wait before there should be no more.
const FULL: usize = 2 * MANY;

/// What is known of a name.
#[derive(Clone, Debug)]
pub struct Known {
    pub content: Content,
    pub version: Version,
    pub is_conflict: bool,
    pub node: Arc<str>,
}

impl Known {
    /// Whether the same write is shown as the same kind of thing.
    pub fn is_same(&self, other: &Self) -> bool {
        self.version == other.version && self.content.kind == other.content.kind
    }
}

/// Something to be told.
#[derive(Debug)]
pub enum Piece {
    /// A name is bound like this.
    Change { name: Arc<str>, known: Option<Known> },
    /// What was bound at a name was moved to another.
    Move { from: Arc<str>, to: Arc<str>, known: Known },
}

/// The pieces, in their order.
#[derive(Debug, Default)]
pub struct News {
    pieces: VecDeque<Piece>,
    /// How many have been told.
    gone: u64,
    /// Of each name that waits, the number of the last piece of it.
    last: HashMap<Arc<str>, u64>,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.pieces.len() >= FULL
    }

    /// The names that wait.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.last.keys()
    }

    /// Whether a piece that waits is about a name.
    pub fn holds(&self, name: &str) -> bool {
        self.last.contains_key(name)
    }

    /// How a name is bound after the last piece that waits and is about it.
    pub fn latest(&self, name: &str) -> Option<&Known> {
        match self.piece(*self.last.get(name)?)? {
            Piece::Change { known, .. } => known.as_ref(),
            Piece::Move { to, known, .. } => (**to == *name).then_some(known),
        }
    }

    /// Appends a piece; where there are many it may take another's place.
    pub fn push(&mut self, piece: Piece) {
        if self.pieces.len() >= MANY
            && let Piece::Change { name, known } = &piece
            && let Some(number) = self.last.get(name)
            && let Some(Piece::Change { known: waiting, .. }) = self.piece_mut(*number)
        {
            waiting.clone_from(known);
            return;
        }
        let number = self.gone + self.pieces.len() as u64;
        for name in piece.names().into_iter().flatten() {
            self.last.insert(Arc::clone(name), number);
        }
        self.pieces.push_back(piece);
    }

    /// The first piece.
    pub fn pop(&mut self) -> Option<Piece> {
        let piece = self.pieces.pop_front()?;
        for name in piece.names().into_iter().flatten() {
            if self.last.get(name) == Some(&self.gone) {
                self.last.remove(name);
            }
        }
        self.gone += 1;
        Some(piece)
    }

    /// Puts what is left of the piece that came last in its place.
    pub fn put_back(&mut self, piece: Piece) {
        self.gone -= 1;
        for name in piece.names().into_iter().flatten() {
            self.last.entry(Arc::clone(name)).or_insert(self.gone);
        }
        self.pieces.push_front(piece);
    }

    fn piece(&self, number: u64) -> Option<&Piece> {
        self.pieces.get(usize::try_from(number.checked_sub(self.gone)?).ok()?)
    }

    fn piece_mut(&mut self, number: u64) -> Option<&mut Piece> {
        self.pieces.get_mut(usize::try_from(number.checked_sub(self.gone)?).ok()?)
    }
}

impl Piece {
    fn names(&self) -> [Option<&Arc<str>>; 2] {
        match self {
            Self::Change { name, .. } => [Some(name), None],
            Self::Move { from, to, .. } => [Some(from), Some(to)],
        }
    }
}
