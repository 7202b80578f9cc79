//! What every tree says of one name, for people who want to know why a lookup is answered as it is.
//!
//! Every node tells of its local tree and of its copy of the cluster tree. All copies say the same but for moments, in a
//! split or with a node that lags; so of the others' copies only those are told that say something else.

use std::sync::Arc;

use tokio::time::Instant;

use crate::naming::{Content, Source};
use crate::protocol::{Answer, LinkMet, Operation, Reply, Scope, SurveyAnswer, SurveyItem};

use super::listing::until;
use super::own::Told;
use crate::server::core::Core;
use crate::server::peers::ask_all;
use crate::server::peers::delegation::Reach;

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
        for (peer, told) in ask_all(&self.peers, &self.bulletins, &Operation::Survey { name }, until(deadline)).await {
            let told = told.map_or_else(|| vec![silent(&peer.name)], |reply| heard(reply, &peer.name));
            for item in told {
                if item.source != Source::Cluster || says_something_else(&item, &items) {
                    items.push(item);
                }
            }
        }
        Reply::Done(Answer::Survey(items))
    }

    fn survey_own(&self, scope: Scope, name: &str) -> Result<Vec<SurveyItem>, Reply> {
        let mut items = Vec::new();
        let cluster = (scope != Scope::Local).then_some((&self.cluster, Source::Cluster));
        for (tree, source) in cluster.into_iter().chain([(&self.local, Source::Local)]) {
            let answer = match self.look(tree, source, name) {
                Told::Found(found) => SurveyAnswer::Found(found),
                Told::Link(link) => SurveyAnswer::Link(link),
                Told::Absent(absence) => {
                    let Reach { not_context, resolved } = absence.reach();
                    SurveyAnswer::Absent { not_context, resolved }
                }
                told @ (Told::Fault(_) | Told::Unknown { .. }) => return Err(told.into_reply()),
            };
            items.push(SurveyItem { node: Arc::clone(&self.name), source, answer });
        }
        Ok(items)
    }
}

/// What a peer's reply says of its trees, seen from here. An answer that can't be used is as good as none.
fn heard(reply: Reply, peer: &Arc<str>) -> Vec<SurveyItem> {
    let Reply::Done(Answer::Survey(mut items)) = reply else { return vec![silent(peer)] };
    for item in &mut items {
        item.node = Arc::clone(peer);
        if item.source != Source::Cluster {
            item.source = Source::Peer;
        }
        if let SurveyAnswer::Found(found) | SurveyAnswer::Link(LinkMet { found, .. }) = &mut item.answer {
            (found.source, found.node) = (item.source, Arc::clone(peer));
        }
    }
    items
}

fn silent(peer: &Arc<str>) -> SurveyItem {
    SurveyItem { node: Arc::clone(peer), source: Source::Peer, answer: SurveyAnswer::Silent }
}

/// Whether a copy of the cluster tree has what the others that were told of have not.
fn says_something_else(item: &SurveyItem, known: &[SurveyItem]) -> bool {
    let Some(says) = says(&item.answer) else { return false };
    !known.iter().any(|known| known.source == Source::Cluster && self::says(&known.answer) == Some(says))
}

/// Where, and what.
fn says(answer: &SurveyAnswer) -> Option<(&str, &Content)> {
    match answer {
        SurveyAnswer::Found(found) => Some(("", &found.content)),
        SurveyAnswer::Link(link) => Some((&link.at, &link.found.content)),
        SurveyAnswer::Absent { .. } | SurveyAnswer::Silent => None,
    }
}
