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
mod products;
mod twofold;

pub use fraction::Fraction;
pub use products::Products;

use std::fmt;
use std::time::Instant;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use rayon::prelude::*;

use crate::data::{DataError, Dataset, Matrix, Rows};
use crate::error::Error;
use crate::model::pairs;
use crate::online::{Multiclass, Target};
use crate::watch::{Monitor, Watch};
use crate::with_rows;
use certificate::Sides;
use exact::Decided;
use min_norm::Guess;
use points::{Member, Plane, Points};
use products::Factors;

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
    /// What it took, while others may have been decided at the same time.
    pub seconds: f64,
}

impl Separability {
    /// Decides for two classes, with a bias or without. `None` only if the watcher stopped it; rows of weight 0 are passed over.
    pub fn of(data: &Dataset<'_>, bias: bool, watch: &mut dyn Watch) -> Result<Option<Self>, Error> {
        if data.classes().len() != 2 {
            let problem = format!("{} classes, where two were expected", data.classes().len());
            return Err(DataError::Unsuitable(problem).into());
        }
        decide(data, None, Target::Class, bias, &Monitor::new(watch, None, 1))
    }

    /// Decides all problems of a scheme: each class against the rest (`ovr`), or each pair (`ovo`). Two classes are one problem.
    pub fn of_problems(
        data: &Dataset<'_>,
        scheme: Multiclass,
        bias: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<Vec<SeparabilityProblem>>, Error> {
        problems(data, None, scheme, bias, &Monitor::new(watch, None, 1))
    }

    /// The first of all problems of a scheme that has no separator; those after it are left alone. `None` if all have one, or the watcher stopped the search before any
    /// was found to have none.
    pub fn first_inseparable(
        data: &Dataset<'_>,
        scheme: Multiclass,
        bias: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<SeparabilityProblem>, Error> {
        let monitor = Monitor::new(watch, None, 1);
        let obstructed = |two| match SeparabilityProblem::decide(data, None, two, bias, &monitor) {
            Ok(problem) => problem.filter(|problem| !problem.answer.is_separable()).map(Ok),
            Err(error) => Some(Err(error)),
        };
        targets(scheme, data.classes().len()).into_par_iter().find_map_first(obstructed).transpose()
    }

    /// Whether there is a separator.
    pub fn is_separable(&self) -> bool {
        matches!(self, Separability::Separable(_))
    }

    /// Whether the answer holds for data of two classes, in exact arithmetic, its figures included: the check that every answer has passed, open to all. That no row of a
    /// proof can be left out is not checked.
    pub fn holds(&self, data: &Dataset<'_>, bias: bool) -> bool {
        data.classes().len() == 2 && self.holds_between(data, None, (Some(0), 1), bias)
    }

    fn holds_between(
        &self,
        data: &Dataset<'_>,
        factors: Option<Factors<'_>>,
        (negative, positive): (Option<usize>, usize),
        bias: bool,
    ) -> bool {
        let is_above = |class: usize| match negative {
            _ if class == positive => Some(true),
            None => Some(false),
            Some(negative) => (class == negative).then_some(false),
        };
        let side = |(row, &class): (usize, &u32)| Some((row, is_above(class as usize)?));
        let counted = |&(row, _): &(usize, bool)| data.weight(row) > 0.0;
        let rows = data.y().iter().enumerate().filter_map(side).filter(counted).collect();
        with_rows!(data.x(), x => Sides { x, rows, bias, factors }.prove(self))
    }
}

impl SeparabilityProblem {
    /// Whether the answer holds, as by [`Separability::holds`].
    pub fn holds(&self, data: &Dataset<'_>, bias: bool) -> bool {
        self.holds_in(data, None, bias)
    }

    fn holds_in(&self, data: &Dataset<'_>, factors: Option<Factors<'_>>, bias: bool) -> bool {
        let there = |class: usize| class < data.classes().len();
        let classes =
            there(self.positive) && self.negative.is_none_or(there) && self.negative != Some(self.positive);
        classes && self.answer.holds_between(data, factors, (self.negative, self.positive), bias)
    }

    fn decide(
        data: &Dataset<'_>,
        factors: Option<Factors<'_>>,
        (target, negative, positive): (Target, Option<usize>, usize),
        bias: bool,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Self>, Error> {
        let start = Instant::now();
        let title = match target {
            Target::Class => Target::Pair(0, 1).title(data.classes()),
            other => other.title(data.classes()),
        };
        let answer = decide(data, factors, target, bias, monitor)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(answer.map(|answer| SeparabilityProblem { title, negative, positive, answer, seconds }))
    }
}

fn problems(
    data: &Dataset<'_>,
    factors: Option<Factors<'_>>,
    scheme: Multiclass,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<SeparabilityProblem>>, Error> {
    let decide = |two| SeparabilityProblem::decide(data, factors, two, bias, monitor);
    targets(scheme, data.classes().len()).into_par_iter().map(decide).collect()
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
    factors: Option<Factors<'_>>,
    target: Target,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Result<Option<Separability>, Error> {
    let members = members(data, target);
    if members.is_empty() {
        return Err(DataError::NoRows.into());
    }
    with_rows!(data.x(), x => answer(&Points::new(x, members, bias).of_products(factors), monitor))
}

/// Why no plane separates these rows, ascending and each with whether it is to be above; nothing if one does, or the search was stopped.
pub(crate) fn obstruction(
    x: &Matrix<'_>,
    rows: impl Iterator<Item = (u32, bool)>,
    bias: bool,
    monitor: &Monitor<'_>,
) -> Result<Option<Obstruction>, Error> {
    let members = rows.map(|(row, positive)| Member { row, positive }).collect();
    Ok(match with_rows!(x, x => answer(&Points::new(x, members, bias), monitor))? {
        Some(Separability::Inseparable(proof)) => Some(proof),
        Some(Separability::Separable(_)) | None => None,
    })
}

/// Two equal rows that are to be on different sides, or a row of zeros where planes pass through the origin: what no kernel can tell apart. Rows come ascending.
pub(crate) fn contradiction(
    x: &Matrix<'_>,
    rows: impl Iterator<Item = (u32, bool)>,
    bias: bool,
) -> Option<Obstruction> {
    let members = rows.map(|(row, positive)| Member { row, positive }).collect();
    with_rows!(x, x => contradicted(&Points::new(x, members, bias)))
}

fn contradicted<R: Rows>(points: &Points<'_, R>) -> Option<Obstruction> {
    let rows = fast::contradiction(points)?;
    Obstruction::proved(points, rows.into_iter().map(|i| (i, BigInt::from(1))).collect())
}

/// What is fast first; whatever answers is checked. Nothing if the search was stopped.
fn answer<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Result<Option<Separability>, Error> {
    if let Some(proof) = contradicted(points) {
        return Ok(Some(Separability::Inseparable(proof)));
    }
    let Some(found) = fast::perceptron(points, monitor) else { return Ok(None) };
    if let Some(separator) = found.and_then(|weights| Separator::proved(points, weights, None)) {
        return Ok(Some(Separability::Separable(separator)));
    }
    let likely = match min_norm::search(points, monitor) {
        Guess::Stopped => return Ok(None),
        Guess::Apart(weights, corral) => match Separator::proved(points, weights, None) {
            Some(separator) => return Ok(Some(Separability::Separable(separator))),
            None => corral,
        },
        Guess::Meeting(corral) => match dependent(points, &corral, monitor) {
            Some(proof) => return Ok(Some(Separability::Inseparable(proof))),
            None => corral,
        },
    };
    let answer = match exact::decide(points, &likely, monitor) {
        Decided::Stopped => return Ok(None),
        Decided::Apart(plane) => Separator::of_whole(points, &plane).map(Separability::Separable),
        Decided::Meeting(weights) => {
            Obstruction::proved(points, unscaled(points, weights)).map(Separability::Inseparable)
        }
    };
    // Silence would look as if somebody had stopped the search.
    answer.map(Some).ok_or(Error::Unproved)
}

/// The proof that these points make, if it is one.
fn dependent<R: Rows>(
    points: &Points<'_, R>,
    corral: &[usize],
    monitor: &Monitor<'_>,
) -> Option<Obstruction> {
    let whole: Vec<_> = corral.iter().map(|&i| points.whole(i)).collect();
    let weights = dependency::dependency(&whole, monitor)?;
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
        weights.sort_by_key(|(i, _)| *i);
        let total: BigInt = weights.iter().map(|(_, weight)| weight).sum();
        let multiplier = |(i, weight): (usize, BigInt)| {
            Some(Multiplier { row: points.row(i), value: Fraction::new(weight, total.clone())? })
        };
        let multipliers = weights.into_par_iter().map(multiplier).collect::<Option<_>>()?;
        let answer = Separability::Inseparable(Obstruction { multipliers });
        match (points.sides().prove(&answer), answer) {
            (true, Separability::Inseparable(proof)) => Some(proof),
            _ => None,
        }
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

impl Separator {
    /// Nothing if the exact check fails. `weights` are w and, where there is one, b.
    fn proved<R: Rows>(
        points: &Points<'_, R>,
        mut weights: Vec<f64>,
        exact: Option<(Vec<Fraction>, Fraction)>,
    ) -> Option<Self> {
        let bias = if points.is_lifted() { weights.pop()? } else { 0.0 };
        let separator = Separator { weights, bias, margin: None, exact };
        let margin = points.sides().margin(&separator)?;
        Some(Separator { margin, ..separator })
    }

    /// A plane in whole numbers that separates, rounded if that separates, too.
    fn of_whole<R: Rows>(points: &Points<'_, R>, plane: &Plane) -> Option<Self> {
        if let Some(separator) = Separator::proved(points, plane.near().to_vec(), None) {
            return Some(separator);
        }
        let mut weights = plane.fractions();
        let bias = if points.is_lifted() { weights.pop()? } else { Fraction::of_power(BigInt::zero(), 0) };
        Separator::proved(points, plane.near().to_vec(), Some((weights, bias)))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::{Dense, Labels};
    use crate::rng::Rng;
    use crate::watch::Progress;

    fn members(positive: &[bool]) -> Vec<Member> {
        positive.iter().enumerate().map(|(i, &positive)| Member { row: i as u32, positive }).collect()
    }

    fn normal(rng: &mut Rng, n: usize, d: usize) -> Dense<'static, f64> {
        Dense::new((0..n * d).map(|_| rng.normal()).collect::<Vec<f64>>(), d).unwrap()
    }

    /// Multipliers of continuous features have thousands of digits; they are solved for modulo a prime, without the method that handles long numbers all the way.
    #[test]
    fn points_of_continuous_features_that_meet_are_proved_fast() {
        let mut rng = Rng::new(11);
        let (n, d) = (200, 40);
        let x = normal(&mut rng, n, d);
        let positive: Vec<bool> = (0..n).map(|_| rng.below(2) == 0).collect();
        let points = Points::new(&x, members(&positive), true);
        let mut watch = ();
        let monitor = Monitor::new(&mut watch, None, 1);
        let Guess::Meeting(corral) = min_norm::search(&points, &monitor) else { panic!("they meet") };
        assert_eq!(corral.len(), d + 2);
        let proof = dependent(&points, &corral, &monitor).expect("a proof");
        assert_eq!(proof.multipliers.len(), d + 2);
    }

    /// Each row asks for a weight that is 2^1554 times the next at least; the first over the last is then beyond all doubles.
    #[test]
    fn planes_that_no_doubles_hold_are_fractions() {
        let (tiny, huge) = (2f64.powi(-1074), 2f64.powi(480));
        let rows = [[tiny, -huge, 0.0], [0.0, tiny, -huge], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]];
        let x = Dense::new(rows.concat(), 3).unwrap();
        let points = Points::new(&x, members(&[true, true, true, false]), false);
        let mut watch = ();
        let monitor = Monitor::new(&mut watch, None, 1);
        let Decided::Apart(plane) = exact::decide(&points, &[], &monitor) else { panic!("they are apart") };
        assert!(Separator::proved(&points, plane.near().to_vec(), None).is_none());
        let separator = Separator::of_whole(&points, &plane).expect("fractions separate");
        let (weights, bias) = separator.exact.clone().expect("fractions");
        assert_eq!((weights.len(), bias.numerator().is_zero()), (3, true));
        let labels = Labels::new(["b", "b", "b", "a"]);
        let data = Dataset::new(x, &labels).unwrap();
        let answer = Separability::of(&data, false, &mut ()).unwrap().expect("nobody stopped it");
        assert!(matches!(&answer, Separability::Separable(Separator { exact: Some(_), .. })), "{answer:?}");
        assert!(answer.holds(&data, false));
        assert!(Separability::Separable(separator).holds(&data, false));
    }

    /// What double precision takes for a separator, or for points that meet, is where the exact method begins.
    #[test]
    fn where_rounding_leaves_it_open_whole_numbers_decide() {
        let mut rng = Rng::new(12);
        let (n, d) = (25, 30);
        let mut exact = 0;
        for _ in 0..10 {
            let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| rng.normal()).collect()).collect();
            // The last differs from the first in the last bit of one feature only.
            let mut twin = rows[0].clone();
            twin[7] = f64::from_bits(twin[7].to_bits() ^ 1);
            rows.push(twin);
            let mut positive: Vec<bool> = (0..=n).map(|_| rng.below(2) == 0).collect();
            positive[n] = !positive[0];
            let x = Dense::new(rows.concat(), d).unwrap();
            let points = Points::new(&x, members(&positive), true);
            let mut watch = ();
            let monitor = Monitor::new(&mut watch, None, 1);
            let corral = match min_norm::search(&points, &monitor) {
                Guess::Apart(weights, corral) => {
                    Separator::proved(&points, weights, None).is_none().then_some(corral)
                }
                Guess::Meeting(corral) => dependent(&points, &corral, &monitor).is_none().then_some(corral),
                Guess::Stopped => panic!("nobody stopped it"),
            };
            if let Some(corral) = corral {
                let Decided::Apart(plane) = exact::decide(&points, &corral, &monitor) else {
                    panic!("affinely independent points can always be separated")
                };
                assert!(Separator::of_whole(&points, &plane).is_some());
                exact += 1;
            }
        }
        assert!(exact > 0, "double precision was enough for all");
    }

    /// Classes a hair's breadth apart, where half of the digits are not enough to see a plane and to make one that holds: twice as many are.
    #[test]
    fn twice_the_digits_make_planes_that_hold() {
        let mut rng = Rng::new(14);
        let (n, d) = (300, 50);
        for hair in [1e-9, 1e-12] {
            let w: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let square: f64 = w.iter().map(|w| w * w).sum();
            let positive: Vec<bool> = (0..n).map(|_| rng.below(2) == 0).collect();
            let mut rows: Vec<f64> = Vec::new();
            for &positive in &positive {
                let row: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
                let height: f64 = row.iter().zip(&w).map(|(v, w)| v * w).sum();
                let wanted = if positive { hair } else { -hair };
                rows.extend(row.iter().zip(&w).map(|(v, w)| v + (wanted - height) / square * w));
            }
            let x = Dense::new(rows, d).unwrap();
            let points = Points::new(&x, members(&positive), true);
            let mut watch = ();
            let monitor = Monitor::new(&mut watch, None, 1);
            let Guess::Apart(weights, _) = min_norm::search(&points, &monitor) else {
                panic!("{hair:e}: they are apart")
            };
            assert!(Separator::proved(&points, weights, None).is_some(), "{hair:e}");
        }
    }

    struct Never;
    impl Watch for Never {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }

    #[test]
    fn a_search_that_was_stopped_has_no_answer() {
        let mut rng = Rng::new(13);
        let labels = Labels::new((0..100).map(|i| ["a", "b", "c"][i % 3]));
        let data = Dataset::new(normal(&mut rng, 100, 4), &labels).unwrap();
        for scheme in [Multiclass::Ovo, Multiclass::Ovr] {
            assert_eq!(Separability::of_problems(&data, scheme, true, &mut Never), Ok(None));
            assert_eq!(Separability::first_inseparable(&data, scheme, true, &mut Never), Ok(None));
        }
    }
}
