//! Which dialect a text is in.

use super::reading::Reading;
use super::{ProviderError, ProviderUrl, corba, excerpt, hn, jnp, ldap, list, own, remote, rmi, weblogic, websphere};

/// The product that a program was configured for, where that is known. It decides what two products spell alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// JBoss's JNP.
    Jnp,
    /// WebLogic.
    WebLogic,
    /// WebSphere.
    WebSphere,
    /// WildFly and JBoss EAP.
    WildFly,
    /// Any other whose context factory is known: CORBA's naming service, the RMI registry, LDAP.
    Other,
}

/// Reads the provider URL of any system. A bare list is JNP's, unless the product says otherwise.
///
/// ```
/// use hanaming::discovery::provider_url;
///
/// let url = provider_url::read("t3://acme1,acme2:7001", None)?;
/// let shown: Vec<_> = url.endpoints.iter().map(|e| (e.host.as_str(), e.port)).collect();
/// assert_eq!(shown, [("acme1", Some(7001)), ("acme2", Some(7001))]);
/// # Ok::<(), provider_url::ProviderError>(())
/// ```
pub fn read(text: &str, product: Option<Product>) -> Result<ProviderUrl, ProviderError> {
    let mut notes = Vec::new();
    let trimmed = unquoted(text, &mut notes);
    if trimmed.is_empty() {
        let problem = "it is empty; write scheme://host:port, for instance hn://host:11100".to_owned();
        return Err(ProviderError { text: text.to_owned(), problem });
    }
    let (scheme, body) = split(trimmed, &mut notes);
    let dialect = match scheme {
        Some(scheme) => dialect(scheme, product).ok_or_else(|| unknown(text, scheme, body))?,
        None if product == Some(Product::WebLogic) => weblogic::read,
        None => jnp::read,
    };
    let bare = if product == Some(Product::WebLogic) { "t3" } else { "jnp" };
    let mut reading = Reading::new(text, scheme.unwrap_or(bare));
    for note in notes {
        reading.warn(note);
    }
    dialect(&mut reading, body);
    reading.finish()
}

type Dialect = fn(&mut Reading<'_>, &str);

fn dialect(scheme: &str, product: Option<Product>) -> Option<Dialect> {
    let scheme = scheme.to_ascii_lowercase();
    Some(match scheme.as_str() {
        "hn" => hn::read_list,
        "hn+srv" => hn::read_source,
        "hn+mdns" => hn::read_cluster,
        "jnp" | "jnps" | "jnp-http" | "jnp-https" => jnp::read,
        "corbaloc" | "corbaname" => corba::read,
        "rmi" => rmi::read,
        "ldap" | "ldaps" => ldap::read,
        "iiop" if product != Some(Product::WebLogic) => websphere::read,
        "http" | "https" if product == Some(Product::WildFly) => remote::read,
        other if weblogic::SCHEMES.contains(&other) => weblogic::read,
        other if remote::SCHEMES.iter().any(|(known, _)| *known == other) => remote::read,
        _ => return None,
    })
}

/// Without a comment behind it, and without quotes around the whole, as they stand in scripts.
fn unquoted<'a>(text: &'a str, notes: &mut Vec<String>) -> &'a str {
    let mut trimmed = text.trim();
    if let Some(at) = [" #", "\t#", " !", "\t!"].iter().filter_map(|mark| trimmed.find(mark)).min() {
        notes.push(format!(
            "{} is left out: in a properties file no comment follows a value on its line",
            excerpt(&trimmed[at..])
        ));
        trimmed = trimmed[..at].trim_end();
    }
    for quote in ['"', '\''] {
        if let Some(inner) = trimmed.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            notes.push("the quotes around it are left out: a value stands without any".to_owned());
            return inner.trim();
        }
    }
    trimmed
}

/// The scheme, and what the dialect is given: the text behind the colon of `corbaloc:`, else the whole text, since its
/// entries may have schemes of their own.
fn split<'a>(text: &'a str, notes: &mut Vec<String>) -> (Option<&'a str>, &'a str) {
    let Some((scheme, rest)) = text.split_once(':') else { return (None, text) };
    if scheme.eq_ignore_ascii_case("corbaloc") || scheme.eq_ignore_ascii_case("corbaname") {
        return (Some(scheme), rest);
    }
    if let Some((scheme, rest)) = list::scheme(text) {
        let named = matches!(scheme.to_ascii_lowercase().as_str(), "hn+srv" | "hn+mdns");
        return (Some(scheme), if named { rest } else { text });
    }
    // `t3:h:7001` and `t3:/h:7001`; `t3:7001` is a host of that name.
    let host = rest.trim_start_matches('/');
    let is_port = host.split([',', ';', '/', ' ']).next().is_some_and(|first| first.bytes().all(|b| b.is_ascii_digit()));
    if !is_port && dialect(scheme, None).is_some() {
        notes.push(format!("{} has no // behind its scheme; write {scheme}://host:port", excerpt(text)));
        return (Some(scheme), host);
    }
    (None, text)
}

fn unknown(text: &str, scheme: &str, body: &str) -> ProviderError {
    let rest = body.split_once("://").map_or(body, |(_, rest)| rest);
    if let Some(problem) = own::meant(scheme, rest) {
        return ProviderError { text: text.to_owned(), problem };
    }
    let known = "hn, hn+srv, hn+mdns, jnp, t3, t3s, http, https, iiop, iiops, corbaloc, corbaname, rmi, ldap, ldaps, remote+http, \
                 remote+https, http-remoting, https-remoting and remote";
    ProviderError { text: text.to_owned(), problem: format!("the scheme {} is unknown; read are {known}", excerpt(scheme)) }
}
