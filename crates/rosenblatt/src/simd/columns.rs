//! Weights looked up by the columns of sparse rows.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::{Float, TOGETHER};

/// Column numbers that are all below a bound: weights that are as many are looked up without a check each, which would take as long as the rest of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns<'a> {
    // No method lets a number in that is not below the bound, or the bound become smaller.
    numbers: Cow<'a, [u32]>,
    bound: usize,
}

impl<'a> Columns<'a> {
    /// Or the place of the first number that is not below the bound.
    pub fn new(numbers: impl Into<Cow<'a, [u32]>>, bound: usize) -> Result<Self, usize> {
        let numbers = numbers.into();
        let largest = numbers.par_chunks(1 << 16).filter_map(|some| some.iter().max()).max();
        if largest.is_none_or(|&largest| (largest as usize) < bound) {
            return Ok(Columns { numbers, bound });
        }
        Err(numbers.iter().position(|&number| number as usize >= bound).unwrap_or_default())
    }

    /// The same numbers, borrowed.
    pub(crate) fn view(&self) -> Columns<'_> {
        Columns { numbers: Cow::Borrowed(&self.numbers), bound: self.bound }
    }

    /// All are below this.
    #[inline]
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// A larger bound, or the same.
    pub fn widen(&mut self, bound: usize) {
        self.bound = self.bound.max(bound);
    }

    /// The numbers.
    #[inline]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Σ v·w over some entries, as [`Rows::dot_in_two`](crate::Rows::dot_in_two) defines it; there are as many weights as the bound at least.
    #[inline]
    pub fn dot_in_two<T: Float>(&self, at: Range<usize>, values: &[T], w: &[f64]) -> f64 {
        assert!(w.len() >= self.bound, "fewer weights than columns");
        let ((pairs, last), (values, last_value)) =
            (self.numbers[at].as_chunks::<2>(), values.as_chunks::<2>());
        let mut sums = [0.0; 2];
        for ([i, j], [u, v]) in pairs.iter().zip(values) {
            // SAFETY: all numbers are below the bound, and there are as many weights.
            let (a, b) = unsafe { (w.get_unchecked(*i as usize), w.get_unchecked(*j as usize)) };
            sums[0] += u.wide() * a;
            sums[1] += v.wide() * b;
        }
        if let ([j], [v]) = (last, last_value) {
            sums[0] += v.wide() * w[*j as usize];
        }
        sums[0] + sums[1]
    }

    /// Σ v·w over the entries of each of a few rows, in their order; `values` are those of all entries, and there are as many weights as the bound at least.
    #[inline]
    pub fn dots<T: Float>(&self, rows: [Range<usize>; TOGETHER], values: &[T], w: &[f64]) -> [f64; TOGETHER] {
        assert!(w.len() >= self.bound, "fewer weights than columns");
        let row = |of: &usize| (&self.numbers[rows[*of].clone()], &values[rows[*of].clone()]);
        // All side by side as far as the shortest goes, then the others, and so on.
        let order = by_length(rows.each_ref().map(|row| row.len()));
        let [a, b, c, d] = order.each_ref().map(row);
        let [first, second, third, last] = [a, b, c, d].map(|(numbers, _)| numbers.len());
        // SAFETY: all numbers are below the bound, and there are as many weights.
        let sums = unsafe {
            let [s, t, u, v] = add_up([a, b, c, d], 0..first, w, [0.0; TOGETHER]);
            let [t, u, v] = add_up([b, c, d], first..second, w, [t, u, v]);
            let [u, v] = add_up([c, d], second..third, w, [u, v]);
            let [v] = add_up([d], third..last, w, [v]);
            [s, t, u, v]
        };
        let mut sorted = [0.0; TOGETHER];
        order.iter().zip(sums).for_each(|(&r, sum)| sorted[r] = sum);
        sorted
    }

    /// w ← w + a·v at some entries; there are as many weights as the bound at least.
    #[inline]
    pub fn add<T: Float>(&self, a: f64, at: Range<usize>, values: &[T], w: &mut [f64]) {
        assert!(w.len() >= self.bound, "fewer weights than columns");
        for (&j, v) in self.numbers[at].iter().zip(values) {
            // SAFETY: all numbers are below the bound, and there are as many weights.
            unsafe { *w.get_unchecked_mut(j as usize) += a * v.wide() };
        }
    }
}

