//! Scaling as preprocessing that is fitted once and stored in the model.

use serde::{Deserialize, Serialize};

use super::{Csr, DataError, Dense, Float, Matrix, Rows};
use crate::with_rows;

/// The kinds of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Mean 0, standard deviation 1 for each feature.
    Standard,
    /// Each feature onto [0, 1].
    Minmax,
    /// Each feature divided by its largest absolute value; keeps zeros.
    Maxabs,
    /// Each row divided by its Euclidean length; keeps zeros.
    Unit,
}

impl Scale {
    /// The name used on the command line and in model files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Standard => "standard",
            Scale::Minmax => "minmax",
            Scale::Maxabs => "maxabs",
            Scale::Unit => "unit",
        }
    }
}

/// A fitted scaling: x ↦ (x − shift)·factor for each feature, or rows to unit length.
///
/// Results have the precision of the data. Constant features keep factor 1.
///
/// ```
/// use rosenblatt::{Dense, Matrix, Rows, Scale, Scaling};
/// let x: Matrix = Dense::new(vec![1.0, 10.0, 3.0, 30.0], 2)?.into();
/// let scaling = Scaling::fit(Scale::Minmax, &x);
/// assert_eq!(scaling.apply(x)?, Dense::new(vec![0.0, 0.0, 1.0, 1.0], 2)?.into());
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// Its kind.
    pub kind: Scale,
    /// Subtracted from each feature; empty for `unit`.
    pub shift: Vec<f64>,
    /// Multiplied after that; empty for `unit`.
    pub factor: Vec<f64>,
}

impl Scaling {
    /// Measures what the scaling needs; implicit zeros count.
    pub fn fit(kind: Scale, x: &Matrix<'_>) -> Self {
        let (shift, factor) = match kind {
            Scale::Unit => (Vec::new(), Vec::new()),
            _ if x.n_rows() == 0 => (vec![0.0; x.n_cols()], vec![1.0; x.n_cols()]),
            Scale::Standard => with_rows!(x, x => fit_standard(x)),
            Scale::Minmax => with_rows!(x, x => fit_minmax(x)),
            Scale::Maxabs => with_rows!(x, x => fit_maxabs(x)),
        };
        Scaling { kind, shift, factor }
    }

    /// Scales in place where the matrix owns its values. Sparse rows become dense only if zeros move and the result is
    /// small; otherwise that is an error.
    pub fn apply<'a>(&self, x: Matrix<'a>) -> Result<Matrix<'a>, DataError> {
        if self.kind != Scale::Unit && x.n_cols() != self.factor.len() {
            let (found, expected) = (x.n_cols(), self.factor.len());
            return Err(DataError::Features { found, expected });
        }
        let scaled = match x {
            Matrix::DenseF32(x) => Matrix::DenseF32(self.dense(x)),
            Matrix::DenseF64(x) => Matrix::DenseF64(self.dense(x)),
            Matrix::CsrF32(x) if self.keeps_zeros() => Matrix::CsrF32(self.sparse(x)),
            Matrix::CsrF64(x) if self.keeps_zeros() => Matrix::CsrF64(self.sparse(x)),
            Matrix::CsrF32(x) => Matrix::DenseF32(self.dense(self.densify(&x)?)),
            Matrix::CsrF64(x) => Matrix::DenseF64(self.dense(self.densify(&x)?)),
        };
        scaled.check_values().map(|()| scaled)
    }

    fn keeps_zeros(&self) -> bool {
        self.shift.iter().all(|&shift| shift == 0.0)
    }

    fn dense<'a, T: Float>(&self, mut x: Dense<'a, T>) -> Dense<'a, T> {
        let n_cols = x.n_cols();
        for row in x.values_mut().chunks_exact_mut(n_cols) {
            match self.kind {
                Scale::Unit => shorten(row),
                _ => {
                    for (j, v) in row.iter_mut().enumerate() {
                        *v = T::narrow((v.wide() - self.shift[j]) * self.factor[j]);
                    }
                }
            }
        }
        x
    }

    fn sparse<'a, T: Float>(&self, mut x: Csr<'a, T>) -> Csr<'a, T> {
        match self.kind {
            Scale::Unit => {
                let pointers = x.pointers().to_vec();
                let values = x.values_mut();
                for row in pointers.windows(2) {
                    shorten(&mut values[row[0] as usize..row[1] as usize]);
                }
            }
            _ => {
                let factors: Vec<f64> = x.columns().iter().map(|&j| self.factor[j as usize]).collect();
                for (v, factor) in x.values_mut().iter_mut().zip(factors) {
                    *v = T::narrow(v.wide() * factor);
                }
            }
        }
        x
    }

    fn densify<T: Float>(&self, x: &Csr<'_, T>) -> Result<Dense<'static, T>, DataError> {
        const SMALL: usize = 256 << 20;
        let (rows, columns) = (x.n_rows(), x.n_cols());
        let sparse_bytes = x.values().len() * (size_of::<T>() + 4);
        let bytes = rows.saturating_mul(columns).saturating_mul(size_of::<T>());
        if bytes > SMALL.max(4 * sparse_bytes) {
            let gib = bytes as f64 / (1u64 << 30) as f64;
            return Err(DataError::Densify { scale: self.kind.name(), rows, columns, gib });
        }
        let mut values = vec![T::narrow(0.0); rows * columns];
        for i in 0..rows {
            x.each(i, |j, v| values[i * columns + j] = T::narrow(v));
        }
        Dense::new(values, columns)
    }
}

