//! The table of operations of a naming tree: each of its rows, and what stands between them.

use std::sync::Arc;

use hanaming::naming::{
    Content, Detail, Display, Entry, EntryKind, ErrorKind, LinkRef, Lookup, Name, Reference, Source, Tree, Value, Version,
};

use crate::support::{BIND, REBIND, WITH_PARENTS, content, done, found, is_missing, link, name, refused, tree, tree_of, value};

/// Nothing but a read may have happened.
#[track_caller]
fn unchanged(tree: &Tree, run: impl FnOnce(&Tree)) {
    let (generation, size) = (tree.generation(), tree.len());
    run(tree);
    assert_eq!((tree.generation(), tree.len()), (generation, size));
}

#[test]
fn lookup_or_list_where_a_name_is_missing() {
    let tree = tree_of(&["a/b/c"]);
    for (text, resolved, remaining) in [("x", "", "x"), ("x/y", "", "x/y"), ("a/x", "a", "x"), ("a/b/x/y", "a/b", "x/y")] {
        let missing = Lookup::Missing { resolved: name(resolved), remaining: name(remaining) };
        assert_eq!(tree.lookup(text), missing, "{text}");
        refused(tree.list(&name(text), None, 9), ErrorKind::NameNotFound, (text, Some((resolved, remaining))));
    }
}

#[test]
fn lookup_or_list_where_something_is_no_context() {
    let tree = tree_of(&["a/b"]);
    for (text, remaining) in [("a/b/c", "c"), ("a/b/c/d", "c/d")] {
        assert_eq!(tree.lookup(text), Lookup::NotContext { resolved: name("a/b"), remaining: name(remaining) });
        refused(tree.list(&name(text), None, 9), ErrorKind::NotContext, (text, Some(("a/b", remaining))));
    }
    refused(tree.list(&name("a/b"), None, 9), ErrorKind::NotContext, ("a/b", Some(("a/b", ""))));
}

#[test]
fn bind_where_the_name_is_taken() {
    let tree = tree_of(&["a/b", "free"]);
    let version = found(&tree, "a/b").version;
    for result in [
        tree.bind(&name("a/b"), content("new"), BIND),
        tree.create_subcontext(&name("a/b"), false),
        tree.rename(&name("free"), &name("a/b")).map(|_| unreachable!("renamed")),
    ] {
        let error = refused(result, ErrorKind::NameAlreadyBound, ("a/b", Some(("a/b", ""))));
        let Detail::Existing(existing) = &error.fields().detail else { panic!("{error:?}") };
        assert_eq!((existing.component.as_str(), &*existing.node, existing.source), ("b", "n1", Source::Local));
        assert_eq!((existing.version, &*existing.content.class_name), (Some(version), "str"));
        assert!(existing.content.value.is_empty(), "an error carries no values");
        let message = error.to_string();
        assert!(message.starts_with("'a/b': already bound in the local tree of n1, to a value of class 'str'"), "{message}");
    }
    refused(tree.bind(&name("a"), content(1), BIND), ErrorKind::NameAlreadyBound, ("a", Some(("a", ""))));
    assert_eq!(value(&tree, "a/b"), "a/b".into());
    assert_eq!(value(&tree, "free"), "free".into());
}

#[test]
fn bind_where_a_parent_is_missing() {
    let tree = tree_of(&["a/v"]);
    for options in [BIND, REBIND] {
        unchanged(&tree, |tree| {
            let bound = tree.bind(&name("a/b/c"), content(1), options);
            refused(bound, ErrorKind::NameNotFound, ("a/b/c", Some(("a", "b/c"))));
        });
    }
    let created = tree.create_subcontext(&name("x/y"), false);
    refused(created, ErrorKind::NameNotFound, ("x/y", Some(("", "x/y"))));

    done(tree.bind(&name("a/b/c/d"), content(1), WITH_PARENTS));
    done(tree.create_subcontext(&name("x/y/z"), true));
    for context in ["a/b", "a/b/c", "x", "x/y", "x/y/z"] {
        assert_eq!(found(&tree, context).content, Content::context(), "{context}");
    }
    assert_eq!(value(&tree, "a/b/c/d"), 1.into());
    let bound = tree.bind(&name("a/v/w/x"), content(1), WITH_PARENTS);
    refused(bound, ErrorKind::NotContext, ("a/v/w/x", Some(("a/v", "w/x"))));
}

