//! Linear equations in whole numbers, exactly and fast: by lifting a solution modulo a prime (Dixon 1982, "Exact solution of linear equations using p-adic expansions").
//!
//! Hundreds of points have multipliers of thousands of digits. Elimination in whole numbers would handle numbers of that length n³ times; here they appear only at the end: M is
//! inverted modulo p once, each digit of the solution in base p then costs n² small products, and the fractions are read off the digits (Wang 1981).

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rayon::prelude::*;

use super::points::WholePoint;
use crate::watch::Monitor;

/// A Mersenne prime: remainders are fast, and products fit 64 bits.
const P: u64 = (1 << 31) - 1;

/// Factors z with Σ zᵢpᵢ = 0 of points that have one dependency up to a factor; nothing if they have none or several, or the search was stopped. What comes back is right in the
/// columns that were looked at; the caller checks it in all.
pub(super) fn dependency(points: &[WholePoint], monitor: &Monitor<'_>) -> Option<Vec<BigInt>> {
    let columns = used_columns(points);
    let profile = rank_profile(residues(points, &columns, false));
    let [last] = profile.dependent[..] else { return None };
    let others: Vec<usize> = (0..points.len()).filter(|&i| i != last).collect();
    // Σ zᵢpᵢ = p_last in the columns that tell the others apart: one equation a column.
    let equation = |&place: &usize| {
        let column = columns[place];
        let mut equation: Vec<BigInt> = others.iter().map(|&i| points[i].at(column)).collect();
        equation.push(points[last].at(column));
        without_twos(equation)
    };
    let mut equations: Vec<Vec<BigInt>> = profile.columns.iter().map(equation).collect();
    let right: Vec<BigInt> = equations.iter_mut().filter_map(Vec::pop).collect();
    let (mut z, denominator) = solve(&equations, &right, monitor)?;
    z.insert(last, -denominator);
    if z.iter().find(|z| !z.is_zero()).is_some_and(BigInt::is_negative) {
        z.iter_mut().for_each(|z| *z = -&*z);
    }
    Some(z)
}

/// Of some points as many as are affinely independent, the first that come. Modulo a prime they may look dependent when they are not, never the other way round.
pub(super) fn independent(points: &[WholePoint]) -> Vec<usize> {
    let dependent = rank_profile(residues(points, &used_columns(points), true)).dependent;
    (0..points.len()).filter(|i| dependent.binary_search(i).is_err()).collect()
}

