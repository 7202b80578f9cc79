//! The cluster tree in a redb database.
//!
//! A group of transactions is one of redb's, synced before `commit` returns. What is known beside the records is written
//! once a group, and of it what clients were forgotten only where that changed: it may be long.
//!
//! Records are spelled as on the wire; who changes that changes the folder's format.
//!
//! The file is checked when it is opened: each page's checksum, so that what was damaged by others than a crash is found
//! before it is served. A crash leaves the state before a group or after it.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Builder, Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::de::DeserializeOwned;

use crate::cluster::oplog::Horizons;
use crate::cluster::record::Record;
use crate::cluster::store::{Meta, State, Store, StoreError, Transaction};
use crate::naming::Name;

use super::place;

/// The records by name.
const RECORDS: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("records");

/// What is known beside them.
const BESIDE: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("beside");

const META: &str = "meta";
const HORIZONS: &str = "horizons";
const PLACE: &str = "place";

/// Memory for pages: everything is read once, and then only what a write touches.
const CACHE: usize = 32 << 20;

/// A database at a path, opened.
#[derive(Debug)]
pub struct Tables {
    path: PathBuf,
    /// `None` after an error.
    database: Option<Database>,
    /// The forgotten clients, as they are stored.
    horizons: Horizons,
}

type Stored<T> = Result<T, StoreError>;

impl Tables {
    /// Makes an empty database at `path`: it is there whole, or not at all.
    pub fn create(path: &Path) -> Stored<()> {
        let new = path.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(path, &error)),
            _ => {}
        }
        let database = builder().create(&new).map_err(|error| judged(path, error))?;
        let transaction = database.begin_write().map_err(|error| judged(path, error))?;
        transaction.open_table(RECORDS).map_err(|error| judged(path, error))?;
        transaction.open_table(BESIDE).map_err(|error| judged(path, error))?;
        transaction.commit().map_err(|error| judged(path, error))?;
        drop(database);
        fs::rename(&new, path).and_then(|()| place::sync_folder(path)).map_err(|error| failed(path, &error))
    }

    /// Opens the database at `path`.
    pub fn open(path: &Path) -> Stored<Self> {
        let mut tables = Self { path: path.to_owned(), database: None, horizons: Horizons::default() };
        tables.reopen_file()?;
        Ok(tables)
    }

    fn reopen_file(&mut self) -> Stored<()> {
        self.database = None;
        // A database that was damaged in ways its checks do not foresee makes redb panic.
        let opened = catch_unwind(|| builder().open(&self.path)).map_err(|_| StoreError::Damaged)?;
        self.database = Some(opened.map_err(|error| judged(&self.path, error))?);
        Ok(())
    }

    /// Runs `work` on the database. After an error the database is closed until it is opened again.
    fn with<T>(&mut self, work: impl FnOnce(&Path, &Database) -> Stored<T>) -> Stored<T> {
        let database = self.database.as_ref().ok_or(StoreError::Io)?;
        let done = catch_unwind(AssertUnwindSafe(|| work(&self.path, database))).unwrap_or(Err(StoreError::Damaged));
        if done.is_err() {
            // To close a database that failed may fail as well.
            let failed = self.database.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(failed)));
        }
        done
    }

    fn meta(&mut self) -> Stored<Option<Meta>> {
        let (meta, horizons) = self.with(|path, database| {
            let transaction = database.begin_read().map_err(|error| judged(path, error))?;
            let beside = transaction.open_table(BESIDE).map_err(|error| judged(path, error))?;
            let row = |key| match beside.get(key).map_err(|error| judged(path, error))? {
                Some(row) => Ok(Some(row.value().to_vec())),
                None => Ok(None),
            };
            let Some(meta) = row(META)? else { return Ok((None, Horizons::default())) };
            let horizons = row(HORIZONS)?.map_or_else(|| Ok(Horizons::default()), |row| decoded(&row))?;
            let mut meta: Meta = decoded(&meta)?;
            meta.horizons = Horizons::clone(&horizons);
            if row(PLACE)? != Some(here(path)?) {
                tracing::warn!("{} was moved or copied: its node goes on as a new author of writes", path.display());
                meta.actor = None;
                meta.sequence = 0;
            }
            Ok((Some(meta), horizons))
        })?;
        self.horizons = horizons;
        Ok(meta)
    }
}

