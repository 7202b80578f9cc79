//! Whatever comes in at the port, only its own connection suffers.

use std::time::Duration;

use bytes::{BufMut, BytesMut};
use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Answer, Hello, Operation, RefusalReason, Reply, Role, Scope, TreeChoice};
use hanaming::server::Node;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::time::Instant;

use crate::raw::{LIMITS, Raw, eventually, lookup, node, request_frame};
use crate::world::{bind, text};

/// A node with a name bound, and a client that uses it.
fn served(change: impl FnOnce(&mut hanaming::server::ServerConfig)) -> (Node, Raw) {
    let node = node(change);
    bind(&node.local_tree(), "good", text("x"));
    let good = Raw::greet(&node);
    (node, good)
}

fn header(length: u32, kind: u8, flags: u16) -> BytesMut {
    let mut frame = BytesMut::new();
    frame.put_u32_le(length);
    frame.put_u8(1);
    frame.put_u8(kind);
    frame.put_u16_le(flags);
    frame.put_u64_le(3);
    frame
}

/// Memory of this process in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn random_bytes_end_their_connection_only() {
    let (node, mut good) = served(|config| {
        config.limits.handshake = Duration::from_millis(300);
        config.limits.frame_time = Duration::from_millis(300);
    });
    let mut random = StdRng::seed_from_u64(1);
    for round in 0..200 {
        let mut raw = if round % 2 == 0 { Raw::dial(&node) } else { Raw::greet(&node) };
        let bytes: Vec<u8> = (0..random.random_range(1..4096)).map(|_| random.random()).collect();
        raw.try_send(&bytes);
        if bytes.len() >= 16 {
            raw.is_ended();
        }
        assert!(good.finds("good"), "after round {round}");
    }
    eventually("all but the good connection ended", || node.status().connections == 1);
}

#[test]
fn mangled_requests_end_their_connection_only() {
    let (node, mut good) = served(|config| config.limits.frame_time = Duration::from_millis(300));
    let mut random = StdRng::seed_from_u64(2);
    let page = hanaming::protocol::PageRequest {
        name: "a/b".to_owned(),
        tree: TreeChoice::All,
        after: Some("c".to_owned()),
        limit: 10,
        values: true,
    };
    let frames = [
        request_frame(5, Scope::Cluster, lookup("some/name")),
        request_frame(6, Scope::Local, Operation::LookupMany { names: ["a", "b"].into_iter().collect() }),
        request_frame(7, Scope::Cluster, Operation::List(page)),
    ];
    for _ in 0..500 {
        let mut raw = Raw::greet(&node);
        let mut bytes = frames[random.random_range(0..3)].to_vec();
        for _ in 0..random.random_range(1..4) {
            let place = random.random_range(0..bytes.len());
            bytes[place] = random.random();
        }
        // Answered, or refused, or the connection ends: never a hang, never a crash.
        raw.try_send(&bytes);
        drop(raw);
    }
    assert!(good.finds("good"));
    eventually("all but the good connection ended", || node.status().connections == 1);
}

/// Invariant 19.
#[test]
fn a_header_of_four_gigabytes_takes_no_memory() {
    let (node, mut good) = served(|_| {});
    let before = resident();
    for _ in 0..100 {
        for mut raw in [Raw::dial(&node), Raw::greet(&node)] {
            raw.send(&header(u32::MAX, 3, 1));
            raw.is_ended();
        }
    }
    assert!(resident() < before + (32 << 20), "{} MiB more", (resident() - before) >> 20);
    assert!(good.finds("good"));
}

#[test]
fn half_a_frame_ends_in_time() {
    let (node, mut good) = served(|config| config.limits.frame_time = Duration::from_millis(200));
    let mut raw = Raw::greet(&node);
    let frame = request_frame(1, Scope::Cluster, lookup("good"));
    raw.send(&frame[..frame.len() - 1]);
    let start = Instant::now();
    raw.is_ended();
    assert!(start.elapsed() >= Duration::from_millis(150));
    // So does one of which a byte comes now and then: the time is the frame's.
    let mut raw = Raw::greet(&node);
    let start = Instant::now();
    let mut sent = 0;
    raw.send(&header(1000, 3, 1));
    while sent < 900 && raw.try_send(&[0]) == 1 {
        sent += 1;
        assert!(good.finds("good"));
        assert!(start.elapsed() < Duration::from_secs(10), "it goes on after {sent} bytes");
    }
    raw.is_ended();
}

