//! The rules as data, a file for each family. Order matters within a family and among them: what is more specific
//! stands first.

pub mod corba_minors;
mod corba_words;
mod databases;
pub mod ejb;
mod grpc;
mod java;
mod naming;
mod products;
mod python;
pub mod rmi;
mod security;

use super::rule::Rule;

/// All rules that do not key on a CORBA minor code, the first that fits first.
pub const FAMILIES: &[&[Rule]] = &[
    corba_words::RULES,
    grpc::RULES,
    ejb::RULES,
    products::RULES,
    security::RULES,
    rmi::RULES,
    naming::RULES,
    databases::RULES,
    python::RULES,
    java::RULES,
];

/// Whether a rule knows that product code.
pub fn knows_code(code: &str) -> bool {
    ejb::RULES.iter().any(|rule| rule.codes.contains(&code))
}
