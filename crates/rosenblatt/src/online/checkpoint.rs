//! A learner between two examples as bytes, exact to the bit.

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) fn pack(value: &impl Serialize) -> Vec<u8> {
    // Fails only for sequences of unknown length, which no learner has.
    postcard::to_stdvec(value).unwrap_or_default()
}

/// `None` if the bytes are not such a value, or more than that.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}
