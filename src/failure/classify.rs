//! From a chain to a verdict: which of its exceptions decides, and whose completion status counts.
//!
//! 1. A list of candidates that is exhausted leaves none; what became of its parts says whether the call may have run.
//! 2. Else the deepest exception that a rule knows decides; but what was thrown while another was handled came later than
//!    that: an answer or a loss is not undone by an earlier attempt that had not left. What makes each server say
//!    the same (authentication, TLS, protocol, settings) decides wherever it stands, and the noise of a shutdown never
//!    against an earlier failure.
//! 3. The completion status is the one printed on the exception that belongs to the client's own request: not below
//!    the point from where on the chain is the server's. Without one it is what the rule says.
//! 4. A printed `NO` is honoured, except of known liars; with minor code 0 it is weak, since that is what default
//!    constructors give.

use super::chain::Link;
use super::decision::{Decision, Source};
use super::finding::{self, Finding};
use super::rule::Weight;
use super::tables::ejb;
use super::verdict::{Need, action_for};
use super::{Category, Chain, CompletionStatus, Meaning, Minor, Verdict, advice, connecting, corba};

/// What a failure means.
pub fn classify_chain(chain: &Chain) -> Verdict {
    let verdict = read(chain);
    let other = chain.otherwise.as_deref().map(read);
    // Of two readings neither may deliver a call twice.
    other.filter(|other| other.completion > verdict.completion).unwrap_or(verdict)
}

fn read(chain: &Chain) -> Verdict {
    let findings = finding::of_chain(&chain.thrown);
    let Some(decision) = decide(chain, &findings) else { return advice::no_failure("there is no failure in it") };
    let last = decision.meaning.last || finding::is_own_start_up(chain);
    let category = decision.category;
    let no_failure = category == Category::NotAFailure;
    let action = |need| action_for(category, decision.completion, need, !last);
    Verdict {
        category,
        detail: decision.detail,
        completion: (!no_failure).then_some(decision.completion),
        action: action(Need::EFFECT),
        action_if_idempotent: action(Need::VALUE),
        advice: advice::advice(category, decision.completion, last).to_owned(),
        reason: advice::reason(&decision),
        evidence: advice::evidence(decision.finding.thrown),
        confidence: f64::from(decision.trust) / 100.0,
    }
}

fn decide<'a>(chain: &'a Chain, findings: &[Finding<'a>]) -> Option<Decision<'a>> {
    if let Some(at) = findings.iter().position(is_exhausted) {
        return Some(exhausted(chain, findings, at));
    }
    let Some((finding, meaning)) = deciding(findings) else { return unknown(chain) };
    if meaning.completion == CompletionStatus::No && meaning.weight != Weight::Decisive && unknown_before(findings, finding) {
        return unknown(chain);
    }
    let (printed, weak) = printed(findings, finding, &meaning);
    let (completion, source) = match printed {
        Some(CompletionStatus::No) if meaning.liar => (meaning.completion, Source::Liar),
        // A default constructor's NO, and what is deeper knows that the request had left.
        Some(CompletionStatus::No) if weak && is_deeper_and_later(finding, &meaning) => (meaning.completion, Source::Rule),
        Some(status) => (status, Source::Printed),
        None if finding.inner && !finding.answered && !speaks_of_the_request(finding) => (CompletionStatus::Maybe, Source::Rule),
        None => (meaning.completion, Source::Rule),
    };
    let (category, detail) = settled(finding, &meaning, completion);
    let doubt = if findings.iter().any(|one| one.thrown.minor_in_doubt) { 80 } else { 100 };
    // What is deeper may say NO for a reason of its own.
    let agrees = finding.thrown.completed.is_none() && meaning.completion == CompletionStatus::No;
    let weakness = if weak && source == Source::Printed && !agrees { 65 } else { 100 };
    let trust = percent(percent(meaning.trust, doubt), weakness);
    Some(Decision { finding: *finding, meaning, category, detail, completion, source, trust })
}

/// The finding that decides, with what it means here.
fn deciding<'f, 'a>(findings: &'f [Finding<'a>]) -> Option<(&'f Finding<'a>, Meaning)> {
    let known = || findings.iter().filter_map(|finding| Some((finding, of_own_request(finding)?)));
    let deepest = |weight| known().rfind(|(_, meaning)| meaning.weight == weight);
    let plain = deepest(Weight::Plain);
    let chosen = match deepest(Weight::Decisive) {
        Some(decisive) if plain.is_none_or(|(_, meaning)| meaning.category != Category::NamingAnswer) => Some(decisive),
        _ => plain.or_else(|| deepest(Weight::Wrapper)),
    }?;
    let chosen = worse_later(findings, chosen).unwrap_or(chosen);
    let chosen = lost_around(findings, chosen).unwrap_or(chosen);
    if chosen.1.category == Category::ClientShutdown {
        let earlier =
            known().find(|(_, meaning)| meaning.category != Category::ClientShutdown && meaning.weight != Weight::Wrapper);
        return Some(earlier.unwrap_or(chosen));
    }
    let unnamed = findings.last().is_some_and(|last| last.meaning.is_none());
    if chosen.1.detail == "remote" && unnamed {
        return Some((chosen.0, TARGETS_OWN));
    }
    Some(chosen)
}

