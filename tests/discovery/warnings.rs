//! What is said of dubious provider URLs, and that nothing is said of sound ones.

use hanaming::discovery::provider_url;

#[test]
fn nothing_is_said_of_what_is_sound_and_complete() {
    let table = [
        "hn://h1:11100,h2",
        "jnp://h1:1099,h2:1100",
        "h1:1099",
        "t3://h1:7001,h2:7002",
        "t3://h1,h2:7001",
        "iiop://h:2809",
        "corbaloc::h1:2809,:h2:2809/NameService",
        "corbaname:iiop:1.2@h:2809#a",
        "rmi://h:1099/x",
        "ldap://h1:389 ldap://h2:389/dc=a,dc=b",
        "remote+http://h1:8080,remote+http://h2:8080",
        "t3://[::1]:7001",
    ];
    for text in table {
        assert_eq!(provider_url::read(text, None).unwrap().warnings, Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn a_warning_names_the_part_and_what_to_write() {
    let table: &[(&str, &[&str])] = &[
        ("jnp://h1:1200,h2", &["\"h2\" has no port", "h2:1200", "1099"]),
        ("jnp://h", &["1099", "a hanaming node must listen there"]),
        ("remote+http://app1:8080,app2:8080", &["\"app2:8080\" is left out", "write remote+http://app2:8080"]),
        ("corbaloc::h1:2809,h2:2809", &["\"h2:2809\" is left out", "corbaloc::h1:2809,:h2:2809"]),
        ("t3://h1:7001;h2:7001", &["\";\" is read as a separator", "t3://h1:port,h2:port"]),
        ("t3://h1:7001;t3://h2:7001", &["\"t3://h2:7001\" is a whole URL within a list"]),
        ("t3://h1:7001,h2,h3:7003", &["\"h2\" has no port", "7003 is read, the next one behind it"]),
        ("t3s://h", &["7001", "7002"]),
        ("iiop://h", &["2809", "node agent", "9810"]),
        ("iiop:///", &["node agent"]),
        ("iiop://h1,h2:7001", &["WebLogic's form", "corbaloc::h1:2809,:h2:2809"]),
        ("ldap://h1,h2", &["\"h2\" is left out", "separated by blanks", "ldap://h1 ldap://h2"]),
        ("ldap://h/ou=My Org,dc=x", &["\"Org,dc=x\" is left out", "%20"]),
        ("corbaloc:rir:/NameService", &["local ORB"]),
        ("t3://h:7001,h2:70000", &["\"h2:70000\" is left out", "over 65535"]),
        ("t3://scott:tiger@h:7001", &["\"…@h:7001\"", "should stand in no URL"]),
        ("t3://h:7001 # old", &["no comment follows a value"]),
        ("'t3://h:7001'", &["quotes"]),
        ("t3:h:7001", &["has no // behind its scheme"]),
        ("h1,h1", &["more than once"]),
        ("jnp://::1", &["in brackets"]),
        ("h1:,h2:1099", &["its colon has no port behind it"]),
    ];
    for (text, parts) in table {
        let warnings = provider_url::read(text, None).unwrap().warnings.join("\n");
        for part in *parts {
            assert!(warnings.contains(part), "{text:?} lacks {part:?}:\n{warnings}");
        }
        assert!(!warnings.contains("tiger"), "a password is shown: {warnings}");
    }
}

#[test]
fn errors_show_no_password_and_stay_short() {
    let error = provider_url::read("foo://scott:tiger@h", None).unwrap_err().to_string();
    assert!(!error.contains("tiger"), "{error}");
    let error = provider_url::read(&format!("t3://{}:x", "h".repeat(1_000_000)), None).unwrap_err().to_string();
    assert!(error.len() < 1000, "{}", error.len());
}

/// In time that grows with the text: in its square, each of these would take longer than a test may.
#[test]
fn ten_thousand_of_anything_are_read_at_once() {
    for part in ["h,", "h:x,", ";", "t3://h;", "ldap://h ", "ldap://h,", "corbaloc:", "://", "[", "@", "%2f", ":", "/", "\u{e9},"]
    {
        for scheme in ["", "t3://", "ldap://h,ldap://", "corbaloc::", "iiop://", "remote+http://", "rmi://", "hn://"] {
            let text = format!("{scheme}{}", part.repeat(10_000));
            if let Ok(url) = provider_url::read(&text, None) {
                assert!(url.warnings.len() <= 51, "{}", url.warnings.len());
            }
            let _ = provider_url::parse([text.as_str()]);
        }
    }
}
