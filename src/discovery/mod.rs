//! Where the servers are to be found.
//!
//! For now that is a fixed list, as a provider URL spells it; see [`provider_url`]. DNS and multicast will be further
//! sources beside it, each a stream of changes.

pub mod provider_url;