/// What became of a later attempt and is worse: the program had gone on to that one while `deepest` was handled, or the two stand
/// in a row, of which a loss counts.
fn worse_later<'f, 'a>(
    findings: &'f [Finding<'a>],
    (deepest, meaning): (&'f Finding<'a>, Meaning),
) -> Option<(&'f Finding<'a>, Meaning)> {
    let end = findings.iter().position(|finding| std::ptr::eq(finding.thrown, deepest.thrown))?;
    let later = |links: &[Link]| {
        let at = (1..=end).rfind(|at| links.contains(&findings[*at].thrown.link)).unwrap_or(0);
        let known = findings[..at].iter().filter_map(|finding| Some((finding, of_own_request(finding)?)));
        known.filter(move |(_, later)| later.weight == Weight::Plain && later.completion > meaning.completion)
    };
    let is_loss = |found: &(&Finding<'_>, Meaning)| matches!(found.1.category, Category::ConnectionLost | Category::NoResponse);
    later(&[Link::Context]).next().or_else(|| later(&[Link::Context, Link::Beside]).find(is_loss))
}

/// The loss of a request that had evidently left, around what is no loss: whatever caused that, the request may have run. What
/// every server would refuse alike stays what it is.
fn lost_around<'f, 'a>(
    findings: &'f [Finding<'a>],
    (deepest, meaning): (&'f Finding<'a>, Meaning),
) -> Option<(&'f Finding<'a>, Meaning)> {
    let is_loss = meaning.completion == CompletionStatus::Maybe && deepest.thrown.completed != Some(CompletionStatus::No);
    // urllib3 calls a handshake that timed out a read that timed out: it is the same loss, and came while connecting.
    let is_same = matches!(meaning.detail, "connect_timeout" | "connect_failed") && connecting::is_proved(&deepest.thrown.frames);
    if is_loss || is_same || meaning.weight != Weight::Plain {
        return None;
    }
    let around = findings.iter().take_while(|finding| !std::ptr::eq(finding.thrown, deepest.thrown));
    around.filter(|finding| !finding.inner && finding.had_left()).find_map(|finding| Some((finding, finding.meaning?)))
}

