//! Records of a log that have nothing to do with each other are failures of their own, in whatever format they stand:
//! joined, the completion of one call would be read into another.

use std::fmt::Write;

use hanaming::failure::log::Groups;
use hanaming::failure::{Category, CompletionStatus, Event, LogReader, classify_text};

fn read(text: &str) -> Vec<Event> {
    let mut reader = LogReader::new();
    let mut events = reader.feed(text.as_bytes());
    events.extend(reader.finish());
    events
}

fn meanings(events: &[Event]) -> Vec<(u64, Category, Option<CompletionStatus>)> {
    events.iter().map(|event| (event.line, event.verdict.category, event.verdict.completion)).collect()
}

/// A record's prefix at a minute, of a level; `{m}` and `{L}` are these.
const FORMATS: &[&str] = &[
    "10:{m}:00 {L} ",
    "10:{m}:00,123 {L} [shop] (w-1) ",
    "10:{m}:00,123 {L}  [com.example.Shop] (default task-1) ",
    "2026-11-30 10:{m}:00,123 {L} ",
    "2026-11-30 10:{m}:00,123 {L} [com.example.Shop] (default task-1) ",
    "2026-11-30 10:{m}:00.123 [main] {L} com.example.Shop - ",
    "10:{m}:00.123 [main] {L} c.e.Shop - ",
    "2026-11-30T10:{m}:00.123Z {L} ",
    "2026-11-30T10:{m}:00.123+01:00 {L} 4711 --- [main] com.example.Shop : ",
    "[2026-11-30T10:{m}:00.123Z] {L} ",
    "[11/30/26 10:{m}:00:123 CET] 00000044 Shop E ",
    "[11/30/26 10:{m}:00:123 CET] 0000002b SystemErr     R ",
    "Nov 30 10:{m}:00 host shop[123]: ",
    "Nov 30 10:{m}:00 host shop[123]: {L} ",
    "<11>1 2026-11-30T10:{m}:00Z host shop 123 - - ",
    "{L} ",
    "{L}: ",
    "[{L}] ",
    "[main] {L} c.e.Shop - ",
    "10:{m}:00 ",
    "2026-11-30 10:{m}:00,123 ",
    "web_1  | 2026-11-30 10:{m}:00,123 {L} ",
    "2026-11-30T10:{m}:00.123456789Z 2026-11-30 10:{m}:00,123 {L} ",
    "{L}: [10:{m}:00:003 MST] container#0-1 Shop - ",
    "E1130 10:{m}:00.624904    4386 log.cc:13] ",
    "10:{m}:00 {L} shop >> ",
    "time=\"2026-11-30T10:{m}:00Z\" level={L} msg=",
    "",
];

fn prefix(format: &str, minute: usize, level: &str) -> String {
    format.replace("{m}", &format!("{minute:02}")).replace("{L}", level)
}

/// Failures as one line each, with what they are.
const FAILURES: &[(&str, Category, CompletionStatus)] = &[
    ("java.net.ConnectException: Connection refused", Category::NotConnected, CompletionStatus::No),
    ("calling x java.net.SocketTimeoutException: Read timed out", Category::NoResponse, CompletionStatus::Maybe),
    (
        "placing order failed: org.omg.CORBA.TRANSIENT: vmcid: 0x0 minor code: 1 completed: No",
        Category::NotConnected,
        CompletionStatus::No,
    ),
    ("cart lost: java.net.SocketTimeoutException: Read timed out", Category::NoResponse, CompletionStatus::Maybe),
    ("Cart 7: java.net.SocketTimeoutException: Read timed out", Category::NoResponse, CompletionStatus::Maybe),
];

/// What may stand between two records, of other records.
const BETWEEN: &[(usize, &str, &str)] =
    &[(0, "", ""), (1, "INFO", "order 7 placed"), (3, "WARN", "retrying, attempt 2"), (9, "DEBUG", "polling the queue")];

