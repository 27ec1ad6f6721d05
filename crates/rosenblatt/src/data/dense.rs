//! Row-major dense rows.

use std::borrow::Cow;

use super::{DataError, Float, Rows, TOGETHER};
use crate::simd::prefetch;

/// A row-major matrix, borrowed or owned.
///
/// ```
/// use rosenblatt::{Dense, Rows};
/// let mine = [1.0f32, 2.0, 3.0, 4.0];
/// let x = Dense::new(&mine[..], 2)?; // borrows: nothing is copied
/// assert_eq!((x.n_rows(), x.n_cols()), (2, 2));
/// assert_eq!(x.row(1), &[3.0, 4.0]);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<'a, T: Float> {
    values: Cow<'a, [T]>,
    n_cols: usize,
}

impl<'a, T: Float> Dense<'a, T> {
    /// Rows of `n_cols` values each, one after the other.
    pub fn new(values: impl Into<Cow<'a, [T]>>, n_cols: usize) -> Result<Self, DataError> {
        let values = values.into();
        if n_cols == 0 {
            return Err(DataError::NoColumns);
        }
        if !values.len().is_multiple_of(n_cols) {
            return Err(DataError::Ragged { len: values.len(), n_cols });
        }
        Ok(Dense { values, n_cols })
    }

    /// The values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.n_cols..(i + 1) * self.n_cols]
    }

    /// The same values, borrowed.
    pub(crate) fn view(&self) -> Dense<'_, T> {
        Dense { values: Cow::Borrowed(&self.values), n_cols: self.n_cols }
    }

    /// All values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, to change in place; copies only if they were borrowed.
    pub fn values_mut(&mut self) -> &mut [T] {
        self.values.to_mut()
    }
}

impl<T: Float> Rows for Dense<'_, T> {
    const SINGLE: bool = T::SINGLE;

    fn n_rows(&self) -> usize {
        self.values.len() / self.n_cols
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    // Always inlined: a sum that `f` borrows would otherwise go through memory at every entry.
    #[inline(always)]
    fn each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        for (j, v) in self.row(i).iter().enumerate() {
            f(j, v.wide());
        }
    }

    #[inline]
    fn dots(&self, rows: [usize; TOGETHER], w: &[f64]) -> [f64; TOGETHER] {
        let [a, b, c, d] = rows.map(|i| self.row(i));
        let mut sums = [0.0; TOGETHER];
        for ((((a, b), c), d), w) in a.iter().zip(b).zip(c).zip(d).zip(w) {
            sums[0] += a.wide() * w;
            sums[1] += b.wide() * w;
            sums[2] += c.wide() * w;
            sums[3] += d.wide() * w;
        }
        sums
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        prefetch(self.row(i));
    }

    fn inner(&self, i: usize, j: usize) -> f64 {
        self.row(i).iter().zip(self.row(j)).map(|(a, b)| a.wide() * b.wide()).sum()
    }
}
