//! N-grams are numbered and counted.

use crate::dictionary::Dictionary;

/// The n-grams of rows, one row after another.
#[derive(Default)]
pub(super) struct Counted {
    /// The number of an n-gram and how often the row has it.
    pub(super) entries: Vec<(u32, u32)>,
    /// Where each row ends.
    pub(super) ends: Vec<usize>,
}

/// No place: the n-gram is left out.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Counted {
    pub(super) fn row(&self, row: usize) -> &[(u32, u32)] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[row]]
    }

    /// Puts places for numbers and sorts rows by them; entries without a place are left out.
    pub(super) fn renumber(&mut self, places: &[u32]) {
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            let first = kept;
            for at in start..*end {
                let (number, count) = self.entries[at];
                if places[number as usize] != NOWHERE {
                    self.entries[kept] = (places[number as usize], count);
                    kept += 1;
                }
            }
            self.entries[first..kept].sort_unstable_by_key(|&(place, _)| place);
            start = std::mem::replace(end, kept);
        }
        self.entries.truncate(kept);
    }
}

/// Counts n-grams row by row.
#[derive(Default)]
pub(super) struct Counter {
    /// The n-grams met, where no model tells which to look for.
    pub(super) ngrams: Dictionary,
    met: Vec<Met>,
    /// Rows so far, the present one included.
    row: u64,
    /// Whether there were more n-grams than there are numbers.
    pub(super) is_full: bool,
}

/// What is known of an n-gram.
#[derive(Clone, Copy, Default)]
struct Met {
    /// How many rows have it.
    rows: u64,
    /// The last of them, and the entry it has there.
    last: u64,
    entry: usize,
}

impl Counter {
    pub(super) fn begin_row(&mut self) {
        self.row += 1;
    }

    /// One more n-gram of the present row. Those a model does not know are passed over.
    #[inline]
    pub(super) fn add(&mut self, ngram: &[u8], known: Option<&Dictionary>, counted: &mut Counted) {
        let number = match known {
            Some(known) => known.get(ngram),
            None => self.ngrams.intern(ngram).ok(),
        };
        let Some(number) = number else {
            self.is_full |= known.is_none();
            return;
        };
        let at = number as usize;
        if at >= self.met.len() {
            self.met.resize(at + 1, Met::default());
        }
        let met = &mut self.met[at];
        if met.last == self.row {
            let (_, count) = &mut counted.entries[met.entry];
            *count = count.saturating_add(1);
        } else {
            *met = Met { rows: met.rows + 1, last: self.row, entry: counted.entries.len() };
            counted.entries.push((number, 1));
        }
    }

    /// How many rows have each n-gram.
    pub(super) fn frequencies(&self) -> impl Iterator<Item = u64> {
        self.met.iter().map(|met| met.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_and_are_renumbered() {
        let (mut counter, mut counted) = (Counter::default(), Counted::default());
        for row in ["b a b", "", "c a"] {
            counter.begin_row();
            row.split_whitespace().for_each(|ngram| counter.add(ngram.as_bytes(), None, &mut counted));
            counted.ends.push(counted.entries.len());
        }
        assert_eq!((counted.row(0), counted.row(1)), (&[(0, 2), (1, 1)][..], &[][..]));
        assert_eq!(counter.frequencies().collect::<Vec<_>>(), [1, 2, 1]);
        counted.renumber(&[1, 0, NOWHERE]);
        assert_eq!((counted.row(0), counted.row(2)), (&[(0, 1), (1, 2)][..], &[(0, 1)][..]));
    }
}
