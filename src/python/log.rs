//! Log records on their way to Python's `logging`.
//!
//! Rust threads never call Python: they put what they have to say into a bounded queue and go on. A daemon thread of
//! Python takes it out (`hanaming/log.py`). Until `enable()` nothing is collected and a record costs one comparison.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use super::process;

/// How many records wait at most. What comes while the queue is full is counted, not kept.
const LONGEST: usize = 4096;

/// How many of tracing's five levels are wanted: 0 none, 1 errors, 5 all.
static WANTED: AtomicUsize = AtomicUsize::new(0);
static INSTALLED: AtomicBool = AtomicBool::new(false);
/// The records on their way, of this process: a fork may leave the parent's locked for good.
static QUEUE: ArcSwapOption<Queue> = ArcSwapOption::const_empty();

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<LogRecord>,
    dropped: usize,
}

/// Level (0 error … 4 trace), module, message.
type LogRecord = (usize, &'static str, String);

/// Says how many of the levels error, warning, info, debug and trace are collected.
#[pyfunction]
pub fn log_level(wanted: usize) {
    if QUEUE.load().is_none() {
        QUEUE.store(Some(Arc::default()));
    }
    WANTED.store(wanted.min(5), Ordering::Release);
    if wanted > 0 && !INSTALLED.swap(true, Ordering::AcqRel) {
        // Where a program has a subscriber of its own, it keeps it.
        let _ = tracing::subscriber::set_global_default(Collector);
    }
}

/// Waits for records and takes them all, with the number of those that were dropped.
#[pyfunction]
pub fn log_records(py: Python<'_>) -> (Vec<LogRecord>, usize) {
    let Some(queue) = QUEUE.load_full() else { return (Vec::new(), 0) };
    process::without_interpreter(py, || {
        let mut waiting = queue.lock();
        while waiting.records.is_empty() {
            waiting = queue.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        (waiting.records.drain(..).collect(), std::mem::take(&mut waiting.dropped))
    })
}

/// In the child of a fork nobody drains the queue: nothing is collected until it is enabled there.
pub fn after_fork() {
    WANTED.store(0, Ordering::Release);
    std::mem::forget(QUEUE.swap(None));
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Collector;

impl Subscriber for Collector {
    fn register_callsite(&self, _metadata: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        rank(*metadata.level()) < WANTED.load(Ordering::Acquire) && metadata.target().starts_with("hanaming")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        None
    }

    fn event(&self, event: &Event<'_>) {
        let Some(queue) = QUEUE.load_full() else { return };
        let mut message = Message(String::new());
        event.record(&mut message);
        let metadata = event.metadata();
        let mut waiting = queue.lock();
        if waiting.records.len() < LONGEST {
            waiting.records.push_back((rank(*metadata.level()), metadata.target(), message.0));
        } else {
            waiting.dropped += 1;
        }
        drop(waiting);
        queue.arrived.notify_one();
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

fn rank(level: Level) -> usize {
    match level {
        Level::ERROR => 0,
        Level::WARN => 1,
        Level::INFO => 2,
        Level::DEBUG => 3,
        Level::TRACE => 4,
    }
}

/// An event's message, its fields behind it.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" if self.0.is_empty() => write!(self.0, "{value:?}"),
            "message" => {
                let fields = std::mem::take(&mut self.0);
                write!(self.0, "{value:?}{fields}")
            }
            name => write!(self.0, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
