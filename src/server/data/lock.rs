//! One node at a time runs on a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::Path;

use crate::naming::NamingError;

use super::{unusable, wrong};

/// Held until it is dropped, or its process ends.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock at `path`; refuses where another node has it, of this process or another.
    pub(super) fn take(path: &Path) -> Result<Self, NamingError> {
        let folder = path.parent().unwrap_or(path);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(|error| unusable(path, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(path).unwrap_or_default();
                let holder = holder.trim();
                let by = if holder.is_empty() { "another node".to_owned() } else { format!("the node of process {holder}") };
                return Err(wrong(format!(
                    "the data folder {} is in use by {by}; end that node, or give this one a folder of its own",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(path, &error)),
        }
        // For people: who has it. Nothing depends on it, so that a full disk does not matter.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Said, not left to the file's end: a process that was forked meanwhile has the file open too.
        let _ = self.0.unlock();
    }
}
