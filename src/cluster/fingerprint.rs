//! A number for something, to compare it with another's: equal where that is equal and else, in all likelihood, not.

/// FNV-1a, mixed, so that numbers of many things can be combined by `^`. The same in every build, on every machine.
pub(super) fn of(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ (hash >> 33)
}
