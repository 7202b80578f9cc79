//! The log reader against `grep -c` and a Python `re` loop, over the same synthetic log in one interleaved run.
//!
//! ```text
//! cargo bench --bench log [-- lines rounds]
//! ```
//! The log is what a busy server writes: mostly records of requests, some stack traces, some failures cut short. grep
//! counts the lines with the words that the reader's first pass looks for; Python does what a script would: each line
//! against one compiled pattern of those words. Each figure is the best of the rounds; memory is the growth of this
//! process's resident set while it reads. Behind that stand logs that no server writes, in which almost each line is one
//! to look into.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures and prints")]
#![allow(clippy::cast_precision_loss, clippy::unwrap_used, reason = "figures for people; a failure ends the program")]

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hanaming::failure::LogReader;
use hanaming::failure::log::{Groups, LITERALS};

const PIECE: usize = 1 << 20;

fn main() {
    let arguments: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let lines = arguments.first().copied().unwrap_or(1_000_000);
    let rounds = arguments.get(1).copied().unwrap_or(5);
    let path = std::env::temp_dir().join(format!("hanaming-bench-{}.log", std::process::id()));
    write_log(&path, lines).unwrap();
    let pattern = LITERALS.iter().map(|literal| literal.replace('(', "[(]")).collect::<Vec<_>>().join("|");
    let mut best = [Duration::MAX; 3];
    let mut found = (0, 0);
    let mut grown = 0;
    for _ in 0..rounds {
        let before = resident();
        let took = timed(|| found = read(&path));
        grown = grown.max(resident().saturating_sub(before));
        best[0] = best[0].min(took);
        best[1] = best[1].min(timed(|| grep(&pattern, &path)));
        best[2] = best[2].min(timed(|| python(&pattern, &path)));
    }
    let size = fs::metadata(&path).unwrap().len();
    fs::remove_file(&path).unwrap();
    println!("{lines} lines, {:.0} MB, {} failures in {} groups; best of {rounds} rounds", size as f64 / 1e6, found.0, found.1);
    for (name, time) in ["reader", "grep -c", "Python re"].iter().zip(best) {
        let ratio = time.as_secs_f64() / best[0].as_secs_f64();
        println!(
            "{name:>10}  {:>6.0} ms  {:>6.2} M lines/s  {ratio:>6.2} x the reader's time",
            time.as_secs_f64() * 1e3,
            lines as f64 / time.as_secs_f64() / 1e6
        );
    }
    println!("memory: the resident set grew by {:.1} MB", grown as f64 / 1e6);
    for (name, unit) in SHAPES {
        let log = unit.repeat(lines.min(SHAPE_BYTES) / unit.len() * 8);
        let took = (0..rounds).map(|_| timed(|| read_text(&log))).min().unwrap_or_default().as_secs_f64();
        let (megabytes, lines) = (log.len() as f64 / 1e6, log.lines().count() as f64);
        println!("{name:>24}  {:>6.1} MB/s  {:>6.2} M lines/s", megabytes / took, lines / took / 1e6);
    }
}

/// Each shape is made some megabytes long.
const SHAPE_BYTES: usize = 1 << 20;

/// Shapes of a log in which almost all lines matter.
const SHAPES: &[(&str, &str)] = &[
    ("each line a failure", "2026-11-30 10:00:00,000 ERROR [app] (w-7) java.net.ConnectException: Connection refused\n"),
    ("traces of four", TRACE),
    ("frames alone", "\tat com.example.Orders.place(Orders.java:41)\n"),
    ("causes without end", "Caused by: com.example.OrderException: not placed\n"),
    ("Python's tracebacks", TRACEBACK),
    ("long lines", LONG),
];
const TRACE: &str = concat!(
    "2026-11-30 10:00:00,000 ERROR [app] (w-7) com.example.OrderException: order 17\n\tat com.example.A.b(A.java:1)\n",
    "\tat com.example.A.c(A.java:2)\n\tat com.example.A.d(A.java:3)\n\tat com.example.A.e(A.java:4)\n",
    "Caused by: com.example.StockException: none\n\tat com.example.S.b(S.java:1)\n\t... 21 more\n",
    "Caused by: javax.naming.CommunicationException: h:1099\n\tat com.example.N.b(N.java:1)\n\t... 22 more\n",
    "Caused by: java.net.SocketTimeoutException: Read timed out\n\tat java.net.SocketInputStream.read(S.java:1)\n\t... 23 more\n",
);
const TRACEBACK: &str = concat!(
    "Traceback (most recent call last):\n  File \"/usr/lib/python3/site-packages/a/b.py\", line 10, in call\n",
    "    return self.connection.send(request)\n  File \"/usr/lib/python3/site-packages/a/c.py\", line 7, in send\n",
    "    self.sock.sendall(data)\nConnectionResetError: [Errno 104] Connection reset by peer\n",
);
const LONG: &str = concat!(
    "2026-11-30 10:00:00,000 INFO [app] (w-7) Error Error Error a.b.Error 1 2 3 Timeout (x, y) Exception java.net.Error ",
    "Error Error Error a.b.Error 1 2 3 Timeout (x, y) Exception java.net.Error Error Error Error a.b.Error 1 2 3 Timeout ",
    "Error Error Error a.b.Error 1 2 3 Timeout (x, y) Exception java.net.Error Error Error Error a.b.Error 1 2 3 Timeout\n",
);

