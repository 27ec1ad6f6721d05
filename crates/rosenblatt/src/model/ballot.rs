//! A list of weight vectors that vote.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{History, Tie};
use crate::data::{Csr, DataError, Matrix, Rows};

/// Every weight vector a perceptron went through, with the number of visits each survived.
///
/// The vectors are not stored: each differs from the one before by one example, so the list is the sequence of updates over
/// the distinct examples they used, and one sweep over it gives all votes (Freund and Schapire 1999, section 2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot {
    pub(crate) tie: Tie,
    pub(crate) lifted: bool,
    /// The distinct examples on which updates were made.
    pub(crate) rows: Matrix<'static>,
    pub(crate) history: History,
}

impl Ballot {
    /// How many weight vectors vote.
    pub fn voters(&self) -> usize {
        self.history.voters()
    }

    /// How many distinct examples are stored.
    pub fn stored(&self) -> usize {
        self.rows.n_rows()
    }

    pub(crate) fn planes(&self) -> usize {
        self.history.planes
    }

    /// Each vector's vote for the example whose features are `x`.
    pub(crate) fn scores(&self, x: &[f64], out: &mut [f64]) {
        let inner: Vec<f64> = (0..self.rows.n_rows()).map(|s| self.rows.dot(s, x)).collect();
        let lift = if self.lifted { 1.0 } else { 0.0 };
        self.history.vote(self.tie, &inner, 1, lift, out, self.planes());
    }

    /// The mean of the vectors, which explains what the votes lean on.
    pub(crate) fn mean(&self) -> super::Planes {
        let mut planes = super::Planes::zeros(self.planes(), self.rows.n_cols(), self.lifted);
        self.history.each_mean(&mut |row, plane, amount| planes.add(&self.rows, row, plane, amount));
        planes
    }
}

/// The first of the largest.
pub(crate) fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best
}

/// Collects distinct rows in the precision they came in; equal rows are kept once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowStore {
    pointers: Vec<u64>,
    columns: Vec<u32>,
    singles: Vec<f32>,
    doubles: Vec<f64>,
    by_hash: HashMap<u64, Vec<u32>>,
}

impl RowStore {
    pub(crate) fn new() -> Self {
        RowStore {
            pointers: vec![0],
            columns: Vec::new(),
            singles: Vec::new(),
            doubles: Vec::new(),
            by_hash: HashMap::new(),
        }
    }

    /// The number under which a row is stored.
    pub(crate) fn intern<R: Rows>(&mut self, x: &R, i: usize) -> u32 {
        let mut bytes = Vec::new();
        x.each(i, |j, v| {
            if v != 0.0 {
                bytes.extend_from_slice(&(j as u32).to_le_bytes());
                bytes.extend_from_slice(&v.to_le_bytes());
            }
        });
        let hash = xxh3_64(&bytes);
        let twins = self.by_hash.get(&hash).cloned().unwrap_or_default();
        if let Some(&known) = twins.iter().find(|&&s| self.is_row(s, x, i)) {
            return known;
        }
        let id = (self.pointers.len() - 1) as u32;
        self.by_hash.entry(hash).or_default().push(id);
        self.append(x, i);
        id
    }

    /// Stores a row, even if it is there already.
    pub(crate) fn append<R: Rows>(&mut self, x: &R, i: usize) {
        // Rows of both precisions can meet only in a stream; then all are kept in double.
        if !R::SINGLE && self.doubles.len() < self.columns.len() {
            self.doubles = self.singles.drain(..).map(f64::from).collect();
        }
        let single = R::SINGLE && self.doubles.is_empty();
        x.each(i, |j, v| {
            if v != 0.0 {
                self.columns.push(j as u32);
                match single {
                    true => self.singles.push(v as f32),
                    false => self.doubles.push(v),
                }
            }
        });
        self.pointers.push(self.columns.len() as u64);
    }

    fn value(&self, at: usize) -> f64 {
        self.doubles.get(at).copied().unwrap_or_else(|| f64::from(self.singles[at]))
    }

