//! A tree against a plain map under random operations: the same answers, the same state, by every way of asking.

use std::collections::BTreeMap;

use hanaming::naming::{BindOptions, Change, Content, EntryKind, ErrorKind, LinkRef, Lookup, Name, NamingError, Tree, Value};
use proptest::prelude::*;

use crate::support::{content, done, tree};

/// Components, and everything bound by them. It walks from the root, where the tree looks from the name's end.
#[derive(Default)]
struct Model(BTreeMap<Vec<String>, Content>);

/// What an operation gives, as far as model and tree can agree: whether it changed something, or where it stopped.
#[derive(Debug, PartialEq)]
enum Outcome {
    Changed(bool),
    Link { at: Name, rest: Name },
    Refused(ErrorKind, Option<(String, String)>),
}

#[derive(Clone, Debug)]
enum Operation {
    Bind(Name, Content, BindOptions),
    Unbind(Name),
    Rename(Name, Name),
    Create(Name, bool),
    Destroy(Name),
}

fn refused(kind: ErrorKind, name: &Name, resolved: usize) -> Outcome {
    Outcome::Refused(kind, Some((name.prefix(resolved).to_string(), name.suffix(resolved).to_string())))
}

impl Model {
    fn get(&self, name: &Name) -> Option<&Content> {
        self.0.get(&key(name))
    }

    fn put(&mut self, name: &Name, content: Content) -> Outcome {
        self.0.insert(key(name), content);
        Outcome::Changed(true)
    }

    fn has_children(&self, name: &Name) -> bool {
        self.0.keys().any(|other| other.len() > name.len() && other.starts_with(&key(name)))
    }

    /// Steps from the root to the last context on the way.
    fn way(&mut self, name: &Name, create: bool) -> Result<(), Outcome> {
        let mut missing = Vec::new();
        for count in 1..name.len() {
            let prefix = name.prefix(count);
            match self.get(&prefix).map(|content| content.kind) {
                Some(EntryKind::Context) => {}
                Some(EntryKind::Link) => return Err(Outcome::Link { at: prefix, rest: name.suffix(count) }),
                Some(_) => return Err(refused(ErrorKind::NotContext, name, count)),
                None if create => missing.push(prefix),
                None => return Err(refused(ErrorKind::NameNotFound, name, count - 1)),
            }
        }
        for prefix in missing {
            self.put(&prefix, Content::context());
        }
        Ok(())
    }

    fn run(&mut self, operation: &Operation) -> Result<Outcome, Outcome> {
        match operation {
            Operation::Bind(name, content, options) => {
                mutable(name)?;
                // Parents must not be made where the name itself is refused; a taken name has its parents.
                self.way(name, options.create_parents)?;
                match self.get(name) {
                    Some(_) if !options.replace => return Err(refused(ErrorKind::NameAlreadyBound, name, name.len())),
                    Some(old) if old.kind == EntryKind::Context && self.has_children(name) => {
                        return Err(refused(ErrorKind::ContextNotEmpty, name, name.len()));
                    }
                    _ => {}
                }
                Ok(self.put(name, content.clone()))
            }
            Operation::Unbind(name) | Operation::Destroy(name) => {
                mutable(name)?;
                self.way(name, false)?;
                let Some(old) = self.get(name) else { return Ok(Outcome::Changed(false)) };
                if matches!(operation, Operation::Destroy(_)) && old.kind != EntryKind::Context {
                    return Err(refused(ErrorKind::NotContext, name, name.len()));
                }
                if self.has_children(name) {
                    return Err(refused(ErrorKind::ContextNotEmpty, name, name.len()));
                }
                self.0.remove(&key(name));
                Ok(Outcome::Changed(true))
            }
            Operation::Rename(from, to) => {
                mutable(from)?;
                mutable(to)?;
                self.way(from, false)?;
                let Some(moved) = self.get(from).cloned() else {
                    return Err(refused(ErrorKind::NameNotFound, from, from.len() - 1));
                };
                if from == to {
                    return Ok(Outcome::Changed(false));
                }
                if moved.kind == EntryKind::Context {
                    return Err(Outcome::Refused(ErrorKind::OperationNotSupported, None));
                }
                self.way(to, false)?;
                if self.get(to).is_some() {
                    return Err(refused(ErrorKind::NameAlreadyBound, to, to.len()));
                }
                self.0.remove(&key(from));
                Ok(self.put(to, moved))
            }
            Operation::Create(name, create) => {
                mutable(name)?;
                self.way(name, *create)?;
                if self.get(name).is_some() {
                    return Err(refused(ErrorKind::NameAlreadyBound, name, name.len()));
                }
                Ok(self.put(name, Content::context()))
            }
        }
    }

    fn lookup(&mut self, name: &Name) -> Result<Content, Outcome> {
        if name.is_empty() {
            return Ok(Content::context());
        }
        mutable(name)?;
        self.way(name, false)?;
        match self.get(name) {
            Some(content) if content.kind == EntryKind::Link => Err(Outcome::Link { at: name.clone(), rest: Name::empty() }),
            Some(content) => Ok(content.clone()),
            None => Err(refused(ErrorKind::NameNotFound, name, name.len() - 1)),
        }
    }
}

fn key(name: &Name) -> Vec<String> {
    name.iter().map(str::to_owned).collect()
}

fn mutable(name: &Name) -> Result<(), Outcome> {
    if name.is_empty() || name.iter().any(str::is_empty) {
        return Err(Outcome::Refused(ErrorKind::InvalidName, None));
    }
    Ok(())
}

