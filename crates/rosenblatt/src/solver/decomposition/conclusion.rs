//! What a decomposition came to: both objectives, and what is known where multipliers would not end.

use super::super::certificate::{Certificate, Slacks, best_bias, conjugate, support_vectors};
use super::super::hard_margin::half_way;
use super::super::pairs::Held;
use super::super::term::{Kind, Term};
use super::super::{End, Example};
use super::{Decomposition, Expanded, Fenced, State};

impl<'a, T: Term> Decomposition<'a, T> {
    /// Without errors Σα is twice the dual value where that is largest.
    pub(super) fn is_endless(&self) -> bool {
        T::KIND == Kind::Hard && self.alpha.iter().sum::<f64>() >= 4.0 * self.limits.dual
    }

    /// Whether multipliers would grow beyond bounds that are not the formulation's own, and nothing is proved by it.
    pub(super) fn is_fenced(&self, found: &Certificate) -> bool {
        let own = self.machine.examples.iter().map(|e| self.term.upper(e.cost));
        let mut all = self.alpha.iter().zip(self.machine.upper).zip(own);
        let mut at_bounds = || all.any(|((alpha, upper), own)| alpha >= upper && *upper < own);
        !self.machine.sure && (found.dual > self.limits.dual || self.is_endless() || at_bounds())
    }

    /// α·t has the dual value t·Σα − t²·bend.
    pub(super) fn fenced(&self) -> Fenced {
        /// Of single precision, in sums of products of many signs.
        const ROUNDING: f64 = 1e-6;
        let lifted = self.machine.lift * self.sum;
        let square: f64 = self.signed().iter().zip(&self.active).map(|(a, f)| a * (f + lifted)).sum();
        let term = |(e, &a): (&Example, &f64)| conjugate(self.term, e.cost, a) + a;
        let bend = 0.5 * square + self.machine.examples.iter().zip(&self.alpha).map(term).sum::<f64>();
        let total: f64 = self.alpha.iter().sum();
        let square = square / (total * total);
        let negative = square < -ROUNDING * self.largest_value();
        Fenced { square: negative.then_some(square), endless: negative && bend < 0.0 }
    }

    /// The largest kernel value of a few with the largest multipliers.
    fn largest_value(&self) -> f64 {
        const FEW: usize = 64;
        let mut few: Vec<usize> = (0..self.alpha.len()).collect();
        few.sort_unstable_by(|&a, &b| self.alpha[b].total_cmp(&self.alpha[a]).then(a.cmp(&b)));
        few.truncate(FEW);
        let mut values = vec![0.0; few.len() * few.len()];
        self.cache.evaluate_among(&few, few.len(), &mut values);
        values.iter().fold(0.0, |most: f64, value| most.max(f64::from(value.abs()))) + self.machine.lift
    }

    /// Both objectives, all examples taking part.
    pub(super) fn conclude(&self, state: &State) -> Expanded {
        let lifted = self.machine.lift * self.sum;
        let scores: Vec<f64> = self.active.iter().map(|score| score + lifted).collect();
        let coefficients = self.signed();
        let square = self.square(&coefficients, &scores);
        let Weighed { b, stretch, primal, dual } = match T::KIND {
            Kind::Soft => self.weigh_soft(state, square, &scores),
            Kind::Hard => self.weigh_hard(square, &scores),
            Kind::Level => self.weigh_level(state, square, &scores),
        };
        let examples = self.machine.examples;
        let scores: Vec<f64> = scores.iter().map(|score| stretch * (score + b)).collect();
        let mut slacks = Slacks::default();
        examples.iter().zip(&scores).for_each(|(e, &g)| slacks.count(e.y() * g, e.copies()));
        let support_vectors = support_vectors(examples, &self.alpha);
        Expanded {
            coefficients: coefficients.iter().map(|a| stretch * a).collect(),
            b: stretch * (b + lifted),
            scores,
            // Without the square of a bias that counts as a weight.
            square: stretch * stretch * (square - lifted * self.sum),
            certificate: Certificate { primal, dual, slacks, support_vectors, ..Certificate::default() },
            violation: state.violation,
            rounds: 0,
            end: End::Converged,
            fenced: None,
        }
    }

    /// ‖w‖²; where that is so small that errors of scores show, from scores in double precision.
    fn square(&self, coefficients: &[f64], scores: &[f64]) -> f64 {
        /// Its error may be this share of it.
        const ALLOWED: f64 = 1e-4;
        let lifted = self.machine.lift * self.sum;
        let square: f64 = coefficients.iter().zip(scores).map(|(a, f)| a * f).sum();
        let size: f64 = coefficients.iter().map(|a| a.abs()).sum();
        if self.error * size <= ALLOWED * square {
            return square;
        }
        let used: Vec<usize> = (0..coefficients.len()).filter(|&i| coefficients[i] != 0.0).collect();
        match self.precisely(&used) {
            Some(exact) => used.iter().zip(exact).map(|(&i, f)| coefficients[i] * (f + lifted)).sum(),
            None => square,
        }
    }

