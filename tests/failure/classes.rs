//! Exception classes of HTTP clients and stores, each by its name alone: `classes.tsv` has the class, what it means, what it
//! inherits from, and whether it is known by that only. `tests/python/test_classes.py` has the same classes as objects.

use std::fmt::Write;

use hanaming::failure::{Chain, Thrown, classify_chain};

#[test]
fn each_class_of_the_libraries_means_the_same_by_its_name() {
    let table = std::fs::read_to_string("tests/failure/cases/classes.tsv").unwrap();
    let mut wrong = String::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [class, category, completion, action, _, by_base @ ..] = fields.as_slice() else { panic!("{line}") };
        let verdict = classify_chain(&Chain { thrown: vec![Thrown::new(*class, "x")], ..Chain::default() });
        let completed = verdict.completion.map_or("NA", |completion| completion.as_str());
        let got = (verdict.category.as_str(), completed, verdict.action.as_str());
        let expected = if by_base.is_empty() { (*category, *completion, *action) } else { ("unknown", "MAYBE", "surface") };
        if got != expected {
            let _ = writeln!(wrong, "{class}: expected {expected:?}, got {got:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(table.lines().count() > 200);
}
