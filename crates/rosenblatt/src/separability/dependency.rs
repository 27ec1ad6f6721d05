//! The one linear dependency of some points, exactly and fast: by lifting a solution modulo a prime (Dixon 1982, "Exact solution of linear equations using p-adic expansions").
//!
//! Hundreds of points have multipliers of thousands of digits. Elimination in whole numbers would handle numbers of that length n³ times; here they appear only at the end: M is
//! inverted modulo p once, each digit of the solution in base p then costs n² small products, and the fractions are read off the digits (Wang 1981).

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rayon::prelude::*;

use super::points::WholePoint;

/// A Mersenne prime: remainders are fast, and products fit 64 bits.
const P: u64 = (1 << 31) - 1;

/// Factors z with Σ zᵢpᵢ = 0 of points that have one dependency up to a factor; nothing if they have none or several, or are out of reach of this method. The caller
/// checks what comes back.
pub(super) fn dependency(points: &[WholePoint]) -> Option<Vec<BigInt>> {
    let matrix = Small::of(points)?;
    let (last, columns) = matrix.rank_profile()?;
    let others: Vec<usize> = (0..points.len()).filter(|&i| i != last).collect();
    // Σ zᵢpᵢ = p_last in the columns that tell the others apart: one equation a column.
    let equation = |&j: &usize| others.iter().map(|&i| matrix.rows[i][j]).collect();
    let equations: Vec<Vec<i64>> = columns.iter().map(equation).collect();
    let right: Vec<i64> = columns.iter().map(|&j| matrix.rows[last][j]).collect();
    let (mut z, denominator) = lift(&equations, &right)?;
    z.insert(last, -denominator);
    if z[0].is_negative() {
        z.iter_mut().for_each(|z| *z = -&*z);
    }
    Some(z)
}

/// Points whose numbers fit machine words, in the columns where they are not all 0.
struct Small {
    rows: Vec<Vec<i64>>,
}

impl Small {
    fn of(points: &[WholePoint]) -> Option<Self> {
        /// Sums of products of such numbers with digits fit 128 bits, however many.
        const LARGEST: u64 = 1 << 62;
        let mut columns: Vec<usize> = points.iter().flat_map(|p| p.entries.iter().map(|(j, _)| *j)).collect();
        columns.sort_unstable();
        columns.dedup();
        let row = |point: &WholePoint| {
            let mut row = vec![0; columns.len()];
            for (j, v) in &point.entries {
                let place = columns.binary_search(j).ok()?;
                row[place] = v.to_i64().filter(|v| v.unsigned_abs() <= LARGEST)?;
            }
            Some(row)
        };
        Some(Small { rows: points.iter().map(row).collect::<Option<_>>()? })
    }

    /// The row that depends on the others, if it is one, and columns in which these are independent, all modulo p.
    fn rank_profile(&self) -> Option<(usize, Vec<usize>)> {
        let mut rows: Vec<Vec<u64>> =
            self.rows.iter().map(|row| row.iter().map(|&v| residue(v)).collect()).collect();
        let (mut dependent, mut columns) = (None, Vec::new());
        for k in 0..rows.len() {
            let Some(pivot) = rows[k].iter().position(|&v| v != 0) else {
                if dependent.replace(k).is_some() {
                    return None;
                }
                continue;
            };
            columns.push(pivot);
            let (above, below) = rows.split_at_mut(k + 1);
            let row = &mut above[k];
            let by = inverse(row[pivot]);
            row.iter_mut().for_each(|v| *v = *v * by % P);
            below.par_iter_mut().with_min_len(16).for_each(|other| {
                let factor = other[pivot];
                subtract(other, factor, row);
            });
        }
        Some((dependent?, columns))
    }
}

