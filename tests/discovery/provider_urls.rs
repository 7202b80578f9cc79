//! What each dialect's texts are read as.

use hanaming::discovery::provider_url::{self, Product, ProviderUrl};

fn shown(url: &ProviderUrl) -> String {
    let one = |e: &provider_url::ProviderEndpoint| {
        let version = e.version.as_deref().map(|v| format!("{v}@")).unwrap_or_default();
        let host = if e.host.contains(':') { format!("[{}]", e.host) } else { e.host.clone() };
        let port = e.port.map(|p| format!(":{p}")).unwrap_or_default();
        format!("{}://{version}{host}{port}", e.scheme)
    };
    url.endpoints.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn check(table: &[(&str, &str)], product: Option<Product>) {
    for (text, expected) in table {
        let url = provider_url::read(text, product).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(shown(&url), *expected, "{text:?}: {:?}", url.warnings);
    }
}

#[test]
fn hanaming_s_own() {
    check(
        &[
            ("hn://h1:11100,h2", "hn://h1:11100 hn://h2:11100"),
            ("HN://h1/", "hn://h1:11100"),
            ("hn://[::1]:5,[fe80::1%eth0]", "hn://[::1]:5 hn://[fe80::1%eth0]:11100"),
            ("hn://[fe80::1%25eth0]:5", "hn://[fe80::1%eth0]:5"),
            ("hn+srv://_hn._tcp.example.net", "hn+srv://_hn._tcp.example.net"),
            ("hn+mdns://default", "hn+mdns://default"),
            ("hn+mdns://p%20q?interface=eth0", "hn+mdns://p%20q?interface=eth0"),
            ("hn://h1,hn://h2:5", "hn://h1:11100 hn://h2:5"),
        ],
        None,
    );
}

#[test]
fn jnp_and_bare_lists() {
    check(
        &[
            ("jnp://h:1100", "jnp://h:1100"),
            ("jnp://h", "jnp://h:1099"),
            ("jnp://h:1099/", "jnp://h:1099"),
            ("jnp://h/some/context", "jnp://h:1099"),
            ("//h:1200", "jnp://h:1200"),
            ("//h1:1200,//h2:1300/x", "jnp://h1:1200 jnp://h2:1300"),
            ("h", "jnp://h:1099"),
            ("h1:1100,h2:1200,h3", "jnp://h1:1100 jnp://h2:1200 jnp://h3:1099"),
            ("jnp://h1:1200,h2", "jnp://h1:1200 jnp://h2:1099"),
            ("jnp://h1:1100,jnp://h2:1200", "jnp://h1:1100 jnp://h2:1200"),
            ("jnps://h:1443", "jnps://h:1443"),
            ("jnp-http://h:8080", "jnp-http://h:8080"),
            ("JNP-HTTPS://h:8443", "jnp-https://h:8443"),
            (" h1 , h2:5 ", "jnp://h1:1099 jnp://h2:5"),
            ("jnp://[fe80::1%25en1]:1099,[fe80::2%25]", "jnp://[fe80::1%en1]:1099 jnp://[fe80::2%25]:1099"),
            ("[::1]:1099,10.0.0.1", "jnp://[::1]:1099 jnp://10.0.0.1:1099"),
            ("jnp:h:1200", "jnp://h:1200"),
            ("jnp:1200", "jnp://jnp:1200"),
            ("h1,,h2", "jnp://h1:1099 jnp://h2:1099"),
            ("h1;h2", "jnp://h1:1099 jnp://h2:1099"),
            ("h:1099,h:1099", "jnp://h:1099"),
            ("host_1.example.com:01099", "jnp://host_1.example.com:1099"),
            ("\"jnp://h:1100\"", "jnp://h:1100"),
            ("jnp://h:1100   # the first one", "jnp://h:1100"),
            ("jnp://user:secret@h:1100", "jnp://h:1100"),
        ],
        None,
    );
}

#[test]
fn weblogic() {
    check(
        &[
            ("t3://h", "t3://h:7001"),
            ("t3://", "t3://localhost:7001"),
            ("t3://:7005", "t3://localhost:7005"),
            ("t3s://h1,h2:7002", "t3s://h1:7002 t3s://h2:7002"),
            ("t3://h1:7001,h2:7002/", "t3://h1:7001 t3://h2:7002"),
            ("t3://h1:7001, h2:7002 ,h3:7003", "t3://h1:7001 t3://h2:7002 t3://h3:7003"),
            ("t3://h1:7001;h2:7002", "t3://h1:7001 t3://h2:7002"),
            ("t3://h1,h2;h3:7005", "t3://h1:7005 t3://h2:7005 t3://h3:7005"),
            ("t3://h1:7001;t3://h2:7002", "t3://h1:7001 t3://h2:7002"),
            ("t3://h1,h2:7001;t3s://h3,h4:7002", "t3://h1:7001 t3://h2:7001 t3s://h3:7002 t3s://h4:7002"),
            ("t3://h1:7001,t3://h2:7001", "t3://h1:7001 t3://h2:7001"),
            ("t3://h1,t3://h2:7005", "t3://h1:7001 t3://h2:7005"),
            ("t3://h1:7001,h2,h3:7003", "t3://h1:7001 t3://h2:7003 t3://h3:7003"),
            ("t3://h1,h2:7001,h3,h4:7002", "t3://h1:7001 t3://h2:7001 t3://h3:7002 t3://h4:7002"),
            ("t3://h1:7005,h2", "t3://h1:7005 t3://h2:7001"),
            ("http://h1:7001,h2:7001", "http://h1:7001 http://h2:7001"),
            ("https://h:7002", "https://h:7002"),
            ("iiops://h:7002", "iiops://h:7002"),
            ("t3://[fd00::1],[fd00::2]:7001", "t3://[fd00::1]:7001 t3://[fd00::2]:7001"),
            ("T3://H:7001", "t3://H:7001"),
            ("t3://h1:7001 t3://h2:7001", "t3://h1:7001 t3://h2:7001"),
            ("t3:/h:7001", "t3://h:7001"),
            ("t3://h1:7001,h1:99999,h2:7001", "t3://h1:7001 t3://h2:7001"),
            ("t3://h1:7001,${other.host}:7001", "t3://h1:7001"),
        ],
        None,
    );
}

#[test]
fn websphere() {
    check(
        &[
            ("iiop://h", "iiop://h:2809"),
            ("iiop://h:9810", "iiop://h:9810"),
            ("iiop://h:9810/cell/persistent", "iiop://h:9810"),
            ("iiop://", "iiop://localhost:2809"),
            ("iiop:///", "iiop://localhost:2809"),
            ("iiop://h1,h2:7001", "iiop://h1:7001 iiop://h2:7001"),
            ("iiop://h1:9810,h2:9811", "iiop://h1:9810 iiop://h2:9811"),
        ],
        None,
    );
}

#[test]
fn corbaloc_and_corbaname() {
    check(
        &[
            ("corbaloc::h:2809", "iiop://1.0@h:2809"),
            ("corbaloc:iiop:h:2809", "iiop://1.0@h:2809"),
            ("corbaloc:iiop:1.2@h:9810/NameService", "iiop://1.2@h:9810"),
            ("corbaloc::h", "iiop://1.0@h:2809"),
            ("corbaloc::h1:2809,:h2:2809/NameServiceServerRoot", "iiop://1.0@h1:2809 iiop://1.0@h2:2809"),
            ("corbaloc:iiop:h1:9810,iiop:1.2@h2:9811", "iiop://1.0@h1:9810 iiop://1.2@h2:9811"),
            ("corbaloc::h1:2809,h2:2809", "iiop://1.0@h1:2809"),
            ("corbaloc:ssliop:1.2@h:2810", "ssliop://1.2@h:2810"),
            ("corbaloc::[fd00::1]:2809,:[::1]", "iiop://1.0@[fd00::1]:2809 iiop://1.0@[::1]:2809"),
            ("CORBALOC:IIOP:H:1", "iiop://1.0@H:1"),
            ("corbaloc:rir:/NameService", "rir://"),
            ("corbaloc:rir:,:h:2809/NameService", "rir:// iiop://1.0@h:2809"),
            ("corbaname::h:3700#ejb/Orders", "iiop://1.0@h:3700"),
            ("corbaname:iiop:1.2@h:2809/NameService#a/b", "iiop://1.2@h:2809"),
            ("corbaloc://h:2809", "iiop://1.0@h:2809"),
            ("corbaloc:iiop://h:2809/NameService", "iiop://1.0@h:2809"),
            ("corbaloc:h:2809", "iiop://1.0@h:2809"),
            ("corbaloc::x@h:2809", "iiop://1.0@h:2809"),
            ("corbaloc::h:2809/a,b", "iiop://1.0@h:2809"),
        ],
        None,
    );
}

#[test]
fn rmi_ldap_and_remoting() {
    check(
        &[
            ("rmi://h", "rmi://h:1099"),
            ("rmi://h:2000/Orders", "rmi://h:2000"),
            ("rmi:///Orders", "rmi://localhost:1099"),
            ("ldap://h", "ldap://h:389"),
            ("ldaps://h/dc=example,dc=com", "ldaps://h:636"),
            ("ldap://h1:10389/o=x,c=y ldaps://h2/o=x,c=y", "ldap://h1:10389 ldaps://h2:636"),
            ("  ldap://h1\n\tldap://h2 ", "ldap://h1:389 ldap://h2:389"),
            ("ldap:///o=x", "ldap://localhost:389"),
            ("ldap://h1,ldap://h2:1389,ldap://h3/o=x", "ldap://h1:389 ldap://h2:1389 ldap://h3:389"),
            ("ldap://h1 h2", "ldap://h1:389"),
            ("ldap://[::1]:1389", "ldap://[::1]:1389"),
            ("remote+http://h:8080", "remote+http://h:8080"),
            ("remote+https://h1:8443,remote+https://h2:8443", "remote+https://h1:8443 remote+https://h2:8443"),
            ("http-remoting://h1:8080, http-remoting://h2:8080", "http-remoting://h1:8080 http-remoting://h2:8080"),
            ("https-remoting://h:8443", "https-remoting://h:8443"),
            ("remote://h:4447", "remote://h:4447"),
            ("remote://h", "remote://h:4447"),
            ("remote+http://h1:8080,h2:8080,remote+http://h3:8080", "remote+http://h1:8080 remote+http://h3:8080"),
        ],
        None,
    );
}

#[test]
fn the_product_decides_what_two_spell_alike() {
    check(&[("iiop://h", "iiop://h:7001"), ("h1,h2:7005", "t3://h1:7005 t3://h2:7005")], Some(Product::WebLogic));
    check(&[("iiop://h", "iiop://h:2809")], Some(Product::WebSphere));
    check(&[("http://h/wildfly-services", "http://h:8080")], Some(Product::WildFly));
}

#[test]
fn what_follows_the_addresses_is_kept() {
    let table = [
        ("corbaname::h#a/b%20c", Some("a/b c")),
        ("corbaloc::h/NameService", Some("NameService")),
        ("corbaloc::h/a%2Fb%zz", Some("a/b%zz")),
        ("corbaloc::h", None),
        ("ldap://h/dc=example,dc=com", Some("dc=example,dc=com")),
        ("rmi://h/Orders", Some("Orders")),
        ("iiop://h:2809/cell/x", Some("cell/x")),
        ("t3://h:7001", None),
    ];
    for (text, path) in table {
        assert_eq!(provider_url::read(text, None).unwrap().path.as_deref(), path, "{text:?}");
    }
}

#[test]
fn a_single_name_may_stand_for_many_addresses() {
    let table = [
        ("t3://cluster.example.com:7001", true),
        ("t3://10.0.0.1:7001", false),
        ("t3://localhost:7001", false),
        ("t3://[::1]:7001", false),
        ("t3://a:7001,b:7001", false),
        ("remote+http://a:8080,b:8080", false),
        ("corbaloc:rir:/NameService", false),
    ];
    for (text, expected) in table {
        assert_eq!(provider_url::read(text, None).unwrap().endpoints[0].multi_address, expected, "{text:?}");
    }
}

#[test]
fn only_where_nothing_is_usable_it_is_an_error() {
    let table = [
        ("", "it is empty"),
        (" '' ", "it is empty"),
        ("jdbc:oracle:thin:@h:1521:x", "two ports"),
        ("tcp://h:61616", "\"tcp\" is unknown"),
        ("file:///tmp/x", "\"file\" is unknown"),
        ("hn://", "names no host"),
        ("t3://h:x", "its port is no number"),
        ("t3://h:0", "port is 0"),
        ("t3://h:65536", "over 65535"),
        ("t3://[::1:7001", "bracket is not closed"),
        ("t3://[h]:7001", "no IPv6 address"),
        ("t3://h:7001:7002", "two ports"),
        ("t3://${host}:7001", "placeholder"),
        ("remote+http://", "names no host"),
        ("corbaloc:", "corbaloc::h1"),
        ("hn+srv://", "one name"),
        ("hn+mdns://a,b", "one cluster's name"),
        ("t3://h!:1", "no host name has"),
    ];
    for (text, part) in table {
        match provider_url::read(text, None) {
            Err(error) => assert!(error.to_string().contains(part), "{text:?}: {error}"),
            Ok(url) => panic!("{text:?}: {url:?}"),
        }
    }
}
