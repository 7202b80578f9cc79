//! A node's data folder: what of the cluster tree outlives its process.
//!
//! ```text
//! node.toml    whose folder this is, of which cluster, and which other members there were
//! tree.redb    the cluster tree: records by name, and what is known beside them
//! lock         locked while a node runs on the folder
//! ```
//!
//! A folder belongs to one node of one cluster; whoever else comes with it is refused. What is found damaged is refused
//! too, and set aside only where that was said ([`Folder::open`]): nothing in a folder is ever deleted.
//!
//! A folder that was *copied* holds writes that its original may have gone on from, under the same actor. So the place
//! of the database is kept in the database; data that finds itself elsewhere goes on as a new actor. What is
//! restored in place without being noticed so is noticed by the peers, who have seen more of that actor.

mod identity;
mod lock;
mod place;
mod tables;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cluster::store::{State, Store as _, StoreError};
use crate::naming::{ErrorKind, NamingError};

pub use identity::{Acquaintance, Identity};
use lock::Lock;
pub use tables::Tables;

const IDENTITY: &str = "node.toml";
const TREE: &str = "tree.redb";
const LOCK: &str = "lock";

/// What may lie in a folder that is not yet one of data: the root of a file system is often used as one.
const FOREIGN: [&str; 1] = ["lost+found"];

/// A data folder that this node holds.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Held as long as the folder is.
    _lock: Lock,
}

/// What was found in a data folder.
#[derive(Debug)]
pub struct Found {
    /// The folder.
    pub folder: Folder,
    /// Whose it is.
    pub identity: Identity,
    /// What it held; `None` for nothing.
    pub state: Option<State>,
    /// Where what comes is kept.
    pub tables: Tables,
}

impl Folder {
    /// Opens the folder at `path` for the node `node` of the cluster `cluster`, or makes it. Where `resync` says so,
    /// damaged data is set aside, and the node begins without any.
    ///
    /// # Errors
    /// `Configuration`: what is wrong with the folder, and the remedy.
    pub fn open(path: &Path, node: &str, cluster: &str, resync: bool) -> Result<Found, NamingError> {
        fs::create_dir_all(path).and_then(|()| place::sync_folder(path)).map_err(|error| unusable_folder(path, &error))?;
        check_contents(path)?;
        let folder = Self { path: path.to_owned(), _lock: Lock::take(&path.join(LOCK))? };
        let whose = path.join(IDENTITY);
        let known = Identity::read(&whose)?;
        if let Some(identity) = &known {
            identity.check(path, node, cluster)?;
        }
        let tree = path.join(TREE);
        // What was given up before the copy was whole is begun anew.
        let mut identity = known.clone().unwrap_or_else(|| Identity::new(node, cluster));
        let opened = match (&known, tree.exists()) {
            (Some(_), false) => Err(StoreError::Damaged),
            (_, exists) => {
                if exists {
                    place::check_usable(&tree).map_err(|error| unusable(&tree, &error))?;
                } else {
                    Tables::create(&tree).map_err(|error| failed(&tree, error))?;
                }
                load(&tree)
            }
        };
        let (tables, state) = match opened {
            Ok(opened) => opened,
            Err(StoreError::Damaged) if resync => {
                let aside = set_aside(&tree).map_err(|error| unusable(&tree, &error))?;
                tracing::warn!("the data of {} was damaged: it is set aside as {aside:?}, and copied anew", path.display());
                identity.copying = true;
                identity.write(&whose).map_err(|error| unusable(&whose, &error))?;
                Tables::create(&tree).map_err(|error| failed(&tree, error))?;
                load(&tree).map_err(|error| failed(&tree, error))?
            }
            Err(StoreError::Damaged) => return Err(damaged(&tree)),
            Err(error) => return Err(failed(&tree, error)),
        };
        if known.is_none() {
            if state.is_some() {
                return Err(wrong(format!(
                    "{} has data and no {IDENTITY}, so whose it is is not known; put that file back, or give another folder",
                    path.display()
                )));
            }
            identity.write(&whose).map_err(|error| unusable(&whose, &error))?;
        }
        Ok(Found { folder, identity, state, tables })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps whose folder this is, instead of what was known before.
    pub fn keep(&self, identity: &Identity) -> io::Result<()> {
        identity.write(&self.path.join(IDENTITY))
    }
}

fn load(tree: &Path) -> Result<(Tables, Option<State>), StoreError> {
    let mut tables = Tables::open(tree)?;
    let state = tables.load()?;
    Ok((tables, state))
}

/// Refuses a folder in which something else lies: it was hardly meant.
fn check_contents(path: &Path) -> Result<(), NamingError> {
    let entries = fs::read_dir(path).map_err(|error| unusable_folder(path, &error))?;
    let names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    let is_ours = names.iter().any(|name| name == LOCK || name == IDENTITY || name == TREE);
    let foreign = names.iter().find(|name| !FOREIGN.iter().any(|known| *name == known));
    match foreign.filter(|_| !is_ours) {
        Some(name) => Err(wrong(format!(
            "{} is no data folder, and not empty ({} lies in it); give a folder for this node alone",
            path.display(),
            name.display()
        ))),
        None => Ok(()),
    }
}

/// Renames the damaged database. Gives its new name; `None` where there was none.
fn set_aside(tree: &Path) -> io::Result<Option<PathBuf>> {
    if !tree.exists() {
        return Ok(None);
    }
    let mut names = (1..=u16::MAX).map(|number| tree.with_file_name(format!("{TREE}.damaged-{number}")));
    let aside = names.find(|name| !name.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(tree, &aside)?;
    place::sync_folder(tree)?;
    Ok(Some(aside))
}

fn wrong(message: String) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}

fn unusable_folder(path: &Path, error: &io::Error) -> NamingError {
    let remedy = match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "it is no folder; give another one",
        _ => remedy(error).unwrap_or("give a folder that can be read and written"),
    };
    wrong(format!("the data folder {} can't be used: {error}; {remedy}", path.display()))
}

/// A file of a data folder that can't be opened, read or written.
fn unusable(path: &Path, error: &io::Error) -> NamingError {
    let remedy = match error.kind() {
        io::ErrorKind::IsADirectory => "a file of the node's own belongs there; move what is there away",
        _ => remedy(error).unwrap_or("give a folder on a disk that works"),
    };
    wrong(format!("{}, a file of the data folder, can't be used: {error}; {remedy}", path.display()))
}

fn remedy(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Some("give this process the right to read and write it, or another folder"),
        io::ErrorKind::ReadOnlyFilesystem => Some("its disk can only be read; give a folder on another one"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("make room, or give a folder on another disk"),
        _ => None,
    }
}

fn failed(tree: &Path, error: StoreError) -> NamingError {
    let remedy = match error {
        StoreError::Full => "make room, or give a folder on another disk",
        StoreError::Io | StoreError::Damaged => "the node's log has the system's own words",
    };
    wrong(format!("{}, a file of the data folder, can't be used: {error}; {remedy}", tree.display()))
}

fn damaged(tree: &Path) -> NamingError {
    let what = if tree.exists() { "is damaged" } else { "is missing" };
    wrong(format!(
        "{} {what}, which has the node's copy of the cluster tree. Start once with --resync-from-peers: what is damaged is set \
         aside, and the cluster tree copied from the other nodes. Where there is no other node, put a backup of the whole \
         folder in its place",
        tree.display()
    ))
}
