//! Sums of kernel values with stored rows.

use rayon::prelude::*;

use super::Gram;
use crate::simd::{Loop, widest};

/// What is summed up: Σ aₛ·(K(xₛ, x) + lift) over stored rows s, for each plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combination<'c> {
    pub(crate) stored: &'c [usize],
    /// For each stored row one aₛ a plane.
    pub(crate) coefficients: &'c [f64],
    pub(crate) planes: usize,
    /// 1 where there is a bias.
    pub(crate) lift: f64,
}

/// Rows, and stored ones, whose values are formed at a time: they stay in the second cache.
const ROWS: usize = 256;
const STORED: usize = 768;

impl Gram<'_> {
    /// Σ aₛ·K(xₛ, xᵢ) over stored rows s of `of`, for each of these rows i and each plane, row after row; `coefficients` hold for each stored row one aₛ a plane. Kernel values
    /// are single precision, sums double, in the order of stored rows: threads do not show.
    pub(crate) fn combine(
        &self,
        rows: &[usize],
        of: &Gram<'_>,
        stored: &[usize],
        coefficients: &[f64],
        planes: usize,
    ) -> Vec<f64> {
        let sum = Combination { stored, coefficients, planes, lift: 0.0 };
        self.combine_while(rows, of, sum, || true).unwrap_or_default()
    }

    /// The same, unless told to stop.
    pub(crate) fn combine_while(
        &self,
        rows: &[usize],
        of: &Gram<'_>,
        sum: Combination<'_>,
        go_on: impl Fn() -> bool + Sync,
    ) -> Option<Vec<f64>> {
        let planes = sum.planes;
        assert_eq!(sum.coefficients.len(), sum.stored.len() * planes, "one for each stored row and plane");
        let mut all = vec![0.0; rows.len() * planes];
        if all.is_empty() {
            return Some(all);
        }
        let blocks = all.par_chunks_mut(ROWS * planes).zip(rows.par_chunks(ROWS));
        let finished = blocks.map_init(Vec::new, |room, (out, rows)| {
            let done = go_on();
            if done {
                self.combine_block(rows, of, sum, room, out);
            }
            done
        });
        finished.all(|done| done).then_some(all)
    }

    fn combine_block(
        &self,
        rows: &[usize],
        of: &Gram<'_>,
        sum: Combination<'_>,
        room: &mut Vec<f32>,
        out: &mut [f64],
    ) {
        let (width, planes) = (rows.len(), sum.planes);
        let set = of.tiles(self, rows);
        // Plane after plane, so that neighbours are added to at once.
        let mut sums = vec![0.0; out.len()];
        for (stored, coefficients) in sum.stored.chunks(STORED).zip(sum.coefficients.chunks(STORED * planes))
        {
            room.clear();
            room.resize(stored.len() * width, 0.0);
            of.values(&set, stored, room);
            for (plane, sums) in sums.chunks_mut(width).enumerate() {
                let coefficients = coefficients.iter().skip(plane).step_by(planes);
                let parts: Vec<(f64, &[f32])> =
                    coefficients.copied().zip(room.chunks(width)).filter(|(a, _)| *a != 0.0).collect();
                widest(Addition { parts: &parts, lift: sum.lift, sums });
            }
        }
        for (i, out) in out.chunks_mut(planes).enumerate() {
            out.iter_mut().enumerate().for_each(|(plane, out)| *out = sums[plane * width + i]);
        }
    }
}

/// Adds multiples of rows of values to a row of sums, one after the other.
struct Addition<'a> {
    parts: &'a [(f64, &'a [f32])],
    lift: f64,
    sums: &'a mut [f64],
}

impl Loop for Addition<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        /// Sums that stay in registers while all rows are added.
        const KEPT: usize = 64;
        let Addition { parts, lift, sums } = self;
        let (strips, rest) = sums.as_chunks_mut::<KEPT>();
        let first = strips.len() * KEPT;
        for (at, strip) in strips.iter_mut().enumerate() {
            let mut kept = *strip;
            for &(a, values) in parts {
                let values = values[at * KEPT..].first_chunk::<KEPT>().unwrap_or(&[0.0; KEPT]);
                for (sum, &v) in kept.iter_mut().zip(values) {
                    *sum += a * (f64::from(v) + lift);
                }
            }
            *strip = kept;
        }
        for &(a, values) in parts {
            rest.iter_mut().zip(&values[first..]).for_each(|(sum, &v)| *sum += a * (f64::from(v) + lift));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::kernel::Kernel;
    use crate::rng::Rng;

    fn points(n_rows: usize, n_cols: usize, seed: u64) -> Matrix<'static> {
        let mut rng = Rng::new(seed);
        let values: Vec<f32> = (0..n_rows * n_cols).map(|_| rng.below(1000) as f32 / 500.0).collect();
        Dense::new(values, n_cols).unwrap().into()
    }

    /// To the last bit, and so whatever blocks and threads there are.
    #[test]
    fn combined_values_are_sums_in_order() {
        let mut rng = Rng::new(1);
        let (x, z) = (points(300, 7, 2), points(1500, 7, 3));
        let (new, of) = Gram::both(&Kernel::Rbf { gamma: 0.2 }.into(), &x, &z);
        let (rows, stored): (Vec<usize>, Vec<usize>) = ((0..300).rev().collect(), (5..1400).collect());
        for planes in [1, 3] {
            let some = |_| if rng.below(3) == 0 { 0.0 } else { rng.uniform() - 0.5 };
            let coefficients: Vec<f64> = (0..stored.len() * planes).map(some).collect();
            let found = new.combine(&rows, &of, &stored, &coefficients, planes);
            for (&i, found) in rows.iter().zip(found.chunks(planes)) {
                let mut values = vec![0.0; stored.len()];
                of.values(&of.tiles(&new, &[i]), &stored, &mut values);
                for (plane, found) in found.iter().enumerate() {
                    let part = |s: usize| coefficients[s * planes + plane] * f64::from(values[s]);
                    let expected: f64 = (0..stored.len()).fold(0.0, |sum, s| sum + part(s));
                    assert_eq!(*found, expected, "row {i}, plane {plane}");
                }
            }
        }
        assert!(new.combine(&[], &of, &stored, &vec![1.0; stored.len()], 1).is_empty());
        assert_eq!(new.combine(&[3], &of, &[], &[], 2), [0.0, 0.0]);
    }
}
