//! Who leaves says so, and is gone at once.

use hanaming::cluster::membership::{Input, LinkId, Output};
use hanaming::protocol::Gossip;

use crate::engine::{Bench, gossip, introduction, refused};

#[test]
fn leaving_takes_effect_at_once_and_late_gossip_brings_nobody_back() {
    let mut bench = Bench::with_n1();
    assert_eq!(
        bench.heard(Gossip { leaving: true, ..gossip(1, 1, &[5]) }),
        ["close 1", "dial 2 10.0.0.1:11100", "view 1: n5 live"],
        "a seed is dialled on"
    );
    bench.not_opened(2, refused());
    assert_eq!(bench.heard(gossip(2, 1, &[1, 5])), ["dial 3 10.0.0.2:11100"]);
    assert_eq!(bench.heard(gossip(1, 1, &[5])), Vec::<String>::new());
    assert_eq!(bench.opened(3, introduction(1, Some(1), false)), ["close 3"]);
}

#[test]
fn quiescing_and_leaving_are_told_to_all_at_once() {
    let mut bench = Bench::with_n1();
    assert_eq!(bench.step(Input::Quiesce), ["view 1: n1 live, n5 quiescing", "gossip 1"]);
    assert_eq!(bench.step(Input::Quiesce), Vec::<String>::new());
    let outputs = bench.engine.step(bench.now, Input::Leave);
    let [Output::Gossip { link: LinkId(1), gossip }] = &outputs[..] else { panic!("{outputs:?}") };
    assert!(gossip.leaving);
    assert!(bench.engine.answer(bench.now, crate::engine::gossip(1, 1, &[5])).0.leaving);
}
