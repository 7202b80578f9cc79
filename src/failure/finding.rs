//! What each exception of a chain means by itself, and which of them may speak of the client's own request.

use super::rule::{Seen, contains_word};
use super::tables::{FAMILIES, corba_minors, ejb, rmi};
use super::{Chain, Meaning, Thrown, corba};

/// One exception and what it means, if a rule knows it.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// The exception.
    pub thrown: &'a Thrown,
    /// Its meaning.
    pub meaning: Option<Meaning>,
    /// It happened on the server: it says nothing of the client's own request.
    pub inner: bool,
}

/// The findings of a chain, outermost first.
pub fn of_chain(thrown: &[Thrown]) -> Vec<Finding<'_>> {
    let mut beside: Vec<&str> = Vec::new();
    for one in thrown {
        beside.push(&one.message);
        beside.extend(one.frames.iter().map(String::as_str));
    }
    let mut inner = false;
    let mut findings = Vec::with_capacity(thrown.len());
    for one in thrown {
        let seen = Seen::new(one, &beside);
        findings.push(Finding { thrown: one, meaning: meaning(&seen), inner });
        inner |= ends_at_the_server(&seen);
    }
    findings
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
    let by_rule = || FAMILIES.iter().copied().flatten().find(|rule| rule.fits(seen)).map(|rule| rule.meaning);
    by_rule().or_else(|| corba::meaning(seen.thrown))
}

/// Whether what is deeper in the chain happened on the server.
fn ends_at_the_server(seen: &Seen<'_>) -> bool {
    let class = seen.class;
    let by_client = || seen.beside.iter().any(|text| text.contains("org.jboss.ejb.client") || text.contains("EJBCLIENT"));
    rmi::FROM_THE_SERVER.contains(&class)
        || seen.message.contains("occurred in server thread")
        || (class == "RemoteException" && seen.message.contains("ejb exception"))
        || (class == "EJBException" && !by_client())
        || (class == "UnknownException" && seen.thrown.class.contains("CORBA"))
        || seen.thrown.frames.iter().any(|frame| frame.contains(">> SERVER ("))
}
