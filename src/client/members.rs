//! The members that servers told, for the clients that work beside a context's own: its watches, its leases.
//!
//! These have fleets of their own, which know no more than the providers until they have asked somebody. By then the
//! providers may be gone, and the context have lived on with members that it was told of.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::topology::{Endpoint, View};

/// The members that a context was told of last. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Members(Arc<ArcSwap<Vec<Endpoint>>>);

impl Members {
    /// A server told its view.
    pub(super) fn tell(&self, view: &View) {
        self.0.store(Arc::new(view.members().iter().map(|member| member.endpoint.clone()).collect()));
    }

    /// Where they are.
    pub(super) fn endpoints(&self) -> Arc<Vec<Endpoint>> {
        self.0.load_full()
    }
}
