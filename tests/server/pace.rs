//! How slow the other side of a connection may be.

use std::time::Duration;

use hanaming::server::ServerLimits;
use hanaming::server::connection::pace::{Pace, State};
use tokio::time::Instant;

struct Run {
    start: Instant,
    pace: Pace,
}

impl Run {
    fn new() -> Self {
        let limits = ServerLimits {
            handshake: Duration::from_secs(5),
            frame_time: Duration::from_secs(10),
            idle: Duration::from_secs(100),
            unsent_time: Duration::from_secs(20),
            ..ServerLimits::default()
        };
        let start = Instant::now();
        Self { start, pace: Pace::new(start, &limits) }
    }

    fn note(&mut self, state: State, second: u64) {
        self.pace.note(state, self.start + Duration::from_secs(second));
    }

    /// When the next time runs out, in seconds, and which.
    fn next(&self) -> (u64, &'static str) {
        let deadline = self.pace.deadline();
        assert_eq!(self.pace.over(deadline.checked_sub(Duration::from_millis(1)).unwrap()), None);
        ((deadline - self.start).as_secs(), self.pace.over(deadline).unwrap())
    }
}

fn greeted() -> State {
    State { greeted: true, frames: 1, ..State::default() }
}

const HELLO: &str = "no hello in time";
const FRAME: &str = "a frame did not end in time";
const UNSENT: &str = "replies were not taken in time";
const IDLE: &str = "idle for too long";

#[test]
fn a_hello_has_its_time_however_many_bytes_trickle() {
    let mut run = Run::new();
    run.note(State::default(), 0);
    assert_eq!(run.next(), (5, HELLO));
    run.note(State { mid_frame: true, ..State::default() }, 4);
    assert_eq!(run.next(), (5, HELLO));
}

#[test]
fn a_frame_has_its_time_from_its_first_byte() {
    let mut run = Run::new();
    run.note(greeted(), 0);
    assert_eq!(run.next(), (100, IDLE));
    for second in [7, 8, 16] {
        run.note(State { mid_frame: true, ..greeted() }, second);
        assert_eq!(run.next(), (17, FRAME));
    }
    // The next frame began with the bytes that ended the one before.
    run.note(State { mid_frame: true, frames: 2, ..greeted() }, 16);
    assert_eq!(run.next(), (26, FRAME));
    run.note(State { frames: 3, ..greeted() }, 20);
    assert_eq!(run.next(), (120, IDLE));
}

#[test]
fn replies_are_taken_in_time_as_a_whole() {
    let mut run = Run::new();
    run.note(State { unsent: 1000, ..greeted() }, 1);
    assert_eq!(run.next(), (21, UNSENT));
    // A byte a second does not help.
    run.note(State { unsent: 1500, taken: 500, ..greeted() }, 15);
    assert_eq!(run.next(), (21, UNSENT));
    // All that waited was taken: what came since has its own time.
    run.note(State { unsent: 600, taken: 1400, ..greeted() }, 18);
    assert_eq!(run.next(), (38, UNSENT));
    run.note(State { taken: 2000, ..greeted() }, 30);
    assert_eq!(run.next(), (101, IDLE));
}

#[test]
fn who_waits_for_an_answer_is_not_idle() {
    let mut run = Run::new();
    run.note(State { in_flight: 1, ..greeted() }, 50);
    // Nothing runs; the session looks again some time, and not over and over.
    assert_eq!(run.pace.over(run.pace.deadline()), None);
    run.note(State { in_flight: 1, ..greeted() }, 500);
    assert!(run.pace.deadline() > run.start + Duration::from_secs(500));
    run.note(greeted(), 501);
    assert_eq!(run.next(), (601, IDLE));
}
