//! The background thread: probes of failed targets, host names, announced nodes, lists of servers that somebody else keeps,
//! connections that stand in for a client's own, and watches.
//!
//! A process has one, started when there is something to do for the first time: a client whose servers are addresses and
//! are well never starts it. It knows its clients weakly, and sleeps as long as nothing is due. A forked child has none,
//! and starts its own.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;
use tokio::time::{error::Elapsed, timeout};

use crate::discovery::dns::{Dns, DnsServers};
use crate::discovery::{Accepts, Answer, Neighbourhood, Question};
use crate::protocol::Limits;
use crate::topology::Endpoint;
use crate::transport::Network as _;
use crate::transport::link::Link;
use crate::transport::tcp::TcpNetwork;

use super::browsers::Browsers;
use super::cache::feed;
use super::fork;
use super::look::look;
use super::stand_in::{LOOK_EVERY, StandIns};
use super::target::TargetId;

pub use super::tended::{PROBE_WITHIN, Probe, Tended};

/// What the thread and its clients share.
struct Desk {
    generation: u64,
    runtime: Handle,
    tended: Mutex<Vec<Weak<dyn Tended>>>,
    news: Arc<Notify>,
    dns: Mutex<Vec<(DnsServers, Arc<Dns>)>>,
    browsers: Browsers,
}

impl Desk {
    fn enlist(&self, tended: &Arc<dyn Tended>) {
        let mut list = self.tended.lock().unwrap_or_else(PoisonError::into_inner);
        let weak = Arc::downgrade(tended);
        if !list.iter().any(|known| known.ptr_eq(&weak)) {
            list.push(weak);
        }
        drop(list);
        self.news.notify_one();
    }

    /// Who asks these name servers.
    fn dns(&self, servers: &DnsServers) -> Arc<Dns> {
        let mut known = self.dns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, dns)) = known.iter().find(|(of, _)| of == servers) {
            return Arc::clone(dns);
        }
        let dns = Arc::new(Dns::new(servers));
        known.push((servers.clone(), Arc::clone(&dns)));
        dns
    }

    fn present(&self) -> Vec<Arc<dyn Tended>> {
        let mut list = self.tended.lock().unwrap_or_else(PoisonError::into_inner);
        let present: Vec<_> = list.iter().filter_map(Weak::upgrade).filter(|tended| !tended.is_over()).collect();
        list.retain(|known| known.upgrade().is_some_and(|tended| !tended.is_over()));
        present
    }
}

static DESK: ArcSwapOption<Desk> = ArcSwapOption::const_empty();

/// Has the fleet of `tended` looked after, from now on as long as it lives.
pub fn wake(tended: &Arc<dyn Tended>) {
    match desk() {
        Ok(desk) => desk.enlist(tended),
        // Without a keeper calls still try failed servers when no others are left; the next alarm tries again.
        Err(error) => tracing::warn!(%error, "the background thread could not be started"),
    }
}

/// Runs `task` on the thread.
pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    drop(desk()?.runtime.spawn(task));
    Ok(())
}

/// This process's desk, with its thread.
fn desk() -> std::io::Result<Arc<Desk>> {
    loop {
        let before = DESK.load_full();
        if let Some(desk) = before.as_ref().filter(|desk| desk.generation == fork::generation()) {
            return Ok(Arc::clone(desk));
        }
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
        let (generation, handle) = (fork::generation(), runtime.handle().clone());
        let (tended, news, dns, browsers) = (Mutex::default(), Arc::default(), Mutex::default(), Browsers::default());
        let fresh = Arc::new(Desk { generation, runtime: handle, tended, news, dns, browsers });
        let found = DESK.compare_and_swap(&before, Some(Arc::clone(&fresh)));
        let is_ours = match (&*found, &before) {
            (None, None) => true,
            (Some(found), Some(before)) => Arc::ptr_eq(found, before),
            _ => false,
        };
        if !is_ours {
            continue;
        }
        // A parent's desk may be locked for good: it's left as it is.
        std::mem::forget(before);
        let desk = Arc::clone(&fresh);
        let started = std::thread::Builder::new().name("hanaming-keeper".into()).spawn(move || runtime.block_on(keep(desk)));
        if let Err(error) = started {
            DESK.store(None);
            return Err(error);
        }
        return Ok(fresh);
    }
}

