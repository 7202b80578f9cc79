//! Whom a node answers in which phase of its life, and what clients are told of others'.

use std::sync::Arc;

use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{
    Answer, Channel, FrameKind, Gossip, Limits, Operation, RefusalReason, Reply, Request, Scope, decode_body,
};
use hanaming::server::bulletin::Bulletin;
use hanaming::server::connection::Caller;
use hanaming::server::core::{Phase, PhaseCell};
use hanaming::topology::{Endpoint, Member, MemberState, NodeId, View};

use crate::raw::lookup;
use crate::world::{World, request};

const PEER: Caller = Caller::Peer(NodeId(1), Channel::Data);

fn gossip(world: &World) -> Operation {
    let introduction = world.cores[0].peers.introduction();
    Operation::Gossip(Gossip {
        speaker: introduction.member.id,
        edition: 1,
        introduction: Some(Box::new(introduction)),
        has: None,
        beheld: 0,
        sees_you: true,
        leaving: false,
        settled: true,
        packets: Vec::new(),
    })
}

#[track_caller]
fn refusal(world: &World, caller: Caller, request: &Request) -> Option<RefusalReason> {
    match world.cores[0].answer_now(caller, request) {
        Some(Reply::Failed(fault)) => {
            let refusal = fault.refusal?;
            let kind = ErrorKind::from_code(fault.code);
            let closed = refusal.reason == RefusalReason::Closed;
            assert_eq!(kind, if closed { ErrorKind::ContextClosed } else { ErrorKind::ServiceUnavailable });
            assert_eq!((fault.completion, refusal.view.is_some()), (CompletionStatus::No, !closed));
            assert!(refusal.retry_after > 0);
            Some(refusal.reason)
        }
        _ => None,
    }
}

#[tokio::test]
async fn clients_are_refused_by_phase_and_peers_are_not() {
    let all = [
        (Phase::Serving, None),
        (Phase::Quiescing, Some(RefusalReason::Quiescing)),
        (Phase::Closed, Some(RefusalReason::Closed)),
    ];
    let world = World::new(1);
    world.bind(0, "a", "x");
    for (phase, expected) in all {
        world.cores[0].phase.advance(phase);
        for scope in [Scope::Cluster, Scope::Local] {
            for caller in [Caller::Client, Caller::InProcess] {
                assert_eq!(refusal(&world, caller, &request(scope, lookup("a"))), expected, "{phase:?}");
            }
        }
        let closed = expected.filter(|reason| *reason == RefusalReason::Closed);
        for asked in [request(Scope::Peer, lookup("a")), request(Scope::Peer, gossip(&world))] {
            assert_eq!(refusal(&world, PEER, &asked), closed, "{phase:?}");
        }
        // People may look at a node in any phase, and end what has begun.
        for operation in [Operation::Status, Operation::Quiesce] {
            assert_eq!(refusal(&world, Caller::Client, &request(Scope::Cluster, operation)), closed, "{phase:?}");
        }
    }
}

#[tokio::test]
async fn a_joining_node_answers_peers_only() {
    let world = World::joining();
    world.bind(0, "a", "x");
    let asked = request(Scope::Cluster, lookup("a"));
    assert_eq!(refusal(&world, Caller::Client, &asked), Some(RefusalReason::Joining));
    let reply = world.cores[0].answer_now(PEER, &request(Scope::Peer, lookup("a")));
    assert!(matches!(reply, Some(Reply::Done(Answer::Found(_)))), "{reply:?}");
}

#[tokio::test]
async fn only_nodes_may_ask_as_nodes() {
    let world = World::new(1);
    for caller in [Caller::Client, Caller::InProcess] {
        for asked in [request(Scope::Peer, lookup("a")), request(Scope::Cluster, gossip(&world))] {
            let Some(Reply::Failed(fault)) = world.cores[0].answer_now(caller, &asked) else { panic!("answered") };
            assert_eq!(ErrorKind::from_code(fault.code), ErrorKind::OperationNotSupported);
        }
    }
}

#[test]
fn a_life_goes_forward_only() {
    let cell = PhaseCell::default();
    assert_eq!(cell.get(), Phase::Joining);
    assert!(cell.advance(Phase::Quiescing));
    assert!(!cell.advance(Phase::Serving) && !cell.advance(Phase::Quiescing));
    assert_eq!(cell.get(), Phase::Quiescing);
    assert!(cell.advance(Phase::Closed));
}

#[test]
fn clients_are_not_given_nodes_that_are_joining() {
    let member =
        |name: &str, id, state| Member { name: name.to_owned(), id: NodeId(id), endpoint: Endpoint::new(name, 1), state };
    let members = vec![
        member("live", 1, MemberState::Live),
        member("joining", 2, MemberState::Joining),
        member("quiescing", 3, MemberState::Quiescing),
    ];
    let view = Arc::new(View::new("c", None, members));
    let bulletin = Bulletin::new(Arc::clone(&view), NodeId(1), false, Limits::default());
    let names = |view: &View| view.members().iter().map(|m| m.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&bulletin.for_clients), ["live", "quiescing"]);
    assert_eq!(bulletin.peers.iter().map(|p| &*p.name).collect::<Vec<_>>(), ["joining", "quiescing"]);
    assert_eq!((bulletin.live(), bulletin.members()), (1, 3));
    let pushed: View = decode_body(FrameKind::View, &bulletin.frame[16..]).unwrap();
    assert_eq!(pushed, bulletin.for_clients);
}
