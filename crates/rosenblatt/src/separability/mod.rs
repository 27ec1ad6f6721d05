//! Whether a plane separates two classes, with proof of the answer.
//!
//! Either some w and b have y(w·x + b) > 0 for every row, or there are multipliers λ ≥ 0 with Σ λ = 1 and Σ λᵢyᵢ(xᵢ, 1) = 0, and never both (Gordan 1873): the multipliers say that a point is
//! a mean of rows of one class and also one of rows of the other, so that no plane has the classes on different sides. Features are doubles, hence exact fractions, and both
//! answers are checked without rounding ([`certificate`]).
//!
//! The search may round as it likes. What is fast comes first: equal rows of both classes, the perceptron ([`fast`]), the point of least norm in double precision ([`min_norm`]) with
//! multipliers solved for exactly ([`dependency`]); and where rounding leaves it open, the point of least norm in whole numbers ([`exact`]), which always decides.

mod certificate;
mod dependency;
mod exact;
mod fast;
mod fraction;
mod min_norm;
mod points;

pub use fraction::Fraction;

use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};
use rayon::prelude::*;

use crate::data::{DataError, Dataset, Matrix, Rows};
use crate::error::Error;
use crate::model::pairs;
use crate::online::{Multiclass, Target};
use crate::watch::{Monitor, Watch};
use crate::with_rows;
use exact::Decided;
use min_norm::Guess;
use points::{Member, Plane, Points};

/// Whether a plane separates the two classes, and what proves it.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Separability};
/// // On a line, "no" lies between two "yes": half of each "yes" is where "no" is.
/// let x = Dense::new(vec![1.0, 2.0, 3.0], 1)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
/// let Some(Separability::Inseparable(proof)) = Separability::of(&data, true, &mut ())? else { panic!() };
/// let multipliers: Vec<String> = proof.multipliers.iter().map(|m| m.value.to_string()).collect();
/// assert_eq!(multipliers, ["1/4", "1/2", "1/4"]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Separability {
    /// A plane separates them.
    Separable(Separator),
    /// No plane does.
    Inseparable(Obstruction),
}

/// A plane with every row of the second class above it and every row of the first below, exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Separator {
    /// w
    pub weights: Vec<f64>,
    /// b
    pub bias: f64,
    /// The smallest y·(w·x + b)/‖w‖; none where w = 0, as one of the classes has no rows. `hard-margin` looks for the widest.
    pub margin: Option<f64>,
    /// w and b as fractions, where double precision cannot hold any plane that separates, as far as was tried; the numbers above are then only near it.
    pub exact: Option<(Vec<Fraction>, Fraction)>,
}

/// Rows that no plane can separate. Without any one of them the others can be separated, so that none is there in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstruction {
    /// λ, each above 0, 1 in all, in the order of the rows.
    pub multipliers: Vec<Multiplier>,
}

/// How much a row counts in a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiplier {
    /// The row, counted from 0.
    pub row: usize,
    /// Its λ.
    pub value: Fraction,
}

/// One of the two-class problems of some data.
#[derive(Clone, Debug, PartialEq)]
pub struct SeparabilityProblem {
    /// Such as "setosa against the rest".
    pub title: String,
    /// The class below the plane; none for all others.
    pub negative: Option<usize>,
    /// The class above it.
    pub positive: usize,
    /// The answer.
    pub answer: Separability,
}

impl Separability {
    /// Decides for two classes, with a bias or without. `None` only if the watcher stopped it; rows of weight 0 are passed over.
    pub fn of(data: &Dataset<'_>, bias: bool, watch: &mut dyn Watch) -> Result<Option<Self>, Error> {
        if data.classes().len() != 2 {
            let problem = format!("{} classes, where two were expected", data.classes().len());
            return Err(DataError::Unsuitable(problem).into());
        }
        decide(data, Target::Class, bias, &Monitor::new(watch, None, 1))
    }

