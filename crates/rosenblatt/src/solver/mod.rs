//! Batch solvers of a regularised risk, certified by the duality gap.
//!
//! ```text
//! P(w, b) = ½‖w‖² + Σ cᵢ·ℓ(yᵢ(w·xᵢ + b))                      ½b² beside ½‖w‖² where the bias is regularized
//! D(α)    = −½‖Σ αᵢyᵢxᵢ‖² − Σ cᵢ·ℓ*(−αᵢ/cᵢ)                  Σ αᵢyᵢ = 0 where the bias is free
//! ```
//!
//! P ≥ D for all arguments, so that any pair proves how far P can be from the optimum at the most.

mod certificate;
mod choice;
mod columns;
mod conjugate_gradient;
mod crammer_singer;
mod decomposition;
mod dual_cd;
mod dual_loss;
mod evaluation;
mod factor;
mod forecast;
mod hard_margin;
mod interior;
mod joint_decomposition;
mod l1;
mod lasso;
mod moments;
mod multinomial;
mod multinomial_dual;
mod multinomial_newton;
mod nearest;
mod newton;
mod normal;
mod pairs;
mod pegasos;
mod subgradient;
mod term;

pub use certificate::Slacks;
pub(crate) use certificate::{Certificate, Certified, project};
pub(crate) use choice::Choice;
pub use choice::Solver;
use columns::Columns;
pub(crate) use crammer_singer::{Joint, JointExample, Sequential};
pub(crate) use decomposition::{Decomposition, Expanded, Machine, add_whole_rows};
pub(crate) use dual_loss::DualLoss;
pub(crate) use evaluation::SmoothLoss;
pub(crate) use factor::Factor;
pub(crate) use joint_decomposition::{JointDecomposition, JointExpanded, JointMachine};
pub(crate) use l1::L1;
pub(crate) use moments::{Weighed, overall};
pub(crate) use multinomial::Multinomial;
pub(crate) use normal::Normal;
pub(crate) use pairs::Held;
pub(crate) use pegasos::Pegasos;
pub(crate) use subgradient::{DescentLoss, Subgradient};
pub(crate) use term::{Kind, Level, Term};

use crate::data::{Matrix, Rows};
use crate::learner::Bias;
use crate::model::Planes;
use crate::watch::Monitor;

/// A problem with two classes over some rows.
pub(crate) struct Binary<'a, R> {
    pub(crate) x: &'a R,
    pub(crate) examples: &'a [Example],
    pub(crate) bias: Bias,
    /// w and b to start from, where it helps.
    pub(crate) start: Option<(&'a [f64], f64)>,
    /// What it has in common with others.
    pub(crate) common: Option<&'a Shared>,
    /// α and b of the same examples at other costs, for descents through the dual: they tell more than w does.
    pub(crate) alpha: Option<(&'a [f64], f64)>,
}

/// What problems that differ in the classes of their rows alone have in common.
pub(crate) enum Shared {
    /// The matrix of their first step.
    Normal(Normal),
    /// Their entries by column.
    Columns(Columns),
}

impl Shared {
    fn normal(&self) -> Option<&Normal> {
        if let Shared::Normal(normal) = self { Some(normal) } else { None }
    }
}

impl<R: Rows> Binary<'_, R> {
    /// Where to start: w and b in the form of a point, and all scores there.
    fn beginning(&self) -> (Vec<f64>, Vec<f64>) {
        let Some((w, b)) = self.start else {
            return (vec![0.0; self.size()], vec![0.0; self.examples.len()]);
        };
        // Winnow's planes have a threshold where others have no bias.
        let b = if self.bias.is_lifted() { b } else { 0.0 };
        let scores = certificate::scores(self, w).into_iter().map(|score| score + b).collect();
        let mut point = w.to_vec();
        point.resize(self.size(), b);
        (point, scores)
    }

    /// The same over other examples.
    fn of<'b>(&'b self, examples: &'b [Example]) -> Binary<'b, R> {
        Binary { examples, alpha: None, ..*self }
    }

    /// The rows that come a few places later, to be asked for ahead: processors foresee short rows one after the other, but not the starts of long ones, or of some that are taken side by side.
    fn ahead<'e>(&self, examples: &'e [Example]) -> &'e [Example] {
        const PLACES: usize = 8;
        /// Entries; with fewer, asking takes longer than it saves.
        const LONG: usize = 64;
        if self.x.stored_a_row() < LONG { &[] } else { examples.get(PLACES..).unwrap_or_default() }
    }

    /// Asks for one of these.
    #[inline]
    fn prefetch(&self, ahead: &[Example], at: usize) {
        if let Some(soon) = ahead.get(at) {
            self.x.prefetch(soon.row as usize);
        }
    }

    /// About how many entries all rows have, but for zeros: those of some are counted.
    fn entries(&self) -> usize {
        let every = self.examples.len().div_ceil(1024).max(1);
        let mut entries = 0;
        for example in self.examples.iter().step_by(every) {
            self.x.each(example.row as usize, |_, v| entries += if v == 0.0 { 0 } else { every });
        }
        entries
    }

    /// The same of a row, on average.
    fn entries_a_row(&self) -> f64 {
        self.entries() as f64 / self.examples.len().max(1) as f64
    }

    /// How many numbers a point has: w, and b behind it where there is one.
    fn size(&self) -> usize {
        self.x.n_cols() + usize::from(self.bias.is_lifted())
    }

    /// How many of them the norm counts.
    fn penalised(&self) -> usize {
        if self.bias == Bias::Regularized { self.size() } else { self.x.n_cols() }
    }

    /// w and b of a point.
    fn split<'p>(&self, point: &'p [f64]) -> (&'p [f64], f64) {
        match (self.bias.is_lifted(), point) {
            (true, [w @ .., b]) => (w, *b),
            _ => (point, 0.0),
        }
    }
}

