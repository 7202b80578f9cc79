//! What a tree costs: memory a name, lookups, listings, snapshots and writes, from a thousand names to a million.
//!
//! ```text
//! cargo bench --bench tree [-- names …]
//! ```
//! Each size runs in a process of its own, so that memory is what the system counts (resident set) and not what an
//! allocator kept from the size before. Names are bound in random order, so neighbours lie far apart; "cold" asks for
//! random ones of them all, "hot" for the same few again. Times are medians over batches; memory is the difference that
//! building makes.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures and prints")]
#![allow(clippy::cast_precision_loss, clippy::unwrap_used, reason = "figures for people; a failure ends the program")]

use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hanaming::naming::{BindOptions, Change, Lookup, Name, Tree, Value};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const CHILDREN: usize = 1000;
const BATCH: usize = 50;
const HOT: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, size] = &arguments[..]
        && flag == "--one"
    {
        println!("{}", measure(size.parse().unwrap()));
        return;
    }
    let given: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    println!("{}", row(&HEADINGS.map(|(heading, _)| heading.to_owned())));
    println!("{}", row(&HEADINGS.map(|(_, target)| target.to_owned())));
    for size in if given.is_empty() { SIZES.to_vec() } else { given } {
        let child = Command::new(std::env::current_exe().unwrap()).args(["--one", &size.to_string()]).output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        print!("{}", String::from_utf8_lossy(&child.stdout));
    }
}

/// The columns, each with the figure to reach at a million names.
const HEADINGS: [(&str, &str); 13] = [
    ("names", "to reach:"),
    ("B/name", "<= 450"),
    ("B/name read", "<= 450"),
    ("hot", ""),
    ("cold", "<= 1 us"),
    ("absent", ""),
    ("p99.9 under writes", ""),
    ("list 100 hot", ""),
    ("list 100 cold", "<= 20 us"),
    ("snapshot", ""),
    ("binds/s", ""),
    ("rebinds/s", ""),
    ("beside a reader", ""),
];

fn row(cells: &[String]) -> String {
    let cells: Vec<String> =
        cells.iter().zip(HEADINGS).map(|(cell, (heading, _))| format!("{cell:>0$}", heading.len().max(9))).collect();
    cells.join("  ")
}

fn measure(size: usize) -> String {
    let mut rng = StdRng::seed_from_u64(5);
    let mut names: Vec<String> = (0..size).map(nth).collect();
    names.shuffle(&mut rng);
    let content = Value::from("http://10.0.0.5:8080/service").to_content().unwrap();

    let before = resident();
    let tree = Tree::new(1);
    let start = Instant::now();
    for name in &names {
        let options = BindOptions { replace: false, create_parents: true };
        assert!(matches!(tree.bind(&Name::parse(name).unwrap(), content.clone(), options), Ok(Change::Done(_))));
    }
    let binds = size as f64 / start.elapsed().as_secs_f64();
    let fresh = (resident() - before) as f64 / tree.len() as f64;

    names.shuffle(&mut rng);
    let cold = step(BATCH, names.iter().take(100_000), |name| find(&tree, name));
    // Whoever answers a lookup over the wire clones the content, which makes the value's bytes shared.
    for name in &names {
        if let Lookup::Found(entry) = tree.lookup(name) {
            black_box(entry.content.clone());
        }
    }
    let read = (resident() - before) as f64 / tree.len() as f64;
    let hot = step(BATCH, names[..HOT].iter().cycle().take(100_000), |name| find(&tree, name));
    let absent: Vec<String> = names.iter().take(100_000).map(|name| format!("{name}x")).collect();
    let absent = step(BATCH, absent.iter(), |name| drop(black_box(tree.lookup(name))));

    let contexts: Vec<Name> = (0..size.div_ceil(CHILDREN)).map(|context| Name::parse(&nth_context(context)).unwrap()).collect();
    let after: Vec<String> = (0..CHILDREN - 100).map(|child| format!("service-{child:03}")).collect();
    let pages: Vec<(&Name, &String)> =
        (0..5000).map(|_| (&contexts[rng.random_range(0..contexts.len())], &after[rng.random_range(0..after.len())])).collect();
    let list = |(context, after): &(&Name, &String)| {
        let Ok(Change::Done(page)) = tree.list(context, Some(after), 100) else { unreachable!() };
        assert!(page.rows.len() >= 99);
        black_box(page);
    };
    let list_cold = step(1, pages.iter(), list);
    let list_hot = step(1, pages[..1].iter().cycle().take(5000), list);
    let snapshot = step(BATCH, 0..10_000, |_| drop(black_box(tree.snapshot())));
    let rebound = step(BATCH, names.iter().take(20_000), |name| rebind(&tree, name));
    let rebinds = 1.0 / rebound.as_secs_f64();
    let (slowest, beside) = under_writes(&tree, &names);
    row(&[
        size.to_string(),
        format!("{fresh:.0}"),
        format!("{read:.0}"),
        time(hot),
        time(cold),
        time(absent),
        time(slowest),
        time(list_hot),
        time(list_cold),
        time(snapshot),
        format!("{binds:.0}"),
        format!("{rebinds:.0}"),
        format!("{beside:.0}"),
    ])
}

fn nth_context(context: usize) -> String {
    format!("region-{:02}/team-{:04}", context % 10, context)
}

fn nth(index: usize) -> String {
    format!("{}/service-{:03}", nth_context(index / CHILDREN), index % CHILDREN)
}

fn find(tree: &Tree, name: &str) {
    let Lookup::Found(entry) = tree.lookup(name) else { unreachable!("{name} is bound") };
    black_box(entry);
}

fn rebind(tree: &Tree, name: &str) {
    let content = Value::from("http://10.0.0.6:8080/service").to_content().unwrap();
    let options = BindOptions { replace: true, create_parents: false };
    assert!(tree.bind(&Name::parse(name).unwrap(), content, options).is_ok());
}

/// The 99.9th percentile of lookups while another thread rebinds without a pause, and its rebinds a second.
fn under_writes(tree: &Tree, names: &[String]) -> (Duration, f64) {
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for name in names.iter().rev().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                rebind(tree, name);
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
        let start = Instant::now();
        let mut times: Vec<Duration> = Vec::new();
        while start.elapsed() < Duration::from_secs(1) {
            for name in names.iter().take(1000) {
                let start = Instant::now();
                find(tree, name);
                times.push(start.elapsed());
            }
        }
        let rebinds = written.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        times.sort_unstable();
        (times[times.len() * 999 / 1000], rebinds)
    })
}

/// The time of one step: the median over batches of steps, so that a batch in which the system ran something else
/// counts as one and not for its length.
fn step<T>(batch: usize, items: impl Iterator<Item = T>, mut step: impl FnMut(T)) -> Duration {
    let mut items = items.peekable();
    let mut times = Vec::new();
    while items.peek().is_some() {
        let start = Instant::now();
        items.by_ref().take(batch).for_each(&mut step);
        times.push(start.elapsed() / u32::try_from(batch).unwrap());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn time(duration: Duration) -> String {
    match duration.as_nanos() {
        nanos @ 0..1000 => format!("{nanos} ns"),
        nanos => format!("{:.1} us", nanos as f64 / 1000.0),
    }
}

/// The resident set in bytes, as Linux counts it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
