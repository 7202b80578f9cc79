//! The failure detector within the engine: packets and their exact consequences.
//!
//! What is on the wire here is written by `foca` from this file's own types, so that a change of the engine's shows.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use foca::{Codec, Header, Message, PostcardCodec, State};
use hanaming::cluster::membership::{Config, Input, LinkId, Membership, Output, Past, Rules, Timing};
use hanaming::protocol::Gossip;
use hanaming::topology::{Endpoint, Member, MemberState, NodeId};
use serde::{Deserialize, Serialize};

use super::engine::{at, gossip, introduction, ms};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Contact {
    id: NodeId,
    life: u32,
    endpoint: Endpoint,
}

fn contact(number: u128, life: u32) -> Contact {
    Contact { id: NodeId(number), life, endpoint: at(number) }
}

/// A packet from node `from` to the one under test, which is `n5`, with what it says of others.
fn packet(from: u128, to_life: u32, message: Message<Contact>, of: &[(u128, u16, State)]) -> Bytes {
    denying(from, 0, to_life, message, of)
}

/// The same from one that has denied so often that it is dead.
fn denying(from: u128, denials: u16, to_life: u32, message: Message<Contact>, of: &[(u128, u16, State)]) -> Bytes {
    let header = Header { src: contact(from, 0), src_incarnation: denials, dst: contact(5, to_life), message };
    let mut packet = BytesMut::new();
    PostcardCodec.encode_header(&header, &mut packet).unwrap();
    if !matches!(header.message, Message::Announce | Message::TurnUndead) {
        packet.put_u16(u16::try_from(of.len()).unwrap());
    }
    for (number, incarnation, state) in of {
        PostcardCodec.encode_member(&foca::Member::new(contact(*number, 0), *incarnation, *state), &mut packet).unwrap();
    }
    packet.freeze()
}

/// What the engine does, in short: `1<Ping` is a packet on link 1, `1` an exchange without one.
struct Bench {
    engine: Membership,
    now: Duration,
    /// The life under which the engine speaks, and the number of its last probe.
    life: u32,
    probe: u8,
}

impl Bench {
    /// `n5`, linked with `n1`, `n2`, … by links of the same numbers; all live.
    fn linked(others: u128) -> Self {
        let config = Config {
            member: Member { name: "n5".to_owned(), id: NodeId(5), endpoint: at(5), state: MemberState::Live },
            cluster: "c".to_owned(),
            seeds: (1..=others).map(at).collect(),
            past: Past::default(),
            timing: Timing::default(),
            seed: 1,
            rules: Rules::ALL,
        };
        let engine = Membership::new(Duration::ZERO, config);
        let mut bench = Self { engine, now: Duration::ZERO, life: 0, probe: 0 };
        bench.step(Input::HasTree);
        bench.step(Input::Tick);
        for number in 1..=others {
            let link = LinkId(u64::try_from(number).unwrap());
            let outputs = bench.step(Input::Opened { link, introduction: introduction(number, Some(1), false) });
            assert!(outputs.contains(&format!("{number}<Announce")), "who is met is greeted: {outputs:?}");
        }
        for number in 1..=others {
            bench.hears(number, Message::Feed, &[]);
        }
        bench
    }

    fn told(&mut self, outputs: Vec<Output>) -> Vec<String> {
        let mut told = Vec::new();
        for output in outputs {
            match output {
                Output::Gossip { link, gossip } => {
                    let packets: Vec<String> = gossip.packets.iter().map(|packet| self.read(packet)).collect();
                    if packets.is_empty() {
                        told.push(link.0.to_string());
                    }
                    told.extend(packets.into_iter().map(|packet| format!("{}<{packet}", link.0)));
                }
                Output::View(view) => {
                    let names: Vec<&str> = view.members().iter().map(|member| member.name.as_str()).collect();
                    told.push(format!("view {}", names.join(" ")));
                }
                Output::Dial { to, .. } => told.push(format!("dial {to}")),
                Output::Close { link } => told.push(format!("close {}", link.0)),
                _ => {}
            }
        }
        told
    }

