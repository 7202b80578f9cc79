//! Readers while writers write: nobody sees half of a write, and nothing seen is unseen again.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hanaming::naming::{EntryKind, Lookup, Name, Tree, Value, Version};

use crate::support::{BIND, REBIND, WITH_PARENTS, content, done, name, tree, tree_of};

const WRITES: i64 = 5_000;

/// Runs `write` on this thread, and `read` over and over on two others until it has ended.
fn during(write: impl FnOnce(), read: impl Fn() + Sync) {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        // Read once more after the end, so that every reader reads at all.
                        let last = ended.load(Ordering::Acquire);
                        read();
                        if last {
                            break;
                        }
                    }
                })
            })
            .collect();
        write();
        ended.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

fn version(tree: &Tree, text: &str) -> Option<Version> {
    match tree.lookup(text) {
        Lookup::Found(entry) => Some(entry.version),
        Lookup::Missing { .. } => None,
        other => panic!("{other:?}"),
    }
}

/// What is moved to and fro stands at one of two names at every moment, and each move makes a higher version: so a
/// reader that has seen one never sees a lower one, wherever and however it looks.
/// Invariant 4.
#[test]
fn a_rename_is_seen_whole() {
    let tree = tree_of(&["a/x", "b/y"]);
    let (left, right) = (name("a/x"), name("b/z"));
    let contexts = [name("a"), name("b")];
    during(
        || {
            for _ in 0..WRITES {
                assert!(done(tree.rename(&left, &right)).is_some());
                assert!(done(tree.rename(&right, &left)).is_some());
            }
        },
        || {
            let mut last = None;
            for round in 0..50 {
                let before = tree.generation();
                let seen = [version(&tree, "a/x"), version(&tree, "b/z")];
                if before & 1 == 0 && tree.generation() == before {
                    assert_eq!(seen.iter().flatten().count(), 1, "in one state it stands at one name: {seen:?}");
                }
                let snapshot = tree.snapshot();
                let held: Vec<_> = [&left, &right].into_iter().filter_map(|name| snapshot.get(name)).collect();
                assert_eq!((held.len(), snapshot.len()), (1, 4));
                let listed = done(tree.list(&contexts[round % 2], None, 9));
                let listed = listed.rows.into_iter().find(|(component, _)| component == "x" || component == "z");
                let order = [seen[0], seen[1], Some(held[0].version), listed.map(|(_, entry)| entry.version)];
                for version in order.into_iter().flatten() {
                    assert!(Some(version) >= last, "{version} after {last:?}: {order:?}");
                    last = Some(version);
                }
            }
        },
    );
}

#[test]
fn a_rebind_is_never_unseen() {
    let tree = tree_of(&["c/n"]);
    done(tree.bind(&name("c/n"), content(0), REBIND));
    let number = |entry: &hanaming::naming::Entry| match Value::from_content(&entry.content) {
        Ok(Value::Int(number)) => number,
        other => panic!("{other:?}"),
    };
    let looked_up = || match tree.lookup("c/n") {
        Lookup::Found(entry) => number(&entry),
        other => panic!("never absent: {other:?}"),
    };
    during(
        || {
            for next in 1..=2 * WRITES {
                done(tree.bind(&name("c/n"), content(next), REBIND));
                assert_eq!(looked_up(), next, "a writer sees its own write");
            }
        },
        || {
            let mut last = 0;
            for _ in 0..50 {
                let order = [
                    looked_up(),
                    number(&done(tree.list(&name("c"), None, 1)).rows[0].1),
                    looked_up(),
                    number(tree.snapshot().get(&name("c/n")).unwrap()),
                    looked_up(),
                ];
                for seen in order {
                    assert!(seen >= last, "{seen} after {last}: {order:?}");
                    last = seen;
                }
            }
        },
    );
}

/// A value with its parents comes at once and goes from the leaf up.
/// Invariant 3.
#[test]
fn what_is_on_the_way_is_always_a_context() {
    let tree = tree_of(&["keep"]);
    let names = [name("p/q/r"), name("p/q"), name("p")];
    during(
        || {
            for _ in 0..WRITES / 2 {
                done(tree.bind(&names[0], content(1), WITH_PARENTS));
                for name in &names {
                    assert!(done(tree.unbind(name)).is_some());
                }
            }
        },
        || {
            for _ in 0..50 {
                match tree.lookup("p/q/r") {
                    Lookup::Found(entry) => assert_eq!(entry.content, content(1)),
                    Lookup::Missing { resolved, remaining } => assert_eq!(resolved.join(&remaining), names[0]),
                    other => panic!("{other:?}"),
                }
                let snapshot = tree.snapshot();
                for (text, _) in snapshot.iter() {
                    let parent = name(text).parent().unwrap();
                    assert!(parent.is_empty() || snapshot.get(&parent).is_some_and(|entry| entry.is_context()), "{text}");
                }
            }
        },
    );
    assert_eq!(tree.len(), 1);
}

#[test]
fn many_writers_lose_nothing() {
    let tree = tree();
    let versions = Mutex::new(HashSet::new());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (tree, versions) = (&tree, &versions);
            scope.spawn(move || {
                for number in 0..500 {
                    let at = Name::from_components([format!("w{writer}"), format!("n{number}")]);
                    let version = done(tree.bind(&at, content(number), WITH_PARENTS));
                    assert!(versions.lock().unwrap().insert(version), "{version} was given twice");
                    // All writers meet at one name; the last wins and nobody fails.
                    done(tree.bind(&name("meet"), content(number), REBIND));
                }
            });
        }
    });
    assert_eq!((tree.len(), versions.lock().unwrap().len()), (4 * 500 + 4 + 1, 2000));
    let values = tree.snapshot().iter().filter(|(_, entry)| entry.content.kind == EntryKind::Value).count();
    assert_eq!(values, 2001);
    assert!(tree.bind(&name("meet"), content(0), BIND).is_err());
}
