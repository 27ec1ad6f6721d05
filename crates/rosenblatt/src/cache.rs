//! Kernel rows under a budget of bytes.

use std::cmp::Reverse;
use std::mem::{size_of, take};

use rayon::prelude::*;

use crate::error::ParamError;
use crate::gram::{Gram, Strips};
use crate::shared::Shared;
use crate::store::Store;

/// Rows of a Gram matrix, of which the most recently used are kept.
///
/// The problem has some of the rows of the data ([`over`](RowCache::over)), its members, which are called by their place among them. Kernel row i holds K(xⱼ, xᵢ) for
/// every member j, or for those that are columns now ([`set_columns`](RowCache::set_columns)), in single precision, the same bits as [`Gram::values`] gives, whether it was
/// kept or not. The contract:
///
/// - [`rows`](RowCache::rows) gives all rows of a working set at once. Those that are missing are evaluated together, in one sweep over the data: a sweep for one row costs
///   almost as much as one for many.
/// - When there is no room, the row that was used longest ago makes way; one that is asked for never does. Within a set, a later row counts as used later.
/// - All it keeps, its lists included, never takes more than the budget. Dense columns are kept laid out for products if that takes an eighth of it at most. A call takes beside it
///   what the missing rows are laid out in.
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
    /// Rows of the data.
    members: Vec<usize>,
    /// Those of the members that kernel rows have values for.
    columns: Vec<usize>,
    /// The same as rows of the data, laid out to be multiplied.
    strips: Strips,
    /// For each member the slot of its row, counted from 1; 0 where it is not kept.
    places: Vec<u32>,
    slots: Vec<Slot>,
    clock: u64,
    evaluated: u64,
    /// Bytes that are not rows.
    beside: usize,
    /// What other problems have evaluated, too.
    halves: Option<Halves<'a>>,
    /// Whole rows that many fits share.
    store: Option<&'a Store<'a>>,
}

/// Members of two classes, those of one before those of the other.
#[derive(Clone, Debug)]
struct Halves<'a> {
    shared: &'a Shared,
    /// Members of the first class.
    first: usize,
    strips: [Strips; 2],
}

#[derive(Clone, Debug)]
struct Slot {
    row: usize,
    /// When it was last asked for.
    used: u64,
    values: Box<[f32]>,
}

/// A working set has two rows at the least.
const FEWEST: usize = 2;

impl<'a> RowCache<'a> {
    /// An empty cache over all rows; refuses a budget that has no room for two rows.
    pub fn new(gram: &'a Gram<'a>, budget: usize) -> Result<Self, ParamError> {
        let all: Vec<usize> = (0..gram.len()).collect();
        RowCache::over(gram, &all, budget)
    }

    /// An empty cache over some rows, in ascending order: those of two classes, say.
    ///
    /// ```
    /// use rosenblatt::{Dense, Gram, Kernel, RowCache};
    /// let x = Dense::new(vec![1.0f32, 2.0, 3.0, 4.0], 1)?.into();
    /// let gram = Gram::new(Kernel::Linear, &x)?;
    /// let mut cache = RowCache::over(&gram, &[0, 2, 3], 1 << 10)?;
    /// assert_eq!(cache.rows(&[1]), [[3.0, 9.0, 12.0]]); // of row 2 with rows 0, 2, 3
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn over(gram: &'a Gram<'a>, members: &[usize], budget: usize) -> Result<Self, ParamError> {
        RowCache::beside(gram, members, budget, None)
    }