/// A row's part in a binary problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Example {
    /// cᵢ, C times the weight of the row.
    pub(crate) cost: f64,
    pub(crate) row: u32,
    /// How many equal rows it stands for, with the sign of their class.
    pub(crate) signed_copies: f32,
}

impl Example {
    /// A row by itself.
    pub(crate) fn new(row: usize, cost: f64, positive: bool) -> Self {
        Example { cost, row: row as u32, signed_copies: if positive { 1.0 } else { -1.0 } }
    }

    /// yᵢ, −1 or +1.
    #[inline]
    pub(crate) fn y(&self) -> f64 {
        1f64.copysign(f64::from(self.signed_copies))
    }

    #[inline]
    pub(crate) fn is_positive(&self) -> bool {
        self.signed_copies > 0.0
    }

    pub(crate) fn copies(&self) -> u64 {
        self.signed_copies.abs() as u64
    }

    /// Another row that is equal to it, and of the same class.
    pub(crate) fn add_copy(&mut self, cost: f64) {
        self.cost += cost;
        self.signed_copies += 1f32.copysign(self.signed_copies);
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Relative duality gap.
    pub(crate) gap: f64,
    /// A step that promised less of P than this is the last one, whatever the gap; 0 to go on.
    pub(crate) gain: f64,
    /// At most so many passes over the data.
    pub(crate) passes: usize,
    pub(crate) seed: u64,
    /// A dual above this proves what was asked for impossible.
    pub(crate) dual: f64,
}

/// What a solver came to.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) w: Vec<f64>,
    pub(crate) b: f64,
    pub(crate) certificate: Certificate,
    pub(crate) passes: usize,
    pub(crate) end: End,
    /// w·x of each example, where it is known.
    pub(crate) scores: Vec<f64>,
    /// P at the start and after each step, where the solver shows it.
    pub(crate) costs: Vec<f64>,
    /// What it made use of.
    pub(crate) means: Means,
    /// The last α, of a descent through the dual.
    pub(crate) alpha: Vec<f64>,
}

impl Solution {
    fn new(Certified { w, b, certificate, scores }: Certified, passes: usize, end: End) -> Self {
        let (means, alpha) = (Means::default(), Vec::new());
        Solution { w, b, certificate, passes, end, scores, costs: Vec::new(), means, alpha }
    }

    /// The same with what else is known taken over where that is better, which may be all that was missing to a gap.
    fn improved(self, other: Certified, gap: f64) -> Self {
        let Solution { w, b, certificate, scores, .. } = self;
        let mut best = Certified { w, b, certificate, scores };
        best.improve(other);
        let end = if best.certificate.gap() <= gap { End::Converged } else { self.end };
        let Certified { w, b, certificate, scores } = best;
        Solution { w, b, certificate, scores, end, ..self }
    }

    fn certified(self) -> Certified {
        let Solution { w, b, certificate, scores, .. } = self;
        Certified { w, b, certificate, scores }
    }
}

/// What a solver made use of on its way, where only the way decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Means {
    /// Steps by a Cholesky factor.
    pub(crate) factor: bool,
    /// Steps by conjugate gradients.
    pub(crate) gradients: bool,
    /// An interior-point method, when another had stalled.
    pub(crate) interior: bool,
}

impl Means {
    /// Those of both.
    pub(crate) fn and(self, other: Means) -> Means {
        Means {
            factor: self.factor || other.factor,
            gradients: self.gradients || other.gradients,
            interior: self.interior || other.interior,
        }
    }
}

/// Weights, what they are changed by, and sums over the rows.
pub(crate) const FEW_NUMBERS: usize = 8;

/// What solves the binary problems of a learner.
pub(crate) trait Method: Sync {
    /// Which solver runs, and why.
    fn title(&self) -> String;

    /// The same when it has run: what the report says.
    fn account(&self, _means: Means) -> String {
        self.title()
    }

    /// How many numbers each problem needs for each of so many features, while it is solved.
    fn numbers(&self, _features: usize) -> usize {
        FEW_NUMBERS
    }

    /// Bytes of matrices with a row and a column for each feature, of each problem while it is solved.
    fn matrix_bytes(&self, _rows: usize, _features: usize) -> usize {
        0
    }

    /// The smallest margin that a plane without errors is looked for with, where they are not allowed: a dual above ½/γ² proves that there is none. 0 where the dual has an end.
    fn least_margin(&self, _x: &Matrix<'_>, _bias: Bias) -> f64 {
        0.0
    }

    /// Bytes of another form of the data that it makes, once for all problems over the same rows.
    fn form_bytes(&self, _x: &Matrix<'_>) -> usize {
        0
    }

    /// What problems that differ in the classes of their rows alone have in common, unless they are not to begin.
    fn common<R: Rows>(&self, _problem: &Binary<'_, R>, _monitor: &Monitor<'_>) -> Option<Shared> {
        None
    }

    /// Whether equal rows may become one of a larger cost: not where rows are drawn one by one.
    fn merges_copies(&self) -> bool {
        false
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution;
}

/// What a solver of all classes at once came to: a plane a class.
#[derive(Clone, Debug)]
pub(crate) struct JointSolution {
    pub(crate) planes: Planes,
    pub(crate) certificate: Certificate,
    pub(crate) passes: usize,
    pub(crate) end: End,
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Converged,
    Stalled,
    PassLimit,
    /// The watcher or the clock; the monitor knows which.
    Stopped,
    /// The dual passed its limit.
    Diverged,
}
