//! The engine by itself: events and their exact outputs.

use std::time::Duration;

use hanaming::cluster::membership::{Config, DialFailure, Input, LinkId, Membership, Output, Past, Rules, Timing};
use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Fault, Gossip, Introduction};
use hanaming::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};

pub fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub fn at(number: u128) -> Endpoint {
    Endpoint::new(format!("10.0.0.{number}"), 11100)
}

/// Node `n<number>` in its incarnation of the same number.
fn member(number: u128, state: MemberState) -> Member {
    Member { name: format!("n{number}"), id: NodeId(number), endpoint: at(number), state }
}

pub fn introduction(number: u128, id: Option<u128>, firm: bool) -> Introduction {
    let member = member(number, MemberState::Live);
    Introduction { member, cluster: "c".to_owned(), cluster_id: id.map(ClusterId), firm }
}

/// What node `number` of the cluster with that id says when it knows `members`.
pub fn gossip(number: u128, id: u128, members: &[u128]) -> Gossip {
    said(introduction(number, Some(id), false), members)
}

/// What a node says that introduces itself so.
fn said(introduction: Introduction, members: &[u128]) -> Gossip {
    let speaker = introduction.member.id;
    Gossip {
        speaker,
        edition: 1,
        introduction: Some(Box::new(introduction)),
        has: None,
        beheld: beheld(members) ^ beheld(&[speaker.0]),
        sees_you: members.contains(&5),
        leaving: false,
        settled: false,
        packets: Vec::new(),
    }
}

/// The number that nodes give for these members.
fn beheld(members: &[u128]) -> u64 {
    let of = |id: &u128| {
        let hash = id
            .to_le_bytes()
            .into_iter()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        hash ^ (hash >> 33)
    };
    members.iter().map(of).fold(0, |all, one| all ^ one)
}

/// A view in short: `7: n1 live, n2 joining`.
fn shown(view: &View) -> String {
    let members: Vec<String> = view.members().iter().map(|m| format!("{} {}", m.name, m.state.as_str())).collect();
    let id = view.cluster_id().map_or_else(|| "-".to_owned(), |id| id.0.to_string());
    format!("{id}: {}", members.join(", "))
}

/// Outputs in short, to be compared as text.
fn told(outputs: Vec<Output>) -> Vec<String> {
    let line = |output| match output {
        Output::Resolve { seed } => format!("resolve {seed}"),
        Output::Dial { link, to } => format!("dial {} {to}", link.0),
        Output::Gossip { link, .. } => format!("gossip {}", link.0),
        Output::Close { link } => format!("close {}", link.0),
        Output::View(view) => format!("view {}", shown(&view)),
        Output::Met => "met".to_owned(),
        Output::Ready => "ready".to_owned(),
        Output::Failed(fault) => format!("failed {}", fault.message),
        Output::Warned(text) => format!("warned {text}"),
    };
    // The tree is there from the beginning, so that whoever has met all is ready in the same moment.
    outputs.into_iter().map(line).filter(|line| line != "met").collect()
}

/// One engine, and the links that it has.
pub struct Bench {
    pub engine: Membership,
    pub now: Duration,
}

impl Bench {
    /// Node `n5` with these seeds, after its first tick.
    fn new(seeds: &[Endpoint]) -> (Self, Vec<String>) {
        Self::with_past(seeds, Past::default())
    }

    pub fn with_past(seeds: &[Endpoint], past: Past) -> (Self, Vec<String>) {
        let config = Config {
            member: member(5, MemberState::Live),
            cluster: "c".to_owned(),
            seeds: seeds.to_vec(),
            past,
            timing: Timing::default(),
            seed: 1,
            rules: Rules::ALL,
        };
        let mut bench = Self { engine: Membership::new(Duration::ZERO, config), now: Duration::ZERO };
        let mut outputs = bench.step(Input::HasTree);
        outputs.extend(bench.step(Input::Tick));
        (bench, outputs)
    }

