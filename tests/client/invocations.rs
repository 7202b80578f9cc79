//! Operations of several requests: links, pages, many names; and what each asks.

use std::sync::Arc;

use hanaming::client::{BindOptions, ClientConfig, Input, Invocation, Subject};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::{Detail, ErrorKind, Listed, Name, Source};
use hanaming::protocol::{
    Answer, Items, LinkMet, ManyItem, Mutation, Operation, Outcome, Page, PageRequest, Reply, Scope, TreeChoice, Written,
};

use crate::stage::{
    Stage, broken_body, config, connection_refused, content, failed, fault, found, incomplete, link, lookup, lost, name, node,
    not_found, subject, written,
};

fn answer(answer: Answer) -> Input {
    Input::Reply(Reply::Done(answer))
}

fn met(at: &str, target: &str, rest: &str) -> Input {
    answer(Answer::Link(link(at, target, rest)))
}

fn asked(stage: &Stage) -> Vec<String> {
    match &stage.request().operation {
        Operation::LookupMany { names } => names.iter().map(str::to_owned).collect(),
        Operation::Mutate(Mutation::Rename { from, to }) => vec![from.clone(), to.clone()],
        Operation::Lookup { name }
        | Operation::Check { name }
        | Operation::Survey { name }
        | Operation::List(PageRequest { name, .. })
        | Operation::Mutate(
            Mutation::Bind { name, .. }
            | Mutation::Unbind { name }
            | Mutation::CreateSubcontext { name, .. }
            | Mutation::DestroySubcontext { name },
        ) => vec![name.clone()],
        other => panic!("{other:?} asks for no name"),
    }
}

#[test]
fn a_link_is_followed_in_further_requests() {
    let mut stage = Stage::new("ab", lookup("alias/x"));
    stage.start();
    assert!(stage.step(met("alias", "services/orders", "x")).starts_with("send"));
    assert_eq!(asked(&stage), ["services/orders/x"]);
    assert!(stage.step(met("services/orders", "./blue", "x")).starts_with("send"));
    assert_eq!(asked(&stage), ["services/blue/x"]);
    assert_eq!(stage.step(found()), "done found at services/blue/x");
    let attempts = stage.attempts();
    assert_eq!(attempts[0], "a answer YES a link to 'services/orders' | the link leads on");
    assert_eq!(attempts.len(), 3);
}

#[test]
fn each_hop_fails_over_for_itself_and_all_have_one_deadline() {
    let mut stage = Stage::new("ab", lookup("alias"));
    stage.start();
    let second = stage.after(1000, met("alias", "orders", ""));
    assert_eq!(second, "send b 250");
    assert_eq!(stage.after(250, lost()), "send a 250");
    assert_eq!(stage.after(1000, found()), "done found at orders");
    let mut stage = Stage::new("ab", lookup("alias"));
    stage.start();
    assert!(stage.after(5000, met("alias", "orders", "")).starts_with("TimeLimitExceeded"));
}

#[test]
fn the_last_link_can_be_looked_at_and_others_are_followed_all_the_same() {
    let mut stage = Stage::new("a", Invocation::lookup_link(subject("alias")).unwrap());
    stage.start();
    assert_eq!(stage.step(met("alias", "orders", "")), "done found");
    let mut stage = Stage::new("a", Invocation::lookup_link(subject("alias/x")).unwrap());
    stage.start();
    assert!(stage.step(met("alias", "orders", "x")).starts_with("send"));
    assert_eq!(stage.step(met("orders/x", "y", "")), "done found");
}

#[test]
fn a_circle_of_links_names_its_chain() {
    let mut stage = Stage::new("a", lookup("one"));
    stage.start();
    stage.step(met("one", "two", ""));
    let said = stage.step(met("two", "one", ""));
    assert!(said.starts_with("LinkLoop YES: 'one': "), "{said}");
}

