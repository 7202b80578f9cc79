//! The engine's clock.

use std::sync::Weak;
use std::time::Duration;

use crate::cluster::membership::Input;

use super::Inner;

/// Ticks until the members are gone.
pub(super) async fn run(members: Weak<Inner>, every: Duration) {
    while let Some(members) = members.upgrade() {
        members.step(Input::Tick);
        drop(members);
        tokio::time::sleep(every).await;
    }
}
