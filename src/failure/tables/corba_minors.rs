//! What minor codes mean, by class: one number has several meanings.

use crate::failure::{Category, Meaning, Minor};
use Category::{
    AllUnavailable, Application, ClientShutdown, Configuration, ConnectionLost, NoResponse, NotConnected, Quiescing,
    StaleReference, TransactionRolledBack, WorkloadManagerFault,
};

const OMG: u32 = 0x4F4D_0000;
const SUN: u32 = 0x5355_0000;
const IBM: u32 = 0x4942_F000;
const WEBSPHERE: u32 = 0x4942_1000;
const YOKO: u32 = 0x4153_4000;
const OMNI: u32 = 0x4154_0000;

/// One row: the class, the vendor's id, its number, the meaning.
type Row = (&'static str, u32, u32, Meaning);

const fn connect(detail: &'static str, why: &'static str) -> Meaning {
    Meaning::no(NotConnected, detail, why).trust(97)
}

const fn lost(detail: &'static str, why: &'static str) -> Meaning {
    Meaning::maybe(ConnectionLost, detail, why).trust(95)
}

/// 200 · group + n, in decimal; the ORB's own group is the first, the object adapter's the fifth.
const fn sun(class: &'static str, number: u32, meaning: Meaning) -> Row {
    (class, SUN, number, meaning)
}

/// The rows.
pub const MINORS: &[Row] = &[
    ("TRANSIENT", OMG, 1, Meaning::no(Quiescing, "request_discarded", "the server discarded the request unread")),
    ("TRANSIENT", OMG, 2, connect("no_usable_profile", "no profile of the reference could be used")),
    ("TRANSIENT", OMG, 3, lost("request_cancelled", "the request was cancelled")),
    ("TRANSIENT", OMG, 4, Meaning::no(Quiescing, "adapter_destroyed", "the server's adapter was being destroyed")),
    ("OBJECT_NOT_EXIST", OMG, 1, Meaning::no(StaleReference, "stale_reference", "the object is unknown to the server")),
    ("OBJECT_NOT_EXIST", OMG, 2, Meaning::no(StaleReference, "stale_reference", "the object's adapter is gone")),
    ("OBJECT_NOT_EXIST", OMG, 4, Meaning::no(StaleReference, "stale_reference", "the object was deactivated")),
    ("BAD_PARAM", OMG, 7, BAD_URL),
    ("BAD_PARAM", OMG, 8, BAD_URL),
    ("BAD_PARAM", OMG, 9, BAD_URL),
    ("BAD_PARAM", OMG, 10, BAD_URL),
    ("BAD_INV_ORDER", OMG, 4, Meaning::no(ClientShutdown, "orb_shut_down", "the local ORB has shut down").trust(95)),
    ("UNKNOWN", OMG, 1, Meaning::maybe(Application, "unlisted_user_exception", "the target threw an unlisted exception")),
    ("TRANSIENT", WEBSPHERE, 0x40, QUIESCING),
    ("TRANSIENT", WEBSPHERE, 0x42, lost("wlm_retry_signal", "the plug-in signals retry; the request may have run in part")),
    ("NO_IMPLEMENT", WEBSPHERE, 0x40, nobody("all_targets_unavailable", "no cluster member can be reached")),
    ("NO_IMPLEMENT", WEBSPHERE, 0x42, nobody("wlm_no_cluster_data", "the cluster's data cannot be had")),
    ("INTERNAL", WEBSPHERE, 0x40, BROKEN_PLUGIN),
    ("INTERNAL", WEBSPHERE, 0x41, BROKEN_PLUGIN),
    ("TRANSACTION_ROLLEDBACK", WEBSPHERE, 0x44, NO_RESPONSE_ROLLED_BACK),
    ("TRANSIENT", IBM, 0xE02, connect("connect_refused", "the connection was refused")),
    ("COMM_FAILURE", IBM, 0xE02, connect("connect_refused", "the connection was refused")),
    ("TRANSIENT", IBM, 0x301, connect("connect_refused", "the connection was refused")),
    ("COMM_FAILURE", IBM, 0x301, connect("connect_refused", "the connection was refused")),
    sun("COMM_FAILURE", 201, connect("connect_refused", "the connection could not be made")),
    sun("COMM_FAILURE", 202, connect("comm_lost_before_send", "the connection was closed before the request was read")),
    sun("COMM_FAILURE", 203, lost("write_error", "writing the request failed")),
    sun("COMM_FAILURE", 205, connect("bootstrap_unavailable", "the bootstrap server could not be reached")),
    sun("COMM_FAILURE", 208, lost("connection_aborted", "the connection was aborted")),
    sun("COMM_FAILURE", 209, connect("comm_lost_before_send", "the connection was closed; the server asks to rebind")),
    sun("COMM_FAILURE", 210, lost("comm_lost_waiting_reply", "receiving the reply failed")),
    sun("COMM_FAILURE", 211, lost("comm_lost_waiting_reply", "reading from the connection failed")),
    sun("COMM_FAILURE", 215, late("reading the reply took too long")),
    sun("COMM_FAILURE", 217, late("the rest of the reply did not come in time")),
    sun("COMM_FAILURE", 219, late("no reply came in time")),
    sun("TRANSIENT", 1001, Meaning::no(Quiescing, "server_not_ready", "the server's object adapter takes no requests")),
    sun("TRANSIENT", 1003, Meaning::no(Quiescing, "server_not_ready", "the server's object adapter takes no requests")),
    ("TRANSIENT", YOKO, 1, connect("connect_failed", "the connection could not be established")),
    ("TRANSIENT", YOKO, 2, connect("connect_failed", "the connection could not be established in time")),
    ("TRANSIENT", YOKO, 3, connect("connection_closed", "the connection was closed before the request was read")),
    ("TRANSIENT", YOKO, 4, lost("comm_lost", "the connection was lost with the request under way")),
    ("TRANSIENT", YOKO, 5, connect("connect_failed", "no connection was active")),
    ("INITIALIZE", YOKO, 1, Meaning::no(ClientShutdown, "orb_gone", "the local ORB is gone")),
    ("TRANSIENT", OMNI, 2, connect("connect_refused", "the connection could not be made")),
    ("TRANSIENT", OMNI, 17, Meaning::maybe(ConnectionLost, "connection_closed", "the connection was found closed")),
    ("TIMEOUT", OMNI, 8, timed_out()),
    ("TRANSIENT", OMNI, 8, timed_out()),
    ("COMM_FAILURE", OMNI, 3, lost("comm_lost_sending", "the connection broke while arguments were written")),
    ("COMM_FAILURE", OMNI, 4, lost("comm_lost_sending", "the connection broke while the server read the arguments")),
    ("COMM_FAILURE", OMNI, 5, lost("comm_lost_receiving", "the connection broke while results were written")),
    ("COMM_FAILURE", OMNI, 6, lost("comm_lost_receiving", "the connection broke while the results were read")),
    ("COMM_FAILURE", OMNI, 7, lost("comm_lost_waiting_reply", "the connection broke while the reply was awaited")),
];

const BAD_URL: Meaning = Meaning::no(Configuration, "configuration_url", "the object's URL cannot be read");
const QUIESCING: Meaning =
    Meaning::no(Quiescing, "server_quiescing", "the member is quiescing and gave the call back unattempted").trust(97);
const BROKEN_PLUGIN: Meaning =
    Meaning::maybe(WorkloadManagerFault, "wlm_internal", "the workload manager itself is broken").decisive().trust(95);
const NO_RESPONSE_ROLLED_BACK: Meaning =
    Meaning::maybe(TransactionRolledBack, "transaction_rolledback", "the server gave no response; the transaction is undone")
        .decisive()
        .trust(97);

const fn nobody(detail: &'static str, why: &'static str) -> Meaning {
    Meaning::no(AllUnavailable, detail, why).last().trust(95)
}

const fn late(why: &'static str) -> Meaning {
    Meaning::maybe(NoResponse, "timeout_waiting_reply", why).trust(95)
}

const fn timed_out() -> Meaning {
    Meaning::maybe(NoResponse, "timeout", "the call's time ran out").trust(95)
}

/// What a minor code means under that class.
pub fn meaning(class: &str, minor: Minor) -> Option<Meaning> {
    let find = |vendor: u32, low: u32| MINORS.iter().find(|row| row.0 == class && row.1 == vendor && row.2 == low);
    if let Some(row) = find(minor.vendor_id(), minor.low()) {
        return Some(row.3);
    }
    // GlassFish printed its own codes of this class under the standard's id, which defines none, and without the group.
    if class == "COMM_FAILURE" && minor.vendor_id() == OMG {
        return find(SUN, 200 + minor.low()).map(|row| row.3.trust(85));
    }
    None
}

/// omniORB's names for its minor codes and the standard's, as its Python mapping prints them.
const OMNI_SYMBOLS: &[(&str, Minor)] = &[
    ("TRANSIENT_ConnectFailed", Minor::of(OMNI, 2)),
    ("TRANSIENT_ConnectionClosed", Minor::of(OMNI, 17)),
    ("TRANSIENT_CallTimedout", Minor::of(OMNI, 8)),
    ("TRANSIENT_RequestDiscarded", Minor::of(OMG, 1)),
    ("TRANSIENT_NoUsableProfile", Minor::of(OMG, 2)),
    ("TRANSIENT_RequestCancelled", Minor::of(OMG, 3)),
    ("TRANSIENT_POADestroyed", Minor::of(OMG, 4)),
    ("TIMEOUT_CallTimedOutOnClient", Minor::of(OMNI, 8)),
    ("COMM_FAILURE_MarshalArguments", Minor::of(OMNI, 3)),
    ("COMM_FAILURE_UnMarshalArguments", Minor::of(OMNI, 4)),
    ("COMM_FAILURE_MarshalResults", Minor::of(OMNI, 5)),
    ("COMM_FAILURE_UnMarshalResults", Minor::of(OMNI, 6)),
    ("COMM_FAILURE_WaitingForReply", Minor::of(OMNI, 7)),
];

/// The minor code that omniORB's name stands for, with or without `omniORB.` before it.
pub fn of_symbol(symbol: &str) -> Option<Minor> {
    let name = symbol.rsplit(['.', ':']).next()?;
    OMNI_SYMBOLS.iter().find(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1)
}
