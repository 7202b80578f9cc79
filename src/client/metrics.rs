//! What a client has counted of its servers, since it was made.

/// Numbers that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// How often a source was asked who the servers are.
    pub refreshes: u64,
    /// How often that gave no list, an empty one, or one that is silent on a family of addresses.
    pub failed_refreshes: u64,
    /// Targets that came: the first ones, too.
    pub joined: u64,
    /// Targets that no source lists any longer.
    pub drained: u64,
    /// How often an elected target was given up for another that was well, so that the load is even.
    pub moves: u64,
}
