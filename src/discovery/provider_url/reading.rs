//! What a dialect has read so far.

use std::collections::HashSet;

use super::authority::{Authority, authority, is_dns_name};
use super::{ProviderEndpoint, ProviderError, ProviderUrl, Warnings, excerpt};
use crate::discovery::address::plain_zone;

/// Endpoints and warnings, as they come.
pub struct Reading<'a> {
    text: &'a str,
    scheme: String,
    endpoints: Vec<ProviderEndpoint>,
    seen: HashSet<(String, String, Option<u16>)>,
    entries: usize,
    path: Option<String>,
    warnings: Warnings,
    /// Why the first entry that is not usable isn't.
    wrong: Option<String>,
}

/// What an entry without a port gets.
#[derive(Clone, Copy)]
pub struct Default<'a> {
    pub host: &'a str,
    pub port: u16,
}

impl<'a> Reading<'a> {
    pub fn new(text: &'a str, scheme: &str) -> Self {
        Self {
            text,
            scheme: scheme.to_ascii_lowercase(),
            endpoints: Vec::new(),
            seen: HashSet::new(),
            entries: 0,
            path: None,
            warnings: Warnings::default(),
            wrong: None,
        }
    }

    /// The scheme that decided the dialect.
    pub fn scheme(&self) -> String {
        self.scheme.clone()
    }

    /// Says something about the text.
    pub fn warn(&mut self, sentence: impl Into<String>) {
        self.warnings.say(sentence.into());
    }

    /// Leaves an entry out. `remedy` says what to write.
    pub fn leave_out(&mut self, entry: &str, problem: &str, remedy: &str) {
        self.entries += 1;
        let mut sentence = format!("{} is left out: {problem}", excerpt(entry));
        if !remedy.is_empty() {
            sentence.push_str("; ");
            sentence.push_str(remedy);
        }
        if self.wrong.is_none() {
            self.wrong = Some(sentence.clone());
        }
        self.warn(sentence);
    }

    /// Reads `host[:port]` and says what is odd about it; `None` where it had to be left out.
    pub fn authority<'t>(&mut self, text: &'t str) -> Option<Authority<'t>> {
        match authority(text) {
            Ok(read) => {
                for oddity in &read.oddities {
                    self.warn(format!("{}: {oddity}", excerpt(text)));
                }
                Some(read)
            }
            Err(problem) => {
                self.leave_out(text, problem, "write host:port");
                None
            }
        }
    }

    /// Takes an address. What it does not say is the default.
    pub fn take(&mut self, scheme: &str, read: &Authority<'_>, default: Default<'_>) {
        self.take_version(scheme, read, default, None);
    }

    /// The same, of a protocol in this version.
    pub fn take_version(&mut self, scheme: &str, read: &Authority<'_>, default: Default<'_>, version: Option<String>) {
        self.push(ProviderEndpoint {
            scheme: scheme.to_ascii_lowercase(),
            host: plain_zone(if read.host.is_empty() { default.host } else { read.host }),
            port: Some(read.port.unwrap_or(default.port)),
            version,
            defaulted: read.port.is_none(),
            multi_address: false,
        });
    }

    /// Takes an endpoint that is no address.
    pub fn take_source(&mut self, scheme: &str, name: &str) {
        self.push(ProviderEndpoint {
            scheme: scheme.to_ascii_lowercase(),
            host: name.to_owned(),
            port: None,
            version: None,
            defaulted: false,
            multi_address: false,
        });
    }

    fn push(&mut self, endpoint: ProviderEndpoint) {
        self.entries += 1;
        if self.seen.insert((endpoint.scheme.clone(), endpoint.host.clone(), endpoint.port)) {
            self.endpoints.push(endpoint);
        } else {
            let port = endpoint.port.map(|port| format!(":{port}")).unwrap_or_default();
            let shown = excerpt(&format!("{}{port}", endpoint.host));
            self.warn(format!("{shown} stands there more than once, and is tried once a round all the same"));
        }
    }

    /// What follows the addresses.
    pub fn set_path(&mut self, path: &str) {
        if !path.is_empty() && self.path.is_none() {
            self.path = Some(path.to_owned());
        }
    }

    /// Whether no entry was seen yet.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether an address was read without a port.
    pub fn any_defaulted(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.defaulted)
    }

    /// The end: an error where nothing is usable.
    pub fn finish(mut self) -> Result<ProviderUrl, ProviderError> {
        if self.endpoints.is_empty() {
            let problem = self.wrong.unwrap_or_else(|| "it names no address; write scheme://host:port".to_owned());
            return Err(ProviderError { text: self.text.to_owned(), problem });
        }
        if let ([only], 1) = (self.endpoints.as_mut_slice(), self.entries) {
            only.multi_address = only.port.is_some() && is_dns_name(&only.host);
        }
        Ok(ProviderUrl {
            scheme: self.scheme,
            endpoints: self.endpoints,
            path: self.path,
            warnings: self.warnings.into_sentences(),
        })
    }
}

/// The sentence about a port that nobody wrote: it is the old system's own.
pub fn defaulted(scheme: &str, port: u16) -> String {
    format!("no port is given: {port} is read, the default of {scheme}; a hanaming node must listen there, or write the port")
}
