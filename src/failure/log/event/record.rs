//! Where another record of a log begins.
//!
//! Two failures of one program stand in two records, however little lies between them; joining them would read the
//! completion of one call into another. So an event ends with its record. But some loggers write each line of one
//! stack trace as a record of its own: those have the same prefix, with the same time or one that ticked on.

use crate::failure::log::line::Line;

/// What a line's record is to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same: the line has no prefix of a record, or the very same one with its time.
    Same,
    /// One that the same source wrote soon after, or, where there are no times, perhaps at any time.
    Next,
    /// Another one.
    Other,
}

/// A trace that is written line by line is written within this time.
const SOON: u64 = 2_000;
const DAY: u64 = 86_400_000;

/// What `line` is to the last line before that began a record.
pub fn relation(before: Option<&Line>, line: &Line) -> Relation {
    if !line.is_record {
        return Relation::Same;
    }
    let Some(before) = before else { return Relation::Other };
    if line.time.is_some() && line.time == before.time && alike(&before.prefix, &line.prefix) {
        return Relation::Same;
    }
    // Nothing but a level, which tells no records apart.
    if line.time.is_none() && before.time.is_none() && alike(&before.prefix, &line.prefix) {
        return Relation::Same;
    }
    let letters = |line: &Line| line.prefix.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    if alike(&letters(before), &letters(line)) && soon(before, line) { Relation::Next } else { Relation::Other }
}

/// A bracket at the start of a message passes for a part of the prefix: one may be longer.
fn alike(a: &str, b: &str) -> bool {
    a.trim_end().starts_with(b.trim_end()) || b.trim_end().starts_with(a.trim_end())
}

/// Whether the times are near each other, as far as both can be read.
pub fn soon(before: &Line, line: &Line) -> bool {
    let clock = |line: &Line| line.time.as_deref().and_then(clock);
    match (clock(before), clock(line)) {
        (Some(before), Some(after)) => {
            let apart = before.abs_diff(after);
            apart.min(DAY - apart.min(DAY)) <= SOON
        }
        _ => before.time.is_some() == line.time.is_some(),
    }
}

/// The milliseconds of the day in a written time: `10:16:51`, `10:16:51,123`, `10:16:51:123`, and all of these behind a
/// date.
fn clock(time: &str) -> Option<u64> {
    let colon = time.find(':')?;
    let hours = time[..colon].rsplit(|c: char| !c.is_ascii_digit()).next()?;
    let mut parts = time[colon + 1..].split(|c: char| !c.is_ascii_digit());
    let mut number = |most: usize| parts.next().filter(|part| (1..=most).contains(&part.len()));
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, number(2)?.parse().ok()?);
    let seconds: u64 = number(2).map_or(Some(0), |part| part.parse().ok())?;
    let fraction = number(9).unwrap_or_default();
    let millis = format!("{fraction:0<3}").get(..3)?.parse::<u64>().ok()?;
    (hours < 24 && minutes < 60 && seconds < 61).then_some(((hours * 60 + minutes) * 60 + seconds) * 1000 + millis)
}