    /// The same, rows that a store has, or has room for, being taken from there.
    pub(crate) fn beside(
        gram: &'a Gram<'a>,
        members: &[usize],
        budget: usize,
        store: Option<&'a Store<'a>>,
    ) -> Result<Self, ParamError> {
        let n = members.len();
        // Where the store has all rows, none is evaluated here.
        let idle = store.is_some_and(Store::is_whole);
        let beside = lists(n) + if idle { 0 } else { kept_strips(gram, n, n, budget) };
        let capacity = fitting(budget, beside, n).min(n);
        if capacity < FEWEST.min(n) {
            let least = lists(n) + FEWEST * each(n);
            let problem = format!("must be at least {least} bytes, which hold two kernel rows of {n} values");
            return Err(ParamError::new("cache", problem));
        }
        let (places, slots) = (vec![0; n], Vec::with_capacity(capacity));
        let strips = gram.strips(members.to_vec(), beside > lists(n));
        let (members, columns) = (members.to_vec(), (0..n).collect());
        let (clock, evaluated) = (0, 0);
        Ok(RowCache {
            gram,
            budget,
            capacity,
            members,
            columns,
            strips,
            places,
            slots,
            clock,
            evaluated,
            beside,
            halves: None,
            store,
        })
    }

    /// The same, the first so many members being those of one class and the others of another: what a row has with its own class is shared with other problems.
    pub(crate) fn sharing(mut self, shared: &'a Shared, first: usize) -> Self {
        let kept = self.beside > lists(self.members.len());
        let (one, other) = self.members.split_at(first);
        let strips = [one, other].map(|members| self.gram.strips(members.to_vec(), kept));
        // Those of both classes take their place.
        self.strips = self.gram.strips(Vec::new(), false);
        self.halves = Some(Halves { shared, first, strips });
        self
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
        self.beside + self.slots.capacity() * size_of::<Slot>() + values
    }

    /// How many rows were evaluated so far, not counting columns that were added to rows that had been kept.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Whether the row of a member is kept.
    pub fn holds(&self, row: usize) -> bool {
        self.places[row] != 0
    }

    /// The members that kernel rows have values for, in ascending order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The kernel rows of a working set of members, in its order; each has a value for each column.
    ///
    /// # Panics
    ///
    /// If the set has more different rows than [`capacity`](RowCache::capacity), or one that is no member.
    pub fn rows(&mut self, set: &[usize]) -> Vec<&[f32]> {
        let before = self.clock;
        self.touch(set);
        let missing = self.missing(set);
        self.make_room(&missing, before);
        self.evaluate(&missing);
        self.touch(set);
        set.iter().map(|&row| &*self.slots[self.slot(row)].values).collect()
    }

    /// The kernel values of a working set with itself, row after row, `stride` apart, evaluated anew.
    pub(crate) fn evaluate_among(&self, set: &[usize], stride: usize, out: &mut [f32]) {
        let rows = self.of_members(set);
        let strips = self.gram.strips(rows.clone(), false);
        let out = out.chunks_mut(stride).map(|row| &mut row[..set.len()]);
        self.gram.kernel_rows(&rows, &strips, out.collect());
    }

    /// The same from its kernel rows, where the set is in these columns.
    pub(crate) fn gather_among(&mut self, set: &[usize], columns: &[usize], stride: usize, out: &mut [f32]) {
        let rows = self.rows(set);
        // From left to right, which memory likes.
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.sort_unstable_by_key(|&at| columns[at]);
        out.par_chunks_mut(stride).zip(rows).for_each(|(out, row)| {
            order.iter().for_each(|&at| out[at] = row[columns[at]]);
        });
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
            self.slots.push(Slot { row, used: 0, values: vec![0.0; self.columns.len()].into() });
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
        let rest = self.copy_stored(missing);
        let missing = rest.as_deref().unwrap_or(missing);
        let slots: Vec<usize> = missing.iter().map(|&row| self.slot(row)).collect();
        let mut fresh: Vec<Box<[f32]>> =
            slots.iter().map(|&slot| take(&mut self.slots[slot].values)).collect();
        let places: Vec<&mut [f32]> = fresh.iter_mut().map(|values| &mut **values).collect();
        match &self.halves {
            Some(halves) => halves.evaluate(self.gram, &self.members, missing, places),
            None => self.gram.kernel_rows(&self.of_members(missing), &self.strips, places),
        }
        slots.into_iter().zip(fresh).for_each(|(slot, values)| self.slots[slot].values = values);
        self.evaluated += missing.len() as u64;
    }