    fn is_row<R: Rows>(&self, stored: u32, x: &R, i: usize) -> bool {
        let mut rest = self.range(stored).map(|at| (self.columns[at], self.value(at)));
        let mut same = true;
        x.each(i, |j, v| same &= v == 0.0 || rest.next() == Some((j as u32, v)));
        same && rest.next().is_none()
    }

    /// Keeps these rows, in this order, and frees all others; what was row r is row `Some(moved[r])` now.
    pub(crate) fn keep(&mut self, order: &[u32]) -> Vec<Option<u32>> {
        let mut moved = vec![None; self.len()];
        for (to, &from) in order.iter().enumerate() {
            moved[from as usize] = Some(to as u32);
        }
        let stay = order.iter().zip(0..).take_while(|(from, to)| **from == *to).count();
        let ranges = order[stay..].iter().map(|&row| self.range(row)).collect::<Vec<_>>();
        let end = self.pointers[stay] as usize;
        self.pointers.truncate(stay + 1);
        for range in &ranges {
            self.pointers.push(self.pointers[self.pointers.len() - 1] + range.len() as u64);
        }
        rearrange(&mut self.columns, end, &ranges);
        rearrange(&mut self.singles, end, &ranges);
        rearrange(&mut self.doubles, end, &ranges);
        self.by_hash.retain(|_, twins| {
            twins.retain_mut(|row| moved[*row as usize].map(|to| *row = to).is_some());
            !twins.is_empty()
        });
        moved
    }

    fn range(&self, row: u32) -> Range<usize> {
        self.pointers[row as usize] as usize..self.pointers[row as usize + 1] as usize
    }

    /// Number of rows, if they are rows over so many features: a file may claim anything.
    pub(crate) fn checked(&self, n_cols: usize) -> Option<usize> {
        let one_kind = self.singles.is_empty() || self.doubles.is_empty();
        let n_rows = self.pointers.len().checked_sub(1)?;
        let known = self.by_hash.values().flatten().all(|&row| (row as usize) < n_rows);
        (one_kind && known && self.try_matrix(n_cols).is_ok()).then_some(n_rows)
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.pointers.len() - 1
    }

    /// The rows where they are.
    pub(crate) fn view(&self, n_cols: usize) -> Matrix<'_> {
        let (pointers, columns, n_cols) = (&self.pointers[..], &self.columns[..], n_cols.max(1));
        let view = match self.doubles.is_empty() {
            true => Csr::of_checked_rows(pointers, columns, &self.singles[..], n_cols).map(Matrix::CsrF32),
            false => Csr::of_checked_rows(pointers, columns, &self.doubles[..], n_cols).map(Matrix::CsrF64),
        };
        view.expect("rows of valid matrices")
    }

    /// A matrix has at least one column, also before a stream has seen any.
    pub(crate) fn matrix(&self, n_cols: usize) -> Matrix<'static> {
        self.try_matrix(n_cols).expect("rows of valid matrices")
    }

    fn try_matrix(&self, n_cols: usize) -> Result<Matrix<'static>, DataError> {
        let (pointers, columns, n_cols) = (self.pointers.clone(), self.columns.clone(), n_cols.max(1));
        match self.doubles.is_empty() {
            true => Csr::new(pointers, columns, self.singles.clone(), n_cols).map(Matrix::CsrF32),
            false => Csr::new(pointers, columns, self.doubles.clone(), n_cols).map(Matrix::CsrF64),
        }
    }
}

/// Leaves what is before `end`, followed by what these ranges hold. Of the two precisions of a store one has no entries.
fn rearrange<T: Copy>(entries: &mut Vec<T>, end: usize, ranges: &[Range<usize>]) {
    if !entries.is_empty() {
        let kept: Vec<T> = ranges.iter().flat_map(|range| &entries[range.clone()]).copied().collect();
        entries.truncate(end);
        entries.extend(kept);
    }
}
