//! Single rules, each shown by the shortest history in which it matters: what holds with it, and does not without.
//!
//! The scenarios find most rules by chance; these are about time (who is waited for), about what is refused, and about
//! steps whose absence costs rounds and not safety.

mod binds;
mod leases;
mod outcomes;
mod renames;
mod sessions;
mod standing;
mod suspension;
mod table;
mod writes;

use hanaming::cluster::rules::{Rule, Rules};

/// `history` tells whether what the rule is for came about.
#[track_caller]
fn matters(rule: Rule, history: impl Fn(Rules) -> bool) {
    assert!(history(Rules::ALL), "{rule:?} is in force and does not do what it is for");
    assert!(!history(Rules::ALL.without(rule)), "nothing is different without {rule:?}");
}
