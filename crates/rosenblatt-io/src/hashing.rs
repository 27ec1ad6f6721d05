//! Names hashed into buckets.

use xxhash_rust::xxh3::xxh3_64;

use crate::dictionary::{Dictionary, Key, NONE, NoNumber};

/// How names share the buckets they were hashed into.
///
/// The bucket of a name is the low bits of its XXH3-64 with seed 0. The counts are exact: while rows are read to learn
/// from, every distinct name is remembered.
///
/// ```
/// use rosenblatt_io::{Hashing, ReadOptions, parse};
/// let options = ReadOptions { hash: Some(1), ..Default::default() };
/// let table = parse(b"1 | a b\n0 | a c d\n", "x.vw", &options)?;
/// assert_eq!((table.features.count, table.features.hash), (2, Some(1)));
/// let Hashing { names, shared, buckets_used, .. } = table.hashing.unwrap();
/// assert_eq!(names, 4);
/// assert!(buckets_used <= 2 && shared >= 3);
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hashing {
    /// There are 2^bits buckets.
    pub bits: u8,
    /// Distinct names.
    pub names: u64,
    /// Names that have their bucket not to themselves.
    pub shared: u64,
    /// Buckets that have a name.
    pub buckets_used: u64,
}

impl Hashing {
    /// The fewest and the most bits there may be: columns are 32-bit numbers, and one bucket tells nothing apart.
    pub(crate) const BITS: std::ops::RangeInclusive<u8> = 1..=31;

    fn of(bits: u8, buckets: &[u32]) -> Hashing {
        let mut sorted = buckets.to_vec();
        sorted.sort_unstable();
        let groups = || sorted.chunk_by(|a, b| a == b);
        let shared = groups().filter(|group| group.len() > 1).map(|group| group.len() as u64).sum();
        Hashing { bits, names: sorted.len() as u64, shared, buckets_used: groups().count() as u64 }
    }
}

/// The bucket of a name.
pub(crate) fn bucket(name: &[u8], bits: u8) -> u32 {
    (xxh3_64(name) & ((1 << bits) - 1)) as u32
}

/// Distinct names with their buckets, so that each is hashed once.
#[derive(Default)]
pub(crate) struct Buckets {
    pub(crate) names: Dictionary,
    buckets: Vec<u32>,
}

impl Buckets {
    /// The bucket of a name that is known.
    #[inline]
    pub(crate) fn find(&self, key: Key, name: &[u8]) -> Option<u32> {
        self.names.find(key, name).map(|id| self.buckets[id as usize])
    }

    /// The same if it is found at a glance, else `NONE`.
    #[inline(always)]
    pub(crate) fn glance(&self, key: Key) -> u32 {
        self.buckets.get(self.names.glance(key) as usize).copied().unwrap_or(NONE)
    }

    /// The bucket of a name, which is remembered.
    pub(crate) fn intern(&mut self, key: Key, name: &[u8], bits: u8) -> Result<u32, NoNumber> {
        let id = self.names.intern_as(key, name)? as usize;
        if id == self.buckets.len() {
            self.buckets.push(bucket(name, bits));
        }
        Ok(self.buckets[id])
    }

    pub(crate) fn report(&self, bits: u8) -> Hashing {
        Hashing::of(bits, &self.buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frozen: models depend on it.
    #[test]
    fn buckets_are_xxh3_of_the_name() {
        assert_eq!(xxh3_64(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(bucket(b"", 31), 0x38d3_94c2);
        assert_eq!(bucket(b"", 8), 0xc2);
    }

    #[test]
    fn names_that_share_are_counted() {
        let expected = Hashing { bits: 4, names: 6, shared: 5, buckets_used: 3 };
        assert_eq!(Hashing::of(4, &[9, 2, 9, 7, 2, 9]), expected);
    }
}
