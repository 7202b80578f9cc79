//! What errors say: the name that they are about, where links led, and nothing that nobody has said.

use hanaming::client::{Invocation, Output};
use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Name, NamingError};
use hanaming::protocol::{Answer, Fault, ManyItem, Reply, TreeChoice};

use crate::stage::{Stage, content, failed, fault, incomplete, link, lookup, name, node, not_found, subject};
use hanaming::client::{Input, Subject};

fn answer(answer: Answer) -> Input {
    Input::Reply(Reply::Done(answer))
}

/// The error with which a call to the one node `na` ends.
fn error(invocation: Invocation, replies: Vec<Input>) -> NamingError {
    let mut stage = Stage::new("a", invocation);
    stage.introduce("a");
    stage.start();
    let mut output = None;
    for reply in replies {
        output = Some(stage.call.step(&mut stage.fleet, stage.now, reply));
    }
    match output {
        Some(Output::Done(Err(error))) => error,
        other => panic!("{other:?}"),
    }
}

fn told(invocation: Invocation, replies: Vec<Input>) -> String {
    error(invocation, replies).to_string()
}

fn refused(kind: ErrorKind, resolved: &str, remaining: &str) -> Input {
    let (resolved, remaining) = (Some(resolved.to_owned()), Some(remaining.to_owned()));
    let fault = fault(kind, CompletionStatus::Yes, "refused");
    failed(Fault { resolved_name: resolved, remaining_name: remaining, ..fault })
}

#[test]
fn only_a_lookup_speaks_of_what_nobody_has() {
    let whole = |invocation| told(invocation, vec![incomplete("ad", "c")]);
    assert_eq!(
        whole(lookup("x")),
        "'x': not every node answered, and none that did has it. na: no such name; nd: no such name; nc: silent. Safe to retry."
    );
    let Input::Reply(Reply::Failed(silence)) = incomplete("ad", "c") else { unreachable!() };
    let on_the_way = failed(Fault { resolved_name: Some("x".to_owned()), ..silence });
    assert_eq!(
        told(lookup("x/y"), vec![on_the_way]),
        "'x/y': not every node answered, and none that did has it: 'x' is not a context. na: does not have it; \
         nd: does not have it; nc: silent. Safe to retry."
    );
    for invocation in [
        Invocation::list(subject("x"), TreeChoice::All, true).unwrap(),
        Invocation::check(subject("x")).unwrap(),
        Invocation::survey(subject("x")).unwrap(),
    ] {
        let error = error(invocation, vec![incomplete("ad", "c")]);
        assert_eq!(error.to_string(), "'x': not every node answered. na: answered; nd: answered; nc: silent. Safe to retry.");
        assert_eq!(error.fields().attempts[0].outcome, "answered; silent: nc");
    }
}

#[test]
fn of_many_names_the_undecided_are_named() {
    let unknown = || ManyItem::Unknown { answered: vec![node('a')], silent: vec![node('c')] };
    let own = || ManyItem::Found { content: content(1), version: None };
    let many = |names: &[&str]| Invocation::lookup_many(&Name::empty(), names.iter().collect()).unwrap();
    let error =
        |names: &[&str], items: Vec<ManyItem>| error(many(names), vec![answer(Answer::Many(items.into_iter().collect()))]);
    let one = error(&["own", "none"], vec![own(), unknown()]);
    assert_eq!(one.fields().name.as_deref(), Some("none"));
    assert_eq!(one.to_string(), "'none': not every node answered. na: answered; nc: silent. Safe to retry.");
    let two = error(&["none", "own", "peer"], vec![unknown(), own(), unknown()]);
    assert_eq!(
        two.to_string(),
        "'none': undecided, like 'peer': not every node answered. na: answered; nc: silent. Safe to retry."
    );
    let all = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let said = error(&all, all.iter().map(|_| unknown()).collect()).to_string();
    assert!(said.starts_with("'a': undecided, like 'b', 'c', 'd', 'e', 'f' and 2 more: not every node"), "{said}");
}

#[test]
fn a_rename_s_error_is_about_the_name_concerned() {
    let error = |fault| {
        let (base, old, new) = (name("base"), name("b/x"), name("t/y"));
        let rename = Invocation::rename(Subject::new(&base, &old), Subject::new(&base, &new)).unwrap();
        error(rename, vec![fault]).fields().name.clone().unwrap()
    };
    assert_eq!(error(refused(ErrorKind::NameAlreadyBound, "base/t/y", "")), "t/y");
    assert_eq!(error(refused(ErrorKind::NameNotFound, "base", "t/y")), "t/y");
    assert_eq!(error(refused(ErrorKind::NotContext, "base/t", "y")), "t/y");
    assert_eq!(error(refused(ErrorKind::NameNotFound, "base", "b/x")), "b/x");
    assert_eq!(error(refused(ErrorKind::NotContext, "base/b", "x")), "b/x");
    assert_eq!(error(failed(fault(ErrorKind::OperationNotSupported, CompletionStatus::No, "a context"))), "b/x");
    let behind =
        vec![answer(Answer::Link(link("base/t", "elsewhere", "y"))), refused(ErrorKind::NameNotFound, "", "elsewhere/y")];
    let to = Subject::new(&name("base"), &name("t/y"));
    let rename = Invocation::rename(Subject::new(&name("base"), &name("b/x")), to).unwrap();
    assert_eq!(told(rename, behind), "'t/y': leads to 'elsewhere/y' by a link: refused");
}

#[test]
fn where_a_link_leads_is_said() {
    let met = || answer(Answer::Link(link("lk", "peer", "")));
    let error = error(lookup("lk"), vec![met(), refused(ErrorKind::NameNotFound, "", "peer")]);
    assert_eq!(error.to_string(), "'lk': leads to 'peer' by a link: refused");
    assert_eq!((error.fields().name.as_deref(), error.fields().remaining_name.as_deref()), (Some("lk"), Some("peer")));
    assert_eq!(told(lookup("lk"), vec![not_found()]), "'lk': no such name");
    let said = told(lookup("lk"), vec![met(), incomplete("a", "c")]);
    assert!(said.starts_with("'lk': leads to 'peer' by a link: not every node answered, and none"), "{said}");
    let list = Invocation::list(subject("lk"), TreeChoice::All, false).unwrap();
    assert_eq!(told(list, vec![met(), not_found()]), "'lk': leads to 'peer' by a link: no such name");
}

#[test]
fn links_in_a_circle_are_an_error_of_the_name_that_was_given() {
    let given = Subject::new(&name("base"), &name("lk"));
    let round = answer(Answer::Link(link("base/lk", "base/lk", "")));
    let error = error(Invocation::lookup(given).unwrap(), vec![round]);
    assert_eq!((error.kind(), error.fields().name.as_deref()), (ErrorKind::LinkLoop, Some("lk")));
}
