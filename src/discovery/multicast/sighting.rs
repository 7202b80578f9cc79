//! What an instance says of itself, and what of that can be used.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use crate::topology::Endpoint;

/// So many addresses of one instance are taken; the least, so that which these are does not depend on their order.
const MOST_ADDRESSES: usize = 4;

/// An instance of the service, as its records tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its full name; letters' case means nothing in it.
    pub instance: String,
    /// The cluster that it says it is of.
    pub cluster: Option<String>,
    /// Its port.
    pub port: u16,
    /// Its addresses.
    pub addresses: Vec<Heard>,
}

/// An address, and where it was heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The address.
    pub address: IpAddr,
    /// Heard of within this machine, by its loopback interface.
    pub is_within: bool,
}

impl Sighting {
    /// Where it is to be reached, for those who look for this cluster. Nothing where it is of another cluster, or says
    /// nothing that could be used: an address that nobody can connect to, or one of the machine's own that came from
    /// without, which would have a client turn to whatever listens beside it.
    pub(super) fn endpoints(&self, cluster: &str) -> BTreeSet<Endpoint> {
        if self.cluster.as_deref() != Some(cluster) || self.port == 0 {
            return BTreeSet::new();
        }
        let usable: BTreeSet<IpAddr> = self.addresses.iter().filter(|heard| heard.is_usable()).map(|h| h.address).collect();
        let endpoint = |address| Endpoint::from(SocketAddr::new(address, self.port));
        usable.into_iter().take(MOST_ADDRESSES).map(endpoint).collect()
    }
}

impl Heard {
    fn is_usable(self) -> bool {
        let address = self.address.to_canonical();
        let is_link_local = match address {
            // Without its interface such an address leads nowhere.
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
            IpAddr::V4(_) => false,
        };
        let is_own = address.is_loopback() && !self.is_within;
        !(address.is_unspecified() || address.is_multicast() || is_link_local || is_own)
    }
}