    fn margins<'s>(&self, scores: &'s [f64], b: f64) -> impl Iterator<Item = (&'a Example, f64)> + 's
    where
        'a: 's,
    {
        self.machine.examples.iter().zip(scores).map(move |(e, f)| (e, e.y() * (f + b)))
    }

    fn weigh_soft(&self, state: &State, square: f64, scores: &[f64]) -> Weighed {
        let examples = self.machine.examples;
        let b = match self.machine.held {
            Held::Nothing => 0.0,
            _ => best_bias(self.term, examples, scores, middle(state.high[0], state.low[0])),
        };
        let risk: f64 = self.margins(scores, b).map(|(e, m)| e.cost * self.term.value(m)).sum();
        let conjugates: f64 =
            examples.iter().zip(&self.alpha).map(|(e, &a)| conjugate(self.term, e.cost, a)).sum();
        // α = 0 proves as much.
        let dual = (-0.5 * square - conjugates).max(0.0);
        Weighed { b, stretch: 1.0, primal: 0.5 * square + risk, dual }
    }

    /// α may be scaled, too: the best multiple of it has the dual value (Σα)²/(2‖w‖²). Where the kernel is no dot product there may be no best one; then it is taken as it is.
    fn weigh_hard(&self, square: f64, scores: &[f64]) -> Weighed {
        let b = match self.machine.held {
            Held::Nothing => 0.0,
            _ => half_way(self.machine.examples, scores),
        };
        let smallest = self.margins(scores, b).map(|(_, m)| m).fold(f64::INFINITY, f64::min);
        let total: f64 = self.alpha.iter().sum();
        let best = 0.5 * total * total / square.max(f64::MIN_POSITIVE);
        let has_best = self.machine.sure || (square > 0.0 && best.is_finite());
        let dual = match total > 0.0 {
            true if has_best => best,
            true => total - 0.5 * square,
            false => 0.0,
        };
        let (stretch, primal) = (1.0 / smallest, 0.5 * square / (smallest * smallest));
        match smallest > 0.0 && primal.is_finite() && (stretch * total).is_finite() {
            true => Weighed { b, stretch, primal, dual },
            false => Weighed { b, stretch: 1.0, primal: f64::INFINITY, dual },
        }
    }

    /// min ½‖w‖² − ρ·Σα + Σ cᵢ·max(0, ρ − yᵢ(w·xᵢ + b)): the rows of each class that are neither inside nor outside tell where y(w·x + b) is ρ.
    fn weigh_level(&self, state: &State, square: f64, scores: &[f64]) -> Weighed {
        let [minus, plus] = [0, 1].map(|group| middle(state.high[group], state.low[group]));
        let (b, rho) = (0.5 * (plus + minus), 0.5 * (minus - plus));
        let total: f64 = self.alpha.iter().sum();
        let risk: f64 = self.margins(scores, b).map(|(e, m)| e.cost * (rho - m).max(0.0)).sum();
        let stretch = if rho >= f64::MIN_POSITIVE { 1.0 / rho } else { 1.0 };
        // Rounding alone makes a square less than 0 where the kernel is a dot product.
        let dual = if self.machine.sure { -0.5 * square.max(0.0) } else { -0.5 * square };
        Weighed { b, stretch, primal: 0.5 * square - rho * total + risk, dual }
    }

    /// Whether the optimum of a ν formulation is 0 as far as can be told: w is a difference of weighted means of the classes, and these may meet. Then rounding is all there is of P and D.
    pub(super) fn vanishes(&self, found: &Certificate) -> bool {
        /// Of ½‖w‖² if no row took anything from another; double precision tells little more.
        const NOTHING: f64 = 1e-10;
        let total: f64 = self.alpha.iter().sum();
        let nothing = NOTHING * 0.5 * total * total * self.largest_value();
        T::KIND == Kind::Level && self.machine.sure && found.primal.abs().max(-found.dual) <= nothing
    }
}

impl Expanded {
    /// The same, told whether its optimum is 0 as far as can be told.
    pub(super) fn vanishing(self, vanishes: bool) -> Self {
        Expanded { certificate: Certificate { vanishes, ..self.certificate }, ..self }
    }
}

/// What a formulation makes of scores.
struct Weighed {
    b: f64,
    /// What the plane is multiplied with.
    stretch: f64,
    primal: f64,
    dual: f64,
}

/// Of two that may both be infinite where a side has nobody.
fn middle(high: f64, low: f64) -> f64 {
    match (high.is_finite(), low.is_finite()) {
        (true, true) => 0.5 * (high + low),
        (true, false) => high,
        (false, true) => low,
        (false, false) => 0.0,
    }
}
