//! Clusters that are listened for: one browser for each in a process, however many clients ask. It ends with the last
//! client that wants it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::discovery::multicast::{Audience, browse};
use crate::discovery::{Answer, Neighbourhood, Question};

use super::tended::Tended;

/// The browsers of a process.
#[derive(Default)]
pub(super) struct Browsers(Mutex<Vec<Arc<Browser>>>);

/// Who listens for one cluster.
struct Browser {
    of: Neighbourhood,
    /// The network is to be asked.
    asked: Notify,
    /// Somebody's fleet was told something.
    news: Arc<Notify>,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    each: Vec<Weak<dyn Tended>>,
    /// What was told last, where that was a list.
    last: Option<Answer>,
    /// Nobody was left, and nobody can join any longer.
    is_over: bool,
}

impl Browsers {
    /// Has the fleet of `tended` told of this cluster's nodes, as long as it lives, and the network asked. `runtime` listens;
    /// `news` is notified of what was told.
    pub(super) fn listen(&self, of: &Neighbourhood, tended: &Arc<dyn Tended>, runtime: &Handle, news: &Arc<Notify>) {
        let mut browsers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = browsers.iter().find(|browser| browser.of == *of && browser.join(tended));
        let browser = joined.cloned().unwrap_or_else(|| {
            let fresh = Arc::new(Browser {
                of: of.clone(),
                asked: Notify::new(),
                news: Arc::clone(news),
                listeners: Mutex::new(Listeners { each: vec![Arc::downgrade(tended)], ..Listeners::default() }),
            });
            browsers.retain(|browser| !browser.lock().is_over);
            browsers.push(Arc::clone(&fresh));
            let browser = Arc::clone(&fresh);
            drop(runtime.spawn(async move { browse(browser.of.clone(), &browser.asked, &*browser).await }));
            fresh
        });
        drop(browsers);
        browser.asked.notify_one();
        let last = browser.lock().last.clone();
        if let Some(last) = last {
            browser.tell_one(tended, &Ok(last));
        }
    }
}

impl Browser {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one more listener, unless it's too late.
    fn join(&self, tended: &Arc<dyn Tended>) -> bool {
        let mut listeners = self.lock();
        let weak = Arc::downgrade(tended);
        if !listeners.is_over && !listeners.each.iter().any(|known| known.ptr_eq(&weak)) {
            listeners.each.push(weak);
        }
        !listeners.is_over
    }

    fn tell_one(&self, tended: &Arc<dyn Tended>, outcome: &Result<Answer, String>) {
        let question = Question::Multicast(self.of.clone());
        tended.tend(&mut |fleet, now| fleet.told(&question, outcome.clone(), now));
        self.news.notify_one();
    }
}

impl Audience for &Browser {
    fn tell(&mut self, outcome: Result<Answer, String>) {
        let mut listeners = self.lock();
        listeners.last = outcome.as_ref().ok().cloned();
        let present: Vec<_> = listeners.each.iter().filter_map(Weak::upgrade).collect();
        drop(listeners);
        for tended in present {
            self.tell_one(&tended, &outcome);
        }
    }

    fn is_there(&mut self) -> bool {
        let mut listeners = self.lock();
        listeners.each.retain(|tended| tended.upgrade().is_some_and(|tended| !tended.is_over()));
        listeners.is_over = listeners.each.is_empty();
        !listeners.is_over
    }
}
