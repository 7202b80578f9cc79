//! What a log puts before each line: times, levels, threads, tags of processes and containers.
//!
//! A prefix is taken away piece by piece, each piece by its shape. One blank after the last piece goes with it; the
//! blanks behind that are the line's own indentation, which says what belongs to what in a stack trace.

/// A line without its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripped<'a> {
    /// What is left.
    pub content: &'a str,
    /// The time in the prefix, as it is written.
    pub time: Option<&'a str>,
    /// The prefix has a time or a level: a record of the log begins here.
    pub is_record: bool,
    /// The level says that this is no failure: debug, information, a notice.
    pub is_notice: bool,
}

const LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "SEVERE", "FATAL", "CRITICAL", "CONFIG", "FINE", "FINER",
    "FINEST", "ALERT", "EMERG", "ERR", "STDERR", "STDOUT",
];
const NOTICES: &[&str] = &["TRACE", "DEBUG", "INFO", "NOTICE", "CONFIG", "FINE", "FINER", "FINEST"];
/// Whether a level says that it is no failure.
pub fn is_notice(level: &str) -> bool {
    NOTICES.iter().any(|notice| notice.eq_ignore_ascii_case(level))
}

const MOST_PIECES: usize = 12;

/// The line without its prefix.
pub fn strip(line: &str) -> Stripped<'_> {
    let mut found = Stripped { content: line, time: None, is_record: false, is_notice: false };
    for _ in 0..MOST_PIECES {
        let blanks = found.content.len() - found.content.trim_start_matches([' ', '\t']).len();
        let rest = &found.content[blanks..];
        // Ant indents its tags, and Python the members of a group.
        let begun = found.content.len() < line.len() || blanks == 0 || rest.starts_with("| ");
        let Some(piece) = piece(rest, !found.is_record).filter(|_| begun || one_word_tag(rest)) else { break };
        match piece.kind {
            Kind::Time => found.time = found.time.or(Some(time_in(&rest[..piece.length]))),
            Kind::Level(level) => found.is_notice = NOTICES.contains(&level),
            Kind::Glog(level) => {
                found.time = rest
                    .get(1..)
                    .and_then(|time| time.split_once(' '))
                    .map(|(day, time)| &rest[1..=day.len() + 1 + time.find(' ').unwrap_or(0)]);
                found.is_notice = NOTICES.contains(&level);
            }
            Kind::Tag => {}
        }
        found.is_record |= !matches!(piece.kind, Kind::Tag);
        let rest = &rest[piece.length..];
        found.content = rest.strip_prefix([' ', '\t']).unwrap_or(rest);
        // `ERROR - message`, `[main] | message`
        let dashes: &[&str] = if found.is_record { &["- ", "| ", ": "] } else { &["| ", ": "] };
        found.content = dashes.iter().find_map(|dash| found.content.strip_prefix(dash)).unwrap_or(found.content);
    }
    found
}

enum Kind<'a> {
    Time,
    Level(&'a str),
    /// Level and time in one.
    Glog(&'a str),
    Tag,
}

struct Piece<'a> {
    length: usize,
    kind: Kind<'a>,
}

/// A time without what surrounds it: `[…]`, `time="…"`.
fn time_in(piece: &str) -> &str {
    let value = piece.split_once('=').map_or(piece, |(_, value)| value);
    value.trim_matches(['[', ']', ' ', '"'])
}

/// `[java]`.
fn one_word_tag(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or_default();
    !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// The piece of a prefix that `text` begins with.
fn piece(text: &str, is_no_record: bool) -> Option<Piece<'_>> {
    bracketed(text).or_else(|| time(text)).or_else(|| level(text, is_no_record)).or_else(|| pair(text)).or_else(|| tag(text))
}

