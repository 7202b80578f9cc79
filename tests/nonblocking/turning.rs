//! An event loop of the plainest kind around the driver.

use std::collections::{HashMap, HashSet};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hanaming::client::invocation::Invocation;
use hanaming::client::nonblocking::{Base, CallId, Driver, Effect, Finished, Watch};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

/// What a test waits for at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// A loop that turns when it's told to.
pub struct Turning {
    poll: Poll,
    pub driver: Driver<u32>,
    watched: HashMap<RawFd, Watched>,
    finished: HashMap<u32, Finished<u32>>,
    /// Calls that nobody awaits any more, as their owner knows them.
    pub abandoned: HashSet<u32>,
    /// What was found out when the owner was asked about an abandoned call.
    pub cancelled: Vec<Finished<u32>>,
    next: u32,
    base: Arc<Base>,
    wake: Option<Duration>,
    flush: bool,
    /// How many writes were put off to the end of a turn.
    pub flushes: usize,
}

#[derive(Clone, Copy)]
struct Watched {
    watch: Watch,
    write: bool,
}

#[allow(clippy::disallowed_methods, reason = "this loop is a driver: it reads the clock here and nowhere else")]
fn clock() -> Instant {
    Instant::now()
}

impl Turning {
    pub fn new(base: Arc<Base>) -> Self {
        Self {
            poll: Poll::new().unwrap(),
            driver: Driver::new(Arc::clone(&base)),
            watched: HashMap::new(),
            finished: HashMap::new(),
            abandoned: HashSet::new(),
            cancelled: Vec::new(),
            next: 0,
            base,
            wake: None,
            flush: false,
            flushes: 0,
        }
    }

    pub fn now(&self) -> Duration {
        self.base.now()
    }

    /// The time that has passed since then.
    pub fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }

    /// Begins a call without turning the loop.
    pub fn begin(&mut self, invocation: Invocation, timeout: Duration) -> (u32, CallId) {
        let token = self.next;
        self.next += 1;
        let now = self.now();
        let id = self.driver.submit(invocation, Some(timeout), now, token);
        self.carry_out();
        (token, id)
    }

    /// Turns until a call has ended.
    pub fn wait(&mut self, token: u32) -> Finished<u32> {
        self.turn_until(|turning| turning.finished.contains_key(&token));
        self.finished.remove(&token).unwrap()
    }

    /// Begins a call, and turns until it has ended.
    pub fn call(&mut self, invocation: Invocation, timeout: Duration) -> Finished<u32> {
        let (token, _) = self.begin(invocation, timeout);
        self.wait(token)
    }

    /// Turns until something is so.
    pub fn turn_until(&mut self, mut so: impl FnMut(&Self) -> bool) {
        let end = clock() + PATIENCE;
        while !so(self) {
            assert!(clock() < end, "not so after {PATIENCE:?}; {} calls are under way", self.driver.under_way());
            self.turn();
        }
    }

    /// Waits until something has come, and tells nobody.
    pub fn until_readable(&mut self) {
        for fd in self.watched.keys() {
            let token = Token(usize::try_from(*fd).unwrap());
            self.poll.registry().reregister(&mut SourceFd(fd), token, Interest::READABLE).unwrap();
        }
        let mut events = Events::with_capacity(64);
        let end = clock() + PATIENCE;
        while events.iter().all(|event| !event.is_readable()) {
            assert!(clock() < end, "nothing came in {PATIENCE:?}");
            self.poll.poll(&mut events, Some(Duration::from_millis(50))).unwrap();
        }
    }

    /// The timer rings, at this time.
    pub fn ring_at(&mut self, at: Duration) {
        self.wake = None;
        self.driver.on_timer(at);
        self.carry_out();
    }

    /// Connections that are watched now.
    pub fn connections(&self) -> usize {
        self.watched.values().filter(|watched| watched.watch.number() != u64::MAX).count()
    }

    /// Whether nothing at all is watched.
    pub fn watches_nothing(&self) -> bool {
        self.watched.is_empty()
    }

    /// One turn: waits for something, a short time at most, and takes it in.
    pub fn turn(&mut self) {
        // mio tells each change once; a loop that tells as long as it's so is had by asking anew each time.
        for (fd, watched) in &self.watched {
            let interest = if watched.write { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
            let token = Token(usize::try_from(*fd).unwrap());
            self.poll.registry().reregister(&mut SourceFd(fd), token, interest).unwrap();
        }
        let mut limit = Duration::from_millis(5);
        if let Some(wake) = self.wake {
            limit = limit.min(wake.saturating_sub(self.now()));
        }
        let mut events = Events::with_capacity(64);
        if let Err(error) = self.poll.poll(&mut events, Some(limit)) {
            assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
        }
        for event in &events {
            let fd = RawFd::try_from(event.token().0).unwrap();
            let now = self.now();
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                if let Some(watched) = self.watched.get(&fd).filter(|watched| !watched.write || event.is_readable()) {
                    self.driver.on_readable(watched.watch, now);
                }
                self.carry_out();
            }
            if event.is_writable() || event.is_error() {
                if let Some(watched) = self.watched.get(&fd).filter(|watched| watched.write) {
                    self.driver.on_writable(watched.watch, now);
                }
                self.carry_out();
            }
        }
        let now = self.now();
        if self.wake.is_some_and(|wake| wake <= now) {
            self.wake = None;
            self.driver.on_timer(now);
        }
        if std::mem::take(&mut self.flush) {
            self.flushes += 1;
            self.send();
        }
        self.carry_out();
    }

    fn send(&mut self) {
        let now = self.now();
        let leaving: Vec<CallId> = self.driver.leaving().collect();
        for id in leaving {
            if self.driver.token(id).is_some_and(|token| self.abandoned.contains(token)) {
                self.cancelled.extend(self.driver.cancel(id, now));
            }
        }
        self.driver.flush(now);
    }

    /// Carries out what the driver asks for.
    pub fn carry_out(&mut self) {
        loop {
            let mut finished = Vec::new();
            self.driver.take_finished(&mut finished);
            for call in finished {
                assert!(self.finished.insert(call.token, call).is_none(), "a call ends once");
            }
            let mut effects = Vec::new();
            self.driver.take_effects(&mut effects);
            if effects.is_empty() && !self.driver.holds() {
                return;
            }
            for effect in effects {
                self.apply(effect);
            }
            if self.driver.holds() {
                self.send();
            }
        }
    }

    fn apply(&mut self, effect: Effect) {
        let registry = self.poll.registry();
        match effect {
            Effect::WatchRead(fd, watch) => {
                let before = self.watched.insert(fd, Watched { watch, write: false });
                assert!(before.is_none(), "a descriptor is watched under one name");
                registry.register(&mut SourceFd(&fd), Token(usize::try_from(fd).unwrap()), Interest::READABLE).unwrap();
            }
            Effect::WatchWrite(fd, watch) => {
                let watched = self.watched.get_mut(&fd).unwrap();
                assert_eq!(watched.watch, watch);
                assert!(!watched.write, "it's asked for once");
                watched.write = true;
            }
            Effect::UnwatchWrite(fd) => {
                let watched = self.watched.get_mut(&fd).unwrap();
                assert!(watched.write, "it was asked for");
                watched.write = false;
            }
            Effect::Close(fd, _socket) => {
                self.watched.remove(&fd).unwrap();
                registry.deregister(&mut SourceFd(&fd)).unwrap();
            }
            Effect::FlushSoon => self.flush = true,
            Effect::Wake(after) => self.wake = Some(self.now() + after),
        }
    }
}
