//! Conjugate gradients, for systems that are too large to factor (Hestenes and Stiefel 1952).

/// A few steps more than this gain nothing that a fresh Newton step would not.
const MOST_STEPS: usize = 100;

/// How exact a Newton step has to be: the more the nearer the optimum is, so that the method stays fast, but not more than the gap asked for needs. A step leaves about the square of its error of the gap.
pub(super) fn tolerance(gap: f64, asked: f64) -> f64 {
    let superlinear = gap.sqrt().clamp(1e-4, 0.25);
    let sufficient = (0.5 * (asked / gap).sqrt()).min(0.25);
    superlinear.max(sufficient)
}

/// Solves A·x ≈ g for a positive definite A that is known by its products, until the residual is `tolerance` of what it was. Both norms are those of M⁻¹, which
/// `precondition` applies: the nearer M is to A, the fewer steps. Also says how many there were.
pub(super) fn solve(
    g: &[f64],
    tolerance: f64,
    product: impl Fn(&[f64]) -> Vec<f64>,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
) -> (Vec<f64>, usize) {
    let mut x = vec![0.0; g.len()];
    let mut residual = g.to_vec();
    let mut direction = precondition(&residual);
    let mut size = dot(&residual, &direction);
    let enough = tolerance * tolerance * size;
    for step in 0..MOST_STEPS {
        if size <= enough {
            return (x, step);
        }
        let image = product(&direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            return (x, step);
        }
        let length = size / curvature;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += length * d);
        residual.iter_mut().zip(&image).for_each(|(r, a)| *r -= length * a);
        let next = precondition(&residual);
        let next_size = dot(&residual, &next);
        let keep = next_size / size;
        direction.iter_mut().zip(next).for_each(|(d, z)| *d = z + keep * *d);
        size = next_size;
    }
    (x, MOST_STEPS)
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_steps_as_there_are_numbers() {
        // [[4, 2, 1], [2, 5, 3], [1, 3, 6]]·(1, 2, 3) = (11, 21, 25)
        let a = [[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]];
        let product = |x: &[f64]| a.iter().map(|row| dot(row, x)).collect();
        let diagonal = |r: &[f64]| r.iter().zip([4.0, 5.0, 6.0]).map(|(r, d)| r / d).collect();
        let (x, steps) = solve(&[11.0, 21.0, 25.0], 1e-12, product, diagonal);
        assert!(steps <= 4, "{steps}");
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-9, "{x:?}");
        }
    }
}