    /// Node `n5` in a cluster of id 1 with `n1`, linked by link 1.
    pub fn with_n1() -> Self {
        let (mut bench, outputs) = Self::new(&[at(1)]);
        assert_eq!(outputs, ["dial 1 10.0.0.1:11100"]);
        assert_eq!(bench.opened(1, introduction(1, Some(1), false)), ["view 1: n1 live, n5 joining", "gossip 1"]);
        assert_eq!(bench.answered(1, gossip(1, 1, &[5])), ["ready", "view 1: n1 live, n5 live", "gossip 1"]);
        bench
    }

    pub fn step(&mut self, input: Input) -> Vec<String> {
        told(self.engine.step(self.now, input))
    }

    pub fn opened(&mut self, link: u64, introduction: Introduction) -> Vec<String> {
        self.step(Input::Opened { link: LinkId(link), introduction })
    }

    pub fn not_opened(&mut self, link: u64, failure: DialFailure) -> Vec<String> {
        self.step(Input::NotOpened { link: LinkId(link), failure })
    }

    pub fn answered(&mut self, link: u64, gossip: Gossip) -> Vec<String> {
        self.step(Input::Answered { link: LinkId(link), gossip })
    }

    pub fn heard(&mut self, gossip: Gossip) -> Vec<String> {
        told(self.engine.answer(self.now, gossip).1)
    }

    fn admit(&mut self, introduction: &Introduction) -> (Result<(), Fault>, Vec<String>) {
        let (admitted, outputs) = self.engine.admit(self.now, introduction);
        (admitted, told(outputs))
    }

    /// Ticks in time until `end`; gives what happened, each with its time in milliseconds.
    pub fn tick_until(&mut self, end: u64) -> Vec<String> {
        let mut happened = Vec::new();
        while self.now < ms(end) {
            self.now += Timing::default().tick;
            let outputs = self.step(Input::Tick);
            happened.extend(outputs.into_iter().map(|output| format!("{} {output}", self.now.as_millis())));
        }
        happened
    }

    fn view(&self) -> String {
        shown(self.engine.view())
    }
}

pub fn refused() -> DialFailure {
    DialFailure::Refused
}

#[test]
fn without_seeds_a_node_is_a_cluster_at_once() {
    let (bench, outputs) = Bench::new(&[]);
    assert_eq!(outputs, ["ready", "view 5: n5 live"]);
    assert!(!bench.engine.introduction().firm);
    let (_, outputs) = Bench::new(&[at(5)]);
    assert_eq!(outputs, ["ready", "view 5: n5 live"], "its own address is no seed");
}

#[test]
fn a_node_whose_only_seed_turns_out_to_be_itself_is_a_cluster_at_once() {
    let (mut bench, outputs) = Bench::new(&[Endpoint::new("127.0.0.1", 11100)]);
    assert_eq!(outputs, ["dial 1 127.0.0.1:11100"]);
    let itself = Introduction { member: member(5, MemberState::Joining), ..introduction(5, None, false) };
    assert_eq!(bench.opened(1, itself), ["close 1", "ready", "view 5: n5 live"]);
    assert_eq!(bench.tick_until(3000), Vec::<String>::new());
}

#[test]
fn refusing_seeds_are_dialled_on_and_after_three_seconds_a_cluster_is_founded() {
    let (mut bench, outputs) = Bench::new(&[at(1)]);
    assert_eq!(outputs, ["dial 1 10.0.0.1:11100"]);
    let mut happened = Vec::new();
    for link in 1..=8 {
        assert_eq!(bench.not_opened(link, refused()), Vec::<String>::new());
        happened.extend(bench.tick_until(500 * link));
    }
    let alone = "seed 10.0.0.1:11100 has never answered: until it does this node is a cluster of its own";
    let warned = format!("3000 warned {alone}");
    let founded = ["3000 ready", warned.as_str(), "3000 dial 7 10.0.0.1:11100", "3000 view 5: n5 live"];
    let dials = |links: std::ops::Range<u64>| links.map(|link| format!("{} dial {link} 10.0.0.1:11100", 500 * (link - 1)));
    let expected: Vec<String> = dials(2..7).chain(founded.map(str::to_owned)).chain(dials(8..10)).collect();
    assert_eq!(happened, expected);
    assert_eq!(bench.engine.warnings(), [alone]);
    assert!(!bench.engine.introduction().firm);
    // Provisional, it gives way to whoever is met later.
    let outputs = bench.opened(9, introduction(1, Some(9), true));
    assert_eq!(outputs, ["view 9: n1 live, n5 live", "gossip 9"]);
    assert_eq!(bench.engine.warnings(), Vec::<String>::new());
    assert!(bench.engine.introduction().firm);
}

