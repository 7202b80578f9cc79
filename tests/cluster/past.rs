//! A node with data: whom it waits for, and whose cluster it is of.

use hanaming::cluster::membership::{Config, Input, Membership, Output, Past, Rules, Timing};
use hanaming::topology::{ClusterId, MemberState};

use crate::engine::{Bench, at, gossip, introduction, ms, refused};

fn past(members: &[u128], needs_others: bool) -> Past {
    let members = members.iter().map(|number| at(*number)).collect();
    Past { cluster_id: Some(ClusterId(7)), members, needs_others, may_be_known: false }
}

#[test]
fn a_node_with_data_waits_for_the_members_that_it_knew_and_then_serves_alone() {
    let (mut bench, outputs) = Bench::with_past(&[], past(&[1], false));
    assert_eq!(outputs, ["dial 1 10.0.0.1:11100"]);
    bench.not_opened(1, refused());
    let ready: Vec<String> = bench.tick_until(4000).into_iter().filter(|what| what.ends_with("ready")).collect();
    assert_eq!(ready, ["3000 ready"], "not before, and not later");
    assert!(bench.engine.introduction().firm, "its data makes it firm");
    assert_eq!(bench.engine.view().cluster_id(), Some(ClusterId(7)));
}

#[test]
fn a_member_that_was_known_and_answers_is_enough() {
    let (mut bench, _) = Bench::with_past(&[], past(&[1], false));
    bench.opened(1, introduction(1, Some(7), true));
    assert!(bench.answered(1, gossip(1, 7, &[5])).contains(&"ready".to_owned()));
    let (mut bench, _) = Bench::with_past(&[], past(&[1, 2], false));
    bench.opened(1, introduction(1, Some(7), true));
    assert!(!bench.answered(1, gossip(1, 7, &[5])).contains(&"ready".to_owned()), "the other one may be there too");
    assert!(bench.not_opened(2, refused()).contains(&"ready".to_owned()), "it is not, and so this node is not alone");
    let (mut bench, _) = Bench::with_past(&[], past(&[], false));
    assert!(bench.step(Input::Tick).is_empty() && bench.engine.state() == MemberState::Live, "who knew nobody waits for nobody");
}

/// An address may have got another owner: that is no reason not to serve.
#[test]
fn a_stranger_where_a_member_was_is_warned_of() {
    let (mut bench, _) = Bench::with_past(&[], past(&[1], false));
    let outputs = bench.opened(1, introduction(1, Some(8), true));
    assert!(outputs.iter().any(|output| output.contains("two clusters named 'c' met")), "{outputs:?}");
    assert!(bench.tick_until(4000).iter().any(|what| what.ends_with("ready")) || bench.engine.state() == MemberState::Live);
}

#[test]
fn who_gave_its_data_up_waits_for_others() {
    let (mut bench, _) = Bench::with_past(&[], past(&[1], true));
    bench.not_opened(1, refused());
    assert!(!bench.tick_until(20_000).iter().any(|what| what.ends_with("ready")));
    assert!(bench.engine.unready(bench.now).unwrap().contains("its data was given up"));
}

#[test]
fn a_node_whose_address_may_be_known_waits_to_be_dialled() {
    let config = |may_be_known| Config {
        member: introduction(5, None, false).member,
        cluster: "c".to_owned(),
        seeds: Vec::new(),
        past: Past { may_be_known, ..Past::default() },
        timing: Timing::default(),
        seed: 1,
        rules: Rules::ALL,
    };
    let ready_after = |may_be_known| {
        let mut engine = Membership::new(ms(0), config(may_be_known));
        let mut is_ready = engine.step(ms(0), Input::HasTree).contains(&Output::Ready);
        (0..3000).step_by(100).find(|at| {
            is_ready |= engine.step(ms(*at), Input::Tick).contains(&Output::Ready);
            is_ready
        })
    };
    assert_eq!((ready_after(false), ready_after(true)), (Some(0), Some(700)));
}
