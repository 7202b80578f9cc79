//! The streaming reader: the same events however the bytes come, in bounded memory, with their lines and times.

use std::fmt::Write;

use hanaming::failure::log::{Group, Groups};
use hanaming::failure::{Category, CompletionStatus, Event, LogReader, classify_text};
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

/// UTF-16 with a mark and without, either byte first, and lines that end with CR: the same events as of UTF-8.
#[test]
fn other_encodings_and_line_ends_are_read_as_utf_8_is() {
    let text = String::from_utf8_lossy(&log()).replace('\u{fffd}', "\u{e4}\u{1f600}");
    let whole = read(&[text.as_bytes()]);
    assert!(whole.len() >= 20, "{}", whole.len());
    let low_first: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let high_first: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let forms = [
        low_first.clone(),
        high_first.clone(),
        [vec![0xFF, 0xFE], low_first].concat(),
        [vec![0xFE, 0xFF], high_first].concat(),
        text.replace('\r', "").replace('\n', "\r").into_bytes(),
    ];
    for (form, bytes) in forms.iter().enumerate() {
        for size in [1, 3, 4099, bytes.len()] {
            assert_eq!(read(&bytes.chunks(size).collect::<Vec<_>>()), whole, "form {form} in pieces of {size}");
        }
    }
    // One line, without an end.
    for line in ["java.net.ConnectException: refused", "java.net.ConnectException: refused\rmore"] {
        let wide: Vec<u8> = line.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(classify_text(&wide).category, Category::NotConnected);
        assert_eq!(classify_text(line.as_bytes()).category, Category::NotConnected);
    }
}

/// Classes one below the other are a list, but not where frames stand below.
#[test]
fn two_classes_above_frames_are_two_failures() {
    let categories = |text: &str| read(&[text.as_bytes()]).iter().map(|event| event.verdict.category).collect::<Vec<_>>();
    let bare = "javax.naming.CommunicationException\njava.lang.NullPointerException\n";
    assert_eq!(categories(bare), []);
    assert_eq!(categories(&format!("{bare}\tat a.b.C.d(C.java:1)\n")), [Category::ConnectionLost, Category::Unknown]);
    assert_eq!(categories(&format!("java.net.ConnectException\n{bare}")), []);
}

/// An exception that its incident's head or a log's line names before its trace is counted once.
#[test]
fn a_failure_that_is_named_twice_is_one() {
    for text in [
        "Exception = org.omg.CORBA.TRANSIENT\nSource = a\nprobeid = 1\nStack Dump = org.omg.CORBA.TRANSIENT: x minor code: 0x49421040",
        "ERROR call failed: java.net.ConnectException: refused\njava.net.ConnectException: refused by h\n\tat a.b.C.d(C.java:1)\n",
    ] {
        let events = read(&[text.as_bytes()]);
        assert_eq!(events.len(), 1, "{events:#?}");
        assert_eq!(events[0].chain.thrown.len(), 1, "{:?}", events[0].chain);
    }
    let twice = "java.net.ConnectException: refused\nretrying\njava.net.ConnectException: refused\n";
    assert_eq!(read(&[twice.as_bytes()]).len(), 2);
}

/// What there was no room for may have been anything: nothing is `NO` then.
#[test]
fn parts_beyond_the_limit_may_have_run() {
    let text = |parts: usize| {
        let part = "\tSuppressed: java.net.ConnectException: Connection refused\n";
        format!(
            "org.jboss.ejb.client.RequestSendFailedException: EJBCLIENT000409: No more destinations are available\n{}",
            part.repeat(parts)
        )
    };
    let completion = |parts: usize| classify_text(text(parts).as_bytes()).completion;
    assert_eq!(completion(100), Some(CompletionStatus::No));
    assert_eq!(completion(10_000), Some(CompletionStatus::Maybe));
    assert_eq!(read(&[text(10_000).as_bytes()]).len(), 1);
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
