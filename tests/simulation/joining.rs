//! A node without data joins one that has many names. `SIMULATION_NAMES=100000` says how many, and how long that took is
//! told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hanaming::cluster::replica::{Draft, Replica};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::sync::{Progress, SyncPart};
use hanaming::naming::{Content, Name};
use hanaming::protocol::OperationId;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::campaign::number;
use crate::reader::Reader;

fn replica(seed: u64) -> Replica {
    Replica::new(Arc::from("n"), Duration::from_secs(1), StdRng::seed_from_u64(seed), Rules::ALL)
}

/// How long something took.
#[expect(clippy::disallowed_methods, reason = "a figure for people; nothing depends on it")]
fn timed<T>(task: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let result = task();
    (result, began.elapsed())
}

#[test]
fn a_node_joins_with_one_full_answer() {
    let names = number("SIMULATION_NAMES").unwrap_or(3000);
    let (mut old, mut new) = (replica(1), replica(2));
    let write = |sequence| {
        let name = Name::from_components([format!("c{}", sequence % 100), format!("n{sequence}")]);
        let operation = OperationId { client: 1, sequence };
        old.write(Duration::ZERO, &name, Draft::of(operation, Some(Content::link("x"))));
    };
    let ((), writing) = timed(|| (1..=names).for_each(write));
    let (request, mut pull) = new.begin_pull();
    let (messages, encoding) = timed(|| {
        let encoded = |part| postcard::to_allocvec(&part).unwrap();
        old.answer_pull(&request).into_iter().map(encoded).collect::<Vec<_>>()
    });
    let (parts, decoding) = timed(|| {
        let decoded = |bytes: &Vec<u8>| postcard::from_bytes::<SyncPart>(bytes).unwrap();
        messages.iter().map(decoded).collect::<Vec<_>>()
    });
    let mut reader = Reader::default();
    let (last, applying) = timed(|| {
        let last = parts.into_iter().map(|part| new.take_part(Duration::ZERO, &mut pull, part)).last();
        reader.follow(&new.take_changes()).unwrap();
        last
    });
    assert_eq!(last, Some(Progress::Complete { full: false }));
    reader.check(&new).unwrap();
    assert_eq!((old.digest(), old.size()), (new.digest(), new.size()));
    assert_eq!(old.size().0, names);
    let bytes: usize = messages.iter().map(Vec::len).sum();
    eprintln!(
        "{names} names: {writing:?} to write, {encoding:?} to answer ({bytes} bytes in {} parts), {decoding:?} to read, \
         {applying:?} to apply and show",
        messages.len()
    );
}
