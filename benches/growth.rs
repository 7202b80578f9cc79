//! What many names cost in the cluster tree: the memory of each, and how long another node takes to copy them.
//!
//! ```text
//! cargo bench --bench growth [-- names …]
//! ```
//! Each size runs in a process of its own, so that memory is what the system counts (resident set). The node that copies runs
//! in the same process, on loopback.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures and prints")]
#![allow(clippy::cast_precision_loss, clippy::unwrap_used, reason = "figures for people; a failure ends the program")]

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hanaming::client::{BindOptions, Direct, Driver, Invocation, Subject};
use hanaming::naming::{Name, Value};
use hanaming::protocol::Scope;
use hanaming::server::{Node, ServerConfig};

const SIZES: [usize; 2] = [100_000, 1_000_000];
const CONTEXTS: usize = 1000;
const WITHIN: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, size] = &arguments[..]
        && flag == "--one"
    {
        measure(size.parse().unwrap());
        return;
    }
    let given: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    println!("{:>9}  {:>12}  {:>9}  {:>12}", "names", "B/name", "binds/s", "copied in s");
    println!("{:>9}  {:>12}  {:>9}  {:>12}", "to reach:", "<= 700", "", "100k: <= 5");
    for size in if given.is_empty() { SIZES.to_vec() } else { given } {
        let child = Command::new(std::env::current_exe().unwrap()).args(["--one", &size.to_string()]).output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        print!("{}", String::from_utf8_lossy(&child.stdout));
    }
}

fn measure(size: usize) {
    let first = Node::start(ServerConfig::new("n1")).unwrap();
    let direct = Direct::new(Arc::new(first.clone()), Scope::Cluster, WITHIN);
    let perform = |invocation: Invocation| direct.perform(invocation, None, &mut || false).unwrap();
    let subject = |text: String| Subject::from(Name::parse(&text).unwrap());
    for context in 0..CONTEXTS {
        perform(Invocation::create_subcontext(subject(format!("ctx{context}")), false).unwrap());
    }
    let (before, began) = (resident(), Instant::now());
    for number in 0..size {
        let content = Value::from(format!("value-{number}").as_str()).to_content().unwrap();
        let name = subject(format!("ctx{}/name{number}", number % CONTEXTS));
        perform(Invocation::bind(name, content, BindOptions::default()).unwrap());
    }
    let binds = size as f64 / began.elapsed().as_secs_f64();
    let per_name = (resident() - before) as f64 / size as f64;
    print!("{size:>9}  {per_name:>12.0}  {binds:>9.0}");
    let began = Instant::now();
    let second = Node::start(ServerConfig { seeds: vec![first.endpoint()], ..ServerConfig::new("n2") }).unwrap();
    while first.cluster_digest() != second.cluster_digest() {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("  {:>12.2}", began.elapsed().as_secs_f64());
    second.close();
    first.close();
}

/// The bytes of memory that the process has.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