async fn keep(desk: Arc<Desk>) {
    let mut stand_ins = StandIns::default();
    loop {
        let mut next: Option<Duration> = None;
        stand_ins.sweep();
        for tended in desk.present() {
            let mut stays_with = None;
            let mut probes = Vec::new();
            let (mut questions, mut looks, mut feeding) = (Vec::new(), Vec::new(), false);
            tended.tend(&mut |fleet, now| {
                probes = fleet.probes_due(now);
                let due = fleet.questions_due(now).into_iter();
                questions = due.map(|question| (fleet.accepts(&question), question)).collect();
                looks = fleet.looks_due(now);
                feeding = fleet.feed_due();
                stays_with = fleet.stays_with();
                let due = fleet.next_due().map(|due| due.saturating_sub(now));
                next = next.into_iter().chain(due).chain(stays_with.is_some().then_some(LOOK_EVERY)).min();
            });
            stand_ins.tend(&tended, stays_with, &desk.news);
            for (id, endpoint) in probes {
                tokio::spawn(probe(Arc::clone(&desk), Arc::downgrade(&tended), tended.probe(), id, endpoint));
            }
            if feeding && let Some(asker) = tended.asker() {
                tokio::spawn(feed(Arc::downgrade(&tended), asker));
            }
            if let (false, Probe::Greet(hello)) = (looks.is_empty(), tended.probe()) {
                let (desk, tended) = (Arc::clone(&desk), Arc::downgrade(&tended));
                tokio::spawn(async move {
                    let loads = look(Arc::new(TcpNetwork), *hello, Limits::default(), looks).await;
                    if let Some(tended) = tended.upgrade() {
                        tended.tend(&mut |fleet, now| fleet.saw_loads(&loads, now));
                    }
                    desk.news.notify_one();
                });
            }
            for (accepts, question) in questions {
                if let Question::Multicast(of) = &question {
                    desk.browsers.listen(of, &tended, &desk.runtime, &desk.news);
                    continue;
                }
                let (desk, tended) = (Arc::clone(&desk), Arc::downgrade(&tended));
                if matches!(question, Question::List(_)) {
                    tokio::task::spawn_blocking(move || {
                        if let Some(tended) = tended.upgrade() {
                            let listed = tended.list();
                            tended.tend(&mut |fleet, now| fleet.told(&question, listed.clone(), now));
                        }
                        desk.news.notify_one();
                    });
                } else {
                    tokio::spawn(ask(desk, tended, question, accepts));
                }
            }
        }
        match next {
            Some(next) => drop(timeout(next, desk.news.notified()).await),
            None => desk.news.notified().await,
        }
    }
}

async fn probe(desk: Arc<Desk>, tended: Weak<dyn Tended>, how: Probe, id: TargetId, endpoint: Endpoint) {
    let mut started = Duration::ZERO;
    let Some(asking) = tended.upgrade() else { return };
    asking.tend(&mut |_, now| started = now);
    drop(asking);
    match how {
        Probe::Greet(hello) => {
            let opened = Link::open(&TcpNetwork, &endpoint, *hello, Limits::default(), PROBE_WITHIN).await;
            let Some(tended) = tended.upgrade() else { return };
            tended.tend(&mut |fleet, now| {
                fleet.probed(id, opened.as_ref().map(|(_, welcome)| welcome), started, now);
            });
        }
        Probe::Connect => {
            let connected = matches!(timeout(PROBE_WITHIN, TcpNetwork.connect(&endpoint)).await, Ok::<_, Elapsed>(Ok(_)));
            let Some(tended) = tended.upgrade() else { return };
            tended.tend(&mut |fleet, now| fleet.connected(id, connected, started, now));
        }
    }
    desk.news.notify_one();
}

async fn ask(desk: Arc<Desk>, tended: Weak<dyn Tended>, question: Question, accepts: Accepts) {
    let outcome = match tended.upgrade().map(|tended| tended.dns_servers()) {
        Some(servers) => desk.dns(&servers).ask(&question, accepts).await,
        None => return,
    };
    let Some(tended) = tended.upgrade() else { return };
    tended.tend(&mut |fleet, now| fleet.told(&question, outcome.clone(), now));
    desk.news.notify_one();
}

/// Has the fleet of `tended` told of the nodes that announce themselves as this cluster's, as long as it lives.
pub(super) fn listen(of: &Neighbourhood, tended: &Arc<dyn Tended>) -> std::io::Result<()> {
    let desk = desk()?;
    desk.browsers.listen(of, tended, &desk.runtime, &desk.news);
    Ok(())
}

/// Asks name servers, on the background thread: all clients of a process share what came of it.
pub async fn ask_name_servers(servers: DnsServers, question: Question, accepts: Accepts) -> Result<Answer, String> {
    let asked = desk().map(|desk| {
        let dns = desk.dns(&servers);
        desk.runtime.spawn(async move { dns.ask(&question, accepts).await })
    });
    match asked {
        Ok(asked) => asked.await.map_err(|_| "the background thread has ended".to_owned()).flatten(),
        Err(error) => Err(format!("the background thread could not be started: {error}")),
    }
}