/// Whether what `decisive` was thrown in the handling of is an exception that no rule knows: the request may have left
/// before that one. What a language throws at itself is no call's.
fn unknown_before(findings: &[Finding<'_>], decisive: &Finding<'_>) -> bool {
    let Some(at) = findings.iter().position(|finding| std::ptr::eq(finding.thrown, decisive.thrown)) else { return false };
    let mut before = findings[at + 1..].iter().skip_while(|finding| finding.thrown.link != Link::Context);
    let is_unknown = |meaning: Meaning| meaning.category == Category::Unknown;
    before.any(|finding| finding.meaning.is_none_or(is_unknown) && !OF_THE_LANGUAGE.contains(&finding.thrown.simple_class()))
}

/// Python's exceptions for a key that is missing, a value of the wrong type, and the like.
const OF_THE_LANGUAGE: &[&str] = &[
    "KeyError",
    "IndexError",
    "LookupError",
    "AttributeError",
    "TypeError",
    "ValueError",
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "StopIteration",
    "StopAsyncIteration",
    "AssertionError",
    "NotImplementedError",
    "ZeroDivisionError",
    "UnicodeDecodeError",
    "FileNotFoundError",
    "JSONDecodeError",
    "Empty",
    "QueueEmpty",
];

/// What was thrown on the server is the target's own matter, unless it speaks of the request's arguments or result, or
/// each server would say it.
fn of_own_request(finding: &Finding<'_>) -> Option<Meaning> {
    let meaning = finding.meaning?;
    if !finding.inner || speaks_of_the_request(finding) || meaning.weight == Weight::Decisive {
        return Some(meaning);
    }
    if !finding.answered {
        return Some(ON_THE_SERVER);
    }
    // What a target's own calls met with; the server itself speaks of what it was asked for.
    let met = matches!(
        meaning.category,
        Category::NotConnected
            | Category::ConnectionLost
            | Category::NoResponse
            | Category::Quiescing
            | Category::AllUnavailable
            | Category::ResourceExhausted
    );
    Some(if met && meaning.weight != Weight::Wrapper { ANSWERED } else { meaning })
}

/// What the server's side of RMI says of the request's arguments and result, in what was thrown there: it could not read
/// those, or not write that. The other way round it speaks of a call of its own.
fn speaks_of_the_request(finding: &Finding<'_>) -> bool {
    match (finding.thrown.simple_class(), finding.meaning) {
        ("UnmarshalException", Some(meaning)) => meaning.detail == "unmarshal_arguments",
        ("MarshalException", Some(meaning)) => meaning.completion == CompletionStatus::Yes,
        _ => false,
    }
}

const ON_THE_SERVER: Meaning =
    Meaning::maybe(Category::Application, "server_side_failure", "the call failed on the server, in calls of its own").wrapper();
const TARGETS_OWN: Meaning =
    Meaning::maybe(Category::Application, "target_exception", "the target threw an exception of its own").trust(50);
const ANSWERED: Meaning =
    Meaning::yes(Category::Application, "target_exception", "the target answered with an exception of its own").trust(75);
const NO_RULE: Meaning = Meaning::maybe(Category::Unknown, "unknown", "no rule knows it").trust(30);

/// The status printed on the client's own request, and whether it is a weak one.
fn printed(findings: &[Finding<'_>], deciding: &Finding<'_>, meaning: &Meaning) -> (Option<CompletionStatus>, bool) {
    let lost = meaning.completion == CompletionStatus::Maybe
        && matches!(meaning.category, Category::ConnectionLost | Category::NoResponse);
    for finding in findings.iter().filter(|finding| !finding.inner) {
        if let Some(status) = finding.thrown.completed {
            if lost && status != CompletionStatus::Maybe && is_of_another_call(findings, finding, deciding) {
                continue;
            }
            let is_corba = corba::system_exception(&finding.thrown.class).is_some();
            let is_default = finding.thrown.minor.unwrap_or_default() == Minor(0);
            return (Some(status), is_corba && is_default && status == CompletionStatus::No);
        }
    }
    (None, false)
}

/// Whether what an exception prints is no word on the request that was lost with `deciding`: it is the noise of a shutdown, an
/// answer, or was thrown in the handling of the other.
fn is_of_another_call(findings: &[Finding<'_>], printing: &Finding<'_>, deciding: &Finding<'_>) -> bool {
    if std::ptr::eq(printing.thrown, deciding.thrown) {
        return false;
    }
    let is_answer_or_noise = printing.meaning.is_some_and(|meaning| {
        matches!(meaning.category, Category::ClientShutdown | Category::NamingAnswer | Category::Application)
    });
    let place = |of: &Finding<'_>| findings.iter().position(|finding| std::ptr::eq(finding.thrown, of.thrown));
    let (Some(one), Some(other)) = (place(printing), place(deciding)) else { return is_answer_or_noise };
    if one > other && deciding.had_left() {
        return true;
    }
    let between = &findings[one.min(other) + 1..=one.max(other)];
    is_answer_or_noise || between.iter().any(|finding| finding.thrown.link == Link::Context)
}

fn is_deeper_and_later(finding: &Finding<'_>, meaning: &Meaning) -> bool {
    finding.thrown.completed.is_none() && meaning.completion == CompletionStatus::Maybe && meaning.weight != Weight::Wrapper
}

fn settled(finding: &Finding<'_>, meaning: &Meaning, completion: CompletionStatus) -> (Category, &'static str) {
    if let Some(name) = corba::system_exception(&finding.thrown.class)
        && !finding.inner
    {
        return corba::settled(name, meaning, completion);
    }
    match (meaning.category, completion) {
        (Category::ConnectionLost, CompletionStatus::No) => (Category::NotConnected, "comm_lost_before_send"),
        (Category::ConnectionLost | Category::NoResponse, CompletionStatus::Yes) => (Category::ResultLost, "result_lost"),
        _ => (meaning.category, meaning.detail),
    }
}

/// Whether a rule's words or codes say that a list of candidates is exhausted.
fn is_exhausted(finding: &Finding<'_>) -> bool {
    let by_parts = || {
        let code = finding.thrown.code.as_deref().unwrap_or_default();
        ejb::EXHAUSTED_BY_PARTS.iter().any(|known| code == *known || finding.thrown.message.contains(known))
    };
    let all_unavailable = finding.meaning.is_some_and(|meaning| meaning.category == Category::AllUnavailable);
    !finding.inner && corba::system_exception(&finding.thrown.class).is_none() && (all_unavailable || by_parts())
}

fn exhausted<'a>(chain: &'a Chain, findings: &[Finding<'a>], at: usize) -> Decision<'a> {
    let finding = findings[at];
    let meaning = finding.meaning.unwrap_or(NO_RULE);
    let became_of = |findings: &[Finding<'_>]| {
        let part = Chain { thrown: findings.iter().map(|finding| finding.thrown.clone()).collect(), ..Chain::default() };
        decide(&part, findings).map(|decision| (decision.completion, decision.meaning, decision.trust))
    };
    let deeper = (at + 1 < findings.len()).then(|| became_of(&findings[at + 1..])).flatten();
    let parts = chain.parts.iter().filter_map(|part| became_of(&finding::of_chain(part)));
    // Where the list was empty before anything was sent, what no rule knows changes nothing.
    let tells = |part: &(CompletionStatus, Meaning, u8)| {
        meaning.completion != CompletionStatus::No || part.1.category != Category::Unknown
    };
    let became: Vec<_> = parts.chain(deeper).filter(tells).collect();
    let worst = became.iter().map(|part| part.0).reduce(CompletionStatus::worst);
    let (completion, source) = match (worst, finding.thrown.completed) {
        (Some(worst), _) => (worst, Source::Parts),
        (None, Some(printed)) => (printed, Source::Printed),
        (None, None) => (meaning.completion, Source::Rule),
    };
    let trust = became.iter().map(|part| part.2).fold(meaning.trust, u8::min);
    let refused_alike = became.iter().all(|part| part.1.weight == Weight::Decisive);
    let of = |category, detail| Decision { finding, meaning, category, detail, completion, source, trust };
    match became.first() {
        Some(first) if refused_alike => Decision { meaning: first.1, ..of(first.1.category, first.1.detail) },
        // Its class documents the outcome as unknown: only what never connected makes it a list that is exhausted.
        _ if meaning.category == Category::ConnectionLost && completion != CompletionStatus::No => {
            Decision { completion: CompletionStatus::Maybe, ..of(meaning.category, meaning.detail) }
        }
        _ => of(Category::AllUnavailable, "all_targets_unavailable"),
    }
}

/// Of an exception that no rule knows.
fn unknown(chain: &Chain) -> Option<Decision<'_>> {
    let thrown = chain.thrown.last()?;
    let meaning = if finding::was_answered(&chain.thrown) { ANSWERED } else { NO_RULE };
    let completion = thrown.completed.unwrap_or(meaning.completion);
    let source = if thrown.completed.is_some() { Source::Printed } else { Source::Rule };
    let finding = Finding { thrown, meaning: None, inner: false, answered: false };
    let (category, detail, trust) = (meaning.category, meaning.detail, meaning.trust);
    Some(Decision { finding, meaning, category, detail, completion, source, trust })
}

fn percent(of: u8, part: u8) -> u8 {
    u8::try_from(u16::from(of) * u16::from(part) / 100).unwrap_or(100)
}
