//! What the membership engine is told, and what it wants done.

use crate::protocol::{Fault, Gossip, Introduction};
use crate::topology::{Endpoint, View};

/// One connection for control frames that this node dialled. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed: due every [`Timing::tick`](super::Timing::tick).
    Tick,
    /// A seed's host name has these addresses; none where it could not be resolved.
    Resolved {
        /// The seed as it was given.
        seed: Endpoint,
        /// Where it may be met.
        addresses: Vec<Endpoint>,
    },
    /// A link was opened: the other side welcomed us.
    Opened {
        /// Which.
        link: LinkId,
        /// Who answered.
        introduction: Introduction,
    },
    /// A link could not be opened.
    NotOpened {
        /// Which.
        link: LinkId,
        /// Why.
        failure: DialFailure,
    },
    /// A link that was open has ended.
    Lost {
        /// Which.
        link: LinkId,
    },
    /// Gossip sent on a link was answered.
    Answered {
        /// On which link.
        link: LinkId,
        /// The answer.
        gossip: Gossip,
    },
    /// The node has the cluster tree: what it waited for beside the members is there.
    HasTree,
    /// The node refuses clients from now on.
    Quiesce,
    /// The node leaves now.
    Leave,
}

/// Why a link could not be opened.
#[derive(Clone, Debug)]
pub enum DialFailure {
    /// Nobody listens there: what was there is gone.
    Refused,
    /// The other side is there and does not want us.
    Rejected(Box<Fault>),
    /// Silence, no way, or something that isn't a node.
    Unreachable,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Look up a seed's host name; answered by [`Input::Resolved`].
    Resolve {
        /// The seed.
        seed: Endpoint,
    },
    /// Open a link; answered by [`Input::Opened`] or [`Input::NotOpened`].
    Dial {
        /// Under this id.
        link: LinkId,
        /// To there.
        to: Endpoint,
    },
    /// Send gossip; an answer is [`Input::Answered`], and no answer is nothing.
    Gossip {
        /// On this link.
        link: LinkId,
        /// What is said.
        gossip: Gossip,
    },
    /// End a link. Nothing more is told of it.
    Close {
        /// Which.
        link: LinkId,
    },
    /// The members have changed.
    View(View),
    /// All whom the node should know are met: it may copy the cluster tree from them.
    Met,
    /// The node serves from now on.
    Ready,
    /// The node cannot join: all that it met refuse it.
    Failed(Fault),
    /// Something that a person should read, told once.
    Warned(String),
}
