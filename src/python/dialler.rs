//! Who dials: what `hanaming.testing` must know of a connection to part nodes from each other and leave clients alone.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::protocol::{Frame, HEADER_LEN, Header, Hello, Limits, Role};

use super::error::entered;

/// The name of the node that opened a connection, by the first bytes that came over it: `""` for anybody else, a client
/// or another program, and `None` while more must come before it is known.
#[pyfunction]
pub fn dialler(first: &Bound<'_, PyBytes>) -> PyResult<Option<String>> {
    entered(|| Ok(named(first.as_bytes())))
}

fn named(first: &[u8]) -> Option<String> {
    let (header, rest) = first.split_first_chunk::<HEADER_LEN>()?;
    let Ok(header) = Header::parse(header, Limits::default()) else { return Some(String::new()) };
    let body = rest.get(..header.length)?;
    let hello = Hello::decode(&Frame { header, body: body.to_vec().into() });
    Some(match hello.map(|hello| hello.role) {
        Ok(Role::Peer { introduction, .. }) => introduction.member.name,
        Ok(Role::Client { .. }) | Err(_) => String::new(),
    })
}
