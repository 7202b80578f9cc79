//! A watch that somebody listens to, and the task that feeds it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::naming::{ErrorKind, NamingError};
use crate::protocol::Watched;

use super::super::driver::GiveUp;
use super::super::fork;
use super::asker::{Asker, Unanswered};
use super::event::Event;
use super::follower::Follower;
use super::pause::Pause;

/// The longest wait before the listener is asked whether it still wants to.
const SLICE: Duration = Duration::from_millis(100);

/// Called when there is something to listen to.
pub type Alarm = Box<dyn Fn() + Send + Sync>;

/// Events of watched names, in the order in which they are to be listened to. Dropping it ends it.
pub struct Watch(pub(super) Arc<Shared>);

/// What listening gave.
#[derive(Debug)]
pub enum Listened {
    /// Something happened.
    Event(Box<Event>),
    /// Nothing has, so far.
    Nothing,
    /// The watch was closed.
    Closed,
}

pub(super) struct Shared {
    desk: Mutex<Desk>,
    news: Condvar,
    /// Rung when enough was listened to that more may be asked.
    drained: Notify,
    /// Rung when the watch ends.
    ended: Notify,
    /// The process whose thread feeds it.
    generation: u64,
}

struct Desk {
    follower: Follower,
    end: Option<End>,
    alarm: Option<Alarm>,
}

#[derive(Clone)]
enum End {
    /// By whoever listened.
    Closed,
    /// By what happened.
    Failed(Box<NamingError>),
}

impl Watch {
    /// A watch that nothing feeds yet.
    pub fn new(follower: Follower) -> Self {
        Self(Arc::new(Shared {
            desk: Mutex::new(Desk { follower, end: None, alarm: None }),
            news: Condvar::new(),
            drained: Notify::new(),
            ended: Notify::new(),
            generation: fork::generation(),
        }))
    }

    /// Feeds it with what `asker` is told, until it ends.
    pub fn feed(&self, asker: Asker) -> impl Future<Output = ()> + Send + 'static {
        follow(Arc::clone(&self.0), asker)
    }

    /// Waits until what is written from then on will be told, at most so long. An error where nobody could be asked.
    pub fn begun(&self, within: Duration, give_up: GiveUp<'_>) -> Result<(), NamingError> {
        self.0.check_process()?;
        let mut left = within;
        while !left.is_zero() {
            let slice = left.min(SLICE);
            let desk = self.0.lock();
            let waits = |desk: &mut Desk| desk.end.is_none() && !desk.follower.has_begun();
            let waited = self.0.news.wait_timeout_while(desk, slice, waits);
            let (desk, timed) = waited.unwrap_or_else(PoisonError::into_inner);
            match &desk.end {
                Some(End::Failed(error)) => return Err((**error).clone()),
                _ if !timed.timed_out() => return Ok(()),
                _ => drop(desk),
            }
            left -= slice;
            if give_up() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What there is to listen to at this moment.
    pub fn poll(&self) -> Result<Listened, NamingError> {
        self.0.check_process()?;
        self.0.listen(&mut self.0.lock())
    }

    /// The next event. `give_up` is asked at least every 100 ms; where it says so the answer is `Nothing`.
    pub fn next(&self, give_up: GiveUp<'_>) -> Result<Listened, NamingError> {
        self.0.check_process()?;
        loop {
            let desk = self.0.lock();
            let (mut desk, _) = self
                .0
                .news
                .wait_timeout_while(desk, SLICE, |desk| desk.end.is_none() && !desk.follower.has_news())
                .unwrap_or_else(PoisonError::into_inner);
            match self.0.listen(&mut desk)? {
                Listened::Nothing => {}
                listened => return Ok(listened),
            }
            drop(desk);
            if give_up() {
                return Ok(Listened::Nothing);
            }
        }
    }

    /// Has `alarm` called from now on whenever there is something to listen to, on whatever thread brings it.
    pub fn set_alarm(&self, alarm: Alarm) {
        let mut desk = self.0.lock();
        if desk.end.is_some() || desk.follower.has_news() {
            alarm();
        }
        desk.alarm = Some(alarm);
    }

    /// Ends it: whoever listens is told, now and later. What was not listened to is gone.
    pub fn close(&self) {
        // The child of a fork has the parent's lock, which may be held for good.
        if self.0.check_process().is_ok() {
            self.0.end(End::Closed);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_process(&self) -> Result<(), NamingError> {
        if self.generation == fork::generation() {
            return Ok(());
        }
        let message = "the watch is the parent process's; begin another one in this process";
        Err(NamingError::new(ErrorKind::ContextClosed, message))
    }

    /// What there is to listen to. What came before an error is listened to before it.
    fn listen(&self, desk: &mut Desk) -> Result<Listened, NamingError> {
        if matches!(desk.end, Some(End::Closed)) {
            return Ok(Listened::Closed);
        }
        let was_full = desk.follower.is_full();
        if let Some(event) = desk.follower.next() {
            if was_full && !desk.follower.is_full() {
                self.drained.notify_one();
            }
            return Ok(Listened::Event(Box::new(event)));
        }
        match &desk.end {
            Some(End::Failed(error)) => Err((**error).clone()),
            _ => Ok(Listened::Nothing),
        }
    }

    /// Ends it because of what happened.
    pub(super) fn fail(&self, error: NamingError) {
        self.end(End::Failed(Box::new(error)));
    }

    fn end(&self, end: End) {
        let mut desk = self.lock();
        let is_first = desk.end.is_none();
        if is_first || matches!(end, End::Closed) {
            desk.end = Some(end);
        }
        if is_first {
            self.tell(&desk);
        }
        drop(desk);
        self.ended.notify_one();
    }

    fn take(&self, watched: Watched) {
        let mut desk = self.lock();
        let had_begun = desk.follower.has_begun();
        desk.follower.hear(watched);
        if desk.follower.has_news() || desk.follower.has_begun() != had_begun {
            self.tell(&desk);
        }
    }

    fn tell(&self, desk: &Desk) {
        self.news.notify_all();
        if let Some(alarm) = &desk.alarm {
            alarm();
        }
    }
}

/// Asks, and tells what is answered, as long as anybody may listen.
async fn follow(shared: Arc<Shared>, asker: Asker) {
    tokio::select! {
        () = shared.ended.notified() => {}
        () = ask_on(&shared, &asker) => {}
    }
}

async fn ask_on(shared: &Shared, asker: &Asker) {
    let mut pause = Pause::default();
    loop {
        let request = {
            let desk = shared.lock();
            if desk.end.is_some() {
                return;
            }
            (!desk.follower.is_full()).then(|| desk.follower.request())
        };
        let Some(request) = request else {
            shared.drained.notified().await;
            continue;
        };
        match asker.ask(request).await {
            Ok(watched) => {
                pause = Pause::default();
                shared.take(watched);
            }
            Err(Unanswered::ForGood(error)) => return shared.fail(error),
            // Who could ask nobody from the beginning is told so, as with any operation.
            Err(Unanswered::ForNow(error)) if !shared.lock().follower.has_begun() => return shared.fail(error),
            Err(Unanswered::ForNow(error)) => {
                tracing::debug!(%error, "a watch goes on asking");
                sleep(pause.take()).await;
            }
        }
    }
}
