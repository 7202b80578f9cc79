//! A stage for one call: the engines, a clock that the test moves, and words for what they put out.

use std::sync::Arc;
use std::time::Duration;

use hanaming::client::{
    Call, ClientConfig, Elections, Fleet, Freshness, Health, Input, Invocation, Names, OneOfMany, Output, Product, Subject,
    TargetId,
};
use hanaming::discovery::{Origin, Place};
use hanaming::failure::{Attempt, CompletionStatus, Phase};
use hanaming::naming::{Content, ErrorKind, Name, NamingError, Source, Value};
use hanaming::protocol::{
    Answer, Fault, Found, Introduction, LinkMet, Outcome, Refusal, RefusalReason, Reply, Request, Welcome, Written,
};
use hanaming::topology::{ClusterId, Endpoint, Member, MemberState, NodeId, View};
use hanaming::transport::{TransportError, TransportErrorKind};

pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `a` is 10.0.0.1:1, `b` 10.0.0.2:1, ….
pub fn endpoint(letter: char) -> Endpoint {
    Endpoint::new(format!("10.0.0.{}", u32::from(letter) - u32::from('a') + 1), 1)
}

/// The letter of an endpoint's label.
pub fn letter(label: &str) -> char {
    let number: u32 = label.strip_prefix("10.0.0.").and_then(|rest| rest.split(':').next()).unwrap().parse().unwrap();
    char::from_u32(u32::from('a') + number - 1).unwrap()
}

/// What DNS says of a host name: the addresses of these, good for so many seconds.
pub fn addresses(letters: &str, good_for: u64) -> hanaming::discovery::Answer {
    let places = letters.chars().map(|letter| Place::new(endpoint(letter), Origin::Dns)).collect();
    hanaming::discovery::Answer::new(places, Duration::from_secs(good_for))
}

pub fn config(letters: &str) -> ClientConfig {
    ClientConfig { seed: Some(1), ..ClientConfig::new(letters.chars().map(endpoint).collect()) }
}

