//! Where in a log anything can be a failure at all: one pass over the bytes for a few literals.
//!
//! Almost all lines of almost all logs hold none of them and are never decoded, cut out or even looked at one by one;
//! this is what makes the reader fast. The literals are parts of what [`super::shape`] accepts, so nothing is missed.

use aho_corasick::AhoCorasick;

/// Each shape that opens an event contains one of these.
const LITERALS: &[&str] = &[
    "Exception",
    "Error",
    "gaierror",
    "herror",
    "socket.timeout",
    "socket.error",
    "exceptions.Timeout",
    "exceptions.timeout",
    "CORBA",
    "TRANSIENT",
    "COMM_FAILURE",
    "Timeout:",
    "Rendezvous",
    "StatusCode",
    "rpc error",
    "exception, ID",
    "ECONN",
    "ETIMEDOUT",
    "EJBCLIENT0",
    "WFNAM0",
    "JBREM0",
    "andshake fail",
    "CERTIFICATE_VERIFY",
    "certificate verify",
    "WRONG_VERSION",
    "SSL_ERROR_",
    "obtain connection to any",
    "No available router",
    "vmcid",
    "Throwable",
    "Timeout",
    "Disconnected",
    "IncompleteRead",
    "ConnectionLoss",
    "BadStatusLine",
    "psycopg",
    "CosNaming",
    " UNAVAILABLE:",
    " DEADLINE_EXCEEDED:",
    "UNAUTHENTICATED:",
    "Traceback (",
];

/// A search for lines that may tell of a failure.
#[derive(Clone, Debug)]
pub struct Scan(Option<AhoCorasick>);

impl Scan {
    /// Builds the search.
    pub fn new() -> Self {
        // It can fail on patterns too many or too long for it, which these are not; then each line is looked at.
        Self(AhoCorasick::new(LITERALS).ok())
    }

    /// Where the first of them begins.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        match &self.0 {
            Some(search) => search.find(bytes).map(|found| found.start()),
            None => (!bytes.is_empty()).then_some(0),
        }
    }
}