#[test]
fn seeds_are_dialled_at_the_same_pace_for_two_minutes_and_lost_members_for_four_seconds() {
    let mut bench = Bench::with_n1();
    bench.heard(gossip(2, 1, &[]));
    bench.opened(2, introduction(2, Some(1), false));
    bench.step(Input::Lost { link: LinkId(1) });
    bench.step(Input::Lost { link: LinkId(2) });
    let mut dials: [Vec<u64>; 2] = Default::default();
    let mut last_link = 2;
    while bench.now < ms(140_000) {
        let mut links = vec![last_link + 1, last_link + 2];
        while let Some(link) = links.pop() {
            bench.not_opened(link, refused());
        }
        for line in bench.tick_until(u64::try_from(bench.now.as_millis()).unwrap() + 100) {
            let Some((time, address)) = line.split_once(" dial ") else { continue };
            let (link, address) = address.split_once(' ').unwrap();
            last_link = last_link.max(link.parse().unwrap());
            dials[usize::from(address.starts_with("10.0.0.2"))].push(time.parse().unwrap());
            bench.not_opened(link.parse().unwrap(), refused());
        }
    }
    let pauses = |dials: &[u64]| dials.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    let [seed, member] = dials.map(|dials| pauses(&dials));
    assert!(seed[..230].iter().all(|pause| *pause == 500), "{seed:?}");
    assert_eq!(seed.last(), Some(&1000));
    assert!(member[..6].iter().all(|pause| *pause == 500), "{member:?}");
    assert_eq!(member.last(), Some(&2000));
}

#[test]
fn blank_nodes_take_what_the_lowest_name_proposes() {
    for (other, id) in [(1, 1), (9, 5)] {
        let (mut bench, _) = Bench::new(&[at(other)]);
        let outputs = bench.opened(1, introduction(other, None, false));
        assert!(outputs[0].starts_with(&format!("view {id}: ")), "{outputs:?}");
    }
}

#[test]
fn provisional_clusters_unite_under_the_lower_id() {
    let mut bench = Bench::with_n1();
    assert_eq!(bench.answered(1, gossip(1, 9, &[5])), Vec::<String>::new(), "theirs is higher: they give way");
    assert_eq!(bench.engine.introduction().cluster_id, Some(ClusterId(1)));
    assert_eq!(bench.answered(1, gossip(1, 0, &[5])), ["view 0: n1 live, n5 live", "gossip 1"]);
}

#[test]
fn an_id_is_firm_when_all_members_are_settled_and_met() {
    let mut bench = Bench::with_n1();
    let settled = |members: &[u128]| Gossip { settled: true, ..gossip(1, 1, members) };
    bench.answered(1, settled(&[5, 7]));
    assert!(!bench.engine.introduction().firm, "n7 is not met");
    bench.answered(1, gossip(1, 1, &[5]));
    assert!(!bench.engine.introduction().firm, "n1 is not settled");
    bench.answered(1, settled(&[]));
    assert!(!bench.engine.introduction().firm, "n1 has not met this node");
    assert_eq!(bench.answered(1, settled(&[5])), ["gossip 1"]);
    assert!(bench.engine.introduction().firm);
}

#[test]
fn an_id_is_firm_in_the_end_even_where_a_seed_is_never_met() {
    let mut bench = Bench::with_n1();
    for second in 1..=30 {
        assert!(!bench.engine.introduction().firm, "after {second} s");
        for part in 0..5 {
            bench.tick_until(second * 1000 - 800 + part * 200);
            bench.answered(1, gossip(1, 1, &[5]));
        }
    }
    bench.tick_until(30_100);
    assert!(bench.engine.introduction().firm);
}

