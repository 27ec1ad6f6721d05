//! Exact numbers. Every finite double is m·2^e with whole m and e, so that sums and products of features and weights are fractions without any rounding.

use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use serde::{Serialize, Serializer};

/// m·2^e, m odd or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dyadic {
    pub(super) mantissa: i64,
    pub(super) exponent: i64,
}

impl Dyadic {
    /// A finite double as it is.
    pub(super) fn of(value: f64) -> Self {
        debug_assert!(value.is_finite());
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52) as i64 & 0x7ff, (bits & ((1 << 52) - 1)).cast_signed());
        let (mantissa, exponent) = match biased {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, biased - 1075),
        };
        if mantissa == 0 {
            return Dyadic { mantissa: 0, exponent: 0 };
        }
        let zeros = i64::from(mantissa.trailing_zeros());
        let sign = if value < 0.0 { -1 } else { 1 };
        Dyadic { mantissa: sign * (mantissa >> zeros), exponent: exponent + zeros }
    }

    /// Times 2^shift, which makes it whole.
    pub(super) fn times_power(self, shift: i64) -> BigInt {
        let left = u64::try_from(self.exponent + shift).unwrap_or(0);
        BigInt::from(self.mantissa) << left
    }
}

/// A fraction in lowest terms, of numbers of any length.
///
/// ```
/// use rosenblatt::Fraction;
/// let third = Fraction::new(2.into(), 6.into()).unwrap();
/// assert_eq!(third.to_string(), "1/3");
/// assert_eq!("1/3".parse(), Ok(third.clone()));
/// assert!((third.to_f64() - 1.0 / 3.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

impl Fraction {
    /// Nothing over 0.
    pub fn new(numerator: BigInt, denominator: BigInt) -> Option<Self> {
        if denominator.is_zero() {
            return None;
        }
        let by = numerator.gcd(&denominator);
        let by = if denominator.is_negative() { -by } else { by };
        Some(Fraction { numerator: numerator / &by, denominator: denominator / by })
    }

    /// m·2^e
    pub(super) fn of_power(m: BigInt, e: i64) -> Self {
        let (up, down) = (e.max(0).unsigned_abs(), e.min(0).unsigned_abs());
        let (numerator, denominator) = (m << up, BigInt::one() << down);
        let by = numerator.gcd(&denominator);
        Fraction { numerator: numerator / &by, denominator: denominator / by }
    }

    /// Above the line.
    pub fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    /// Below the line, above 0.
    pub fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// Whether it is above 0.
    pub fn is_positive(&self) -> bool {
        self.numerator.is_positive()
    }

    /// The same in double precision, to the last bits.
    pub fn to_f64(&self) -> f64 {
        /// More bits than a double keeps.
        const BITS: i64 = 80;
        let lengths = self.denominator.bits().cast_signed() - self.numerator.bits().cast_signed();
        let shift = lengths + BITS;
        let quotient = match u64::try_from(shift) {
            Ok(left) => (&self.numerator << left) / &self.denominator,
            Err(_) => &self.numerator / (&self.denominator << shift.unsigned_abs()),
        };
        let (near, shift) = (quotient.to_f64().unwrap_or(f64::NAN), i32::try_from(shift).unwrap_or(i32::MAX));
        // In two steps, as 2^shift alone may be out of range.
        near * 2f64.powi(-(shift / 2)) * 2f64.powi(-(shift - shift / 2))
    }
}

/// "3/7", or "2" where the denominator is 1.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator.is_one() {
            true => f.pad(&self.numerator.to_string()),
            false => f.pad(&format!("{}/{}", self.numerator, self.denominator)),
        }
    }
}

impl std::str::FromStr for Fraction {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a fraction such as 3/7, found {text:?}");
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        let whole = |part: &str| part.trim().parse::<BigInt>().map_err(|_| expected());
        Fraction::new(whole(above)?, whole(below)?).ok_or_else(expected)
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Divides by what all have in common.
pub(super) fn reduce(numbers: &mut [BigInt]) {
    let mut common = BigInt::zero();
    for number in numbers.iter() {
        common = common.gcd(number);
        if common.is_one() {
            return;
        }
    }
    if !common.is_zero() {
        numbers.iter_mut().for_each(|number| *number /= &common);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_exact() {
        for value in [0.0, 1.0, -0.75, 0.1, 1e150, -5e-324, f64::MIN_POSITIVE, 1e-310] {
            let Dyadic { mantissa, exponent } = Dyadic::of(value);
            // Both factors and the product are exact, even where 2^exponent alone is below all doubles.
            let half = i32::try_from(exponent / 2).unwrap();
            let rest = i32::try_from(exponent).unwrap() - half;
            assert_eq!(mantissa as f64 * 2f64.powi(half) * 2f64.powi(rest), value);
        }
    }

    #[test]
    fn fractions_come_near_in_doubles() {
        let fraction = |text: &str| text.parse::<Fraction>().unwrap();
        assert_eq!(fraction("1/4").to_f64(), 0.25);
        assert_eq!(fraction("-3/2").to_f64(), -1.5);
        assert_eq!(
            fraction(&format!("{}/{}", BigInt::from(3) << 5000u32, BigInt::one() << 5001u32)).to_f64(),
            1.5
        );
        assert_eq!(fraction("0").to_f64(), 0.0);
        for text in ["", "1/0", "a/b", "1/2/3", "1.5"] {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
    }
}
