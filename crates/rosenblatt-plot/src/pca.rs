//! The two directions along which rows differ most.

use rosenblatt::{Matrix, Rows, with_rows};

/// Directions that are looked for beside the two, which makes these come out sooner (Halko, Martinsson, Tropp 2011, algorithm 4.4).
const EXTRA: usize = 6;
const ROUNDS: usize = 200;

/// Mean and the two principal directions, of length 1 and at right angles; the second is 0 where rows lie on a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Principal {
    pub(crate) mean: Vec<f64>,
    pub(crate) directions: [Vec<f64>; 2],
    /// The share of all variance along each.
    pub(crate) shares: [f64; 2],
}

impl Principal {
    /// By subspace iteration on XᵀX of centred rows, which are never written down: sparse ones stay sparse.
    pub(crate) fn of(x: &Matrix<'_>) -> Self {
        with_rows!(x, x => of_rows(x))
    }
}

fn of_rows(x: &impl Rows) -> Principal {
    let (n, m) = (x.n_rows() as f64, x.n_cols());
    let mut mean = vec![0.0; m];
    (0..x.n_rows()).for_each(|i| x.axpy(1.0 / n, i, &mut mean));
    let square_of_mean: f64 = mean.iter().map(|v| v * v).sum();
    let squares: f64 = (0..x.n_rows()).map(|i| x.sq_norm(i)).sum();
    let total = (squares - n * square_of_mean).max(0.0);
    let mut basis: Vec<Vec<f64>> = (0..(2 + EXTRA).min(m)).map(|k| start(k, m)).collect();
    orthonormalise(&mut basis);
    let mut before = vec![0.0; 2];
    let mut values = before.clone();
    for _ in 0..ROUNDS {
        let images: Vec<Vec<f64>> = basis.iter().map(|v| image(x, &mean, v)).collect();
        let (found, turned) = ritz(&basis, images);
        (basis, values) = (turned, found);
        values.resize(2, 0.0);
        let still = values.iter().zip(&before).all(|(a, b)| (a - b).abs() <= 1e-12 * total);
        before.clone_from(&values);
        orthonormalise(&mut basis);
        if still {
            break;
        }
    }
    let share = |value: f64| if total > 0.0 { (value / total).clamp(0.0, 1.0) } else { 0.0 };
    let shares = [share(values[0]), share(values[1])];
    let mut directions = basis.into_iter().map(upright).chain(std::iter::repeat_with(|| vec![0.0; m]));
    let mut next = || directions.next().unwrap_or_default();
    Principal { mean, directions: [next(), next()], shares }
}

/// Numbers without a pattern that data could have.
fn start(k: usize, m: usize) -> Vec<f64> {
    (0..m).map(|j| ((j * 7 + k * 13 + 1) as f64 * 0.754_877_666).sin()).collect()
}

/// XᵀX·v of centred rows.
fn image(x: &impl Rows, mean: &[f64], v: &[f64]) -> Vec<f64> {
    let shift = dot(mean, v);
    let mut sum = vec![0.0; v.len()];
    let mut all = 0.0;
    for i in 0..x.n_rows() {
        let a = x.dot(i, v) - shift;
        x.axpy(a, i, &mut sum);
        all += a;
    }
    sum.iter_mut().zip(mean).for_each(|(sum, mean)| *sum -= all * mean);
    sum
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gram and Schmidt's, twice, which is enough (Giraud, Langou, Rozložník 2005). What is in the span of those before becomes 0.
fn orthonormalise(basis: &mut [Vec<f64>]) {
    for k in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(k);
        let v = &mut rest[0];
        let before = dot(v, v).sqrt();
        for _ in 0..2 {
            for other in done.iter() {
                let along = dot(v, other);
                v.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
            }
        }
        let length = dot(v, v).sqrt();
        let factor = if length > 1e-10 * before && length.is_normal() { 1.0 / length } else { 0.0 };
        v.iter_mut().for_each(|v| *v *= factor);
    }
}

