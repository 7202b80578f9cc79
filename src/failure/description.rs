//! A failure described by a mapping: the fields that support tickets, metrics and wrappers have.

use super::log::{chain_of_text, grpc_status};
use super::{Chain, CompletionStatus, Link, Minor, Phase, Thrown};

/// A described failure. What is not known is empty. Numbers are given as text, in whatever form they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The exception's class.
    pub exception: String,
    /// Its message.
    pub message: String,
    /// The completion status: `NO`, `Maybe`, `COMPLETED_YES`, 0 to 2 as on the wire.
    pub completed: String,
    /// The vendor's id or name.
    pub vmcid: String,
    /// The minor code, in each form that was given.
    pub minor: Vec<String>,
    /// A gRPC status, an errno symbol, a product's code.
    pub code: String,
    /// How far the exchange had come.
    pub phase: String,
    /// The cause, as text: a line, a chain, a stack trace.
    pub cause: String,
    /// Stack frames.
    pub frames: Vec<String>,
}

impl Description {
    /// The chain that it describes. A text in place of a class is read as text, with the fields on top.
    pub fn chain(&self) -> Chain {
        let mut chain = if self.exception.contains([' ', '(', '\n']) { chain_of_text(&self.exception) } else { Chain::default() };
        if chain.is_empty() && !(self.exception.is_empty() && self.code.is_empty() && self.message.is_empty()) {
            chain.thrown.push(Thrown::new(class(&self.exception), ""));
        }
        if let Some(thrown) = chain.thrown.first_mut() {
            self.fill(thrown);
        }
        // The message may show what a text would: `CORBA TRANSIENT 0x4942fe02 No; nested exception is: …`.
        let told = chain_of_text(&self.message);
        let cause = if self.cause.is_empty() { Chain::default() } else { chain_of_text(&self.cause) };
        for (mut inner, link) in [(told, Link::Nested), (cause, Link::Cause)] {
            if let Some(first) = inner.thrown.first_mut() {
                first.link = if chain.thrown.is_empty() { Link::Outermost } else { link };
            }
            chain.thrown.append(&mut inner.thrown);
            chain.parts.append(&mut inner.parts);
        }
        chain
    }

    fn fill(&self, thrown: &mut Thrown) {
        if !self.message.is_empty() {
            thrown.message.clone_from(&self.message);
        }
        if let Some(status) = completed(&self.completed) {
            thrown.completed = Some(status);
        }
        let texts: Vec<&str> = self.minor.iter().map(String::as_str).collect();
        let vmcid = Some(self.vmcid.as_str()).filter(|vmcid| !vmcid.is_empty());
        if let Some((minor, agreed)) = Minor::read(vmcid, &texts) {
            thrown.minor = Some(minor);
            thrown.minor_in_doubt = !agreed;
        }
        if !self.code.is_empty() {
            let by_number = grpc_status(&self.code).filter(|_| thrown.class.to_lowercase().contains("grpc"));
            thrown.code = Some(by_number.map_or_else(|| self.code.clone(), str::to_owned));
        }
        thrown.phase = phase(&self.phase).or(thrown.phase);
        thrown.frames.extend(self.frames.iter().cloned());
    }
}

/// A class, also by its id in CORBA's repository: `IDL:omg.org/CORBA/TRANSIENT:1.0`.
fn class(text: &str) -> &str {
    let text = text.trim();
    let id = text.strip_prefix("IDL:").and_then(|id| id.rsplit_once(':'));
    id.map_or(text, |(class, _version)| class)
}

/// A status in words, or by its number on the wire.
fn completed(text: &str) -> Option<CompletionStatus> {
    match text.trim() {
        "0" => Some(CompletionStatus::Yes),
        "1" => Some(CompletionStatus::No),
        "2" => Some(CompletionStatus::Maybe),
        word => CompletionStatus::from_word(word),
    }
}

/// A phase in the words that people and libraries use for it.
fn phase(text: &str) -> Option<Phase> {
    match text.trim().to_lowercase().as_str() {
        "resolving" | "dns" | "name_resolution" => Some(Phase::Resolve),
        "connecting" | "dial" | "open" => Some(Phase::Connect),
        "tls" | "handshaking" => Some(Phase::Handshake),
        "sending" | "write" | "writing" => Some(Phase::Send),
        "waiting" | "read" | "reading" | "recv" | "reply" | "response" => Some(Phase::Wait),
        "receiving" | "body" => Some(Phase::Receive),
        word => Phase::from_word(word),
    }
}
