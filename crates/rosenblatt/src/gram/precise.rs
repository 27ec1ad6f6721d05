//! Sums of kernel values in double precision, without haste.

use rayon::prelude::*;

use super::Gram;
use crate::data::Rows;
use crate::kernel::{Kernel, Pairing};
use crate::with_rows;

impl Gram<'_> {
    /// Σ aₛ·K(xₛ, xᵢ) over stored rows s for each of these rows i, all in double precision; nothing where the kernel is known in single precision only.
    ///
    /// A dozen times slower than [`combine`](Gram::combine): for the few rows whose last digits matter.
    pub(crate) fn combine_precisely(
        &self,
        rows: &[usize],
        stored: &[usize],
        coefficients: &[f64],
    ) -> Option<Vec<f64>> {
        let kernel = self.kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed)?;
        Some(with_rows!(self.x, x => {
            let own: Vec<f64> = stored.par_iter().map(|&s| alone(kernel.pairing(), x, s)).collect();
            let one = |room: &mut Vec<f64>, &i: &usize| {
                room.resize(x.n_cols(), 0.0);
                x.each(i, |j, v| room[j] = v);
                let mine = alone(kernel.pairing(), x, i);
                let terms = stored.iter().zip(&own).zip(coefficients);
                let sum = terms.map(|((&s, &own), a)| a * kernel.of_sums(paired(kernel.pairing(), x, s, room), own, mine)).sum();
                x.each(i, |j, _| room[j] = 0.0);
                sum
            };
            rows.par_iter().map_init(Vec::new, one).collect()
        }))
    }
}

/// What a row brings by itself: ‖u‖², ‖u‖₁ or Σ u.
fn alone<R: Rows>(pairing: Pairing, x: &R, i: usize) -> f64 {
    let mut sum = 0.0;
    x.each(i, |_, v| {
        sum += match pairing {
            Pairing::Product => v * v,
            Pairing::Absolute => v.abs(),
            Pairing::Chi => v,
        }
    });
    sum
}

/// A sum over the columns where row `i` is not zero; what the other adds in the others it adds by itself.
fn paired<R: Rows>(pairing: Pairing, x: &R, i: usize, other: &[f64]) -> f64 {
    let mut sum = 0.0;
    x.each(i, |j, u| {
        let v = other[j];
        sum += match pairing {
            Pairing::Product => u * v,
            Pairing::Absolute => (u - v).abs() - v.abs(),
            Pairing::Chi if u == 0.0 => 0.0,
            Pairing::Chi => (u - v) * (u - v) / (u + v) - v,
        }
    });
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::rng::Rng;

    #[test]
    fn precise_sums_are_naive_ones() {
        let mut rng = Rng::new(7);
        let values: Vec<f64> = (0..60).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.uniform() }).collect();
        let x: Matrix<'_> = Dense::new(values, 4).unwrap().into();
        let (rows, stored, a) = ([0, 7, 14], [1, 2, 7], [0.5, -2.0, 1.5]);
        for kernel in [
            Kernel::Linear,
            Kernel::Poly { degree: 3, gamma: 0.5, coef0: 1.0 },
            Kernel::Rbf { gamma: 0.7 },
            Kernel::Sigmoid { gamma: 0.3, coef0: -0.1 },
            Kernel::Laplacian { gamma: 0.4 },
            Kernel::Cosine,
            Kernel::Chi2 { gamma: 0.9 },
        ] {
            let gram = Gram::new(kernel, &x).unwrap();
            let found = gram.combine_precisely(&rows, &stored, &a).unwrap();
            for (&i, found) in rows.iter().zip(found) {
                let naive: f64 = stored.iter().zip(a).map(|(&s, a)| a * kernel.value(&x, s, &x, i)).sum();
                assert!((found - naive).abs() < 1e-13, "{kernel:?}: {found} is not {naive}");
            }
        }
    }
}
