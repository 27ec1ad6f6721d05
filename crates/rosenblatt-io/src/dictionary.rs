//! Names and their numbers.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct names, numbered in order of first appearance.
///
/// All names lie in one arena and are looked up as bytes, so that a known name costs no allocation.
#[derive(Clone, Default)]
pub(crate) struct Dictionary {
    arena: Vec<u8>,
    /// Where each name ends in the arena.
    ends: Vec<usize>,
    slots: HashTable<Slot>,
    /// Seeded at random: names made to collide in one run do not in the next. Numbers do not depend on it.
    hasher: DefaultHashBuilder,
}

/// A name's number beside half of its hash, which spares most comparisons and all rehashing of names.
#[derive(Clone, Copy)]
struct Slot {
    id: u32,
    hash: u32,
}

/// Why a name has no number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// The byte at this place of the name is not UTF-8.
    NotUtf8(usize),
    /// There are 2³² − 1 names already.
    Full,
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a name that is known.
    #[inline]
    pub(crate) fn get(&self, name: &[u8]) -> Option<u32> {
        let hash = self.hash(name);
        let found = self.slots.find(spread(hash), |slot| slot.hash == hash && self.name(slot.id) == name);
        found.map(|slot| slot.id)
    }

    /// The number of a name, which is new if it equals the number of names before.
    #[inline]
    pub(crate) fn intern(&mut self, name: &[u8]) -> Result<u32, NoNumber> {
        match self.get(name) {
            Some(id) => Ok(id),
            None => self.add(name),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> Result<u32, NoNumber> {
        check_utf8(name)?;
        let id = u32::try_from(self.len()).ok().filter(|&id| id < u32::MAX).ok_or(NoNumber::Full)?;
        let hash = self.hash(name);
        self.arena.extend_from_slice(name);
        self.ends.push(self.arena.len());
        self.slots.insert_unique(spread(hash), Slot { id, hash }, |slot| spread(slot.hash));
        Ok(id)
    }

    /// The bytes of a name.
    #[inline]
    pub(crate) fn name(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.arena[start..self.ends[id]]
    }

    /// All names by number.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |id: usize| String::from_utf8_lossy(self.name(id as u32)).into_owned();
        (0..self.len()).map(name).collect()
    }

    #[inline]
    fn hash(&self, name: &[u8]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(name);
        (hasher.finish() >> 32) as u32
    }
}

/// Tables take the place from the low bits and a tag from the high ones: 32 bits of hash must reach both.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub(crate) fn check_utf8(name: &[u8]) -> Result<(), NoNumber> {
    std::str::from_utf8(name).map(|_| ()).map_err(|error| NoNumber::NotUtf8(error.valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_follow_first_appearance() {
        let mut names = Dictionary::default();
        let ids: Vec<u32> =
            ["b", "", "a", "b", ""].iter().map(|name| names.intern(name.as_bytes()).unwrap_or(99)).collect();
        assert_eq!(ids, [0, 1, 2, 0, 1]);
        assert_eq!(names.names(), ["b", "", "a"]);
        assert_eq!((names.get(b"a"), names.get(b"c")), (Some(2), None));
        assert_eq!(names.intern(b"x\xff"), Err(NoNumber::NotUtf8(1)));
        assert_eq!(names.len(), 3);
    }

    proptest! {
        #[test]
        fn a_dictionary_is_a_map(texts in prop::collection::vec("[a-c]{0,4}", 0..300)) {
            let (mut names, mut map) = (Dictionary::default(), HashMap::new());
            for text in &texts {
                let next = map.len() as u32;
                let expected = *map.entry(text).or_insert(next);
                prop_assert_eq!(names.intern(text.as_bytes()), Ok(expected));
            }
            prop_assert_eq!(names.len(), map.len());
        }
    }
}
