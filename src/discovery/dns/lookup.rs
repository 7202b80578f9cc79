//! One question, put to name servers, and their answer as a list.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::Hosts;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::time::{error::Elapsed, timeout};

use crate::topology::Endpoint;

use super::super::source::{Answer, Family, Origin, Place, Question, Source, relative_weights};
use super::aliases;
use super::config::DnsServers;
use super::servers::NameServers;

/// The time that one question has.
const WITHIN: Duration = Duration::from_secs(3);
/// How long the second family of addresses is waited for when somebody waits (RFC 8305's resolution delay).
const MOMENT: Duration = Duration::from_millis(50);
/// How long what stands in the hosts file is good.
const HOSTS_GOOD_FOR: Duration = Duration::from_secs(5);

/// Name servers that are asked, and names that are known without.
pub(super) struct Lookups {
    /// `None`: there are none.
    servers: Option<NameServers>,
    hosts: Hosts,
    /// A name may be looked for under others, too.
    searches: bool,
    /// Who is asked, as people call them.
    whom: String,
}

/// Addresses of one family and how long they are good, or why the name has none of that family.
type Found = Result<(BTreeSet<IpAddr>, Duration), Absent>;

/// What is not there, by a name server's word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Absent {
    #[error("no such name (NXDOMAIN)")]
    Name,
    #[error("it has no such record")]
    Record,
    #[error("it is an alias that leads round in a circle: {0}")]
    Alias(String),
}

impl Lookups {
    /// These name servers, for names as they stand.
    pub(super) fn given(servers: &DnsServers) -> Result<Self, String> {
        let DnsServers::Given(addresses) = servers else { return Err("no name server is given".to_owned()) };
        let config = ResolverConfig::from_name_servers(addresses.iter().map(|address| name_server(*address)).collect());
        Self::over(&config, &ResolverOpts::default(), Hosts::default(), servers.to_string())
    }

    /// What the system is configured to ask.
    pub(super) fn of_system(config: &ResolverConfig, options: &ResolverOpts, hosts: Hosts) -> Result<Self, String> {
        let servers: Vec<String> = config.name_servers().iter().map(|server| server.ip.to_string()).collect();
        Self::over(config, options, hosts, format!("the system's resolver ({})", servers.join(", ")))
    }

    /// The hosts file alone, as `configuration` names no name server.
    pub(super) fn of_hosts_alone(hosts: Hosts, configuration: impl Display) -> Self {
        Self {
            servers: None,
            hosts,
            searches: false,
            whom: format!("the hosts file alone ({configuration} names no name server)"),
        }
    }

    fn over(config: &ResolverConfig, options: &ResolverOpts, hosts: Hosts, whom: String) -> Result<Self, String> {
        let servers = NameServers::new(config, options, WITHIN).map_err(|error| format!("{whom} can't be asked: {error}"))?;
        let searches = config.domain().is_some() || !config.search().is_empty();
        Ok(Self { servers: Some(servers), hosts, searches, whom })
    }

    /// Whether a name without a dot at its end may stand for others.
    pub(super) fn searches(&self) -> bool {
        self.searches
    }

    /// The answer, or why there is none.
    pub(super) async fn ask(&self, question: &Question, hurry: bool) -> Result<Answer, String> {
        let answered = match question {
            Question::Addresses(endpoint) => timeout(WITHIN, self.addresses(endpoint, hurry)).await,
            Question::Services(name) => timeout(WITHIN, self.services(name)).await,
            Question::List(_) | Question::Multicast(_) => Ok(Err("that is not in DNS".to_owned())),
        };
        let late = |_| Err(format!("no answer in {} s", WITHIN.as_secs()));
        answered.unwrap_or_else(late).map_err(|why| format!("{why}; asked {} for {question}", self.whom))
    }

    async fn addresses(&self, endpoint: &Endpoint, hurry: bool) -> Result<Answer, String> {
        let name = endpoint.host().parse::<Name>().map_err(|error| format!("it is no name ({error})"))?;
        if let Some(known) = self.in_hosts(&name) {
            return Ok(Answer::new(places(&known, endpoint.port()), HOSTS_GOOD_FOR));
        }
        let (v4, v6) = (self.family(&name, RecordType::A), self.family(&name, RecordType::AAAA));
        tokio::pin!(v4, v6);
        // Whoever waits for the first answer is not made to wait for one family that does not answer.
        let (v4, v6) = tokio::select! {
            first = &mut v4 => { let other = patiently(v6, hurry && is_usable(&first)).await; (Ok(first), other) }
            first = &mut v6 => { let other = patiently(v4, hurry && is_usable(&first)).await; (other, Ok(first)) }
        };
        let v4 = match (v4, &v6, &self.servers) {
            (Ok(Ok(Err(Absent::Record))), Ok(Ok(Err(_))), Some(servers)) => {
                let circle = aliases::circle(servers, &name).await;
                Ok(Ok(Err(circle.map_or(Absent::Record, Absent::Alias))))
            }
            (v4, ..) => v4,
        };
        let hasty = v4.is_err() || v6.is_err();
        let late = |_| Err("no answer yet".to_owned());
        let answer = combined(v4.unwrap_or_else(late), v6.unwrap_or_else(late), endpoint.port())?;
        Ok(Answer { hasty, ..answer })
    }

