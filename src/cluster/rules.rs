//! The rules of replication, each of which the simulation leaves out once to show that it would notice.
//!
//! Every rule stands where it is applied as `if rules.hold(Rule::…)`, in the engines or (what is durable before it is
//! sent, and what a backup holds) in the simulation's driver. A server runs with [`Rules::ALL`] and has no way
//! to choose otherwise: `without` exists for the simulation alone.

/// One rule. The doc of each says what happens without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// A peer's vector is joined after all records of its session; otherwise with the first of them.
    VectorAfterRecords,
    /// Parts of different answers to one request are told apart; otherwise they are taken for one.
    AnswersNotMixed,
    /// Deltas only to who has seen all that was purged; otherwise to everybody.
    DeltaWithinFloor,
    /// A full sync drops what the sender has seen and lacks; otherwise it only adds.
    FullSyncDrops,
    /// A dot is never used twice; otherwise data from a backup goes on as the actor it was.
    DotsUsedOnce,
    /// A full sync is applied in one transaction; otherwise record by record.
    FullSyncAtomic,
    /// The receiver of a full sync takes over the sender's floor; otherwise it keeps its own.
    FloorTakenOver,
    /// A write covers what was purged before it; otherwise only what it replaced.
    CoverageOnWrites,
    /// What is sent is durable first; otherwise it leaves at once.
    DurableBeforeSent,
    /// A node that is behind a client's token catches up or refuses; otherwise it answers.
    TokenChecked,
    /// After a freeze nobody is served before a peer has told what was missed; otherwise at once.
    FrozenCatchesUp,
    /// Every execution looks up its operation id; otherwise only what is marked as a retry does.
    EveryExecutionChecks,
    /// A retry asks the live peers what they know of its operation; otherwise only this node's memory counts.
    RetryAsksPeers,
    /// An operation that may have been forgotten is not run; otherwise it is.
    ForgottenRefused,
    /// An id that comes with other arguments is an error; otherwise it is answered as what it was used for before.
    DigestChecked,
    /// That a repeated request came to nothing is written, and known everywhere before it is said; otherwise a copy of the
    /// request that was held up does later what could not be done then.
    NothingRemembered,
    /// A repetition whose twin was superseded is voided; otherwise it stays.
    RepetitionsVoided,
    /// A peer that misses a write's time is not waited for; otherwise every write waits until it has left.
    LaggingNotWaitedFor,
    /// An owner that does not answer in time lags: its silence was waited for; otherwise it is waited for again by each.
    SilentOwnerLags,
    /// A retry stays with the node that it is sent to, which waits for a silent owner only a moment; otherwise the owner is
    /// asked first, and its silence waited for again.
    RetryStays,
    /// A peer whose connection broke lags at once; otherwise when a write has waited for it.
    BrokenLags,
    /// A lagging peer is still sent every write; otherwise it is left to anti-entropy.
    LaggingSentTo,
    /// A write that too few nodes can hold or do hold is not called done; otherwise it is.
    MinReplicas,
    /// A bind is offered to lagging members too; otherwise only to the others.
    CreateToLagging,
    /// Who knows that a bind's operation took effect says so; otherwise it is treated like any other bind.
    KnownAnswered,
    /// Of two binds under way the one created first wins; otherwise each objects to the other.
    FirstCreatedWins,
    /// After an objection, or meeting a bind that is not settled, a bind looks again; otherwise it calls the name taken.
    LooksAgain,
    /// A bind that was objected to is withdrawn; otherwise it stays.
    Withdraws,
    /// What is settled is not withdrawn by late answers to its offer; otherwise it is where it is just sent again.
    SettledStays,
    /// A bind that not all hold in time needs a majority of all members; otherwise time is enough.
    MajorityCommits,
    /// A retry makes its version beside the one that it finds under way; otherwise it adopts that as done.
    RetryBeside,
    /// A version is withdrawn by its coordinator alone; otherwise a retry supersedes the one that it finds.
    CoordinatorWithdraws,
    /// What nobody goes on with is settled by the owner of its name; otherwise it is under way for ever.
    OrphansAdopted,
    /// A version made beside another of its operation is as old as that one; otherwise as young as it is.
    SameCreation,
    /// After a freeze, acknowledgements of binds are dropped and gathered again; otherwise they count.
    FrozenDistrusts,
    /// A bind is offered again to a live peer that has not answered in time; otherwise an answer that was lost is waited
    /// for without end.
    OfferedAgain,
    /// What one event wrote at several names travels together; otherwise each name by itself.
    WholeEvents,
    /// A rename that is withdrawn puts back what it moved; otherwise that is gone.
    MovedPutBack,
    /// A context with names in it is not removed or replaced; otherwise it is.
    EmptinessChecked,
    /// The cluster tree grows to its quotas; otherwise without end.
    QuotasChecked,
    /// Nobody is served before the first sync; otherwise from what is there.
    ReadyFirst,
    /// A node waits for somebody from whom it was to copy the tree and who is gone; otherwise it serves without a tree.
    LostOnesAwaited,
    /// A node that leaves waits until the others have its writes; otherwise it goes at once.
    HandsOver,
    /// A lease is let go by the owner of its name alone; otherwise by everybody.
    OwnerExpires,
    /// Where many leases would go at once they are held; otherwise they go.
    ManyLeasesHeld,
    /// After a freeze and in a new view leases begin anew; otherwise silence counts.
    LeasesBeginAnew,
    /// A peer that was heard to have seen more is asked for that at the next beat; otherwise it's found by chance.
    AheadAsked,
    /// A pull that is being answered is not begun anew; otherwise each reason for one begins one.
    PullsAwaited,
}

/// A set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u64);

impl Rules {
    /// All of them.
    pub const ALL: Self = Self(u64::MAX);

    /// Whether the rule is in force.
    pub const fn hold(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// All but one more. For the simulation.
    #[doc(hidden)]
    pub const fn without(self, rule: Rule) -> Self {
        Self(self.0 & !(1 << rule as u8))
    }
}
