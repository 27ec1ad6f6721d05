//! Rows that are there more than once.

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::data::{Matrix, Rows};
use crate::solver::Example;
use crate::with_rows;

/// For each row the first that is equal to it and of the same class: a solver needs to look at one of them only, which costs what all do.
pub(crate) struct Copies {
    first: Vec<u32>,
}

/// From this share of copies on they are looked for in all rows.
const WORTH_IT: f64 = 0.05;

/// One of so many hashes is looked at first. Copies have the same hash, so that all of them are among the few or none is.
const FEW: u64 = 16;

impl Copies {
    /// Nothing where rows are too few, too wide or too different for it to pay.
    pub(crate) fn of(x: &Matrix<'_>, y: &[u32]) -> Option<Self> {
        /// With fewer rows for each feature, equal ones are rare.
        const ROWS_A_FEATURE: usize = 16;
        if x.n_rows() < ROWS_A_FEATURE * x.n_cols() {
            return None;
        }
        with_rows!(x, x => Copies::among(x, y))
    }

    fn among<R: Rows>(x: &R, y: &[u32]) -> Option<Self> {
        let hashes: Vec<(u64, u32)> = y
            .par_iter()
            .enumerate()
            .map_init(Vec::new, |room, (i, &class)| (hash(x, i, class, room), i as u32))
            .collect();
        let few: Vec<(u64, u32)> = hashes.iter().copied().filter(|(hash, _)| hash % FEW == 0).collect();
        let enough = |rows: usize, copies: usize| copies as f64 >= WORTH_IT * rows as f64 && copies > 0;
        if !enough(few.len(), copies(&group(x, y, few.clone()))) {
            return None;
        }
        let mut first: Vec<u32> = (0..y.len() as u32).collect();
        for (row, leader) in group(x, y, hashes) {
            first[row as usize] = leader;
        }
        Some(Copies { first })
    }

    /// The scores of all rows, from those of some; none where not every row is equal to one of these.
    pub(crate) fn spread(&self, examples: &[Example], scores: &[f64]) -> Vec<f64> {
        let mut known = vec![f64::NAN; self.first.len()];
        for (example, &score) in examples.iter().zip(scores) {
            known[self.first(example.row as usize)] = score;
        }
        let all: Vec<f64> = self.first.iter().map(|&first| known[first as usize]).collect();
        if all.iter().any(|score| score.is_nan()) { Vec::new() } else { all }
    }

    /// The first row that is equal to a row.
    pub(crate) fn first(&self, row: usize) -> usize {
        self.first[row] as usize
    }
}

/// Each row with the first that is equal to it.
fn group<R: Rows>(x: &R, y: &[u32], mut hashes: Vec<(u64, u32)>) -> Vec<(u32, u32)> {
    hashes.par_sort_unstable();
    let (mut own, mut other) = (Vec::new(), Vec::new());
    let mut grouped = Vec::with_capacity(hashes.len());
    for same in hashes.chunk_by(|a, b| a.0 == b.0) {
        let leader = same[0].1 as usize;
        grouped.push((same[0].1, same[0].1));
        if same.len() > 1 {
            entries(x, leader, &mut own);
        }
        for &(_, row) in &same[1..] {
            entries(x, row as usize, &mut other);
            let equal = y[leader] == y[row as usize] && own == other;
            grouped.push((row, if equal { same[0].1 } else { row }));
        }
    }
    grouped
}

fn copies(grouped: &[(u32, u32)]) -> usize {
    grouped.iter().filter(|(row, leader)| row != leader).count()
}

/// What is not zero.
fn entries<R: Rows>(x: &R, i: usize, room: &mut Vec<(u32, u64)>) {
    room.clear();
    x.each(i, |j, v| {
        if v != 0.0 {
            room.push((j as u32, v.to_bits()));
        }
    });
}

fn hash<R: Rows>(x: &R, i: usize, class: u32, room: &mut Vec<u8>) -> u64 {
    room.clear();
    x.each(i, |j, v| {
        if v != 0.0 {
            room.extend_from_slice(&(j as u32).to_le_bytes());
            room.extend_from_slice(&v.to_bits().to_le_bytes());
        }
    });
    xxh3_64_with_seed(room, u64::from(class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense};

    fn firsts(x: &Matrix<'_>, y: &[u32]) -> Option<Vec<usize>> {
        let copies = Copies::of(x, y)?;
        Some((0..y.len()).map(|i| copies.first(i)).collect())
    }

    #[test]
    fn equal_rows_of_a_class_are_found_however_they_are_stored() {
        let n = 4000;
        let value = |i: usize| f64::from((i % 100) as u32);
        let y: Vec<u32> = (0..n).map(|i| u32::from(i % 7 == 0)).collect();
        let naive = |i: usize| (0..n).find(|&k| value(k) == value(i) && y[k] == y[i]).unwrap();
        let dense: Matrix<'_> = Dense::new((0..n).map(value).collect::<Vec<f64>>(), 1).unwrap().into();
        let sparse: Matrix<'_> = {
            let rows: Vec<usize> = (0..n).filter(|&i| value(i) != 0.0).collect();
            let pointers: Vec<u64> = (0..=n).map(|i| rows.partition_point(|&row| row < i) as u64).collect();
            let values: Vec<f64> = rows.iter().map(|&i| value(i)).collect();
            Csr::new(pointers, vec![0u32; rows.len()], values, 1).unwrap().into()
        };
        let expected: Vec<usize> = (0..n).map(naive).collect();
        assert_eq!(firsts(&dense, &y), Some(expected.clone()));
        assert_eq!(firsts(&sparse, &y), Some(expected));
    }

    #[test]
    fn different_rows_are_left_alone() {
        let x: Matrix<'_> = Dense::new((0..4000).map(f64::from).collect::<Vec<f64>>(), 1).unwrap().into();
        assert_eq!(firsts(&x, &vec![0; 4000]), None);
    }
}
