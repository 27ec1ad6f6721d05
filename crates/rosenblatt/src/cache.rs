//! Kernel rows under a budget of bytes.

use std::mem::{size_of, take};

use rayon::prelude::*;

use crate::error::ParamError;
use crate::gram::Gram;

/// Rows of a Gram matrix, of which the most recently used are kept.
///
/// Kernel row i holds K(xⱼ, xᵢ) for all n rows j, in single precision, the same bits as [`Gram::values`] gives, whether it was kept or not. The contract:
///
/// - [`rows`](RowCache::rows) gives all rows of a working set at once. Those that are missing are evaluated together, in one sweep over the data: a sweep for one row costs
///   almost as much as one for many.
/// - When there is no room, the row that was used longest ago makes way; one that is asked for never does. Within a set, a later row counts as used later.
/// - All it keeps, its lists included, never takes more than the budget. A call takes beside it 16 KiB for each missing row, and what `Gram` lays these out in.
///
/// Joachims (1999), Making large-scale SVM learning practical, section 11.4.5; Chang and Lin (2011), LIBSVM, section 4.2.
///
/// ```
/// use rosenblatt::{Dense, Gram, Kernel, RowCache};
/// let x = Dense::new(vec![1.0f32, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?.into();
/// let gram = Gram::new(Kernel::Poly { degree: 2, gamma: 1.0, coef0: 0.0 }, &x)?;
/// let mut cache = RowCache::new(&gram, 1 << 20)?;
/// assert_eq!(cache.rows(&[2, 1]), [[4.0, 0.0, 4.0, 0.0], [0.0, 4.0, 0.0, 4.0]]);
/// assert_eq!(cache.rows(&[1, 3]).len(), 2); // row 1 is still there
/// assert_eq!(cache.evaluated(), 3);
/// assert!(cache.bytes() <= cache.budget());
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowCache<'a> {
    gram: &'a Gram<'a>,
    budget: usize,
    /// The most rows kept.
    capacity: usize,
    /// For each row its slot, counted from 1; 0 where it is not kept.
    places: Vec<u32>,
    slots: Vec<Slot>,
    clock: u64,
    evaluated: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    row: usize,
    /// When it was last asked for.
    used: u64,
    values: Box<[f32]>,
}

/// Rows of the data that are gone through at a time: their values with the missing rows are turned around before they are kept.
const STRIP: usize = 4096;

/// A working set has two rows at the least.
const FEWEST: usize = 2;

impl<'a> RowCache<'a> {
    /// An empty cache; refuses a budget that has no room for two rows.
    pub fn new(gram: &'a Gram<'a>, budget: usize) -> Result<Self, ParamError> {
        let n = gram.len();
        let (lists, each) = (n * size_of::<u32>(), n * size_of::<f32>() + size_of::<Slot>());
        let capacity = (budget.saturating_sub(lists) / each).min(n);
        if capacity < FEWEST.min(n) {
            let least = lists + FEWEST * each;
            let problem = format!("must be at least {least} bytes, which hold two kernel rows of {n} values");
            return Err(ParamError::new("cache", problem));
        }
        let (places, slots) = (vec![0; n], Vec::with_capacity(capacity));
        Ok(RowCache { gram, budget, capacity, places, slots, clock: 0, evaluated: 0 })
    }

    /// The most rows that are kept, and that a working set may have.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The bytes it may take.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// The bytes it takes now.
    pub fn bytes(&self) -> usize {
        let values: usize = self.slots.iter().map(|slot| size_of_val(&*slot.values)).sum();
        self.places.capacity() * size_of::<u32>() + self.slots.capacity() * size_of::<Slot>() + values
    }

    /// How many rows were evaluated so far.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Whether a row is kept.
    pub fn holds(&self, row: usize) -> bool {
        self.places[row] != 0
    }

