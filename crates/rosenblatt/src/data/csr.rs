//! Compressed sparse rows.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::{DataError, Float, Rows, TOGETHER};
use crate::simd::{Columns, prefetch};

/// Sparse rows with 32-bit columns and 64-bit row pointers, borrowed or owned.
///
/// Row `i` holds `columns[pointers[i]..pointers[i + 1]]`, strictly ascending, and the values beside them.
///
/// ```
/// use rosenblatt::{Csr, Rows};
/// // (0, 5, 0) and (1, 0, 2)
/// let x = Csr::new(vec![0, 1, 3], vec![1, 0, 2], vec![5.0f32, 1.0, 2.0], 3)?;
/// assert_eq!(x.dot(1, &[10.0, 100.0, 1000.0]), 2010.0);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<'a, T: Float> {
    pointers: Cow<'a, [u64]>,
    /// All below the number of columns.
    columns: Columns<'a>,
    values: Cow<'a, [T]>,
}

impl<'a, T: Float> Csr<'a, T> {
    /// Checks the invariants once, so that no solver has to.
    pub fn new(
        pointers: impl Into<Cow<'a, [u64]>>,
        columns: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        let x = Self::bounded(pointers.into(), columns.into(), values.into(), n_cols)?;
        let rows = (0..x.n_rows()).into_par_iter().with_min_len(4096);
        match rows.find_first(|&i| !x.ascends(i)) {
            Some(row) => Err(DataError::Columns { row, n_cols }),
            None => Ok(x),
        }
    }

    /// Where it is known that the columns of each row ascend, as readers see to it themselves.
    #[doc(hidden)]
    pub fn of_checked_rows(
        pointers: impl Into<Cow<'a, [u64]>>,
        columns: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        let x = Self::bounded(pointers.into(), columns.into(), values.into(), n_cols)?;
        debug_assert!((0..x.n_rows()).all(|i| x.ascends(i)));
        Ok(x)
    }

    /// The same rows, borrowed.
    pub(crate) fn view(&self) -> Csr<'_, T> {
        Csr {
            pointers: Cow::Borrowed(&self.pointers),
            columns: self.columns.view(),
            values: Cow::Borrowed(&self.values),
        }
    }

    fn bounded(
        pointers: Cow<'a, [u64]>,
        columns: Cow<'a, [u32]>,
        values: Cow<'a, [T]>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        if n_cols == 0 {
            return Err(DataError::NoColumns);
        }
        let pointers_fit = pointers.first() == Some(&0)
            && pointers.last() == Some(&(columns.len() as u64))
            && pointers.is_sorted()
            && values.len() == columns.len();
        if !pointers_fit {
            return Err(DataError::RowPointers);
        }
        let row_of = |entry: usize| pointers.partition_point(|&end| end <= entry as u64) - 1;
        let columns = Columns::new(columns, n_cols)
            .map_err(|entry| DataError::Columns { row: row_of(entry), n_cols })?;
        Ok(Csr { pointers, columns, values })
    }

    fn ascends(&self, i: usize) -> bool {
        self.row(i).0.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// Where the entries of row `i` lie.
    #[inline]
    fn range(&self, i: usize) -> Range<usize> {
        self.pointers[i] as usize..self.pointers[i + 1] as usize
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.range(i);
        (&self.columns()[range.clone()], &self.values[range])
    }

    /// Row pointers, one more than there are rows.
    pub fn pointers(&self) -> &[u64] {
        &self.pointers
    }

    /// Columns of all entries.
    #[inline]
    pub fn columns(&self) -> &[u32] {
        self.columns.numbers()
    }

    /// Values of all entries.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Values of all entries, to change in place; copies only if they were borrowed.
    pub fn values_mut(&mut self) -> &mut [T] {
        self.values.to_mut()
    }

    /// The same rows in a wider space: sparse data may simply not mention the last features.
    pub fn widen(&mut self, n_cols: usize) {
        self.columns.widen(n_cols);
    }
}

impl<T: Float> Rows for Csr<'_, T> {
    const SINGLE: bool = T::SINGLE;

    fn n_rows(&self) -> usize {
        self.pointers.len() - 1
    }

    fn n_cols(&self) -> usize {
        self.columns.bound()
    }

    fn stored_a_row(&self) -> usize {
        self.columns().len() / self.n_rows().max(1)
    }

    // Always inlined: a sum that `f` borrows would otherwise go through memory at every entry.
    #[inline(always)]
    fn each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        let (columns, values) = self.row(i);
        for (&j, v) in columns.iter().zip(values) {
            f(j as usize, v.wide());
        }
    }

    #[inline]
    fn are_stored_alike(&self, i: usize, j: usize) -> bool {
        self.row(i) == self.row(j)
    }

    #[inline]
    fn dot_in_two(&self, i: usize, w: &[f64]) -> f64 {
        let range = self.range(i);
        self.columns.dot_in_two(range.clone(), &self.values[range], w)
    }

    #[inline]
    fn axpy(&self, a: f64, i: usize, w: &mut [f64]) {
        let range = self.range(i);
        self.columns.add(a, range.clone(), &self.values[range], w);
    }

    #[inline]
    fn dots(&self, rows: [usize; TOGETHER], w: &[f64]) -> [f64; TOGETHER] {
        self.columns.dots(rows.map(|i| self.range(i)), &self.values, w)
    }

    #[inline]
    fn prefetch_place(&self, i: usize) {
        prefetch(&self.pointers[i..i + 2]);
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        let (columns, values) = self.row(i);
        prefetch(columns);
        prefetch(values);
    }

    fn inner(&self, i: usize, j: usize) -> f64 {
        let ((a, u), (b, v)) = (self.row(i), self.row(j));
        let (mut p, mut q, mut sum) = (0, 0, 0.0);
        while p < a.len() && q < b.len() {
            match a[p].cmp(&b[q]) {
                Ordering::Less => p += 1,
                Ordering::Greater => q += 1,
                Ordering::Equal => {
                    sum += u[p].wide() * v[q].wide();
                    p += 1;
                    q += 1;
                }
            }
        }
        sum
    }
}
