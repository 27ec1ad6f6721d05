//! Filling in missing values, as preprocessing that is fitted once and stored in the model.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{DataError, Features, Float, Matrix, Role, Rows};
use crate::error::ParamError;

/// What missing values become, column by column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impute {
    /// The mean of the others.
    Mean,
    /// The middle of the others, of two the mean.
    Median,
    /// The value that most of the others have, the smallest of several.
    MostFrequent,
    /// Always this.
    Constant(f64),
}

impl FromStr for Impute {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.abs() <= 1e100);
        let wrong = || {
            let problem = "expected mean, median, most-frequent, constant (which is 0) or constant:VALUE";
            ParamError::new("impute", format!("{problem}, found {text:?}"))
        };
        match text.split_once(':') {
            None => match text {
                "mean" => Ok(Impute::Mean),
                "median" => Ok(Impute::Median),
                "most-frequent" => Ok(Impute::MostFrequent),
                "constant" => Ok(Impute::Constant(0.0)),
                _ => Err(wrong()),
            },
            Some(("constant", value)) => number(value).map(Impute::Constant).ok_or_else(wrong),
            Some(_) => Err(wrong()),
        }
    }
}

impl fmt::Display for Impute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Impute::Mean => f.write_str("mean"),
            Impute::Median => f.write_str("median"),
            Impute::MostFrequent => f.write_str("most-frequent"),
            Impute::Constant(value) => write!(f, "constant:{value}"),
        }
    }
}

/// What missing values (NaN) of each column become, as the rows it was fitted to tell. A column of which nothing is known becomes 0.
///
/// ```
/// use rosenblatt::{Dense, Impute, Imputation, Matrix};
/// let x: Matrix = Dense::new(vec![1.0, 10.0, f64::NAN, 30.0, 3.0, f64::NAN], 2)?.into();
/// let filled = Imputation::fit(Impute::Mean, &x);
/// assert_eq!(filled.values, [2.0, 20.0]);
/// assert_eq!(filled.apply(x)?, Dense::new(vec![1.0, 10.0, 2.0, 30.0, 3.0, 20.0], 2)?.into());
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imputation {
    /// What was asked for.
    pub kind: Impute,
    /// One value a column.
    pub values: Vec<f64>,
}

/// Values are finite.
impl Eq for Imputation {}

impl Imputation {
    /// Looks at all values that are there; zeros that are not stored are.
    pub fn fit(kind: Impute, x: &Matrix<'_>) -> Self {
        let values = match kind {
            Impute::Constant(value) => vec![value; x.n_cols()],
            Impute::Mean => means(x),
            Impute::Median => columns(x, median),
            Impute::MostFrequent => columns(x, most_frequent),
        };
        Imputation { kind, values }
    }

    /// The same for features of which some are the levels of one category: what is missing becomes the level that most rows have, and with `constant` none of them.
    pub(crate) fn of(kind: Impute, x: &Matrix<'_>, features: &Features) -> Self {
        let mut fitted = Imputation::fit(kind, x);
        let Some(schema) = features.schema.as_ref().filter(|schema| schema.n_features() == x.n_cols()) else {
            return fitted;
        };
        let shares = match kind {
            Impute::Mean => return fitted,
            Impute::Constant(_) => vec![0.0; x.n_cols()],
            Impute::Median | Impute::MostFrequent => means(x),
        };
        let mut first = 0;
        for column in &schema.columns {
            let levels = first..first + column.width();
            if matches!(column.role, Role::Categorical { .. }) {
                let most = levels.clone().min_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
                let is_most = |level: usize| Some(level) == most && shares[level] > 0.0;
                levels.clone().for_each(|level| fitted.values[level] = f64::from(u8::from(is_most(level))));
            }
            first = levels.end;
        }
        fitted
    }

    /// The same rows with nothing missing.
    pub fn apply<'a>(&self, mut x: Matrix<'a>) -> Result<Matrix<'a>, DataError> {
        if x.n_cols() != self.values.len() {
            return Err(DataError::Features { found: x.n_cols(), expected: self.values.len() });
        }
        let columns = self.values.len();
        match &mut x {
            Matrix::DenseF32(x) if x.values().iter().any(|v| v.is_nan()) => {
                fill(x.values_mut(), |at| self.values[at % columns]);
            }
            Matrix::DenseF64(x) if x.values().iter().any(|v| v.is_nan()) => {
                fill(x.values_mut(), |at| self.values[at % columns]);
            }
            Matrix::CsrF32(x) if x.values().iter().any(|v| v.is_nan()) => {
                let places = x.columns().to_vec();
                fill(x.values_mut(), |at| self.values[places[at] as usize]);
            }
            Matrix::CsrF64(x) if x.values().iter().any(|v| v.is_nan()) => {
                let places = x.columns().to_vec();
                fill(x.values_mut(), |at| self.values[places[at] as usize]);
            }
            _ => {}
        }
        Ok(x)
    }

    /// Refuses what can only come from a file.
    pub(crate) fn check(&self, columns: usize) -> Result<(), String> {
        let finite = self.values.iter().all(|value| value.abs() <= 1e150);
        let constant = if let Impute::Constant(value) = self.kind { value.is_finite() } else { true };
        match self.values.len() == columns && finite && constant {
            true => Ok(()),
            false => Err("what missing values become must be a finite number for each feature".to_owned()),
        }
    }
}

