//! Kernel rows that a store keeps whole, for fits that differ in their rows and costs: nothing is copied, each score finds its column.

use rayon::prelude::*;

use super::super::term::Term;
use super::{AddRows, Decomposition};
use crate::simd::widely;

impl<T: Term> Decomposition<'_, T> {
    /// The columns that examples have in the store.
    fn stored_columns(&self, examples: &[usize]) -> Option<Vec<u32>> {
        let store = self.machine.store?;
        Some(examples.iter().map(|&i| store.column(self.row(i))).collect())
    }

    /// Tells all scores what has moved, if the store has all its rows.
    pub(super) fn add_whole(&mut self, moved: &[usize], changes: &[f64]) -> bool {
        let (Some(store), Some(of_moved)) = (self.machine.store, self.stored_columns(moved)) else {
            return false;
        };
        let (Some(rows), Some(columns)) = (store.all(&of_moved), self.stored_columns(&self.columns)) else {
            return false;
        };
        let moves: Vec<(f64, &[f32])> = changes.iter().copied().zip(rows).collect();
        add_whole_rows(&mut self.active, &columns, &moves);
        true
    }

    /// The same for what has moved since some time, as far as other examples go; only where the store has room for all rows, or results would depend on who came first.
    pub(super) fn moved_whole(
        &self,
        changed: &[usize],
        changes: &[f64],
        examples: &[usize],
    ) -> Option<Vec<f64>> {
        let store = self.machine.store.filter(|store| store.is_whole() && !self.precise)?;
        let (of_changed, columns) = (self.stored_columns(changed)?, self.stored_columns(examples)?);
        let moves: Vec<(f64, &[f32])> = changes.iter().copied().zip(store.all(&of_changed)?).collect();
        let mut scores = vec![0.0; examples.len()];
        add_whole_rows(&mut scores, &columns, &moves);
        Some(scores)
    }

    /// Kernel values of a working set with itself, if the store has all its rows.
    pub(super) fn gather_whole(&mut self, set: &[usize], stride: usize) -> bool {
        let (Some(store), Some(columns)) = (self.machine.store, self.stored_columns(set)) else {
            return false;
        };
        let Some(rows) = store.all(&columns) else { return false };
        self.room.par_chunks_mut(stride).zip(rows).for_each(|(out, row)| {
            out.iter_mut().zip(&columns).for_each(|(out, &column)| *out = row[column as usize]);
        });
        true
    }
}

/// As [`add_rows`](super::add_rows), to the bit, with rows that have more columns than there are scores.
pub(crate) fn add_whole_rows(scores: &mut [f64], columns: &[u32], rows: &[(f64, &[f32])]) {
    const PART: usize = 2048;
    scores.par_chunks_mut(PART).zip(columns.par_chunks(PART)).for_each(|(scores, columns)| {
        let mut at = 0;
        for (run, together) in runs(columns) {
            let (scores, columns) = (&mut scores[at..at + run], &columns[at..at + run]);
            match together {
                true => widely(AddRows { scores, rows, first: columns[0] as usize }),
                false => gather_rows(scores, columns, rows),
            }
            at += run;
        }
    });
}

/// Lengths of stretches: columns that follow each other without a gap, if they are many, and what is between these; and which of both they are.
fn runs(columns: &[u32]) -> Vec<(usize, bool)> {
    /// So many are added at a time.
    const LONG: usize = 32;
    let mut lengths = Vec::new();
    let mut scattered = 0;
    for run in columns.chunk_by(|a, b| b.wrapping_sub(*a) == 1) {
        if run.len() < LONG {
            scattered += run.len();
            continue;
        }
        lengths.extend((scattered > 0).then_some((scattered, false)));
        lengths.push((run.len(), true));
        scattered = 0;
    }
    lengths.extend((scattered > 0).then_some((scattered, false)));
    lengths
}

fn gather_rows(scores: &mut [f64], columns: &[u32], rows: &[(f64, &[f32])]) {
    let (groups, rest) = rows.as_chunks::<4>();
    for [a, b, c, d] in groups {
        for (score, &k) in scores.iter_mut().zip(columns) {
            let k = k as usize;
            *score += a.0 * f64::from(a.1[k])
                + b.0 * f64::from(b.1[k])
                + c.0 * f64::from(c.1[k])
                + d.0 * f64::from(d.1[k]);
        }
    }
    for (amount, row) in rest {
        for (score, &k) in scores.iter_mut().zip(columns) {
            *score += amount * f64::from(row[k as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn columns_are_found_wherever_they_are() {
        let mut rng = Rng::new(1);
        let rows: Vec<Vec<f32>> = (0..7).map(|_| (0..500).map(|_| rng.normal() as f32).collect()).collect();
        let moves: Vec<(f64, &[f32])> = rows.iter().map(|row| (rng.normal(), &row[..])).collect();
        // A long run, single ones, another run, backwards.
        let columns: Vec<u32> =
            (10..90).chain((100..160).step_by(3)).chain(200..300).chain([7, 5, 3, 499]).collect();
        let mut scores = vec![1.0; columns.len()];
        add_whole_rows(&mut scores, &columns, &moves);
        let packed: Vec<Vec<f32>> =
            rows.iter().map(|row| columns.iter().map(|&c| row[c as usize]).collect()).collect();
        let moves: Vec<(f64, &[f32])> = moves.iter().zip(&packed).map(|(m, row)| (m.0, &row[..])).collect();
        let mut expected = vec![1.0; columns.len()];
        super::super::add_rows(&mut expected, &moves);
        assert_eq!(scores, expected);
    }
}
