//! Values: canonical bytes, limits that are told with their place, and bytes that are nobody's friend.

use std::collections::BTreeMap;

use hanaming::naming::{Content, EntryKind, ErrorKind, InstanceDetail, LinkRef, Reference, Value};
use proptest::prelude::*;

use crate::support::content;

fn dict(entries: &[(&str, Value)]) -> Value {
    Value::Dict(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::List(vec![inner]))
}

/// The bytes are a contract with every store and every peer: they never change.
#[test]
fn the_encoding_is_fixed() {
    let golden: &[(Value, &[u8])] = &[
        (Value::Null, &[0]),
        (false.into(), &[1]),
        (true.into(), &[2]),
        (0.into(), &[3, 0]),
        ((-1).into(), &[3, 1]),
        (1.into(), &[3, 2]),
        (64.into(), &[3, 0x80, 1]),
        (i64::MAX.into(), &[3, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        (i64::MIN.into(), &[3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        (1.0.into(), &[4, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
        (f64::NAN.into(), &[4, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F]),
        ("é".into(), &[5, 2, 0xC3, 0xA9]),
        (Value::Bytes(vec![9, 8]), &[6, 2, 9, 8]),
        (vec![Value::Null, true.into()].into(), &[7, 2, 0, 2]),
        (dict(&[("b", 1.into()), ("a", Value::Null)]), &[8, 2, 1, b'a', 0, 1, b'b', 3, 2]),
        (
            Reference::new("C").with_text("u", "x").with_bytes("b", [7]).with_factory("f").into(),
            &[9, 1, b'C', 2, 1, b'u', 5, 1, b'x', 1, b'b', 6, 1, 7, 5, 1, b'f'],
        ),
        (Reference::new("").into(), &[9, 0, 0, 0]),
        (LinkRef::new("./a").into(), &[10, 3, b'.', b'/', b'a']),
    ];
    for (value, bytes) in golden {
        assert_eq!(value.encode().unwrap(), *bytes, "{value:?}");
        assert_eq!(Value::decode(bytes).unwrap(), *value);
    }
}

#[test]
fn equal_exactly_where_the_bytes_are() {
    let payload_nan = f64::from_bits(0xFFF8_0000_0000_0001);
    let same: [(Value, Value); 2] = [
        (f64::NAN.into(), payload_nan.into()),
        (dict(&[("a", 1.into()), ("b", 2.into())]), dict(&[("b", 2.into()), ("a", 1.into())])),
    ];
    for (left, right) in same {
        assert_eq!(left, right);
        assert_eq!(left.encode().unwrap(), right.encode().unwrap());
    }
    let all: Vec<Value> = vec![
        Value::Null,
        false.into(),
        true.into(),
        0.into(),
        1.into(),
        0.0.into(),
        (-0.0).into(),
        1.0.into(),
        "".into(),
        "a".into(),
        Value::Bytes(vec![]),
        Value::Bytes(b"a".to_vec()),
        vec![].into(),
        dict(&[]),
        Reference::new("a").into(),
        Reference::new("a").with_text("k", "v").into(),
        Reference::new("a").with_bytes("k", "v").into(),
        Reference::new("a").with_factory("").into(),
        LinkRef::new("a").into(),
    ];
    for (i, left) in all.iter().enumerate() {
        for (j, right) in all.iter().enumerate() {
            assert_eq!(left == right, i == j, "{left:?} and {right:?}");
            assert_eq!(left.encode().unwrap() == right.encode().unwrap(), i == j, "{left:?} and {right:?}");
        }
    }
}

#[test]
fn depth_is_limited_and_told_with_its_place() {
    let deepest = nested(32);
    assert_eq!(Value::decode(&deepest.encode().unwrap()).unwrap(), deepest);
    let error = nested(33).encode().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.fields().message, format!("value{} is nested over 32 deep", "[0]".repeat(32)));
    let error = dict(&[("a", vec![1.into(), nested(31)].into())]).encode().unwrap_err();
    assert_eq!(error.fields().message, format!("value[\"a\"][1]{} is nested over 32 deep", "[0]".repeat(30)));
}

#[test]
fn size_is_limited_and_told_with_its_place() {
    // A tag, a length of three bytes, the text.
    let most = Value::from("x".repeat(Value::MAX_BYTES - 4));
    assert_eq!(most.encode().unwrap().len(), Value::MAX_BYTES);
    assert_eq!(Value::decode(&most.encode().unwrap()).unwrap(), most);
    let too_long = Value::from("x".repeat(Value::MAX_BYTES - 3));
    let error = too_long.encode().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(error.fields().message, "value is over 65536 bytes encoded");
    let long_key = "k".repeat(50);
    for (value, place) in [
        (dict(&[("a", vec![0.into(), 1.into(), 2.into(), too_long.clone()].into())]), "value[\"a\"][3]".to_owned()),
        (dict(&[("q\"q", too_long.clone())]), "value[\"q\\\"q\"]".to_owned()),
        (dict(&[(&long_key, too_long.clone())]), format!("value[\"{}\"…]", &long_key[..40])),
        (vec![Reference::new("C").with_bytes("b", vec![0; 70_000]).into()].into(), "value[0].addresses[0]".to_owned()),
        (Reference::new("C".repeat(70_000)).into(), "value.class_name".to_owned()),
        (Reference::new("C").with_factory("f".repeat(70_000)).into(), "value.factory".to_owned()),
    ] {
        let message = format!("value is over 65536 bytes encoded: the limit is passed at {place}");
        assert_eq!(value.encode().unwrap_err().fields().message, message);
    }
    assert!(Value::from("abc").encode_within(4).is_err());
    assert!(Value::from("abc").encode_within(5).is_ok());
}

#[test]
fn bytes_that_are_no_value_are_refused() {
    let cases: &[(&[u8], &str)] = &[
        (&[], "the end comes too early at byte 0 of 0"),
        (&[0, 0], "something follows the value at byte 1 of 2"),
        (&[11], "an unknown tag at byte 0 of 1"),
        (&[7, 2, 0, 0xEE], "an unknown tag at byte 3 of 4"),
        (&[3], "the end comes too early at byte 1 of 1"),
        (&[3, 0x80, 0], "a number in a longer form than needed at byte 3 of 3"),
        (&[3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], "a number beyond 64 bits at byte 11 of 11"),
        (&[3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], "a number beyond 64 bits at byte 11 of 12"),
        (&[4, 0, 0, 0, 0, 0, 0, 0], "the end comes too early at byte 1 of 8"),
        (&[4, 1, 0, 0, 0, 0, 0, 0xF8, 0x7F], "a NaN that is not the canonical one at byte 1 of 9"),
        (&[5, 2, b'a'], "more is announced than there is at byte 2 of 3"),
        (&[5, 1, 0xFF], "a text that is not UTF-8 at byte 3 of 3"),
        (&[7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], "more is announced than there is at byte 11 of 11"),
        (&[8, 2, 1, b'b', 0, 1, b'a', 0], "a key out of order at byte 7 of 8"),
        (&[8, 2, 1, b'a', 0, 1, b'a', 0], "a key out of order at byte 7 of 8"),
        (&[9, 0, 1, 0, 3, 0, 0], "a tag that has no place here at byte 4 of 7"),
        (&[9, 0, 0, 6, 0], "a tag that has no place here at byte 3 of 5"),
        (&[10, 1, 0xC0], "a text that is not UTF-8 at byte 3 of 3"),
    ];
    for (bytes, message) in cases {
        let error = Value::decode(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{bytes:?}");
        assert_eq!(error.fields().message, format!("the bytes are no value: {message}"), "{bytes:?}");
    }
    let mut bomb = [7, 1].repeat(40_000);
    bomb.push(0);
    assert_eq!(Value::decode(&bomb).unwrap_err().kind(), ErrorKind::InvalidValue);
    let error = Value::decode_within(&bomb, usize::MAX).unwrap_err();
    assert!(error.fields().message.contains("nesting over the limit at byte 65 "), "{error}");
}

#[test]
fn a_value_becomes_content_and_comes_back() {
    for (value, kind, class_name) in [
        (Value::Null, EntryKind::Value, "NoneType"),
        (true.into(), EntryKind::Value, "bool"),
        (1.into(), EntryKind::Value, "int"),
        (1.0.into(), EntryKind::Value, "float"),
        ("a".into(), EntryKind::Value, "str"),
        (Value::Bytes(vec![1]), EntryKind::Value, "bytes"),
        (vec![].into(), EntryKind::Value, "list"),
        (dict(&[]), EntryKind::Value, "dict"),
        (Reference::new("C").into(), EntryKind::Reference, "C"),
        (LinkRef::new("./a/b").into(), EntryKind::Link, "link"),
    ] {
        let bound = content(value.clone());
        assert_eq!((bound.kind, &*bound.class_name), (kind, class_name));
        assert_eq!(Value::from_content(&bound).unwrap(), value);
    }
    assert_eq!(content(LinkRef::new("a")), Content::link("a"));
}

#[test]
fn content_that_lies_about_itself_is_refused() {
    let refused = |bound: &Content| {
        let error = Value::from_content(bound).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        error.fields().message.clone()
    };
    assert_eq!(refused(&Content::context()), "a context has no value");
    let no_reference = Content { kind: EntryKind::Reference, ..content(1) };
    assert_eq!(refused(&no_reference), "bound as a reference, it is a int");
    refused(&Content { value: vec![0xFF].into(), ..Content::link("a") });
    refused(&Content { value: vec![0xFF].into(), ..content(1) });

    let weighing =
        |weight| Content { instance: Some(Box::new(InstanceDetail { weight, metadata: vec![0].into() })), ..content(1) };
    assert!(weighing(0.5).check().is_ok());
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(weighing(weight).check().unwrap_err().kind(), ErrorKind::InvalidValue, "{weight}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = || prop_oneof!["[a-c]{0,2}", any::<String>()];
    let address = (text(), prop_oneof![text().prop_map(Ok), any::<Vec<u8>>().prop_map(Err)]);
    let reference = (text(), prop::collection::vec(address, 0..3), prop::option::of(text()));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        text().prop_map(Value::Str),
        any::<Vec<u8>>().prop_map(Value::Bytes),
        text().prop_map(|target| Value::Link(LinkRef::new(target))),
        reference.prop_map(|(class_name, addresses, factory)| {
            let mut reference = Reference { factory, ..Reference::new(class_name) };
            for (kind, address) in addresses {
                reference = match address {
                    Ok(text) => reference.with_text(kind, text),
                    Err(bytes) => reference.with_bytes(kind, bytes),
                };
            }
            Value::Reference(reference)
        }),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(Value::Dict),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_comes_back(value in any_value()) {
        let bytes = value.encode().unwrap();
        prop_assert_eq!(Value::decode(&bytes).unwrap(), value);
    }

    #[test]
    fn two_values_are_equal_where_their_bytes_are(left in any_value(), right in any_value()) {
        prop_assert_eq!(left == right, left.encode().unwrap() == right.encode().unwrap());
    }

    /// Whatever is read has just these bytes: there is no second spelling.
    #[test]
    fn damaged_bytes_are_refused_or_canonical(
        value in any_value(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = value.encode().unwrap().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2) + 1);
        let text = Value::text_of(&bytes).map(str::to_owned);
        match Value::decode(&bytes) {
            Ok(value) => {
                prop_assert_eq!(value.encode().unwrap(), bytes);
                prop_assert_eq!(text.map(Value::Str), matches!(value, Value::Str(_)).then_some(value));
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidValue);
                prop_assert_eq!(text, None);
            }
        }
    }

    #[test]
    fn a_prefix_is_no_value(value in any_value(), cut in any::<prop::sample::Index>()) {
        let bytes = value.encode().unwrap();
        prop_assert!(Value::decode(&bytes[..cut.index(bytes.len())]).is_err());
    }
}

#[test]
fn keys_are_sorted_by_their_bytes() {
    let entries: BTreeMap<String, Value> = ["é", "z", "", "a\u{0}", "a"].map(|key| (key.to_owned(), Value::Null)).into();
    let bytes = Value::Dict(entries).encode().unwrap();
    assert_eq!(&bytes[..], b"\x08\x05\x00\x00\x01a\x00\x02a\x00\x00\x01z\x00\x02\xC3\xA9\x00");
}