#[test]
fn an_error_bears_the_name_as_it_was_given() {
    let given = Subject::new(&name("base/context"), &name("x/y"));
    let mut stage = Stage::new("a", Invocation::lookup(given).unwrap());
    stage.start();
    assert_eq!(asked(&stage), ["base/context/x/y"]);
    let missing = hanaming::protocol::Fault {
        resolved_name: Some("base/context/x".into()),
        remaining_name: Some("y".into()),
        ..fault(ErrorKind::NameNotFound, CompletionStatus::Yes, "no such name")
    };
    let output = stage.call.step(&mut stage.fleet, stage.now, failed(missing));
    let hanaming::client::Output::Done(Err(error)) = output else { panic!("{output:?}") };
    let fields = error.fields();
    assert_eq!(fields.name.as_deref(), Some("x/y"));
    assert_eq!((fields.resolved_name.as_deref(), fields.remaining_name.as_deref()), (Some("x"), Some("y")));
}

#[test]
fn names_that_no_operation_takes_are_refused_before_anything_is_sent() {
    let deep = Name::from_components(std::iter::repeat_n("x", 33));
    let over = |result: Result<Invocation, _>| {
        let error: hanaming::naming::NamingError = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidName);
        assert_eq!(error.fields().completion, CompletionStatus::No);
        error.to_string()
    };
    assert!(over(Invocation::lookup(deep.clone().into())).contains("33 components"));
    assert!(over(Invocation::lookup(subject("a//b"))).contains("empty"));
    let given = Subject::new(&Name::from_components(std::iter::repeat_n("x", 30)), &name("a/b/c"));
    assert!(over(Invocation::lookup(given)).starts_with("'a/b/c':"), "limits count from the root, errors name what was given");
    for result in [
        Invocation::bind(subject(""), content(1), BindOptions::default()),
        Invocation::unbind(subject("")),
        Invocation::create_subcontext(subject(""), false),
        Invocation::destroy_subcontext(Subject::new(&name("a"), &name(""))),
        Invocation::rename(subject(""), subject("x")),
        Invocation::rename(subject("x"), subject("")),
    ] {
        assert!(over(result).contains("the context itself"));
    }
    assert!(Invocation::lookup(subject("")).is_ok());
    assert!(over(Invocation::lookup_many(&Name::empty(), ["fine", "a//b"].into_iter().collect())).starts_with("'a//b'"));
}

#[test]
fn get_takes_absence_for_an_answer_and_silence_not() {
    for absence in [not_found(), failed(fault(ErrorKind::NotContext, CompletionStatus::Yes, "not a context"))] {
        let mut stage = Stage::new("a", Invocation::get(subject("orders")).unwrap());
        stage.start();
        assert_eq!(stage.step(absence), "done absent");
    }
    let mut stage = Stage::new("a", Invocation::get(subject("orders")).unwrap());
    stage.start();
    assert!(stage.step(incomplete("a", "b")).starts_with("ServiceUnavailable"));
}

fn many(names: &[&str]) -> Invocation {
    Invocation::lookup_many(&Name::empty(), names.iter().collect()).unwrap()
}

fn item(number: i64) -> ManyItem {
    ManyItem::Found { content: content(number), version: None }
}

fn absent() -> ManyItem {
    ManyItem::Absent { not_context: true, resolved: 1 }
}

fn linked(at: &str, target: &str) -> ManyItem {
    ManyItem::Link(Box::new(link(at, target, "")))
}

fn unknown() -> ManyItem {
    ManyItem::Unknown { answered: vec![node('a')], silent: vec![node('c')] }
}

#[test]
fn many_names_are_one_request_and_links_a_further_one() {
    let mut stage = Stage::new("ab", many(&["w", "x", "y", "z"]));
    stage.start();
    assert_eq!(asked(&stage), ["w", "x", "y", "z"]);
    let items = vec![item(1), linked("x", "elsewhere"), absent(), linked("z", "other")];
    assert!(stage.step(answer(Answer::Many(items.into_iter().collect()))).starts_with("send"));
    assert_eq!(asked(&stage), ["elsewhere", "other"]);
    assert!(stage.step(answer(Answer::Many(Items::from_iter([linked("elsewhere", "w"), absent()])))).starts_with("send"));
    assert_eq!(asked(&stage), ["w"]);
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([item(1)])))), "done many found found at w absent absent");
}

#[test]
fn no_names_are_no_request() {
    let mut stage = Stage::new("a", many(&[]));
    assert_eq!(stage.start(), "done many ");
}

