//! The matrix types behind one name, dispatched once per pass.

use rayon::prelude::*;

use super::{Csr, DataError, Dense, Float, Rows};

/// Feature vectors of any layout and precision.
///
/// ```
/// use rosenblatt::{Dense, Matrix, Rows};
/// let x: Matrix = Dense::new(vec![1.0f32, 2.0], 2)?.into();
/// assert_eq!(x.sq_norm(0), 5.0);
/// assert_eq!(x.entries(), 2);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix<'a> {
    /// Dense, single precision.
    DenseF32(Dense<'a, f32>),
    /// Dense, double precision.
    DenseF64(Dense<'a, f64>),
    /// Sparse, single precision.
    CsrF32(Csr<'a, f32>),
    /// Sparse, double precision.
    CsrF64(Csr<'a, f64>),
}

/// Runs an expression with the concrete matrix inside a [`Matrix`], so that loops are compiled for each type.
#[macro_export]
macro_rules! with_rows {
    ($matrix:expr, $x:ident => $body:expr) => {
        match $matrix {
            $crate::Matrix::DenseF32($x) => $body,
            $crate::Matrix::DenseF64($x) => $body,
            $crate::Matrix::CsrF32($x) => $body,
            $crate::Matrix::CsrF64($x) => $body,
        }
    };
}

impl Matrix<'_> {
    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        match self {
            Matrix::DenseF32(x) => x.values().len(),
            Matrix::DenseF64(x) => x.values().len(),
            Matrix::CsrF32(x) => x.values().len(),
            Matrix::CsrF64(x) => x.values().len(),
        }
    }

    /// Whether zeros are left out.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Matrix::CsrF32(_) | Matrix::CsrF64(_))
    }

    /// Whether values are single precision.
    pub fn is_single(&self) -> bool {
        matches!(self, Matrix::DenseF32(_) | Matrix::CsrF32(_))
    }

    /// Bytes held by the entries and row pointers.
    pub fn bytes(&self) -> usize {
        let value = if self.is_single() { 4 } else { 8 };
        match self.is_sparse() {
            true => self.entries() * (value + 4) + (self.n_rows() + 1) * 8,
            false => self.entries() * value,
        }
    }

    /// Refuses NaN, infinities and values whose squares overflow, as no learner can use them.
    pub fn check_values(&self) -> Result<(), DataError> {
        if with_rows!(self, x => all_usable(x.values())) {
            return Ok(());
        }
        with_rows!(self, x => first_unusable(x, false)).map_or(Ok(()), Err)
    }

    /// The same, but that values may be missing.
    pub(crate) fn check_known_values(&self) -> Result<(), DataError> {
        if with_rows!(self, x => all_usable(x.values())) {
            return Ok(());
        }
        with_rows!(self, x => first_unusable(x, true)).map_or(Ok(()), Err)
    }

    /// Whether a value is missing, which is what NaN stands for.
    pub(crate) fn has_missing(&self) -> bool {
        with_rows!(self, x => x.values().par_chunks(1 << 16).any(|block| block.iter().any(|v| v.is_nan())))
    }

    /// Row and column of the first such value.
    pub(crate) fn first_missing(&self) -> Option<(usize, usize)> {
        with_rows!(self, x => (0..x.n_rows()).find_map(|row| {
            let mut found = None;
            x.each(row, |column, value| found = found.or(value.is_nan().then_some((row, column))));
            found
        }))
    }

    /// The same rows, borrowed.
    pub(crate) fn view(&self) -> Matrix<'_> {
        match self {
            Matrix::DenseF32(x) => Matrix::DenseF32(x.view()),
            Matrix::DenseF64(x) => Matrix::DenseF64(x.view()),
            Matrix::CsrF32(x) => Matrix::CsrF32(x.view()),
            Matrix::CsrF64(x) => Matrix::CsrF64(x.view()),
        }
    }

    /// A sparse copy with only the first columns.
    pub(crate) fn narrowed(&self, n_cols: usize) -> Result<Matrix<'static>, DataError> {
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.n_rows() {
            self.each(i, |j, v| {
                if j < n_cols && v != 0.0 {
                    columns.push(j as u32);
                    values.push(v);
                }
            });
            pointers.push(columns.len() as u64);
        }
        Csr::new(pointers, columns, values, n_cols).map(Matrix::CsrF64)
    }

    /// A copy with only these rows, in this order.
    pub fn select(&self, rows: &[usize]) -> Matrix<'static> {
        match self {
            Matrix::DenseF32(x) => Matrix::DenseF32(select_dense(x, rows)),
            Matrix::DenseF64(x) => Matrix::DenseF64(select_dense(x, rows)),
            Matrix::CsrF32(x) => Matrix::CsrF32(select_csr(x, rows)),
            Matrix::CsrF64(x) => Matrix::CsrF64(select_csr(x, rows)),
        }
    }
}

