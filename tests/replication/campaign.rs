//! How long a test goes on.

/// So many rounds as a rule, and so many where `HANAMING_CAMPAIGNS=long` says that there is time (`make campaigns`).
pub fn rounds(usual: usize, long: usize) -> usize {
    if std::env::var("HANAMING_CAMPAIGNS").is_ok_and(|length| length == "long") { long } else { usual }
}
