//! How a JVM caches names, and where it reads that from. Half of the advice in circulation is wrong about the place.

use super::super::properties::Origin;

/// The sentence for one of the properties that [`is_one`] knows.
pub fn sentence(key: &str, origin: Origin) -> &'static str {
    match (key.starts_with("networkaddress."), origin) {
        (true, Origin::Define) => {
            "has no effect as -D: it is a security property, read from the JDK's java.security file or set with \
             Security.setProperty; as -D the JVM reads sun.net.inetaddr.ttl (and sun.net.inetaddr.negative.ttl). Here \
             host names are resolved again in the background when a target fails"
        }
        (true, Origin::Entry) => {
            "is a security property: the JVM reads it from the JDK's java.security file (or Security.setProperty), and in no other \
             file, and not as -D. Without it names are kept for 30 s, or for ever under a security manager. Here host names are \
             resolved again in the background when a target fails"
        }
        (false, Origin::Define) => {
            "is read by the JVM in this place, and yields to networkaddress.cache.ttl in java.security; it has no effect here, \
             where host names are resolved again in the background when a target fails"
        }
        (false, Origin::Entry) => {
            "is a system property: the JVM reads it as -D on its command line, and from no file. Here host names are resolved again \
             in the background when a target fails"
        }
    }
}

/// Whether this is one of the JVM's properties about names.
pub fn is_one(key: &str) -> bool {
    key.starts_with("networkaddress.cache.") || key.starts_with("sun.net.inetaddr.")
}