/// Which of four lengths is the shortest, the next, and so on: by a network, for no processor foresees how a sort goes.
#[inline(always)]
fn by_length(lengths: [usize; TOGETHER]) -> [usize; TOGETHER] {
    // Slices are shorter than half of what a number holds, and never of so many entries.
    let mut keys: [usize; TOGETHER] = std::array::from_fn(|r| lengths[r] * TOGETHER + r);
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (keys[a], keys[b]) = (keys[a].min(keys[b]), keys[a].max(keys[b]));
    }
    keys.map(|key| key % TOGETHER)
}

/// Goes on with the sums of K rows.
///
/// # Safety
///
/// There is a weight for every number.
#[inline(always)]
unsafe fn add_up<T: Float, const K: usize>(
    rows: [(&[u32], &[T]); K],
    entries: Range<usize>,
    w: &[f64],
    mut sums: [f64; K],
) -> [f64; K] {
    let rows = rows.map(|(numbers, values)| (&numbers[entries.clone()], &values[entries.clone()]));
    for e in 0..entries.len() {
        for (sum, (numbers, values)) in sums.iter_mut().zip(rows) {
            // SAFETY: the caller has seen to it.
            *sum += values[e].wide() * unsafe { w.get_unchecked(numbers[e] as usize) };
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_plain_code(
            entries in prop::collection::btree_map(0u32..50, -9.0f32..9.0, 0..40),
            w in prop::collection::vec(-9.0f64..9.0, 50..60),
            a in -9.0f64..9.0,
        ) {
            let (numbers, values): (Vec<u32>, Vec<f32>) = entries.into_iter().unzip();
            let all = 0..numbers.len();
            let columns = Columns::new(&numbers[..], 50).expect("all are below 50");
            let product = |k: usize| f64::from(values[k]) * w[numbers[k] as usize];
            let every_other = |first: usize| all.clone().skip(first).step_by(2).map(product).fold(0.0, |sum, p| sum + p);
            let dot = columns.dot_in_two(all.clone(), &values, &w);
            prop_assert_eq!(dot.to_bits(), (every_other(0) + every_other(1)).to_bits());
            // Rows of all lengths, empty ones among them.
            let ends = [0, all.len() / 3, all.len() / 2, all.len()];
            let rows = [ends[1]..ends[3], ends[0]..ends[1], ends[2]..ends[2], ends[1]..ends[2]];
            let plainly = rows.clone().map(|row| row.map(product).fold(0.0, |sum, p| sum + p));
            prop_assert_eq!(columns.dots(rows, &values, &w), plainly);
            let (mut sums, mut plain) = (w.clone(), w.clone());
            columns.add(a, all.clone(), &values, &mut sums);
            all.for_each(|k| plain[numbers[k] as usize] += a * f64::from(values[k]));
            prop_assert_eq!(&sums, &plain);
        }
    }

    #[test]
    fn none_is_let_in_above_the_bound() {
        assert_eq!(Columns::new(vec![0, 3, 2], 3).err(), Some(1));
        assert!(Columns::new(vec![0, 3, 2], 4).is_ok());
        assert!(Columns::new(vec![], 0).is_ok());
    }

    #[test]
    #[should_panic(expected = "fewer weights than columns")]
    fn weights_are_as_many() {
        if let Ok(columns) = Columns::new(vec![0, 3], 4) {
            columns.dot_in_two(0..2, &[1.0, 1.0], &[0.0; 3]);
        }
    }
}
