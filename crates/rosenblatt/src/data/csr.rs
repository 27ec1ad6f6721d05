//! Compressed sparse rows.

use std::borrow::Cow;
use std::cmp::Ordering;

use rayon::prelude::*;

use super::{DataError, Float, Rows};
use crate::simd::prefetch;

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
    columns: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
    n_cols: usize,
}

impl<'a, T: Float> Csr<'a, T> {
    /// Checks the invariants once, so that no solver has to.
    pub fn new(
        pointers: impl Into<Cow<'a, [u64]>>,
        columns: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        let x = Csr { pointers: pointers.into(), columns: columns.into(), values: values.into(), n_cols };
        x.check()?;
        Ok(x)
    }

    /// For readers that have seen to it themselves that the columns of each row ascend and are below `n_cols`: they are not looked at again.
    #[doc(hidden)]
    pub fn of_checked_rows(
        pointers: Vec<u64>,
        columns: Vec<u32>,
        values: Vec<T>,
        n_cols: usize,
    ) -> Result<Self, DataError> {
        let x = Csr { pointers: pointers.into(), columns: columns.into(), values: values.into(), n_cols };
        x.check_pointers()?;
        debug_assert!(x.check().is_ok());
        Ok(x)
    }

    fn check_pointers(&self) -> Result<(), DataError> {
        if self.n_cols == 0 {
            return Err(DataError::NoColumns);
        }
        let entries = self.columns.len();
        let pointers_fit = self.pointers.first() == Some(&0)
            && self.pointers.last() == Some(&(entries as u64))
            && self.pointers.is_sorted()
            && self.values.len() == entries;
        if pointers_fit { Ok(()) } else { Err(DataError::RowPointers) }
    }

    fn check(&self) -> Result<(), DataError> {
        self.check_pointers()?;
        let broken = (0..self.n_rows()).into_par_iter().with_min_len(4096).find_first(|&i| !self.row_fits(i));
        match broken {
            Some(row) => Err(DataError::Columns { row, n_cols: self.n_cols }),
            None => Ok(()),
        }
    }

    fn row_fits(&self, i: usize) -> bool {
        let columns = self.row(i).0;
        let ascending = columns.windows(2).all(|pair| pair[0] < pair[1]);
        ascending && columns.last().is_none_or(|&j| (j as usize) < self.n_cols)
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.pointers[i] as usize..self.pointers[i + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Row pointers, one more than there are rows.
    pub fn pointers(&self) -> &[u64] {
        &self.pointers
    }

    /// Columns of all entries.
    pub fn columns(&self) -> &[u32] {
        &self.columns
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
        self.n_cols = self.n_cols.max(n_cols);
    }
}

impl<T: Float> Rows for Csr<'_, T> {
    const SINGLE: bool = T::SINGLE;

    fn n_rows(&self) -> usize {
        self.pointers.len() - 1
    }

    fn n_cols(&self) -> usize {
        self.n_cols
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
    fn dots(&self, i: usize, k: usize, w: &[f64]) -> [f64; 2] {
        let ((a, u), (b, v)) = (self.row(i), self.row(k));
        let both = a.len().min(b.len());
        let ((a, a_rest), (u, u_rest)) = (a.split_at(both), u.split_at(both));
        let ((b, b_rest), (v, v_rest)) = (b.split_at(both), v.split_at(both));
        let mut sums = [0.0; 2];
        for (((&i, u), &k), v) in a.iter().zip(u).zip(b).zip(v) {
            sums[0] += u.wide() * w[i as usize];
            sums[1] += v.wide() * w[k as usize];
        }
        a_rest.iter().zip(u_rest).for_each(|(&i, u)| sums[0] += u.wide() * w[i as usize]);
        b_rest.iter().zip(v_rest).for_each(|(&k, v)| sums[1] += v.wide() * w[k as usize]);
        sums
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
