//! Which names are exceptions', by their form alone.

use super::status;
use crate::failure::Thrown;

/// Names that end otherwise and still are exceptions', with or without a package.
const OTHER_NAMES: &[&str] = &[
    "gaierror",
    "herror",
    "ConnectTimeout",
    "ReadTimeout",
    "PoolTimeout",
    "WriteTimeout",
    "ConnectionLoss",
    "RemoteDisconnected",
    "IncompleteRead",
    "_MultiThreadedRendezvous",
    "_Rendezvous",
    "BadStatusLine",
];

/// The same, where only a package makes them exceptions'.
const OTHER_NAMES_IN_PACKAGES: &[&str] = &[
    "timeout",
    "Timeout",
    "error",
    "AdminShutdown",
    "CrashShutdown",
    "SerializationFailure",
    "DeadlockDetected",
    "CannotConnectNow",
    "TooManyConnections",
    "NotFound",
    "AlreadyBound",
    "CannotProceed",
    "NotEmpty",
    "InvalidName",
    "InvalidURL",
    "MissingSchema",
    "InvalidSchema",
    "UnsupportedProtocol",
    "ConnectionClosed",
    "TooManyRedirects",
];

/// Named by Go's errors, and none.
const GO_S_SETTING: &str = "Client.Timeout";

/// Whether a path is an exception's by its form, whatever stands around it.
pub fn is_exception_s(path: &str) -> bool {
    let name = Thrown::simple_name(path);
    let dotted = path.len() > name.len();
    let is_generic = ["Error", "Exception", "Throwable"].contains(&name);
    // A method that handles one is no class.
    let ends = !name.starts_with(char::is_lowercase) && ["Exception", "Error", "Throwable"].iter().any(|end| name.ends_with(end));
    (ends && (dotted || !is_generic))
        || OTHER_NAMES.contains(&name)
        || (dotted && OTHER_NAMES_IN_PACKAGES.contains(&name) && path != GO_S_SETTING)
        || (name.starts_with(char::is_uppercase) && name.ends_with(char::is_lowercase) && is_in_errors_module(path))
        || path.starts_with("Errno::")
        || (path.starts_with("GRPC::") && status::code(name).is_some())
        || path.rsplit('$').nth(1).is_some_and(|outer| outer.ends_with("Exception"))
}

/// Whether a class stands in a module that has nothing but exceptions, as Python's libraries have one:
/// `psycopg2.errors.UniqueViolation`.
fn is_in_errors_module(path: &str) -> bool {
    let modules = ["errors.", "exceptions."];
    path.rfind('.').is_some_and(|dot| modules.iter().any(|module| path[..=dot].ends_with(module)))
}

/// The dotted path at the start of a text: `java.net.ConnectException`, `CORBA::TRANSIENT`, `jdk.rmi/x.Y`.
pub fn path(text: &str) -> Option<&str> {
    const MOST: usize = 200;
    let bytes = text.as_bytes();
    let mut end = 0;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    loop {
        let start = end;
        while end < bytes.len() && is_word(bytes[end]) {
            end += 1;
        }
        if end == start || bytes[start].is_ascii_digit() || end > MOST {
            return None;
        }
        let step = match bytes.get(end) {
            Some(b'.' | b'/') => 1,
            Some(b':') if bytes.get(end + 1) == Some(&b':') => 2,
            _ => return Some(&text[..end]),
        };
        if !bytes.get(end + step).is_some_and(|b| is_word(*b) && !b.is_ascii_digit()) {
            return Some(&text[..end]);
        }
        end += step;
    }
}
