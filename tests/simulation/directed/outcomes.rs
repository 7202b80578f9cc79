//! The table of outcomes (1.4), as a coordinator answers it from its own copy of the tree.

use std::time::Duration;

use hanaming::cluster::engine::Timing;
use hanaming::cluster::obstacle::{Obstacle, Quota};
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Binding, Intent};
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::cluster::shown::Shown;
use hanaming::failure::CompletionStatus;
use hanaming::naming::{Content, Detail, EntryKind, ErrorKind, NamingError};

use super::matters;
use super::table::{Table, name, request};

/// One node, and a client that asks one thing after the other.
struct One {
    table: Table,
    asked: u64,
}

impl One {
    fn new() -> Self {
        Self::with(Rules::ALL, Timing::default())
    }

    fn with(rules: Rules, timing: Timing) -> Self {
        Self { table: Table::new(1, timing, Retention::default(), rules), asked: 0 }
    }

    fn ask(&mut self, text: &str, intent: Intent) -> Reply {
        self.asked += 1;
        self.table.ask(0, self.asked, request(self.asked, &name(text), intent));
        self.table.reply(self.asked).unwrap().clone()
    }

    /// It is done, and something changed or nothing did.
    #[track_caller]
    fn done(&mut self, text: &str, intent: Intent, changes: bool) {
        match self.ask(text, intent) {
            Reply::Done { version, .. } => assert_eq!(version.is_some(), changes),
            other => panic!("{other:?}"),
        }
    }

    /// It can't be done; a definite answer.
    #[track_caller]
    fn fails(&mut self, text: &str, intent: Intent, kind: ErrorKind) -> NamingError {
        match self.ask(text, intent) {
            Reply::Obstructed(obstacle) => {
                let error = obstacle.error();
                assert_eq!(error.kind(), kind, "{error}");
                error
            }
            other => panic!("{other:?}"),
        }
    }

    fn shown(&self, text: &str) -> Shown {
        self.table.readers[0].shown(&name(text))
    }
}

fn value() -> Content {
    Content { kind: EntryKind::Value, class_name: "int".into(), value: vec![1].into(), instance: None }
}

fn with_parents(content: Content) -> Intent {
    Intent::Bind(Binding { content, create_parents: true, lease: None })
}

fn to(text: &str) -> Intent {
    Intent::Rename { to: name(text) }
}

const CREATE: Intent = Intent::CreateSubcontext { create_parents: false };

fn resolution(error: &NamingError) -> (&str, &str) {
    let fields = error.fields();
    (fields.resolved_name.as_deref().unwrap(), fields.remaining_name.as_deref().unwrap())
}

#[test]
fn a_missing_parent_is_named_or_made() {
    let mut one = One::new();
    for intent in [Intent::bind(value()), Intent::rebind(value()), CREATE, Intent::Unbind, Intent::DestroySubcontext, to("x")] {
        let error = one.fails("a/b/c", intent, ErrorKind::NameNotFound);
        assert_eq!(resolution(&error), ("", "a/b/c"));
        assert_eq!(error.fields().completion, CompletionStatus::Yes);
    }
    one.done("a", CREATE, true);
    assert_eq!(resolution(&one.fails("a/b/c", Intent::bind(value()), ErrorKind::NameNotFound)), ("a", "b/c"));
    one.done("a/b/c", with_parents(value()), true);
    assert!(matches!(one.shown("a/b"), Shown::Context(Some(_))));
    one.done("d/e", Intent::CreateSubcontext { create_parents: true }, true);
    assert!(matches!(one.shown("d"), Shown::Context(Some(_))));
    one.done("f/g", Intent::Rebind(Binding { content: value(), create_parents: true, lease: None }), true);
    assert!(matches!(one.shown("f/g"), Shown::Value(_)));
}

#[test]
fn what_is_no_context_is_told_and_a_link_sends_the_client_on() {
    let mut one = One::new();
    one.done("v", Intent::bind(value()), true);
    one.done("l", Intent::bind(Content::link("elsewhere")), true);
    for intent in [Intent::bind(value()), Intent::rebind(value()), CREATE, Intent::Unbind, Intent::DestroySubcontext, to("x")] {
        let error = one.fails("v/b/c", intent.clone(), ErrorKind::NotContext);
        assert_eq!(resolution(&error), ("v", "b/c"));
        let Reply::Link(link) = one.ask("l/b/c", intent) else { panic!("a link stands there") };
        assert_eq!((&link.at, &link.rest, &*link.target()), (&name("l"), &name("b/c"), "elsewhere"));
    }
    // With contexts to be made all the same, and at the new name of a rename.
    one.fails("v/b/c", with_parents(value()), ErrorKind::NotContext);
    assert!(matches!(one.ask("l/b", with_parents(value())), Reply::Link(_)));
    assert!(matches!(one.ask("v", to("l/b")), Reply::Link(link) if link.at == name("l")));
    one.fails("l", to("v/b"), ErrorKind::NotContext);
    // A link at the end is what the operation is about.
    one.done("l", Intent::Unbind, true);
}

