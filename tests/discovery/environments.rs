//! What properties mean here, and that none is ignored in silence.

use std::time::Duration;

use hanaming::discovery::environment::{self, Environment};
use hanaming::discovery::properties;

fn read(text: &str) -> Environment {
    environment::read(&properties::read(text))
}

fn said(text: &str) -> String {
    read(text).warnings.join("\n")
}

#[test]
fn what_has_a_counterpart_is_taken() {
    let jboss = read(
        "java.naming.factory.initial=org.jnp.interfaces.NamingContextFactory\njava.naming.provider.url=h1:1099,h2:1099\n\
         jnp.partitionName=Orders\njnp.timeout=1500\njnp.sotimeout=2000\njnp.disableDiscovery=true",
    );
    assert_eq!(jboss.warnings, Vec::<String>::new());
    assert_eq!(jboss.options.cluster.as_deref(), Some("Orders"));
    assert_eq!(jboss.options.connect_timeout, Some(Duration::from_millis(1500)));
    assert_eq!(jboss.options.read_timeout, Some(Duration::from_secs(2)));
    assert_eq!(jboss.provider.unwrap().unwrap().endpoints.len(), 2);

    let weblogic = read(
        "java.naming.factory.initial = weblogic.jndi.WLInitialContextFactory\njava.naming.provider.url = t3://a,b:7001\n\
         weblogic.jndi.connectTimeout = 300\nweblogic.jndi.responseReadTimeout = 400\nweblogic.jndi.forceResolveDNSName = TRUE",
    );
    assert!(weblogic.options.always_resolve);
    assert_eq!(weblogic.options.connect_timeout, Some(Duration::from_millis(300)));
    assert_eq!(weblogic.options.read_timeout, Some(Duration::from_millis(400)));

    assert_eq!(read("com.ibm.CORBA.RequestTimeout=30").options.read_timeout, Some(Duration::from_secs(30)));
    assert_eq!(read("com.sun.jndi.ldap.read.timeout=5000").options.read_timeout, Some(Duration::from_secs(5)));
    assert_eq!(read("jnp.timeout=99999999999").options.connect_timeout, Some(Duration::MAX));
}

#[test]
fn whatever_has_none_is_reported_by_its_key() {
    let table = [
        ("jnp.discoveryGroup=230.0.0.4", "hn+mdns://cluster"),
        ("jnp.discoveryPort=1102", "hn+mdns://cluster"),
        ("jnp.discoveryTimeout=5000", "hn+mdns://cluster"),
        ("jnp.disableDiscovery=false", "looked for by multicast only where"),
        ("jnp.disableDiscovery=maybe", "neither true nor false"),
        ("java.naming.security.principal=scott", "no effect yet"),
        ("java.naming.security.credentials=tiger", "no effect yet"),
        ("java.naming.security.authentication=simple", "no effect yet"),
        ("java.naming.factory.url.pkgs=org.jboss.naming", "register_object_factory"),
        ("java.naming.factory.initial=com.example.Factory", "not known"),
        ("weblogic.jndi.createIntermediateContexts=true", "create_parents=True"),
        ("weblogic.jndi.enableServerAffinity=true", "first_available"),
        ("weblogic.jndi.forceResolveDNSName=true", "dns_refresh=\"always\""),
        ("jnp.timeout=0", "means no limit"),
        ("jnp.sotimeout=soon", "no whole number"),
        ("jnp.partitionname=x", "is jnp.partitionName meant?"),
        ("java.naming.provider.ulr=x", "is java.naming.provider.url meant?"),
        ("a.b.c=d", "has no counterpart"),
        ("networkaddress.cache.ttl=10", "security property"),
        ("networkaddress.cache.ttl=10", "java.security"),
        ("-Dnetworkaddress.cache.ttl=1", "has no effect as -D"),
        ("-Dnetworkaddress.cache.ttl=1", "sun.net.inetaddr.ttl"),
        ("-Dnetworkaddress.cache.negative.ttl=1", "has no effect as -D"),
        ("-Dsun.net.inetaddr.ttl=1", "is read by the JVM in this place"),
        ("sun.net.inetaddr.ttl=1", "from no file"),
        ("a=1\na=2", "stands there again in line 2, which counts"),
        ("java.naming.provider.url=tcp://h:1", "can't be used"),
        ("java.naming.provider.url=t3://h:7001 ", "blanks at its end"),
        ("jnp.partitionName=x", "multicast"),
    ];
    for (text, part) in table {
        let said = said(text);
        assert!(said.contains(part), "{text:?} lacks {part:?}:\n{said}");
        let key = text.trim_start_matches("-D").split('=').next().unwrap();
        assert!(said.contains(key) || part == "multicast", "{text:?}: the key is not named:\n{said}");
        assert!(said.starts_with("line 1: ") || part == "multicast", "{text:?}: {said}");
        assert!(!said.contains("tiger"), "a password is shown:\n{said}");
    }
}

#[test]
fn the_last_one_wins() {
    let read = read("java.naming.provider.url=t3://a:1\njava.naming.provider.url=t3://b:2");
    assert_eq!(read.provider.unwrap().unwrap().endpoints[0].host, "b");
    assert_eq!(read.warnings.len(), 1);
}

#[test]
fn the_url_s_warnings_are_the_environment_s() {
    let said = said("java.naming.provider.url=jnp://h1:1200,h2");
    assert!(said.contains("line 1: java.naming.provider.url = \"jnp://h1:1200,h2\": \"h2\" has no port"), "{said}");
}

#[test]
fn warnings_come_by_their_lines() {
    let said = said(
        "java.naming.factory.initial=com.example.Factory\njava.naming.provider.url=jnp://h1,h2\njnp.discoveryGroup=230.0.0.4",
    );
    let lines: Vec<&str> = said.lines().map(|line| &line[..7]).collect();
    assert!(lines.is_sorted() && lines.contains(&"line 1:") && lines.contains(&"line 3:"), "{said}");
    let whole = read("jnp.partitionName=x\njnp.discoveryPort=1").warnings;
    assert!(whole[0].starts_with("line 2:") && whole[1].contains("is missing"), "{whole:?}");
}

#[test]
fn without_a_url_there_is_no_provider() {
    assert!(read("a=b").provider.is_none());
    assert!(read("java.naming.provider.url=").provider.unwrap().is_err());
    assert!(read("java.naming.provider.url=tcp://h").provider.unwrap().is_err());
}