/// `[java]`, `[2021-05-29T04:05:01.867Z]`, `(main)`, and `GlassFish`'s `[#|…|…|` up to its message.
fn bracketed(text: &str) -> Option<Piece<'_>> {
    if let Some(fields) = text.strip_prefix("[#|") {
        let bars: Vec<usize> = fields.match_indices('|').map(|(at, _)| at).take(5).collect();
        let time = bars.first().map_or("", |at| &fields[..*at]);
        let end = bars.get(4).map_or(text.len(), |at| 3 + at + 1);
        let level = fields.get(time.len() + 1..).and_then(|rest| rest.split('|').next()).unwrap_or_default();
        return Some(Piece { length: end, kind: level_kind(level) });
    }
    let close = match text.as_bytes().first()? {
        b'[' => ']',
        b'(' => ')',
        _ => return None,
    };
    let end = text.find(close).filter(|end| *end < 80)?;
    let inside = &text[1..end];
    let says_more = [
        "xception",
        "Error",
        "rror:",
        "internal classes",
        "deleted",
        "omitted",
        "Security:",
        "TRANSIENT",
        "COMM_FAILURE",
        "TIMEOUT",
        "CORBA",
        "vmcid",
        "minor",
        "completed",
        "Errno",
        // `(Read failed)` at the start of a wrapped line.
        "ailed",
        "refused",
        "timed out",
        "reset",
    ]
    .iter()
    .any(|word| inside.contains(word));
    // A CORBA code that a wrap put at the start of its line.
    let is_code = close == ')' && (inside.starts_with("0x") || (inside.len() > 8 && inside.bytes().all(|b| b.is_ascii_digit())));
    if inside.is_empty() || says_more || is_code || inside.contains('\'') {
        return None;
    }
    // Node's links to further exceptions.
    if inside == "cause" || inside == "errors" {
        return None;
    }
    let kind = if time(inside).is_some() { Kind::Time } else { level_kind(inside) };
    Some(Piece { length: end + 1, kind })
}

fn level_kind(word: &str) -> Kind<'_> {
    let word = word.trim();
    LEVELS.iter().find(|level| level.eq_ignore_ascii_case(word)).map_or(Kind::Tag, |level| Kind::Level(level))
}

/// A level, with the colon that may follow it. Only capitals: `Error` begins too many messages.
/// `PostgreSQL` begins what it answers with `FATAL: `: where nothing else shows a record, the line is the rest of a message.
fn level(text: &str, is_no_record: bool) -> Option<Piece<'_>> {
    let length = text.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(text.len());
    let level = LEVELS.iter().find(|level| **level == &text[..length])?;
    if is_no_record && text[length..].starts_with(": ") && *level == "FATAL" {
        return None;
    }
    let rest = &text[length..];
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let colon = usize::from(rest[blanks..].starts_with(':') && !rest[blanks..].starts_with("::"));
    let ended = colon == 1 || rest.is_empty() || rest.starts_with([' ', '\t', '|']);
    ended.then_some(Piece { length: length + if colon == 1 { blanks + 1 } else { 0 }, kind: Kind::Level(level) })
}

/// A time: a row of digits and their separators with two colons or two dashes in it, months by name, what glog and
/// syslog write.
fn time(text: &str) -> Option<Piece<'_>> {
    let bytes = text.as_bytes();
    // glog: E0307 05:10:36.624904979    4386 file.cc:1378]
    if bytes.len() > 14 && b"EWIF".contains(&bytes[0]) && bytes[1..5].iter().all(u8::is_ascii_digit) && bytes[5] == b' ' {
        let end = text.find(']').filter(|end| *end < 120)?;
        let level = if bytes[0] == b'I' { "INFO" } else { "ERROR" };
        return Some(Piece { length: end + 1, kind: Kind::Glog(level) });
    }
    let start = month(text).unwrap_or(0);
    let is_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ',' | '-' | '/' | '+' | 'T' | 'Z');
    let mut end = start;
    let mut digits = 0;
    let mut separators = 0;
    for (at, c) in text[start..].char_indices().take(40) {
        let place = start + at;
        // A blank joins a date and a time: what follows must be digits again.
        let joins = c == ' ' && digits > 0 && bytes.get(place + 1).is_some_and(u8::is_ascii_digit) && separators < 4;
        if !is_time(c) && !joins {
            break;
        }
        digits += usize::from(c.is_ascii_digit());
        separators += usize::from(matches!(c, ':' | '-' | '/'));
        end = place + c.len_utf8();
    }
    if digits < 4 || (separators < 2 && !(start > 0 && separators > 0)) {
        return None;
    }
    let rest = &text[end..];
    let zone: usize = [" AM", " PM", " UTC", " MST", " EDT", " EST", " CET", " CEST", " GMT", " PDT", " PST"]
        .iter()
        .find(|zone| rest.starts_with(**zone))
        .map_or(0, |zone| zone.len());
    let ended =
        text[end + zone..].is_empty() || text[end + zone..].starts_with([' ', '\t', ']', '|', ':']) || text[..end].ends_with(':');
    ended.then_some(Piece { length: end + zone, kind: Kind::Time })
}

