//! Following links: which name a lookup goes on with.
//!
//! A server that meets a link says where, its target and what remains of the name; a [`LinkWalk`] makes the next name
//! of it, and sees that the walk ends. It asks nobody: whoever drives it looks each name up.

use std::collections::HashSet;

use super::error::{Detail, ErrorKind, NamingError};
use super::name::Name;
use super::reference::LinkRef;
use super::shown::Short;

/// The links followed in one operation. Names are absolute. Few operations meet any: it is small where it stands.
#[derive(Clone, Debug)]
pub struct LinkWalk(Box<Walked>);

#[derive(Clone, Debug)]
struct Walked {
    /// The name asked for, then each name that a link led to.
    chain: Vec<Name>,
    links: HashSet<Name>,
    /// How far the name asked for was resolved: to the first link, which remains with what is behind it.
    first: Option<(Name, Name)>,
}

impl LinkWalk {
    /// How many links one operation follows.
    pub const MAX_LINKS: usize = 32;

    /// A walk that starts with this name.
    pub fn new(start: Name) -> Self {
        Self(Box::new(Walked { chain: vec![start], links: HashSet::new(), first: None }))
    }

    /// How many links were followed.
    pub fn followed(&self) -> usize {
        self.0.chain.len() - 1
    }

    /// The name asked for, then each name that a link led to.
    pub fn chain(&self) -> &[Name] {
        &self.0.chain
    }

    /// Follows the link bound at `at`, behind which `rest` remains, and gives the name to go on with. A target that
    /// starts with `./` is relative to the context in which the link is bound, every other one to the root.
    ///
    /// `LinkLoop`, with the chain, where the walk comes to a name it was at before, or takes too many links;
    /// `InvalidName` where the link leads to what is no name that an operation takes.
    pub fn follow(&mut self, at: &Name, target: &str, rest: &Name) -> Result<Name, NamingError> {
        self.0.first.get_or_insert_with(|| split(at, rest));
        let (name, relative) = LinkRef::parse_target(target).map_err(|error| self.blame(error))?;
        let base = if relative { at.parent().unwrap_or_default() } else { Name::empty() };
        let next = base.join(&name).join(rest);
        let been_there = self.0.chain.contains(&next);
        let known_link = !self.0.links.insert(at.clone());
        self.0.chain.push(next.clone());
        if been_there {
            return Err(self.refuse(&format!("the links lead round in a circle, back to '{}'", Short(next.as_str()))));
        }
        if self.followed() > Self::MAX_LINKS {
            return Err(self.refuse(&format!("over {} links follow each other", Self::MAX_LINKS)));
        }
        match next.check_operation() {
            Ok(()) => Ok(next),
            // A link that leads beneath itself makes the name longer each time round.
            Err(_) if known_link => Err(self.refuse(&format!("the link '{}' leads beneath itself", Short(at.as_str())))),
            Err(error) => {
                let (at, target) = (Short(at.as_str()), Short(target));
                let message = format!("behind the link '{at}' to '{target}': {}", error.fields().message);
                Err(self.blame(NamingError::new(ErrorKind::InvalidName, message)))
            }
        }
    }

    /// An error that a link leads to, told of the name that was asked for.
    fn blame(&self, error: NamingError) -> NamingError {
        let error = error.with_name(self.0.chain[0].as_str());
        match &self.0.first {
            Some((resolved, remaining)) => error.with_resolution(resolved.as_str(), remaining.as_str()),
            None => error,
        }
    }

    fn refuse(&self, message: &str) -> NamingError {
        let chain: Vec<String> = self.0.chain.iter().map(Name::to_string).collect();
        let error = NamingError::new(ErrorKind::LinkLoop, format!("{message}: {}", shown(&chain)));
        self.blame(error).with_detail(Detail::Chain(chain))
    }
}

/// The context in which a link stands, and what of the name remains there.
fn split(at: &Name, rest: &Name) -> (Name, Name) {
    let above = at.len().saturating_sub(1);
    (at.prefix(above), at.suffix(above).join(rest))
}

/// A chain as one line; of a long one, both ends.
fn shown(chain: &[String]) -> String {
    const ENDS: usize = 4;
    let joined = |part: &[String]| part.iter().map(|name| Short(name).to_string()).collect::<Vec<_>>().join(" → ");
    if chain.len() <= 2 * ENDS {
        return joined(chain);
    }
    format!("{} → … → {}", joined(&chain[..ENDS]), joined(&chain[chain.len() - ENDS..]))
}
