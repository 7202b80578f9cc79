//! What one side takes from the other, at most.

/// The length of a frame's header in bytes.
pub const HEADER_LEN: usize = 16;

/// Limits on what is read from a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest body of a frame, in bytes.
    pub frame: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame: 4 << 20 }
    }
}
