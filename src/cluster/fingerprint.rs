//! A number for something, to compare it with another's: equal where that is equal and else, in all likelihood, not.

use super::vector::{Dot, Seen};

/// The number of all the writes that were seen.
pub fn of_seen(seen: &Seen) -> u64 {
    let of_dot = |dot: Dot, kind: u8| of(dot.actor.to_le_bytes().into_iter().chain(dot.sequence.to_le_bytes()).chain([kind]));
    let vector = seen.vector().iter().map(|dot| of_dot(dot, 0));
    vector.chain(seen.beyond().map(|dot| of_dot(dot, 1))).fold(0, |all, one| all ^ one)
}

/// FNV-1a, mixed, so that numbers of many things can be combined by `^`. The same in every build, on every machine.
pub(super) fn of(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ (hash >> 33)
}
