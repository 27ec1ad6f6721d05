//! A feature for each row that is known.

use std::collections::HashMap;

use crate::data::{Matrix, Rows};
use crate::model::RowStore;
use crate::with_rows;

/// Each row once.
pub(super) fn distinct(x: &Matrix<'_>) -> Matrix<'static> {
    let mut store = RowStore::new();
    with_rows!(x, x => for i in 0..x.n_rows() {
        store.intern(x, i);
    });
    store.matrix(x.n_cols())
}

/// Rows by their bits, in single precision where rows of both are compared.
pub(super) struct Places {
    single: bool,
    places: HashMap<Vec<(usize, u64)>, usize>,
}

impl Places {
    pub(super) fn of(rows: &Matrix<'static>, single: bool) -> Self {
        let mut known = Places { single, places: HashMap::new() };
        for i in 0..rows.n_rows() {
            let mut entries = Vec::new();
            rows.each(i, |j, v| entries.push((j, v)));
            known.places.entry(known.key(&entries)).or_insert(i);
        }
        known
    }

    fn key(&self, entries: &[(usize, f64)]) -> Vec<(usize, u64)> {
        let rounded = |v: f64| if self.single { f64::from(v as f32) } else { v };
        entries.iter().map(|&(j, v)| (j, rounded(v).to_bits())).collect()
    }

    pub(super) fn get(&self, entries: &[(usize, f64)]) -> Option<usize> {
        self.places.get(&self.key(entries)).copied()
    }
}