    /// Decides all problems of a scheme: each class against the rest (`ovr`), or each pair (`ovo`). Two classes are one problem.
    pub fn of_problems(
        data: &Dataset<'_>,
        scheme: Multiclass,
        bias: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<SeparabilityProblem>>, Error> {
        let monitor = Monitor::new(watch, None, 1);
        let problem = |(target, negative, positive): (Target, Option<usize>, usize)| {
            let title = match target {
                Target::Class => Target::Pair(0, 1).title(data.classes()),
                other => other.title(data.classes()),
            };
            let answer = decide(data, target, bias, &monitor)?;
            Ok(answer.map(|answer| SeparabilityProblem { title, negative, positive, answer }))
        };
        targets(scheme, data.classes().len()).into_par_iter().map(problem).collect()
    }

    /// Whether there is a separator.
    pub fn is_separable(&self) -> bool {
        matches!(self, Separability::Separable(_))
    }

    /// Whether the answer holds for two classes, in exact arithmetic: the check that every answer has passed, open to all.
    pub fn holds(&self, data: &Dataset<'_>, bias: bool) -> bool {
        let members = members(data, Target::Class);
        with_rows!(data.x(), x => self.holds_for(&Points::new(x, members, bias)))
    }

    fn holds_for<R: Rows>(&self, points: &Points<'_, R>) -> bool {
        match self {
            Separability::Separable(separator) => {
                let plane = separator.plane(points.is_lifted());
                plane.fits(points) && certificate::separates(points, &plane)
            }
            Separability::Inseparable(obstruction) => obstruction.obstructs(points),
        }
    }
}

fn targets(scheme: Multiclass, classes: usize) -> Vec<(Target, Option<usize>, usize)> {
    match (scheme, classes) {
        (_, 0..=2) => vec![(Target::Class, Some(0), 1)],
        (Multiclass::Ovo, k) => pairs(k).into_iter().map(|(a, b)| (Target::Pair(a, b), Some(a), b)).collect(),
        (_, k) => (0..k).map(|one| (Target::OneVsRest(one), None, one)).collect(),
    }
}

fn members(data: &Dataset<'_>, target: Target) -> Vec<Member> {
    let member = |(row, &class): (usize, &u32)| {
        let positive = target.of(class)? == 1;
        (data.weight(row) > 0.0).then_some(Member { row: row as u32, positive })
    };
    data.y().iter().enumerate().filter_map(member).collect()
}

fn decide(
    data: &Dataset<'_>,
    target: Target,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Result<Option<Separability>, Error> {
    let members = members(data, target);
    if members.is_empty() {
        return Err(DataError::NoRows.into());
    }
    Ok(decide_members(data.x(), members, bias, monitor))
}

fn decide_members(
    x: &Matrix<'_>,
    members: Vec<Member>,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Option<Separability> {
    with_rows!(x, x => answer(&Points::new(x, members, bias), monitor))
}

/// Why no plane separates these rows, each with whether it is to be above; nothing if one does, or the search was stopped.
pub(crate) fn obstruction(
    x: &Matrix<'_>,
    rows: impl Iterator<Item = (u32, bool)>,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Option<Obstruction> {
    let members = rows.map(|(row, positive)| Member { row, positive }).collect();
    match decide_members(x, members, bias, monitor)? {
        Separability::Inseparable(proof) => Some(proof),
        Separability::Separable(_) => None,
    }
}

/// What is fast first; whatever answers is checked.
fn answer<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Option<Separability> {
    if let Some(rows) = fast::contradiction(points) {
        let multipliers = rows.into_iter().map(|i| (i, BigInt::from(1))).collect();
        if let Some(proof) = Obstruction::proved(points, multipliers) {
            return Some(Separability::Inseparable(proof));
        }
    }
    if let Some(weights) = fast::perceptron(points, monitor)?
        && let Some(separator) = Separator::proved(points, Plane::of_doubles(weights))
    {
        return Some(Separability::Separable(separator));
    }
    let likely = match min_norm::search(points, monitor) {
        Guess::Stopped => return None,
        Guess::Apart(weights) => match Separator::proved(points, Plane::of_doubles(weights)) {
            Some(separator) => return Some(Separability::Separable(separator)),
            None => Vec::new(),
        },
        Guess::Meeting(corral) => match dependent(points, &corral) {
            Some(proof) => return Some(Separability::Inseparable(proof)),
            None => corral,
        },
    };
    match exact::decide(points, &likely, monitor) {
        Decided::Stopped => None,
        Decided::Apart(plane) => Some(Separability::Separable(Separator::of_whole(points, plane))),
        Decided::Meeting(weights) => {
            Obstruction::proved(points, unscaled(points, weights)).map(Separability::Inseparable)
        }
    }
}

/// The proof that these points make, if it is one.
fn dependent<R: Rows>(points: &Points<'_, R>, corral: &[usize]) -> Option<Obstruction> {
    let whole: Vec<_> = corral.iter().map(|&i| points.whole(i)).collect();
    let weights = dependency::dependency(&whole)?;
    if weights.iter().any(BigInt::is_negative) {
        return None;
    }
    let used = corral.iter().copied().zip(weights).filter(|(_, weight)| !weight.is_zero());
    Obstruction::proved(points, unscaled(points, used.collect()))
}

/// Weights of the points themselves, from those of points made whole.
fn unscaled<R: Rows>(points: &Points<'_, R>, weights: Vec<(usize, BigInt)>) -> Vec<(usize, BigInt)> {
    let shifts: Vec<i64> = weights.iter().map(|(i, _)| points.whole(*i).shift).collect();
    let least = shifts.iter().copied().min().unwrap_or(0);
    let scaled = weights.into_iter().zip(shifts);
    scaled.map(|((i, weight), shift)| (i, weight << (shift - least).unsigned_abs())).collect()
}

impl Obstruction {
    /// "rows 21, 77 prove", with an object to follow.
    ///
    /// ```
    /// use rosenblatt::{Multiplier, Obstruction};
    /// let value = |text: &str| text.parse().unwrap();
    /// let zero = Obstruction { multipliers: vec![Multiplier { row: 4, value: value("1") }] };
    /// assert_eq!(zero.proves(), "row 5 proves");
    /// ```
    pub fn proves(&self) -> String {
        match self.multipliers.len() {
            1 => format!("row {self} proves"),
            _ => format!("rows {self} prove"),
        }
    }

    /// Nothing if the exact check fails.
    fn proved<R: Rows>(points: &Points<'_, R>, mut weights: Vec<(usize, BigInt)>) -> Option<Self> {
        if !certificate::obstructs(points, &weights) {
            return None;
        }
        weights.sort_by_key(|(i, _)| *i);
        let total: BigInt = weights.iter().map(|(_, weight)| weight).sum();
        let multiplier = |(i, weight): (usize, BigInt)| {
            Some(Multiplier { row: points.row(i), value: Fraction::new(weight, total.clone())? })
        };
        let multipliers = weights.into_iter().map(multiplier).collect::<Option<_>>()?;
        Some(Obstruction { multipliers })
    }

    fn obstructs<R: Rows>(&self, points: &Points<'_, R>) -> bool {
        let values = whole(self.multipliers.iter().map(|multiplier| &multiplier.value));
        let point = |(multiplier, value): (&Multiplier, BigInt)| Some((points.find(multiplier.row)?, value));
        let weights: Option<Vec<_>> = self.multipliers.iter().zip(values).map(point).collect();
        weights.is_some_and(|weights| certificate::obstructs(points, &weights))
    }
}

/// The rows, counted from 1 as users do: "51, 84, 107", shortened.
impl fmt::Display for Obstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let rows: Vec<String> =
            self.multipliers.iter().take(SHOWN).map(|multiplier| (multiplier.row + 1).to_string()).collect();
        match self.multipliers.len().saturating_sub(SHOWN) {
            0 => f.pad(&rows.join(", ")),
            more => f.pad(&format!("{} and {more} more", rows.join(", "))),
        }
    }
}

/// Fractions times their least common denominator.
fn whole<'f>(fractions: impl Iterator<Item = &'f Fraction> + Clone) -> Vec<BigInt> {
    let common = fractions.clone().fold(BigInt::from(1), |all, f| all.lcm(f.denominator()));
    fractions.map(|f| f.numerator() * (&common / f.denominator())).collect()
}

impl Separator {
    /// Nothing if the exact check fails.
    fn proved<R: Rows>(points: &Points<'_, R>, plane: Plane) -> Option<Self> {
        certificate::separates(points, &plane).then(|| Separator::of(points, &plane, None))
    }