fn shorten<T: Float>(row: &mut [T]) {
    // Taken out first, the largest value keeps squares of tiny ones from vanishing.
    let largest = row.iter().map(|v| v.wide().abs()).fold(0.0, f64::max);
    if largest > 0.0 {
        let length = row.iter().map(|v| (v.wide() / largest).powi(2)).sum::<f64>().sqrt();
        row.iter_mut().for_each(|v| *v = T::narrow(v.wide() / largest / length));
    }
}

/// 1/x, or 1 where that is no number: a feature that hardly differs from a constant is left alone.
fn inverse(x: f64) -> f64 {
    if x > 0.0 && (1.0 / x).is_finite() { 1.0 / x } else { 1.0 }
}

/// Two passes: mean first, then deviations, so that large offsets do not cancel.
fn fit_standard(x: &impl Rows) -> (Vec<f64>, Vec<f64>) {
    let n = x.n_rows() as f64;
    let mut mean = vec![0.0; x.n_cols()];
    let mut stored = vec![0.0; x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| {
            mean[j] += v;
            stored[j] += 1.0;
        });
    }
    mean.iter_mut().for_each(|m| *m /= n);
    let mut square = vec![0.0; x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| square[j] += (v - mean[j]) * (v - mean[j]));
    }
    let factor = |j: usize| {
        let zeros = (n - stored[j]) * mean[j] * mean[j];
        let deviation = ((square[j] + zeros) / n).sqrt();
        // Deviation at the level of rounding means a constant feature.
        if deviation > 1e-12 * mean[j].abs() { inverse(deviation) } else { 1.0 }
    };
    let factors = (0..x.n_cols()).map(factor).collect();
    (mean, factors)
}

fn fit_minmax(x: &impl Rows) -> (Vec<f64>, Vec<f64>) {
    let mut low = vec![f64::INFINITY; x.n_cols()];
    let mut high = vec![f64::NEG_INFINITY; x.n_cols()];
    let mut stored = vec![0; x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| {
            low[j] = f64::min(low[j], v);
            high[j] = f64::max(high[j], v);
            stored[j] += 1;
        });
    }
    for j in 0..x.n_cols() {
        if stored[j] < x.n_rows() {
            low[j] = low[j].min(0.0);
            high[j] = high[j].max(0.0);
        }
    }
    let factors = low.iter().zip(&high).map(|(low, high)| inverse(high - low)).collect();
    (low, factors)
}

fn fit_maxabs(x: &impl Rows) -> (Vec<f64>, Vec<f64>) {
    let mut largest = vec![0.0; x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| largest[j] = f64::max(largest[j], v.abs()));
    }
    let factors = largest.iter().map(|&largest| inverse(largest)).collect();
    (vec![0.0; x.n_cols()], factors)
}
