//! What makes nodes one cluster: engines without I/O.
//!
//! [`membership`] decides who is in the cluster. The drivers around the engines stand in the server.

pub mod membership;
