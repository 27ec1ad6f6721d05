//! The rows of a two-class problem as points that a plane through the origin has to keep on one side.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

use super::certificate::Sides;
use super::fraction::{Dyadic, Fraction};
use super::products::Factors;
use crate::data::Rows;

/// yᵢ·(xᵢ, 1), or yᵢ·xᵢ without a bias: w separates the classes exactly where it has a product above 0 with every one of them.
pub(super) struct Points<'a, R> {
    x: &'a R,
    /// Rows ascending.
    members: Vec<Member>,
    lifted: bool,
    /// What the entries of `x` are products of, where double precision has rounded them.
    factors: Option<Factors<'a>>,
}

#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) row: u32,
    pub(super) positive: bool,
}

impl Member {
    #[inline]
    pub(super) fn sign(self) -> f64 {
        if self.positive { 1.0 } else { -1.0 }
    }
}

/// A point times a power of two that makes it whole: zeros are left out.
pub(super) struct WholePoint {
    pub(super) entries: Vec<(usize, BigInt)>,
    /// The exponent of that power.
    pub(super) shift: i64,
}

impl WholePoint {
    /// Its number in a column.
    pub(super) fn at(&self, column: usize) -> BigInt {
        match self.entries.binary_search_by_key(&column, |(j, _)| *j) {
            Ok(place) => self.entries[place].1.clone(),
            Err(_) => BigInt::zero(),
        }
    }

    /// The product with another.
    pub(super) fn dot(&self, other: &WholePoint) -> BigInt {
        let (mut a, mut b) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        let mut sum = BigInt::zero();
        while let (Some((i, u)), Some((j, v))) = (a.peek(), b.peek()) {
            match i.cmp(j) {
                Ordering::Less => drop(a.next()),
                Ordering::Greater => drop(b.next()),
                Ordering::Equal => {
                    sum += u * v;
                    a.next();
                    b.next();
                }
            }
        }
        sum
    }
}

impl<'a, R: Rows> Points<'a, R> {
    pub(super) fn new(x: &'a R, members: Vec<Member>, lifted: bool) -> Self {
        Points { x, members, lifted, factors: None }
    }

    /// The same of rows whose entries are products.
    pub(super) fn of_products(self, factors: Option<Factors<'a>>) -> Self {
        Points { factors, ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Columns, the constant one among them.
    pub(super) fn dims(&self) -> usize {
        self.x.n_cols() + usize::from(self.lifted)
    }

    pub(super) fn is_lifted(&self) -> bool {
        self.lifted
    }

    pub(super) fn x(&self) -> &'a R {
        self.x
    }

    pub(super) fn member(&self, i: usize) -> Member {
        self.members[i]
    }

    /// The row of the data that point `i` is.
    pub(super) fn row(&self, i: usize) -> usize {
        self.members[i].row as usize
    }

    /// The rows as those who check an answer see them.
    pub(super) fn sides(&self) -> Sides<'a, R> {
        let rows = self.members.iter().map(|member| (member.row as usize, member.positive)).collect();
        Sides { x: self.x, rows, bias: self.lifted, factors: self.factors }
    }