#[test]
fn a_link_that_rests_is_asked_twice_a_second_and_who_is_silent_and_vouched_for_by_nobody_is_dead() {
    let mut bench = Bench::with_n1();
    let asked = ["500 gossip 1", "1000 gossip 1"];
    let silent = ["1500 close 1", "1500 dial 2 10.0.0.1:11100", "1500 view 1: n5 live"];
    assert_eq!(bench.tick_until(1500), [&asked[..], &silent[..]].concat());
}

#[test]
fn only_answers_are_signs_of_life() {
    let mut bench = Bench::with_n1();
    bench.tick_until(1000);
    bench.answered(1, gossip(1, 1, &[5]));
    bench.tick_until(2000);
    // It is heard, but it does not hear us.
    assert_eq!(bench.heard(gossip(1, 1, &[5])), Vec::<String>::new());
    bench.tick_until(2400);
    assert_eq!(bench.view(), "1: n1 live, n5 live");
    bench.tick_until(2500);
    assert_eq!(bench.view(), "1: n5 live");
}

#[test]
fn a_late_tick_discards_evidence_of_silence() {
    for (late, members) in [(250, "1: n5 live"), (251, "1: n1 live, n5 live")] {
        let mut bench = Bench::with_n1();
        bench.tick_until(1400);
        bench.now += ms(100 + late);
        bench.step(Input::Tick);
        assert_eq!(bench.view(), members, "{late} ms late");
        // From then on time counts again.
        let death = bench.now.as_millis() + 1500;
        bench.tick_until(u64::try_from(death).unwrap());
        assert_eq!(bench.view(), "1: n5 live");
    }
}

#[test]
fn a_node_that_slept_while_it_joined_goes_on_waiting_for_its_seeds() {
    let (mut bench, _) = Bench::new(&[at(1)]);
    bench.tick_until(1000);
    bench.now = ms(60_000);
    assert_eq!(bench.step(Input::Tick), Vec::<String>::new());
    let founded = bench.tick_until(63_000);
    assert_eq!(founded.iter().filter(|line| line.ends_with("ready")).count(), 1);
    assert!(founded[0].starts_with("61900 "), "{founded:?}");
}

#[test]
fn a_broken_link_is_redialled_and_two_refusals_are_a_death() {
    let mut bench = Bench::with_n1();
    assert_eq!(bench.step(Input::Lost { link: LinkId(1) }), ["dial 2 10.0.0.1:11100"]);
    assert_eq!(bench.not_opened(2, refused()), Vec::<String>::new());
    assert_eq!(bench.tick_until(500), ["500 dial 3 10.0.0.1:11100"]);
    assert_eq!(bench.view(), "1: n1 live, n5 live");
    assert_eq!(bench.not_opened(3, refused()), ["dial 4 10.0.0.1:11100", "view 1: n5 live"]);
    // It is dialled on: here it is back, as a new incarnation.
    let back =
        Introduction { member: Member { id: NodeId(11), ..member(1, MemberState::Joining) }, ..introduction(1, None, false) };
    assert_eq!(bench.opened(4, back), ["view 1: n1 joining, n5 live", "gossip 4"]);
}

#[test]
fn a_redial_that_is_silent_is_no_refusal() {
    let mut bench = Bench::with_n1();
    bench.step(Input::Lost { link: LinkId(1) });
    for link in 2..4 {
        bench.not_opened(link, DialFailure::Unreachable);
        bench.tick_until(500 * (link - 1));
        assert_eq!(bench.view(), "1: n1 live, n5 live");
    }
    bench.opened(4, introduction(1, Some(1), false));
    bench.tick_until(2000);
    assert_eq!(bench.view(), "1: n1 live, n5 live");
}

/// Invariant 17.
#[test]
fn a_new_incarnation_at_the_same_address_replaces_the_old_at_once() {
    let mut bench = Bench::with_n1();
    let back =
        Introduction { member: Member { id: NodeId(11), ..member(1, MemberState::Joining) }, ..introduction(1, None, false) };
    let (admitted, outputs) = bench.admit(&back);
    assert_eq!(admitted, Ok(()));
    assert_eq!(outputs, ["close 1", "dial 2 10.0.0.1:11100", "view 1: n5 live"]);
    assert_eq!(bench.opened(2, back), ["view 1: n1 joining, n5 live", "gossip 2"]);
}

