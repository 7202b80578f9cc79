//! Where a file is, and how one is put into place whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What tells a file from its copies: its number in its file system, and when that file came into being where the file
/// system knows that. Which disk it is on does not count, since disks are renumbered when a machine starts.
pub(super) fn mark(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Ok(format!("{} {}", metadata.ino(), born.as_nanos()))
}

/// Writes a small file so that after a crash it is there as it was before, or as it is now.
pub(super) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&new, path)?;
    sync_folder(path)
}

/// Whether a file that is there can be read and written.
pub(super) fn check_usable(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open(path).map(drop)
}

/// Makes it durable which files there are beside `path`.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(path))?.sync_all()
}
