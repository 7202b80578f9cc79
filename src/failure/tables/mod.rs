//! The rules as data, a file for each family. Order matters within a family and among them: what is more specific
//! stands first.

pub mod corba_minors;
mod corba_words;
mod databases;
pub mod ejb;
mod grpc;
mod http;
mod java;
mod naming;
pub mod plain_words;
mod products;
mod python;
pub mod rmi;
mod security;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::rule::{Rule, Seen};
use super::{Meaning, Thrown};

/// All rules that do not key on a CORBA minor code, the first that fits first.
const FAMILIES: &[&[Rule]] = &[
    databases::ROLLED_BACK,
    corba_words::RULES,
    grpc::RULES,
    ejb::RULES,
    products::RULES,
    security::RULES,
    rmi::RULES,
    naming::RULES,
    databases::RULES,
    plain_words::RULES,
    http::RULES,
    python::RULES,
    java::RULES,
];

/// All rows in their order, for whoever checks them.
pub fn rows() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}

/// The words of rules that are several.
pub fn phrases() -> &'static [&'static str] {
    static PHRASES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| rows().flat_map(|rule| rule.words).copied().filter(|words| words.contains(' ')).collect());
    &PHRASES
}

/// Whether a rule knows that product code.
pub fn knows_code(code: &str) -> bool {
    ejb::RULES.iter().any(|rule| rule.codes.contains(&code))
}

/// What an exception means by the first rule that fits it.
pub fn meaning(seen: &Seen<'_>) -> Option<Meaning> {
    RULES.first_that_fits(seen)
}

/// The rules by the class that they ask for: a log may hold millions of exceptions, and each fits few of the rows.
struct Rules {
    /// By the simple name of the class, in their order.
    of_class: HashMap<&'static str, Vec<(usize, &'static Rule)>>,
    /// Those for any class, or for the end of one.
    of_any: Vec<(usize, &'static Rule)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules { of_class: HashMap::new(), of_any: Vec::new() };
    for (place, rule) in rows().enumerate() {
        if rule.classes.is_empty() || rule.classes.iter().any(|class| class.starts_with('*')) {
            rules.of_any.push((place, rule));
            continue;
        }
        for class in rule.classes {
            let of_class = rules.of_class.entry(Thrown::simple_name(class)).or_default();
            // Two of a rule's classes may differ by their package alone.
            if of_class.last().is_none_or(|last| last.0 != place) {
                of_class.push((place, rule));
            }
        }
    }
    rules
});

impl Rules {
    fn first_that_fits(&self, seen: &Seen<'_>) -> Option<Meaning> {
        let fits = |rules: &[(usize, &'static Rule)]| rules.iter().find(|(_, rule)| rule.fits(seen)).copied();
        let of_class = self.of_class.get(seen.key()).and_then(|rules| fits(rules));
        let of_any = fits(&self.of_any);
        let first = [of_class, of_any].into_iter().flatten().min_by_key(|(place, _)| *place);
        first.map(|(_, rule)| rule.meaning)
    }
}