    /// The kernel rows of a working set, in its order.
    ///
    /// # Panics
    ///
    /// If the set has more different rows than [`capacity`](RowCache::capacity), or one that the data has not.
    pub fn rows(&mut self, set: &[usize]) -> Vec<&[f32]> {
        let before = self.clock;
        self.touch(set);
        let missing = self.missing(set);
        self.make_room(&missing, before);
        self.evaluate(&missing);
        self.touch(set);
        set.iter().map(|&row| &*self.slots[self.slot(row)].values).collect()
    }

    fn slot(&self, row: usize) -> usize {
        self.places[row] as usize - 1
    }

    /// Those of the set that are kept have been asked for, one after the other.
    fn touch(&mut self, set: &[usize]) {
        for &row in set {
            if self.holds(row) {
                self.clock += 1;
                let slot = self.slot(row);
                self.slots[slot].used = self.clock;
            }
        }
    }

    /// Each row of the set that is not kept, once.
    fn missing(&self, set: &[usize]) -> Vec<usize> {
        let mut missing: Vec<usize> = set.iter().copied().filter(|&row| !self.holds(row)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Gives each missing row a slot: one of its own while there is room, else that of a row that was not asked for since `before`, the longest unused first.
    fn make_room(&mut self, missing: &[usize], before: u64) {
        let free = (self.capacity - self.slots.len()).min(missing.len());
        let (new, others) = missing.split_at(free);
        for &row in new {
            self.slots.push(Slot { row, used: 0, values: vec![0.0; self.gram.len()].into() });
            self.places[row] = self.slots.len() as u32;
        }
        if others.is_empty() {
            return;
        }
        let kept = self.slots.len() - free;
        let mut idle: Vec<usize> = (0..kept).filter(|&slot| self.slots[slot].used <= before).collect();
        assert!(others.len() <= idle.len(), "a working set has at most {} rows", self.capacity);
        idle.select_nth_unstable_by_key(others.len() - 1, |&slot| self.slots[slot].used);
        for (&row, &slot) in others.iter().zip(&idle) {
            self.places[self.slots[slot].row] = 0;
            self.places[row] = slot as u32 + 1;
            self.slots[slot].row = row;
        }
    }

    /// One sweep over the data for all missing rows.
    fn evaluate(&mut self, missing: &[usize]) {
        if missing.is_empty() {
            return;
        }
        let slots: Vec<usize> = missing.iter().map(|&row| self.slot(row)).collect();
        let mut fresh: Vec<Box<[f32]>> =
            slots.iter().map(|&slot| take(&mut self.slots[slot].values)).collect();
        let set = self.gram.tiles(self.gram, missing);
        let all: Vec<usize> = (0..self.gram.len()).collect();
        let mut room = vec![0.0; STRIP.min(all.len()) * missing.len()];
        for strip in all.chunks(STRIP) {
            let room = &mut room[..strip.len() * missing.len()];
            self.gram.values(&set, strip, room);
            fresh.par_iter_mut().enumerate().for_each(|(at, row)| {
                let places = row[strip[0]..].iter_mut();
                places.zip(room.chunks(missing.len())).for_each(|(place, values)| *place = values[at]);
            });
        }
        slots.into_iter().zip(fresh).for_each(|(slot, values)| self.slots[slot].values = values);
        self.evaluated += missing.len() as u64;
    }
}

/// A budget for kernel rows: a quarter of the memory that is free, but at least 64 MiB and at most 64 GiB; 1 GiB where the system does not tell.
pub fn usual_cache_bytes() -> usize {
    const MIB: usize = 1 << 20;
    let told = std::fs::read_to_string("/proc/meminfo").ok();
    let free = told.as_deref().and_then(available).unwrap_or(4096 * MIB);
    (free / 4).clamp(64 * MIB, (1 << 16) * MIB)
}

/// What Linux says could be had without swapping.
fn available(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_what_is_available() {
        let text = "MemTotal:       24682316 kB\nMemFree:         1969876 kB\nMemAvailable:   23633832 kB\n";
        assert_eq!(available(text), Some(23_633_832 * 1024));
        assert_eq!(available("MemTotal: 3 kB"), None);
        assert_eq!(available("MemAvailable: many kB"), None);
        assert!((1 << 26..=1 << 36).contains(&usual_cache_bytes()));
    }
}
