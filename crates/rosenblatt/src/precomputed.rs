//! Matrices of kernel values given in place of features.

use rayon::prelude::*;

use crate::data::{Csr, DataError, Float, Matrix, Rows};
use crate::kernel::largest;
use crate::with_rows;

/// What is kept of training rows: their numbers, as a 1 in the column of each.
pub(crate) fn numbers(rows: &[usize], n_cols: usize) -> Matrix<'static> {
    let pointers: Vec<u64> = (0..=rows.len() as u64).collect();
    let columns: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
    Csr::new(pointers, columns, vec![1f32; rows.len()], n_cols).expect("one column each").into()
}

/// Whether the rows to learn from are such a matrix: each with each, whichever comes first.
pub(crate) fn check(x: &Matrix<'_>) -> Result<(), DataError> {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    if n_rows != n_cols {
        return Err(DataError::Unsuitable(format!(
            "a precomputed kernel has a column for each training row: {n_rows} rows need {n_rows} columns beside the label, but there are {n_cols}; give the values of \
             each row with all {n_rows}, and rows to hold out as a file of their own, with as many columns"
        )));
    }
    let Some((i, j)) = first_asymmetry(x) else { return Ok(()) };
    Err(DataError::Unsuitable(format!(
        "a precomputed kernel is symmetric, but row {}, column {} is {}, and row {}, column {} is {}; columns stand in the order of rows, and are not scaled",
        i + 1,
        j + 1,
        entry(x, i, j),
        j + 1,
        i + 1,
        entry(x, j, i)
    )))
}

/// Where the two values of a pair of rows differ by more than rounding explains, be it that of a few printed digits.
fn first_asymmetry(x: &Matrix<'_>) -> Option<(usize, usize)> {
    const ROUNDING: f64 = 1e-3;
    let allowed = ROUNDING * with_rows!(x, x => largest(x.values()));
    (0..x.n_rows()).into_par_iter().find_map_first(|i| {
        let mut found = None;
        x.each(i, |j, v| {
            if found.is_none() && (v - entry(x, j, i)).abs() > allowed {
                found = Some((i, j));
            }
        });
        found
    })
}

fn entry(x: &Matrix<'_>, i: usize, j: usize) -> f64 {
    match x {
        Matrix::DenseF32(x) => x.row(i)[j].wide(),
        Matrix::DenseF64(x) => x.row(i)[j],
        Matrix::CsrF32(x) => stored_entry(x, i, j),
        Matrix::CsrF64(x) => stored_entry(x, i, j),
    }
}

fn stored_entry<T: Float>(x: &Csr<'_, T>, i: usize, j: usize) -> f64 {
    let (columns, values) = x.row(i);
    columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at].wide())
}
