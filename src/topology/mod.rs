//! Who is in the cluster: nodes, where they are reached, and views of them. Plain values, no I/O.

mod endpoint;
mod node;
mod owner;
mod view;

pub use endpoint::{DEFAULT_PORT, Endpoint, EndpointError};
pub use node::{ClusterId, Member, MemberState, NodeId};
pub use owner::owner;
pub use view::{View, ViewDiff};
