//! The checks of both answers, apart from the search: whatever made an answer, it is right if it passes here.
//!
//! The arithmetic is exact and this file's own. A finite double is m·2^(k − 1074) with whole m and k ≥ 0, fractions are brought to a common denominator, and all that follows are sums and
//! products of whole numbers. There is no tolerance but in the margin, which is a double and therefore rounded.

use std::collections::BTreeMap;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rayon::prelude::*;

use super::products::Factors;
use super::{Fraction, Multiplier, Separability, Separator};
use crate::data::Rows;

/// The rows of a two-class problem, ascending, each with whether it is to be above the plane.
pub(super) struct Sides<'a, R> {
    pub(super) x: &'a R,
    pub(super) rows: Vec<(usize, bool)>,
    /// Whether planes need not pass through the origin.
    pub(super) bias: bool,
    /// What the entries of `x` are products of, where double precision has rounded them: then these count.
    pub(super) factors: Option<Factors<'a>>,
}

impl<R: Rows> Sides<'_, R> {
    /// Whether an answer is right, its figures included.
    pub(super) fn prove(&self, answer: &Separability) -> bool {
        match answer {
            Separability::Separable(separator) => {
                self.margin(separator).is_some_and(|margin| agree(margin, separator.margin))
            }
            Separability::Inseparable(obstruction) => self.meet(&obstruction.multipliers),
        }
    }

    /// If y(w·x + b) > 0 for every row, the smallest of these over ‖w‖; nothing inside where w = 0.
    pub(super) fn margin(&self, separator: &Separator) -> Option<Option<f64>> {
        let numbers = self.numbers(separator)?;
        let plane: Vec<Digits> = numbers.iter().map(Digits::of).collect();
        let places = self.places();
        let above = |&side: &(usize, bool)| {
            let height = match self.factors {
                None => self.height(side, &plane),
                Some(_) => self.height_of_products(side, &numbers, places),
            };
            Some(height).filter(BigInt::is_positive)
        };
        let heights = self.rows.par_iter().with_min_len(256).map(above);
        let lowest = heights.try_reduce_with(|a, b| Some(a.min(b)))??;
        let (weights, exponent) = rounded(&numbers[..self.x.n_cols()]);
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let (lowest, shift) = rounded(&[lowest]);
        Some((length > 0.0).then(|| times_power(lowest[0] / length, shift - exponent - places)))
    }

    /// w and b, all times the same positive number that makes them whole; nothing where they are no plane among these rows.
    fn numbers(&self, separator: &Separator) -> Option<Vec<BigInt>> {
        let near = whole_doubles(separator.weights.iter().chain([&separator.bias]))?;
        let numbers = match &separator.exact {
            None => near,
            Some((weights, bias)) => {
                let (numbers, _) = whole_fractions(weights.iter().chain([bias]));
                are_near(&near, &numbers).then_some(numbers)?
            }
        };
        let fits = numbers.len() == self.x.n_cols() + 1;
        (fits && (self.bias || numbers[self.x.n_cols()].is_zero())).then_some(numbers)
    }

    /// y(w·x + b)·2^1074
    fn height(&self, (row, above): (usize, bool), plane: &[Digits]) -> BigInt {
        let mut sum = Sum::default();
        self.x.each(row, |j, v| sum.add(v, &plane[j]));
        if self.bias {
            sum.add(1.0, &plane[self.x.n_cols()]);
        }
        if above { sum.total() } else { -sum.total() }
    }

    /// y(w·x + b)·2^places
    fn height_of_products(&self, (row, above): (usize, bool), numbers: &[BigInt], places: i64) -> BigInt {
        let mut sum = BigInt::zero();
        self.entries(row, |j, m, e| sum += (m * &numbers[j]) << (e + places).unsigned_abs());
        if above { sum } else { -sum }
    }

    /// The smallest exponent there may be, times −1.
    fn places(&self) -> i64 {
        let Some(factors) = self.factors else { return PLACES };
        let exponent = |(_, v): (usize, f64)| exactly(v).1;
        let of_row = |(row, _): &(usize, bool)| factors.entries(*row).into_iter().map(exponent).min();
        let least = self.rows.iter().filter_map(of_row).min().unwrap_or(0).min(0);
        -least * i64::from(factors.monomials.degree)
    }

    /// Calls `f(column, m, e)` for what is not 0 of (x, 1), m·2^e.
    fn entries(&self, row: usize, mut f: impl FnMut(usize, BigInt, i64)) {
        type Long = (BigInt, i64);
        match self.factors {
            None => self.x.each(row, |j, v| {
                if v != 0.0 {
                    let (m, e) = exactly(v);
                    f(j, m, e);
                }
            }),
            Some(factors) => {
                let values: Vec<(usize, Long)> =
                    factors.entries(row).into_iter().map(|(j, v)| (j, exactly(v))).collect();
                let times = |a: &Long, b: &Long| (&a.0 * &b.0, a.1 + b.1);
                let one = (BigInt::one(), 0);
                factors.monomials.each_product(&values, one, &times, &mut |j, (m, e)| f(j, m, e));
            }
        }
        if self.bias {
            f(self.x.n_cols(), BigInt::one(), 0);
        }
    }

    /// Whether Σ λᵢyᵢ(xᵢ, 1) = 0 with every λ above 0 and 1 in all, of rows that are there. A plane with yᵢ(w·xᵢ + b) > 0 for these rows would have
    /// 0 = Σ λᵢyᵢ(w·xᵢ + b) > 0, so there is none (Gordan 1873).
    fn meet(&self, multipliers: &[Multiplier]) -> bool {
        let ascending = multipliers.is_sorted_by(|a, b| a.row < b.row);
        let positive = multipliers.iter().all(|multiplier| multiplier.value.is_positive());
        let (factors, one) = whole_fractions(multipliers.iter().map(|multiplier| &multiplier.value));
        if !(ascending && positive && factors.iter().sum::<BigInt>() == one) {
            return false;
        }
        let mut signed: Vec<(usize, BigInt)> = Vec::with_capacity(factors.len());
        for (multiplier, factor) in multipliers.iter().zip(factors) {
            let Ok(place) = self.rows.binary_search_by_key(&multiplier.row, |(row, _)| *row) else {
                return false;
            };
            let (row, above) = self.rows[place];
            signed.push((row, if above { factor } else { -factor }));
        }
        self.sums(&signed).values().all(BigInt::is_zero)
    }

    /// Σ λᵢyᵢ(xᵢ, 1), column by column, times a power of two.
    fn sums(&self, signed: &[(usize, BigInt)]) -> BTreeMap<usize, BigInt> {
        let mut least = 0;
        for (row, _) in signed {
            self.entries(*row, |_, _, e| least = least.min(e));
        }
        let mut sums: BTreeMap<usize, BigInt> = BTreeMap::new();
        for (row, factor) in signed {
            let add = |j, m: BigInt, e: i64| {
                *sums.entry(j).or_default() += (m << (e - least).unsigned_abs()) * factor;
            };
            self.entries(*row, add);
        }
        sums
    }
}