fn twin() -> Introduction {
    Introduction {
        member: Member { id: NodeId(11), endpoint: at(8), ..member(1, MemberState::Joining) },
        ..introduction(1, None, false)
    }
}

#[test]
fn of_two_nodes_of_one_name_the_later_is_refused_once_the_first_has_shown_that_it_lives() {
    let mut bench = Bench::with_n1();
    bench.now = ms(100);
    bench.answered(1, gossip(1, 1, &[5]));
    // What the first said before the second came says nothing.
    let (admitted, outputs) = bench.admit(&twin());
    let fault = admitted.unwrap_err();
    assert_eq!(fault.code, ErrorKind::ServiceUnavailable.code());
    assert_eq!(fault.message, "the node name 'n1' was just now borne by a node at 10.0.0.1:11100; try again soon");
    assert_eq!(outputs, ["gossip 1"], "the first is asked at once");
    bench.now = ms(200);
    bench.answered(1, gossip(1, 1, &[5]));
    let (admitted, outputs) = bench.admit(&twin());
    let fault = admitted.unwrap_err();
    assert_eq!((fault.code, fault.completion), (ErrorKind::Configuration.code(), CompletionStatus::No));
    assert_eq!(
        fault.message,
        "the node name 'n1' is taken by the live node at 10.0.0.1:11100; the node at 10.0.0.8:11100 came later: give it \
         another name, or stop the first"
    );
    assert_eq!(outputs, [format!("warned {}", fault.message)]);
    assert_eq!(bench.engine.warnings(), [fault.message]);
    assert_eq!(bench.view(), "1: n1 live, n5 live");
}

#[test]
fn the_later_of_two_nodes_of_one_name_is_taken_once_the_first_is_silent_or_its_link_broken() {
    let mut bench = Bench::with_n1();
    assert!(bench.admit(&twin()).0.is_err());
    bench.tick_until(1500);
    assert_eq!(bench.admit(&twin()).0, Ok(()));
    let mut bench = Bench::with_n1();
    bench.step(Input::Lost { link: LinkId(1) });
    let (admitted, outputs) = bench.admit(&twin());
    assert_eq!(admitted, Ok(()));
    assert_eq!(outputs, ["dial 3 10.0.0.8:11100", "view 1: n5 live"]);
}

#[test]
fn a_node_with_this_nodes_own_name_is_refused_by_the_one_that_serves() {
    let mut bench = Bench::with_n1();
    let other = Introduction {
        member: Member { id: NodeId(4), endpoint: at(8), ..member(5, MemberState::Joining) },
        ..introduction(5, None, false)
    };
    assert_eq!(bench.admit(&other).0.unwrap_err().code, ErrorKind::Configuration.code());
    // Of two that join, the lower incarnation stays.
    let (mut joining, _) = Bench::new(&[at(1)]);
    let (admitted, outputs) = joining.admit(&other);
    assert_eq!(admitted.unwrap_err().code, ErrorKind::ServiceUnavailable.code());
    assert_eq!(
        outputs,
        [
            "failed the node name 'n5' is taken by the live node at 10.0.0.8:11100; the node at 10.0.0.5:11100 came later: give it \
          another name, or stop the first"
        ]
    );
}

#[test]
fn another_clusters_name_is_refused_with_the_remedy() {
    let mut bench = Bench::with_n1();
    let stranger = Introduction { cluster: "d".to_owned(), ..introduction(8, Some(8), true) };
    let fault = bench.admit(&stranger).0.unwrap_err();
    assert_eq!(fault.code, ErrorKind::Configuration.code());
    assert_eq!(
        fault.message,
        "node n5 at 10.0.0.5:11100 belongs to the cluster named 'c', node n8 at 10.0.0.8:11100 to 'd': give both the same \
         cluster name, or take the one from the other's seeds"
    );
}