/// Far larger values are mistakes, and their squares, summed, would no longer be numbers.
const LARGEST: f64 = 1e150;

/// Almost always the answer, and one sweep that needs no places. NaN fails the comparison, too.
fn all_usable<T: Float>(values: &[T]) -> bool {
    let usable = |block: &[T]| block.iter().fold(true, |all, value| all & (value.wide().abs() <= LARGEST));
    values.par_chunks(1 << 16).all(usable)
}

fn first_unusable(x: &impl Rows, missing: bool) -> Option<DataError> {
    (0..x.n_rows()).find_map(|row| {
        let mut found = None;
        x.each(row, |column, value| {
            if missing && value.is_nan() {
                return;
            }
            if found.is_none() && !value.is_finite() {
                found = Some(DataError::NotFinite { row, column });
            } else if found.is_none() && value.abs() > LARGEST {
                found = Some(DataError::TooLarge { row, column, value });
            }
        });
        found
    })
}

fn select_dense<T: Float>(x: &Dense<'_, T>, rows: &[usize]) -> Dense<'static, T> {
    let values: Vec<T> = rows.iter().flat_map(|&i| x.row(i).iter().copied()).collect();
    Dense::new(values, x.n_cols()).expect("rows of a valid matrix")
}

fn select_csr<T: Float>(x: &Csr<'_, T>, rows: &[usize]) -> Csr<'static, T> {
    let mut pointers = vec![0u64];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for &i in rows {
        let (c, v) = x.row(i);
        columns.extend_from_slice(c);
        values.extend_from_slice(v);
        pointers.push(columns.len() as u64);
    }
    Csr::new(pointers, columns, values, x.n_cols()).expect("rows of a valid matrix")
}

/// Dispatches at every call: for code that is naive on purpose. Hot loops use [`with_rows!`].
impl Rows for Matrix<'_> {
    // Readers of this constant store rows; double precision never loses anything.
    const SINGLE: bool = false;

    fn n_rows(&self) -> usize {
        with_rows!(self, x => x.n_rows())
    }

    fn n_cols(&self) -> usize {
        with_rows!(self, x => x.n_cols())
    }

    fn stored_a_row(&self) -> usize {
        with_rows!(self, x => x.stored_a_row())
    }

    fn each(&self, i: usize, f: impl FnMut(usize, f64)) {
        with_rows!(self, x => x.each(i, f))
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        with_rows!(self, x => x.dot(i, w))
    }

    fn axpy(&self, a: f64, i: usize, w: &mut [f64]) {
        with_rows!(self, x => x.axpy(a, i, w))
    }

    fn inner(&self, i: usize, j: usize) -> f64 {
        with_rows!(self, x => x.inner(i, j))
    }
}

impl<'a> From<Dense<'a, f32>> for Matrix<'a> {
    fn from(x: Dense<'a, f32>) -> Self {
        Matrix::DenseF32(x)
    }
}

impl<'a> From<Dense<'a, f64>> for Matrix<'a> {
    fn from(x: Dense<'a, f64>) -> Self {
        Matrix::DenseF64(x)
    }
}

impl<'a> From<Csr<'a, f32>> for Matrix<'a> {
    fn from(x: Csr<'a, f32>) -> Self {
        Matrix::CsrF32(x)
    }
}

impl<'a> From<Csr<'a, f64>> for Matrix<'a> {
    fn from(x: Csr<'a, f64>) -> Self {
        Matrix::CsrF64(x)
    }
}
