//! A registered service as a source of servers: its instances, wherever they are registered.

use std::sync::Arc;
use std::time::Duration;

use crate::discovery::dns::DnsServers;
use crate::discovery::{Answer, Origin, Place};
use crate::naming::{Name, Value};
use crate::protocol::TreeChoice;

use super::super::driver::Driver;
use super::super::invocation::{Invocation, Product, Subject};
use super::source;

/// The time that one look has.
const WITHIN: Duration = Duration::from_secs(2);
/// How long what was found is good.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// A service, and how its instances are found. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    driver: Arc<dyn Driver>,
    name: Name,
    label: Arc<str>,
}

impl Service {
    /// The instances registered as `name`, as `driver` finds them.
    pub fn new(driver: Arc<dyn Driver>, name: Name) -> Self {
        let label = format!("service '{name}'").into();
        Self { driver, name, label }
    }

    /// How people call it: `service 'orders'`.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// Whom its context asks for names: an instance's address may be one.
    pub fn dns_servers(&self) -> Option<&DnsServers> {
        self.driver.dns_servers()
    }

    /// Its instances now, or why there are none.
    pub(super) fn list(&self) -> Result<Answer, String> {
        let invocation =
            Invocation::list(Subject::from(self.name.clone()), TreeChoice::All, true).map_err(|error| error.to_string())?;
        let (product, _) = self.driver.perform(invocation, Some(WITHIN), &mut || false).map_err(|error| error.to_string())?;
        let Product::Listing(rows) = product else { return Err("the node gave no listing".to_owned()) };
        let mut found: Vec<Place> = Vec::new();
        let mut trouble = None;
        for row in &rows {
            let Some(instance) = &row.content.instance else { continue };
            let value = Value::from_content(&row.content);
            match value.and_then(|value| source::servers(&value, &format!("the instance {:?}", row.component))) {
                Ok(servers) => {
                    let of_service = |place| Place { weight: instance.weight, origin: Origin::Service, ..place };
                    found.extend(servers.into_iter().map(of_service));
                }
                Err(error) => trouble = trouble.or(Some(error.to_string())),
            }
        }
        match trouble {
            Some(trouble) if found.is_empty() => Err(trouble),
            _ if found.is_empty() => Err("it has no instance".to_owned()),
            _ => Ok(Answer::new(found, GOOD_FOR)),
        }
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Service({})", self.label)
    }
}