/// Whether a margin is the one found, rounding aside.
fn agree(found: Option<f64>, claimed: Option<f64>) -> bool {
    match (found, claimed) {
        (Some(found), Some(claimed)) => (found - claimed).abs() <= 1e-9 * found + f64::MIN_POSITIVE,
        (None, None) => true,
        _ => false,
    }
}

/// Whether two planes are the same but for rounding.
fn are_near(a: &[BigInt], b: &[BigInt]) -> bool {
    let shares = |numbers: &[BigInt]| -> Vec<f64> {
        let (near, _) = rounded(numbers);
        let largest = near.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        near.iter().map(|v| if largest > 0.0 { v / largest } else { 0.0 }).collect()
    };
    a.len() == b.len() && shares(a).iter().zip(shares(b)).all(|(a, b)| (a - b).abs() <= 1e-9)
}

/// The exponent of the smallest double is −PLACES.
const PLACES: i64 = 1074;

/// The double ±mantissa·2^(place − 1074).
struct Parts {
    negative: bool,
    mantissa: u64,
    place: usize,
}

impl Parts {
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52 & 0x7ff) as usize, bits & ((1 << 52) - 1));
        let mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Parts { negative: value < 0.0, mantissa, place: biased.saturating_sub(1) }
    }

    fn whole(&self) -> BigInt {
        let size = BigInt::from(self.mantissa);
        if self.negative { -size } else { size }
    }
}

/// A finite double as m·2^e, m odd or 0.
fn exactly(value: f64) -> (BigInt, i64) {
    let Parts { negative, mantissa, place } = Parts::of(value);
    let twos = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
    let parts = Parts { negative, mantissa: mantissa >> twos, place };
    (parts.whole(), place as i64 - PLACES + i64::from(twos))
}

/// Doubles times a power of two that makes them whole; nothing where one is not finite.
fn whole_doubles<'d>(values: impl Iterator<Item = &'d f64> + Clone) -> Option<Vec<BigInt>> {
    if !values.clone().all(|v| v.is_finite()) {
        return None;
    }
    let parts: Vec<Parts> = values.map(|&v| Parts::of(v)).collect();
    let used = parts.iter().filter(|parts| parts.mantissa != 0);
    let least = used.map(|parts| parts.place).min().unwrap_or(0);
    Some(parts.iter().map(|parts| parts.whole() << parts.place.saturating_sub(least)).collect())
}