    /// Fills in what the store has; the rows that it has no room for, where there is a store.
    fn copy_stored(&mut self, missing: &[usize]) -> Option<Vec<usize>> {
        let store = self.store?;
        let of = |member: usize| store.column(self.members[member]);
        store.bring(&missing.iter().map(|&member| of(member)).collect::<Vec<u32>>());
        let columns: Vec<u32> = self.columns.iter().map(|&member| of(member)).collect();
        let (known, rest): (Vec<usize>, Vec<usize>) =
            missing.iter().partition(|&&member| store.row(of(member)).is_some());
        for member in known {
            let (slot, row) = (self.slot(member), store.row(store.column(self.members[member])));
            let values = self.slots[slot].values.iter_mut().zip(&columns);
            row.into_iter()
                .zip([values])
                .for_each(|(row, values)| values.for_each(|(to, &c)| *to = row[c as usize]));
        }
        Some(rest)
    }

    /// Their rows of the data.
    fn of_members(&self, places: &[usize]) -> Vec<usize> {
        places.iter().map(|&place| self.members[place]).collect()
    }

    /// From now on kernel rows have values for these members alone, in ascending order.
    ///
    /// What kept rows have of these columns stays. Columns that are new are evaluated for them, unless these are more than the others: then nothing is kept. With fewer
    /// columns there is room for more rows, with more of them the rows used longest ago make way.
    ///
    /// ```
    /// use rosenblatt::{Dense, Gram, Kernel, RowCache};
    /// let x = Dense::new(vec![1.0f32, 2.0, 3.0, 4.0], 1)?.into();
    /// let gram = Gram::new(Kernel::Linear, &x)?;
    /// let mut cache = RowCache::new(&gram, 1 << 10)?;
    /// assert_eq!(cache.rows(&[1]), [[2.0, 4.0, 6.0, 8.0]]);
    /// cache.set_columns(&[0, 3]);
    /// assert_eq!(cache.rows(&[1, 2]), [[2.0, 8.0], [3.0, 12.0]]);
    /// assert_eq!(cache.evaluated(), 2); // row 1 was kept
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If columns do not ascend, or one is no member.
    pub fn set_columns(&mut self, columns: &[usize]) {
        assert!(columns.is_sorted_by(|a, b| a < b), "columns ascend");
        assert!(columns.last().is_none_or(|&last| last < self.members.len()), "columns are members");
        self.halves = None;
        let plan = Plan::new(&self.columns, columns);
        self.columns.clear();
        self.columns.extend(columns);
        let n = self.members.len();
        let idle = self.store.is_some_and(Store::is_whole);
        let strips = if idle { 0 } else { kept_strips(self.gram, n, columns.len(), self.budget) };
        self.beside = lists(n) + strips;
        self.capacity = fitting(self.budget, self.beside, columns.len()).min(n);
        let kept = if plan.added.len() <= plan.stay.len() { self.capacity } else { 0 };
        self.keep(kept);
        self.slots.shrink_to(self.capacity);
        self.slots.reserve_exact(self.capacity - self.slots.len());
        self.strips = self.gram.strips(self.of_members(columns), strips > 0);
        self.move_columns(&plan);
    }

    /// Drops the rows that were used longest ago.
    fn keep(&mut self, rows: usize) {
        if rows >= self.slots.len() {
            return;
        }
        self.slots.sort_unstable_by_key(|slot| Reverse(slot.used));
        self.slots.truncate(rows);
        self.places.fill(0);
        for (at, slot) in self.slots.iter().enumerate() {
            self.places[slot.row] = at as u32 + 1;
        }
    }

    fn move_columns(&mut self, plan: &Plan) {
        self.slots.par_iter_mut().for_each(|slot| slot.values = plan.apply(take(&mut slot.values)));
        if plan.added.is_empty() || self.slots.is_empty() {
            return;
        }
        let rows: Vec<usize> = self.slots.iter().map(|slot| self.members[slot.row]).collect();
        let of_added = plan.added.iter().map(|&at| self.members[self.columns[at]]).collect();
        let (strips, added) = (self.gram.strips(of_added, false), plan.added.len());
        // As many rows at a time as take little room.
        for (rows, slots) in rows.chunks(BATCH).zip(self.slots.chunks_mut(BATCH)) {
            let mut values = vec![0.0; rows.len() * added];
            self.gram.kernel_rows(rows, &strips, values.chunks_mut(added).collect());
            slots.par_iter_mut().zip(values.par_chunks(added)).for_each(|(slot, values)| {
                plan.added.iter().zip(values).for_each(|(&at, &value)| slot.values[at] = value);
            });
        }
    }
}