#[test]
fn a_taken_name_says_by_what_and_by_whom() {
    let mut one = One::new();
    one.done("v", Intent::bind(value()), true);
    one.done("c", CREATE, true);
    one.done("w", Intent::bind(value()), true);
    for intent in [Intent::bind(value()), CREATE] {
        let error = one.fails("v", intent, ErrorKind::NameAlreadyBound);
        assert!(error.to_string().contains("in the cluster tree by n0, to a value of class 'int'"), "{error}");
        let Detail::Existing(listed) = &error.fields().detail else { panic!("what stands there is missing") };
        assert_eq!((&*listed.component, &*listed.node, listed.version.is_some()), ("v", "n0", true));
    }
    one.fails("c", Intent::bind(value()), ErrorKind::NameAlreadyBound);
    one.fails("c", CREATE, ErrorKind::NameAlreadyBound);
    let error = one.fails("w", to("v"), ErrorKind::NameAlreadyBound);
    assert_eq!(error.fields().name.as_deref(), Some("v"));
    assert!(matches!(one.shown("w"), Shown::Value(_)), "a rename that can't be done changes nothing");
}

#[test]
fn removals_are_idempotent_and_spare_contexts_with_children() {
    let mut one = One::new();
    one.done("v", Intent::Unbind, false);
    one.done("v", Intent::DestroySubcontext, false);
    one.done("v", Intent::bind(value()), true);
    one.fails("v", Intent::DestroySubcontext, ErrorKind::NotContext);
    one.done("v", Intent::Unbind, true);
    one.done("c", CREATE, true);
    one.done("c/d", CREATE, true);
    for intent in [Intent::Unbind, Intent::DestroySubcontext, Intent::rebind(value())] {
        let error = one.fails("c", intent, ErrorKind::ContextNotEmpty);
        assert!(error.to_string().contains("it holds 'd'"), "{error}");
    }
    one.done("c/d", Intent::DestroySubcontext, true);
    one.done("c", Intent::rebind(value()), true);
    assert!(matches!(one.shown("c"), Shown::Value(_)), "an empty context is replaced by rebind");
    one.done("e", CREATE, true);
    one.done("e", Intent::Unbind, true);
    assert_eq!(one.shown("e"), Shown::Nothing);
}

#[test]
fn a_context_with_names_in_it_does_not_go() {
    matters(Rule::EmptinessChecked, |rules| {
        let mut one = One::with(rules, Timing::default());
        one.done("c/d", with_parents(value()), true);
        matches!(one.ask("c", Intent::rebind(value())), Reply::Obstructed(Obstacle::NotEmpty { .. }))
    });
}

#[test]
fn a_rename_moves_a_value_once_and_no_context() {
    let mut one = One::new();
    one.done("a/v", with_parents(value()), true);
    one.fails("a", to("b"), ErrorKind::OperationNotSupported);
    one.done("a/v", to("a/v"), false);
    one.fails("a/x", to("a/x"), ErrorKind::NameNotFound);
    one.fails("a/v", to("missing/v"), ErrorKind::NameNotFound);
    one.done("a/v", to("v"), true);
    assert_eq!(one.shown("a/v"), Shown::Nothing);
    assert!(matches!(one.shown("v"), Shown::Value(sibling) if sibling.content == value()));
    assert!(matches!(one.shown("a"), Shown::Context(Some(_))), "a made context stays without what it held");
}

#[test]
fn the_tree_grows_to_its_quotas() {
    let full = |timing: Timing, content: Content, quota: Quota| {
        matters(Rule::QuotasChecked, |rules| {
            let mut one = One::with(rules, timing);
            one.done("a/b", with_parents(value()), true);
            // What is there may be replaced, moved and removed.
            one.done("a/b", Intent::rebind(value()), true);
            one.done("a/b", to("a/c"), true);
            let refused = matches!(&one.ask("d", Intent::rebind(content.clone())),
                Reply::Obstructed(Obstacle::OverQuota { quota: told, .. }) if *told == quota);
            one.done("a/c", Intent::Unbind, true);
            one.done("d", Intent::rebind(value()), true);
            refused
        });
    };
    full(Timing { max_names: 2, ..Timing::default() }, value(), Quota::Names(2));
    full(Timing { max_bytes: 2, ..Timing::default() }, Content::link("xy"), Quota::Bytes(2));
}

