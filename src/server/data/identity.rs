//! Whose data it is: the node, its cluster, and the members it knew.
//!
//! Kept as a file of its own, which people can read, and which is whole when the database is not.

use std::fmt::{Display, Write as _};
use std::fs;
use std::io;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::naming::NamingError;
use crate::topology::{ClusterId, Endpoint, NodeId};

use super::super::config_file;
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
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(path, &error)),
        };
        let damaged = |what: &dyn Display| {
            wrong(format!(
                "{} is damaged: {what}. It says whose data this is: put it back from a backup; or move the folder away and \
                 start with an empty one, into which the cluster tree is copied from the other nodes",
                path.display()
            ))
        };
        let text = str::from_utf8(&bytes).map_err(|error| damaged(&format_args!("no text in UTF-8 ({error})")))?;
        let table = config_file::table(text).map_err(|error| damaged(&error.fields().message))?;
        match number(&table, "format").map_err(|what| damaged(&what))? {
            FORMAT => parse(&table).map(Some).map_err(|what| damaged(&what)),
            format => Err(wrong(format!(
                "the data folder {} has format {format}, this version of hanaming has format {FORMAT}: run the version that \
                 wrote it",
                path.parent().unwrap_or(path).display()
            ))),
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

/// What is kept in a file, or what is wrong with it.
fn parse(table: &DeTable<'_>) -> Result<Identity, String> {
    let members = match table.get("members").map(toml::Spanned::get_ref) {
        None => Vec::new(),
        Some(DeValue::Array(members)) => {
            members.iter().map(|member| acquaintance(member.get_ref())).collect::<Result<Vec<_>, _>>()?
        }
        Some(_) => return Err("'members' is no list".to_owned()),
    };
    let cluster_id = table.contains_key("id").then(|| id(table)).transpose()?.map(ClusterId);
    let copying = match table.get("copying").map(toml::Spanned::get_ref) {
        None => false,
        Some(copying) => copying.as_bool().ok_or("'copying' is neither true nor false")?,
    };
    Ok(Identity { node: string(table, "node")?, cluster: string(table, "cluster")?, cluster_id, copying, members })
}

fn acquaintance(member: &DeValue<'_>) -> Result<Acquaintance, String> {
    let member = member.as_table().ok_or("a member is no table")?;
    let address = string(member, "address")?;
    let endpoint = Endpoint::parse(&address, 0).map_err(|wrong| format!("'address' of a member: {wrong}"))?;
    Ok(Acquaintance { name: string(member, "name")?, id: NodeId(id(member)?), endpoint })
}

fn string(table: &DeTable<'_>, key: &str) -> Result<String, String> {
    let value = table.get(key).ok_or_else(|| format!("'{key}' is missing"))?;
    value.get_ref().as_str().map(str::to_owned).ok_or_else(|| format!("'{key}' is no string"))
}

fn id(table: &DeTable<'_>) -> Result<u128, String> {
    let text = string(table, "id")?;
    u128::from_str_radix(&text, 16).map_err(|_| format!("'id' is {text:?}, and no number of hexadecimal digits"))
}

fn number(table: &DeTable<'_>, key: &str) -> Result<i64, String> {
    let value = table.get(key).ok_or_else(|| format!("'{key}' is missing"))?;
    let number = value.get_ref().as_integer();
    let number = number.and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
    number.ok_or_else(|| format!("'{key}' is no number"))
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
        assert_eq!(read(&text(&identity)).as_ref(), Ok(&identity));
        identity.cluster_id = Some(ClusterId(7 << 100));
        identity.copying = true;
        let member = |name: &str, id| Acquaintance { name: name.to_owned(), id: NodeId(id), endpoint: Endpoint::new("::1", 9) };
        identity.members = vec![member("x", 1), member("\"", u128::MAX)];
        assert_eq!(read(&text(&identity)).as_ref(), Ok(&identity));
    }

    #[test]
    fn what_is_wrong_is_told_by_its_key() {
        let whole = "format = 1\nnode = \"n\"\ncluster = \"c\"\n";
        let cases = [
            ("format = 1\ncluster = \"c\"", "'node' is missing"),
            ("format = 1\nnode = 3\ncluster = \"c\"", "'node' is no string"),
            (&format!("{whole}id = \"xyz\""), "'id' is \"xyz\", and no number of hexadecimal digits"),
            (&format!("{whole}copying = 1"), "'copying' is neither true nor false"),
            (&format!("{whole}members = 1"), "'members' is no list"),
            (&format!("{whole}members = [1]"), "a member is no table"),
            (&format!("{whole}[[members]]\nname = \"m\"\nid = \"1\""), "'address' is missing"),
        ];
        for (text, says) in cases {
            assert_eq!(parse(DeTable::parse(text).unwrap().get_ref()), Err(says.to_owned()), "{text}");
        }
    }
}