/// The images in the order of their eigenvalues, turned so that they are nearest to eigenvectors.
fn ritz(basis: &[Vec<f64>], images: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let k = basis.len();
    let matrix: Vec<Vec<f64>> = basis.iter().map(|v| images.iter().map(|w| dot(v, w)).collect()).collect();
    let (values, vectors) = jacobi(matrix);
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let turned = order.iter().map(|&c| {
        let mut sum = vec![0.0; images[0].len()];
        for (image, row) in images.iter().zip(&vectors) {
            sum.iter_mut().zip(image).for_each(|(sum, v)| *sum += row[c] * v);
        }
        sum
    });
    (order.iter().map(|&c| values[c].max(0.0)).collect(), turned.collect())
}

/// Eigenvalues and eigenvectors (in columns) of a small symmetric matrix, by Jacobi's rotations (Golub and Van Loan, algorithm 8.5.3).
fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if a[p][q] == 0.0 {
                continue;
            }
            let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = t * c;
            for row in a.iter_mut().chain(&mut v) {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (above, below) = a.split_at_mut(q);
            for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
            }
            (a[p][q], a[q][p]) = (0.0, 0.0);
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

/// Of a direction and its opposite, the one whose largest part is positive.
fn upright(mut v: Vec<f64>) -> Vec<f64> {
    let largest = v.iter().fold(0.0, |most: f64, &part| if part.abs() > most.abs() { part } else { most });
    if largest < 0.0 {
        v.iter_mut().for_each(|part| *part = -*part);
    }
    v
}

#[cfg(test)]
mod tests {
    use rosenblatt::{Csr, Dense, Rng};

    use super::*;

    #[test]
    fn directions_of_known_data_are_found() {
        // Deviations 5 along (3, 4, 0)/5, 2 along (−4, 3, 0)/5 and 0.1 along the third axis, about (10, −20, 30).
        let mut rng = Rng::new(1);
        let mut values = Vec::new();
        for _ in 0..4000 {
            let mut normal = || rng.normal();
            let (a, b, c) = (5.0 * normal(), 2.0 * normal(), 0.1 * normal());
            values.extend([10.0 + 0.6 * a - 0.8 * b, -20.0 + 0.8 * a + 0.6 * b, 30.0 + c]);
        }
        let found = Principal::of(&Dense::new(values, 3).expect("three columns").into());
        for (v, expected) in found.directions.iter().zip([[0.6, 0.8, 0.0], [0.8, -0.6, 0.0]]) {
            let off = v.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 0.03, "{v:?}");
        }
        assert!((found.shares[0] - 25.0 / 29.01).abs() < 0.02, "{:?}", found.shares);
        assert!((found.mean[2] - 30.0).abs() < 0.01);
    }

    #[test]
    fn sparse_rows_give_what_dense_ones_give_and_a_line_has_one_direction() {
        let rows = [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 5.0]];
        let dense = Principal::of(&Dense::new(rows.concat(), 3).expect("dense").into());
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (j, v) in row.into_iter().enumerate().filter(|(_, v)| *v != 0.0) {
                columns.push(j as u32);
                values.push(v);
            }
            pointers.push(columns.len() as u64);
        }
        let sparse = Principal::of(&Csr::new(pointers, columns, values, 3).expect("sparse").into());
        for (a, b) in dense.directions.concat().iter().zip(sparse.directions.concat()) {
            assert!((a - b).abs() < 1e-12);
        }
        let line = Principal::of(&Dense::new(vec![0.0, 0.0, 1.0, 2.0, 2.0, 4.0], 2).expect("dense").into());
        assert!((line.shares[0] - 1.0).abs() < 1e-12 && line.shares[1] < 1e-12, "{line:?}");
        let one = Principal::of(&Dense::new(vec![0.0, 1.0, 2.0], 1).expect("dense").into());
        assert_eq!((one.directions[0].clone(), one.directions[1].clone()), (vec![1.0], vec![0.0]));
    }
}
