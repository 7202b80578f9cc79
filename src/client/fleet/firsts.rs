//! The first choice among servers that DNS gives priorities and weights.
//!
//! SRV records name hosts, which are resolved one by one. Whoever calls as soon as the first of them is known gives all first
//! calls to the name that is resolved first, whatever it weighs and whatever its priority is (RFC 2782): over many short-lived
//! processes that is all the load. So the first choice waits a moment for the other names, and never again.

use std::time::Duration;

use super::Fleet;

/// How long the other names are waited for once a server is known: the resolution delay that RFC 8305 advises. Name servers
/// answer sooner, or not soon.
const OTHER_NAMES: Duration = Duration::from_millis(50);

impl Fleet {
    /// Until when nobody is to be chosen yet, though somebody could be.
    pub(super) fn chooses_at(&mut self, now: Duration) -> Option<Duration> {
        if self.rotation.is_empty() {
            return None;
        }
        let at = self.chooses_at.unwrap_or(now + OTHER_NAMES);
        let waits = at > now && self.sources.lacks_first_services();
        self.chooses_at = Some(if waits { at } else { at.min(now) });
        waits.then_some(at)
    }
}