impl Halves<'_> {
    /// Each row with both classes, with its own only if nobody has done that before.
    fn evaluate(&self, gram: &Gram<'_>, members: &[usize], missing: &[usize], places: Vec<&mut [f32]>) {
        let (mut rows, mut out): ([Vec<usize>; 2], [Vec<&mut [f32]>; 2]) = Default::default();
        for (&member, place) in missing.iter().zip(places) {
            let (row, own) = (members[member], usize::from(member >= self.first));
            let known = self.shared.get(row);
            let (one, other) = place.split_at_mut(self.first);
            for (class, part) in [one, other].into_iter().enumerate() {
                match known.as_deref().filter(|known| class == own && known.len() == part.len()) {
                    Some(known) => part.copy_from_slice(known),
                    None => {
                        rows[class].push(member);
                        out[class].push(part);
                    }
                }
            }
        }
        for (class, (of_class, out)) in rows.iter().zip(out).enumerate() {
            let of_data: Vec<usize> = of_class.iter().map(|&member| members[member]).collect();
            let mut values = out;
            gram.kernel_rows(
                &of_data,
                &self.strips[class],
                values.iter_mut().map(|part| &mut **part).collect(),
            );
            for ((&member, &row), values) in of_class.iter().zip(&of_data).zip(&values) {
                if usize::from(member >= self.first) == class {
                    self.shared.put(row, values);
                }
            }
        }
    }
}

/// Rows that get new columns at a time.
const BATCH: usize = 64;

/// How columns become others.
struct Plan {
    /// Columns that stay: from where to where, both ascending.
    stay: Vec<(usize, usize)>,
    /// Where new ones are.
    added: Vec<usize>,
    len: usize,
}

impl Plan {
    fn new(old: &[usize], new: &[usize]) -> Self {
        let (mut stay, mut added, mut from) = (Vec::new(), Vec::new(), 0);
        for (to, &column) in new.iter().enumerate() {
            while old.get(from).is_some_and(|&old| old < column) {
                from += 1;
            }
            match old.get(from) == Some(&column) {
                true => stay.push((from, to)),
                false => added.push(to),
            }
        }
        Plan { stay, added, len: new.len() }
    }

    /// In place, unless the row becomes longer.
    fn apply(&self, values: Box<[f32]>) -> Box<[f32]> {
        let mut values = values.into_vec();
        if self.added.is_empty() {
            self.stay.iter().for_each(|&(from, to)| values[to] = values[from]);
            values.truncate(self.len);
            return values.into();
        }
        let mut moved = vec![0.0; self.len];
        self.stay.iter().for_each(|&(from, to)| moved[to] = values[from]);
        moved.into()
    }
}

/// Bytes of the lists: members twice, as they are and as columns, these once more, and places.
fn lists(members: usize) -> usize {
    members * (3 * size_of::<usize>() + size_of::<u32>())
}

/// Bytes of the columns as they are multiplied; 0 where that is more than a share of the budget, and they are laid out anew for every sweep.
fn kept_strips(gram: &Gram<'_>, members: usize, columns: usize, budget: usize) -> usize {
    const SHARE: usize = 8;
    let fits = |bytes: &usize| {
        *bytes <= budget / SHARE && fitting(budget, lists(members) + bytes, columns) >= FEWEST
    };
    gram.bytes_of_strips(columns).filter(fits).unwrap_or(0)
}

/// Bytes of a row.
fn each(columns: usize) -> usize {
    columns * size_of::<f32>() + size_of::<Slot>()
}

/// How many rows a budget has room for.
fn fitting(budget: usize, beside: usize, columns: usize) -> usize {
    budget.saturating_sub(beside) / each(columns)
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
