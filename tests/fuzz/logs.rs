//! Logs from any bytes, and from sound failures, damaged and cut anywhere.

use hanaming::failure::{LogReader, classify_text};

use crate::seeds::{Choice, damaged};

fn sound() -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string("tests/failure/cases/handed.jsonl").unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    cases.filter_map(|case| Some(case["input"].as_str()?.as_bytes().to_vec())).collect()
}

fn read(bytes: &[u8], cut: usize) -> Vec<hanaming::failure::Event> {
    let (first, second) = bytes.split_at(cut.min(bytes.len()));
    let mut reader = LogReader::new();
    let mut events = reader.feed(first);
    events.extend(reader.feed(second));
    events.extend(reader.finish());
    events
}

#[test]
fn any_bytes_are_read_to_their_end() {
    bolero::check!().with_iterations(2000).for_each(|bytes: &[u8]| {
        let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
        for event in read(bytes, bytes.len() / 2) {
            assert!(event.line >= 1 && event.line <= event.last_line && event.last_line <= lines);
        }
        let _ = classify_text(bytes);
    });
}

#[test]
fn a_damaged_failure_is_read_alike_however_it_is_cut() {
    let sound = sound();
    bolero::check!().with_iterations(400).with_type::<(Choice, u16)>().for_each(|(choice, cut)| {
        let bytes = damaged(&sound, choice);
        assert_eq!(read(&bytes, usize::from(*cut) % (bytes.len() + 1)), read(&bytes, bytes.len()));
    });
}

/// Of the few words that mean something to the reader.
#[test]
fn any_row_of_its_words_is_read() {
    const WORDS: &[&str] = &[
        "org.omg.CORBA.TRANSIENT",
        ":",
        "vmcid",
        "minor code",
        "completed",
        "Caused by:",
        "Suppressed:",
        "\n",
        "\tat a.B.c(B.java:1)",
        "[#|",
        "|#]",
        "(",
        ")",
        "nested exception is",
        "0x4",
        "No",
        "Traceback (most recent call last):\n",
        "  File \"a\", line 1, in b\n",
        "StatusCode.",
        "UNAVAILABLE",
        "é",
        "\\t",
        "'IDL:omg.org/CORBA/",
        "at ",
        "...",
        "{\"stack_trace\":\"",
        "\\n",
        "\",\"error\":",
        "\"}",
        "terminate called after throwing an instance of '",
        "  what():",
        "com.acme.Odd: x\n",
        "During handling of the above exception, another exception occurred:\n",
        "dial tcp",
        "- ",
    ];
    bolero::check!().with_iterations(500).with_type::<Vec<u8>>().for_each(|choices| {
        let text: String = choices.iter().flat_map(|choice| [WORDS[usize::from(*choice) % WORDS.len()], " "]).collect();
        assert_eq!(read(text.as_bytes(), text.len() / 3), read(text.as_bytes(), 0));
    });
}