#[test]
fn who_says_nothing_is_let_go() {
    let (node, mut good) = served(|config| {
        config.limits.handshake = Duration::from_millis(200);
        config.limits.idle = Duration::from_secs(2);
    });
    let start = Instant::now();
    Raw::dial(&node).is_ended();
    assert!(start.elapsed() >= Duration::from_millis(200));
    let mut idle = Raw::greet(&node);
    eventually("the idle one is closed", || {
        assert!(good.finds("good"));
        node.status().connections == 1
    });
    idle.is_ended();
    assert!(good.finds("good"));
}

#[test]
fn a_frame_a_byte_at_a_time_is_served() {
    let (node, _good) = served(|_| {});
    let mut raw = Raw::dial(&node);
    let mut bytes = BytesMut::new();
    Hello::new(Role::Client { id: 1 }, None).encode(&mut bytes, LIMITS).unwrap();
    bytes.extend_from_slice(&request_frame(4, Scope::Cluster, lookup("good")));
    for byte in &bytes {
        raw.send(&[*byte]);
    }
    raw.frame().unwrap();
    assert!(matches!(raw.reply(), (4, Reply::Done(Answer::Found(_)))));
}

#[test]
fn five_hundred_idle_connections_are_no_matter() {
    let (node, mut good) = served(|_| {});
    let before = resident();
    let half: Vec<Raw> = (0..250).map(|_| Raw::dial(&node)).collect();
    let idle: Vec<Raw> = (0..250).map(|_| Raw::greet(&node)).collect();
    eventually("all are taken", || node.status().connections == 501);
    let start = Instant::now();
    for _ in 0..200 {
        assert!(good.finds("good"));
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    // Both ends of them are here.
    assert!(resident() < before + (32 << 20), "{} MiB more", (resident() - before) >> 20);
    drop((half, idle));
    eventually("all but one ended", || node.status().connections == 1);
}

/// Requests without ever taking a reply: the server stops reading.
#[test]
fn replies_that_are_not_taken_stop_the_reading() {
    let (node, mut good) = served(|config| config.limits.unsent_time = Duration::from_secs(60));
    bind(&node.local_tree(), "long", text(&"x".repeat(60_000)));
    let before = resident();
    let mut raw = Raw::greet(&node);
    raw.set_write_timeout(Duration::from_millis(500));
    let requests = 10_000_usize;
    let mut all = BytesMut::new();
    for id in 0..requests {
        all.extend_from_slice(&request_frame(id as u64, Scope::Cluster, lookup("long")));
    }
    let sent = raw.try_send(&all);
    for _ in 0..100 {
        assert!(good.finds("good"));
    }
    // 600 MB of replies were asked for.
    assert!(resident() < before + (48 << 20), "{} MiB more", (resident() - before) >> 20);
    let whole = sent / (all.len() / requests);
    assert!(node.status().requests < whole as u64, "all were served");
    // Whoever takes them gets them all, in order.
    let mut raw = std::thread::scope(|scope| {
        let rest = all.split_off(sent);
        let mut reader = raw;
        let mut writer = reader.try_clone();
        scope.spawn(move || writer.send(&rest));
        for id in 0..requests as u64 {
            assert_eq!(reader.reply().0, id);
        }
        reader
    });
    assert!(raw.finds("good"));
}

/// One read may bring requests for far more than is ever kept: they are taken one by one, as there is room.
#[test]
fn the_requests_of_one_read_are_answered_as_there_is_room() {
    let (node, mut good) = served(|config| config.limits.unsent_time = Duration::from_secs(60));
    bind(&node.local_tree(), "l", text(&"x".repeat(60_000)));
    let before = resident();
    let mut raw = Raw::greet(&node);
    let requests = 40;
    let mut all = BytesMut::new();
    for id in 0..requests {
        let names = ["l"; 60].into_iter().collect();
        all.extend_from_slice(&request_frame(id, Scope::Cluster, Operation::LookupMany { names }));
    }
    assert!(all.len() < 8 << 10, "{} bytes are more than one read", all.len());
    raw.send(&all);
    eventually("the first is answered", || node.status().requests > 0);
    assert!(good.finds("good"));
    // 144 MB of replies were asked for.
    assert!(resident() < before + (48 << 20), "{} MiB more", (resident() - before) >> 20);
    for id in 0..requests {
        assert_eq!(raw.reply().0, id);
    }
}

#[test]
fn replies_of_all_connections_share_a_bound() {
    let (node, mut good) = served(|config| {
        config.limits.unsent_time = Duration::from_secs(60);
        config.limits.unsent_in_all = 8 << 20;
    });
    bind(&node.local_tree(), "long", text(&"x".repeat(60_000)));
    // Each asks for 3.6 MB at once and takes nothing; what the system's own buffers take is no matter.
    let names = || Operation::LookupMany { names: ["long"; 60].into_iter().collect() };
    let mut greedy: Vec<Raw> = (0..12).map(|_| Raw::greet(&node)).collect();
    let mut asked = 0;
    eventually("one request is refused", || {
        for raw in &mut greedy {
            raw.send(&request_frame(asked, Scope::Cluster, names()));
        }
        asked += 1;
        matches!(good.ask(Scope::Cluster, lookup("good")), Reply::Failed(fault) if fault.refusal.is_some())
    });
    drop(greedy);
    eventually("there is room again", || good.finds("good"));
}

#[test]
fn who_never_takes_its_replies_is_cut() {
    let (node, mut good) = served(|config| config.limits.unsent_time = Duration::from_millis(300));
    bind(&node.local_tree(), "long", text(&"x".repeat(60_000)));
    let mut raw = Raw::greet(&node);
    raw.set_write_timeout(Duration::from_millis(100));
    // 120 MB of replies: more than the system's own buffers take.
    for id in 0..2000 {
        raw.try_send(&request_frame(id, Scope::Cluster, lookup("long")));
    }
    eventually("it is cut", || node.status().connections == 1);
    assert!(good.finds("good"));
}

#[test]
fn who_has_taken_its_replies_may_be_idle() {
    let (node, mut good) = served(|config| config.limits.unsent_time = Duration::from_millis(20));
    assert!(good.finds("good"));
    let answered = node.status().uptime;
    eventually("its time to take them is over", || node.status().uptime > answered + 100);
    assert!(good.finds("good"));
}

#[test]
fn long_frames_of_all_connections_share_a_bound() {
    let (node, mut good) = served(|config| config.limits.receiving = 3 << 20);
    let mut long: Vec<Raw> = (0..10).map(|_| Raw::greet(&node)).collect();
    for raw in &mut long {
        raw.send(&header(1 << 20, 3, 2));
    }
    eventually("all but three and the good one ended", || node.status().connections == 4);
    let mut refused = 0;
    for raw in &mut long {
        if let Some((id, reply)) = raw.reply_so_far() {
            let Reply::Failed(fault) = reply else { panic!("{reply:?}") };
            assert_eq!((id, fault.completion), (3, CompletionStatus::No));
            assert_eq!(fault.refusal.unwrap().reason, RefusalReason::Overloaded);
            refused += 1;
        }
    }
    assert_eq!(refused, 7);
    assert!(good.finds("good"));
    drop(long);
    eventually("there is room again", || {
        let mut raw = Raw::greet(&node);
        let names = std::iter::repeat_n("good", 8000).collect();
        let frame = request_frame(1, Scope::Cluster, Operation::LookupMany { names });
        if raw.try_send(&frame) < frame.len() {
            return false;
        }
        matches!(raw.reply().1, Reply::Done(Answer::Many(items)) if items.to_vec().unwrap().len() == 8000)
    });
}

/// Invariant 15.
#[test]
fn an_operation_of_a_later_version_is_refused_and_the_connection_goes_on() {
    let (_node, mut good) = served(|_| {});
    let mut frame = header(4, 3, 77);
    frame.put_slice(&[9, 9, 9, 9]);
    good.send(&frame);
    let (id, reply) = good.reply();
    let Reply::Failed(fault) = reply else { panic!("{reply:?}") };
    assert_eq!((id, ErrorKind::from_code(fault.code)), (3, ErrorKind::OperationNotSupported));
    assert_eq!(fault.completion, CompletionStatus::No);
    assert!(good.finds("good"));
}

#[test]
fn a_client_may_not_speak_as_a_node() {
    let (node, mut good) = served(|_| {});
    let status = node.status();
    let gossip = hanaming::protocol::Gossip {
        speaker: status.introduction.member.id,
        edition: 1,
        introduction: Some(Box::new(status.introduction)),
        has: None,
        beheld: 0,
        sees_you: true,
        leaving: true,
        settled: true,
        packets: Vec::new(),
    };
    for (scope, operation) in [(Scope::Peer, lookup("good")), (Scope::Cluster, Operation::Gossip(gossip))] {
        let Reply::Failed(fault) = good.ask(scope, operation) else { panic!("it may") };
        assert_eq!(ErrorKind::from_code(fault.code), ErrorKind::OperationNotSupported);
    }
    assert_eq!(node.view().members().len(), 1);
}

#[test]
fn two_thousand_names_in_a_frame_are_answered_in_one() {
    let (node, mut good) = served(|_| {});
    for number in 0..2000 {
        bind(&node.local_tree(), &format!("name {number}"), text("x"));
    }
    let names = (0..2000).map(|number| format!("name {number}")).collect();
    let reply = good.ask(Scope::Cluster, Operation::LookupMany { names });
    assert!(matches!(reply, Reply::Done(Answer::Many(items)) if items.to_vec().unwrap().len() == 2000));
}
