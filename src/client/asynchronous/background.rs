//! Probes, host names, announced nodes, looks and links ahead of calls, of one tokio client. The task is there as long as something is due.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::discovery::{Accepts, Neighbourhood, Question};
use crate::topology::Endpoint;
use crate::transport::link::Link;

use super::super::call::Send;
use super::super::keeper::{self, PROBE_WITHIN};
use super::super::look;
use super::super::target::TargetId;
use super::super::tended::Tended;
use super::{Inner, links};

/// How long the task waits at most while nothing but what it began is under way.
const IDLE: Duration = Duration::from_secs(1);

/// Starts the background task where it does not run.
pub(super) fn wake(inner: &Arc<Inner>) {
    if inner.is_closed() || inner.tended.swap(true, Ordering::AcqRel) {
        return;
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(tend(Arc::downgrade(inner)))),
        // A future that is dropped outside of its runtime: the next operation starts it.
        Err(_) => inner.tended.store(false, Ordering::Release),
    }
}

async fn tend(client: Weak<Inner>) {
    let mut under_way = JoinSet::new();
    let Some(news) = client.upgrade().map(|inner| Arc::clone(&inner.news)) else { return };
    loop {
        // News are listened for from before the look at what is due, so that none between the two is missed.
        let heard = news.notified();
        let Some(until) = begin_what_is_due(&client, &mut under_way) else { return };
        tokio::select! {
            _ = timeout_at(until, heard) => {}
            Some(_) = under_way.join_next() => {}
        }
    }
}

/// Begins what is due; gives when to look again, or `None` where nothing is left to do. The client isn't held meanwhile:
/// one that is dropped ends the task.
fn begin_what_is_due(client: &Weak<Inner>, under_way: &mut JoinSet<()>) -> Option<Instant> {
    let inner = client.upgrade().filter(|inner| !inner.is_closed())?;
    let (now, mut shared) = (inner.now(), inner.lock());
    let _ = shared.fleet.take_alarm();
    for (id, endpoint) in shared.fleet.probes_due(now) {
        under_way.spawn(probe(Weak::clone(client), id, endpoint));
    }
    for question in shared.fleet.questions_due(now) {
        let accepts = shared.fleet.accepts(&question);
        under_way.spawn(ask(Weak::clone(client), question, accepts));
    }
    let servers = shared.fleet.looks_due(now);
    if !servers.is_empty() {
        under_way.spawn(look_at(Weak::clone(client), servers));
    }
    // Servers count as their clients those that have a link there.
    if let Some((id, _)) = shared.fleet.stays_with().filter(|(id, _)| !shared.links.stands(*id)) {
        under_way.spawn(stay(Weak::clone(client), id));
    }
    match shared.fleet.next_due() {
        Some(next) => Some(inner.epoch + next),
        None if !under_way.is_empty() => Some(Instant::now() + IDLE),
        None => {
            // Under the lock: whoever has something new due after this finds that the task does not run.
            inner.tended.store(false, Ordering::Release);
            None
        }
    }
}

async fn probe(client: Weak<Inner>, id: TargetId, endpoint: Endpoint) {
    let Some(inner) = client.upgrade() else { return };
    let started = inner.now();
    let (network, hello, limits) = (Arc::clone(&inner.network), inner.hello.clone(), inner.config.limits);
    drop(inner);
    let opened = Link::open(&*network, &endpoint, hello, limits, PROBE_WITHIN).await;
    if let Some(inner) = client.upgrade() {
        let outcome = opened.as_ref().map(|(_, welcome)| welcome);
        inner.with_fleet(|fleet, now| fleet.probed(id, outcome, started, now));
    }
}

async fn stay(client: Weak<Inner>, id: TargetId) {
    let Some(inner) = client.upgrade() else { return };
    let started = inner.now();
    let ends = inner.now() + PROBE_WITHIN;
    if let Err(error) = links::link(&inner, Send { target: id, connects_by: ends, ends, fresh: false }).await {
        inner.with_fleet(|fleet, now| fleet.unreachable(id, &error, started, now));
    }
}

async fn look_at(client: Weak<Inner>, servers: Vec<(TargetId, Endpoint)>) {
    let Some(inner) = client.upgrade() else { return };
    let (network, hello, limits) = (Arc::clone(&inner.network), inner.hello.clone(), inner.config.limits);
    drop(inner);
    let loads = look::look(network, hello, limits, servers).await;
    if let Some(inner) = client.upgrade() {
        inner.with_fleet(|fleet, now| fleet.saw_loads(&loads, now));
    }
}

async fn ask(client: Weak<Inner>, question: Question, accepts: Accepts) {
    if let Question::Multicast(of) = &question {
        listen(&client, of, &question);
        return;
    }
    let Some(servers) = client.upgrade().map(|inner| inner.config.dns.servers.clone()) else { return };
    let outcome = keeper::ask_name_servers(servers, question.clone(), accepts).await;
    if let Some(inner) = client.upgrade() {
        inner.with_fleet(|fleet, now| fleet.told(&question, outcome, now));
    }
}

/// Has the client told of announced nodes, by the keeper's thread: all clients of a process share what is heard.
fn listen(client: &Weak<Inner>, of: &Neighbourhood, question: &Question) {
    let Some(inner) = client.upgrade() else { return };
    if let Err(error) = keeper::listen(of, &(Arc::clone(&inner) as Arc<dyn Tended>)) {
        let why = format!("the background thread could not be started: {error}");
        inner.with_fleet(|fleet, now| fleet.told(question, Err(why.clone()), now));
    }
}
