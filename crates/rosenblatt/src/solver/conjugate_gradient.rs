//! Conjugate gradients, for systems that are too large to factor (Hestenes and Stiefel 1952).

use rayon::prelude::*;

/// A few steps more than this gain nothing that a fresh Newton step would not.
pub(super) const MOST_STEPS: usize = 100;

/// Numbers a task looks at; fixed, so that no sum depends on the number of threads.
const BLOCK: usize = 1 << 15;

/// How exact a Newton step has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    /// P at the point the step starts from.
    pub(super) value: f64,
    /// Of that, the gap asked for.
    pub(super) gap: f64,
}

impl Accuracy {
    /// The more exact the less of P is left to gain, so that the method stays fast (Dembo, Eisenstat, Steihaug 1982).
    fn tolerance(self, to_gain: f64) -> f64 {
        (to_gain / self.value.max(f64::MIN_POSITIVE)).sqrt().clamp(1e-4, 0.25)
    }

    /// But no more than the gap needs: the residual is the gradient that the step leaves, as far as the quadratic model goes, and half of its square is the gap.
    fn is_met(self, residual: &[f64]) -> bool {
        dot(residual, residual) <= self.gap * self.value
    }
}

/// Solves A·x ≈ g for a positive definite A that is known by its products, until the residual is small enough beside what it was, in the norm of M⁻¹, which
/// `precondition` applies: the nearer M is to A, the fewer steps. Also says how many there were. Both write to the second place. `go_on` is asked after each step, so that a fit on large data keeps to its time limit.
pub(super) fn solve(
    g: &[f64],
    accuracy: Accuracy,
    mut product: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&[f64], &mut [f64]),
    go_on: impl Fn() -> bool,
) -> (Vec<f64>, usize) {
    let mut x = vec![0.0; g.len()];
    let mut residual = g.to_vec();
    // Used for the product, too, where the other is no longer needed.
    let mut image = vec![0.0; g.len()];
    precondition(&residual, &mut image);
    let mut direction = image.clone();
    let mut size = dot(&residual, &direction);
    let enough = accuracy.tolerance(0.5 * size).powi(2) * size;
    for step in 0..MOST_STEPS {
        if size <= enough || (step > 0 && accuracy.is_met(&residual)) {
            return (x, step);
        }
        product(&direction, &mut image);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            return (x, step);
        }
        let length = size / curvature;
        add(length, &direction, &mut x);
        if !go_on() {
            return (x, step + 1);
        }
        add(-length, &image, &mut residual);
        precondition(&residual, &mut image);
        let next_size = dot(&residual, &image);
        let keep = next_size / size;
        for_blocks(&image, &mut direction, |z, d| *d = z + keep * *d);
        size = next_size;
    }
    (x, MOST_STEPS)
}

/// ⟨a, b⟩
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let block = |(a, b): (&[f64], &[f64])| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    if a.len() <= BLOCK {
        return block((a, b));
    }
    let blocks: Vec<f64> = a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK)).map(block).collect();
    blocks.iter().sum()
}

/// b ← b + factor·a
pub(super) fn add(factor: f64, a: &[f64], b: &mut [f64]) {
    for_blocks(a, b, |a, b| *b += factor * a);
}

/// Does something to each number of b, given that of a.
pub(super) fn for_blocks(a: &[f64], b: &mut [f64], each: impl Fn(f64, &mut f64) + Sync) {
    let block = |(a, b): (&[f64], &mut [f64])| a.iter().zip(b).for_each(|(a, b)| each(*a, b));
    if a.len() <= BLOCK {
        return block((a, b));
    }
    a.par_chunks(BLOCK).zip(b.par_chunks_mut(BLOCK)).for_each(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Accuracy = Accuracy { value: 1e30, gap: 0.0 };

    #[test]
    fn it_stops_when_told_one_step_downhill() {
        let product = |x: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(x).enumerate().for_each(|(j, (out, x))| *out = (j + 1) as f64 * x);
        };
        let plain = |r: &[f64], out: &mut [f64]| out.copy_from_slice(r);
        let (x, steps) = solve(&[1.0, 1.0, 1.0], EXACT, product, plain, || false);
        assert_eq!((x, steps), (vec![0.5; 3], 1));
    }

    #[test]
    fn as_many_steps_as_there_are_numbers() {
        // [[4, 2, 1], [2, 5, 3], [1, 3, 6]]·(1, 2, 3) = (11, 21, 25)
        let a = [[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]];
        let product = |x: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(&a).for_each(|(out, row)| *out = dot(row, x));
        };
        let diagonal = |r: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(r).zip([4.0, 5.0, 6.0]).for_each(|((out, r), d)| *out = r / d);
        };
        let (x, steps) = solve(&[11.0, 21.0, 25.0], EXACT, product, diagonal, || true);
        assert!(steps <= 4, "{steps}");
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-3, "{x:?}");
        }
    }
}
