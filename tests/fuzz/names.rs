//! Names from any text, and trees asked for any text.

use hanaming::naming::{ErrorKind, LinkRef, Lookup, Name, Tree};

#[test]
fn any_text_is_a_name_or_says_where_it_is_wrong() {
    bolero::check!().with_iterations(5000).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        match Name::parse(&text) {
            Ok(name) => {
                assert_eq!(Name::parse(name.as_str()).unwrap(), name);
                assert_eq!(Name::from_components(name.components()), name);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidName);
                assert!(error.fields().message.contains("at index"));
            }
        }
    });
}

/// Of the few bytes that mean something to the syntax.
#[test]
fn any_row_of_meta_characters_reads_back() {
    bolero::check!().with_iterations(5000).with_type::<Vec<u8>>().for_each(|choices| {
        let text: String = choices.iter().map(|choice| ['/', '\\', '\'', '"', 'a', 'é'][usize::from(*choice) % 6]).collect();
        let built = Name::from_components([&text, "x", &text]);
        assert_eq!(Name::parse(built.as_str()).unwrap(), built);
        if let Ok(name) = Name::parse(&text) {
            assert_eq!(Name::parse(name.as_str()).unwrap(), name);
        }
        let _ = LinkRef::parse_target(&text);
    });
}

#[test]
fn a_tree_can_be_asked_for_any_text() {
    bolero::check!().with_iterations(2000).for_each(|bytes: &[u8]| {
        let tree = Tree::new(1);
        let text = String::from_utf8_lossy(bytes);
        match tree.lookup(&text) {
            Lookup::Found(_) => assert!(text.is_empty()),
            Lookup::Missing { resolved, remaining } => assert_eq!(resolved.join(&remaining), Name::parse(&text).unwrap()),
            Lookup::Invalid(error) => assert_eq!(error.kind(), ErrorKind::InvalidName),
            other => panic!("{other:?}"),
        }
    });
}
