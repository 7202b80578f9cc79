//! `host[:port]`, as generously as it can be read without guessing.

use std::net::{IpAddr, Ipv6Addr};

/// A host, and a port if one stands there.
#[derive(Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    /// Without brackets; empty where only a port stands there, or nothing.
    pub host: &'a str,
    pub port: Option<u16>,
    /// What was odd although it can be read.
    pub oddities: Vec<&'static str>,
}

/// Reads one address. The error is what is wrong with it.
pub fn authority(text: &str) -> Result<Authority<'_>, &'static str> {
    let mut oddities = Vec::new();
    let text = text.trim();
    let text = match text.rsplit_once('@') {
        Some((_, after)) => {
            oddities.push("a user or password in it is not used, and should stand in no URL");
            after
        }
        None => text,
    };
    let (host, port) = split(text, &mut oddities)?;
    if !host.contains(':') {
        check_name(host)?;
    }
    let port = match port {
        None => None,
        Some("") => {
            oddities.push("its colon has no port behind it");
            None
        }
        Some(port) => Some(number(port)?),
    };
    Ok(Authority { host, port, oddities })
}

/// Whether a host is a name that DNS has, maybe with many addresses.
pub fn is_dns_name(host: &str) -> bool {
    !(host.is_empty() || host.eq_ignore_ascii_case("localhost") || host.contains(':') || host.parse::<IpAddr>().is_ok())
}

type Parts<'a> = (&'a str, Option<&'a str>);

fn split<'a>(text: &'a str, oddities: &mut Vec<&'static str>) -> Result<Parts<'a>, &'static str> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("its bracket is not closed")?;
        if !is_v6(host) {
            return Err("what stands in brackets is no IPv6 address");
        }
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err("something other than a port follows the bracket"),
        };
    }
    if text.contains("::") || text.matches(':').take(3).count() > 2 {
        if is_v6(text) {
            oddities.push("an IPv6 address is written in brackets, [::1]:port");
            return Ok((text, None));
        }
        return Err("it has several colons and is no IPv6 address; those stand in brackets, [::1]:port");
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => Err("it has two ports"),
        Some((host, port)) => Ok((host.trim_end(), Some(port.trim_start()))),
        None => Ok((text, None)),
    }
}

/// An IPv6 literal; a zone (`fe80::1%eth0`) may follow it.
fn is_v6(text: &str) -> bool {
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(|zone| !zone.is_empty() && zone.chars().all(is_name_character))
}

/// Whether host names are made of it.
pub fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

fn check_name(host: &str) -> Result<(), &'static str> {
    if host.contains("${") || host.contains("@@") || host.contains("{{") {
        return Err("it has a placeholder in it that nothing has filled in");
    }
    if host.chars().any(char::is_whitespace) {
        return Err("its host has a blank in it");
    }
    if !host.chars().all(is_name_character) {
        return Err("its host has a character that no host name has");
    }
    Ok(())
}

fn number(text: &str) -> Result<u16, &'static str> {
    if text.starts_with("${") {
        return Err("it has a placeholder in it that nothing has filled in");
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("its port is no number");
    }
    match text.trim_start_matches('0').parse() {
        Ok(port) => Ok(port),
        Err(_) if text.bytes().all(|b| b == b'0') => Err("its port is 0, where nobody listens"),
        Err(_) => Err("its port is over 65535"),
    }
}