/// `Nov 30 `, `Mon Nov 30 `, `Mar 23, 2012 `: the length of what stands before the digits of a time.
fn month(text: &str) -> Option<usize> {
    const MONTHS: &[&str] = &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let day = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "]
        .iter()
        .find(|day| text.starts_with(**day))
        .map_or(0, |day| day.len());
    let after = &text[day..];
    MONTHS.iter().find(|month| after.starts_with(**month))?;
    let rest = after.get(3..)?.strip_prefix(' ')?;
    rest.starts_with(|c: char| c.is_ascii_digit() || c == ' ').then(|| day + 4 + (rest.len() - rest.trim_start().len()))
}

/// logfmt's `time="2026-11-30T10:16:51Z"` and `level=error`.
fn pair(text: &str) -> Option<Piece<'_>> {
    let word = text.split([' ', '\t']).next()?;
    let (key, value) = word.split_once('=')?;
    let kind = match key {
        "time" | "ts" | "timestamp" => time(value.trim_matches('"')).map(|_| Kind::Time)?,
        "level" | "lvl" | "severity" => match level_kind(value.trim_matches('"')) {
            level @ Kind::Level(_) => level,
            _ => return None,
        },
        _ => return None,
    };
    Some(Piece { length: word.len(), kind })
}

/// syslog's priority, and its version: `<11>`, `<11>1`.
fn priority(text: &str) -> Option<usize> {
    let (digits, rest) = text.strip_prefix('<')?.split_once('>')?;
    let is_number = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.len() + 2 + usize::from(rest.starts_with("1 ")))
}

/// `app[123]: `, `web_1  | `, `> `, `0000002b SystemErr     R `.
fn tag(text: &str) -> Option<Piece<'_>> {
    let tagged = |length| Some(Piece { length, kind: Kind::Tag });
    // Containers' output as the kubelet writes it: whole lines and parts of them.
    if ["stdout F ", "stderr F ", "stdout P ", "stderr P "].iter().any(|stream| text.starts_with(stream)) {
        return tagged(8);
    }
    if text.starts_with("> ") || text.starts_with("| ") {
        return tagged(1);
    }
    // pytest's, and a build server's.
    if let Some(mark) = ["E   ", "##[error]"].into_iter().find(|mark| text.starts_with(mark)) {
        return tagged(mark.trim_end().len());
    }
    if let Some(length) = priority(text) {
        return tagged(length);
    }
    let word = text.split([' ', '\t']).next().unwrap_or_default();
    let after = &text[word.len()..];
    let spaces = after.len() - after.trim_start_matches(' ').len();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    if spaces > 0 && after[spaces..].starts_with("| ") && is_name(word) {
        return tagged(word.len() + spaces + 1);
    }
    if let Some((name, pid)) = word.strip_suffix("]:").and_then(|word| word.split_once('['))
        && is_name(name)
        && pid.bytes().all(|b| b.is_ascii_digit())
    {
        return tagged(word.len());
    }
    // A logger's name.
    let is_class = word.contains("xception") || word.contains("Error");
    if word.contains('.') && is_name(word) && !is_class && after[spaces..].starts_with("- ") {
        return tagged(word.len());
    }
    // syslog: host and process.
    let process = after[spaces..].split(' ').next().unwrap_or_default();
    if spaces == 1
        && is_name(word)
        && process.ends_with("]:")
        && process.contains('[')
        && is_name(&process[..process.find('[').unwrap_or(0)])
    {
        return tagged(word.len() + 1 + process.len());
    }
    // WebSphere: thread, component, kind of entry.
    if word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit()) && spaces > 0 {
        let component = after[spaces..].split(' ').next().unwrap_or_default();
        let rest = &after[spaces + component.len()..];
        let letter = rest.trim_start_matches(' ');
        if letter.starts_with(|c: char| c.is_ascii_uppercase()) && letter.as_bytes().get(1) == Some(&b' ') {
            return tagged(text.len() - letter.len() + 1);
        }
    }
    None
}
