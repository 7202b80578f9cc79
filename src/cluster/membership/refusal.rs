//! Why one node does not want another, in words that name the remedy.

use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Fault, Introduction};
use crate::topology::{ClusterId, Member};

fn configuration(message: String) -> Fault {
    Fault::new(ErrorKind::Configuration, CompletionStatus::No, message)
}

/// Both sides tell the same in the same words, so that it is one warning, whoever found out.
fn in_order<T>(mut sides: [(&Member, T); 2]) -> [(&Member, T); 2] {
    sides.sort_by(|one, other| (&one.0.name, one.0.id).cmp(&(&other.0.name, other.0.id)));
    sides
}

pub(super) fn other_cluster(me: &Member, cluster: &str, them: &Introduction) -> Fault {
    let [first, second] = in_order([(me, cluster), (&them.member, &them.cluster)]);
    configuration(format!(
        "node {} at {} belongs to the cluster named '{}', node {} at {} to '{}': give both the same cluster name, or take the \
         one from the other's seeds",
        first.0.name, first.0.endpoint, first.1, second.0.name, second.0.endpoint, second.1
    ))
}

pub(super) fn other_id(me: &Member, cluster: &str, ids: [Option<ClusterId>; 2], them: &Member) -> Fault {
    let [mine, theirs] = ids.map(|id| id.map_or_else(String::new, |id| format!("{:08x}", id.0 >> 96)));
    let [first, second] = in_order([(me, mine), (them, theirs)]);
    configuration(format!(
        "two clusters named '{cluster}' met, which formed apart from each other: node {} at {} is of cluster {}, node {} at {} \
         of cluster {}. Neither gives way. To unite them, restart the nodes of one with seeds of the other \
         (where they have data folders, with empty ones); else give one \
         another name",
        first.0.name, first.0.endpoint, first.1, second.0.name, second.0.endpoint, second.1
    ))
}

pub(super) fn name_taken(bearer: &Member, later: &Member) -> Fault {
    configuration(format!(
        "the node name '{}' is taken by the live node at {}; the node at {} came later: give it another name, or stop the \
         first",
        bearer.name, bearer.endpoint, later.endpoint
    ))
}

/// Not final: whether the old bearer of the name still lives is being found out.
pub(super) fn name_in_question(bearer: &Member) -> Fault {
    Fault::new(
        ErrorKind::ServiceUnavailable,
        CompletionStatus::No,
        format!("the node name '{}' was just now borne by a node at {}; try again soon", bearer.name, bearer.endpoint),
    )
}

pub(super) fn leaving(them: &Member) -> Fault {
    Fault::new(ErrorKind::ServiceUnavailable, CompletionStatus::No, format!("node {} is leaving", them.name))
}
