//! How durations are spelt in messages.

use std::time::Duration;

/// `5.0 s`, `0.25 s`, `12 ms`: as people give them.
pub(super) fn seconds(duration: Duration) -> String {
    let text = format!("{:.3}", duration.as_secs_f64());
    let trimmed = text.trim_end_matches('0');
    let short = if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() };
    format!("{short} s")
}
