//! What a node runs with, and where each setting is from: its status tells it.
//!
//! The one who starts a node knows what came from a flag, a file or the environment and says so
//! ([`ServerConfig::sources`]); what nobody speaks of was given to the constructor, or is the default.

use crate::protocol::Setting;

use super::config::ServerConfig;

/// The source of a setting that was given in code.
const ARGUMENT: &str = "argument";

/// The source of a setting that nobody gave.
const DEFAULT: &str = "default";

impl ServerConfig {
    /// The settings that have a value, in the order in which a person looks for them.
    pub fn settings(&self) -> Vec<Setting> {
        let Self { name, listen, advertise, seeds, cluster, data_dir, mdns, mdns_interface, insecure, .. } = self;
        let default = Self::new("");
        let seeds = seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let told = [
            ("name", Some(name.clone()), true),
            ("listen", Some(listen.to_string()), *listen != default.listen),
            ("advertise", advertise.as_ref().map(ToString::to_string), true),
            ("seeds", (!seeds.is_empty()).then_some(seeds), true),
            ("cluster", Some(cluster.clone()), *cluster != default.cluster),
            ("data_dir", data_dir.as_ref().map(|folder| folder.display().to_string()), true),
            ("mdns", mdns.then(|| "true".to_owned()), true),
            ("mdns_interface", mdns_interface.clone(), true),
            ("insecure", insecure.then(|| "true".to_owned()), true),
        ];
        let setting = |(name, value, given): (&str, Option<String>, bool)| {
            let source = self.sources.get(name).map_or(if given { ARGUMENT } else { DEFAULT }, String::as_str);
            Some(Setting { name: name.to_owned(), value: value?, source: source.to_owned() })
        };
        told.into_iter().filter_map(setting).collect()
    }
}
