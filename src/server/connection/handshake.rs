//! The first frame of a connection: who dials, and whether that is welcome.

use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Channel, Fault, Frame, Hello, PROTOCOL_VERSION, ProtocolError, RefusalReason, Role, Welcome};

use crate::server::core::{Core, Phase};
use crate::server::load::Share;
use crate::topology::NodeId;

/// As what the other side was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A client over the network.
    Client,
    /// Another node, and what it uses the connection for.
    Peer(NodeId, Channel),
    /// Somebody in this process.
    InProcess,
}

/// What a hello led to.
#[derive(Debug)]
pub struct Taken {
    /// As what the other side was taken.
    pub caller: Caller,
    /// What it is answered.
    pub welcome: Welcome,
    /// A client's place among the connections.
    pub place: Option<Share>,
}

/// Judges the first frame. A frame that is no hello is a protocol error: nothing is answered to a program that speaks
/// something else. A hello that is not welcome is told why.
pub fn judge(core: &Core, frame: &Frame) -> Result<Result<Taken, Fault>, ProtocolError> {
    let hello = Hello::decode(frame)?;
    Ok(check(core, &hello))
}

fn check(core: &Core, hello: &Hello) -> Result<Taken, Fault> {
    let version = hello.choose_version().map_err(|_| {
        wrong(format!(
            "this node speaks version {PROTOCOL_VERSION} of the protocol, the other side {} to {}; update the older one",
            hello.lowest, hello.highest
        ))
    })?;
    let introduction = core.peers.introduction();
    if let Some(wanted) = &hello.cluster
        && *wanted != introduction.cluster
    {
        return Err(wrong(format!(
            "node {} belongs to the cluster '{}', not to '{wanted}'; give the right cluster or another address",
            core.name, introduction.cluster
        )));
    }
    let bulletin = core.bulletin();
    let (caller, view, place) = match &hello.role {
        Role::Client { .. } => {
            if core.phase.get() == Phase::Closed {
                return Err(core.refused(RefusalReason::Closed));
            }
            let place = core.load.clients.take(1, core.limits.connections);
            let place = place.ok_or_else(|| core.refused(RefusalReason::Overloaded))?;
            (Caller::Client, bulletin.for_clients.clone(), Some(place))
        }
        Role::Peer { introduction, channel } => {
            core.peers.admit(introduction)?;
            (Caller::Peer(introduction.member.id, *channel), (*bulletin.view).clone(), None)
        }
    };
    // No feature is defined yet, so none is taken.
    Ok(Taken { caller, welcome: Welcome { version, features: 0, introduction, view }, place })
}

fn wrong(message: String) -> Fault {
    Fault::new(ErrorKind::Configuration, CompletionStatus::No, message)
}