/// The remainder of a number, not below 0.
fn residue(v: i64) -> u64 {
    v.rem_euclid(P.cast_signed()).cast_unsigned()
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
fn invert(matrix: &[Vec<i64>]) -> Option<Vec<Vec<u64>>> {
    let n = matrix.len();
    let extended = |(i, row): (usize, &Vec<i64>)| -> Vec<u64> {
        row.iter().map(|&v| residue(v)).chain((0..n).map(|j| u64::from(i == j))).collect()
    };
    let mut rows: Vec<Vec<u64>> = matrix.iter().enumerate().map(extended).collect();
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

/// Numerators and their common denominator of M⁻¹b, as soon as the digits tell them.
fn lift(matrix: &[Vec<i64>], right: &[i64]) -> Option<(Vec<BigInt>, BigInt)> {
    let n = matrix.len();
    let inverted = invert(matrix)?;
    let most = most_digits(matrix, right);
    let mut left: Vec<i128> = right.iter().map(|&v| i128::from(v)).collect();
    let mut digits: Vec<Vec<u64>> = vec![Vec::new(); n];
    let mut next = 4;
    loop {
        let residues: Vec<u64> = left.iter().map(|&v| v.rem_euclid(i128::from(P)) as u64).collect();
        let digit = |row: &Vec<u64>| row.iter().zip(&residues).fold(0, |sum, (a, b)| (sum + a * b) % P);
        let found: Vec<u64> = inverted.par_iter().with_min_len(32).map(digit).collect();
        let rest = |(row, left): (&Vec<i64>, &i128)| {
            let product: i128 = row.iter().zip(&found).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum();
            (left - product) / i128::from(P)
        };
        left = matrix.par_iter().zip(&left).with_min_len(32).map(rest).collect();
        digits.iter_mut().zip(&found).for_each(|(digits, &digit)| digits.push(digit));
        let count = digits.first().map_or(most, Vec::len);
        if count >= most || count >= next {
            let solution = read_off(&digits);
            if solution.is_some() || count >= most {
                return solution;
            }
            next = count * 2;
        }
    }
}

/// Digits that suffice in any case: by Cramer's rule and Hadamard's bound, numerators and denominator are at most the product of the lengths of the rows.
fn most_digits(matrix: &[Vec<i64>], right: &[i64]) -> usize {
    let bits = |(row, right): (&Vec<i64>, &i64)| {
        let square: f64 = row.iter().chain([right]).map(|&v| (v as f64).powi(2)).sum();
        0.5 * square.max(1.0).log2()
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

    fn points(rows: &[Vec<i64>]) -> Vec<WholePoint> {
        let entries = |row: &Vec<i64>| {
            let entries = row.iter().enumerate().filter(|(_, v)| **v != 0);
            entries.map(|(j, &v)| (j, BigInt::from(v))).collect()
        };
        rows.iter().map(|row| WholePoint { entries: entries(row), shift: 0 }).collect()
    }

    #[test]
    fn a_dependency_is_found_exactly() {
        // 3a + 5b = 7c
        let rows = [vec![7, 14, -7], vec![0, 7, 14], vec![3, 11, 7]];
        let z: Vec<BigInt> = [3, 5, -7].map(BigInt::from).to_vec();
        let found = dependency(&points(&rows)).expect("a dependency");
        assert!(found.iter().zip(&z).all(|(a, b)| a * &z[0] == b * &found[0]), "{found:?}");
        let mut rng = crate::rng::Rng::new(7);
        for n in [1usize, 2, 5, 30] {
            let mut rows: Vec<Vec<i64>> =
                (0..n).map(|_| (0..n + 3).map(|_| rng.below(1 << 20) as i64 - (1 << 19)).collect()).collect();
            assert!(dependency(&points(&rows)).is_none(), "{n} independent rows");
            let last = (0..n + 3).map(|j| (0..n).map(|i| (i as i64 + 1) * rows[i][j]).sum()).collect();
            rows.push(last);
            let z = dependency(&points(&rows)).expect("a dependency");
            for j in 0..n + 3 {
                let sum: BigInt = z.iter().zip(&rows).map(|(z, row)| z * row[j]).sum();
                assert!(sum.is_zero());
            }
            assert!(z.iter().all(|z| !z.is_zero()));
        }
    }
}
