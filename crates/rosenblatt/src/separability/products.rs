//! Products of features, exactly: the space of a polynomial kernel.
//!
//! (γ·u·v + c)^d with γ and c above 0 is the dot product of all products of up to d features, each times a number above 0; with c = 0 only those of exactly d features. What these numbers
//! are does not matter to the question whether a plane separates, so they are left out: most are roots, which no fraction holds, and one bit of rounding can make a plane where there is none.

use crate::data::{Csr, DataError, Dataset, Dense, Matrix, Rows};
use crate::error::{Error, ParamError};
use crate::feature::{FeatureMap, MapKind, Monomials};
use crate::online::Multiclass;
use crate::watch::{Monitor, Watch};
use crate::with_rows;

use super::SeparabilityProblem;

/// The products of features that some rows are to be separated by, with numbers that double precision does not hold.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Multiclass, Products};
/// // The lines through the corners of a square do not separate those across from each other; x₁·x₂ does.
/// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["a", "b", "a", "b"]))?;
/// let products = Products::of(&data, 2, 1.0)?;
/// let problems = products.separability(Multiclass::Ovo, true, &mut ())?.expect("nobody stopped it");
/// assert!(problems[0].answer.is_separable() && products.holds(&problems[0], true));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub struct Products<'d> {
    inputs: &'d Dataset<'d>,
    map: FeatureMap,
    monomials: Monomials,
    /// The products as double precision has them.
    rounded: Dataset<'static>,
    /// Whether these are the products to the last digit.
    exact: bool,
}

/// Rows whose products are meant, not what double precision makes of them.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) x: &'a Matrix<'a>,
    pub(super) monomials: Monomials,
}

impl Factors<'_> {
    /// What is not 0 of a row, columns ascending.
    pub(super) fn entries(self, row: usize) -> Vec<(usize, f64)> {
        let mut entries = Vec::new();
        with_rows!(self.x, x => x.each(row, |j, v| entries.extend((v != 0.0).then_some((j, v)))));
        entries
    }
}

impl<'d> Products<'d> {
    /// The products whose space is that of the kernel (u·v + c)^d. Below 0, c makes it no dot product of any space.
    pub fn of(data: &'d Dataset<'d>, degree: u32, coef0: f64) -> Result<Self, Error> {
        ParamError::unless(coef0 >= 0.0 && coef0.is_finite(), "coef0", "must be 0 or more")?;
        let kind = if coef0 > 0.0 { MapKind::Poly(degree) } else { MapKind::Homogeneous(degree) };
        let map = FeatureMap::fit(kind, data, 0)?;
        let least = if coef0 > 0.0 { 0 } else { degree };
        let monomials = Monomials { m: data.n_features(), degree, least };
        let (x, exact) = rounded(Factors { x: data.x(), monomials }, map.n_outputs())?;
        let mut rounded = Dataset::with_classes(x, data.y().to_vec(), data.classes().clone())?;
        if let Some(weights) = data.weights() {
            rounded = rounded.with_weights(weights.to_vec())?;
        }
        Ok(Products { inputs: data, map, monomials, rounded, exact })
    }

    /// How many there are of each row.
    pub fn len(&self) -> usize {
        self.rounded.n_features()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What number `j` is, such as x1²·x3.
    pub fn name(&self, j: usize) -> String {
        self.map.name(j)
    }

    /// Whether a plane in the space of these products separates the classes, as [`Separability::of_problems`](crate::Separability::of_problems) says it of the features themselves.
    pub fn separability(
        &self,
        scheme: Multiclass,
        bias: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<SeparabilityProblem>>, Error> {
        super::problems(&self.rounded, self.factors(), scheme, bias, &Monitor::new(watch, None, 1))
    }

    /// Whether an answer holds, in exact arithmetic.
    pub fn holds(&self, problem: &SeparabilityProblem, bias: bool) -> bool {
        problem.holds_in(&self.rounded, self.factors(), bias)
    }

    /// Nothing where double precision has all their digits.
    fn factors(&self) -> Option<Factors<'_>> {
        (!self.exact).then_some(Factors { x: self.inputs.x(), monomials: self.monomials })
    }
}

/// A product, and whether nothing of it was rounded away.
#[derive(Clone, Copy)]
struct Rounded {
    value: f64,
    exact: bool,
}

impl Rounded {
    /// Below, the rounding error of a product may be no double.
    const LEAST: f64 = f64::from_bits((1023 - 900) << 52);

    fn times(&self, other: &Self) -> Self {
        let value = self.value * other.value;
        // Once out of range it stays there: later factors would bring back a number that has lost its digits.
        let value = if value.abs() >= Self::LEAST { value } else { f64::NAN };
        let error = self.value.mul_add(other.value, -value);
        Rounded { value, exact: self.exact && other.exact && error == 0.0 }
    }
}

/// The products in double precision, and whether they are exact.
fn rounded(factors: Factors<'_>, width: usize) -> Result<(Matrix<'static>, bool), DataError> {
    let (sparse, n) = (factors.x.is_sparse(), with_rows!(factors.x, x => x.n_rows()));
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut all_exact = true;
    for row in 0..n {
        let entry = |(j, value): (usize, f64)| (j, Rounded { value, exact: true });
        let entries: Vec<(usize, Rounded)> = factors.entries(row).into_iter().map(entry).collect();
        let (one, mut within) = (Rounded { value: 1.0, exact: true }, true);
        let first = values.len();
        values.resize(first + if sparse { 0 } else { width }, 0.0);
        factors.monomials.each_product(&entries, one, &Rounded::times, &mut |j, product: Rounded| {
            within &= product.value.is_finite();
            all_exact &= product.exact;
            if sparse {
                columns.push(j as u32);
                values.push(product.value);
            } else {
                values[first + j] = product.value;
            }
        });
        if !within {
            let problem = format!(
                "products of {} features of row {} are out of the range of double precision; scale the features",
                factors.monomials.degree,
                row + 1
            );
            return Err(DataError::Unsuitable(problem));
        }
        pointers.push(values.len() as u64);
    }
    let x: Matrix<'static> = match sparse {
        true => Csr::new(pointers, columns, values, width.max(1))?.into(),
        false => Dense::new(values, width)?.into(),
    };
    x.check_values().map(|()| (x, all_exact))
}