    /// A packet's message, and what it says of others that is no good news.
    fn read(&mut self, packet: &Bytes) -> String {
        let mut rest = &packet[..];
        let header: Header<Contact> = PostcardCodec.decode_header(&mut rest).unwrap();
        self.life = header.src.life;
        let message = match header.message {
            Message::Ping(number) => {
                self.probe = number;
                "Ping".to_owned()
            }
            Message::PingReq { target, .. } => format!("PingReq n{}", target.id.0),
            other => format!("{other:?}"),
        };
        let mut bad = Vec::new();
        if rest.len() > 2 {
            let count = u16::from_be_bytes([rest[0], rest[1]]);
            rest = &rest[2..];
            for _ in 0..count {
                let member: foca::Member<Contact> = PostcardCodec.decode_member(&mut rest).unwrap();
                if member.state() != State::Alive {
                    bad.push(format!(" n{} {:?}", member.id().id.0, member.state()));
                }
            }
        }
        message + &bad.concat()
    }

    fn step(&mut self, input: Input) -> Vec<String> {
        let outputs = self.engine.step(self.now, input);
        self.told(outputs)
    }

    /// Something comes as the answer on that node's link.
    fn hears(&mut self, from: u128, message: Message<Contact>, of: &[(u128, u16, State)]) -> Vec<String> {
        let packets = vec![packet(from, self.life, message, of)];
        self.step(Input::Answered { link: LinkId(u64::try_from(from).unwrap()), gossip: said(from, packets) })
    }

    /// Something is asked; gives the packets of the answer, and what else happens.
    fn asked(&mut self, from: u128, message: Message<Contact>) -> (Vec<String>, Vec<String>) {
        let question = said(from, vec![packet(from, self.life, message, &[])]);
        let (answer, outputs) = self.engine.answer(self.now, question);
        (answer.packets.iter().map(|packet| self.read(packet)).collect(), self.told(outputs))
    }

    /// Ticks until then. All links are answered, without a packet; so only the failure detector misses something.
    fn tick_until(&mut self, end: u64, others: u128) -> Vec<String> {
        let mut happened = Vec::new();
        while self.now < ms(end) {
            self.now += Timing::default().tick;
            for number in 1..=others {
                let link = LinkId(u64::try_from(number).unwrap());
                self.step(Input::Answered { link, gossip: said(number, Vec::new()) });
            }
            let outputs = self.step(Input::Tick);
            happened.extend(outputs.into_iter().map(|output| format!("{} {output}", self.now.as_millis())));
        }
        happened
    }

    fn members(&self) -> Vec<&str> {
        self.engine.view().members().iter().map(|member| member.name.as_str()).collect()
    }
}

fn said(number: u128, packets: Vec<Bytes>) -> Gossip {
    Gossip { packets, ..gossip(number, 1, &[5]) }
}

fn only<'a>(happened: &'a [String], what: &str) -> Vec<&'a str> {
    happened.iter().filter(|line| line.contains(what)).map(String::as_str).collect()
}

#[test]
fn a_question_is_answered_in_its_exchange() {
    let mut bench = Bench::linked(1);
    assert_eq!(bench.asked(1, Message::Ping(9)).0, ["Ack(9)"]);
    let (answer, _) = bench.asked(1, Message::Announce);
    assert_eq!(answer, ["Feed"]);
}

#[test]
fn who_does_not_answer_and_is_vouched_for_by_nobody_is_suspected_then_dead() {
    let mut bench = Bench::linked(1);
    let happened = bench.tick_until(1600, 1);
    assert_eq!(
        only(&happened, "Ping"),
        ["300 1<Ping", "600 1<Ping n1 Suspect", "900 1<Ping n1 Suspect", "1200 1<Ping n1 Suspect", "1500 1<Ping"]
    );
    // 900 ms after the probe was over. It is told so, as its link works.
    assert_eq!(only(&happened, "view"), ["1500 view n5"]);
    assert_eq!(only(&happened, "1500 1<").len(), 3, "{happened:?}");
}

