//! Contexts for Rust programs: names and what is bound to them, over any [`Driver`].
//!
//! Thin: an operation becomes an [`Invocation`], the driver carries it, and the product becomes what the caller wants.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::Attempt;
use crate::naming::{Content, EntryKind, Listed, Name, NamingError, Value};
use crate::protocol::{Became, Found, OperationId, Report, Scope, SurveyItem, TreeChoice, WatchScope, Written};
use crate::topology::View;

use super::blocking::Client;
use super::config::{ClientConfig, check_time};
use super::driver::Driver;
use super::invocation::{BindOptions, Invocation, Located, OneOfMany, Product, Subject};
use super::target::Target;
use super::trail::Trail;
use super::watch::Watch;

/// What is bound at a name.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A value, a reference or (where it wasn't followed) a link.
    Value(Value),
    /// A context, rooted there.
    Context(Context),
}

impl Bound {
    /// The value; `None` for a context.
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Context(_) => None,
        }
    }
}

/// What a name resolves to, and how that was found out.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// What is bound, in which tree of which node, and who was asked.
    pub found: Found,
    /// The tries that it took.
    pub attempts: Vec<Attempt>,
}

/// A context: the names beneath some name. Cheap to clone.
///
/// ```
/// use hanaming::client::Context;
/// use hanaming::naming::Value;
/// use hanaming::server::{Node, ServerConfig};
///
/// let node = Node::start(ServerConfig::new("n1"))?;
/// let local = Context::connect(&format!("hn://{}", node.endpoint()))?;
/// local.create_subcontext("services")?;
/// local.bind("services/orders", &Value::Str("http://10.0.0.5:8080".into()))?;
/// assert_eq!(local.list("services")?[0].component, "orders");
///
/// assert!(local.unbind("services/orders")?);
/// assert!(!local.unbind("services/orders")?);
/// assert!(local.get("services/orders")?.is_none());
/// # Ok::<(), hanaming::naming::NamingError>(())
/// ```
#[derive(Clone)]
pub struct Context {
    driver: Arc<dyn Driver>,
    base: Name,
    timeout: Option<Duration>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({:?})", self.base.as_str())
    }
}

impl Context {
    /// The local tree of the one node at `provider`, from outside. It never fails over.
    pub fn connect(provider: &str) -> Result<Self, NamingError> {
        Ok(Self::over(Arc::new(Client::new(ClientConfig::local(provider)?)?)))
    }

    /// The root context over a driver.
    pub fn over(driver: Arc<dyn Driver>) -> Self {
        Self { driver, base: Name::empty(), timeout: None }
    }