    /// Entries of point `i`, columns ascending, as double precision has them.
    #[inline]
    pub(super) fn each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        let member = self.members[i];
        let sign = member.sign();
        self.x.each(member.row as usize, |j, v| f(j, sign * v));
        if self.lifted {
            f(self.x.n_cols(), sign);
        }
    }

    /// The product of point `i` with a vector, as it comes out in double precision.
    #[inline]
    pub(super) fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let member = self.members[i];
        let constant = if self.lifted { w[self.x.n_cols()] } else { 0.0 };
        member.sign() * (self.x.dot(member.row as usize, &w[..self.x.n_cols()]) + constant)
    }

    /// w ← w + a·pᵢ
    #[inline]
    pub(super) fn axpy(&self, a: f64, i: usize, w: &mut [f64]) {
        let member = self.members[i];
        let n = self.x.n_cols();
        self.x.axpy(a * member.sign(), member.row as usize, &mut w[..n]);
        if self.lifted {
            w[n] += a * member.sign();
        }
    }

    pub(super) fn whole(&self, i: usize) -> WholePoint {
        if let Some(factors) = self.factors {
            return self.whole_products(i, factors);
        }
        let mut parts: Vec<(usize, Dyadic)> = Vec::new();
        self.each(i, |j, v| {
            if v != 0.0 {
                parts.push((j, Dyadic::of(v)));
            }
        });
        let shift = -parts.iter().map(|(_, part)| part.exponent).min().unwrap_or(0);
        let entries = parts.into_iter().map(|(j, part)| (j, part.times_power(shift))).collect();
        WholePoint { entries, shift }
    }

    /// The same where entries are products: of mantissas, while exponents add up.
    fn whole_products(&self, i: usize, factors: Factors<'_>) -> WholePoint {
        type Long = (BigInt, i64);
        let member = self.members[i];
        let long = |v: f64| {
            let Dyadic { mantissa, exponent } = Dyadic::of(v);
            (BigInt::from(mantissa), exponent)
        };
        let values: Vec<(usize, Long)> =
            factors.entries(self.row(i)).into_iter().map(|(j, v)| (j, long(v))).collect();
        let times = |a: &Long, b: &Long| (&a.0 * &b.0, a.1 + b.1);
        let mut parts: Vec<(usize, Long)> = Vec::new();
        factors.monomials.each_product(&values, long(1.0), &times, &mut |j, part| parts.push((j, part)));
        parts.extend(self.lifted.then(|| (self.x.n_cols(), long(1.0))));
        let shift = -parts.iter().map(|(_, (_, exponent))| *exponent).min().unwrap_or(0);
        let signed = |m: BigInt| if member.positive { m } else { -m };
        let entry = |(j, (m, e)): (usize, Long)| (j, signed(m) << (e + shift).unsigned_abs());
        WholePoint { entries: parts.into_iter().map(entry).collect(), shift }
    }

    /// How often an entry may have been rounded.
    fn roundings(&self) -> f64 {
        self.factors.map_or(0.0, |factors| f64::from(factors.monomials.degree))
    }
}

/// A plane through the origin in whole numbers, with a twin in double precision that mostly suffices.
pub(super) struct Plane {
    near: Vec<f64>,
    /// How far `near` may be from the plane divided by 2^`excess`, beside a rounding of each number.
    absolute: f64,
    whole: Vec<BigInt>,
    excess: u64,
}

impl Plane {
    pub(super) fn of_whole(whole: Vec<BigInt>) -> Self {
        /// Far from the largest and the smallest doubles, even after a product with a value.
        const BITS: u64 = 400;
        let longest = whole.iter().map(BigInt::bits).max().unwrap_or(0);
        let excess = longest.saturating_sub(BITS);
        let near = whole.iter().map(|v| (v >> excess).to_f64().unwrap_or(0.0)).collect();
        Plane { near, absolute: if excess > 0 { 1.0 } else { 0.0 }, whole, excess }
    }

    pub(super) fn near(&self) -> &[f64] {
        &self.near
    }

    /// The plane itself, divided by 2^`excess` as `near` is.
    pub(super) fn fractions(&self) -> Vec<Fraction> {
        let exponent = -self.excess.cast_signed();
        self.whole.iter().map(|number| Fraction::of_power(number.clone(), exponent)).collect()
    }

    /// The product with a point and a bound on its rounding errors (Higham 2002, section 3.1).
    fn product<R: Rows>(&self, points: &Points<'_, R>, i: usize) -> (f64, f64) {
        let (mut sum, mut size, mut length, mut entries) = (0.0f64, 0.0f64, 0.0f64, 0u32);
        points.each(i, |j, v| {
            let product = v * self.near[j];
            sum += product;
            size += product.abs();
            length += v.abs();
            entries += 1;
        });
        let terms = f64::from(entries) + points.roundings() + 4.0;
        // The bound is rounded, too: twice as much is more than enough.
        let error = 2.0 * (terms + 1.0) * f64::EPSILON * size
            + 2.0 * self.absolute * length
            + terms * f64::MIN_POSITIVE;
        (sum, if sum.is_finite() { error } else { f64::INFINITY })
    }

    /// On which side of the plane a point lies, without fail: where rounding errors leave the sign open, all is done again in whole numbers.
    pub(super) fn side<R: Rows>(&self, points: &Points<'_, R>, i: usize) -> Ordering {
        let (sum, error) = self.product(points, i);
        if sum.abs() > error {
            return if sum > 0.0 { Ordering::Greater } else { Ordering::Less };
        }
        let sum: BigInt = points.whole(i).entries.iter().map(|(j, v)| v * &self.whole[*j]).sum();
        sum.cmp(&BigInt::zero())
    }
}
