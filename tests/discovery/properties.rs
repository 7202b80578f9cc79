//! Properties texts: what `java.util.Properties` reads, and lists of definitions.

use hanaming::discovery::properties::{self, Origin};

fn pairs(text: &str) -> Vec<(String, String)> {
    properties::read(text).into_iter().map(|property| (property.key, property.value)).collect()
}

#[test]
fn separators_escapes_and_continuation_are_java_s() {
    let table: &[(&str, &[(&str, &str)])] = &[
        ("a=b", &[("a", "b")]),
        ("a:b", &[("a", "b")]),
        ("a b", &[("a", "b")]),
        ("a = b", &[("a", "b")]),
        ("a\t:\tb", &[("a", "b")]),
        ("a==b", &[("a", "=b")]),
        ("a", &[("a", "")]),
        ("a=", &[("a", "")]),
        ("=b", &[("", "b")]),
        ("  a=b  ", &[("a", "b  ")]),
        ("# c\n! d\na=b\n\n", &[("a", "b")]),
        ("a=b # no comment", &[("a", "b # no comment")]),
        ("a\\=b=c", &[("a=b", "c")]),
        ("a\\:b\\ c=d", &[("a:b c", "d")]),
        ("a=t3\\://h\\:7001\\,i", &[("a", "t3://h:7001,i")]),
        ("a=b\\\n   c", &[("a", "bc")]),
        ("a=b,\\\r\n\tc,\\\r\n\td\r\ne=f", &[("a", "b,c,d"), ("e", "f")]),
        ("a=b\\\\\nc=d", &[("a", "b\\"), ("c", "d")]),
        ("a=b\\\\\\\n c", &[("a", "b\\c")]),
        ("a=b\\\n# c", &[("a", "b# c")]),
        ("# c \\\na=b", &[("a", "b")]),
        ("a=b\\", &[("a", "b")]),
        ("a=\\u00e9\\t\\n\\f\\r\\q", &[("a", "\u{e9}\t\n\u{c}\rq")]),
        ("a=\\ud83d\\ude00", &[("a", "\u{1f600}")]),
        ("a=\\ud83d", &[("a", "\u{fffd}")]),
        ("a=\\u12g4", &[("a", "\\u12g4")]),
        ("a=\\u12", &[("a", "\\u12")]),
        ("a=C:\\\\x", &[("a", "C:\\x")]),
        ("\u{feff}a=b", &[("a", "b")]),
        ("a=1\ra=2", &[("a", "1"), ("a", "2")]),
        ("caf\u{e9}=\u{1f600}", &[("caf\u{e9}", "\u{1f600}")]),
    ];
    for (text, expected) in table {
        let expected: Vec<(String, String)> = expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(pairs(text), expected, "{text:?}");
    }
}

#[test]
fn definitions_are_read_wherever_a_command_s_options_stand() {
    let table: &[(&str, &[(&str, &str)])] = &[
        ("-Da=b", &[("a", "b")]),
        ("-Da=b -Dc=d\n-De", &[("a", "b"), ("c", "d"), ("e", "")]),
        ("java -server -Xmx1g -Da=b -jar x.jar", &[("a", "b")]),
        ("/usr/bin/java -Da=b Main", &[("a", "b")]),
        ("JAVA_OPTS=\"-Da=b -Dc=d\"", &[("a", "b"), ("c", "d")]),
        ("export JAVA_TOOL_OPTIONS='-Da=b -Dc=d'", &[("a", "b"), ("c", "d")]),
        ("set JAVA_OPTS=-Da=b", &[("a", "b")]),
        ("-Da=\"b c\" '-Dd=e f'", &[("a", "b c"), ("d", "e f")]),
        ("-Da=t3://h1:7001,h2:7001", &[("a", "t3://h1:7001,h2:7001")]),
        ("-Da=C:\\x -Db=\\\"q\\\"", &[("a", "C:\\x"), ("b", "\"q\"")]),
        ("java -Da=b \\\n  -Dc=d", &[("a", "b"), ("c", "d")]),
        ("-D -Xint", &[]),
    ];
    for (text, expected) in table {
        let read = properties::read(text);
        let found: Vec<_> = read.iter().map(|p| (p.key.as_str(), p.value.as_str())).collect();
        assert_eq!(found, *expected, "{text:?}");
        assert!(read.iter().all(|property| property.origin == Origin::Define));
    }
    // A property whose value speaks of one is a property.
    assert_eq!(pairs("note=give -Da=b"), [("note".to_owned(), "give -Da=b".to_owned())]);
}

#[test]
fn lines_are_counted_from_one() {
    let read = properties::read("# c\n\na=b\\\n  c\nd=e\n-Df=g");
    let lines: Vec<_> = read.iter().map(|property| property.line).collect();
    assert_eq!(lines, [3, 5, 6]);
}