fn read_text(log: &str) {
    let (mut reader, mut groups) = (LogReader::new(), Groups::default());
    for piece in log.as_bytes().chunks(PIECE) {
        for event in reader.feed(piece) {
            groups.add(&event);
        }
    }
    for event in reader.finish() {
        groups.add(&event);
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// Reads the log in pieces; how many failures in how many groups.
fn read(path: &Path) -> (u64, usize) {
    let (mut reader, mut groups, mut failures) = (LogReader::new(), Groups::default(), 0);
    let mut file = fs::File::open(path).unwrap();
    let mut piece = vec![0; PIECE];
    loop {
        let length = file.read(&mut piece).unwrap();
        let events = if length == 0 { reader.finish() } else { reader.feed(&piece[..length]) };
        for event in events {
            groups.add(&event);
            failures += 1;
        }
        if length == 0 {
            return (failures, groups.groups().len());
        }
    }
}

fn grep(pattern: &str, path: &Path) {
    run(Command::new("grep").env("LC_ALL", "C").args(["-cE", pattern]).arg(path));
}

fn python(pattern: &str, path: &Path) {
    let script = "import re, sys\nfind = re.compile(sys.argv[1].encode()).search\nprint(sum(1 for line in open(sys.argv[2], 'rb') if find(line)))";
    run(Command::new("python3").args(["-c", script, pattern]).arg(path));
}

fn run(command: &mut Command) {
    // Not to /dev/null: grep would stop at the first match.
    assert!(command.stdout(Stdio::piped()).output().unwrap().status.success());
}

/// This process's resident set in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

/// One failure in some hundred lines.
const FAILURES: &[&str] = &[
    "ERROR [stderr] (w-7) java.rmi.ConnectException: Connection refused to host: 192.0.2.7; nested exception is: \n\tjava.net.ConnectException: Connection refused\n\tat sun.rmi.transport.tcp.TCPEndpoint.newSocket(TCPEndpoint.java:619)\n\tat com.example.Orders.place(Orders.java:41)",
    "ERROR [orb] (w-3) org.omg.CORBA.COMM_FAILURE:   vmcid: SUN  minor code: 203  completed: Maybe\n\tat com.sun.corba.ee.impl.Transport.write(Transport.java:1)",
    "WARN  [jndi] (w-1) javax.naming.NameNotFoundException: orders/n3; remaining name 'n3'",
];

/// Straight into the file: this process's memory is measured.
fn write_log(path: &Path, lines: usize) -> io::Result<()> {
    let mut log = io::BufWriter::new(fs::File::create(path)?);
    for number in 0..lines {
        let (minute, second) = (number / 60_000 % 60, number / 1000 % 60);
        write!(log, "2026-11-30 10:{minute:02}:{second:02},{:03} ", number % 1000)?;
        if number % 300 == 299 {
            writeln!(log, "{}", FAILURES[number / 300 % FAILURES.len()])?;
        } else {
            let (worker, took) = (number % 16, number % 97);
            writeln!(log, "INFO  [com.example.web.Access] (worker-{worker}) GET /orders/{number} 200 in {took} ms")?;
        }
    }
    log.flush()
}