    /// The same context, whose operations have `timeout` each.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self.clone() }
    }

    /// Its name from the root.
    pub fn name(&self) -> &Name {
        &self.base
    }

    /// What is bound at a name; links are followed.
    pub fn lookup(&self, name: &str) -> Result<Bound, NamingError> {
        let (subject, full) = self.subject(name)?;
        let located = self.locate(Invocation::lookup(subject)?)?;
        self.located(located, full)
    }

    /// What is bound at a name, or `None` where every live node has said that there is nothing.
    pub fn get(&self, name: &str) -> Result<Option<Bound>, NamingError> {
        let (subject, full) = self.subject(name)?;
        match self.perform(Invocation::get(subject)?)? {
            Product::Found(located) => self.located(located, full).map(Some),
            _ => Ok(None),
        }
    }

    /// What is bound at a name; a link at the end is given and not followed.
    pub fn lookup_link(&self, name: &str) -> Result<Bound, NamingError> {
        let (subject, full) = self.subject(name)?;
        let located = self.locate(Invocation::lookup_link(subject)?)?;
        self.located(located, full)
    }

    /// What is bound at each of many names, in their order, with as few requests as possible.
    pub fn lookup_many(&self, names: &[&str]) -> Result<Vec<Option<Bound>>, NamingError> {
        let names: Vec<Name> = names.iter().map(|name| Name::parse(name)).collect::<Result<_, _>>()?;
        let given = names.iter().map(Name::as_str).collect();
        let Product::Many(items) = self.perform(Invocation::lookup_many(&self.base, given)?)? else { return Ok(Vec::new()) };
        let bound = |(item, name): (Option<OneOfMany>, &Name)| {
            let at = |item: &OneOfMany| item.at.cloned().unwrap_or_else(|| self.base.join(name));
            item.map(|item| self.bound(item.kind, item.value, at(&item))).transpose()
        };
        items.iter().zip(&names).map(bound).collect()
    }

    /// What a name resolves to, from which tree of which node, and how that was found out.
    pub fn resolve(&self, name: &str) -> Result<Resolution, NamingError> {
        let invocation = Invocation::lookup(self.subject(name)?.0)?;
        let (product, trail) = self.carry(invocation, self.timeout)?;
        Ok(Resolution { found: located(product)?.found, attempts: trail.attempts() })
    }

    /// What every node has at a name.
    pub fn survey(&self, name: &str) -> Result<Vec<SurveyItem>, NamingError> {
        match self.perform(Invocation::survey(self.subject(name)?.0)?)? {
            Product::Survey(items) => Ok(items),
            other => Err(other_than_asked(&other)),
        }
    }

    /// Binds a name that is free.
    pub fn bind(&self, name: &str, value: &Value) -> Result<Written, NamingError> {
        self.bind_content(name, content(name, value)?, BindOptions::default())
    }

    /// Binds a name; what was bound there gives way.
    pub fn rebind(&self, name: &str, value: &Value) -> Result<Written, NamingError> {
        self.bind_content(name, content(name, value)?, BindOptions { replace: true, ..BindOptions::default() })
    }

    /// Binds a name as the options say.
    pub fn bind_content(&self, name: &str, content: Content, options: BindOptions) -> Result<Written, NamingError> {
        written(self.perform(Invocation::bind(self.subject(name)?.0, content, options)?)?)
    }

    /// Removes what is bound at a name; whether something was.
    pub fn unbind(&self, name: &str) -> Result<bool, NamingError> {
        removed(self.perform(Invocation::unbind(self.subject(name)?.0)?)?)
    }

    /// Moves a value.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), NamingError> {
        written(self.perform(Invocation::rename(self.subject(from)?.0, self.subject(to)?.0)?)?).map(drop)
    }

    /// Makes a context.
    pub fn create_subcontext(&self, name: &str) -> Result<Self, NamingError> {
        let (subject, full) = self.subject(name)?;
        written(self.perform(Invocation::create_subcontext(subject, false)?)?)?;
        Ok(Self { base: full, ..self.clone() })
    }

    /// Removes an empty context; whether there was one.
    pub fn destroy_subcontext(&self, name: &str) -> Result<bool, NamingError> {
        removed(self.perform(Invocation::destroy_subcontext(self.subject(name)?.0)?)?)
    }

    /// The names in a context, merged from all trees that this context is of.
    pub fn list(&self, name: &str) -> Result<Vec<Listed>, NamingError> {
        self.list_tree(name, TreeChoice::All, false)
    }

    /// The names in a context, from the trees chosen, with their values where wanted.
    pub fn list_tree(&self, name: &str, tree: TreeChoice, values: bool) -> Result<Vec<Listed>, NamingError> {
        match self.perform(Invocation::list(self.subject(name)?.0, tree, values)?)? {
            Product::Listing(rows) => Ok(rows),
            other => Err(other_than_asked(&other)),
        }
    }

    /// What is bound at a name, as soon as it can be looked up; `TimeLimitExceeded` where that takes longer than `timeout`.
    pub fn wait_for(&self, name: &str, timeout: Duration) -> Result<Bound, NamingError> {
        let (subject, full) = self.subject(name)?;
        let (product, _) = self.carry(Invocation::wait_for(subject)?, Some(timeout))?;
        self.located(located(product)?, full)
    }

    /// Begins to watch a name, and with it what lies beneath as far as `scope` says: what is written from now on is told, and
    /// with `initial` first what is bound. The names in events are from the root.
    pub fn watch(&self, name: &str, scope: WatchScope, initial: bool) -> Result<Watch, NamingError> {
        let (_, full) = self.subject(name)?;
        let begin = || {
            let watch = self.driver.watch(full, scope, initial)?;
            watch.begun(self.timeout.unwrap_or(Duration::MAX), &mut || false)?;
            Ok(watch)
        };
        begin().map_err(|error: NamingError| error.with_name(name))
    }

    /// Mismatches, hidden bindings and conflicts beneath a name.
    pub fn check(&self, name: &str) -> Result<Report, NamingError> {
        match self.perform(Invocation::check(self.subject(name)?.0)?)? {
            Product::Report(report) => Ok(report),
            other => Err(other_than_asked(&other)),
        }
    }

    /// Ends a conflict: the version that is shown as `keep` stays, or (`None`) a context that is there for what lies under it.
    pub fn resolve_conflict(&self, name: &str, keep: Option<&str>) -> Result<Written, NamingError> {
        written(self.perform(Invocation::resolve_conflict(self.subject(name)?.0, keep.map(str::to_owned))?)?)
    }

    /// What became of a change, as far as the live nodes know.
    pub fn operation_status(&self, id: OperationId) -> Result<Became, NamingError> {
        match self.perform(Invocation::became(id))? {
            Product::Became(became) => Ok(became),
            other => Err(other_than_asked(&other)),
        }
    }

    /// A dead member never comes back: no live node counts it any longer.
    pub fn forget(&self, node: &str) -> Result<(), NamingError> {
        match self.perform(Invocation::forget(node))? {
            Product::Accepted => Ok(()),
            other => Err(other_than_asked(&other)),
        }
    }

    /// Ends it, with all contexts over the same driver.
    pub fn close(&self) {
        self.driver.close();
    }

    fn subject(&self, name: &str) -> Result<(Subject, Name), NamingError> {
        let subject = Subject::new(&self.base, &Name::parse(name)?);
        let full = subject.full().clone();
        Ok((subject, full))
    }

    fn perform(&self, invocation: Invocation) -> Result<Product, NamingError> {
        self.carry(invocation, self.timeout).map(|(product, _)| product)
    }

    fn carry(&self, invocation: Invocation, timeout: Option<Duration>) -> Result<(Product, Trail), NamingError> {
        if let Some(timeout) = timeout {
            check_time("timeout", timeout)?;
        }
        self.driver.perform(invocation, timeout, &mut || false)
    }

    fn locate(&self, invocation: Invocation) -> Result<Located, NamingError> {
        located(self.perform(invocation)?)
    }

    fn located(&self, located: Located, full: Name) -> Result<Bound, NamingError> {
        let content = &located.found.content;
        self.bound(content.kind, &content.value, located.at.unwrap_or(full))
    }

    fn bound(&self, kind: EntryKind, value: &[u8], at: Name) -> Result<Bound, NamingError> {
        if kind == EntryKind::Context {
            return Ok(Bound::Context(Self { base: at, ..self.clone() }));
        }
        Value::of_kind(kind, value).map(Bound::Value)
    }
}