/// Fractions times their least common denominator, and this.
fn whole_fractions<'f>(values: impl Iterator<Item = &'f Fraction> + Clone) -> (Vec<BigInt>, BigInt) {
    let mut common = BigInt::one();
    for value in values.clone() {
        // Most often the first is that of all.
        if !(&common % value.denominator()).is_zero() {
            common = common.lcm(value.denominator());
        }
    }
    (values.map(|value| value.numerator() * (&common / value.denominator())).collect(), common)
}

/// Numbers over a power of two whose squares are doubles, and its exponent.
fn rounded(numbers: &[BigInt]) -> (Vec<f64>, i64) {
    /// Far from the largest doubles, even squared and summed.
    const BITS: u64 = 400;
    let longest = numbers.iter().map(BigInt::bits).max().unwrap_or(0);
    let excess = longest.saturating_sub(BITS);
    let near = numbers.iter().map(|v| (v >> excess).to_f64().unwrap_or(f64::NAN)).collect();
    (near, excess.cast_signed())
}

/// v·2^e, in steps that stay in range.
fn times_power(mut v: f64, mut e: i64) -> f64 {
    while e != 0 && v != 0.0 && v.is_finite() {
        let step = e.clamp(-1000, 1000);
        v *= 2f64.powi(step as i32);
        e -= step;
    }
    v
}

/// A whole number by those of its digits, of 32 bits each, that are not 0, with their places.
struct Digits {
    negative: bool,
    digits: Vec<(usize, u32)>,
}

impl Digits {
    fn of(number: &BigInt) -> Self {
        let (sign, digits) = number.to_u32_digits();
        let digits = digits.into_iter().enumerate().filter(|(_, digit)| *digit != 0).collect();
        Digits { negative: sign == Sign::Minus, digits }
    }
}

/// A sum of products, digit by digit with room for carries: nothing is rounded, and adding takes a few instructions instead of the handling of long numbers (Kulisch 2013, "Computer
/// arithmetic and validity").
#[derive(Default)]
struct Sum {
    digits: Vec<i64>,
}

impl Sum {
    /// Adds value·number·2^1074.
    fn add(&mut self, value: f64, number: &Digits) {
        let Parts { negative, mantissa, place } = Parts::of(value);
        if mantissa == 0 {
            return;
        }
        let negative = negative != number.negative;
        for &(at, digit) in &number.digits {
            // 53 + 32 + 31 bits
            let mut product = (u128::from(mantissa) * u128::from(digit)) << (place % 32);
            let mut at = at + place / 32;
            if self.digits.len() < at + 4 {
                self.digits.resize(at + 4, 0);
            }
            while product != 0 {
                let low = i64::from(product as u32);
                self.digits[at] += if negative { -low } else { low };
                product >>= 32;
                at += 1;
            }
        }
    }

    /// The sum, its carries done.
    fn total(self) -> BigInt {
        let (mut digits, mut carry) = (Vec::with_capacity(self.digits.len()), 0i64);
        for digit in self.digits {
            let total = digit + carry;
            digits.push(total as u32);
            // Rounds down, so that what is pushed counts up from there.
            carry = total >> 32;
        }
        let above = BigInt::from(carry) << (32 * digits.len());
        above + BigInt::new(Sign::Plus, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// value·2^1074, another way.
    fn shifted(value: f64) -> BigInt {
        let mut value = value;
        let mut shift = PLACES.unsigned_abs();
        // Doubling is exact as long as it does not overflow.
        while value.fract() != 0.0 {
            value *= 2.0;
            shift -= 1;
        }
        BigInt::from(value as i128) << shift
    }

    #[test]
    fn sums_are_exact() {
        let mut rng = Rng::new(4);
        for case in 0..500 {
            let (mut sum, mut expected) = (Sum::default(), BigInt::zero());
            for _ in 0..rng.below(40) {
                let value = rng.normal() * 2f64.powi(rng.below(160) as i32 - 80);
                let number = BigInt::from(rng.normal() as i64 * (1 << 40)) << rng.below(200);
                let number = number - rng.below(1 << 50);
                sum.add(value, &Digits::of(&number));
                expected += shifted(value) * number;
            }
            assert_eq!(sum.total(), expected, "case {case}");
        }
    }

    #[test]
    fn doubles_come_apart_exactly() {
        for value in [0.0, 1.0, -0.75, 0.1, -5e-324, f64::MIN_POSITIVE, 1e-310, 2f64.powi(-1022) * 1.5] {
            let parts = Parts::of(value);
            assert_eq!(parts.whole() << parts.place, shifted(value), "{value:e}");
            let (m, e) = exactly(value);
            assert_eq!(m << (e + PLACES).unsigned_abs(), shifted(value), "{value:e}");
        }
        let numbers = whole_doubles([0.5, -3.0, 0.0].iter()).expect("finite");
        assert_eq!(&numbers[0] * -6, numbers[1]);
        assert!(whole_doubles([1.0, f64::NAN].iter()).is_none());
        assert!(whole_doubles([f64::INFINITY].iter()).is_none());
    }
}
