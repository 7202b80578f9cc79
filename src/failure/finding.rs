//! What each exception of a chain means by itself, and which of them may speak of the client's own request.

use super::rule::{Seen, Weight, contains_word};
use super::tables::{self, corba_minors, ejb, plain_words, rmi};
use super::{Category, Chain, CompletionStatus, Link, Meaning, Minor, Thrown, corba};

/// One exception and what it means, if a rule knows it.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// The exception.
    pub thrown: &'a Thrown,
    /// Its meaning.
    pub meaning: Option<Meaning>,
    /// It happened on the server: it says nothing of the client's own request.
    pub inner: bool,
    /// The target threw it: it came with the reply.
    pub answered: bool,
}

impl Finding<'_> {
    /// Whether it says by itself that the request had left when it was lost: a reply was awaited, or the connection broke. What
    /// a class may be thrown for as well while connecting says nothing.
    pub fn had_left(&self) -> bool {
        // What words alone tell of a general class is too little.
        let is_sure = |meaning: &Meaning| meaning.weight == Weight::Plain && meaning.trust > 60;
        let Some(meaning) = self.meaning.filter(is_sure) else { return false };
        if meaning.completion != CompletionStatus::Maybe || self.thrown.simple_class() == "TRANSIENT" {
            return false;
        }
        let message = || self.thrown.message.to_lowercase();
        match meaning.category {
            Category::NoResponse => true,
            Category::ConnectionLost => {
                self.thrown.minor.is_some_and(|minor| minor != Minor(0))
                    || BROKEN_CLASSES.contains(&self.thrown.simple_class())
                    || BROKEN.iter().any(|words| message().contains(words))
            }
            _ => false,
        }
    }
}

/// Thrown for nothing but a connection that stood, and is gone.
const BROKEN_CLASSES: &[&str] =
    &["ConnectionResetError", "BrokenPipeError", "PeerGoneException", "ServerGoneException", "DeadServerException"];
/// The words for it.
const BROKEN: &[&str] = &["reset", "broken pipe", "return header", "econnreset", "epipe", "forcibly closed"];

/// The findings of a chain, outermost first.
pub fn of_chain(thrown: &[Thrown]) -> Vec<Finding<'_>> {
    let mut beside: Vec<&str> = Vec::new();
    for one in thrown {
        beside.push(&one.message);
        beside.extend(one.frames.iter().map(String::as_str));
    }
    let (mut inner, mut quotes) = (false, false);
    let from_reply = from_reply(thrown);
    let mut findings = Vec::with_capacity(thrown.len());
    for (at, one) in thrown.iter().enumerate() {
        let seen = Seen::new(one, &beside);
        let answered = !inner && from_reply.is_some_and(|first| first <= at);
        quotes &= is_within(one.link);
        findings.push(Finding { thrown: one, meaning: meaning(&seen), inner: inner || answered || quotes, answered });
        inner |= ends_at_the_server(&seen);
        quotes |= answers_in_words(&seen);
    }
    findings
}

/// From which exception on a chain came with the reply. A printed trace shows what is nested in a message before the
/// frames of the whole.
fn from_reply(thrown: &[Thrown]) -> Option<usize> {
    let with_frame = thrown.iter().position(|one| was_answered(std::slice::from_ref(one)))?;
    Some((0..=with_frame).rev().find(|at| !is_within(thrown[*at].link)).unwrap_or(0))
}

/// Whether an exception that so hangs on the one before is named in its message.
fn is_within(link: Link) -> bool {
    matches!(link, Link::Nested | Link::Beside)
}

/// Whether one of the chain's exceptions says that this very process is still starting up.
pub fn is_own_start_up(chain: &Chain) -> bool {
    chain.thrown.iter().any(|one| ejb::OWN_START_UP.iter().any(|code| contains_word(&one.message, code)))
}

/// Whether the exception came with the server's reply.
pub fn was_answered(thrown: &[Thrown]) -> bool {
    thrown.iter().flat_map(|one| &one.frames).any(|frame| rmi::ANSWERED.iter().any(|mark| frame.contains(mark)))
}

fn meaning(seen: &Seen<'_>) -> Option<Meaning> {
    let name = corba::system_exception(&seen.thrown.class);
    if let (Some(name), Some(minor)) = (name, seen.thrown.minor)
        && let Some(meaning) = corba_minors::meaning(name, minor)
    {
        return Some(meaning);
    }
    tables::meaning(seen).or_else(|| corba::meaning(seen.thrown))
}

/// Statuses that a server's own words follow. Where a call was not served they are the client's library's.
const ANSWERED_BY: &[&str] = &[
    "INTERNAL",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "DATA_LOSS",
];
/// Thrown for an answer that says in words what went wrong at the server.
const FAULTS: &[&str] = &[
    "HTTPError",
    "HTTPStatusError",
    "ClientResponseError",
    "HttpServerErrorException",
    "HttpClientErrorException",
    "HttpResponseException",
    "InternalServerErrorException",
    "SOAPFaultException",
    "SoapFaultClientException",
    "FeignException",
    "Fault",
    "ResponseError",
];

/// Whether an exception brings the server's answer in its message: the classes that it names there are the server's.
fn answers_in_words(seen: &Seen<'_>) -> bool {
    is_fault(&seen.thrown.class)
        || says_that_it_was_answered(&seen.message)
        || seen.thrown.code.as_deref().is_some_and(|code| ANSWERED_BY.contains(&code))
}

/// Whether a class is thrown for a server's answer. Spring's have a class for each status within theirs.
fn is_fault(class: &str) -> bool {
    class.rsplit(['.', '$']).take(2).any(|name| FAULTS.contains(&name))
}

/// Whether the text of an exception brings a server's answer.
pub fn is_an_answer(text: &str) -> bool {
    let class = text.split([':', ' ']).next().unwrap_or_default();
    is_fault(class) || says_that_it_was_answered(&text.to_lowercase())
}

/// Whether words say that what follows them was the server's answer.
pub fn says_that_it_was_answered(message: &str) -> bool {
    plain_words::ANSWERS.iter().any(|words| message.contains(words))
}

/// Whether what is deeper in the chain happened on the server.
fn ends_at_the_server(seen: &Seen<'_>) -> bool {
    let class = seen.class;
    let by_client = || {
        seen.beside.iter().any(|text| {
            let marks = ["org.jboss.ejb.client", "EJBCLIENT", "No invocation response received"];
            marks.iter().any(|mark| text.contains(mark))
        })
    };
    rmi::FROM_THE_SERVER.contains(&class)
        || seen.message.contains("occurred in server thread")
        || (class == "RemoteException" && seen.message.contains("ejb exception"))
        || (class == "EJBException" && !by_client())
        || (class == "UnknownException" && seen.thrown.class.contains("CORBA"))
        || seen.thrown.message.contains(rmi::SERVER_TRACE)
}
