//! Where distances are seen from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::whole::look;
use crate::data::{DataError, Matrix, Rows};
use crate::kernel::{Kernel, Pairing};
use crate::similarity::Similarity;
use crate::with_rows;

/// What is taken from every row before it becomes single precision and distances are formed: of columns in ascending order, nothing in the others.
///
/// ‖u‖² + ‖v‖² − 2u·v is a small difference of large numbers where rows are far from 0, and what rows have in common (years, coordinates of a map) leaves single precision no digits for
/// what they differ in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, f64)>", into = "Vec<(u64, f64)>")]
pub(crate) struct Centre(Arc<[(usize, f64)]>);

impl From<Vec<(u64, f64)>> for Centre {
    fn from(entries: Vec<(u64, f64)>) -> Self {
        Centre(entries.into_iter().map(|(j, v)| (j as usize, v)).collect())
    }
}

impl From<Centre> for Vec<(u64, f64)> {
    fn from(centre: Centre) -> Self {
        centre.0.iter().map(|&(j, v)| (j as u64, v)).collect()
    }
}

/// The share of entries from which on zeros cost less than going around them, and below which rows are to stay as empty as they are.
const FULL: f64 = 0.25;

impl Centre {
    /// The middle of rows, for kernels of distances. A column is left where it is unless its mean is larger than its spread: such a column is not zero in more than half of the rows, so that
    /// sparse rows stay sparse.
    pub(super) fn middle(kernel: &Similarity, x: &Matrix<'_>) -> Self {
        /// Rows looked at.
        const MANY: usize = 4096;
        /// Columns that there is room for.
        const WIDEST: usize = 1 << 22;
        let n_cols = x.n_cols();
        if !is_of_distance(kernel) || n_cols > WIDEST {
            return Centre::default();
        }
        let step = x.n_rows().div_ceil(MANY).max(1);
        let rows = || (0..x.n_rows()).step_by(step);
        let mut columns = vec![Column::default(); n_cols];
        with_rows!(x, x => rows().for_each(|i| x.each(i, |j, v| columns[j].add(v))));
        let seen = rows().len() as f64;
        let entries: f64 = columns.iter().map(|column| column.entries).sum();
        // Whole numbers are exact wherever they are.
        if entries < FULL * seen * n_cols as f64 && rows().fold(3, |all, i| all & look(x, i).0) != 0 {
            return Centre::default();
        }
        let means: Vec<f64> = columns.iter().map(|column| column.mean(seen)).collect();
        let mut apart = vec![0.0; n_cols];
        with_rows!(x, x => rows().for_each(|i| x.each(i, |j, v| {
            apart[j] += if v == 0.0 { 0.0 } else { (v - means[j]) * (v - means[j]) };
        })));
        let spread =
            |j: usize| ((apart[j] + (seen - columns[j].entries) * means[j] * means[j]) / seen).sqrt();
        let pays = (0..n_cols).filter(|&j| means[j].abs() > spread(j));
        Centre(pays.map(|j| (j, rounded(means[j], spread(j)))).collect())
    }

    /// One of the rows, for kernels of distances: what a stream can know of all that will come. Of rows with few entries nothing is taken, so that they keep few; how many columns others have does
    /// not count, as a stream cannot know.
    pub(crate) fn on(kernel: &Similarity, x: &Matrix<'_>, i: usize) -> Self {
        let mut entries = Vec::new();
        if is_of_distance(kernel) {
            x.each(i, |j, v| entries.extend((v != 0.0).then_some((j, v))));
        }
        let width = entries.last().map_or(0, |(j, _)| j + 1);
        if (entries.len() as f64) < FULL * width as f64 { Centre::default() } else { Centre(entries.into()) }
    }

    /// Whether it can be that of rows of so many columns: one read from a file may be anything.
    pub(crate) fn fits(&self, n_cols: usize) -> bool {
        let sound = self.0.iter().all(|(j, v)| *j < n_cols && v.is_finite());
        sound && self.0.is_sorted_by(|(a, _), (b, _)| a < b)
    }

    pub(super) fn entries(&self) -> &[(usize, f64)] {
        &self.0
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// How many columns it knows of.
    pub(super) fn width(&self) -> usize {
        self.0.last().map_or(0, |(j, _)| j + 1)
    }

    /// Whether it fills rows of so many columns.
    pub(super) fn fills(&self, n_cols: usize) -> bool {
        !self.is_zero() && self.0.len() as f64 >= FULL * n_cols as f64
    }

    /// Calls `f` with what a row is apart from it: columns in order, those where neither has anything left out or 0.
    #[inline(always)]
    pub(super) fn each(&self, x: &Matrix<'_>, i: usize, mut f: impl FnMut(usize, f64)) {
        let mut left = self.entries();
        if left.is_empty() {
            return with_rows!(x, x => x.each(i, f));
        }
        with_rows!(x, x => x.each(i, |j, v| {
            let mut apart = v;
            while let [(k, c), rest @ ..] = left && *k <= j {
                // Zeros that are not stored are as far from the centre as others.
                if *k < j { f(*k, -c) } else { apart -= c }
                left = rest;
            }
            f(j, apart);
        }));
        left.iter().for_each(|&(k, c)| f(k, -c));
    }
}

/// What the entries of a column add up to.
#[derive(Clone, Copy, Default)]
struct Column {
    sum: f64,
    /// Those that are not 0.
    entries: f64,
}

impl Column {
    fn add(&mut self, v: f64) {
        self.sum += v;
        self.entries += f64::from(u8::from(v != 0.0));
    }

