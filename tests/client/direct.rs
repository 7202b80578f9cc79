//! The driver for a node of this process.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hanaming::client::{Direct, Driver, Invocation, Product};
use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Reply, Request, Scope};
use hanaming::topology::Endpoint;
use hanaming::transport::{ReplyTo, Service};

use crate::cluster::{Cluster, ask, bind_local, clock, look};
use crate::stage::{bind, fault, lookup, ms, subject};

fn direct(cluster: &Cluster, scope: Scope) -> Direct {
    Direct::new(Arc::new(cluster.nodes[0].clone()), scope, Duration::from_secs(5))
}

#[test]
fn it_answers_from_the_node_and_through_it_from_others() {
    let cluster = Cluster::start(2);
    bind_local(&cluster.nodes[0], "here", 1);
    bind_local(&cluster.nodes[1], "there", 2);
    let whole = direct(&cluster, Scope::Cluster);
    assert_eq!((look(&whole, "here").unwrap(), look(&whole, "there").unwrap()), (1, 2));
    let local = direct(&cluster, Scope::Local);
    assert_eq!(look(&local, "here").unwrap(), 1);
    let error = look(&local, "there").unwrap_err();
    assert_eq!((error.kind(), error.fields().name.as_deref()), (ErrorKind::NameNotFound, Some("there")));
    assert!(matches!(ask(&local, bind("new")).unwrap(), Product::Written(_)));
    assert_eq!(look(&local, "new").unwrap(), 1);
    let (_, trail) = local.perform(lookup("here"), None, &mut || false).unwrap();
    let attempts = trail.attempts();
    assert_eq!(
        (attempts.len(), attempts[0].target.as_str(), attempts[0].outcome.as_str()),
        (1, cluster.nodes[0].endpoint().to_string().as_str(), "found")
    );
}

#[test]
fn a_node_that_is_leaving_is_told_at_once_and_one_that_is_closed_too() {
    let cluster = Cluster::start(2);
    let whole = direct(&cluster, Scope::Cluster);
    cluster.nodes[0].quiesce(Duration::from_secs(2)).unwrap();
    let start = clock();
    for invocation in [lookup("x"), bind("x")] {
        let error = ask(&whole, invocation).unwrap_err();
        assert_eq!((error.kind(), error.fields().completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
        assert_eq!(error.to_string(), format!("'x': node {} is quiescing. Safe to retry.", cluster.nodes[0].name()));
        let [attempt] = error.fields().attempts.as_slice() else { panic!("{error:?}") };
        assert_eq!((&*attempt.outcome, attempt.completion), ("refused: quiescing", CompletionStatus::No));
        assert_eq!(attempt.target, cluster.nodes[0].endpoint().to_string());
    }
    assert!(start.elapsed() < ms(2000));
    cluster.nodes[0].close();
    assert_eq!(ask(&whole, lookup("x")).unwrap_err().kind(), ErrorKind::ContextClosed);
    whole.close();
    assert_eq!(ask(&whole, lookup("x")).unwrap_err().to_string(), "'x': the context is closed; open a new one");
}

/// Never answers, or answers later.
struct Slow(Option<Duration>);

impl Service for Slow {
    fn try_now(&self, _: &Request) -> Option<Reply> {
        None
    }

    fn submit(&self, _: Request, _: Duration, reply_to: ReplyTo) {
        let Some(after) = self.0 else { return std::mem::forget(reply_to) };
        thread::spawn(move || {
            thread::park_timeout(after);
            reply_to(Reply::Failed(fault(ErrorKind::NameNotFound, CompletionStatus::Yes, "no such name")));
        });
    }

    fn name(&self) -> &'static str {
        "slow"
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::new("10.0.0.1", 1)
    }
}

#[test]
fn an_answer_that_comes_later_is_waited_for_and_one_that_does_not_has_its_time() {
    let later = Direct::new(Arc::new(Slow(Some(ms(30)))), Scope::Cluster, Duration::from_secs(5));
    assert_eq!(ask(&later, lookup("x")).unwrap_err().kind(), ErrorKind::NameNotFound);
    let never = Direct::new(Arc::new(Slow(None)), Scope::Cluster, ms(60));
    let error = ask(&never, lookup("x")).unwrap_err();
    assert_eq!((error.kind(), error.fields().completion), (ErrorKind::TimeLimitExceeded, CompletionStatus::Maybe), "{error}");
}

#[test]
fn who_waits_can_give_up_or_be_closed() {
    let never = Arc::new(Direct::new(Arc::new(Slow(None)), Scope::Cluster, Duration::from_secs(5)));
    let start = clock();
    let error = never.perform(bind("x"), None, &mut || start.elapsed() > ms(50)).unwrap_err();
    assert_eq!(error.fields().completion, CompletionStatus::Maybe);
    assert!(start.elapsed() < ms(2000));
    let closer = Arc::clone(&never);
    let error = never
        .perform(Invocation::wait_for(subject("x")).unwrap(), None, &mut || {
            closer.close();
            false
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextClosed);
}

#[test]
fn a_name_is_waited_for() {
    let cluster = Cluster::start(1);
    let whole = direct(&cluster, Scope::Cluster);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| ask(&whole, Invocation::wait_for(subject("late")).unwrap()));
        thread::park_timeout(ms(30));
        bind_local(&cluster.nodes[0], "late", 7);
        assert!(matches!(waiting.join().unwrap().unwrap(), Product::Found(_)));
    });
    let start = clock();
    let error = whole.perform(Invocation::wait_for(subject("never")).unwrap(), Some(ms(80)), &mut || false).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("'never': not bound in 0.08 s. {}: no such name. Safe to retry.", cluster.nodes[0].name())
    );
    assert!(start.elapsed() >= ms(80) && start.elapsed() < ms(2000));
}