#[test]
fn no_mutation_takes_an_invalid_name() {
    let tree = tree_of(&["a"]);
    let deep = vec!["c"; 33].join("/");
    let long = "x".repeat(1025);
    for text in ["", "/", "a//b", "/a", "a/", &deep, &long] {
        let bad = Name::parse(text).unwrap();
        let expected = (bad.as_str(), None);
        unchanged(&tree, |tree| {
            refused(tree.bind(&bad, content(1), WITH_PARENTS), ErrorKind::InvalidName, expected);
            refused(tree.bind(&bad, content(1), REBIND), ErrorKind::InvalidName, expected);
            refused(tree.unbind(&bad), ErrorKind::InvalidName, expected);
            refused(tree.create_subcontext(&bad, true), ErrorKind::InvalidName, expected);
            refused(tree.destroy_subcontext(&bad), ErrorKind::InvalidName, expected);
            refused(tree.rename(&bad, &name("b")), ErrorKind::InvalidName, expected);
            refused(tree.rename(&name("a"), &bad), ErrorKind::InvalidName, expected);
            if !text.is_empty() {
                refused(tree.list(&bad, None, 9), ErrorKind::InvalidName, expected);
                assert!(matches!(tree.lookup(text), Lookup::Invalid(error) if error.kind() == ErrorKind::InvalidName));
            }
        });
    }
    assert!(matches!(tree.lookup("'a"), Lookup::Invalid(error) if error.kind() == ErrorKind::InvalidName));
}

#[test]
fn unbind_and_destroy_where_nothing_is_there() {
    let tree = tree_of(&["a/b"]);
    done(tree.create_subcontext(&name("c"), false));
    unchanged(&tree, |tree| {
        for text in ["x", "a/x"] {
            assert_eq!(done(tree.unbind(&name(text))), None);
            assert_eq!(done(tree.destroy_subcontext(&name(text))), None);
        }
        for removed in [tree.unbind(&name("x/y")), tree.destroy_subcontext(&name("x/y"))] {
            refused(removed, ErrorKind::NameNotFound, ("x/y", Some(("", "x/y"))));
        }
        for removed in [tree.unbind(&name("a/b/c")), tree.destroy_subcontext(&name("a/b/c"))] {
            refused(removed, ErrorKind::NotContext, ("a/b/c", Some(("a/b", "c"))));
        }
    });
    assert!(done(tree.unbind(&name("a/b"))).is_some());
    assert_eq!(done(tree.unbind(&name("a/b"))), None);
    assert!(done(tree.unbind(&name("a"))).is_some(), "an empty context");
    assert!(done(tree.destroy_subcontext(&name("c"))).is_some());
    assert_eq!(done(tree.destroy_subcontext(&name("c"))), None);
    assert!(tree.is_empty());
}

#[test]
fn a_context_with_children_stays() {
    let tree = tree_of(&["a/b/c", "a.z/x"]);
    unchanged(&tree, |tree| {
        for text in ["a", "a/b"] {
            let parts = (text, Some((text, "")));
            refused(tree.unbind(&name(text)), ErrorKind::ContextNotEmpty, parts);
            refused(tree.destroy_subcontext(&name(text)), ErrorKind::ContextNotEmpty, parts);
            let error = refused(tree.bind(&name(text), content(1), REBIND), ErrorKind::ContextNotEmpty, parts);
            assert!(error.fields().message.contains("it holds '"), "{error}");
        }
    });
    done(tree.unbind(&name("a/b/c")));
    done(tree.bind(&name("a/b"), content(2), REBIND));
    assert_eq!(value(&tree, "a/b"), 2.into(), "an empty context is replaced");
}