#[test]
fn two_firm_clusters_refuse_each_other_and_say_so_for_a_while() {
    let mut bench = Bench::with_n1();
    bench.answered(1, Gossip { settled: true, ..gossip(1, 1, &[5]) });
    let (admitted, outputs) = bench.admit(&introduction(8, Some(8 << 96), true));
    let fault = admitted.unwrap_err();
    assert_eq!(fault.code, ErrorKind::Configuration.code());
    assert_eq!(
        fault.message,
        "two clusters named 'c' met, which formed apart from each other: node n5 at 10.0.0.5:11100 is of cluster 00000000, \
         node n8 at 10.0.0.8:11100 of cluster 00000008. Neither gives way. To unite them, restart the nodes of one with seeds \
         of the other (where they have data folders, with empty ones); else give one another name"
    );
    assert_eq!(outputs, [format!("warned {}", fault.message)]);
    assert_eq!(bench.admit(&introduction(8, Some(8 << 96), true)).1, Vec::<String>::new(), "it is told once");
    assert_eq!(bench.engine.warnings(), [fault.message]);
    bench.tick_until(60_000);
    assert_eq!(bench.engine.warnings(), Vec::<String>::new());
    // A provisional one is let in: it gives way.
    assert_eq!(bench.admit(&introduction(8, Some(8 << 96), false)).0, Ok(()));
}

#[test]
fn mates_follow_the_one_of_them_that_found_another_cluster() {
    let mut bench = Bench::with_n1();
    bench.answered(1, Gossip { settled: true, ..gossip(1, 1, &[5]) });
    assert!(bench.engine.introduction().firm);
    let moved = said(introduction(1, Some(9), true), &[5]);
    assert_eq!(bench.answered(1, moved), ["view 9: n1 live, n5 live", "gossip 1"]);
    // A mate that wavered before it went for good is still one.
    let mut wavering = Bench::with_n1();
    wavering.answered(1, Gossip { settled: true, ..gossip(1, 1, &[5]) });
    wavering.answered(1, gossip(1, 9, &[5]));
    let moved = said(introduction(1, Some(9), true), &[5]);
    assert_eq!(wavering.answered(1, moved), ["view 9: n1 live, n5 live", "gossip 1"]);
    // And a mate that has not heard of it yet is not taken for a stranger.
    let mate = introduction(8, Some(1), true);
    assert_eq!(bench.admit(&mate).0, Ok(()));
}

#[test]
fn a_node_that_everybody_refuses_gives_up() {
    let (mut bench, outputs) = Bench::new(&[at(1), at(2)]);
    assert_eq!(outputs, ["dial 1 10.0.0.1:11100", "dial 2 10.0.0.2:11100"]);
    let fault = Fault::new(ErrorKind::Configuration, CompletionStatus::No, "this is cluster 'd'");
    let rejected = DialFailure::Rejected(Box::new(fault));
    assert_eq!(bench.not_opened(1, rejected), ["warned this is cluster 'd'"], "the other seed may still answer");
    assert_eq!(bench.not_opened(2, refused()), ["failed this is cluster 'd'"]);
    assert_eq!(bench.tick_until(5000), Vec::<String>::new(), "it stays where it is");
}

#[test]
fn a_refusal_for_now_is_no_reason_to_give_up() {
    let (mut bench, _) = Bench::new(&[at(1)]);
    let fault = Fault::new(ErrorKind::ServiceUnavailable, CompletionStatus::No, "later");
    assert_eq!(bench.not_opened(1, DialFailure::Rejected(Box::new(fault))), Vec::<String>::new());
    assert_eq!(bench.tick_until(500), ["500 dial 2 10.0.0.1:11100"]);
}

