//! The system's configuration, read again when its files change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hickory_resolver::Hosts;
use hickory_resolver::system_conf::parse_resolv_conf;

use super::lookup::Lookups;

/// Where the configuration stands.
#[derive(Clone, Debug)]
pub struct SystemFiles {
    /// Name servers and search list.
    pub resolver: PathBuf,
    /// Names that are known without asking.
    pub hosts: PathBuf,
}

impl Default for SystemFiles {
    fn default() -> Self {
        Self { resolver: "/etc/resolv.conf".into(), hosts: "/etc/hosts".into() }
    }
}

/// When a file was written, and how large it is; `None` where there is none.
type Stamp = Option<(SystemTime, u64)>;

/// The configuration as it was read last.
pub(super) struct SystemSettings {
    files: SystemFiles,
    read: Mutex<Option<([Stamp; 2], Arc<Lookups>)>>,
}

impl SystemSettings {
    pub(super) fn new(files: SystemFiles) -> Self {
        Self { files, read: Mutex::default() }
    }

    /// Whom to ask now: read where the files are others than they were. A file that can't be read keeps what it said.
    pub(super) fn now(&self) -> Result<Arc<Lookups>, String> {
        let stamps = [stamp(&self.files.resolver), stamp(&self.files.hosts)];
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, lookups)) = read.as_ref()
            && *of == stamps
        {
            return Ok(Arc::clone(lookups));
        }
        match self.read() {
            Ok(fresh) => {
                let fresh = Arc::new(fresh);
                *read = Some((stamps, Arc::clone(&fresh)));
                Ok(fresh)
            }
            Err(why) => match read.as_ref() {
                Some((_, last)) => {
                    tracing::warn!(why, "the system's name servers stay what they were");
                    Ok(Arc::clone(last))
                }
                None => Err(why),
            },
        }
    }

    fn read(&self) -> Result<Lookups, String> {
        let mut hosts = Hosts::default();
        if let Ok(file) = fs::File::open(&self.files.hosts) {
            // What can be read of it holds.
            let _ = hosts.read_hosts_conf(file);
        }
        // Without the file there are no name servers; the hosts file may do.
        let text = fs::read_to_string(&self.files.resolver).unwrap_or_default();
        if !text.lines().any(|line| line.trim_start().starts_with("nameserver")) {
            return Ok(Lookups::of_hosts_alone(hosts, self.files.resolver.display()));
        }
        let unreadable = |why| format!("{} can't be read: {why}", self.files.resolver.display());
        let (config, options) = parse_resolv_conf(text).map_err(unreadable)?;
        Lookups::of_system(&config, &options, hosts)
    }
}

fn stamp(path: &Path) -> Stamp {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}