#[test]
fn destroy_takes_contexts_only() {
    let tree = tree_of(&["v"]);
    done(tree.bind(&name("l"), content(LinkRef::new("v")), BIND));
    for text in ["v", "l"] {
        let destroyed = tree.destroy_subcontext(&name(text));
        refused(destroyed, ErrorKind::NotContext, (text, Some((text, ""))));
    }
}

#[test]
fn rebind_replaces_and_makes() {
    let tree = tree_of(&["a/b"]);
    let first = found(&tree, "a/b").version;
    let second = done(tree.bind(&name("a/b"), content(2), REBIND));
    assert!(second > first);
    assert_eq!((value(&tree, "a/b"), found(&tree, "a/b").version), (2.into(), second));
    done(tree.bind(&name("new"), content(3), REBIND));
    assert_eq!(value(&tree, "new"), 3.into());
    done(tree.bind(&name("p/q"), content(4), hanaming::naming::BindOptions { replace: true, create_parents: true }));
    assert_eq!(value(&tree, "p/q"), 4.into());
}

#[test]
fn rename_moves_a_value() {
    let tree = tree_of(&["a/b", "c/d"]);
    let before = found(&tree, "a/b");
    let version = done(tree.rename(&name("a/b"), &name("c/e"))).unwrap();
    assert!(is_missing(&tree, "a/b"));
    let after = found(&tree, "c/e");
    assert_eq!((&after.content, after.version), (&before.content, version));
    assert_ne!(before.version, version);
    assert_eq!(done(tree.list(&name("a"), None, 9)).rows, []);

    unchanged(&tree, |tree| {
        assert_eq!(done(tree.rename(&name("c/e"), &name("c/e"))), None);
        assert_eq!(done(tree.rename(&name("c/e"), &name("'c'/e"))), None, "another spelling of the same name");
        let missing = ErrorKind::NameNotFound;
        refused(tree.rename(&name("a/b"), &name("x")), missing, ("a/b", Some(("a", "b"))));
        refused(tree.rename(&name("a/b"), &name("a/b")), missing, ("a/b", Some(("a", "b"))));
        refused(tree.rename(&name("x/b"), &name("x")), missing, ("x/b", Some(("", "x/b"))));
        refused(tree.rename(&name("c/e"), &name("x/y")), missing, ("x/y", Some(("", "x/y"))));
        refused(tree.rename(&name("c/e"), &name("c/e/f")), ErrorKind::NotContext, ("c/e/f", Some(("c/e", "f"))));
        refused(tree.rename(&name("c/d/x"), &name("y")), ErrorKind::NotContext, ("c/d/x", Some(("c/d", "x"))));
        let taken = ErrorKind::NameAlreadyBound;
        refused(tree.rename(&name("c/e"), &name("c/d")), taken, ("c/d", Some(("c/d", ""))));
        refused(tree.rename(&name("c/e"), &name("a")), taken, ("a", Some(("a", ""))));
        let context = ErrorKind::OperationNotSupported;
        refused(tree.rename(&name("c"), &name("f")), context, ("c", None));
        refused(tree.rename(&name("a"), &name("f")), context, ("a", None));
    });
}

#[test]
fn a_value_over_its_limit_is_refused() {
    let tree = tree();
    let mut too_long = content("x");
    too_long.value = vec![0; Value::MAX_BYTES + 1].into();
    let error = refused(tree.bind(&name("a"), too_long, BIND), ErrorKind::LimitExceeded, ("a", None));
    assert_eq!(error.fields().message, "the value is 65537 bytes long; 65536 are allowed");

    let mut wordy = content("x");
    wordy.class_name = "C".repeat(1025).into();
    refused(tree.bind(&name("a"), wordy, BIND), ErrorKind::LimitExceeded, ("a", None));
    refused(tree.bind(&name("a"), Content::context(), REBIND), ErrorKind::InvalidValue, ("a", None));
    let mut garbled = Content::link("x");
    garbled.value = vec![0xFF].into();
    refused(tree.bind(&name("a"), garbled, BIND), ErrorKind::InvalidValue, ("a", None));
    refused(tree.bind(&name("a"), Content::link("x//y"), BIND), ErrorKind::InvalidName, ("a", None));
    assert!(tree.is_empty());
}

