//! Values of properties: times and flags.

use std::time::Duration;

/// The sentence about a flag that is none.
pub const NO_FLAG: &str = "is neither true nor false, and has no effect";

/// `true` or `false`, in any case.
pub fn flag(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// So many units. The error is what to say instead.
pub fn time(text: &str, unit: Duration) -> Result<Duration, &'static str> {
    let text = text.trim();
    let digits = text.strip_suffix(['L', 'l']).unwrap_or(text);
    match digits.parse::<i64>() {
        Ok(..=0) => Err("means no limit; here every call has one, and the default holds"),
        Ok(count) => Ok(u32::try_from(count).map_or(Duration::MAX, |count| unit.saturating_mul(count))),
        Err(_) => Err("is no whole number, and has no effect"),
    }
}
