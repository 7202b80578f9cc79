//! What every tree says of one name, for people who want to know why a lookup is answered as it is.

use std::sync::Arc;

use tokio::time::Instant;

use crate::naming::{ErrorKind, Source};
use crate::protocol::{Answer, Operation, Reply, Scope, SurveyAnswer, SurveyItem};

use super::listing::until;
use super::own::Told;
use crate::server::core::Core;
use crate::server::peers::ask_all;

impl Core {
    /// The answers of the own trees, where those are all that is asked for.
    pub fn survey_now(&self, scope: Scope, name: &str) -> Option<Reply> {
        if scope == Scope::Cluster && !self.is_alone() {
            return None;
        }
        Some(match self.survey_own(scope, name) {
            Ok(items) => Reply::Done(Answer::Survey(items)),
            Err(refusal) => refusal,
        })
    }

    /// The answers of all trees; a node that gave none in time is marked as silent.
    pub async fn survey(self: Arc<Self>, name: String, deadline: Instant) -> Reply {
        let mut items = match self.survey_own(Scope::Cluster, &name) {
            Ok(items) => items,
            Err(refusal) => return refusal,
        };
        for (peer, told) in ask_all(&self.peers, &self.bulletins, &Operation::Lookup { name }, until(deadline)).await {
            let answer = told.map_or(SurveyAnswer::Silent, |reply| heard(reply, &peer.name));
            items.push(SurveyItem { node: peer.name, source: Source::Peer, answer });
        }
        Reply::Done(Answer::Survey(items))
    }

    fn survey_own(&self, scope: Scope, name: &str) -> Result<Vec<SurveyItem>, Reply> {
        let mut items = Vec::new();
        let cluster = (scope == Scope::Cluster).then_some((&self.cluster, Source::Cluster));
        for (tree, source) in cluster.into_iter().chain([(&self.local, Source::Local)]) {
            let answer = match self.look(tree, source, name) {
                Told::Found(found) => SurveyAnswer::Found(found),
                Told::Link(link) => SurveyAnswer::Link(link),
                Told::Absent(_) => SurveyAnswer::Absent,
                told @ (Told::Fault(_) | Told::Unknown { .. }) => return Err(told.into_reply()),
            };
            items.push(SurveyItem { node: Arc::clone(&self.name), source, answer });
        }
        Ok(items)
    }
}

/// What a peer's reply to a lookup says. An answer that can't be used is as good as none.
fn heard(reply: Reply, peer: &Arc<str>) -> SurveyAnswer {
    match reply {
        Reply::Done(Answer::Found(mut found)) => {
            (found.source, found.node) = (Source::Peer, Arc::clone(peer));
            SurveyAnswer::Found(found)
        }
        Reply::Done(Answer::Link(mut link)) => {
            (link.found.source, link.found.node) = (Source::Peer, Arc::clone(peer));
            SurveyAnswer::Link(link)
        }
        Reply::Failed(fault) if matches!(ErrorKind::from_code(fault.code), ErrorKind::NameNotFound | ErrorKind::NotContext) => {
            SurveyAnswer::Absent
        }
        Reply::Done(_) | Reply::Failed(_) => SurveyAnswer::Silent,
    }
}
