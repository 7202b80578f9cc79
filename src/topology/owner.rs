//! Who coordinates the writes at a name: the owner of its first component.
//!
//! Where all writes of a name meet at one node they don't meet each other in flight. That is a matter of speed and of
//! few conflicts, not of safety: any live node may coordinate, and does when the owner doesn't answer. Rendezvous
//! hashing: each live node draws a number for the component, the highest owns it; when a node leaves, only what it
//! owned moves.

use super::NodeId;

/// The owner, among the live nodes, of the names whose first component this is; `None` where there are none.
pub fn owner(component: &str, live: impl IntoIterator<Item = NodeId>) -> Option<NodeId> {
    live.into_iter().max_by_key(|node| (weight(component, *node), *node))
}

/// FNV-1a over both, finished by a mixer, since FNV's high bits alone are no good dice. The same on every node.
fn weight(component: &str, node: NodeId) -> u64 {
    let bytes = component.bytes().chain([0]).chain(node.0.to_le_bytes());
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(nodes: &[u128]) -> Vec<NodeId> {
        (0..3000).filter_map(|i| owner(&format!("service{i}"), nodes.iter().copied().map(NodeId))).collect()
    }

    #[test]
    fn names_spread_evenly_and_only_those_of_the_leaver_move() {
        let (before, after) = (owners(&[1, 2, 3]), owners(&[1, 3]));
        for node in [1, 2, 3].map(NodeId) {
            let share = before.iter().filter(|owner| **owner == node).count();
            assert!((900..1100).contains(&share), "{node} owns {share} of 3000");
        }
        assert!(before.iter().zip(&after).all(|(was, is)| was == is || *was == NodeId(2)));
        assert_eq!(owner("orders", []), None);
    }
}
