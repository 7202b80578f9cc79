//! What the settings of an older naming system's client mean here.
//!
//! Each property has a counterpart, which goes into [`Options`], or a sentence that says why it has none and what to do
//! instead: nothing is ignored in silence. Secrets are never repeated in a sentence.

mod jvm;
mod known;
mod value;

use std::collections::HashMap;
use std::time::Duration;

use super::properties::{Origin, Property};
use super::provider_url::{self, Product, ProviderError, ProviderUrl, Warnings, excerpt};
use known::Meaning;

/// The key of the provider URL.
pub const PROVIDER_URL: &str = "java.naming.provider.url";
const FACTORY: &str = "java.naming.factory.initial";

/// A client's settings as they are read.
#[derive(Debug)]
pub struct Environment {
    /// Where the servers are; `None` where nothing says so, or nothing in it is usable.
    pub provider: Option<Result<ProviderUrl, ProviderError>>,
    /// What has a counterpart.
    pub options: Options,
    /// What has none, what is dubious, and what to do.
    pub warnings: Vec<String>,
}

/// Settings that an HA context has, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The cluster whose servers are meant.
    pub cluster: Option<String>,
    /// The limit for making a connection.
    pub connect_timeout: Option<Duration>,
    /// The limit for waiting for a reply.
    pub read_timeout: Option<Duration>,
    /// Names are resolved again for every new context and connection.
    pub always_resolve: bool,
}

/// Reads properties; of several with one key the last one counts.
pub fn read(properties: &[Property]) -> Environment {
    let mut reader = Reader::default();
    let last: HashMap<&str, usize> = properties.iter().enumerate().map(|(at, property)| (property.key.as_str(), at)).collect();
    for (at, property) in properties.iter().enumerate() {
        if last.get(property.key.as_str()) == Some(&at) {
            reader.read(property);
        } else {
            let again = last.get(property.key.as_str()).and_then(|at| properties.get(*at)).map_or(0, |winner| winner.line);
            reader.warn(property, &format!("stands there again in line {again}, which counts"));
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader<'a> {
    url: Option<&'a Property>,
    factory: Option<&'a Property>,
    options: Options,
    jnp: bool,
    warnings: Warnings,
}

impl<'a> Reader<'a> {
    fn warn(&mut self, property: &Property, sentence: &str) {
        let place = if property.line > 0 { format!("line {}: ", property.line) } else { String::new() };
        let key = excerpt(&property.key);
        self.warnings.say_of(property.line, format!("{place}{} {sentence}", key.trim_matches('"')));
    }

    fn read(&mut self, property: &'a Property) {
        let key = property.key.trim();
        self.jnp |= key.starts_with("jnp.");
        match known::meaning(key) {
            Meaning::ProviderUrl => self.url = Some(property),
            Meaning::Factory => self.factory = Some(property),
            Meaning::Cluster => self.options.cluster = Some(property.value.trim().to_owned()).filter(|name| !name.is_empty()),
            Meaning::ConnectTimeout(unit) => {
                if let Some(limit) = self.time(property, unit) {
                    self.options.connect_timeout = Some(limit);
                }
            }
            Meaning::ReadTimeout(unit) => {
                if let Some(limit) = self.time(property, unit) {
                    self.options.read_timeout = Some(limit);
                }
            }
            Meaning::ForceResolve => self.force_resolve(property),
            Meaning::DisableDiscovery => match value::flag(&property.value) {
                Some(true) => {}
                Some(false) => self.warn(
                    property,
                    "has no effect: servers are looked for by multicast only where the provider URL says so, with hn+mdns://cluster",
                ),
                None => self.warn(property, value::NO_FLAG),
            },
            Meaning::Jvm => {
                let sentence = jvm::sentence(key, property.origin);
                self.warn(property, sentence);
            }
            Meaning::NoCounterpart(sentence) => self.warn(property, sentence),
            Meaning::Unknown(Some(near)) => {
                self.warn(property, &format!("is not known, and has no effect; is {near} meant?"));
            }
            Meaning::Unknown(None) => self.warn(property, "has no counterpart here, and no effect"),
        }
    }

    fn time(&mut self, property: &Property, unit: Duration) -> Option<Duration> {
        match value::time(&property.value, unit) {
            Ok(limit) => Some(limit),
            Err(sentence) => {
                self.warn(property, sentence);
                None
            }
        }
    }

    fn force_resolve(&mut self, property: &Property) {
        match value::flag(&property.value) {
            Some(true) => {
                self.options.always_resolve = true;
                self.warn(
                    property,
                    "is undocumented, and does nothing in a JVM while that caches the name itself (the security property \
                     networkaddress.cache.ttl must be 0 or small); here it is dns_refresh=\"always\"",
                );
            }
            Some(false) => {}
            None => self.warn(property, value::NO_FLAG),
        }
    }

    fn finish(mut self) -> Environment {
        let product = self.factory.and_then(|factory| known::product(factory.value.trim()));
        if let Some(factory) = self.factory.filter(|_| product.is_none()) {
            self.warn(factory, "names a class that is not known; no class is loaded here, and the URL is read by its scheme");
        }
        let provider = self.url.map(|property| self.read_url(property, product));
        if provider.is_none() && (self.jnp || product == Some(Product::Jnp)) {
            self.warnings.say(format!(
                "{PROVIDER_URL} is missing: HA-JNDI then looks for servers by multicast, which must be asked for here: write \
                 hn+mdns://cluster, or list their addresses"
            ));
        }
        Environment { provider, options: self.options, warnings: self.warnings.into_sentences() }
    }

    fn read_url(&mut self, property: &Property, product: Option<Product>) -> Result<ProviderUrl, ProviderError> {
        let read = provider_url::read(&property.value, product);
        match &read {
            Ok(url) => {
                for warning in &url.warnings {
                    self.warn(property, &format!("= {}: {warning}", excerpt(&property.value)));
                }
            }
            Err(error) => self.warn(property, &format!("can't be used: {}", error.problem)),
        }
        if property.origin == Origin::Entry && property.value.ends_with(char::is_whitespace) {
            self.warn(property, "has blanks at its end, which Java keeps as a part of the value");
        }
        read
    }
}