#[test]
fn what_some_server_could_not_settle_is_asked_of_another_and_silence_raises() {
    let mut stage = Stage::new("abc", many(&["x", "y", "z"]));
    stage.introduce("abc");
    stage.start();
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([item(1), unknown(), absent()])))), "send b 250");
    assert_eq!(asked(&stage), ["y"]);
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([item(2)])))), "done many found found absent");

    let mut stage = Stage::new("abc", many(&["x", "y"]));
    stage.introduce("abc");
    stage.start();
    stage.step(answer(Answer::Many(Items::from_iter([item(1), unknown()]))));
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([unknown()])))), "send c 250");
    assert_eq!(
        stage.step(answer(Answer::Many(Items::from_iter([unknown()])))),
        "ServiceUnavailable YES: 'y': not every node answered. na: answered; nc: silent; nb: answered. Safe to retry."
    );
}

#[test]
fn one_bad_name_among_many_is_named() {
    let mut stage = Stage::new("a", many(&["x", "y"]));
    stage.start();
    let bad = ManyItem::Fault(Box::new(fault(ErrorKind::InvalidName, CompletionStatus::No, "a bad one")));
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([item(1), bad])))), "InvalidName NO: 'y': a bad one");
    let mut stage = Stage::new("a", many(&["x", "y"]));
    stage.start();
    assert!(stage.step(answer(Answer::Many(Items::from_iter([item(1)])))).contains("1 answers to 2 names"));
}

#[test]
fn an_answer_that_cannot_be_read_is_told_as_that() {
    let whole = Items::from_iter([item(1), item(2)]);
    let body = postcard::to_allocvec(&Answer::Many(whole)).unwrap();
    let damaged = [&body[..1], &[u8::try_from(body.len() - 3).unwrap()], &body[2..body.len() - 1]].concat();
    let mut stage = Stage::new("a", many(&["x", "y"]));
    stage.start();
    let said = stage.step(Input::Reply(Reply::decode(0, &damaged).unwrap()));
    assert!(said.starts_with("Internal YES: the node's answer is none to what was asked: answer 1 of 2"), "{said}");
    let mut stage = Stage::new("a", many(&["x"]));
    stage.start();
    let said = stage.step(answer(Answer::Many(Items::from_iter([item(1), item(2)]))));
    assert!(said.contains("more than 1 answers"), "{said}");
}

#[test]
fn many_names_in_a_context_are_asked_from_the_root_and_told_as_given() {
    let given = ["x", "a/b", ""].into_iter().collect();
    let mut stage = Stage::new("ab", Invocation::lookup_many(&name("base/of"), given).unwrap());
    stage.introduce("ab");
    stage.start();
    assert_eq!(asked(&stage), ["base/of/x", "base/of/a/b", "base/of"]);
    let items = Items::from_iter([item(1), linked("base/of/a", "base/x"), item(2)]);
    assert!(stage.step(answer(Answer::Many(items))).starts_with("send"));
    assert_eq!(asked(&stage), ["base/x"]);
    let bad = ManyItem::Fault(Box::new(fault(ErrorKind::InvalidName, CompletionStatus::No, "a bad one")));
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([bad])))), "InvalidName NO: 'a/b': a bad one");
    let deep = Invocation::lookup_many(&name(&"c/".repeat(31)), ["x/y"].into_iter().collect());
    assert!(deep.unwrap_err().to_string().starts_with("'x/y': "));
}

#[test]
fn what_many_names_are_bound_to_is_given_with_where_links_led() {
    let invocation = many(&["x", "none", "l"]);
    let mut stage = Stage::new("a", invocation);
    stage.start();
    stage.step(answer(Answer::Many(Items::from_iter([item(1), absent(), linked("l", "t")]))));
    assert_eq!(stage.step(answer(Answer::Many(Items::from_iter([item(7)])))), "done many found absent found at t");
}

