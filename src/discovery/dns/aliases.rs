//! Aliases (CNAME) that lead round in a circle.
//!
//! A name server that has such answers with the aliases and no address, which reads as "no such record" and sends people
//! looking for a record that is there. So where a name has no address of either family its aliases are followed, once.

use hickory_resolver::proto::rr::{Name, RData, RecordType};

use super::servers::NameServers;

/// A longer chain is no circle that a person made by mistake.
const MOST: usize = 8;

/// The aliases from `name` on, where they come back to one of themselves.
pub(super) async fn circle(servers: &NameServers, name: &Name) -> Option<String> {
    let mut chain: Vec<Name> = Vec::new();
    for _ in 0..MOST {
        // What was asked for first may have been found under a longer name.
        let records = servers.records(chain.last().unwrap_or(name), RecordType::CNAME).await.ok()?;
        let (of, alias) = records.iter().find_map(|record| match &record.data {
            RData::CNAME(alias) => Some((record.name.to_lowercase(), alias.0.to_lowercase())),
            _ => None,
        })?;
        if chain.is_empty() {
            chain.push(of);
        }
        let is_closed = chain.contains(&alias);
        chain.push(alias);
        if is_closed {
            let names: Vec<_> = chain.iter().map(|name| name.to_utf8().trim_end_matches('.').to_owned()).collect();
            return Some(names.join(" → "));
        }
    }
    None
}
