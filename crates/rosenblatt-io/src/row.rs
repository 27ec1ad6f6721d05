//! A row of named features: entries in any order, in the order of columns at its end.

use rosenblatt::simd::{RANKED, ranks};

use crate::Problem;
use crate::builder::Value;

/// What a feature that appears twice in a row means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Add,
    Refuse,
}

/// Why a row is refused, and the column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There are more entries than were counted: somebody writes to the file.
    NoRoom,
    Twice(u32),
    SumNotFinite(u32),
}

impl Fault {
    pub(crate) fn explain(&self, name: impl Fn(u32) -> String) -> Problem {
        match *self {
            Fault::NoRoom => Problem::Changed,
            Fault::Twice(column) => Problem::FeatureTwice { name: name(column) },
            Fault::SumNotFinite(column) => Problem::SumNotFinite { name: name(column) },
        }
    }
}

/// The entries of the row being read, in order of appearance.
pub(crate) struct Row<T> {
    columns: Vec<u32>,
    values: Vec<T>,
    has_zeros: bool,
    /// Column above order of appearance: sorts without memory of its own.
    keys: Vec<u64>,
}

/// Rows up to this length are sorted by counting, which guesses no branch wrongly; beyond it the square of the length tells.
const COUNTED: usize = 128;

impl<T: Value> Row<T> {
    pub(crate) fn new() -> Self {
        Row { columns: Vec::new(), values: Vec::new(), has_zeros: false, keys: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, column: u32, value: T) {
        self.columns.push(column);
        self.values.push(value);
        self.has_zeros |= value.wide() == 0.0;
    }

    /// Many at once.
    #[inline]
    pub(crate) fn extend(&mut self, columns: &[u32], values: impl Iterator<Item = T>) {
        let before = self.values.len();
        self.columns.extend_from_slice(columns);
        self.values.extend(values);
        // All of them, for a loop that may end early is no vector loop.
        self.has_zeros |=
            self.values[before..].iter().fold(false, |zeros, value| zeros | (value.wide() == 0.0));
    }

    pub(crate) fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.has_zeros = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Writes the entries in order of column, each column once and without zeros, to the beginning of `columns` and `values`, which need
    /// room for all. Gives their number and is empty again.
    pub(crate) fn write(
        &mut self,
        columns: &mut [u32],
        values: &mut [T],
        repeats: Repeats,
    ) -> Result<usize, Fault> {
        let n = self.len();
        let (Some(columns), Some(values)) = (columns.get_mut(..n), values.get_mut(..n)) else {
            return Err(Fault::NoRoom);
        };
        let written = if self.has_zeros {
            self.merge(columns, values, repeats)
        } else if self.columns.is_sorted_by(|a, b| a < b) {
            columns.copy_from_slice(&self.columns);
            values.copy_from_slice(&self.values);
            Ok(n)
        } else if n <= COUNTED && self.count(columns, values) {
            Ok(n)
        } else {
            self.merge(columns, values, repeats)
        };
        self.clear();
        written
    }

    /// Puts every entry at the place that the number of smaller columns gives it. Fails where a column appears twice.
    fn count(&self, columns: &mut [u32], values: &mut [T]) -> bool {
        let (mut sum, n) = (0, self.len());
        for (block, block_values) in self.columns.chunks(RANKED).zip(self.values.chunks(RANKED)) {
            let mut some = [0; RANKED];
            some[..block.len()].copy_from_slice(block);
            let places = ranks(&some, &self.columns);
            for ((&column, &value), place) in block.iter().zip(block_values).zip(places) {
                let place = place as usize;
                (columns[place], values[place]) = (column, value);
                sum += place;
            }
        }
        // Two entries at one place leave a later place empty.
        sum == n * (n - 1) / 2
    }

    /// Knows zeros and repetitions, which are added in order of appearance.
    fn merge(&mut self, columns: &mut [u32], values: &mut [T], repeats: Repeats) -> Result<usize, Fault> {
        let Row { columns: mine, values: my_values, keys, .. } = self;
        keys.clear();
        keys.extend(mine.iter().zip(0u64..).map(|(&column, order)| u64::from(column) << 32 | order));
        keys.sort_unstable();
        let column = |key: u64| (key >> 32) as u32;
        let value = |key: u64| my_values[key as u32 as usize];
        let (mut at, mut written) = (0, 0);
        while let Some(&key) = keys.get(at) {
            let (first, mut sum) = (at, value(key));
            at += 1;
            while let Some(&next) = keys.get(at).filter(|&&next| column(next) == column(key)) {
                sum = T::narrow(sum.wide() + value(next).wide());
                at += 1;
            }
            if at - first > 1 && repeats == Repeats::Refuse {
                return Err(Fault::Twice(column(key)));
            }
            if !sum.wide().is_finite() {
                return Err(Fault::SumNotFinite(column(key)));
            }
            if sum.wide() != 0.0 {
                (columns[written], values[written]) = (column(key), sum);
                written += 1;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(entries: &[(u32, f32)], repeats: Repeats) -> Result<Vec<(u32, f32)>, Fault> {
        let mut row = Row::new();
        entries.iter().for_each(|&(column, value)| row.push(column, value));
        let (mut columns, mut values) = (vec![0; entries.len()], vec![0.0; entries.len()]);
        let n = row.write(&mut columns, &mut values, repeats)?;
        assert_eq!(row.len(), 0);
        Ok(columns.into_iter().zip(values).take(n).collect())
    }

    #[test]
    fn repetitions_add_up_in_order_or_are_refused() {
        let entries = [(7, 1e8), (2, 3.0), (7, 1.0), (7, -1e8), (1, 0.0), (5, 2.0)];
        assert_eq!(written(&entries, Repeats::Add), Ok(vec![(2, 3.0), (5, 2.0)]));
        assert_eq!(written(&entries, Repeats::Refuse), Err(Fault::Twice(7)));
        let large = [(9, f32::MAX), (3, 1.0), (9, f32::MAX)];
        assert_eq!(written(&large, Repeats::Add), Err(Fault::SumNotFinite(9)));
    }

    #[test]
    fn more_entries_than_were_counted() {
        let mut row = Row::new();
        [1, 2].iter().for_each(|&column| row.push(column, 1.0f32));
        assert_eq!(row.write(&mut [0], &mut [0.0], Repeats::Add), Err(Fault::NoRoom));
    }

    #[test]
    fn large_columns() {
        let entries = [(1 << 31, 1.0), (3, 2.0), (u32::MAX - 1, 3.0)];
        assert_eq!(written(&entries, Repeats::Add), Ok(vec![entries[1], entries[0], entries[2]]));
    }

    proptest! {
        #[test]
        fn rows_come_out_sorted(mut columns in prop::collection::hash_set(0u32..1000, 0..200)) {
            let mut entries: Vec<(u32, f32)> = columns.drain().map(|column| (column, column as f32 + 1.0)).collect();
            let sorted = written(&entries, Repeats::Refuse);
            entries.sort_by_key(|&(column, _)| column);
            prop_assert_eq!(sorted, Ok(entries));
        }
    }
}
