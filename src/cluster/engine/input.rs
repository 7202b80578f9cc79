//! What happens to an engine, and what it wants done.

use std::collections::BTreeSet;

use crate::cluster::message::Message;
use crate::cluster::projection::Change;
use crate::cluster::reply::Reply;
use crate::cluster::request::Request;
use crate::cluster::store::Transaction;
use crate::cluster::vector::Seen;
use crate::protocol::OperationId;
use crate::topology::NodeId;

pub use super::status::OperationStatus;

/// What happens to an engine. Where somebody asks, `asker` is the driver's handle of who, and is handed back with the
/// answer.
#[derive(Clone, Debug)]
pub enum Input {
    /// A client asks for a change. Answered by [`Output::Answer`].
    Request {
        /// Who.
        asker: u64,
        /// For what.
        request: Request,
    },
    /// A client wants to read, no earlier state than it has seen. Answered by [`Output::Readable`].
    Read {
        /// Who.
        asker: u64,
        /// What it has seen.
        token: Seen,
    },
    /// Somebody asks what became of an operation. Answered by [`Output::Status`].
    Status {
        /// Who.
        asker: u64,
        /// The operation.
        operation: OperationId,
    },
    /// A peer says something.
    Message {
        /// The peer.
        from: NodeId,
        /// What it says.
        message: Message,
    },
    /// The members changed. A member that is forgotten is one that is no longer named.
    Members(Members),
    /// The way on which a peer's engine spoke has broken off.
    Disconnected {
        /// The peer.
        peer: NodeId,
    },
    /// The way to a peer is open again after it was not: what was sent meanwhile may be lost.
    Reconnected {
        /// The peer.
        peer: NodeId,
    },
    /// The node is to leave: what is new is refused, and [`Output::HandedOver`] tells when nothing is left to do.
    Quiesce,
    /// The node can store again what it could not for a while, in which the engine was given nothing.
    Resumed,
    /// Time has passed: [`Engine::next_wake`](super::Engine::next_wake) was reached.
    Tick,
}

/// The members of the cluster, by their incarnations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Those that serve: they own names and their acknowledgements count. This node among them, once it serves.
    pub live: BTreeSet<NodeId>,
    /// Those that join or leave: they are sent every write, and neither own names nor are waited for.
    pub guests: BTreeSet<NodeId>,
    /// All that are known, dead ones too, who may come back with what they hold; joining ones are not counted yet.
    pub all: BTreeSet<NodeId>,
}

/// What an engine wants done, once its transaction is durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Tell a peer.
    Send {
        /// The peer.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// Answer a client.
    Answer {
        /// Who asked.
        asker: u64,
        /// What is answered.
        reply: Reply,
        /// The client's token from now on; `None` where it has seen all that this node has.
        token: Option<Seen>,
    },
    /// A client may read what this node shows, or (not current) is ahead of it.
    Readable {
        /// Who asked.
        asker: u64,
        /// Whether this node has seen what the client has.
        is_current: bool,
    },
    /// What became of an operation.
    Status {
        /// Who asked.
        asker: u64,
        /// What is known.
        status: OperationStatus,
    },
    /// The first sync is through: this node may serve.
    Ready,
    /// This node came back below a peer's floor: it serves nobody until it is ready again.
    NotReady,
    /// All that this node wrote is held by the others, or nobody is there: it may go.
    HandedOver,
    /// So many of this node's leases are overdue and held all the same, since they are too many at once; none is when
    /// that is over.
    LeasesHeld {
        /// How many.
        overdue: usize,
        /// Of how many.
        all: usize,
    },
}

/// What a step led to.
#[derive(Debug, Default)]
pub struct Step {
    /// To be made durable first.
    pub transaction: Transaction,
    /// What this node has seen then, where that is more than before.
    pub seen: Option<Seen>,
    /// The tree's digest then.
    pub digest: u64,
    /// At how many names versions disagree then.
    pub conflicts: usize,
    /// To be shown to readers then, in order and as one; it is in the names' order, contexts before what they hold.
    pub changes: Vec<Change>,
    /// To be done then, in order.
    pub outputs: Vec<Output>,
}