/// Two sides of a split, healed: what both say.
fn healed(left: &[(&str, Intent)], right: &[(&str, Intent)], before: &[(&str, Intent)]) -> Table {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    let mut sequence = 0;
    let mut ask = |table: &mut Table, node: usize, text: &str, intent: &Intent| {
        sequence += 1;
        table.ask(node, sequence, request(sequence, &name(text), intent.clone()));
        assert!(matches!(table.reply(sequence), Some(Reply::Done { .. })), "{text}: {:?}", table.reply(sequence));
    };
    for (text, intent) in before {
        ask(&mut table, 0, text, intent);
    }
    for (node, writes) in [(0, left), (1, right)] {
        table.see(node, [node], 1);
        for (text, intent) in writes {
            table.now += Duration::from_millis(1);
            ask(&mut table, node, text, intent);
        }
    }
    for node in 0..2 {
        table.see(node, [0, 1], 2);
    }
    table.carry();
    assert_eq!(table.engines[0].replica().digest(), table.engines[1].replica().digest());
    table
}

fn conflicts(table: &Table) -> Vec<String> {
    let of = |node: usize| table.engines[node].replica().conflicts().map(|conflict| conflict.name.to_string()).collect();
    let (here, there): (Vec<String>, Vec<String>) = (of(0), of(1));
    assert_eq!(here, there);
    here
}

#[test]
fn two_sides_that_made_a_context_agree() {
    let parents = |text| (text, with_parents(value()));
    let table = healed(&[parents("p/a"), ("q", CREATE)], &[parents("p/b"), ("q", CREATE)], &[]);
    assert_eq!(conflicts(&table), [""; 0]);
    assert!(["p/a", "p/b", "q"].iter().all(|text| table.readers[0].shown(&name(text)) != Shown::Nothing));
}

#[test]
fn a_destroy_concurrent_with_a_bind_beneath_keeps_the_context() {
    let table = healed(&[("c", Intent::DestroySubcontext)], &[("c/v", Intent::bind(value()))], &[("c", CREATE)]);
    assert_eq!(table.readers[1].shown(&name("c")), Shown::Context(None));
    assert_eq!(conflicts(&table), [""; 0]);
}

#[test]
fn a_conflict_is_told_listed_and_resolved() {
    let mut table = healed(&[("v", Intent::bind(value()))], &[("v", Intent::bind(Content::link("x")))], &[]);
    assert_eq!(conflicts(&table), ["v"]);
    let versions = table.record(0, &name("v")).siblings;
    // The one that was not shown is chosen.
    let keep = Some(versions.iter().find(|version| version.content.kind == EntryKind::Link).unwrap().dot);
    table.ask(1, 100, request(100, &name("v"), Intent::ResolveConflict { keep }));
    assert!(matches!(table.reply(100), Some(Reply::Done { version: Some(_), .. })));
    assert_eq!(conflicts(&table), [""; 0]);
    assert!(matches!(table.readers[0].shown(&name("v")), Shown::Value(shown) if shown.content == Content::link("x")));
    // It is gone, and there is nothing more to resolve.
    table.ask(1, 101, request(101, &name("v"), Intent::ResolveConflict { keep }));
    assert!(matches!(table.reply(101), Some(Reply::Obstructed(Obstacle::Superseded { .. }))));
}

#[test]
fn a_value_where_a_context_is_goes_when_the_conflict_is_resolved() {
    let mut table = healed(&[("v", Intent::bind(value()))], &[("v/w", with_parents(value()))], &[]);
    assert_eq!(conflicts(&table), ["v"]);
    let value = table.record(0, &name("v")).siblings.iter().find(|s| !s.is_context()).unwrap().dot;
    table.ask(0, 100, request(100, &name("v"), Intent::ResolveConflict { keep: Some(value) }));
    assert!(matches!(table.reply(100), Some(Reply::Obstructed(Obstacle::NotEmpty { .. }))));
    table.ask(0, 101, request(101, &name("v"), Intent::ResolveConflict { keep: None }));
    assert_eq!(conflicts(&table), [""; 0]);
    assert!(table.readers[1].shown(&name("v")).is_context());
}