fn fill<T: Float>(values: &mut [T], with: impl Fn(usize) -> f64) {
    let missing = values.iter_mut().enumerate().filter(|(_, value)| value.wide().is_nan());
    missing.for_each(|(at, value)| *value = T::narrow(with(at)));
}

/// How many rows say nothing of each column.
fn missing(x: &Matrix<'_>) -> Vec<usize> {
    let mut missing = vec![0; x.n_cols()];
    (0..x.n_rows()).for_each(|i| x.each(i, |j, v| missing[j] += usize::from(v.is_nan())));
    missing
}

fn means(x: &Matrix<'_>) -> Vec<f64> {
    let mut sums = vec![0.0; x.n_cols()];
    (0..x.n_rows()).for_each(|i| x.each(i, |j, v| sums[j] += if v.is_nan() { 0.0 } else { v }));
    let mean = |(sum, missing): (f64, usize)| {
        let known = x.n_rows() - missing;
        if known > 0 { sum / known as f64 } else { 0.0 }
    };
    sums.into_iter().zip(missing(x)).map(mean).collect()
}

/// Something of the sorted values that are there, column by column, given those that are not zeros left out and how many these are.
fn columns(x: &Matrix<'_>, of: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
    let mut stored: Vec<Vec<f64>> = vec![Vec::new(); x.n_cols()];
    (0..x.n_rows()).for_each(|i| {
        x.each(i, |j, v| {
            if v != 0.0 && !v.is_nan() {
                stored[j].push(v);
            }
        });
    });
    let one = |(mut values, missing): (Vec<f64>, usize)| {
        values.sort_unstable_by(f64::total_cmp);
        let zeros = x.n_rows() - missing - values.len();
        of(&values, zeros)
    };
    stored.into_iter().zip(missing(x)).map(one).collect()
}

fn median(values: &[f64], zeros: usize) -> f64 {
    let below = values.partition_point(|&v| v < 0.0);
    let at = |place: usize| match place {
        p if p < below => values[p],
        p if p < below + zeros => 0.0,
        p => values[p - zeros],
    };
    match values.len() + zeros {
        0 => 0.0,
        n if n % 2 == 1 => at(n / 2),
        n => 0.5 * (at(n / 2 - 1) + at(n / 2)),
    }
}

fn most_frequent(values: &[f64], zeros: usize) -> f64 {
    let (mut best, mut most) = (0.0, zeros);
    for run in values.chunk_by(|a, b| a == b) {
        if run.len() > most || (run.len() == most && run[0] < best) {
            (best, most) = (run[0], run.len());
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense};

    #[test]
    fn dense_and_sparse_rows_tell_the_same() {
        const N: f64 = f64::NAN;
        let columns =
            [[0.0, 2.0, N, 2.0, -1.0], [N, N, N, N, N], [5.0, 0.0, 0.0, N, 7.0], [3.0, 1.0, 1.0, 3.0, N]];
        let dense: Vec<f64> = (0..5).flat_map(|i| columns.map(|column| column[i])).collect();
        let (mut pointers, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in dense.chunks(4) {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                places.push(j as u32);
                values.push(v);
            }
            pointers.push(values.len() as u64);
        }
        let sparse: Matrix<'_> = Csr::new(pointers, places, values, 4).unwrap().into();
        let dense: Matrix<'_> = Dense::new(dense, 4).unwrap().into();
        let cases = [
            (Impute::Mean, [0.75, 0.0, 3.0, 2.0]),
            (Impute::Median, [1.0, 0.0, 2.5, 2.0]),
            (Impute::MostFrequent, [2.0, 0.0, 0.0, 1.0]),
            (Impute::Constant(9.0), [9.0; 4]),
        ];
        for (kind, expected) in cases {
            let of = [&dense, &sparse].map(|x| Imputation::fit(kind, x));
            assert_eq!(of[0].values, expected, "{kind}");
            assert_eq!(of[0], of[1]);
            let filled = [dense.clone(), sparse.clone()].map(|x| of[0].apply(x).unwrap());
            for i in 0..5 {
                let mut rows = [[0.0; 4]; 2];
                filled.iter().zip(&mut rows).for_each(|(x, row)| x.each(i, |j, v| row[j] = v));
                assert_eq!(rows[0], rows[1]);
                assert!(rows[0].iter().all(|v| v.is_finite()));
            }
        }
    }

    #[test]
    fn words_read_back() {
        for text in ["mean", "median", "most-frequent", "constant:-1.5"] {
            assert_eq!(text.parse::<Impute>().unwrap().to_string(), text);
        }
        assert_eq!("constant".parse(), Ok(Impute::Constant(0.0)));
        for text in ["", "Mean", "constant:", "constant:nan", "mean:3", "constant:1e300"] {
            assert!(text.parse::<Impute>().is_err(), "{text}");
        }
    }
}
