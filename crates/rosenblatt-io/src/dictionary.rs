//! Names and their numbers.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use rosenblatt::simd;

/// Distinct names, numbered in order of first appearance.
///
/// A short name stands in its slot of the table, so that finding it costs one cache line; all names lie in one arena.
/// Collisions go to the next slot: names met early, which tend to be the frequent ones, are found at the first look.
#[derive(Clone)]
pub(crate) struct Dictionary {
    arena: Vec<u8>,
    /// Where each name ends in the arena.
    ends: Vec<usize>,
    /// A power of two of them, at most half in use.
    slots: Vec<Slot>,
    seeds: Seeds,
}

/// A key and its number in 16 bytes.
#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u32,
    /// `NONE` where the slot is free.
    id: u32,
}

impl Slot {
    #[inline(always)]
    fn has(&self, key: Key) -> bool {
        (self.low == key.low) & (self.high == key.high)
    }
}

/// No name has this number.
pub(crate) const NONE: u32 = u32::MAX;
const FREE: Slot = Slot { low: 0, high: u32::MAX, id: NONE };
const FEWEST_SLOTS: usize = 16;

/// A short name itself, or the hash of a long one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// The first eight bytes of a short name.
    low: u64,
    /// Three more of them below the length; `LONG` and the length for a long name.
    high: u32,
}

impl Key {
    /// The bytes of the longest name that fits a key.
    pub(crate) const ROOM: usize = 11;
    /// No length of a short name has these bits.
    const LONG: u32 = 0x8000_0000;

    /// A name of any length.
    pub(crate) fn of(name: &[u8], seeds: Seeds) -> Key {
        if name.len() <= Key::ROOM {
            let (low, high) = name.split_at(name.len().min(8));
            return Key::short(u128::from(word(high)) << 64 | u128::from(word(low)), name.len());
        }
        Key { low: seeds.hash(name), high: Key::LONG | (name.len() & 0xFFFF) as u32 }
    }

    /// A name of at most `ROOM` bytes, the first one lowest, with zeros behind them.
    #[inline(always)]
    pub(crate) fn short(bytes: u128, length: usize) -> Key {
        Key { low: bytes as u64, high: (bytes >> 64) as u32 | (length as u32) << 24 }
    }

    /// A short name and its length.
    pub(crate) fn bytes(self) -> ([u8; 16], usize) {
        let high = u128::from(self.high & 0x00FF_FFFF);
        ((high << 64 | u128::from(self.low)).to_le_bytes(), (self.high >> 24) as usize)
    }

    #[inline]
    pub(crate) fn is_short(self) -> bool {
        self.high & Key::LONG == 0
    }
}

/// What hashes begin with. Random for a process: names made to collide in one run do not in the next, and no number
/// depends on it. The same for all dictionaries: a key found in one serves in another.
#[derive(Clone, Copy)]
pub(crate) struct Seeds([u64; 2]);

impl Seeds {
    pub(crate) fn new() -> Seeds {
        static SEEDS: OnceLock<Seeds> = OnceLock::new();
        let random = || RandomState::new().build_hasher().finish();
        *SEEDS.get_or_init(|| Seeds([random(), random()]))
    }

    /// Eight bytes at a time, each folded into a product of 128 bits, as wyhash does.
    fn hash(self, name: &[u8]) -> u64 {
        let Seeds([first, second]) = self;
        let mut words = name.chunks_exact(16);
        let mut hash = first ^ name.len() as u64;
        for pair in &mut words {
            hash = fold(word(&pair[..8]) ^ hash, word(&pair[8..]) ^ second);
        }
        let rest = words.remainder();
        let (low, high) = rest.split_at(rest.len().min(8));
        fold(word(low) ^ hash, word(high) ^ second)
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Up to eight bytes, with zeros behind them.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Why a name has no number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// The byte at this place of the name is not UTF-8.
    NotUtf8(usize),
    /// There are 2³² − 1 names already.
    Full,
}

impl Default for Dictionary {
    fn default() -> Self {
        let slots = vec![FREE; FEWEST_SLOTS];
        Dictionary { arena: Vec::new(), ends: Vec::new(), slots, seeds: Seeds::new() }
    }
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a name that is known.
    #[inline]
    pub(crate) fn get(&self, name: &[u8]) -> Option<u32> {
        self.find(Key::of(name, self.seeds), name)
    }