    /// A plane in whole numbers that separates, rounded if that separates, too.
    fn of_whole<R: Rows>(points: &Points<'_, R>, plane: Plane) -> Self {
        let rounded = Plane::of_doubles(plane.near().to_vec());
        if let Some(separator) = Separator::proved(points, rounded) {
            return separator;
        }
        let whole = plane.whole();
        let fraction = |number: &BigInt| Fraction::of_power(number.clone(), whole.exponent);
        let mut weights: Vec<Fraction> = whole.numbers.iter().map(fraction).collect();
        let bias = match points.is_lifted() {
            true => weights.pop().unwrap_or_else(|| fraction(&BigInt::zero())),
            false => fraction(&BigInt::zero()),
        };
        Separator::of(points, &plane, Some((weights, bias)))
    }

    fn of<R: Rows>(points: &Points<'_, R>, plane: &Plane, exact: Option<(Vec<Fraction>, Fraction)>) -> Self {
        let (weights, bias) = plane.near().split_at(points.n_cols());
        let heights = (0..points.len()).into_par_iter().with_min_len(256).map(|i| plane.height(points, i));
        let lowest = heights.reduce(|| f64::INFINITY, f64::min);
        let margin = lowest / length(weights);
        Separator {
            weights: weights.to_vec(),
            bias: bias.first().copied().unwrap_or(0.0),
            margin: Some(margin).filter(|margin| margin.is_finite()),
            exact,
        }
    }

    /// What the check is about.
    fn plane(&self, lifted: bool) -> Plane {
        match &self.exact {
            Some((weights, bias)) => Plane::of_whole(whole(weights.iter().chain(lifted.then_some(bias)))),
            None => {
                let numbers = self.weights.iter().copied().chain(lifted.then_some(self.bias));
                Plane::of_doubles(numbers.collect())
            }
        }
    }
}

/// ‖w‖, without overflow.
fn length(weights: &[f64]) -> f64 {
    let largest = weights.iter().fold(0.0f64, |largest, w| largest.max(w.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * weights.iter().map(|w| (w / largest).powi(2)).sum::<f64>().sqrt()
}