pub fn fleet(config: &ClientConfig, seed: u64) -> Fleet {
    Fleet::new(config, Elections::new(), Names::Resolved, seed)
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn subject(text: &str) -> Subject {
    name(text).into()
}

pub fn content(number: i64) -> Content {
    Value::Int(number).to_content().unwrap()
}

pub fn lookup(text: &str) -> Invocation {
    Invocation::lookup(subject(text)).unwrap()
}

pub fn bind(text: &str) -> Invocation {
    Invocation::bind(subject(text), content(1), hanaming::client::BindOptions::default()).unwrap()
}

pub fn node(letter: char) -> Arc<str> {
    Arc::from(format!("n{letter}"))
}

pub fn found_content(content: Content, letter: char) -> Found {
    Found { content, source: Source::Local, node: node(letter), version: None, asked: vec![node(letter)] }
}

pub fn found() -> Input {
    Input::Reply(Reply::Done(Answer::Found(found_content(content(7), 'a'))))
}

pub fn link(at: &str, target: &str, rest: &str) -> LinkMet {
    let (at, target, rest) = (at.to_owned(), target.to_owned(), rest.to_owned());
    LinkMet { at, found: found_content(Content::link(&target), 'a'), target, rest }
}

pub fn written() -> Input {
    Input::Reply(Reply::Done(Answer::Written(Written { version: None, acked_by: vec![node('a')], live: 1, members: 1 })))
}

pub fn fault(kind: ErrorKind, completion: CompletionStatus, message: &str) -> Fault {
    Fault::new(kind, completion, message)
}

pub fn failed(fault: Fault) -> Input {
    Input::Reply(Reply::Failed(fault))
}

pub fn not_found() -> Input {
    failed(fault(ErrorKind::NameNotFound, CompletionStatus::Yes, "no such name"))
}

pub fn refusal(reason: RefusalReason, retry_after: u32) -> Fault {
    let refusal = Some(Refusal { reason, retry_after, view: None });
    Fault { refusal, ..fault(ErrorKind::ServiceUnavailable, CompletionStatus::No, reason.as_str()) }
}

pub fn refused(reason: RefusalReason, retry_after: u32) -> Input {
    failed(refusal(reason, retry_after))
}

/// Nobody has it; of the nodes with these letters, some answered and some did not.
pub fn incomplete(answered: &str, silent: &str) -> Input {
    let names = |letters: &str| letters.chars().map(node).collect();
    failed(Fault {
        answered: names(answered),
        silent: names(silent),
        ..fault(ErrorKind::ServiceUnavailable, CompletionStatus::Yes, "some nodes were silent")
    })
}

pub fn error(phase: Phase, kind: TransportErrorKind) -> TransportError {
    TransportError::new(phase, kind)
}

pub fn broke(phase: Phase, kind: TransportErrorKind) -> Input {
    Input::Broke { error: error(phase, kind), reused: false }
}

pub fn connection_refused() -> Input {
    broke(Phase::Connect, TransportErrorKind::Refused)
}

pub fn lost() -> Input {
    broke(Phase::Wait, TransportErrorKind::Lost)
}

pub fn lost_when_reused() -> Input {
    Input::Broke { error: error(Phase::Wait, TransportErrorKind::Lost), reused: true }
}

pub fn silent() -> Input {
    broke(Phase::Wait, TransportErrorKind::TimedOut(ms(250)))
}

/// The header said `outcome`; the body did not come.
pub fn broken_body(outcome: Outcome) -> Input {
    let error = TransportError { outcome: Some(outcome), ..error(Phase::Receive, TransportErrorKind::Lost) };
    Input::Broke { error, reused: false }
}

pub fn member(letter: char, incarnation: u128, state: MemberState) -> Member {
    let id = NodeId((u128::from(u32::from(letter)) << 8) + incarnation);
    Member { name: node(letter).to_string(), id, endpoint: endpoint(letter), state }
}

/// The view of a cluster of live members.
pub fn view(letters: &str) -> View {
    view_of(letters.chars().map(|letter| member(letter, 1, MemberState::Live)).collect())
}

pub fn view_of(members: Vec<Member>) -> View {
    View::new("default", Some(ClusterId(1)), members)
}

pub fn welcome(member: Member, view: View) -> Welcome {
    let introduction = Introduction { member, cluster: "default".into(), cluster_id: Some(ClusterId(1)), firm: true };
    Welcome { version: 1, features: 0, introduction, view }
}

/// One call on its stage.
pub struct Stage {
    pub config: ClientConfig,
    pub fleet: Fleet,
    pub now: Duration,
    pub call: Call,
}

impl Stage {
    /// A call over targets with these letters, of which the first is asked first.
    pub fn new(letters: &str, invocation: Invocation) -> Self {
        Self::with(config(letters), invocation)
    }

    pub fn with(config: ClientConfig, invocation: Invocation) -> Self {
        let fleet = starting_with_the_first(&config);
        let call = Call::new(invocation, &config, Duration::ZERO, config.timeout);
        Self { config, fleet, now: Duration::ZERO, call }
    }

    /// Another call over the same fleet, from now on.
    pub fn again(&mut self, invocation: Invocation) {
        self.call = Call::new(invocation, &self.config, self.now, self.config.timeout);
    }

    pub fn start(&mut self) -> String {
        self.step(Input::Start)
    }

    pub fn step(&mut self, input: Input) -> String {
        let output = self.call.step(&mut self.fleet, self.now, input);
        self.words(&output)
    }

    /// The error with which `input` ends the call.
    pub fn error(&mut self, input: Input) -> NamingError {
        match self.call.step(&mut self.fleet, self.now, input) {
            Output::Done(Err(error)) => error,
            other => panic!("no error: {other:?}"),
        }
    }

    /// `millis` later, `input` happens.
    pub fn after(&mut self, millis: u64, input: Input) -> String {
        self.now += ms(millis);
        self.step(input)
    }

    pub fn request(&self) -> &Request {
        self.call.request()
    }

    pub fn id(&self, letter: char) -> TargetId {
        let label = endpoint(letter).to_string();
        self.fleet.targets().find(|target| *target.label == *label).expect("a target of that letter").id
    }

    pub fn health(&self, letter: char) -> Health {
        self.fleet.target(self.id(letter)).unwrap().health
    }

    pub fn attempts(&self) -> Vec<String> {
        self.call.trail().attempts().iter().map(attempt_words).collect()
    }

    /// Introduces the nodes at all targets: their names and ids are known from here on.
    pub fn introduce(&mut self, letters: &str) {
        for letter in letters.chars() {
            let id = self.id(letter);
            self.fleet.welcomed(id, &welcome(member(letter, 1, MemberState::Live), view(letters)), self.now);
        }
    }

    fn words(&self, output: &Output) -> String {
        match output {
            Output::Send(send) => {
                let label = &self.fleet.target(send.target).unwrap().label;
                let within = send.ends.checked_sub(self.now).unwrap().as_millis();
                format!("send {} {within}{}", letter(label), if send.fresh { " fresh" } else { "" })
            }
            Output::Wait { until } => format!("wait {}", until.checked_sub(self.now).unwrap().as_millis()),
            Output::Done(Ok(product)) => format!("done {}", product_words(product)),
            Output::Done(Err(error)) => error_words(error),
        }
    }
}

/// A fleet whose first pick is the provider list's first: the seed decides.
pub fn starting_with_the_first(config: &ClientConfig) -> Fleet {
    for seed in 0..1000 {
        let mut probe = fleet(config, seed);
        let mut call = Call::new(Invocation::status(), config, Duration::ZERO, config.timeout);
        if let Output::Send(send) = call.step(&mut probe, Duration::ZERO, Input::Start)
            && *probe.target(send.target).unwrap().label == *config.providers[0].to_string()
        {
            return fleet(config, seed);
        }
    }
    panic!("no seed starts with the first");
}

fn product_words(product: &Product) -> String {
    match product {
        Product::Found(located) => {
            let at = located.at.as_ref().map_or_else(String::new, |at| format!(" at {at}"));
            let known = match located.freshness {
                Freshness::Asked => "",
                Freshness::Kept => " kept",
                Freshness::LastKnown => " last known",
            };
            format!("found{at}{known}")
        }
        Product::Absent => "absent".to_owned(),
        Product::Many(items) => {
            let word = |item: Option<OneOfMany>| match item {
                Some(OneOfMany { at: Some(at), .. }) => format!("found at {at}"),
                Some(_) => "found".to_owned(),
                None => "absent".to_owned(),
            };
            let words: Vec<_> = items.iter().map(word).collect();
            format!("many {}", words.join(" "))
        }
        Product::Listing(rows) => {
            let names: Vec<_> = rows.iter().map(|row| row.component.as_str()).collect();
            format!("listing {}", names.join(" "))
        }
        Product::Written(written) => format!("written by {}", written.acked_by.join(" ")),
        Product::Removed { existed, .. } => format!("removed {existed}"),
        other => format!("{other:?}"),
    }
}

pub fn error_words(error: &NamingError) -> String {
    format!("{:?} {}: {error}", error.kind(), error.fields().completion)
}

pub fn attempt_words(attempt: &Attempt) -> String {
    let why = attempt.why_next.as_deref().unwrap_or("-");
    format!("{} {} {} {} | {why}", letter(&attempt.target), attempt.phase, attempt.completion, attempt.outcome)
}
