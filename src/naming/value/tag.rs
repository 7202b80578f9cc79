//! The first byte of each encoded value. The numbers stand on the wire and in stores: never reused.
//!
//! ```text
//! null    0
//! false   1
//! true    2
//! int     3  zigzag varint
//! float   4  8 bytes, little-endian bits
//! text    5  length, UTF-8
//! bytes   6  length, bytes
//! list    7  count, values
//! dict    8  count, (key text without tag, value) in ascending order of keys
//! ref     9  class text, count, (kind text, text or bytes with tag), null or factory with tag
//! link   10  target text
//! ```
//! Lengths and counts are varints (LEB128) in their shortest form.

pub(super) const NULL: u8 = 0;
pub(super) const FALSE: u8 = 1;
pub(super) const TRUE: u8 = 2;
pub(super) const INT: u8 = 3;
pub(super) const FLOAT: u8 = 4;
pub(super) const STR: u8 = 5;
pub(super) const BYTES: u8 = 6;
pub(super) const LIST: u8 = 7;
pub(super) const DICT: u8 = 8;
pub(super) const REFERENCE: u8 = 9;
pub(super) const LINK: u8 = 10;
