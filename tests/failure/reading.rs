//! The streaming reader: the same events however the bytes come, in bounded memory, with their lines and times.

use std::fmt::Write;

use hanaming::failure::log::{Group, Groups};
use hanaming::failure::{Category, Event, LogReader, classify_text};
use proptest::prelude::*;

use super::cases::cases;

fn read(pieces: &[&[u8]]) -> Vec<Event> {
    let mut reader = LogReader::new();
    let mut events: Vec<Event> = pieces.iter().flat_map(|piece| reader.feed(piece)).collect();
    events.extend(reader.finish());
    events
}

/// A log of all handed failures, one after the other, with ordinary lines between them.
fn log() -> Vec<u8> {
    let mut log = Vec::new();
    for (at, case) in cases("handed.jsonl").iter().enumerate() {
        for line in 0..at % 4 {
            log.extend(format!("2026-11-30 10:16:{line:02},000 INFO  [app] (main) request {line} done\n").bytes());
        }
        log.extend(case.input.as_str().unwrap_or("2026-11-30 10:17:00 INFO nothing").bytes());
        log.push(b'\n');
    }
    log.extend([0xC3, 0x28, 0xFF, b'\n', 0, 1, 2, b'\n']);
    log
}

#[test]
fn any_chunking_gives_the_same_events() {
    let log = log();
    let whole = read(&[&log]);
    assert!(whole.len() >= 20, "{}", whole.len());
    for size in [1, 2, 7, 63, 1024, 4099] {
        assert_eq!(read(&log.chunks(size).collect::<Vec<_>>()), whole, "in pieces of {size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_cuts_give_the_same_events(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let log = log();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(log.len())).collect();
        at.extend([0, log.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &log[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[&log]));
    }
}

#[test]
fn lines_and_times_are_the_log_s_own() {
    let log = "2026-11-30 10:00:00,001 INFO  [app] (main) up\n\
               2026-11-30 10:00:01,002 ERROR [app] (w-1) call failed\n\
               java.net.ConnectException: Connection refused\n\
               \tat a.B.c(B.java:1)\n\
               2026-11-30 10:00:02,003 INFO  [app] (main) still up\n\
               2026-11-30 10:00:03,004 ERROR [app] (w-1) javax.naming.NameNotFoundException: orders\n";
    let events = read(&[log.as_bytes()]);
    let seen: Vec<_> =
        events.iter().map(|event| (event.line, event.last_line, event.time.as_deref(), event.verdict.category)).collect();
    assert_eq!(
        seen,
        [
            (3, 4, Some("2026-11-30 10:00:01,002"), Category::NotConnected),
            (6, 6, Some("2026-11-30 10:00:03,004"), Category::NamingAnswer),
        ]
    );
}

#[test]
fn the_same_events_collapse() {
    let mut groups = Groups::default();
    let mut log = String::new();
    for second in 10..60 {
        let record = format!("2026-11-30 10:00:{second},000 ERROR [app] (w-{second})");
        let _ =
            writeln!(log, "{record} java.net.ConnectException: Connection refused: h/192.0.2.{second}:80\n\tat a.B.c(B.java:1)");
    }
    log.push_str("2026-11-30 10:01:00,000 ERROR [app] (w-1) java.net.SocketTimeoutException: Read timed out\n");
    for event in read(&[log.as_bytes()]) {
        groups.add(&event);
    }
    let seen =
        |group: &Group| (group.count, group.first.line, group.last_line, group.first.time.clone(), group.last_time.clone());
    let time = |text: &str| Some(format!("2026-11-30 10:{text},000"));
    let groups: Vec<_> = groups.groups().iter().map(seen).collect();
    assert_eq!(groups, [(50, 1, 99, time("00:10"), time("00:59")), (1, 101, 101, time("01:00"), time("01:00"))]);
}

/// A retry of the same failure whose line was cut short is of the same group.
#[test]
fn a_truncated_copy_is_of_the_same_group() {
    let case = cases("handed.jsonl").into_iter().find(|case| case.id == "jnp-jms-refresh").unwrap();
    let events = read(&[case.input.as_str().unwrap().as_bytes()]);
    let mut groups = Groups::default();
    let of: Vec<_> = events.iter().map(|event| groups.add(event)).collect();
    assert_eq!(of, [Some(0), Some(0)]);
}

#[test]
fn memory_is_bounded_by_no_input() {
    // One endless line; one endless stack; one endless message; links without end.
    let endless = [
        ("x java.net.ConnectException: y ", 50_000),
        ("\tat a.B.c(B.java:1)\n", 50_000),
        ("java.net.ConnectException:\nand\n", 10_000),
        ("Caused by: a.BException: c\n", 10_000),
    ];
    for (unit, count) in endless {
        let mut reader = LogReader::new();
        let mut events = reader.feed(b"java.net.ConnectException: refused\n");
        let chunk = unit.repeat(1000);
        for _ in 0..count / 1000 {
            events.extend(reader.feed(chunk.as_bytes()));
            assert!(reader.held() < 1 << 20, "{} bytes are held of {unit:?}", reader.held());
        }
        events.extend(reader.finish());
        for event in events {
            assert!(event.text.len() < 4096 && event.chain.thrown.len() <= 64, "{unit:?}");
        }
    }
}

#[test]
fn bytes_in_any_encoding() {
    let text = "2026-11-30 ERROR java.net.ConnectException: Verbindung verweigert\n";
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(classify_text(&wide).category, Category::NotConnected);
    let latin = b"caf\xe9 \xff\xfe\njava.net.ConnectException: refus\xe9\xe9e\n";
    assert_eq!(classify_text(latin).category, Category::NotConnected);
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let binary: Vec<u8> = (0..200_000_u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for input in [b"".as_slice(), b"\n\n\n", &binary, b"\x7fELF\x02\x01\x01\0\0\0"] {
        assert_eq!(read(&[input]), []);
    }
}

#[test]
fn a_line_beyond_its_limit_is_cut_and_counted_once() {
    let mut log = vec![b'x'; 100_000];
    log.extend(b" java.net.ConnectException: beyond\n");
    log.extend(b"java.net.ConnectException: here\n");
    let events = read(&log.chunks(5000).collect::<Vec<_>>());
    assert_eq!(events.iter().map(|event| event.line).collect::<Vec<_>>(), [2]);
}
