//! What identifies data.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{Dataset, Rows};
use crate::with_rows;

/// Size and hash of the data a model was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Number of rows.
    pub rows: u64,
    /// Number of features.
    pub features: u64,
    /// Number of stored entries.
    pub entries: u64,
    /// XXH3-128 over non-zero entries, classes and weights, in hexadecimal.
    pub hash: String,
}

/// Rows hashed by one task; part of the definition of the hash.
const BLOCK: usize = 4096;

/// Takes all rows, then all classes, then all weights, each in as many pieces as they come in.
#[derive(Default)]
pub(crate) struct FingerprintHasher {
    /// The hash of each whole block of rows.
    blocks: Vec<u128>,
    /// The block that is not whole yet.
    open: Xxh3,
    open_rows: usize,
    rows: u64,
    entries: u64,
    /// Over the blocks, then classes and weights.
    total: Option<Xxh3>,
}

impl FingerprintHasher {
    pub(crate) fn rows(&mut self, data: &Dataset<'_>) {
        let n_rows = data.n_rows();
        let first = if self.open_rows == 0 { 0 } else { (BLOCK - self.open_rows).min(n_rows) };
        let whole = (n_rows - first) / BLOCK;
        let last = first + whole * BLOCK;
        let block = |b: usize| first + b * BLOCK..first + (b + 1) * BLOCK;
        with_rows!(data.x(), x => {
            self.continue_block(x, 0..first);
            self.blocks.par_extend((0..whole).into_par_iter().map(|b| {
                let mut hash = Xxh3::new();
                hash_rows(&mut hash, x, block(b));
                hash.digest128()
            }));
            self.continue_block(x, last..n_rows);
        });
        self.rows += n_rows as u64;
        self.entries += data.x().entries() as u64;
    }

    /// Blocks may be stored in another form than all rows together.
    pub(crate) fn set_entries(&mut self, entries: u64) {
        self.entries = entries;
    }

    fn continue_block(&mut self, x: &impl Rows, rows: Range<usize>) {
        self.open_rows += rows.len();
        hash_rows(&mut self.open, x, rows);
        if self.open_rows == BLOCK {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        self.blocks.push(self.open.digest128());
        self.open = Xxh3::new();
        self.open_rows = 0;
    }

    pub(crate) fn labels(&mut self, classes: &[u32]) {
        let total = self.total();
        classes.iter().for_each(|class| total.update(&class.to_le_bytes()));
    }

    /// Weights count only where they were given.
    pub(crate) fn weights(&mut self, weights: &[f64]) {
        let total = self.total();
        weights.iter().for_each(|weight| total.update(&weight.to_le_bytes()));
    }

    fn total(&mut self) -> &mut Xxh3 {
        if self.total.is_none() && self.open_rows > 0 {
            self.end_block();
        }
        self.total.get_or_insert_with(|| {
            let mut total = Xxh3::new();
            self.blocks.iter().for_each(|block| total.update(&block.to_le_bytes()));
            total
        })
    }

    pub(crate) fn finish(mut self, n_features: usize) -> Fingerprint {
        let hash = format!("{:032x}", self.total().digest128());
        Fingerprint { rows: self.rows, features: n_features as u64, entries: self.entries, hash }
    }
}

/// Zeros do not count, so that sparse and dense forms of the same numbers agree.
fn hash_rows(hash: &mut Xxh3, x: &impl Rows, rows: Range<usize>) {
    const ENTRY: usize = 12;
    let mut row: Vec<u8> = Vec::new();
    for i in rows {
        let mut end = 0;
        x.each(i, |j, v| {
            if v != 0.0 {
                if row.len() < end + ENTRY {
                    row.resize(2 * (end + ENTRY), 0);
                }
                // In its place: to push bytes takes several times as long as to hash them.
                let entry = &mut row[end..][..ENTRY];
                entry[..4].copy_from_slice(&(j as u32).to_le_bytes());
                entry[4..].copy_from_slice(&v.to_le_bytes());
                end += ENTRY;
            }
        });
        hash.update(&(end as u64).to_le_bytes());
        hash.update(&row[..end]);
    }
}