impl Store for Tables {
    fn load(&mut self) -> Stored<Option<State>> {
        if self.database.is_none() {
            self.reopen_file()?;
        }
        let Some(meta) = self.meta()? else { return Ok(None) };
        let records = self.with(|path, database| {
            let transaction = database.begin_read().map_err(|error| judged(path, error))?;
            let table = transaction.open_table(RECORDS).map_err(|error| judged(path, error))?;
            let rows = table.iter().map_err(|error| judged(path, error))?;
            rows.map(|row| {
                let (name, record) = row.map_err(|error| judged(path, error))?;
                let name = Name::parse(name.value()).map_err(|_| StoreError::Damaged)?;
                Ok((name, Arc::new(decoded::<Record>(record.value())?)))
            })
            .collect::<Stored<_>>()
        })?;
        Ok(Some(State { records, meta }))
    }

    fn commit(&mut self, group: &[Transaction]) -> Stored<()> {
        let meta = group.iter().rev().find_map(|transaction| transaction.meta.as_ref());
        let horizons = meta.map(|meta| &meta.horizons).filter(|horizons| **horizons != self.horizons).cloned();
        self.with(|path, database| {
            let transaction = database.begin_write().map_err(|error| judged(path, error))?;
            let mut table = transaction.open_table(RECORDS).map_err(|error| judged(path, error))?;
            for (name, record) in group.iter().flat_map(|transaction| &transaction.records) {
                match record {
                    Some(record) => table.insert(name.as_str(), &*encoded(&**record)?),
                    None => table.remove(name.as_str()),
                }
                .map_err(|error| judged(path, error))?;
            }
            drop(table);
            let mut beside = transaction.open_table(BESIDE).map_err(|error| judged(path, error))?;
            if let Some(meta) = meta {
                let short = Meta { horizons: Horizons::default(), ..meta.clone() };
                beside.insert(META, &*encoded(&short)?).map_err(|error| judged(path, error))?;
                beside.insert(PLACE, &*here(path)?).map_err(|error| judged(path, error))?;
            }
            if let Some(horizons) = &horizons {
                beside.insert(HORIZONS, &*encoded(horizons)?).map_err(|error| judged(path, error))?;
            }
            drop(beside);
            transaction.commit().map_err(|error| judged(path, error))
        })?;
        if let Some(horizons) = horizons {
            self.horizons = horizons;
        }
        Ok(())
    }

    fn reopen(&mut self) -> Stored<Option<Meta>> {
        self.reopen_file()?;
        self.meta()
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE).set_check_integrity_on_open(true);
    builder
}

fn here(path: &Path) -> Stored<Vec<u8>> {
    place::mark(path).map(String::into_bytes).map_err(|error| failed(path, &error))
}

fn encoded(value: &impl serde::Serialize) -> Stored<Vec<u8>> {
    // What is held in memory can be written down.
    postcard::to_allocvec(value).map_err(|_| StoreError::Damaged)
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Stored<T> {
    postcard::from_bytes(bytes).map_err(|_| StoreError::Damaged)
}

/// What an error of redb's means for the store; the log has its words.
fn judged(path: &Path, error: impl Into<redb::Error>) -> StoreError {
    let error = error.into();
    let judgement = match &error {
        redb::Error::Io(error) => kind(error),
        redb::Error::Corrupted(_) | redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
            StoreError::Damaged
        }
        _ => StoreError::Io,
    };
    tracing::warn!("{}: {error}", path.display());
    judgement
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    tracing::warn!("{}: {error}", path.display());
    kind(error)
}

fn kind(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreError::Full,
        // redb's words for what is no database, and for one that is cut off.
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => StoreError::Damaged,
        _ => StoreError::Io,
    }
}
