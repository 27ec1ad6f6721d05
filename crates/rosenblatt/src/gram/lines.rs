//! Rows that are gone through one after the other.

use std::borrow::Cow;

use super::Gram;
use super::tiles::Tiles;
use super::whole::Meaning;
use crate::data::Matrix;
use crate::kernel::{Kernel, Pairing};
use crate::simd::FOUR;

/// Rows in the forms that some tiles ask for.
pub(super) struct Lines<'g> {
    pub(super) len: usize,
    pub(super) alone: Vec<f32>,
    pub(super) floats: Option<FloatLines<'g>>,
    pub(super) bytes: Vec<ByteLines>,
    pub(super) scales: Vec<u8>,
}

pub(super) enum FloatLines<'g> {
    /// With their zeros.
    Dense(Vec<Cow<'g, [f32]>>),
    Sparse(Entries),
}

/// Rows as bytes, less 128.
pub(super) struct ByteLines {
    width: usize,
    bytes: Vec<i8>,
    /// What each row adds to its sums.
    pub(super) added: Vec<i32>,
    pub(super) alone: Vec<f32>,
}

impl ByteLines {
    fn new(kernel: Kernel, gram: &Gram<'_>, rows: &[usize], tiles: &super::tiles::Bytes) -> Self {
        let (meaning, width) = (Meaning::of(kernel), tiles.fours * FOUR);
        let (mut bytes, mut row) = (Vec::with_capacity(rows.len() * width), vec![0; width]);
        let (mut added, mut alone) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for &i in rows {
            tiles.scale.bytes(gram.x, i, &mut row);
            bytes.extend(row.iter().map(|byte| (byte ^ 128).cast_signed()));
            let (of_sums, by_itself) = meaning.of_line(&row, tiles.scale);
            added.push(of_sums);
            alone.push(by_itself);
        }
        ByteLines { width, bytes, added, alone }
    }

    pub(super) fn rows(&self) -> Vec<&[i8]> {
        self.bytes.chunks_exact(self.width).collect()
    }
}

/// The entries of a few rows as the kernel sees them.
pub(super) struct Entries {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Entries {
    fn of(gram: &Gram<'_>, rows: &[usize]) -> Self {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            gram.each_met(i, |j, v| {
                columns.push(j as u32);
                values.push(v);
            });
            starts.push(columns.len());
        }
        Entries { starts, columns, values }
    }

    pub(super) fn row(&self, at: usize) -> (&[u32], &[f32]) {
        let range = self.starts[at]..self.starts[at + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

impl Gram<'_> {
    /// Rows of these, made ready to be gone through with tiles that were made for them.
    pub(super) fn lines(&self, kernel: Kernel, set: &Tiles, rows: &[usize]) -> Lines<'_> {
        let dense = self.dense && kernel.pairing() == Pairing::Product;
        let floats = set.floats.as_ref().map(|_| match dense {
            true => FloatLines::Dense(rows.iter().map(|&i| self.dense_row(i)).collect()),
            false => FloatLines::Sparse(Entries::of(self, rows)),
        });
        Lines {
            len: rows.len(),
            alone: rows.iter().map(|&i| self.alone[i]).collect(),
            floats,
            bytes: set.bytes.iter().map(|tiles| ByteLines::new(kernel, self, rows, tiles)).collect(),
            scales: if set.scales.is_empty() { Vec::new() } else { self.whole.of_rows(rows) },
        }
    }

    /// A row with its zeros; copied only where it is not stored so.
    fn dense_row(&self, i: usize) -> Cow<'_, [f32]> {
        if let (Matrix::DenseF32(x), true) = (self.x, self.centre.is_zero()) {
            return Cow::Borrowed(x.row(i));
        }
        let mut row = vec![0.0; self.width()];
        self.each(i, |j, v| row[j] = v);
        Cow::Owned(row)
    }
}
