//! Numbers as the sum of two doubles, about 32 digits: sums of products that cancel to far below what double precision keeps (Ogita, Rump and Oishi 2005, "Accurate sum and dot product").

use std::ops::{AddAssign, Mul};

/// `high` + `low`, where `low` is below the last digit of `high`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    /// The nearest double.
    pub(super) fn near(self) -> f64 {
        self.high
    }

    /// a·b, exactly.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Twofold { high, low: a.mul_add(b, -high) }
    }
}

impl From<f64> for Twofold {
    fn from(high: f64) -> Self {
        Twofold { high, low: 0.0 }
    }
}

impl AddAssign for Twofold {
    fn add_assign(&mut self, other: Self) {
        // The rounding error of a sum is a double (Knuth 1969, section 4.2.2).
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        let low = error + self.low + other.low;
        self.high = sum + low;
        self.low = low - (self.high - sum);
    }
}

impl Mul<f64> for Twofold {
    type Output = Self;

    fn mul(self, by: f64) -> Self {
        let Twofold { high, low } = Twofold::product(self.high, by);
        let low = low + self.low * by;
        let sum = high + low;
        Twofold { high: sum, low: low - (sum - high) }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_traits::{Signed, Zero};

    use super::super::fraction::Dyadic;
    use super::*;
    use crate::rng::Rng;

    /// As a whole number, times 2^2000.
    fn whole(numbers: impl IntoIterator<Item = f64>) -> BigInt {
        numbers.into_iter().filter(|v| *v != 0.0).map(|v| Dyadic::of(v).times_power(2000)).sum()
    }

    /// Long sums of products of numbers of many sizes, held against whole numbers.
    #[test]
    fn sums_of_products_keep_twice_the_digits() {
        let mut rng = Rng::new(4);
        for _ in 0..200 {
            let (mut sum, mut exact, mut size) = (Twofold::default(), BigInt::zero(), BigInt::zero());
            for _ in 0..500 {
                let a = rng.normal() * 2f64.powi(rng.below(60) as i32 - 30);
                let b = rng.normal() * 2f64.powi(rng.below(60) as i32 - 30);
                let mut factor = Twofold::from(a);
                factor += Twofold::from(a * 2f64.powi(-54));
                sum += factor * b;
                let product = whole([factor.high, factor.low]) * Dyadic::of(b).times_power(200);
                size += product.abs();
                exact += product;
            }
            let error: BigInt = (whole([sum.high, sum.low]) << 200) - exact;
            // 500 roundings of less than 2^-104 each.
            assert!(error.abs() <= size >> 95u32, "{sum:?}");
            assert_eq!(sum.near(), sum.high + sum.low);
            let product = sum * rng.normal();
            assert_eq!(product.near(), product.high + product.low);
        }
    }
}
