//! Whose data it is: the node, its cluster, and the members it knew.
//!
//! Kept as a file of its own, which people can read, and which is whole when the database is not.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::naming::NamingError;
use crate::topology::{ClusterId, Endpoint, NodeId};

use super::{place, unusable, wrong};

/// The layout of the folder. Another one is refused.
const FORMAT: i64 = 1;

/// Whose folder it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The node's name.
    pub node: String,
    /// The cluster's name.
    pub cluster: String,
    /// The cluster's id, where the cluster is firm or has data.
    pub cluster_id: Option<ClusterId>,
    /// The data was given up, and that of the others is not yet copied.
    pub copying: bool,
    /// The other members, dead ones too, who may come back.
    pub members: Vec<Acquaintance>,
}

/// Another member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquaintance {
    /// Its name.
    pub name: String,
    /// The incarnation that was met.
    pub id: NodeId,
    /// Where.
    pub endpoint: Endpoint,
}

impl Identity {
    /// Of a node that has met nobody.
    pub fn new(node: &str, cluster: &str) -> Self {
        Self { node: node.to_owned(), cluster: cluster.to_owned(), cluster_id: None, copying: false, members: Vec::new() }
    }

    /// What is kept at `path`; `None` where nothing is.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, NamingError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(path.parent().unwrap_or(path), &error)),
        };
        let unread = || {
            let message = format!("{} can't be read as what this version writes; put it back from a backup", path.display());
            wrong(message)
        };
        let table = DeTable::parse(&text).map_err(|_| unread())?;
        let table = table.get_ref();
        match number(table, "format") {
            Some(FORMAT) => parse(table).map(Some).ok_or_else(unread),
            Some(format) => Err(wrong(format!(
                "the data folder {} has format {format}, this version of hanaming has format {FORMAT}: run the version that \
                 wrote it",
                path.parent().unwrap_or(path).display()
            ))),
            None => Err(unread()),
        }
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        place::write_whole(path, &self.text())
    }

    /// Refuses the data of another node or cluster.
    pub(super) fn check(&self, folder: &Path, node: &str, cluster: &str) -> Result<(), NamingError> {
        if self.node == node && self.cluster == cluster {
            return Ok(());
        }
        Err(wrong(format!(
            "the data folder {} is that of node {} of the cluster '{}', not of node {node} of '{cluster}'; start it under that \
             name, or give this node a folder of its own",
            folder.display(),
            self.node,
            self.cluster
        )))
    }

    fn text(&self) -> String {
        let mut text = String::from("# Kept by hanaming: whose data this is.\n");
        // Writing to a string does not fail.
        let _ = write!(text, "format = {FORMAT}\nnode = {}\ncluster = {}\n", quoted(&self.node), quoted(&self.cluster));
        if let Some(id) = self.cluster_id {
            let _ = writeln!(text, "id = \"{id}\"");
        }
        if self.copying {
            text.push_str("copying = true\n");
        }
        for Acquaintance { name, id, endpoint } in &self.members {
            let (name, address) = (quoted(name), quoted(&endpoint.to_string()));
            let _ = write!(text, "\n[[members]]\nname = {name}\nid = \"{id}\"\naddress = {address}\n");
        }
        text
    }
}

fn parse(table: &DeTable<'_>) -> Option<Identity> {
    let members = match table.get("members").map(toml::Spanned::get_ref) {
        None => Vec::new(),
        Some(DeValue::Array(members)) => {
            members.iter().map(|member| acquaintance(member.get_ref())).collect::<Option<Vec<_>>>()?
        }
        Some(_) => return None,
    };
    let cluster_id = match table.get("id") {
        None => None,
        Some(id) => Some(ClusterId(u128::from_str_radix(id.get_ref().as_str()?, 16).ok()?)),
    };
    let copying = table.get("copying").and_then(|copying| copying.get_ref().as_bool()).unwrap_or(false);
    Some(Identity { node: string(table, "node")?, cluster: string(table, "cluster")?, cluster_id, copying, members })
}

fn acquaintance(member: &DeValue<'_>) -> Option<Acquaintance> {
    let member = member.as_table()?;
    Some(Acquaintance {
        name: string(member, "name")?,
        id: NodeId(u128::from_str_radix(&string(member, "id")?, 16).ok()?),
        endpoint: Endpoint::parse(&string(member, "address")?, 0).ok()?,
    })
}

fn string(table: &DeTable<'_>, key: &str) -> Option<String> {
    table.get(key)?.get_ref().as_str().map(str::to_owned)
}

fn number(table: &DeTable<'_>, key: &str) -> Option<i64> {
    let number = table.get(key)?.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// As TOML writes a text. Names have no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = |identity: &Identity| identity.text();
        let read = |text: &str| parse(DeTable::parse(text).unwrap().get_ref());
        let mut identity = Identity::new("a \"b\" \\ ü", "c");
        assert_eq!(read(&text(&identity)).as_ref(), Some(&identity));
        identity.cluster_id = Some(ClusterId(7 << 100));
        identity.copying = true;
        let member = |name: &str, id| Acquaintance { name: name.to_owned(), id: NodeId(id), endpoint: Endpoint::new("::1", 9) };
        identity.members = vec![member("x", 1), member("\"", u128::MAX)];
        assert_eq!(read(&text(&identity)).as_ref(), Some(&identity));
        assert_eq!(read("format = 1\nnode = 3\ncluster = \"c\""), None);
        assert_eq!(read("format = 1\nnode = \"n\"\ncluster = \"c\"\nid = \"xyz\""), None);
    }
}