    fn mean(self, seen: f64) -> f64 {
        self.sum / seen.max(1.0)
    }
}

/// A mean to a power of two that is not above the spread: near enough, and what is taken from numbers of few digits leaves numbers of few digits, whose distances are exact.
fn rounded(mean: f64, spread: f64) -> f64 {
    let unit = f64::from_bits(spread.to_bits() & f64::INFINITY.to_bits());
    if unit.is_normal() { (mean / unit).round() * unit } else { mean }
}

fn is_of_distance(kernel: &Similarity) -> bool {
    kernel.kernel().is_some_and(Kernel::is_of_distance)
}

/// What rows are looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To be learned from.
    Learning,
    /// To be predicted on, from the middle of those that are stored: rows that were learned from may be thrice as far from it as they were from the centre then.
    Predicting,
}

impl Reach {
    /// γ·‖u‖², or γ·Σ|u|: distances are off by ten millionths of it.
    fn farthest(self) -> f64 {
        const FARTHEST: f64 = 1e4;
        match self {
            Reach::Learning => FARTHEST,
            Reach::Predicting => 9.0 * FARTHEST,
        }
    }

    /// Refuses rows so far from the centre that single precision cannot tell their distances.
    pub(crate) fn check(
        self,
        kernel: &Similarity,
        x: &Matrix<'_>,
        rows: impl Iterator<Item = usize>,
        centre: &Centre,
    ) -> Result<(), DataError> {
        let Some((kernel, gamma)) = kernel.kernel().and_then(|kernel| Some((kernel, kernel.width()?))) else {
            return Ok(());
        };
        let squares = kernel.pairing() == Pairing::Product;
        let extent = |i: usize| {
            let mut sum = 0.0;
            centre.each(x, i, |_, v| sum += if squares { v * v } else { v.abs() });
            sum
        };
        let largest = rows.map(extent).fold(0.0, f64::max);
        if gamma * largest <= self.farthest() {
            return Ok(());
        }
        let length = |sum: f64| if squares { sum.sqrt() } else { sum };
        let from = if centre.is_zero() { "0" } else { "their middle" };
        let (unit, scale) = match kernel.pairing() {
            Pairing::Product => ("1/√γ", "standard"),
            Pairing::Absolute => ("1/γ", "standard"),
            Pairing::Chi => ("1/γ", "maxabs"),
        };
        Err(DataError::Unsuitable(format!(
            "rows are up to {:.1e} from {from}, where single precision cannot tell distances of {unit} = {:.1e}; bring them nearer (--scale {scale}), or make gamma smaller",
            length(largest),
            length(1.0 / gamma)
        )))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense};

    fn middle(values: Vec<f64>, n_cols: usize) -> Vec<(usize, f64)> {
        let x = Dense::new(values, n_cols).unwrap().into();
        Centre::middle(&Kernel::Rbf { gamma: 1.0 }.into(), &x).entries().to_vec()
    }

    #[test]
    fn only_columns_far_from_zero_are_moved() {
        assert_eq!(middle(vec![100.5, 0.0, -1.5, 102.5, 3.0, 1.5], 3), [(0, 102.0)]);
        assert_eq!(middle(vec![1.7e9, 1.7e9 + 1.0], 1), [(0, 1.7e9 + 0.5)]);
        // Sparse rows of whole numbers are exact, and stay sparse.
        assert!(middle(vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 5).is_empty());
        let x = Dense::new(vec![100.0, 101.0], 1).unwrap().into();
        assert!(Centre::middle(&Kernel::Linear.into(), &x).is_zero());
    }

    #[test]
    fn what_is_not_stored_is_apart_from_it_too() {
        let x: Matrix<'_> = Csr::new(vec![0, 2], vec![1, 4], vec![5.0, 7.0], 6).unwrap().into();
        let centre = Centre(vec![(0, 1.0), (1, 2.0), (3, -1.0), (7, 3.0)].into());
        let mut found = Vec::new();
        centre.each(&x, 0, |j, v| found.push((j, v)));
        assert_eq!(found, [(0, -1.0), (1, 3.0), (3, 1.0), (4, 7.0), (7, -3.0)]);
    }

    #[test]
    fn a_stream_is_seen_from_its_first_row_unless_that_is_nearly_empty() {
        let kernel = Kernel::Laplacian { gamma: 1.0 }.into();
        let row = |columns: Vec<u32>| {
            let (entries, n_cols) = (columns.len(), 1000);
            Csr::new(vec![0, entries as u64], columns, vec![2.0; entries], n_cols).unwrap().into()
        };
        assert_eq!(Centre::on(&kernel, &row(vec![0, 2]), 0).entries(), [(0, 2.0), (2, 2.0)]);
        assert!(Centre::on(&kernel, &row(vec![0, 900]), 0).is_zero());
    }
}
