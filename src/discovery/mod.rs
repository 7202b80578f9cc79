//! Where the servers are to be found.
//!
//! For now that is a fixed list, as a [provider URL](provider_url) spells it, or single [addresses](address) of any
//! service; DNS and multicast will be further sources beside it, each a stream of changes. Programs that come from an
//! older naming system bring their settings along: [`properties`] reads the text that these stand in, and
//! [`environment`] says what each of them means here.

pub mod address;
pub mod environment;
pub mod properties;
pub mod provider_url;
