//! The properties that are known, and the context factories.

use std::time::Duration;

use super::super::provider_url::Product;
use super::{FACTORY, PROVIDER_URL, jvm};

/// What a property means here.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    ProviderUrl,
    Factory,
    Cluster,
    /// In units of this length.
    ConnectTimeout(Duration),
    ReadTimeout(Duration),
    ForceResolve,
    DisableDiscovery,
    Jvm,
    /// It is known and has none; the sentence says why, and what to do.
    NoCounterpart(&'static str),
    /// It isn't known; maybe it is this one, misspelt.
    Unknown(Option<&'static str>),
}

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

const LOGIN: Meaning = Meaning::NoCounterpart(
    "has no effect yet: there is no login and no TLS in this version, so nodes listen on loopback unless told otherwise",
);
const FACTORIES: Meaning = Meaning::NoCounterpart(
    "has no effect: no class is loaded by its name; register what makes objects, with hanaming.register_object_factory",
);
const MULTICAST: Meaning = Meaning::NoCounterpart(
    "has no effect: it is about HA-JNDI's own multicast; hanaming's nodes announce themselves by DNS-SD, and are found with the \
     provider URL hn+mdns://cluster",
);
const SOCKET: Meaning = Meaning::NoCounterpart("has no effect: the system chooses the local end of a connection");
const DIRECTORY: Meaning = Meaning::NoCounterpart("has no effect: it is about a directory, which is not asked here");
const POOL: Meaning = Meaning::NoCounterpart("has no effect: connections are always kept and shared");
const RETRIES: Meaning =
    Meaning::NoCounterpart("has no effect: retries go on within timeout=, and draw on a budget that spares servers in trouble");
const AFFINITY: Meaning =
    Meaning::NoCounterpart("has no counterpart under that name: policy=\"first_available\" stays with one server until it fails");

const TABLE: &[(&str, Meaning)] = &[
    (PROVIDER_URL, Meaning::ProviderUrl),
    (FACTORY, Meaning::Factory),
    ("java.naming.factory.url.pkgs", FACTORIES),
    ("java.naming.factory.object", FACTORIES),
    ("java.naming.factory.state", FACTORIES),
    ("java.naming.factory.control", FACTORIES),
    ("java.naming.security.principal", LOGIN),
    ("java.naming.security.credentials", LOGIN),
    ("java.naming.security.authentication", LOGIN),
    ("java.naming.security.protocol", LOGIN),
    ("java.naming.authoritative", Meaning::NoCounterpart("has no effect: every answer is a live node's own")),
    ("java.naming.batchsize", Meaning::NoCounterpart("has no effect: a listing comes whole")),
    ("java.naming.dns.url", DIRECTORY),
    ("java.naming.language", DIRECTORY),
    ("java.naming.referral", DIRECTORY),
    ("java.naming.ldap.version", DIRECTORY),
    ("java.naming.ldap.attributes.binary", DIRECTORY),
    ("java.naming.ldap.factory.socket", LOGIN),
    ("com.sun.jndi.ldap.connect.timeout", Meaning::ConnectTimeout(MS)),
    ("com.sun.jndi.ldap.read.timeout", Meaning::ReadTimeout(MS)),
    ("com.sun.jndi.ldap.connect.pool", POOL),
    ("jnp.partitionName", Meaning::Cluster),
    ("jnp.timeout", Meaning::ConnectTimeout(MS)),
    ("jnp.sotimeout", Meaning::ReadTimeout(MS)),
    ("jnp.disableDiscovery", Meaning::DisableDiscovery),
    ("jnp.discoveryGroup", MULTICAST),
    ("jnp.discoveryPort", MULTICAST),
    ("jnp.discoveryTimeout", MULTICAST),
    ("jnp.discoveryTTL", MULTICAST),
    ("jnp.localAddress", SOCKET),
    ("jnp.localPort", SOCKET),
    ("jnp.socketFactory", LOGIN),
    ("jnp.maxRetries", RETRIES),
    ("jnp.rmi.recursion.retries", RETRIES),
    ("jnp.useRelativeName", Meaning::NoCounterpart("has no effect: names are always relative to the context asked")),
    (
        "jnp.unorderedProviderList",
        Meaning::NoCounterpart("has no counterpart under that name: policy= says how servers are chosen"),
    ),
    ("jboss.naming.client.connect.timeout", Meaning::ConnectTimeout(MS)),
    ("jboss.naming.client.ejb.context", Meaning::NoCounterpart("has no effect: there are no EJBs here")),
    ("weblogic.jndi.connectTimeout", Meaning::ConnectTimeout(MS)),
    ("weblogic.jndi.responseReadTimeout", Meaning::ReadTimeout(MS)),
    ("weblogic.jndi.requestTimeout", Meaning::ReadTimeout(MS)),
    ("weblogic.jndi.forceResolveDNSName", Meaning::ForceResolve),
    (
        "weblogic.jndi.createIntermediateContexts",
        Meaning::NoCounterpart("has no counterpart for a whole context: say bind(..., create_parents=True)"),
    ),
    (
        "weblogic.jndi.replicateBindings",
        Meaning::NoCounterpart("has no effect: the context that is written to decides; an HA context's writes are the cluster's"),
    ),
    ("weblogic.jndi.pinToPrimaryServer", AFFINITY),
    ("weblogic.jndi.enableServerAffinity", AFFINITY),
    ("com.ibm.CORBA.ConnectTimeout", Meaning::ConnectTimeout(S)),
    ("com.ibm.CORBA.RequestTimeout", Meaning::ReadTimeout(S)),
    ("com.ibm.websphere.naming.jndicache.cacheobject", Meaning::NoCounterpart("has no effect: every lookup asks a server")),
    ("sun.rmi.transport.tcp.responseTimeout", Meaning::ReadTimeout(MS)),
    ("sun.rmi.transport.proxy.connectTimeout", Meaning::ConnectTimeout(MS)),
];

/// What a property means.
pub fn meaning(key: &str) -> Meaning {
    if let Some((_, meaning)) = TABLE.iter().find(|(known, _)| *known == key) {
        return *meaning;
    }
    if jvm::is_one(key) {
        return Meaning::Jvm;
    }
    Meaning::Unknown(TABLE.iter().map(|(known, _)| *known).find(|known| is_near(known, key)))
}

/// The product of a context factory's class.
pub fn product(factory: &str) -> Option<Product> {
    const FACTORIES: [(&str, Product); 10] = [
        ("org.jnp.", Product::Jnp),
        ("org.jboss.naming.remote.", Product::WildFly),
        ("org.jboss.naming.", Product::Jnp),
        ("org.jboss.as.naming.", Product::WildFly),
        ("org.wildfly.naming.", Product::WildFly),
        ("weblogic.jndi.", Product::WebLogic),
        ("com.ibm.websphere.naming.", Product::WebSphere),
        ("com.ibm.ws.naming.", Product::WebSphere),
        ("com.sun.jndi.", Product::Other),
        ("com.sun.enterprise.naming.", Product::Other),
    ];
    FACTORIES.iter().find(|(prefix, _)| factory.starts_with(prefix)).map(|(_, product)| *product)
}

/// Whether two keys differ in their letters' case or by at most two letters.
fn is_near(known: &str, key: &str) -> bool {
    const MOST: usize = 2;
    if key.eq_ignore_ascii_case(known) {
        return true;
    }
    if key.len().abs_diff(known.len()) > MOST || !key.is_ascii() {
        return false;
    }
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (i, a) in key.bytes().enumerate() {
        let mut diagonal = row.first().copied().unwrap_or(0);
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, b) in row.iter_mut().skip(1).zip(known.bytes()) {
            let above = *cell;
            left = (diagonal + usize::from(a != b)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
    }
    row.last().is_some_and(|distance| *distance <= MOST)
}
