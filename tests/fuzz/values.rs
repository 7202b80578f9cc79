//! Values from any bytes.

use std::collections::BTreeMap;

use hanaming::naming::{ErrorKind, LinkRef, Reference, Value};

use crate::seeds::{Choice, damaged};

fn check(bytes: &[u8]) {
    match Value::decode(bytes) {
        Ok(value) => assert_eq!(value.encode().unwrap(), bytes, "one spelling each"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidValue),
    }
}

#[test]
fn any_bytes_are_a_value_or_refused() {
    bolero::check!().with_iterations(5000).for_each(check);
}

#[test]
fn damaged_values_are_refused_or_canonical() {
    let reference = Reference::new("C").with_text("url", "http://x").with_bytes("raw", [0, 255]).with_factory("f");
    let leaves: Vec<Value> = vec![
        Value::Null,
        true.into(),
        i64::MIN.into(),
        f64::NAN.into(),
        "text".into(),
        Value::Bytes(vec![1, 2, 3]),
        reference.into(),
        LinkRef::new("./a").into(),
    ];
    let dict: BTreeMap<String, Value> = leaves.iter().cloned().enumerate().map(|(i, value)| (format!("k{i}"), value)).collect();
    let deep = (0..Value::MAX_DEPTH).fold(Value::Null, |inner, _| vec![inner].into());
    let whole: Vec<Value> = [leaves.clone(), vec![leaves.into(), dict.into(), deep]].concat();
    let sound: Vec<Vec<u8>> = whole.iter().map(|value| value.encode().unwrap().to_vec()).collect();
    bolero::check!().with_iterations(20_000).with_type::<Choice>().for_each(|choice| check(&damaged(&sound, choice)));
}