#[test]
fn two_records_are_two_failures_in_any_format() {
    let mut wrong = String::new();
    for (at, format) in FORMATS.iter().enumerate() {
        for (a, first) in FAILURES.iter().enumerate() {
            for (b, second) in FAILURES.iter().enumerate().filter(|(b, _)| *b != a) {
                for (lines, level, words) in [BETWEEN[0], BETWEEN[1 + (at + a + b) % 3]] {
                    let mut text = format!("{}{}\n", prefix(format, 3, "ERROR"), first.0);
                    for line in 0..lines {
                        let _ = writeln!(text, "{}{words} {line}", prefix(format, 4 + line, level));
                    }
                    let _ = writeln!(text, "{}{}", prefix(format, 40, "ERROR"), second.0);
                    let events = read(&text);
                    let seen = meanings(&events);
                    let expected = [(1, first.1, Some(first.2)), (lines as u64 + 2, second.1, Some(second.2))];
                    if seen != expected {
                        let _ = writeln!(wrong, "{format:?} {a} {b}:\n{text}{seen:?}\n");
                    } else if !format.is_empty() && events.iter().any(|event| event.text.contains('\n')) {
                        let _ = writeln!(wrong, "{format:?} {a} {b}: more than its record\n{text}");
                    } else if a == 0 && classify_text(text.as_bytes()).category != first.1 {
                        let _ = writeln!(wrong, "{format:?} {a} {b}: not the first");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Pairs that tempt to be joined: each of these is two failures.
const PAIRS: &[&str] = &[
    "10:03:00 ERROR java.net.ConnectException: Connection refused\n\n10:04:00 ERROR calling x java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR java.net.ConnectException: refused:\n10:04:00 ERROR cart lost: java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a java.net.ConnectException: one, two,\n10:04:00 ERROR cart lost: java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.net.ConnectException: refused (\n10:04:00 ERROR java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.rmi.ConnectException: Connection refused; nested exception is:\n13:04:00 ERROR java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.net.ConnectException: refused\n13:04:00 ERROR cart lost. Caused by: java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.net.ConnectException: refused\n13:04:00 ERROR Caused by: java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.net.ConnectException: refused\n10:03:00 ERROR b: java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR [a] (t-1) call: java.net.ConnectException: refused\n10:03:00 ERROR [b] (t-2) failed; nested exception is java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR call failed\njava.net.ConnectException: refused\n10:04:00 ERROR calling x java.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR call failed\njava.net.ConnectException: refused\n10:03:00 ERROR call failed\njava.net.SocketTimeoutException: Read timed out",
    "10:03:00 ERROR a: java.net.ConnectException: refused\n\tat a.B.c(B.java:1)\n10:04:00 ERROR cart lost; nested exception is: java.net.SocketTimeoutException: Read timed out",
    "[#|2026-11-30T10:03:00.1+0100|SEVERE|gf|x|_T=1;|java.net.ConnectException: refused|#]\n[#|2026-11-30T10:04:00.1+0100|SEVERE|gf|x|_T=1;|cart lost: java.net.SocketTimeoutException: Read timed out|#]",
    "Nov 30, 2026 10:03:00 AM com.example.Shop call\nSEVERE: a: java.net.ConnectException: refused\nNov 30, 2026 10:04:00 AM com.example.Shop call\nSEVERE: cart lost: java.net.SocketTimeoutException: Read timed out",
    "a: java.net.ConnectException: refused\ncart lost: java.net.SocketTimeoutException: Read timed out",
    "a long way to go: java.net.ConnectException: Connection refused by the peer at its door\nb: java.net.SocketTimeoutException: Read timed out",
];

#[test]
fn records_that_seem_to_go_on_do_not() {
    for pair in PAIRS {
        let seen: Vec<_> = read(pair).iter().map(|event| event.verdict.category).collect();
        assert_eq!(seen, [Category::NotConnected, Category::NoResponse], "{pair}");
    }
}

/// Traces whose logger writes each line as a record: each of these is one failure, in which no answer came.
const TRACES: &[&str] = &[
    "10:03:00,120 ERROR [stderr] (t-1) java.rmi.RemoteException: call; nested exception is: \n10:03:00,121 ERROR [stderr] (t-1) \tjava.net.SocketTimeoutException: Read timed out\n10:03:00,121 ERROR [stderr] (t-1) \tat a.B.c(B.java:1)\n10:03:00,122 ERROR [stderr] (t-1) Caused by: java.net.SocketTimeoutException: Read timed out\n10:03:00,122 ERROR [stderr] (t-1) \t... 3 more",
    "10:03:00,120 ERROR [stderr] (t-1) java.rmi.RemoteException: call; nested exception is: \n10:03:00,121 ERROR [stderr] (t-1) java.net.SocketTimeoutException: Read timed out",
    "ERROR java.rmi.RemoteException: call; nested exception is:\nERROR java.net.SocketTimeoutException: Read timed out\nERROR \tat a.B.c(B.java:1)",
    "[11/30/26 10:00:00:123 CET] 0000002b SystemErr     R java.rmi.RemoteException: call\n[11/30/26 10:00:00:124 CET] 0000002b SystemErr     R \tat a.B.c(B.java:1)\n[11/30/26 10:00:00:124 CET] 0000002b SystemErr     R Caused by: java.net.SocketTimeoutException: Read timed out",
    "Nov 30 10:00:00 host shop[123]: java.rmi.RemoteException: call\nNov 30 10:00:01 host shop[123]: \tat a.B.c(B.java:1)\nNov 30 10:00:01 host shop[123]: Caused by: java.net.SocketTimeoutException: Read timed out",
    "23:59:59,999 ERROR [stderr] (t-1) java.rmi.RemoteException: call\n00:00:00,001 ERROR [stderr] (t-1) Caused by: java.net.SocketTimeoutException: Read timed out",
    "2026-11-30T10:03:00.123456789Z 2026-11-30 10:03:00,123 ERROR call: java.rmi.RemoteException: x\n2026-11-30T10:03:00.123476789Z \tat a.B.c(B.java:1)\n2026-11-30T10:03:00.123496789Z Caused by: java.net.SocketTimeoutException: Read timed out",
    "10:03:00,120 ERROR node7 >> java.rmi.RemoteException: call\n10:03:00,121 ERROR node7 >> \tat a.B.c(B.java:1)\n10:03:00,121 ERROR node7 >> Caused by: java.net.SocketTimeoutException: Read timed out",
];

#[test]
fn a_trace_whose_lines_are_records_is_one_failure() {
    for trace in TRACES {
        let seen: Vec<_> = read(trace).iter().map(|event| (event.line, event.verdict.category)).collect();
        assert_eq!(seen, [(1, Category::NoResponse)], "{trace}");
    }
}

#[test]
fn a_hundred_failures_of_two_kinds_among_ordinary_records() {
    let mut log = String::new();
    for at in 0..50 {
        let records = [
            ("INFO ", format!("order {at} placed")),
            ("ERROR", "placing order failed: org.omg.CORBA.TRANSIENT: vmcid: 0x0 minor code: 1 completed: No".to_owned()),
            ("WARN ", format!("retrying, attempt {at}")),
            ("INFO ", "polling the queue".to_owned()),
            ("ERROR", "cart lost: java.net.SocketTimeoutException: Read timed out".to_owned()),
            ("WARN ", format!("cart {at} is gone")),
        ];
        for (second, (level, words)) in records.iter().enumerate() {
            let _ = writeln!(log, "2026-11-30 10:{at:02}:{:02},123 {level} [shop] (w-1) {words}", second * 7);
        }
    }
    assert_eq!(log.lines().count(), 300);
    let events = read(&log);
    assert_eq!(events.len(), 100);
    let mut groups = Groups::default();
    for event in &events {
        assert_eq!(event.line, event.last_line);
        groups.add(event);
    }
    let seen: Vec<_> = groups
        .groups()
        .iter()
        .map(|group| {
            let verdict = &group.first.verdict;
            (group.count, group.first.line, group.last_line, verdict.category, verdict.completion, verdict.action.as_str())
        })
        .collect();
    assert_eq!(
        seen,
        [
            (50, 2, 296, Category::NotConnected, Some(CompletionStatus::No), "failover"),
            (50, 5, 299, Category::NoResponse, Some(CompletionStatus::Maybe), "surface"),
        ]
    );
}
