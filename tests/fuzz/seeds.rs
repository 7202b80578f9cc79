//! Sound bytes, damaged: random bytes alone never come far into a decoder.

/// What a fuzzer chooses: one of the sound inputs, the bytes put elsewhere in it, and where it is cut.
pub type Choice = (u8, Vec<(u16, u8)>, u16);

/// The chosen input with its damage. Cutting beyond the end leaves it whole, so half of all inputs are.
pub fn damaged(sound: &[Vec<u8>], (chosen, damage, cut): &Choice) -> Vec<u8> {
    let mut bytes = sound[usize::from(*chosen) % sound.len()].clone();
    for (at, byte) in damage.iter().take(4) {
        if !bytes.is_empty() {
            let at = usize::from(*at) % bytes.len();
            bytes[at] = *byte;
        }
    }
    bytes.truncate(usize::from(*cut) % (2 * bytes.len() + 1));
    bytes
}
