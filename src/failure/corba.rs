//! CORBA system exceptions: their classes, what each means without a minor code, and what they become once the
//! completion status is known.

use super::tables::corba_minors;
use super::{Category, CompletionStatus, Meaning, Minor, Thrown};
use Category::{
    AllUnavailable, Application, Configuration, ConnectionLost, Marshalling, NoResponse, NotConnected, ResourceExhausted,
    ResultLost, Security, StaleReference, TransactionRolledBack, Unknown,
};

/// The classes, and what each means where nothing else is known.
pub const CLASSES: &[(&str, Meaning)] = &[
    // The standard says NO; some ORBs use it for timeouts after sending.
    ("TRANSIENT", Meaning::maybe(ConnectionLost, "transient", "some ORBs throw TRANSIENT also after sending").trust(60)),
    ("COMM_FAILURE", Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke").trust(70)),
    ("NO_RESPONSE", Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came")),
    ("TIMEOUT", Meaning::maybe(NoResponse, "timeout", "the call's time ran out")),
    ("NO_RESOURCES", Meaning::no(ResourceExhausted, "no_resources", "a resource had run out").last()),
    ("NO_MEMORY", Meaning::no(ResourceExhausted, "no_memory", "memory had run out").last()),
    ("IMP_LIMIT", Meaning::no(ResourceExhausted, "implementation_limit", "a limit of the ORB was reached").last()),
    ("OBJECT_NOT_EXIST", Meaning::no(StaleReference, "stale_reference", "the object is gone")),
    ("INV_OBJREF", Meaning::no(StaleReference, "invalid_reference", "the reference is not valid")),
    ("REBIND", Meaning::no(StaleReference, "rebind", "the reference must be bound again")),
    ("OBJ_ADAPTER", Meaning::no(StaleReference, "object_adapter", "the object adapter does not serve it")),
    ("NO_IMPLEMENT", Meaning::no(Configuration, "not_implemented", "the server does not implement it").trust(80)),
    ("NO_PERMISSION", Meaning::no(Security, "permission", "permission was refused").decisive()),
    ("BAD_OPERATION", Meaning::no(Configuration, "bad_operation", "the server does not know the operation").trust(80)),
    ("BAD_PARAM", Meaning::no(Application, "bad_parameter", "a parameter was refused").trust(70)),
    ("BAD_TYPECODE", Meaning::no(Marshalling, "bad_typecode", "a type code is wrong").trust(80)),
    ("BAD_CONTEXT", Meaning::no(Application, "bad_context", "the context was refused").trust(80)),
    ("INV_IDENT", Meaning::no(Configuration, "invalid_identifier", "an identifier is not valid").trust(80)),
    ("INV_FLAG", Meaning::no(Configuration, "invalid_flag", "a flag is not valid").trust(80)),
    ("INV_POLICY", Meaning::no(Configuration, "invalid_policy", "the policies do not fit").trust(80)),
    ("BAD_QOS", Meaning::no(Configuration, "bad_qos", "the quality of service cannot be had").trust(80)),
    ("MARSHAL", Meaning::maybe(Marshalling, "marshal", "arguments or results could not be read")),
    ("DATA_CONVERSION", Meaning::maybe(Marshalling, "data_conversion", "data could not be converted")),
    ("CODESET_INCOMPATIBLE", Meaning::maybe(Marshalling, "codeset", "the code sets do not fit")),
    ("INITIALIZE", Meaning::no(Configuration, "orb_not_initialized", "the local ORB did not start")),
    ("BAD_INV_ORDER", Meaning::no(Configuration, "bad_invocation_order", "the local ORB was used out of order")),
    ("FREE_MEM", Meaning::no(Configuration, "free_memory", "the local ORB could not free memory")),
    ("TRANSACTION_ROLLEDBACK", ROLLED_BACK),
    ("TRANSACTION_REQUIRED", Meaning::no(Application, "transaction_required", "a transaction is needed")),
    ("TRANSACTION_MODE", Meaning::no(Configuration, "transaction_mode", "the transaction's mode does not fit")),
    ("TRANSACTION_UNAVAILABLE", Meaning::no(Configuration, "transaction_unavailable", "there is no transaction service")),
    ("INVALID_TRANSACTION", Meaning::no(Application, "invalid_transaction", "the transaction is not valid")),
    ("INVALID_ACTIVITY", Meaning::no(Application, "invalid_activity", "the activity is not valid")),
    ("ACTIVITY_COMPLETED", Meaning::no(Application, "activity_completed", "the activity has ended")),
    ("ACTIVITY_REQUIRED", Meaning::no(Application, "activity_required", "an activity is needed")),
    ("INTERNAL", Meaning::maybe(Unknown, "orb_internal", "the ORB failed inside").trust(60)),
    ("UNKNOWN", Meaning::maybe(Application, "unknown_exception", "the target threw what the ORB cannot name").trust(70)),
    ("PERSIST_STORE", Meaning::maybe(Application, "persistent_storage", "the server's store failed").trust(70)),
    ("INTF_REPOS", Meaning::maybe(Unknown, "interface_repository", "the interface repository failed").trust(60)),
];

const ROLLED_BACK: Meaning =
    Meaning::maybe(TransactionRolledBack, "transaction_rolledback", "the transaction was rolled back").decisive();

/// What may stand before a system exception's name. `org.org.CORBA` is a misprint in circulation.
const PACKAGES: &[&str] = &[
    "",
    "org.omg.CORBA.",
    "com.ibm.CORBA.",
    "org.org.CORBA.",
    "CORBA.",
    "omniORB.CORBA.",
    "hanaming.corba.",
    "CORBA::",
    "omg.org/CORBA/",
];

/// The system exception's name in a class as printed; nothing where it is none.
pub fn system_exception(class: &str) -> Option<&'static str> {
    // Most words end here.
    if !class.ends_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let (package, name) = class.split_at(name_at(class));
    if !is_shouted(name) {
        return None;
    }
    let known = CLASSES.iter().find(|row| row.0 == name)?.0;
    PACKAGES.contains(&package).then_some(known)
}

/// Whether a class stands in CORBA's package in the form of a system exception's, though no table may know it.
pub fn in_package(class: &str) -> bool {
    let (package, name) = class.split_at(name_at(class));
    name.len() > 2 && is_shouted(name) && PACKAGES[1..].contains(&package)
}

fn is_shouted(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}

/// Where the class's own name begins, behind its package.
fn name_at(class: &str) -> usize {
    class.bytes().rposition(|b| matches!(b, b'.' | b':' | b'/')).map_or(0, |at| at + 1)
}

/// What a system exception means by its class and minor code.
pub fn meaning(thrown: &Thrown) -> Option<Meaning> {
    let name = system_exception(&thrown.class)?;
    let by_minor = thrown.minor.and_then(|minor| corba_minors::meaning(name, minor));
    if by_minor.is_some() {
        return by_minor;
    }
    let is_websphere = thrown.class.starts_with("com.ibm.")
        || thrown.minor.is_some_and(|minor| minor.vendor() == Some(super::Vendor::WebSphere));
    if name == "NO_IMPLEMENT" && is_websphere {
        return Some(NO_SERVER);
    }
    CLASSES.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// How IBM's workload management says that every candidate is gone.
const NO_SERVER: Meaning = Meaning::no(AllUnavailable, "all_targets_unavailable", "no server can process the request").last();

/// The category, once the completion status is known: what is thrown when a connection breaks says with its status
/// whether that was before or after the request had left.
pub fn settled(name: &str, meaning: &Meaning, completion: CompletionStatus) -> (Category, &'static str) {
    match (name, completion) {
        ("COMM_FAILURE" | "NO_RESPONSE" | "TIMEOUT" | "TRANSIENT" | "MARSHAL", CompletionStatus::Yes) => {
            (ResultLost, "result_lost")
        }
        ("COMM_FAILURE" | "TRANSIENT", CompletionStatus::No) if matches!(meaning.category, ConnectionLost | NoResponse) => {
            (NotConnected, if name == "TRANSIENT" { "connect_failed" } else { "comm_lost_before_send" })
        }
        _ => (meaning.category, meaning.detail),
    }
}

/// All meanings of a minor code, by class.
pub fn explain(minor: Minor) -> Vec<(&'static str, Meaning)> {
    CLASSES.iter().filter_map(|(name, _)| Some((*name, corba_minors::meaning(name, minor)?))).collect()
}
