//! Many names and many answers in one piece: what they cost, and what damage does to them.

use bytes::Bytes;
use hanaming::naming::{Content, EntryKind, Seen, Version};
use hanaming::protocol::{
    Answer, FrameKind, ItemWriter, Items, ManyItem, Operation, ProtocolError, Reply, Request, Texts, decode_body,
};

use crate::fixtures::lookup;

const WRITE: Version = Version { actor: u128::MAX, sequence: 7 };

fn found(value: &'static [u8]) -> ManyItem {
    let content = Content { kind: EntryKind::Value, class_name: "str".into(), value: Bytes::from_static(value), instance: None };
    ManyItem::Found { content, version: Some(WRITE) }
}

fn items() -> Items {
    let absent = ManyItem::Absent { not_context: false, resolved: 300 };
    [found(b"one"), absent, found(b"")].into_iter().collect()
}

#[test]
fn texts_keep_their_order_and_their_borders() {
    let given = ["a/b", "", "ü", "", "c"];
    let texts: Texts = given.into_iter().collect();
    assert_eq!((texts.len(), texts.is_empty(), Texts::default().is_empty()), (5, false, true));
    assert_eq!(texts.iter().collect::<Vec<_>>(), given);
    assert_eq!((texts.get(2), texts.get(5)), ("ü", ""));
    let mut joined = Texts::with_capacity(1);
    joined.push_joined(["a", "/", "b"]);
    assert_eq!(joined.iter().collect::<Vec<_>>(), ["a/b"]);
}

#[test]
fn texts_are_a_sequence_of_strings_and_more_than_came_are_not_believed() {
    let names = ["a", "bc"];
    let body = postcard::to_allocvec(&names[..]).unwrap();
    assert_eq!(postcard::to_allocvec(&names.into_iter().collect::<Texts>()).unwrap(), body);
    let read = |body: &[u8]| decode_body::<Texts>(FrameKind::Request, body);
    assert_eq!(read(&body).unwrap().iter().collect::<Vec<_>>(), names);
    for hostile in [&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, b'a'][..], &[1, 2, 0xC3, b'a'], &[2, 1, b'a', 200, b'b'], &[]] {
        assert_eq!(read(hostile), Err(ProtocolError::Body("request")), "{hostile:?}");
    }
    let request = Request { operation: Operation::LookupMany { names: names.into_iter().collect() }, ..lookup("") };
    let body = postcard::to_allocvec(&request).unwrap();
    assert_eq!(decode_body(FrameKind::Request, &body), Ok(request));
}

#[test]
fn an_item_is_read_where_it_lies() {
    let items = items();
    let read: Vec<ManyItem<Seen>> = items.iter().collect::<Result<_, _>>().unwrap();
    let [
        ManyItem::Found { content: one, version: Some(WRITE) },
        ManyItem::Absent { not_context: false, resolved: 300 },
        ManyItem::Found { content: empty, .. },
    ] = &read[..]
    else {
        panic!("{read:?}")
    };
    assert_eq!((one.class_name, one.value), ("str", &b"one"[..]));
    let range = items.range_of(one.value);
    assert_eq!(&items.as_bytes()[range], b"one");
    assert!(items.range_of(empty.value).is_empty());
    assert_eq!(items.to_vec().unwrap()[0], found(b"one"));
    assert!(!items.is_empty() && Items::default().is_empty());
}

#[test]
fn what_does_not_fit_is_not_there() {
    let item = found(b"one");
    let one: Items = [item.clone()].into_iter().collect();
    let length = one.as_bytes().len();
    let mut writer = ItemWriter::default();
    assert!(writer.is_empty() && !writer.push_within(&item, length - 1) && writer.is_empty());
    assert!(writer.push_within(&item, length) && !writer.push_within(&item, length + 1));
    assert_eq!(writer.len(), 1);
    assert_eq!(writer.finish(), one);
}

#[test]
fn damage_is_found_where_it_is_and_nothing_is_read_behind_it() {
    let whole = postcard::to_allocvec(&Answer::Many(items())).unwrap();
    let start = whole.len() - items().as_bytes().len();
    for cut in start + 1..whole.len() {
        let mut body = whole[..cut].to_vec();
        assert!(Reply::decode(0, &body).is_err(), "the length is longer than what came");
        body[start - 1] = u8::try_from(cut - start).unwrap();
        let Ok(Reply::Done(Answer::Many(read))) = Reply::decode(0, &body) else { panic!("{cut}") };
        let results: Vec<_> = read.iter::<Content>().collect();
        let sound = results.iter().filter(|result| result.is_ok()).count();
        assert!(results.iter().take(sound).all(Result::is_ok), "only the last is damaged");
        assert_eq!(read.to_vec().is_err(), sound < results.len());
    }
    let mut body = whole.clone();
    body[start] = 99;
    let Ok(Reply::Done(Answer::Many(read))) = Reply::decode(0, &body) else { panic!("not read") };
    assert_eq!(read.to_vec(), Err(ProtocolError::Body("reply")));
    assert_eq!(read.iter::<Seen>().count(), 1);
}

#[test]
fn an_actor_has_sixteen_bytes() {
    let version = Version { actor: 1 << 127 | 5, sequence: 300 };
    let mut body = postcard::to_allocvec(&version).unwrap();
    assert_eq!(body.len(), 1 + 16 + 2);
    assert_eq!(postcard::from_bytes::<Version>(&body), Ok(version));
    body[0] = 15;
    assert!(postcard::from_bytes::<Version>(&body).is_err());
}
