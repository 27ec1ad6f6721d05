//! Decimal numbers from bytes.

use crate::builder::Value;

/// The correctly rounded number that the whole text is, as the standard library reads it.
pub(crate) fn parse<T: Value>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
