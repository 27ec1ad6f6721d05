//! The four verbs every solver speaks.

use std::fmt;

/// Rows that [`Rows::dots`] takes.
pub const TOGETHER: usize = 4;

/// A table of feature vectors, seen row by row.
///
/// Solvers and models are written against this trait alone and never name a matrix type.
/// The four verbs are [`dot`](Rows::dot), [`axpy`](Rows::axpy), [`sq_norm`](Rows::sq_norm) and
/// [`inner`](Rows::inner); all of them are sums over [`each`](Rows::each), in column order.
///
/// ```
/// use rosenblatt::{Dense, Rows};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0], 2)?;
/// assert_eq!(x.dot(0, &[1.0, 1.0]), 5.0);
/// assert_eq!(x.sq_norm(0), 13.0);
/// assert_eq!(x.inner(0, 1), -2.0);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
pub trait Rows: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of columns.
    fn n_cols(&self) -> usize;

    /// Whether values are single precision: whoever stores rows keeps the type they came in.
    const SINGLE: bool;

    /// Calls `f(column, value)` for each stored entry of row `i`, columns ascending.
    fn each(&self, i: usize, f: impl FnMut(usize, f64));

    /// Stored entries of a row, on average.
    fn stored_a_row(&self) -> usize {
        self.n_cols()
    }

    /// Where row `i` lies will be needed soon.
    #[inline]
    fn prefetch_place(&self, _i: usize) {}

    /// Row `i` will be needed soon.
    #[inline]
    fn prefetch(&self, _i: usize) {}

    /// ⟨xᵢ, w⟩
    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.each(i, |j, v| sum += v * w[j]);
        sum
    }

    /// Whether two rows are stored alike, and so equal. Rows that are not may be equal, too: zeros may be stored or left out.
    #[inline]
    fn are_stored_alike(&self, _i: usize, _j: usize) -> bool {
        false
    }

    /// Whether a stored entry of row `i` is 0.
    #[inline]
    fn has_zeros(&self, i: usize) -> bool {
        let mut zeros = false;
        self.each(i, |_, v| zeros |= v == 0.0);
        zeros
    }

    /// ⟨xᵢ, w⟩ in two sums, each of every other entry, so that not every addition has to wait for the one before. `w` has a number for each column.
    /// For rows without stored zeros: these would change which entries are added to which sum, and the last bits with it.
    #[inline]
    fn dot_in_two(&self, i: usize, w: &[f64]) -> f64 {
        self.dot_past_zeros(i, w)
    }

    /// The same with zeros passed over.
    #[inline]
    fn dot_past_zeros(&self, i: usize, w: &[f64]) -> f64 {
        let mut sums = (0.0, 0.0);
        self.each(i, |j, v| {
            if v != 0.0 {
                sums = (sums.1, sums.0 + v * w[j]);
            }
        });
        sums.0 + sums.1
    }

    /// ⟨xᵢ, w⟩ of a few rows: the additions of one sum, which wait for each other, fill the pauses of the others'. `w` has a number for each column.
    #[inline]
    fn dots(&self, rows: [usize; TOGETHER], w: &[f64]) -> [f64; TOGETHER] {
        rows.map(|i| self.dot(i, w))
    }

    /// w ← w + a·xᵢ
    #[inline]
    fn axpy(&self, a: f64, i: usize, w: &mut [f64]) {
        self.each(i, |j, v| w[j] += a * v);
    }

    /// ‖xᵢ‖²
    #[inline]
    fn sq_norm(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.each(i, |_, v| sum += v * v);
        sum
    }

    /// ⟨xᵢ, xⱼ⟩
    fn inner(&self, i: usize, j: usize) -> f64;
}

/// A floating-point type features may have.
pub trait Float: Copy + Send + Sync + PartialEq + fmt::Debug + fmt::Display + 'static {
    /// Whether this is `f32`.
    const SINGLE: bool;
    /// Exact widening.
    fn wide(self) -> f64;
    /// Rounding to nearest.
    fn narrow(x: f64) -> Self;
}

impl Float for f32 {
    const SINGLE: bool = true;
    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn narrow(x: f64) -> f32 {
        x as f32
    }
}

impl Float for f64 {
    const SINGLE: bool = false;
    #[inline]
    fn wide(self) -> f64 {
        self
    }
    #[inline]
    fn narrow(x: f64) -> f64 {
        x
    }
}
