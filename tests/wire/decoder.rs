//! What may come in from anybody: pieces of frames, lies about lengths, other protocols.

use bytes::BufMut;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{
    Decoder, Frame, FrameKind, HEADER_LEN, Header, Hello, Limits, Operation, Outcome, ProtocolError, Reply, Request, decode_body,
};
use proptest::prelude::*;

use super::fixtures::{bytes, done, hello, limits, lookup, reply_bytes, view, view_bytes, welcome_bytes};

fn header(length: u32, protocol: u8, kind: u8, flags: u16) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_u32_le(length);
    out.put_u8(protocol);
    out.put_u8(kind);
    out.put_u16_le(flags);
    out.put_u64_le(7);
    out
}

fn decoder(limit: usize) -> Decoder {
    Decoder::new(Limits { frame: limit })
}

/// A hello, three requests, a view and a reply, as one stream.
fn stream() -> Vec<u8> {
    let mut stream = bytes(|out| hello().encode(out, limits()).unwrap());
    for id in 1..=3 {
        stream.extend(bytes(|out| lookup("a/b/c").encode(out, id, limits()).unwrap()));
    }
    stream.extend(view_bytes(&view(&[1, 2])));
    stream.extend(reply_bytes(&done(), 3));
    stream
}

fn frames(pieces: impl IntoIterator<Item = Vec<u8>>) -> Vec<Frame> {
    let mut decoder = decoder(1 << 16);
    let mut frames = Vec::new();
    for piece in pieces {
        decoder.buffer().extend_from_slice(&piece);
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(frame);
        }
    }
    assert!(!decoder.is_mid_frame());
    frames
}

#[test]
fn a_byte_at_a_time() {
    let stream = stream();
    let at_once = frames([stream.clone()]);
    assert_eq!(at_once.len(), 6);
    assert_eq!(frames(stream.into_iter().map(|byte| vec![byte])), at_once);
}

#[test]
fn half_frames_are_waited_for_and_their_header_is_known() {
    let frame = reply_bytes(&done(), 7);
    for length in 0..frame.len() {
        let mut decoder = decoder(1 << 16);
        decoder.buffer().extend_from_slice(&frame[..length]);
        assert_eq!(decoder.next_frame(), Ok(None));
        assert_eq!(decoder.is_mid_frame(), length > 0);
        let pending = decoder.pending_header();
        assert_eq!(pending.is_some(), length >= HEADER_LEN);
        assert!(pending.is_none_or(|header| Outcome::from_flags(header.flags) == Outcome::Done && header.request_id == 7));
        decoder.buffer().extend_from_slice(&frame[length..]);
        assert!(decoder.next_frame().unwrap().is_some());
        assert_eq!(decoder.pending_header(), None);
    }
}

#[test]
fn a_length_of_four_gibibytes_is_refused_before_memory_is_taken() {
    let mut decoder = decoder(1 << 20);
    decoder.buffer().extend_from_slice(&header(u32::MAX, 1, 3, 1));
    let refused = Err(ProtocolError::TooLong { length: u32::MAX as usize, limit: 1 << 20 });
    assert_eq!(decoder.next_frame(), refused);
    assert!(decoder.buffer().capacity() < 1024, "{}", decoder.buffer().capacity());
    assert_eq!(decoder.next_frame(), refused, "and stays so");
}

#[test]
fn the_limit_is_exact() {
    for (length, fits) in [(100, true), (101, false)] {
        let bytes = header(length, 1, 3, 1);
        assert_eq!(Header::parse(bytes.first_chunk().unwrap(), Limits { frame: 100 }).is_ok(), fits);
    }
}

#[test]
fn other_versions_and_kinds_are_refused() {
    let parse = |bytes: Vec<u8>| Header::parse(bytes.first_chunk().unwrap(), Limits::default());
    assert_eq!(parse(header(0, 0, 3, 0)), Err(ProtocolError::Version(0)));
    assert_eq!(parse(header(0, 2, 3, 0)), Err(ProtocolError::Version(2)));
    for kind in [0, 8, 255] {
        assert_eq!(parse(header(0, 1, kind, 0)), Err(ProtocolError::Kind(kind)));
    }
    // Another protocol's version is told before its length, which means nothing.
    assert_eq!(parse(b"GET / HTTP/1.1\r\n".to_vec()), Err(ProtocolError::Version(b'/')));
}

#[test]
fn a_first_frame_that_is_no_hello_is_another_program() {
    for bytes in [welcome_bytes(), reply_bytes(&done(), 1), header(0, 1, 1, 0)] {
        assert_eq!(Hello::decode(&frames([bytes])[0]), Err(ProtocolError::NotHanaming));
    }
    let mut other_magic = hello();
    other_magic.magic ^= 1;
    let bytes = bytes(|out| other_magic.encode(out, limits()).unwrap());
    assert_eq!(Hello::decode(&frames([bytes])[0]), Err(ProtocolError::NotHanaming));
}

#[test]
fn an_operation_of_a_later_version_is_known_by_its_number_alone() {
    assert!(!Operation::is_known(0));
    assert!(!Operation::is_known(14));
    // Its body can't be read, its header can.
    let mut bytes = header(3, 1, 3, 14);
    bytes.extend([0xFF; 3]);
    let frame = &frames([bytes])[0];
    assert_eq!(frame.header.flags, 14);
    assert_eq!(decode_body::<Request>(FrameKind::Request, &frame.body), Err(ProtocolError::Body("request")));
}

#[test]
fn an_error_code_of_a_later_version_is_carried() {
    assert_eq!(Outcome::from_flags(999), Outcome::Failed(ErrorKind::Unknown(999)));
    assert_eq!(Outcome::from_flags(999).to_flags(), 999);
    // The upper bits are free for later use.
    assert_eq!(Outcome::from_flags(0xF003), Outcome::Failed(ErrorKind::NotContext));
}

#[test]
fn fields_of_a_later_version_at_the_end_are_not_minded() {
    let frame = reply_bytes(&done(), 1);
    let mut body = frame[HEADER_LEN..].to_vec();
    body.extend([1, 2, 3]);
    assert_eq!(Reply::decode(0, &body), Ok(done()));
    body.truncate(5);
    assert_eq!(Reply::decode(0, &body), Err(ProtocolError::Body("reply")));
}

proptest! {
    #[test]
    fn however_a_stream_is_cut_the_frames_are_the_same(cuts in proptest::collection::vec(0_usize..700, 0..12)) {
        let stream = stream();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < stream.len()).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| stream[pair[0]..pair[1]].to_vec());
        prop_assert_eq!(frames(pieces), frames([stream.clone()]));
    }

    #[test]
    fn random_bytes_never_panic_and_never_take_more_than_they_bring(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut decoder = decoder(1 << 16);
        decoder.buffer().extend_from_slice(&noise);
        while let Ok(Some(frame)) = decoder.next_frame() {
            let _ = Hello::decode(&frame);
            let _ = Reply::decode(frame.header.flags, &frame.body);
            let _ = decode_body::<Request>(FrameKind::Request, &frame.body);
        }
        prop_assert!(decoder.buffer().capacity() <= 4096);
    }

    #[test]
    fn a_mangled_frame_is_read_or_refused(position in 0_usize..2000, byte in any::<u8>()) {
        let mut frame = reply_bytes(&done(), 1);
        let position = HEADER_LEN + position % (frame.len() - HEADER_LEN);
        frame[position] = byte;
        let read = Reply::decode(0, &frame[HEADER_LEN..]);
        prop_assert!(matches!(read, Ok(_) | Err(ProtocolError::Body("reply"))));
    }
}