#[test]
fn ready_means_one_view_with_every_seed_that_answered() {
    let (mut bench, _) = Bench::new(&[at(1), at(2)]);
    bench.opened(1, introduction(1, Some(1), true));
    assert_eq!(
        bench.engine.unready(bench.now).unwrap(),
        "node n1 at 10.0.0.1:11100 does not see this node: can it reach 10.0.0.5:11100?"
    );
    bench.answered(1, gossip(1, 1, &[5]));
    assert_eq!(bench.engine.unready(bench.now).unwrap(), "seed 10.0.0.2:11100 has not answered yet");
    bench.opened(2, introduction(2, Some(1), true));
    assert_eq!(bench.heard(gossip(7, 1, &[5])), ["dial 3 10.0.0.7:11100"]);
    assert_eq!(bench.answered(1, gossip(1, 1, &[2, 5, 7])), Vec::<String>::new());
    assert_eq!(bench.answered(2, gossip(2, 1, &[1, 5, 7])), Vec::<String>::new());
    assert_eq!(bench.engine.unready(bench.now).unwrap(), "node n1 sees other members than this node does");
    let outputs = bench.opened(3, introduction(7, Some(1), true));
    assert_eq!(outputs, ["ready", "view 1: n1 live, n2 live, n5 live, n7 live", "gossip 1", "gossip 2", "gossip 3"]);
    assert_eq!(bench.engine.unready(bench.now), None);
}

#[test]
fn a_seed_that_refuses_is_not_waited_for_where_another_answered() {
    let (mut bench, _) = Bench::new(&[at(1), at(2)]);
    bench.not_opened(2, refused());
    bench.opened(1, introduction(1, Some(1), true));
    assert_eq!(bench.answered(1, gossip(1, 1, &[5])), ["ready", "view 1: n1 live, n5 live", "gossip 1"]);
}

#[test]
fn whoever_speaks_is_dialled_and_given_up_after_three_refusals() {
    let mut bench = Bench::with_n1();
    assert_eq!(bench.heard(gossip(7, 1, &[5])), ["dial 2 10.0.0.7:11100"]);
    bench.not_opened(2, refused());
    assert_eq!(bench.tick_until(500).iter().filter(|line| line.contains("10.0.0.7")).count(), 1);
    bench.not_opened(3, refused());
    bench.answered(1, gossip(1, 1, &[5]));
    assert_eq!(bench.tick_until(1000).iter().filter(|line| line.contains("10.0.0.7")).count(), 1);
    bench.not_opened(4, refused());
    bench.answered(1, gossip(1, 1, &[5]));
    assert_eq!(bench.tick_until(2000).iter().filter(|line| line.contains("10.0.0.7")).count(), 0);
}

#[test]
fn host_names_are_resolved_again_and_all_their_addresses_are_seeds() {
    let name = Endpoint::new("nodes.example", 11100);
    let (mut bench, outputs) = Bench::new(std::slice::from_ref(&name));
    assert_eq!(outputs, ["resolve nodes.example:11100"]);
    assert_eq!(bench.step(Input::Resolved { seed: name.clone(), addresses: Vec::new() }), Vec::<String>::new());
    assert_eq!(bench.tick_until(1000), Vec::<String>::new(), "a failed answer founds nothing yet");
    let addresses = vec![at(5), at(1), at(2)];
    let outputs = bench.step(Input::Resolved { seed: name.clone(), addresses });
    assert_eq!(outputs, ["dial 1 10.0.0.1:11100", "dial 2 10.0.0.2:11100"]);
    bench.not_opened(2, refused());
    bench.opened(1, introduction(1, Some(1), true));
    assert_eq!(bench.answered(1, gossip(1, 1, &[5])), ["ready", "view 1: n1 live, n5 live", "gossip 1"]);
    let resolved: Vec<String> = bench.tick_until(5000).into_iter().filter(|line| line.contains("resolve")).collect();
    assert_eq!(resolved, ["5000 resolve nodes.example:11100"]);
}

#[test]
fn a_second_link_to_a_member_is_closed() {
    let (mut bench, outputs) = Bench::new(&[at(1), Endpoint::new("10.9.9.9", 1)]);
    assert_eq!(outputs, ["dial 1 10.0.0.1:11100", "dial 2 10.9.9.9:1"]);
    bench.opened(1, introduction(1, Some(1), false));
    assert_eq!(bench.opened(2, introduction(1, Some(1), false)), ["close 2"]);
    assert_eq!(bench.opened(2, introduction(1, Some(1), false)), ["close 2"], "and one that nobody asked for");
}