/// The unified view of a whole cluster, which goes on while servers fail. Cheap to clone.
///
/// ```
/// use hanaming::client::HaContext;
/// use hanaming::naming::Value;
/// use hanaming::server::{Node, ServerConfig};
///
/// let n1 = Node::start(ServerConfig::new("n1"))?;
/// let n2 = Node::start(ServerConfig { seeds: vec![n1.endpoint()], ..ServerConfig::new("n2") })?;
/// let ha = HaContext::connect([format!("hn://{},{}", n1.endpoint(), n2.endpoint()).as_str()])?;
///
/// let own = Value::Str("bound in n1's own tree".into());
/// hanaming::client::Context::connect(&n1.endpoint().to_string())?.bind("orders", &own)?;
/// assert_eq!(ha.lookup("orders")?.value(), Some(own), "found through either node");
///
/// n2.close();
/// assert!(ha.get("orders")?.is_some());
/// # Ok::<(), hanaming::naming::NamingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HaContext {
    client: Client,
    root: Context,
}

impl HaContext {
    /// The cluster whose servers the provider texts name; without any, the one on loopback. Nothing is dialled yet.
    pub fn connect<'a>(providers: impl IntoIterator<Item = &'a str>) -> Result<Self, NamingError> {
        Self::new(ClientConfig::from_providers(providers)?)
    }

    /// The cluster, with these options.
    pub fn new(config: ClientConfig) -> Result<Self, NamingError> {
        let client = Client::new(ClientConfig { scope: Scope::Cluster, ..config })?;
        Ok(Self { root: Context::over(Arc::new(client.clone())), client })
    }

    /// The servers that it knows, as they are now, and for how long it has known each. Nothing is asked.
    pub fn targets(&self) -> Vec<(Target, Duration)> {
        self.client.targets()
    }

    /// The newest view that a server told. Nothing is asked.
    pub fn view(&self) -> Option<Arc<View>> {
        self.client.view()
    }
}

/// All operations are those of the root context.
impl Deref for HaContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.root
    }
}

/// A value as it is bound at a name.
fn content(name: &str, value: &Value) -> Result<Content, NamingError> {
    value.to_content().map_err(|error| error.with_name(name))
}

fn located(product: Product) -> Result<Located, NamingError> {
    match product {
        Product::Found(located) => Ok(located),
        other => Err(other_than_asked(&other)),
    }
}

fn written(product: Product) -> Result<Written, NamingError> {
    match product {
        Product::Written(written) => Ok(written),
        other => Err(other_than_asked(&other)),
    }
}

fn removed(product: Product) -> Result<bool, NamingError> {
    match product {
        Product::Removed { existed, .. } => Ok(existed),
        other => Err(other_than_asked(&other)),
    }
}

/// A node that breaks the protocol can say that it has written where it was asked to remove.
fn other_than_asked(product: &Product) -> NamingError {
    super::invocation::unexpected(&format!("{product:?}"))
}