#[test]
fn very_many_names_are_several_requests_and_fewer_at_once_where_that_is_too_much() {
    let names: Vec<String> = (0..2500).map(|nth| format!("n{nth}")).collect();
    let mut stage = Stage::new("a", many(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    stage.start();
    let mut sizes = Vec::new();
    let over = fault(ErrorKind::LimitExceeded, CompletionStatus::No, "the answer is over a frame's limit");
    sizes.push(asked(&stage).len());
    assert!(stage.step(failed(over)).starts_with("send"));
    let output = loop {
        let count = asked(&stage).len();
        sizes.push(count);
        let output = stage.step(answer(Answer::Many((0..count).map(|_| item(1)).collect())));
        if !output.starts_with("send") {
            break output;
        }
    };
    assert_eq!(sizes, [1024, 512, 512, 512, 512, 452]);
    assert_eq!(output.matches("found").count(), 2500);
    let mut stage = Stage::new("a", many(&["x"]));
    stage.start();
    let over = fault(ErrorKind::LimitExceeded, CompletionStatus::No, "the answer is over a frame's limit");
    assert!(stage.step(failed(over)).starts_with("LimitExceeded"), "one can't be halved");
}

fn row(component: &str) -> Listed {
    Listed {
        component: component.to_owned(),
        content: content(1),
        source: Source::Local,
        node: node('a'),
        version: None,
        sources: Vec::new(),
    }
}

fn page(names: &[&str], more: bool) -> Input {
    answer(Answer::Page(Page { entries: names.iter().map(|name| row(name)).collect(), more }))
}

fn list() -> Invocation {
    Invocation::list(subject("services"), TreeChoice::All, true).unwrap()
}

#[test]
fn a_listing_asks_on_behind_its_last_row() {
    let mut stage = Stage::new("ab", list());
    // A page has an attempt's time, as any read.
    assert_eq!(stage.start(), "send a 250");
    assert!(stage.step(met("services", "catalogue", "")).starts_with("send"));
    assert!(stage.step(page(&["a", "b"], true)).starts_with("send"));
    let Operation::List(request) = &stage.request().operation else { panic!() };
    let expected =
        PageRequest { name: "catalogue".into(), tree: TreeChoice::All, after: Some("b".into()), limit: 1000, values: true };
    assert_eq!(*request, expected);
    assert_eq!(stage.step(page(&["c"], false)), "done listing a b c");
    let mut stage = Stage::new("ab", list());
    stage.start();
    assert!(stage.step(page(&[], true)).starts_with("Internal YES"), "it would never end");
}

#[test]
fn a_listing_with_silent_nodes_carries_what_was_gathered() {
    let mut stage = Stage::new("a", list());
    stage.introduce("a");
    stage.start();
    stage.step(page(&["a", "b"], true));
    let silence = hanaming::protocol::Fault {
        answered: vec![node('a')],
        silent: vec![node('c')],
        partial: vec![row("x")],
        ..fault(ErrorKind::ServiceUnavailable, CompletionStatus::Yes, "some were silent")
    };
    let output = stage.call.step(&mut stage.fleet, stage.now, failed(silence));
    let hanaming::client::Output::Done(Err(error)) = output else { panic!("{output:?}") };
    let Detail::Silence { answered, silent, partial } = &error.fields().detail else { panic!("{error:?}") };
    assert_eq!((answered, silent), (&vec![node('a')], &vec![node('c')]));
    assert_eq!(partial.iter().map(|row| row.component.as_str()).collect::<Vec<_>>(), ["a", "b", "x"]);
}

#[test]
fn a_mutation_follows_links_on_its_way_each_request_with_an_id_of_its_own() {
    let mut stage = Stage::new("ab", Invocation::bind(subject("alias/x"), content(1), BindOptions::default()).unwrap());
    stage.start();
    let first = stage.request().operation_id.unwrap();
    assert_eq!(first.client, stage.fleet.client_id());
    assert!(stage.step(met("alias", "services", "x")).starts_with("send"));
    assert_eq!(asked(&stage), ["services/x"]);
    let second = stage.request().operation_id.unwrap();
    assert_eq!(second.sequence, first.sequence + 1);
    // Nothing had run at the link: the second request's fate alone counts.
    stage.step(connection_refused());
    assert_eq!(stage.step(written()), "done written by na");

    let mut stage = Stage::new("ab", Invocation::rename(subject("one/x"), subject("two/y")).unwrap());
    stage.start();
    assert!(stage.step(met("two", "deux", "y")).starts_with("send"));
    assert_eq!(asked(&stage), ["one/x", "deux/y"]);
    assert!(stage.step(met("one", "un", "x")).starts_with("send"));
    assert_eq!(asked(&stage), ["un/x", "deux/y"]);
}

#[test]
fn a_refused_write_behind_a_link_did_not_run() {
    let mut stage = Stage::new("a", Invocation::unbind(subject("alias/x")).unwrap());
    stage.start();
    stage.step(met("alias", "services", "x"));
    let mut output = stage.step(connection_refused());
    while let Some(pause) = output.strip_prefix("wait ") {
        let pause: u64 = pause.parse().unwrap();
        output = stage.after(pause + 1, Input::Woke);
        if output.starts_with("send") {
            output = stage.step(connection_refused());
        }
    }
    assert!(output.starts_with("ServiceUnavailable NO") && output.ends_with("Safe to retry."), "{output}");
}

#[test]
fn where_only_the_header_of_the_answer_came_no_more_is_told_than_it_says() {
    let lost =
        "Communication YES: 'x': it ran, and its answer is lost. 10.0.0.1:1: connection lost. It ran: don't send it again.";
    let table: Vec<(Invocation, &str)> = vec![
        (crate::stage::bind("x"), "done written by 10.0.0.1:1"),
        (Invocation::unbind(subject("x")).unwrap(), lost),
        (Invocation::rename(subject("x"), subject("y")).unwrap(), "done written by 10.0.0.1:1"),
        (Invocation::create_subcontext(subject("x"), true).unwrap(), "done written by 10.0.0.1:1"),
        (Invocation::destroy_subcontext(subject("x")).unwrap(), lost),
    ];
    for (invocation, in_a_local_tree) in table {
        let mut stage = Stage::with(ClientConfig { scope: Scope::Local, ..config("ab") }, invocation.clone());
        stage.start();
        assert!(invocation.is_mutation() && stage.request().operation_id.is_some());
        assert_eq!(stage.step(broken_body(Outcome::Done)), in_a_local_tree, "{invocation:?}");
        // The cluster tree knows by the id what it answered.
        let mut stage = Stage::new("ab", invocation.clone());
        stage.start();
        let sent = stage.request().operation_id;
        assert_eq!(stage.step(broken_body(Outcome::Done)), "send b 1000", "{invocation:?}");
        assert_eq!((stage.request().operation_id, stage.request().is_retry), (sent, true));
    }
    let mut stage = Stage::new("ab", Invocation::quiesce());
    stage.start();
    assert_eq!(stage.step(broken_body(Outcome::Done)), "done Accepted");
}

#[test]
fn removals_and_the_rest_give_what_the_node_says() {
    let written = Written { version: None, acked_by: vec![node('a')], live: 1, members: 1 };
    let mut stage = Stage::new("a", Invocation::unbind(subject("x")).unwrap());
    stage.start();
    assert_eq!(stage.step(answer(Answer::Removed { existed: false, written })), "done removed false");
    let mut stage = Stage::new("a", Invocation::survey(subject("x")).unwrap());
    stage.start();
    assert_eq!(stage.step(answer(Answer::Survey(Vec::new()))), "done Survey([])");
    let mut stage = Stage::new("ab", Invocation::check(subject("")).unwrap());
    assert_eq!(stage.start(), "send a 2500", "it looks through all trees: its time is not an attempt's of a lookup");
    assert!(stage.step(answer(Answer::Report(hanaming::protocol::Report::default()))).starts_with("done Report"));
    let mut stage = Stage::new("a", Invocation::quiesce());
    stage.start();
    assert_eq!(stage.step(answer(Answer::Accepted)), "done Accepted");
}

#[test]
fn a_link_met_tells_where_even_from_a_hostile_node() {
    let mut stage = Stage::new("a", lookup("x"));
    stage.start();
    let hostile: LinkMet = LinkMet { at: "'".into(), ..link("x", "y", "") };
    let said = stage.step(answer(Answer::Link(hostile)));
    assert!(said.starts_with("InvalidName"), "{said}");
    assert_eq!(stage.attempts().len(), 1);
    assert_eq!(stage.call.trail().attempts()[0].phase, Phase::Answer);
    let _: Arc<str> = node('a');
}
