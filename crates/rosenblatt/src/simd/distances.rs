//! How far rows are apart, by sums that are no products, for many pairs of rows at a time.
//!
//! Where one of two rows is zero, what they are apart is what the other has. So the sum begins with all that both have, and is put right in the columns where neither is zero. It is the
//! difference of large numbers where rows are near each other; hence double precision, beside which the roundings of single precision are those of what is apart alone. The order is that of
//! columns, and columns where one row is zero add 0: results do not depend on tiles, threads or zeros being stored.

use std::marker::PhantomData;

use super::{LANES, Loop, widest};

/// What entries of two rows are apart: |u| where v is 0.
pub trait Apart {
    /// Of two entries, the first not zero.
    fn apart(u: f32, v: f32) -> f32;
}

/// |u − v|
pub struct Absolute;

/// (u − v)²/(u + v), for entries that are not negative.
pub struct Chi;

impl Apart for Absolute {
    #[inline(always)]
    fn apart(u: f32, v: f32) -> f32 {
        (u - v).abs()
    }
}

impl Apart for Chi {
    #[inline(always)]
    fn apart(u: f32, v: f32) -> f32 {
        let apart = (u - v) * (u - v) / (u + v);
        // u²/u may be rounded.
        if v == 0.0 { u } else { apart }
    }
}

/// All that a row has: Σ|v|.
pub fn total(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(v.abs())).sum()
}

/// `sums[l]` becomes what a row is apart from number l of `table`, whose entries are `table[place·L + l]`, L being the number of sums, a multiple of sixteen. Of the row the places and values
/// of entries are given, at least those in columns where some number of the table has one, and all that it has in total; and so of each number of the table.
pub fn distances<A: Apart>(
    (places, values): (&[u32], &[f32]),
    table: &[f32],
    (own, totals): (f64, &[f64]),
    sums: &mut [f32],
) {
    let lanes = sums.len();
    let groups = sums.as_chunks_mut::<LANES>().0.iter_mut().zip(totals.as_chunks::<LANES>().0);
    for (group, (sums, totals)) in groups.enumerate() {
        let Some(table) = table.get(group * LANES..) else { continue };
        let totals = totals.map(|total| own + total);
        *sums = widest(Distances::<A> { places, values, table, lanes, totals, by: PhantomData });
    }
}

/// Of one group of numbers, whose sums stay in registers.
struct Distances<'a, A> {
    places: &'a [u32],
    values: &'a [f32],
    table: &'a [f32],
    lanes: usize,
    totals: [f64; LANES],
    by: PhantomData<A>,
}

impl<A: Apart> Loop for Distances<'_, A> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run(self) -> [f32; LANES] {
        let mut sums = self.totals;
        for (&place, &u) in self.places.iter().zip(self.values) {
            let row = self.table.get(place as usize * self.lanes..).and_then(<[f32]>::first_chunk::<LANES>);
            let Some(row) = row.filter(|_| u != 0.0) else { continue };
            let size = f64::from(u.abs());
            let apart = row.map(|v| A::apart(u, v));
            for l in 0..LANES {
                sums[l] += f64::from(apart[l]) - (size + f64::from(row[l].abs()));
            }
        }
        sums.map(|sum| sum as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn numbers(len: usize, rng: &mut Rng) -> Vec<f32> {
        (0..len).map(|_| if rng.below(4) == 0 { 0.0 } else { rng.uniform() as f32 }).collect()
    }

    /// Rows that are nearly the same: what they are apart is far less than what they are.
    fn are_naive<A: Apart>(lanes: usize, naive: impl Fn(f64, f64) -> f64) {
        const COLUMNS: usize = 300;
        let mut rng = Rng::new(lanes as u64);
        let row = numbers(COLUMNS, &mut rng);
        let mut near = |&u: &f32| u + if rng.below(8) == 0 { 0.01 * rng.uniform() as f32 } else { 0.0 };
        let table: Vec<f32> = row.iter().flat_map(|u| [*u; 96][..lanes].to_vec()).collect();
        let table: Vec<f32> = table.iter().map(&mut near).collect();
        let column = |l: usize| table.iter().skip(l).step_by(lanes).map(|&v| f64::from(v));
        let totals: Vec<f64> = (0..lanes).map(|l| column(l).sum()).collect();
        let places: Vec<u32> = (0..COLUMNS as u32).filter(|&j| row[j as usize] != 0.0).collect();
        let values: Vec<f32> = places.iter().map(|&j| row[j as usize]).collect();
        let mut sums = vec![0.0; lanes];
        distances::<A>((&places, &values), &table, (total(&values), &totals), &mut sums);
        for (l, &sum) in sums.iter().enumerate() {
            let exact: f64 = row.iter().zip(column(l)).map(|(&u, v)| naive(f64::from(u), v)).sum();
            assert!((f64::from(sum) - exact).abs() <= 3e-7 * exact, "{sum} for {exact}");
        }
    }

    #[test]
    fn distances_of_near_rows_keep_their_digits() {
        for lanes in [16, 32, 48, 96] {
            are_naive::<Absolute>(lanes, |u, v| (u - v).abs());
            are_naive::<Chi>(lanes, |u, v| if u + v > 0.0 { (u - v).powi(2) / (u + v) } else { 0.0 });
        }
    }
}