    /// The same for a name whose key is known.
    #[inline(always)]
    pub(crate) fn find(&self, key: Key, name: &[u8]) -> Option<u32> {
        let last = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at & last];
            if slot.has(key) && (key.is_short() || self.name(slot.id) == name) {
                return Some(slot.id);
            }
            if slot.id == NONE {
                return None;
            }
            at += 1;
        }
    }

    /// The number of a short name if it is in the first slot it may be in, else `NONE`. There is no branch to be guessed wrongly, so that
    /// many of these wait for memory at once.
    #[inline(always)]
    pub(crate) fn glance(&self, key: Key) -> u32 {
        let slot = &self.slots[self.home(key)];
        let differs = (slot.low ^ key.low) | u64::from((slot.high ^ key.high) | (key.high & Key::LONG));
        // `NONE` is all bits.
        slot.id | 0u32.wrapping_sub(u32::from(differs != 0))
    }

    /// Asks memory for the slot of a name that will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: Key) {
        simd::prefetch(std::slice::from_ref(&self.slots[self.home(key)]));
    }

    /// The slot a key belongs to, but for collisions.
    #[inline(always)]
    fn home(&self, key: Key) -> usize {
        let Seeds([first, second]) = self.seeds;
        fold(key.low ^ first, u64::from(key.high) ^ second) as usize & (self.slots.len() - 1)
    }

    /// The number of a name, which is new if it equals the number of names before.
    #[inline]
    pub(crate) fn intern(&mut self, name: &[u8]) -> Result<u32, NoNumber> {
        self.intern_as(Key::of(name, self.seeds), name)
    }

    /// The same for a name whose key is known.
    #[inline]
    pub(crate) fn intern_as(&mut self, key: Key, name: &[u8]) -> Result<u32, NoNumber> {
        match self.find(key, name) {
            Some(id) => Ok(id),
            None => self.add(key, name),
        }
    }

    #[cold]
    fn add(&mut self, key: Key, name: &[u8]) -> Result<u32, NoNumber> {
        check_utf8(name)?;
        let id = u32::try_from(self.len()).ok().filter(|&id| id < NONE).ok_or(NoNumber::Full)?;
        self.arena.extend_from_slice(name);
        self.ends.push(self.arena.len());
        match 2 * self.len() > self.slots.len() {
            true => self.grow(),
            false => self.occupy(key, id),
        }
        Ok(id)
    }

    /// The first free slot from where the key belongs.
    fn occupy(&mut self, key: Key, id: u32) {
        let last = self.slots.len() - 1;
        let mut at = self.home(key);
        while self.slots[at & last].id != NONE {
            at += 1;
        }
        self.slots[at & last] = Slot { low: key.low, high: key.high, id };
    }

    /// In order of number, which keeps early names at their first slot.
    fn grow(&mut self) {
        self.slots = vec![FREE; 2 * self.slots.len()];
        for id in 0..self.len() as u32 {
            self.occupy(Key::of(self.name(id), self.seeds), id);
        }
    }

    /// The bytes of a name.
    #[inline]
    pub(crate) fn name(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.arena[start..self.ends[id]]
    }

    /// A name as text.
    pub(crate) fn text(&self, id: u32) -> Cow<'_, str> {
        String::from_utf8_lossy(self.name(id))
    }

    /// All names by number.
    pub(crate) fn names(&self) -> Vec<String> {
        (0..self.len() as u32).map(|id| self.text(id).into_owned()).collect()
    }
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

    /// Zeros at the end of a short name are part of it.
    #[test]
    fn zeros_count() {
        let mut names = Dictionary::default();
        for (id, zeros) in (0..30).zip(0..) {
            assert_eq!(names.intern(&vec![0; zeros]), Ok(id));
        }
    }

    #[test]
    fn keys_hold_short_names() {
        let text = b"0123456789abcdef";
        for length in 0..=Key::ROOM {
            let key = Key::of(&text[..length], Seeds::new());
            assert!(key.is_short());
            let (bytes, found) = key.bytes();
            assert_eq!((&bytes[..found], found), (&text[..length], length));
        }
        assert!(!Key::of(&text[..Key::ROOM + 1], Seeds::new()).is_short());
    }

    proptest! {
        #[test]
        fn a_dictionary_is_a_map(texts in prop::collection::vec("[a-c]{0,4}|[ab]{9,20}", 0..300)) {
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