#[test]
fn the_root_is_a_context_by_itself() {
    let tree = tree();
    assert_eq!(found(&tree, "").content, Content::context());
    assert_eq!(done(tree.list(&Name::empty(), None, 9)).rows, []);
}

#[test]
fn any_spelling_finds_the_name() {
    let tree = tree_of(&["a", "\"x/y\"/\\'q"]);
    assert_eq!(found(&tree, "'a'"), found(&tree, "a"));
    assert_eq!(found(&tree, "x\\/y/\"'q\""), found(&tree, "\"x/y\"/\\'q"));
    let rows = done(tree.list(&name("'x/y'"), None, 9)).rows;
    assert_eq!(rows[0].0, "\\'q", "a component can be looked up as it is listed");
}

#[test]
fn kinds_and_class_names_are_kept() {
    let tree = tree();
    let reference = Reference::new("javax.sql.DataSource").with_text("url", "jdbc:x").with_bytes("raw", [1, 2]);
    done(tree.bind(&name("r"), content(reference.clone()), BIND));
    assert_eq!(found(&tree, "r").content.kind, EntryKind::Reference);
    assert_eq!(&*found(&tree, "r").content.class_name, "javax.sql.DataSource");
    assert_eq!(value(&tree, "r"), reference.into());
}

#[test]
fn a_listing_is_in_order_and_in_pages() {
    let tree = tree_of(&["a/b/deep/er", "a/c", "a.d/x", "a/a", "a/'z/z'", "b"]);
    let names = |context: &str, after, limit| {
        let page = done(tree.list(&name(context), after, limit));
        (page.rows.iter().map(|(component, _)| component.clone()).collect::<Vec<_>>(), page.more)
    };
    assert_eq!(names("a", None, 9), (["\"z/z\"", "a", "b", "c"].map(String::from).to_vec(), false));
    assert_eq!(names("a", None, 2), (["\"z/z\"", "a"].map(String::from).to_vec(), true));
    assert_eq!(names("a", Some("a"), 2), (["b", "c"].map(String::from).to_vec(), false));
    assert_eq!(names("a", Some("bb"), 1), (vec!["c".into()], false));
    assert_eq!(names("a", Some("zz"), 9), (vec![], false));
    assert_eq!(names("", None, 9), (["a", "a.d", "b"].map(String::from).to_vec(), false));
    assert_eq!(names("a", None, 0), (vec![], true));
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let tree = tree_of(&["a/b/c", "a/d", "a.e", "f"]);
    let snapshot = tree.snapshot();
    done(tree.unbind(&name("f")));
    done(tree.bind(&name("a/d"), content(0), REBIND));
    assert_eq!(snapshot.len(), 6);
    let texts = |beneath: &str| snapshot.beneath(&name(beneath)).map(|(text, _)| text.to_string()).collect::<Vec<_>>();
    assert_eq!(texts("a"), ["a/b", "a/d", "a/b/c"]);
    assert_eq!(texts("a/b"), ["a/b/c"]);
    assert_eq!(texts("a.e"), [""; 0]);
    assert_eq!(texts("").len(), snapshot.iter().count());
    assert_eq!(snapshot.get(&name("a/d")).unwrap().content, content("a/d"));
    assert_eq!(snapshot.get(&name("a/x")), None);
    assert_eq!((tree.len(), tree.snapshot().len()), (5, 5));
}

#[test]
fn the_generation_tells_of_every_write_and_of_no_refusal() {
    let tree = tree();
    let mut seen = vec![tree.generation()];
    done(tree.bind(&name("a"), content(1), BIND));
    seen.push(tree.generation());
    done(tree.rename(&name("a"), &name("b")));
    seen.push(tree.generation());
    done(tree.unbind(&name("b")));
    seen.push(tree.generation());
    assert!(seen.is_sorted_by(|a, b| a < b) && seen.iter().all(|number| number & 1 == 0), "{seen:?}");
    unchanged(&tree, |tree| assert!(tree.bind(&name("x/y"), content(1), BIND).is_err()));
}