    /// The addresses of one family.
    async fn family(&self, name: &Name, kind: RecordType) -> Result<Found, String> {
        let records = match self.records(name, kind).await {
            Ok(records) => records,
            Err(error) => return absent(&error).map(Err).ok_or_else(|| words(&error)),
        };
        let addresses: BTreeSet<IpAddr> = records.iter().filter_map(|record| record.data.ip_addr()).collect();
        Ok(if addresses.is_empty() { Err(Absent::Record) } else { Ok((addresses, good_for(&records))) })
    }

    async fn services(&self, name: &str) -> Result<Answer, String> {
        let name = name.parse::<Name>().map_err(|error| format!("it is no name ({error})"))?;
        let records = self.records(&name, RecordType::SRV).await.map_err(|error| words(&error))?;
        let servers = records.iter().filter_map(|record| match &record.data {
            // A lone root as the target says that there is no such service (RFC 2782); nobody can listen at port 0.
            RData::SRV(server) if !server.target.is_root() && server.port != 0 => Some(server),
            _ => None,
        });
        let servers: Vec<_> = servers.collect();
        let weights = relative_weights(&servers.iter().map(|srv| (srv.priority, srv.weight)).collect::<Vec<_>>());
        let place = |(server, weight): (&&hickory_resolver::proto::rr::rdata::SRV, f64)| {
            let target = server.target.to_utf8();
            let endpoint = Endpoint::new(target.trim_end_matches('.'), server.port);
            Place { priority: server.priority, weight, ..Place::new(endpoint, Origin::Srv) }
        };
        let places: Vec<Place> = servers.iter().zip(weights).map(place).collect();
        if !places.is_empty() {
            return Ok(Answer::new(places, good_for(&records)));
        }
        let says_none = |record: &Record| matches!(&record.data, RData::SRV(server) if server.target.is_root());
        Err(if records.iter().any(says_none) {
            "it says that there is no such service here (the target of its SRV record is \".\")".to_owned()
        } else {
            "it lists no server".to_owned()
        })
    }

    async fn records(&self, name: &Name, kind: RecordType) -> Result<Vec<Record>, NetError> {
        match &self.servers {
            Some(servers) => servers.records(name, kind).await,
            None => Err(NetError::NoConnections),
        }
    }

    /// The addresses of a name that stands in the hosts file; of such a name nobody else is asked.
    fn in_hosts(&self, name: &Name) -> Option<BTreeSet<IpAddr>> {
        let of = |kind| self.hosts.lookup_static_host(&Query::query(name.to_lowercase(), kind));
        let found = [RecordType::A, RecordType::AAAA].into_iter().filter_map(of);
        let known: BTreeSet<IpAddr> = found
            .flat_map(|lookup| lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect::<Vec<_>>())
            .collect();
        (!known.is_empty()).then_some(known)
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

fn is_usable(found: &Result<Found, String>) -> bool {
    matches!(found, Ok(Ok(_)))
}

/// What the other family's question gives; within a moment, where that is all the time there is.
async fn patiently(other: impl Future<Output = Result<Found, String>>, hurry: bool) -> Result<Result<Found, String>, Elapsed> {
    if hurry { timeout(MOMENT, other).await } else { Ok(other.await) }
}

/// One answer of both families'. Where one failed, the other is half an answer.
fn combined(v4: Result<Found, String>, v6: Result<Found, String>, port: u16) -> Result<Answer, String> {
    let (found, silent_on) = match (v4, v6) {
        (Err(why), Err(_) | Ok(Err(_))) | (Ok(Err(_)), Err(why)) => return Err(why),
        (Ok(Err(absent)), Ok(Err(_))) => return Err(absent.to_string()),
        (Err(why), Ok(Ok(v6))) => (vec![v6], Some((Family::V4, why))),
        (Ok(Ok(v4)), Err(why)) => (vec![v4], Some((Family::V6, why))),
        (Ok(v4), Ok(v6)) => (v4.into_iter().chain(v6).collect(), None),
    };
    let good_for = found.iter().map(|(_, good_for)| *good_for).min().unwrap_or_default();
    let addresses: BTreeSet<IpAddr> = found.into_iter().flat_map(|(addresses, _)| addresses).collect();
    let silent_on = silent_on.map(|(family, why)| (family, Arc::from(why)));
    Ok(Answer { silent_on, ..Answer::new(places(&addresses, port), good_for) })
}

fn places(addresses: &BTreeSet<IpAddr>, port: u16) -> Vec<Place> {
    let place = |ip: &IpAddr| Place::new(Source::from(Endpoint::from(SocketAddr::new(*ip, port))), Origin::Dns);
    addresses.iter().map(place).collect()
}

/// The shortest time to live among all records that led to the answer.
fn good_for(records: &[Record]) -> Duration {
    Duration::from_secs(records.iter().map(|record| u64::from(record.ttl)).min().unwrap_or_default())
}

/// What is not there, where that is what was answered.
fn absent(error: &NetError) -> Option<Absent> {
    match error {
        error if error.is_nx_domain() => Some(Absent::Name),
        error if error.is_no_records_found() => Some(Absent::Record),
        _ => None,
    }
}

/// What a failure says, in words.
fn words(error: &NetError) -> String {
    if let Some(absent) = absent(error) {
        return absent.to_string();
    }
    match error {
        NetError::Dns(DnsError::ResponseCode(code)) => format!("the name server failed ({code})"),
        NetError::Timeout => format!("no answer in {} s", WITHIN.as_secs()),
        NetError::NoConnections => "no name server can be reached".to_owned(),
        error => error.to_string(),
    }
}
