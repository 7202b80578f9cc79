//! Whatever the log is, reading twice as much of it takes twice the work: no shape makes the reader look back over all
//! that it holds. What is compared is this thread's own time on a processor, which no other process lengthens.

use std::fmt::Write;
use std::fs;

use hanaming::failure::LogReader;

/// Logs in shapes that a reader may stumble over, by their number of lines.
type Shape = (&'static str, fn(usize) -> String);
const SHAPES: &[Shape] = &[
    ("all lines are failures", |lines| {
        (0..lines).fold(String::new(), |mut log, line| {
            let _ = writeln!(log, "2026-11-30 10:00:00,{line:03} ERROR [a] (w-1) java.net.ConnectException: refused {line}");
            log
        })
    }),
    ("causes without end", |lines| {
        (0..lines).fold(String::new(), |mut log, line| {
            let _ = writeln!(log, "Caused by: com.acme.E{line}Exception: of {line}");
            log
        })
    }),
    ("links without exceptions", |lines| "com.acme.AException: nested exception is:\n".repeat(lines)),
    ("parts without end", |lines| "\tSuppressed: java.net.ConnectException: refused\n".repeat(lines)),
    ("one trace of frames", |lines| format!("com.acme.AException: b\n{}", "\tat a.B.c(B.java:1)\n".repeat(lines))),
    ("a traceback without end", |lines| {
        format!("Traceback (most recent call last):\n{}", "  File \"a.py\", line 1, in f\n    g()\n".repeat(lines / 2))
    }),
    ("words that open nothing", |lines| "Error Exception Timeout rpc CORBA minor completed nested at File\n".repeat(lines)),
    ("one line", |lines| "java.net.ConnectException: refused (".repeat(lines)),
    ("long lines", |lines| format!("{} java.net.ConnectException: x\n", "a.b.Error".repeat(1600)).repeat(lines / 200)),
    ("brackets", |lines| "<_InactiveRpcError of RPC that terminated with:\n".repeat(lines)),
];

/// How long a log takes, in nanoseconds: what a thread has spent is only told now and then, so it is read several times.
fn work(log: &str) -> u64 {
    let spent = || {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let before = spent();
    let mut times = 0;
    while spent() - before < 60_000_000 {
        let mut reader = LogReader::new();
        let events = reader.feed(log.as_bytes()).len() + reader.finish().len();
        assert!(events < log.len());
        times += 1;
    }
    (spent() - before) / times
}

#[cfg(target_os = "linux")]
#[test]
fn eight_times_the_lines_take_no_more_than_eight_times_the_work() {
    for (shape, log) in SHAPES {
        let (few, many) = (work(&log(500)), work(&log(4_000)));
        // Quadratic work would be sixty-four times as much.
        assert!(many < few * 24, "{shape}: {few} ns for 500 lines, {many} ns for 4000");
    }
}