#[test]
fn a_mutation_follows_links_on_the_way_and_not_at_the_end() {
    let tree = tree_of(&["dir/x"]);
    done(tree.bind(&name("l"), content(LinkRef::new("dir")), BIND));
    unchanged(&tree, |tree| {
        for met in [
            link(tree.bind(&name("l/y/z"), content(1), WITH_PARENTS)),
            link(tree.bind(&name("l/y/z"), content(1), REBIND)),
            link(tree.unbind(&name("l/y/z"))),
        ] {
            assert_eq!((met.at, met.target.as_str(), met.rest), (name("l"), "dir", name("y/z")));
        }
        assert_eq!(link(tree.unbind(&name("l/x"))).rest, name("x"));
        assert_eq!(link(tree.destroy_subcontext(&name("l/x"))).rest, name("x"));
        assert_eq!(link(tree.create_subcontext(&name("l/x"), true)).rest, name("x"));
        assert_eq!(link(tree.rename(&name("l/x"), &name("y"))).rest, name("x"));
        assert_eq!(link(tree.rename(&name("dir/x"), &name("l/y"))).rest, name("y"));
        assert_eq!(link(tree.list(&name("l"), None, 9)).rest, Name::empty());
        assert_eq!(link(tree.list(&name("l/x"), None, 9)).rest, name("x"));
        refused(tree.bind(&name("l"), content(1), BIND), ErrorKind::NameAlreadyBound, ("l", Some(("l", ""))));
    });
    done(tree.rename(&name("l"), &name("m")));
    assert!(matches!(tree.lookup("m"), Lookup::Link(met) if met.rest.is_empty() && met.target == "dir"));
    done(tree.bind(&name("m"), content(1), REBIND));
    assert_eq!(value(&tree, "m"), 1.into(), "the link itself was replaced");
    assert_eq!(value(&tree, "dir/x"), "dir/x".into());
    done(tree.unbind(&name("m")));
}

#[test]
fn a_tree_surely_lacks_only_what_it_has_nothing_of() {
    let tree = tree_of(&["a/b", "\"x/y\""]);
    for lacking in ["c", "c/b", "ab", "b/a"] {
        assert!(tree.surely_lacks(lacking), "{lacking}");
    }
    // What is bound, what something bound is on the way to, and what is spelt so that one probe can't tell.
    for unsure in ["a", "a/b", "a/b/c", "a/missing", "\"x/y\"", "x\\/y", "\"a\"/b", "", "/a"] {
        assert!(!tree.surely_lacks(unsure), "{unsure}");
    }
}

#[test]
fn what_was_decided_elsewhere_is_shown_in_one_step() {
    let tree = tree_of(&["a/b"]);
    let before = tree.snapshot();
    let entry = |content: Content, sequence| Some(Arc::new(Entry { content, version: Version { actor: 7, sequence } }));
    let generation = tree.generation();
    let display = |text, entry| Display { name: name(text), entry, moved_from: None };
    tree.show([
        display("a/b", None),
        display("c", entry(Content::context(), 1)),
        display("c/d", entry(content("new"), 2)),
        display("gone", None),
    ]);
    assert_eq!(tree.generation(), generation + 2);
    assert!(is_missing(&tree, "a/b"));
    assert_eq!((value(&tree, "c/d"), found(&tree, "c/d").version), ("new".into(), Version { actor: 7, sequence: 2 }));
    let rows: Vec<String> = done(tree.list(&name("c"), None, 9)).rows.into_iter().map(|(component, _)| component).collect();
    assert_eq!((rows, tree.len()), (vec!["d".to_owned()], 3));
    assert!(before.get(&name("a/b")).is_some(), "a snapshot stays as it was");
}
