//! Where in a log anything can be a failure at all: one pass over the bytes for a few literals.
//!
//! Almost all lines of almost all logs hold none of them and are never decoded, cut out or even looked at one by one;
//! this is what makes the reader fast. The literals are parts of what [`super::shape`] accepts, so nothing is missed.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, packed};

/// The literals. Each shape that opens an event contains one of these.
pub const LITERALS: &[&str] = &[
    "Exception",
    "Error",
    "gaierror",
    "socket.",
    "exceptions.",
    "errors.",
    "CORBA",
    "TRANSIENT",
    "COMM_FAILURE",
    "Rendezvous",
    "StatusCode",
    "rpc ",
    "IDL:",
    "user exception",
    "ECONN",
    "ETIMEDOUT",
    "EHOST",
    "ENET",
    "EPIPE",
    "ENOT",
    "EAI_",
    "EMFILE",
    "ENFILE",
    "ENOBUFS",
    "EADDRNOTAVAIL",
    "Unhandled exception.",
    ".java:",
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
    "Traceback",
    "terminat",
    "GRPC::",
    " tcp",
    "EOF",
    " deadline",
    "x509:",
    " hang ",
    "curl:",
    " sending ",
    "(os ",
    "http: ",
    "http2: ",
    "stream error",
    "reconnect",
];
/// More patterns than these are no longer searched for in one vectorised pass.
const _: () = assert!(LITERALS.len() <= 64, "too many literals");

/// A search for lines that may tell of a failure.
#[derive(Debug)]
pub struct Scan {
    /// The vectorised search for few words, where the processor has what it needs.
    packed: Option<packed::Searcher>,
    /// The automaton, elsewhere.
    automaton: Option<AhoCorasick>,
}

impl Scan {
    /// The search, which is built once.
    pub fn get() -> &'static Self {
        static SCAN: LazyLock<Scan> = LazyLock::new(Scan::new);
        &SCAN
    }

    fn new() -> Self {
        let packed = packed::Searcher::new(LITERALS);
        // It can fail on patterns too many or too long for it, which these are not; then each line is looked at.
        let automaton = if packed.is_none() { AhoCorasick::new(LITERALS).ok() } else { None };
        Self { packed, automaton }
    }

    /// Where the first of them begins.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        match (&self.packed, &self.automaton) {
            (Some(search), _) => search.find(bytes).map(|found| found.start()),
            (None, Some(search)) => search.find(bytes).map(|found| found.start()),
            (None, None) => (!bytes.is_empty()).then_some(0),
        }
    }
}
