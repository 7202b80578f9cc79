//! A node without data joins one that has many names. `SIMULATION_NAMES=100000` says how many, and how long that took is
//! told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hanaming::cluster::replica::{Draft, Replica};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::sync::Progress;
use hanaming::naming::{Content, Name};
use hanaming::protocol::OperationId;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::campaign::number;
use crate::reader::Reader;

fn replica(seed: u64) -> Replica {
    Replica::new(Arc::from("n"), Duration::from_secs(1), StdRng::seed_from_u64(seed), Rules::ALL)
}

#[test]
fn a_node_joins_with_one_full_answer() {
    let names = number("SIMULATION_NAMES").unwrap_or(3000);
    let (mut old, mut new) = (replica(1), replica(2));
    let began = Instant::now();
    for sequence in 1..=names {
        let name = Name::from_components([format!("c{}", sequence % 100), format!("n{sequence}")]);
        let operation = OperationId { client: 1, sequence };
        old.write(Duration::ZERO, &name, Draft::of(operation, Some(Content::link("x"))));
    }
    let written = began.elapsed();
    let (request, mut pull) = new.begin_pull();
    let mut messages = Vec::new();
    for part in old.answer_pull(&request) {
        messages.push(postcard::to_allocvec(&part).unwrap());
    }
    let sent = began.elapsed();
    let parts: Vec<_> = messages.iter().map(|bytes| postcard::from_bytes(bytes).unwrap()).collect();
    let heard = began.elapsed();
    let mut last = Progress::Waiting;
    for part in parts {
        last = new.take_part(Duration::ZERO, &mut pull, part);
    }
    assert_eq!(last, Progress::Complete { full: false });
    let mut reader = Reader::default();
    reader.follow(&new.take_changes()).unwrap();
    let joined = began.elapsed();
    reader.check(&new).unwrap();
    assert_eq!((old.digest(), old.size()), (new.digest(), new.size()));
    assert_eq!(old.size().0, names);
    let (encoding, decoding, applying) = (sent - written, heard - sent, joined - heard);
    let bytes: usize = messages.iter().map(Vec::len).sum();
    eprintln!(
        "{names} names: {written:?} to write, {encoding:?} to answer ({bytes} bytes in {} parts), {decoding:?} to read, \
         {applying:?} to apply and show",
        messages.len()
    );
}
