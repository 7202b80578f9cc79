//! A verdict's sentences for people: what to do, why, and what decided.

use std::fmt::Write;

use super::decision::{Decision, Source};
use super::{Action, Category, CompletionStatus, Thrown, Verdict};
use CompletionStatus::{Maybe, No, Yes};

const EVIDENCE_CHARS: usize = 240;

/// The verdict on what is no failure.
pub fn no_failure(reason: &str) -> Verdict {
    Verdict {
        category: Category::NotAFailure,
        detail: "not_a_failure",
        completion: None,
        action: Action::Ignore,
        action_if_idempotent: Action::Ignore,
        advice: "Nothing to do.".to_owned(),
        reason: reason.to_owned(),
        evidence: String::new(),
        confidence: 0.9,
    }
}

/// What to do. `last` says that no other candidate is left.
pub fn advice(category: Category, completion: CompletionStatus, last: bool) -> &'static str {
    match (category, completion) {
        (Category::NotConnected, No) if last => "Nothing was sent and nobody else is left to ask: try again later.",
        (Category::NotConnected, No) => "Nothing was sent: send it to another server, and leave this one out for a while.",
        (Category::Quiescing, No) if last => "The server is not ready yet: try again later.",
        (Category::Quiescing, No) => {
            "The server refused before running: use another one, and take this one as draining, not dead."
        }
        (Category::AllUnavailable, No) => {
            "No candidate is left: wait and try again; if it lasts, check addresses and deployment."
        }
        (Category::AllUnavailable, _) => {
            "No candidate is left, and one of them may have run the call: look before sending it again later."
        }
        (Category::ResultLost, _) => "The call ran: don't repeat it for its effect; ask again if only its value is missing.",
        (Category::StaleReference, No) => "The object is gone and the call did not run: look the name up again, then call.",
        (Category::StaleReference, _) => {
            "The object is gone and with it what it held: look the name up again and rebuild the session."
        }
        (Category::TransactionRolledBack, _) => "Redo the whole transaction, not this one call.",
        (Category::WorkloadManagerFault, _) => {
            "The workload manager itself is broken: no failover will help, see to its configuration."
        }
        (Category::Security, _) => "Each server would refuse alike: check credentials, rights and certificates.",
        (Category::Configuration, _) => "Each server would fail alike: correct the URL, the provider or the protocol.",
        (Category::NamingAnswer, _) => "This is a definite answer: handle it; don't ask another server.",
        (Category::Application, Maybe) => "The failure is the server's own and the call may have run in part: look there first.",
        (Category::Application, _) => "This is the target's own answer: handle it, never retry it.",
        (Category::Marshalling, _) => "Client and server differ in what they send: compare versions and types.",
        (Category::ResourceExhausted, No) => "A resource had run out before the call ran: free it, then try again later.",
        (Category::ResourceExhausted, _) => "A resource had run out during the call: look whether it ran, then free it.",
        (Category::ClientShutdown, _) => {
            "The client was being shut down: look for an earlier failure; this one follows from the end."
        }
        (Category::NotAFailure, _) => "Nothing to do.",
        (Category::Unknown, _) => "No rule knows this: take it that the call may have run, and look into it.",
        (_, No) => "The call did not run: send it to another server.",
        (_, Yes) => "The call ran: don't repeat it for its effect.",
        (_, Maybe) => "The call may have run: repeat it only if running it twice does no harm.",
    }
}

/// Why: what decided, what it means, and where the completion status comes from.
pub fn reason(decision: &Decision<'_>) -> String {
    let thrown = decision.finding.thrown;
    let what = [thrown.simple_class(), thrown.code.as_deref().unwrap_or_default()].into_iter().find(|text| !text.is_empty());
    let minor = thrown.minor.map_or_else(String::new, |minor| format!(" minor {minor} ({})", minor.vendor_name()));
    let completion = decision.completion;
    let status = match decision.source {
        _ if decision.category == Category::NotAFailure => return format!("{}: {}", what.unwrap_or("it"), decision.meaning.why),
        Source::Printed => format!("completed: {completion}, as it says itself"),
        Source::Liar => format!("the NO it prints is no evidence there, so {completion}"),
        Source::Rule => format!("so {completion}"),
        Source::Parts => format!("{completion}, the worst of what became of each"),
    };
    format!("{}{minor}: {}; {status}", what.unwrap_or("it"), decision.meaning.why)
}

/// The line or field that decided.
pub fn evidence(thrown: &Thrown) -> String {
    let mut text = String::new();
    if thrown.line > 0 {
        text = format!("line {}: ", thrown.line);
    }
    text.push_str(&thrown.class);
    if let Some(code) = &thrown.code
        && !thrown.message.contains(code.as_str())
    {
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(code);
    }
    if !thrown.message.is_empty() {
        text.push_str(if text.is_empty() || text.ends_with(": ") { "" } else { ": " });
        text.push_str(&thrown.message);
    }
    if let Some(minor) = thrown.minor {
        let _ = write!(text, " minor {minor}");
    }
    if let Some(completed) = thrown.completed {
        let _ = write!(text, " completed {completed}");
    }
    match text.char_indices().nth(EVIDENCE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
