//! How long who follows a log waits before it asks again, where all servers fail: longer each time.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// The next wait.
#[derive(Debug)]
pub struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Pause {
    /// How long to wait now.
    pub fn take(&mut self) -> Duration {
        let longer = (2 * self.0).min(LONGEST);
        std::mem::replace(&mut self.0, longer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_to_its_limit() {
        let mut pause = Pause::default();
        let waits: Vec<u128> = (0..7).map(|_| pause.take().as_millis()).collect();
        assert_eq!(waits, [50, 100, 200, 400, 800, 1000, 1000]);
    }
}
