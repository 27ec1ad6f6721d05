//! Learning one example at a time: update rule × hypothesis.
//!
//! A [`rule`] says how far to move, a [`hypothesis`] what moves; [`native`] puts them together for one problem, [`reduced`]
//! makes several binary problems out of many classes, [`fit`] makes passes over data, [`stream`] takes examples as they come.

mod budget;
mod checkpoint;
mod confident;
mod fit;
mod forgetron;
mod hypothesis;
mod inverse;
mod kernelised;
mod measure;
mod multiplicative;
mod native;
mod pocket;
mod projectron;
mod reduced;
mod rule;
mod run;
mod schedule;
mod stream;
mod terms;
mod unbudgeted;
mod voted;

pub(crate) use budget::{Budget, Budgeted};
pub(crate) use confident::Confident;
pub(crate) use fit::{Setup, fit};
pub(crate) use hypothesis::{Averaged, Balled, Hypothesis};
pub(crate) use kernelised::{Form, Kernelised};
pub use measure::Measure;
pub(crate) use multiplicative::Multiplicative;
pub(crate) use native::Native;
pub(crate) use reduced::Reduced;
pub use rule::Aggressiveness;
pub(crate) use rule::{AlmaRule, ArowRule, OnMistake, PassiveAggressiveRule};
pub use run::Run;
pub use schedule::Order;
pub(crate) use schedule::Schedule;
pub use stream::{Example, FromExample, Stream};
pub(crate) use voted::Voted;

use serde::{Deserialize, Serialize};

use crate::data::{Classes, DataError, Matrix};
use crate::model::{Body, Decision, Planes};
use crate::watch::Monitor;

/// How a problem of more than two classes is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Multiclass {
    /// All classes at once.
    #[default]
    Native,
    /// Each class against all others; the highest score wins.
    Ovr,
    /// Each class against each other; votes, ties broken by summed scores.
    Ovo,
}

impl Multiclass {
    /// How many planes a linear model of so many classes has.
    pub(crate) fn planes(self, n_classes: usize) -> usize {
        match (self, n_classes) {
            (_, 0..=2) => 1,
            (Multiclass::Ovo, k) => k * (k - 1) / 2,
            (_, k) => k,
        }
    }
}

/// The rows of a fit.
pub(crate) struct Examples<'a> {
    pub(crate) x: &'a Matrix<'a>,
    pub(crate) y: &'a [u32],
    /// Sample times class weight; `None` is all 1.
    pub(crate) weights: Option<Vec<f64>>,
}

impl Examples<'_> {
    #[inline]
    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Those of some rows that count.
    fn counted(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().copied().filter(|&i| self.weight(i) > 0.0).collect()
    }
}

/// What happened to one example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) mistakes: u64,
    pub(crate) updates: u64,
}

/// What happened in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) mistakes: u64,
    pub(crate) updates: u64,
    pub(crate) stopped: bool,
}

impl Tally {
    #[inline]
    fn count(&mut self, visit: Visit) {
        self.mistakes += visit.mistakes;
        self.updates += visit.updates;
    }

    fn add(&mut self, other: &Tally) {
        self.mistakes += other.mistakes;
        self.updates += other.updates;
        self.stopped |= other.stopped;
    }
}

/// What a problem makes of a class: its own class number, or none if it does not concern it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Target {
    Class,
    OneVsRest(usize),
    Pair(usize, usize),
}

impl Target {
    #[inline]
    pub(crate) fn of(self, class: u32) -> Option<usize> {
        let class = class as usize;
        match self {
            Target::Class => Some(class),
            Target::OneVsRest(one) => Some(usize::from(class == one)),
            Target::Pair(a, _) if class == a => Some(0),
            Target::Pair(_, b) if class == b => Some(1),
            Target::Pair(..) => None,
        }
    }

    /// The same problem with class numbers as they were before a class was inserted at `at`.
    fn before(self, at: usize) -> Option<Target> {
        let old = |class: usize| (class != at).then(|| class - usize::from(class > at));
        match self {
            Target::Class => Some(Target::Class),
            Target::OneVsRest(one) => Some(Target::OneVsRest(old(one)?)),
            Target::Pair(a, b) => Some(Target::Pair(old(a)?, old(b)?)),
        }
    }

    /// The class of +1.
    pub(crate) fn positive(self) -> usize {
        match self {
            Target::Class => 1,
            Target::OneVsRest(one) => one,
            Target::Pair(_, b) => b,
        }
    }

    pub(crate) fn title(self, classes: &Classes) -> String {
        match self {
            Target::Class => "all classes".to_owned(),
            Target::OneVsRest(one) => format!("{} against the rest", classes[one]),
            Target::Pair(a, b) => format!("{} against {}", classes[a], classes[b]),
        }
    }
}

/// How one binary problem of a reduction went.
pub(crate) struct Problem {
    pub(crate) target: Target,
    pub(crate) passes: usize,
    pub(crate) last_updates: u64,
    pub(crate) converged: bool,
}

/// What examples stand for in the planes, where they stand for weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Added {
    /// How much was added to each plane so far; all of it is still there.
    Amounts(Vec<f64>),
    /// What there is now, as more than the last example may change: the number of an example among those seen, the plane, and the coefficient.
    Terms(Vec<(u64, usize, f64)>),
}

/// A learner between two examples.
pub(crate) trait State: Send + Sync {
    fn update(&mut self, x: &Matrix<'_>, i: usize, y: usize, weight: f64) -> Visit;
    fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64>;
    /// Refuses some of these rows, in the order they are to be learned from, if they are so far from what was learned from first that they could not be told apart.
    fn near(&self, _x: &Matrix<'_>, _rows: &[usize]) -> Result<(), DataError> {
        Ok(())
    }
    /// Tells, once, if something made of these rows was no number; the first of them is number `first`, from 0. Of what came with it nothing was learned.
    fn sound(&self, _x: &Matrix<'_>, _first: u64) -> Result<(), DataError> {
        Ok(())
    }
    /// Learns from some rows of a pass, or all.
    fn pass(&mut self, data: &Examples<'_>, target: Target, order: &[usize], monitor: &Monitor<'_>) -> Tally;
    /// All rows of a pass have been learned from; `complete` if its order left none out.
    fn end_pass(&mut self, _complete: bool) {}
    fn decision(&self) -> Decision;
    fn body(&self) -> Body;
    /// The scores that the body would give.
    fn output(&self, x: &Matrix<'_>, i: usize) -> Vec<f64>;
    /// The weights as they are, where [`body`](State::body) may be an average or the best so far; nothing where examples stand for them.
    fn current(&self) -> Option<Planes>;
    /// What examples stand for in the planes, where they stand for the weights.
    fn added(&self) -> Added {
        Added::Amounts(Vec::new())
    }
    fn grow(&mut self, n_cols: usize);
    fn flip(&mut self);
    fn add_class(&mut self, at: usize);
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
    /// How many problems the next pass goes through the rows for.
    fn open_problems(&self) -> usize {
        1
    }
    /// All that [`restore`](State::restore) needs.
    fn save(&self) -> Vec<u8>;
    /// Becomes what was saved, which must have the same classes and so many features; else stays what it is.
    fn restore(&mut self, bytes: &[u8], n_cols: usize) -> Option<()>;
    fn boxed(&self) -> Box<dyn State>;
}
