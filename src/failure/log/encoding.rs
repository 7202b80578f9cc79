//! The encoding of a log, and how its lines end: UTF-16 becomes UTF-8, and lines that end with CR alone end with LF.
//!
//! Both are told by the first bytes. Nothing is decided before enough of them came, so that it does not matter in which
//! pieces they come. All else goes on as it is: what is not UTF-8 is replaced line by line.

/// So many bytes tell UTF-16 from anything else.
const ENOUGH_FOR_WIDE: usize = 64;
/// Where no LF is among so many bytes, lines end with CR.
const ENOUGH_FOR_ENDS: usize = 4096;

/// What the bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// What came does not tell yet.
    #[default]
    Unknown,
    /// One byte or more for a character; lines end with LF.
    Plain,
    /// The same; lines end with CR.
    Returns,
    /// Two bytes for a character or half of one, the low one first or last.
    Wide { low_first: bool },
}

/// Turns a log's bytes into what the reader reads.
#[derive(Debug, Default)]
pub struct Decoder {
    form: Form,
    /// What was not decoded yet: all, while the form is unknown, or a part of a character.
    kept: Vec<u8>,
}

/// A whole text, decoded.
pub fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    Decoder::default().decode(text, true, &mut out);
    out
}

impl Decoder {
    /// Decodes what came onto `out`, as far as it is known what it is; `all` says that nothing more will come.
    pub fn decode(&mut self, bytes: &[u8], all: bool, out: &mut Vec<u8>) {
        if self.form == Form::Plain {
            out.extend_from_slice(bytes);
            return;
        }
        self.kept.extend_from_slice(bytes);
        if self.form == Form::Unknown {
            self.form = form(&self.kept, all);
        }
        match self.form {
            Form::Unknown => {}
            Form::Plain => out.append(&mut self.kept),
            Form::Returns => out.extend(self.kept.drain(..).map(|byte| if byte == b'\r' { b'\n' } else { byte })),
            Form::Wide { low_first } => self.decode_wide(low_first, all, out),
        }
    }

    /// How many bytes are kept.
    pub fn held(&self) -> usize {
        self.kept.len()
    }

    fn decode_wide(&mut self, low_first: bool, all: bool, out: &mut Vec<u8>) {
        let unit = |pair: [u8; 2]| if low_first { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
        let mut units: Vec<u16> = self.kept.as_chunks().0.iter().copied().map(unit).collect();
        // Half of a character waits for the other half.
        if !all && units.last().is_some_and(|last| (0xD800..0xDC00).contains(last)) {
            units.pop();
        }
        self.kept.drain(..units.len() * 2);
        for c in char::decode_utf16(units) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            if c != '\u{feff}' {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// What the first bytes of a log say that it is.
fn form(bytes: &[u8], all: bool) -> Form {
    let first = &bytes[..bytes.len().min(ENOUGH_FOR_WIDE)];
    if first.len() < ENOUGH_FOR_WIDE && !all {
        return Form::Unknown;
    }
    if let Some(low_first) = wide(first) {
        return Form::Wide { low_first };
    }
    let first = &bytes[..bytes.len().min(ENOUGH_FOR_ENDS)];
    let is_enough = first.len() == ENOUGH_FOR_ENDS || all;
    match first.split_last() {
        _ if first.contains(&b'\n') => Form::Plain,
        _ if !is_enough => Form::Unknown,
        // Behind the last one its LF may still come.
        Some((last, before)) if before.contains(&b'\r') || (all && *last == b'\r') => Form::Returns,
        _ => Form::Plain,
    }
}

/// Whether bytes are UTF-16, by its mark or by the zeros in what logs are made of: whether the low byte comes first.
fn wide(bytes: &[u8]) -> Option<bool> {
    let zeros = |from: usize| bytes.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let is_most = |zeros: usize| zeros > 1 && zeros * 10 >= bytes.len() / 2 * 8;
    match (bytes, zeros(0), zeros(1)) {
        // Text in another encoding may begin with these two bytes.
        ([0xFF, 0xFE, ..], _, 1..) => Some(true),
        ([0xFE, 0xFF, ..], 1.., _) => Some(false),
        (_, 0, high) if is_most(high) => Some(true),
        (_, high, 0) if is_most(high) => Some(false),
        _ => None,
    }
}
