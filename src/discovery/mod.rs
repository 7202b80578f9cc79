//! Where the servers are to be found.
//!
//! A user names *sources*: addresses, host names, SRV records ([`provider_url`] for hanaming's own nodes, [`address`] for any
//! service), clusters whose nodes announce themselves ([`neighbourhood`]). What a source says and how it is asked stands in
//! [`source`]; when it is asked again in [`refresh`], what is remembered of it in [`inquiry`], both engines without a clock;
//! [`dns`] asks name servers, [`multicast`] the network. Lists are merged, and compared with what was there before, where
//! targets are kept: in the client's fleet.
//!
//! Programs that come from an older naming system bring their settings along: [`properties`] reads the text that these
//! stand in, and [`environment`] says what each of them means here.

pub mod address;
pub mod dns;
pub mod environment;
pub mod inquiry;
pub mod multicast;
pub mod neighbourhood;
pub mod properties;
pub mod provider_url;
pub mod refresh;
pub mod source;

pub use inquiry::Inquiry;
pub use neighbourhood::{Interface, Neighbourhood};
pub use refresh::{Hint, Pace, Refresh, RefreshMode};
pub use source::{Accepts, Answer, Family, Origin, Place, Question, Source};