#[test]
fn others_are_asked_to_ask_after_a_hundred_milliseconds() {
    let mut bench = Bench::linked(2);
    let happened = bench.tick_until(400, 2);
    let asked = only(&happened, "Ping");
    let (first, second) = if asked[0] == "300 1<Ping" { ("1", "2") } else { ("2", "1") };
    assert_eq!(asked, [format!("300 {first}<Ping"), format!("400 {second}<PingReq n{first}")]);
}

#[test]
fn a_suspicion_is_refuted() {
    let mut bench = Bench::linked(1);
    bench.tick_until(1400, 1);
    // It has heard of it, and speaks as one that denies it.
    let denial = denying(1, 1, 0, Message::Gossip, &[]);
    bench.step(Input::Answered { link: LinkId(1), gossip: said(1, vec![denial]) });
    bench.tick_until(1700, 1);
    assert_eq!(bench.members(), ["n1", "n5"]);
}

#[test]
fn whoever_is_named_alive_is_dialled_and_whoever_is_named_dead_leaves_the_view() {
    let mut bench = Bench::linked(2);
    let outputs = bench.hears(1, Message::Feed, &[(7, 0, State::Alive)]);
    assert!(outputs.contains(&"dial 10.0.0.7:11100".to_owned()), "{outputs:?}");
    assert_eq!(bench.members(), ["n1", "n2", "n5"], "it isn't met yet");
    let outputs = bench.hears(1, Message::Gossip, &[(2, 0, State::Down)]);
    assert!(outputs.contains(&"view n1 n5".to_owned()), "{outputs:?}");
    // Its link works: it is asked, and so hears of it.
    assert!(outputs.contains(&"2<Announce".to_owned()), "{outputs:?}");
    // Under the life in which it was called dead it speaks in vain, and is told so.
    assert_eq!(bench.asked(2, Message::Ping(1)).0, ["TurnUndead"]);
    assert_eq!(bench.members(), ["n1", "n5"]);
}

#[test]
fn who_is_called_dead_takes_up_another_life_and_greets_everybody() {
    let mut bench = Bench::linked(3);
    let outputs = bench.hears(2, Message::TurnUndead, &[]);
    assert_eq!(bench.life, 1);
    for number in 1..=3 {
        assert!(outputs.contains(&format!("{number}<Announce")), "{outputs:?}");
    }
    assert_eq!(bench.members(), ["n1", "n2", "n3", "n5"], "it was not they who died");
}

#[test]
fn a_node_that_slept_calls_nobody_dead() {
    for (late, members) in [(250, vec!["n5"]), (251, vec!["n1", "n5"])] {
        let mut bench = Bench::linked(1);
        bench.tick_until(1400, 1);
        bench.now += ms(100 + late);
        bench.step(Input::Tick);
        assert_eq!(bench.members(), members, "{late} ms late");
    }
}

#[test]
fn who_leaves_is_dead_to_the_others_failure_detectors_too() {
    let mut bench = Bench::linked(2);
    let outputs = bench.step(Input::Leave);
    assert!(only(&outputs, "n5 Down").len() == 2, "{outputs:?}");
    // And does not take up another life for that.
    assert_eq!(bench.hears(1, Message::TurnUndead, &[]), Vec::<String>::new());
}

#[test]
fn what_is_no_packet_is_as_lost() {
    let mut bench = Bench::linked(1);
    for rubbish in [Vec::new(), vec![0], vec![255; 40], vec![7; 2000]] {
        let question = said(1, vec![Bytes::from(rubbish)]);
        let (answer, _) = bench.engine.answer(bench.now, question);
        assert!(answer.packets.is_empty());
    }
    assert_eq!(bench.members(), ["n1", "n5"]);
}
