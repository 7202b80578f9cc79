//! Following links: relative and absolute targets, loops, the limit; alone and over a tree.

use hanaming::naming::{Detail, ErrorKind, LinkRef, LinkWalk, Lookup, Name, NamingError, Tree, Value};
use proptest::prelude::*;

use crate::support::{BIND, WITH_PARENTS, content, done, name, tree_of};

/// Looks a name up in one tree, all links followed.
fn resolve(tree: &Tree, text: &str) -> Result<Value, NamingError> {
    let mut walk = LinkWalk::new(name(text));
    let mut at = name(text);
    loop {
        match tree.lookup_name(&at) {
            Lookup::Found(entry) => return Value::from_content(&entry.content),
            Lookup::Link(link) => at = walk.follow(&link.at, &link.target, &link.rest)?,
            Lookup::Missing { resolved, .. } => return Err(NamingError::name_not_found(&at, resolved.len())),
            Lookup::NotContext { resolved, .. } => return Err(NamingError::not_context(&at, resolved.len())),
            Lookup::Invalid(error) => return Err(error),
        }
    }
}

fn with_links(names: &[&str], links: &[(&str, &str)]) -> Tree {
    let tree = tree_of(names);
    for (at, target) in links {
        done(tree.bind(&name(at), content(LinkRef::new(*target)), WITH_PARENTS));
    }
    tree
}

#[test]
fn a_target_is_relative_to_the_root_or_to_the_links_context() {
    let tree = with_links(
        &["a/b/v", "v", "dir/sub/x", "./odd", "../odd"],
        &[
            ("a/b/absolute", "v"),
            ("a/b/relative", "./v"),
            ("a/shelf", "./b"),
            ("dir/hop", "./sub"),
            ("top", "./v"),
            ("root", ""),
            ("a/here", "./"),
            ("dots", "../odd"),
            ("dot", "././odd"),
        ],
    );
    for (text, expected) in [
        ("a/b/absolute", "v"),
        ("a/b/relative", "a/b/v"),
        ("a/shelf/v", "a/b/v"),
        ("a/shelf/relative", "a/b/v"),
        ("dir/hop/x", "dir/sub/x"),
        ("top", "v"),
        ("root/v", "v"),
        ("root/a/b/v", "a/b/v"),
        ("a/here/b/v", "a/b/v"),
        // A dot means nothing but at the start of a target.
        ("dots", "../odd"),
        ("dot", "./odd"),
    ] {
        assert_eq!(resolve(&tree, text).unwrap(), expected.into(), "{text}");
    }
    assert_eq!(resolve(&tree, "a/shelf/none").unwrap_err().kind(), ErrorKind::NameNotFound);
    assert_eq!(resolve(&tree, "top/v").unwrap_err().kind(), ErrorKind::NotContext);
}

#[test]
fn a_circle_is_told_with_its_chain() {
    let tree = with_links(&["v"], &[("a", "b"), ("b", "./c"), ("c", "a"), ("self", "self"), ("d/e", "d/e/f")]);
    let error = resolve(&tree, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LinkLoop);
    assert_eq!(error.fields().detail, Detail::Chain(["a", "b", "c", "a"].map(String::from).to_vec()));
    assert_eq!(error.to_string(), "'a': the links lead round in a circle, back to 'a': a → b → c → a");
    assert_eq!(resolve(&tree, "self").unwrap_err().fields().detail, Detail::Chain(vec!["self".into(), "self".into()]));
    let error = resolve(&tree, "d/e").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LinkLoop, "a link beneath itself: {error}");
}

#[test]
fn one_link_may_be_passed_twice() {
    let tree = with_links(&["dir/v"], &[("l", "dir"), ("dir/again", "l/v")]);
    assert_eq!(resolve(&tree, "l/again").unwrap(), "dir/v".into());
}

/// Invariant 5.
#[test]
fn thirty_two_links_are_followed_and_no_more() {
    let links: Vec<(String, String)> = (0..33).map(|i| (format!("l{i}"), format!("l{}", i + 1))).collect();
    let links: Vec<(&str, &str)> = links.iter().map(|(at, target)| (at.as_str(), target.as_str())).collect();
    let tree = with_links(&["l33"], &links);
    assert_eq!(resolve(&tree, "l1").unwrap(), "l33".into());
    let error = resolve(&tree, "l0").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LinkLoop);
    let Detail::Chain(chain) = &error.fields().detail else { panic!("{error:?}") };
    assert_eq!((chain.len(), chain[0].as_str(), chain[33].as_str()), (34, "l0", "l33"));
}

#[test]
fn a_target_that_is_no_name_is_told_with_the_link() {
    let mut walk = LinkWalk::new(name("a/l/x"));
    let error = walk.follow(&name("a/l"), "b//c", &name("x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidName);
    assert_eq!(error.to_string(), "'a/l/x': the target 'b//c' of a link is no name: component 2 of 3 is empty");
    let fields = error.fields();
    assert_eq!((fields.resolved_name.as_deref(), fields.remaining_name.as_deref()), (Some("a"), Some("l/x")));
    let error = walk.follow(&name("a/l"), "'b", &name("x")).unwrap_err();
    assert!(error.to_string().contains("at index 0"), "{error}");

    let long = "x".repeat(1000);
    let error = LinkWalk::new(name("l")).follow(&name("l"), &long, &Name::from_components([&long])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidName);
    assert!(
        tree_of(&[])
            .bind(
                &name("l"),
                Value::Link(LinkRef::new("b/")).to_content().unwrap_or_else(|error| {
                    assert_eq!(error.kind(), ErrorKind::InvalidName);
                    content("refused at the source")
                }),
                BIND
            )
            .is_ok()
    );
}

proptest! {
    /// Whatever links stand in a small tree, every lookup ends, and within the limit.
    #[test]
    fn every_walk_ends(
        links in prop::collection::vec(("[ab](/[abc]){0,2}", "(\\./)?[ab](/[abc]){0,2}"), 0..8),
        asked in "[ab](/[abc]){0,3}",
    ) {
        let tree = tree_of(&["v"]);
        for (at, target) in &links {
            // Taken names and ways through links are refused; any tree will do.
            let _ = tree.bind(&name(at), content(LinkRef::new(target.as_str())), WITH_PARENTS);
        }
        let mut walk = LinkWalk::new(name(&asked));
        let mut at = name(&asked);
        while let Lookup::Link(link) = tree.lookup_name(&at) {
            match walk.follow(&link.at, &link.target, &link.rest) {
                Ok(next) => at = next,
                Err(error) => {
                    prop_assert_eq!(error.kind(), ErrorKind::LinkLoop);
                    break;
                }
            }
            prop_assert!(walk.followed() <= LinkWalk::MAX_LINKS);
        }
    }
}
