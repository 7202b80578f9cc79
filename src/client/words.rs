//! How durations are spelt in messages.

use std::time::Duration;

/// `5.0 s`, `0.25 s`, `0.012 s`, `40 µs`: as people give them; what is measured is rounded to what they would give.
pub(super) fn seconds(duration: Duration) -> String {
    if duration < Duration::from_millis(1) {
        return format!("{} µs", duration.as_nanos().div_ceil(1000));
    }
    let digits = if duration < Duration::from_millis(100) { 3 } else { 2 };
    let text = format!("{:.digits$}", duration.as_secs_f64());
    let trimmed = text.trim_end_matches('0');
    let short = if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() };
    format!("{short} s")
}