fn run(tree: &Tree, operation: &Operation) -> Outcome {
    let outcome = match operation.clone() {
        Operation::Bind(name, content, options) => changed(tree.bind(&name, content, options), |_| true),
        Operation::Unbind(name) => changed(tree.unbind(&name), Option::is_some),
        Operation::Rename(from, to) => changed(tree.rename(&from, &to), Option::is_some),
        Operation::Create(name, create) => changed(tree.create_subcontext(&name, create), |_| true),
        Operation::Destroy(name) => changed(tree.destroy_subcontext(&name), Option::is_some),
    };
    outcome.unwrap_or_else(failed)
}

fn changed<T>(result: Result<Change<T>, NamingError>, is_change: impl Fn(&T) -> bool) -> Result<Outcome, NamingError> {
    Ok(match result? {
        Change::Done(done) => Outcome::Changed(is_change(&done)),
        Change::Link(link) => Outcome::Link { at: link.at, rest: link.rest },
    })
}

fn failed(error: NamingError) -> Outcome {
    let fields = error.into_fields();
    Outcome::Refused(fields.kind, fields.resolved_name.zip(fields.remaining_name))
}

fn looked_up(lookup: Lookup) -> Result<Content, Outcome> {
    let at =
        |kind, resolved: Name, remaining: Name| Err(Outcome::Refused(kind, Some((resolved.to_string(), remaining.to_string()))));
    match lookup {
        Lookup::Found(entry) => Ok(entry.content.clone()),
        Lookup::Link(link) => Err(Outcome::Link { at: link.at, rest: link.rest }),
        Lookup::Missing { resolved, remaining } => at(ErrorKind::NameNotFound, resolved, remaining),
        Lookup::NotContext { resolved, remaining } => at(ErrorKind::NotContext, resolved, remaining),
        Lookup::Invalid(error) => Err(failed(error)),
    }
}

/// By lookup, by listing and by snapshot, the tree holds what the model holds.
fn compare(tree: &Tree, model: &mut Model, asked: &[Name]) {
    let snapshot = tree.snapshot();
    assert_eq!((tree.len(), snapshot.len()), (model.0.len(), model.0.len()));
    let held: BTreeMap<Vec<String>, Content> =
        snapshot.iter().map(|(text, entry)| (key(&Name::parse(text).unwrap()), entry.content.clone())).collect();
    assert_eq!(held, model.0);
    for name in asked {
        assert_eq!(looked_up(tree.lookup_name(name)), model.lookup(name), "{name:?}");
        assert_eq!(looked_up(tree.lookup(name.as_str())), model.lookup(name), "{name:?}");
        if model.lookup(name).is_ok_and(|content| content.kind == EntryKind::Context) {
            let mut listed = Vec::new();
            loop {
                let after = listed.last().map(|(component, _): &(String, Content)| component.as_str());
                let page = done(tree.list(name, after, 2));
                listed.extend(page.rows.into_iter().map(|(component, entry)| (component, entry.content.clone())));
                if !page.more {
                    break;
                }
            }
            assert!(listed.is_sorted_by(|(left, _), (right, _)| left < right));
            let listed: BTreeMap<Vec<String>, Content> = listed
                .into_iter()
                .map(|(component, content)| (key(&name.join(&Name::parse(&component).unwrap())), content))
                .collect();
            let children = model.0.iter().filter(|(other, _)| other.len() == name.len() + 1 && other.starts_with(&key(name)));
            assert_eq!(listed, children.map(|(key, content)| (key.clone(), content.clone())).collect());
        }
    }
}

/// Few components, so that names meet; some are hard to spell, one is empty.
fn component() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "a", "b", "b", "a/b", "a\\", "'a", "."]).prop_map(str::to_owned)
}

fn any_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        30 => prop::collection::vec(component(), 1..4).prop_map(Name::from_components),
        1 => Just(Name::empty()),
        1 => Just(Name::from_components(["a", ""])),
    ]
}

fn any_content() -> impl Strategy<Value = Content> {
    prop_oneof![
        4 => (0i64..9).prop_map(|number| content(Value::Int(number))),
        1 => prop::sample::select(vec!["a", "./b", "a/b"]).prop_map(|target| content(LinkRef::new(target))),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        5 => (any_name(), any_content(), any::<bool>(), any::<bool>()).prop_map(|(name, content, replace, create_parents)| {
            Operation::Bind(name, content, BindOptions { replace, create_parents })
        }),
        3 => any_name().prop_map(Operation::Unbind),
        3 => (any_name(), any_name()).prop_map(|(from, to)| Operation::Rename(from, to)),
        2 => (any_name(), any::<bool>()).prop_map(|(name, create)| Operation::Create(name, create)),
        2 => any_name().prop_map(Operation::Destroy),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_tree_does_what_a_plain_map_does(
        operations in prop::collection::vec(operation(), 1..40),
        asked in prop::collection::vec(any_name(), 8),
    ) {
        let (tree, mut model) = (tree(), Model::default());
        for operation in &operations {
            let before = (tree.generation(), model.0.clone());
            let expected = model.run(operation).unwrap_or_else(|refused| refused);
            prop_assert_eq!(run(&tree, operation), expected, "{:?}", operation);
            prop_assert!(tree.generation() != before.0 || model.0 == before.1, "{:?} went untold", operation);
            compare(&tree, &mut model, &asked);
        }
    }
}
