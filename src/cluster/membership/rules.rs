//! The rules of membership, each of which the simulation leaves out once to show that it would notice.
//!
//! A server runs with [`Rules::ALL`]; `without` exists for the simulation alone.

/// One rule. The doc of each says what happens without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// A tick that comes late discards evidence of silence; otherwise it counts, and a node that slept buries the others.
    LateDiscards,
    /// A redial refused twice is a death; otherwise only silence is.
    RefusedTwiceDies,
    /// Whoever answers at a member's address has taken its place; otherwise both are members until the old one is found silent.
    ReplacedDies,
    /// A member that is silent here and suspected is dead; otherwise when its time to deny it is over.
    SilentNeedsVouching,
    /// A member that this node can't reach leaves its view; otherwise it stays as long as others reach it.
    UnreachedLeaves,
    /// Who is called dead and speaks is told at once; otherwise it hears of it when the dead are sought out.
    DeadAreGreeted,
    /// The dead are dialled on; otherwise only seeds are.
    DeadAreDialled,
    /// Who says that it leaves is removed at once; otherwise when it is found dead.
    LeavingIsTold,
}

/// A set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// All of them.
    pub const ALL: Self = Self(u16::MAX);

    /// Whether the rule is in force.
    pub const fn hold(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// All but one more. For the simulation.
    #[doc(hidden)]
    #[must_use]
    pub const fn without(self, rule: Rule) -> Self {
        Self(self.0 & !(1 << rule as u8))
    }
}
