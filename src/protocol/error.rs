//! What can be wrong with bytes from the other side. Each ends its connection and nothing else.

/// A malformed or unwelcome frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The header announces more than the limit; nothing was allocated for it.
    #[error("a frame of {length} bytes is over the limit of {limit}")]
    TooLong {
        /// What the header announced, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The header's protocol version is none that this side speaks.
    #[error("protocol version {0} is not spoken here; is this a hanaming port?")]
    Version(u8),
    /// The header's kind is unknown.
    #[error("frame kind {0} is unknown")]
    Kind(u8),
    /// The first frame was no hello, or its magic number is another.
    #[error("the other side does not speak hanaming's protocol")]
    NotHanaming,
    /// A frame that has no place at this point of the connection.
    #[error("a {0} frame is out of place here")]
    OutOfPlace(&'static str),
    /// A body that can't be read.
    #[error("the body of a {0} frame can't be read")]
    Body(&'static str),
    /// A message of our own is over the limit of frames.
    #[error("a message of {length} bytes does not fit a frame of {limit}")]
    MessageTooLong {
        /// The message's length, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
}
