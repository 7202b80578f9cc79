//! The options of name resolution as Python gives them.

use std::env::VarError;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::client::config::seconds;
use crate::discovery::RefreshMode;
use crate::discovery::dns::{DnsConfig, DnsServers};
use crate::naming::{ErrorKind, NamingError};

use super::argument::{self, wrong_type};
use super::parameter::{DnsRefresh, number};
use super::{error, text};

/// Where name servers are named for all contexts of a process.
const VARIABLE: &str = "HANAMING_DNS_SERVERS";

/// What `dns_refresh=` and `dns_servers=` mean.
pub fn configure(
    py: Python<'_>,
    dns_refresh: Option<&Bound<'_, PyAny>>,
    dns_servers: Option<&Bound<'_, PyAny>>,
) -> PyResult<DnsConfig> {
    let refresh = dns_refresh.map(refresh).transpose()?.unwrap_or_default();
    let (named, texts) = match dns_servers.filter(|servers| !servers.is_none()) {
        Some(servers) => ("dns_servers", listed(servers)?),
        None => (VARIABLE, of_environment().map_err(|wrong| error::raise(py, wrong))?),
    };
    let servers = DnsServers::parse(texts.iter().map(String::as_str));
    let servers = servers.map_err(|wrong| error::raise(py, configuration(format!("{named}: {wrong}"))))?;
    Ok(DnsConfig { refresh, servers })
}

fn refresh(given: &Bound<'_, PyAny>) -> PyResult<RefreshMode> {
    let py = given.py();
    if let Ok(word) = given.cast::<PyString>() {
        return match text::of(word, "dns_refresh")? {
            "ttl" => Ok(RefreshMode::Ttl),
            "on_empty" => Ok(RefreshMode::OnEmpty),
            "always" => Ok(RefreshMode::Always),
            other => {
                let message =
                    format!("dns_refresh={other:?} is unknown; there are ttl, on_empty, always, or a number of seconds");
                Err(error::raise(py, configuration(message)))
            }
        };
    }
    if !given.hasattr("__float__")? && !given.hasattr("__index__")? || given.is_instance_of::<PyBool>() {
        return Err(wrong_type("dns_refresh", "\"ttl\", \"on_empty\", \"always\" or a number of seconds", given));
    }
    let value = number::<DnsRefresh>(given)?;
    seconds("dns_refresh", value).map(RefreshMode::Every).map_err(|wrong| error::raise(py, wrong))
}

fn listed(servers: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let texts = argument::texts(servers, "dns_servers", "addresses, such as [\"10.0.0.2\", \"127.0.0.1:5353\"]")?;
    if texts.is_empty() {
        let message = "dns_servers=[] names no name server; leave it out for the system's";
        return Err(error::raise(servers.py(), configuration(message.to_owned())));
    }
    Ok(texts)
}

fn of_environment() -> Result<Vec<String>, NamingError> {
    match std::env::var(VARIABLE) {
        Ok(text) => Ok(text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()),
        Err(VarError::NotPresent) => Ok(Vec::new()),
        Err(VarError::NotUnicode(text)) => {
            Err(configuration(format!("{VARIABLE}={} is not UTF-8; write addresses with commas between them", text.display())))
        }
    }
}

fn configuration(message: String) -> NamingError {
    NamingError::new(ErrorKind::Configuration, message)
}
