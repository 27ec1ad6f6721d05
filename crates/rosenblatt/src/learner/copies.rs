//! Rows that are there more than once.

use rayon::prelude::*;

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

/// In so many shares all are looked at then, each with a table that stays in a near cache.
const SHARES: u64 = 8;

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
        let rows = y.par_iter().enumerate().with_min_len(1024);
        let hashes: Vec<u64> = rows.map(|(i, &class)| hash(x, i, class)).collect();
        let few = leaders(x, y, &hashes, |hash| hash.is_multiple_of(FEW));
        let copies = few.iter().filter(|(first, row)| first != row).count();
        if copies == 0 || (copies as f64) < WORTH_IT * few.len() as f64 {
            return None;
        }
        // Copies have the same hash, and so belong to the same share.
        let shares = (0..SHARES).into_par_iter();
        let shares: Vec<_> = shares.map(|s| leaders(x, y, &hashes, |hash| hash % SHARES == s)).collect();
        let mut first = vec![0; y.len()];
        shares.into_iter().flatten().for_each(|(leader, row)| first[row as usize] = leader);
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

/// Each row that is asked for, by its hash, behind the first of them that is equal to it. Of rows that differ and have the same hash only the first is looked at.
fn leaders<R: Rows>(x: &R, y: &[u32], hashes: &[u64], asked: impl Fn(u64) -> bool) -> Vec<(u32, u32)> {
    const EMPTY: u32 = u32::MAX;
    let rows = hashes.iter().zip(0u32..).filter(|(hash, _)| asked(**hash));
    let mut pairs: Vec<(u32, u32)> = rows.map(|(_, row)| (row, row)).collect();
    let size = (2 * pairs.len()).next_power_of_two();
    // A table of half as many rows as places: a row that does not find its own goes on to the next.
    let mut table = vec![EMPTY; size];
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for (leader, row) in &mut pairs {
        let hash = hashes[*row as usize];
        let mut place = (hash >> 32) as usize % size;
        while table[place] != EMPTY && hashes[table[place] as usize] != hash {
            place = (place + 1) % size;
        }
        let first = table[place];
        if first == EMPTY {
            table[place] = *row;
            continue;
        }
        let (i, j) = (first as usize, *row as usize);
        let equal = x.are_stored_alike(i, j) || {
            entries(x, i, &mut other);
            entries(x, j, &mut own);
            own == other
        };
        if equal && y[i] == y[j] {
            *leader = first;
        }
    }
    pairs
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

/// A sum over what is not zero, so that no entry waits for the one before it.
fn hash<R: Rows>(x: &R, i: usize, class: u32) -> u64 {
    let mut sum = mixed(u64::from(class));
    x.each(i, |j, v| {
        let column = (j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = mixed(v.to_bits() ^ column);
        sum = sum.wrapping_add(if v != 0.0 { entry } else { 0 });
    });
    mixed(sum)
}

/// Every bit depends on all (the finalizer of MurmurHash3: Appleby 2011).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
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
