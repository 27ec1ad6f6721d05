//! How a fit went.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calibration::Calibrated;
use crate::data::{Classes, Fingerprint};
use crate::online::Problem;
use crate::select::Selection;
use crate::solver::Slacks;

/// How a run ended. Every status comes with a usable model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A whole pass changed nothing.
    Converged,
    /// All passes were used up.
    #[default]
    PassLimit,
    /// The time was used up.
    TimeLimit,
    /// The watcher stopped it.
    Interrupted,
    /// No progress can be made.
    Stalled,
    /// The data is proved inseparable.
    Inseparable,
}

impl Status {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::PassLimit => "pass_limit",
            Status::TimeLimit => "time_limit",
            Status::Interrupted => "interrupted",
            Status::Stalled => "stalled",
            Status::Inseparable => "inseparable",
        }
    }
}

/// One pass over the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// Counted from 1.
    pub pass: usize,
    /// Wrong predictions made while learning, over all sub-problems.
    pub mistakes: u64,
    /// Changes of the weights.
    pub updates: u64,
    /// Accuracy on the training rows after the pass.
    pub train_accuracy: Option<f64>,
    /// Accuracy on the held-out rows after the pass.
    pub holdout_accuracy: Option<f64>,
}

/// How one binary problem of a one-vs-rest or one-vs-one fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubProblem {
    /// Such as "setosa against the rest".
    pub title: String,
    /// Passes it took.
    pub passes: usize,
    /// Updates in its last pass.
    pub last_updates: u64,
    /// Whether its last pass changed nothing, or its duality gap is as small as asked.
    pub converged: bool,
    /// Its relative duality gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Its primal objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primal: Option<f64>,
    /// Its dual objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dual: Option<f64>,
    /// Its support vectors, where its loss has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_vectors: Option<u64>,
    /// Where its examples lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slacks: Option<Slacks>,
}

impl SubProblem {
    pub(crate) fn of(problem: &Problem, classes: &Classes) -> Self {
        SubProblem {
            title: problem.target.title(classes),
            passes: problem.passes,
            last_updates: problem.last_updates,
            converged: problem.converged,
            gap: None,
            primal: None,
            dual: None,
            support_vectors: None,
            slacks: None,
        }
    }
}

/// What happened in a fit. Holds no times, so that equal runs give equal bytes. What has no meaning for an algorithm is `None`.
///
/// Files of older versions lack the fields that came later, which then have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Report {
    /// The name in the registry.
    pub algorithm: String,
    /// The exact objective or rule, in one line.
    pub objective: String,
    /// All parameters, as given.
    pub parameters: Value,
    /// How it ended.
    pub status: Status,
    /// Each pass.
    pub passes: Vec<Pass>,
    /// The pass whose model was kept, where held-out data chose it.
    pub best_pass: Option<usize>,
    /// Wrong predictions made while learning.
    pub mistakes: u64,
    /// Changes of the weights.
    pub updates: u64,
    /// Training rows.
    pub rows: u64,
    /// Accuracy of the model on the training rows, by weight; `None` if the run was stopped while it was measured.
    pub train_accuracy: Option<f64>,
    /// Accuracy of the model on the held-out rows.
    pub holdout_accuracy: Option<f64>,
    /// Primal objective.
    pub primal: Option<f64>,
    /// Dual objective.
    pub dual: Option<f64>,
    /// Relative duality gap.
    pub gap: Option<f64>,
    /// How far the optimality conditions are broken at the most, where a solver goes by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<f64>,
    /// What rows that were left out say of the model, where it was calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibrated>,
    /// The smallest signed distance of a row from the boundary; negative if a row is on the wrong side. Of linear models with a plane a class, the smallest
    /// (g_y(x) − g_c(x))/‖w_y − w_c‖ of a row and another class c than its own, y: the distance from the boundary between these two.
    pub margin: Option<f64>,
    /// 2/‖w‖, how far the planes g(x) = −1 and g(x) = 1 are apart: the width that support vector machines of two classes make large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corridor: Option<f64>,
    /// The same with the bias counted among the weights: the γ of the mistake bound.
    pub lifted_margin: Option<f64>,
    /// The largest length of a row, lifted where the bias is.
    pub radius: Option<f64>,
    /// (R/γ)², where the run is one for which the bound is proved and the weights separate the data.
    pub mistake_bound: Option<f64>,
    /// Number of support vectors; losses without an edge, such as logistic, know none.
    pub support_vectors: Option<u64>,
    /// Where the examples lie, summed over the binary problems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slacks: Option<Slacks>,
    /// The solver that ran, and why it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// Whether it began from a model, of learners that can; `None` in files of older versions, which did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    /// Why the solver did not come to its end, and what to try.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnosis: Vec<String>,
    /// Passes over the data that the solver made, the most of any binary problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver_passes: Option<usize>,
    /// The objective at the start and after each step, where a solver shows them; summed over the binary problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<f64>,
    /// The search that chose the parameters, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The binary problems of a reduction.
    pub problems: Vec<SubProblem>,
    /// The data it was trained on, after scaling.
    pub data: Fingerprint,
    /// Whether it was read from a file of a version before 7: then what is not there may not have been said at all yet, where reports of today say it.
    #[serde(skip)]
    pub older: bool,
}

impl Report {
    /// Passes over the data.
    pub fn n_passes(&self) -> usize {
        self.solver_passes.unwrap_or(self.passes.len())
    }

    /// Mistakes and updates summed over the passes.
    pub(crate) fn counted(self) -> Self {
        let mistakes = self.passes.iter().map(|pass| pass.mistakes).sum();
        let updates = self.passes.iter().map(|pass| pass.updates).sum();
        Report { mistakes, updates, ..self }
    }
}