/// Columns where not all points are 0, ascending.
fn used_columns(points: &[WholePoint]) -> Vec<usize> {
    let mut columns: Vec<usize> = points.iter().flat_map(|p| p.entries.iter().map(|(j, _)| *j)).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// The points modulo p, where asked for with a column of ones.
fn residues(points: &[WholePoint], columns: &[usize], ones: bool) -> Vec<Vec<u64>> {
    let row = |point: &WholePoint| {
        let mut row = vec![0; columns.len()];
        for (j, v) in &point.entries {
            if let Ok(place) = columns.binary_search(j) {
                row[place] = residue(v);
            }
        }
        row.extend(ones.then_some(1));
        row
    };
    points.par_iter().map(row).collect()
}

/// Divided by the power of two that all have in common: features of different scales make long numbers otherwise.
fn without_twos(mut numbers: Vec<BigInt>) -> Vec<BigInt> {
    let twos = numbers.iter().filter_map(BigInt::trailing_zeros).min().unwrap_or(0);
    if twos > 0 {
        numbers.iter_mut().for_each(|number| *number >>= twos);
    }
    numbers
}

/// Rows that depend on those before them, and columns in which the others are independent, one for each of them.
struct Profile {
    dependent: Vec<usize>,
    columns: Vec<usize>,
}

fn rank_profile(mut rows: Vec<Vec<u64>>) -> Profile {
    let mut profile = Profile { dependent: Vec::new(), columns: Vec::new() };
    for k in 0..rows.len() {
        let Some(pivot) = rows[k].iter().position(|&v| v != 0) else {
            profile.dependent.push(k);
            continue;
        };
        profile.columns.push(pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        let row = &mut above[k];
        let by = inverse(row[pivot]);
        row.iter_mut().for_each(|v| *v = *v * by % P);
        below.par_iter_mut().with_min_len(16).for_each(|other| {
            let factor = other[pivot];
            subtract(other, factor, row);
        });
    }
    profile
}

/// The remainder of a number, not below 0.
fn residue(v: &BigInt) -> u64 {
    v.mod_floor(&BigInt::from(P)).to_u64().unwrap_or(0)
}

/// Whole numbers of any length, in parts of 62 bits: a number is Σ partₖ·2^(62k), all with its sign. Sums of products of parts with digits fit 128 bits, however many.
struct Parts {
    n_cols: usize,
    /// All first parts of a row, then all second ones, and so on.
    rows: Vec<Vec<i64>>,
}

impl Parts {
    const BITS: u64 = 62;

    fn of(matrix: &[Vec<BigInt>]) -> Self {
        let longest = matrix.iter().flatten().map(BigInt::bits).max().unwrap_or(0);
        let count = longest.div_ceil(Self::BITS).max(1);
        let part = |v: &BigInt, k: u64| {
            let size = (v.magnitude() >> (k * Self::BITS)).iter_u64_digits().next().unwrap_or(0);
            let part = (size & ((1 << Self::BITS) - 1)).cast_signed();
            if v.is_negative() { -part } else { part }
        };
        let row = |row: &Vec<BigInt>| (0..count).flat_map(|k| row.iter().map(move |v| part(v, k))).collect();
        Parts { n_cols: matrix.len(), rows: matrix.iter().map(row).collect() }
    }

    /// The product of a row with digits.
    fn product(&self, row: &[i64], digits: &[u64]) -> BigInt {
        let products = row
            .chunks(self.n_cols)
            .map(|part| part.iter().zip(digits).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum::<i128>());
        products.rev().fold(BigInt::zero(), |sum, product| (sum << Self::BITS) + product)
    }
}

/// row ← row − factor·other, modulo p
fn subtract(row: &mut [u64], factor: u64, other: &[u64]) {
    if factor != 0 {
        let negative = P - factor;
        row.iter_mut().zip(other).for_each(|(a, b)| *a = (*a + negative * b) % P);
    }
}

/// 1/v modulo p, by Fermat: v^(p − 2).
fn inverse(v: u64) -> u64 {
    let (mut result, mut square, mut exponent) = (1, v, P - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * square % P;
        }
        square = square * square % P;
        exponent >>= 1;
    }
    result
}

/// M⁻¹ modulo p, by Gauss and Jordan.
fn invert(matrix: &[Vec<BigInt>]) -> Option<Vec<Vec<u64>>> {
    let n = matrix.len();
    let extended = |(i, row): (usize, &Vec<BigInt>)| -> Vec<u64> {
        row.iter().map(residue).chain((0..n).map(|j| u64::from(i == j))).collect()
    };
    let mut rows: Vec<Vec<u64>> = matrix.par_iter().enumerate().map(extended).collect();
    for k in 0..n {
        let pivot = (k..n).find(|&i| rows[i][k] != 0)?;
        rows.swap(k, pivot);
        let by = inverse(rows[k][k]);
        let mut row = std::mem::take(&mut rows[k]);
        row.iter_mut().for_each(|v| *v = *v * by % P);
        let reduce = |other: &mut Vec<u64>| {
            if let Some(&factor) = other.get(k) {
                // What is left of k is done with.
                subtract(&mut other[k..], factor, &row[k..]);
            }
        };
        rows.par_iter_mut().with_min_len(16).for_each(reduce);
        rows[k] = row;
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

/// Numerators and their common denominator, above 0, of M⁻¹b, as soon as the digits tell them; nothing if M has no inverse modulo p, or the search was stopped.
pub(super) fn solve(
    matrix: &[Vec<BigInt>],
    right: &[BigInt],
    monitor: &Monitor<'_>,
) -> Option<(Vec<BigInt>, BigInt)> {
    let inverted = invert(matrix)?;
    let most = most_digits(matrix, right);
    let parts = Parts::of(matrix);
    let mut left = right.to_vec();
    let mut digits: Vec<Vec<u64>> = vec![Vec::new(); matrix.len()];
    let mut next = 4;
    loop {
        let residues: Vec<u64> = left.iter().map(residue).collect();
        let digit = |row: &Vec<u64>| row.iter().zip(&residues).fold(0, |sum, (a, b)| (sum + a * b) % P);
        let found: Vec<u64> = inverted.par_iter().with_min_len(32).map(digit).collect();
        let rest = |(row, left): (&Vec<i64>, &BigInt)| (left - parts.product(row, &found)) / P;
        left = parts.rows.par_iter().zip(&left).with_min_len(32).map(rest).collect();
        digits.iter_mut().zip(&found).for_each(|(digits, &digit)| digits.push(digit));
        let count = digits.first().map_or(most, Vec::len);
        if count >= most || count >= next {
            let solution = read_off(&digits).filter(|solution| solves(matrix, right, solution));
            if solution.is_some() || count >= most {
                return solution;
            }
            next = count * 2;
        }
        if !monitor.go_on(0) {
            return None;
        }
    }
}

/// Fractions may come out of too few digits, too, but wrong ones.
fn solves(matrix: &[Vec<BigInt>], right: &[BigInt], (z, denominator): &(Vec<BigInt>, BigInt)) -> bool {
    let equation = |(row, right): (&Vec<BigInt>, &BigInt)| {
        row.iter().zip(z).map(|(a, z)| a * z).sum::<BigInt>() == right * denominator
    };
    matrix.par_iter().zip(right).all(equation)
}

/// Digits that suffice in any case: by Cramer's rule and Hadamard's bound, numerators and denominator are at most the product of the lengths of the rows.
fn most_digits(matrix: &[Vec<BigInt>], right: &[BigInt]) -> usize {
    let entries = (matrix.len() + 1) as f64;
    let bits = |(row, right): (&Vec<BigInt>, &BigInt)| {
        let longest = row.iter().chain([right]).map(BigInt::bits).max().unwrap_or(0);
        longest as f64 + 0.5 * entries.log2()
    };
    let bits: f64 = matrix.iter().zip(right).map(bits).sum();
    (2.0 * bits / 30.9) as usize + 4
}

/// Fractions with a common denominator from their digits in base p; nothing if there are too few.
fn read_off(digits: &[Vec<u64>]) -> Option<(Vec<BigInt>, BigInt)> {
    let count = digits.first().map_or(1, Vec::len);
    let modulus = BigInt::from(P).pow(u32::try_from(count).ok()?);
    let bound: BigInt = (&modulus >> 1u32).sqrt();
    let mut denominator = BigInt::one();
    let mut numerators: Vec<BigInt> = Vec::with_capacity(digits.len());
    // Numerators that are much smaller than the bound are no accident.
    let clear = &bound >> 64u32;
    for digits in digits {
        let value = digits.iter().rev().fold(BigInt::zero(), |sum, &digit| sum * P + digit);
        let scaled = symmetric(value * &denominator, &modulus);
        if scaled.abs() <= clear {
            numerators.push(scaled);
            continue;
        }
        let (above, below) = fraction(scaled, &modulus, &bound)?;
        numerators.iter_mut().for_each(|numerator| *numerator *= &below);
        denominator *= below;
        if denominator > bound {
            return None;
        }
        numerators.push(above);
    }
    Some((numerators, denominator))
}

/// The remainder nearest to 0.
fn symmetric(value: BigInt, modulus: &BigInt) -> BigInt {
    let value = value.mod_floor(modulus);
    if &value + &value > *modulus { value - modulus } else { value }
}

/// a/b with b·value ≡ a, both within the bound: Euclid's algorithm, stopped half-way.
fn fraction(value: BigInt, modulus: &BigInt, bound: &BigInt) -> Option<(BigInt, BigInt)> {
    let (mut r, mut next) = (modulus.clone(), value.mod_floor(modulus));
    let (mut t, mut next_t) = (BigInt::zero(), BigInt::one());
    while next > *bound {
        let (quotient, rest) = r.div_rem(&next);
        (r, next) = (next, rest);
        (t, next_t) = (next_t.clone(), t - quotient * next_t);
    }
    let _ = r;
    if next_t.is_zero() || next_t.abs() > *bound {
        return None;
    }
    Some(if next_t.is_negative() { (-next, -next_t) } else { (next, next_t) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn points(rows: &[Vec<BigInt>]) -> Vec<WholePoint> {
        let entries = |row: &Vec<BigInt>| {
            let entries = row.iter().enumerate().filter(|(_, v)| !v.is_zero());
            entries.map(|(j, v)| (j, v.clone())).collect()
        };
        rows.iter().map(|row| WholePoint { entries: entries(row), shift: 0 }).collect()
    }

    fn found(points: &[WholePoint]) -> Option<Vec<BigInt>> {
        let mut watch = ();
        dependency(points, &Monitor::new(&mut watch, None, 1))
    }

    /// A number of up to so many bits, of either sign.
    fn number(rng: &mut Rng, bits: u64) -> BigInt {
        let words = bits.div_ceil(60);
        let size = (0..words).fold(BigInt::zero(), |number, _| (number << 60u32) + rng.below(1 << 60));
        let size: BigInt = size >> (words * 60 - bits);
        if rng.below(2) == 0 { -size } else { size }
    }

    #[test]
    fn a_dependency_is_found_exactly() {
        // 3a + 5b = 7c
        let rows = [[7, 14, -7], [0, 7, 14], [3, 11, 7]].map(|row| row.map(BigInt::from).to_vec());
        let z: Vec<BigInt> = [3, 5, -7].map(BigInt::from).to_vec();
        let found = found(&points(&rows)).expect("a dependency");
        assert!(found.iter().zip(&z).all(|(a, b)| a * &z[0] == b * &found[0]), "{found:?}");
    }

    /// Numbers of one part, of two, and of many: continuous features have more than 62 bits once they are whole.
    #[test]
    fn numbers_may_be_of_any_length() {
        let mut rng = Rng::new(7);
        for (n, bits) in [(1usize, 20), (2, 61), (5, 62), (30, 63), (30, 70), (12, 130), (6, 1_500)] {
            let mut rows: Vec<Vec<BigInt>> =
                (0..n).map(|_| (0..n + 3).map(|_| number(&mut rng, bits)).collect()).collect();
            assert!(found(&points(&rows)).is_none(), "{n} independent rows");
            let last = (0..n + 3).map(|j| (0..n).map(|i| &rows[i][j] * (i + 1)).sum()).collect();
            rows.insert(n / 2, last);
            let z = found(&points(&rows)).expect("a dependency");
            for j in 0..n + 3 {
                let sum: BigInt = z.iter().zip(&rows).map(|(z, row)| z * &row[j]).sum();
                assert!(sum.is_zero(), "{n} rows of {bits} bits");
            }
            assert!(z.iter().all(|z| !z.is_zero()));
            rows.push(rows[0].clone());
            assert!(found(&points(&rows)).is_none(), "two dependencies");
        }
    }

    #[test]
    fn affinely_independent_points_are_told() {
        let rows = [[0, 0], [1, 1], [2, 2], [0, 0], [1, 0], [5, 7]].map(|row| row.map(BigInt::from).to_vec());
        assert_eq!(independent(&points(&rows)), [0, 1, 4]);
    }

    #[test]
    fn it_can_be_stopped() {
        struct Never;
        impl crate::watch::Watch for Never {
            fn progress(&mut self, _: &crate::watch::Progress) -> std::ops::ControlFlow<()> {
                std::ops::ControlFlow::Break(())
            }
        }
        let mut rng = Rng::new(8);
        let mut numbers = |n: usize| -> Vec<BigInt> { (0..n).map(|_| number(&mut rng, 70)).collect() };
        let (matrix, right): (Vec<Vec<BigInt>>, Vec<BigInt>) =
            ((0..9).map(|_| numbers(9)).collect(), numbers(9));
        let (mut never, mut always) = (Never, ());
        assert!(solve(&matrix, &right, &Monitor::new(&mut never, None, 1)).is_none());
        let (z, denominator) =
            solve(&matrix, &right, &Monitor::new(&mut always, None, 1)).expect("a solution");
        for (row, right) in matrix.iter().zip(&right) {
            let sum: BigInt = row.iter().zip(&z).map(|(a, z)| a * z).sum();
            assert_eq!(sum, right * &denominator);
        }
    }
}
