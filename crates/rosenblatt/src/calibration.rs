//! Probabilities for models that only score, from rows they have not seen.
//!
//! A model is fitted once more for each fold, without its rows, and scores these. How far other classes then are behind the predicted one, and how often the prediction was right, tells how much a
//! unit of score is worth: a class that is b behind the predicted one is exp(−t·b) times as likely, t the slope of the largest likelihood. That is Platt's logistic curve (1999), but through ½
//! at the boundary, so that the class with the largest probability is always the one that is predicted; the slopes on both sides of a boundary between two classes differ.
//! With more classes it is temperature scaling (Guo, Pleiss, Sun, Weinberger 2017).

pub(crate) mod isotonic;
pub(crate) mod platt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::clock::{Deadline, Until};
use crate::data::{Dataset, stratified_folds};
use crate::error::{Error, ParamError};
use crate::learner::{Fit, Learner, Task};
use crate::model::{Decision, Link};
use crate::report::Status;
use crate::watch::Watch;

/// The form of what turns scores into probabilities. None of them contradicts a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationMethod {
    /// A logistic curve through ½ at the boundary: a slope, with two classes one on each side.
    #[default]
    Slope,
    /// Platt's logistic curve: a slope, and an offset for each class. Where it would make another class more likely than the predicted one, both are as likely.
    Platt,
    /// A curve that never falls, of any form; with two classes at most ½ on one side of the boundary and at least ½ on the other. It needs many rows, about a thousand or more.
    Isotonic,
}

impl CalibrationMethod {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_slope(&self) -> bool {
        *self == CalibrationMethod::Slope
    }
}

/// Cross-fitting of a learner: what turns its scores into probabilities.
///
/// ```
/// use rosenblatt::{Calibration, Dataset, Dense, Labels, LinearSvm, Task};
/// let values: Vec<f64> = (0..40).map(|i| f64::from(i % 20) - 10.0).collect();
/// let labels = (0..40).map(|i| if i % 20 >= 10 || i == 3 { "yes" } else { "no" });
/// let data = Dataset::new(Dense::new(values, 1)?, &Labels::new(labels))?;
/// let fit = Calibration { folds: 4, ..Calibration::default() }.learn(&LinearSvm::default(), &Task::new(&data), &mut ())?;
/// let scores = fit.model.scores(&Dense::new(vec![8.0], 1)?.into())?;
/// assert!(fit.model.probabilities(&scores).expect("it is calibrated")[1] > 0.7);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// The form of the curve.
    pub method: CalibrationMethod,
    /// Parts of the rows, each left out once.
    pub folds: usize,
    /// Fixes which rows are in which part.
    pub seed: u64,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration { method: CalibrationMethod::Slope, folds: 5, seed: 0 }
    }
}

/// What rows that were left out say of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// The form of the curve.
    #[serde(default, skip_serializing_if = "CalibrationMethod::is_slope")]
    pub method: CalibrationMethod,
    /// Parts of the rows, each left out once.
    pub folds: usize,
    /// The share of rows that were predicted right while they were left out, by weight.
    pub accuracy: f64,
    /// The mean of −log p of their classes.
    pub log_loss: f64,
}

/// A row that was left out.
pub(crate) struct Seen {
    /// How far each class is behind the predicted one.
    pub(crate) behind: Vec<f64>,
    pub(crate) predicted: usize,
    pub(crate) class: usize,
    pub(crate) weight: f64,
}

impl Calibration {
    /// Learns from a task as the learner would, and then what its scores are worth. A run that is stopped has a model, but no probabilities; a time limit is that of all fits together.
    pub fn learn(&self, learner: &dyn Learner, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        let rows = task.data.n_rows();
        let fits = (2..=rows).contains(&self.folds);
        ParamError::unless(fits, "calibrate", &format!("must be from 2 to the number of rows, {rows}"))?;
        let limit = learner.parameters().get("time_limit").and_then(serde_json::Value::as_f64);
        let deadline = Deadline::after(limit.unwrap_or(f64::INFINITY));
        let mut fit = learner.learn(task, watch)?;
        if is_stopped(&fit) {
            return Ok(fit);
        }
        let watch = &mut Until { deadline, watch };
        let folds = self.folds_of(task.data);
        let mut seen = Vec::with_capacity(rows);
        for fold in 0..self.folds {
            if deadline.is_over() {
                return Ok(fit);
            }
            match leave_out(learner, task, &folds, fold, watch)? {
                Some(more) => seen.extend(more),
                None => return Ok(fit),
            }
        }
        if seen.is_empty() {
            return Ok(fit);
        }
        let link = match self.method {
            CalibrationMethod::Slope => slopes(&seen, fit.model.decision),
            CalibrationMethod::Platt => platt::fit(&seen)?,
            CalibrationMethod::Isotonic => isotonic::fit(&seen),
        };
        fit.report.calibration = Some(self.judge(&seen, &link));
        fit.model.link = Some(link);
        Ok(fit)
    }

    fn judge(&self, seen: &[Seen], link: &Link) -> Calibrated {
        let weight: f64 = seen.iter().map(|row| row.weight).sum();
        let right: f64 = seen.iter().filter(|row| row.predicted == row.class).map(|row| row.weight).sum();
        let loss = |row: &Seen| {
            -row.weight * link.shares(row.predicted, &row.behind)[row.class].max(f64::MIN_POSITIVE).ln()
        };
        let log_loss = seen.iter().map(loss).sum::<f64>() / weight;
        Calibrated { method: self.method, folds: self.folds, accuracy: right / weight, log_loss }
    }

    /// The fold of each row that counts; of classes with a single one none, for nothing could be learned of them.
    fn folds_of(&self, data: &Dataset<'_>) -> Vec<Option<usize>> {
        let counted: Vec<usize> = (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0).collect();
        let y: Vec<u32> = counted.iter().map(|&row| data.y()[row]).collect();
        let mut counts = vec![0; data.classes().len()];
        y.iter().for_each(|&class| counts[class as usize] += 1);
        let mut folds = vec![None; data.n_rows()];
        for ((&row, class), fold) in counted.iter().zip(&y).zip(stratified_folds(&y, self.folds, self.seed)) {
            folds[row] = (counts[*class as usize] > 1).then_some(fold);
        }
        folds
    }
}

fn is_stopped(fit: &Fit) -> bool {
    fit.report.status == Status::Interrupted
}

/// Fits without the rows of a fold and looks at these; nothing if it was stopped.
fn leave_out(
    learner: &dyn Learner,
    task: &Task<'_>,
    folds: &[Option<usize>],
    fold: usize,
    watch: &mut dyn Watch,
) -> Result<Option<Vec<Seen>>, Error> {
    let data = task.data;
    let is_out = |row: &usize| folds[*row] == Some(fold);
    let out: Vec<usize> = (0..data.n_rows()).filter(is_out).collect();
    if out.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let weights = (0..data.n_rows()).map(|row| if is_out(&row) { 0.0 } else { data.weight(row) }).collect();
    let rest = data.reweighted(weights)?;
    // Whatever it could start from has seen these rows.
    let fit = learner.learn(&Task { data: &rest, holdout: None, start: None, ..*task }, watch)?;
    if is_stopped(&fit) {
        return Ok(None);
    }
    let (x, body) = (data.x().select(&out), fit.model.body.watched());
    let scores = body.scores(&x);
    body.sound(&x, 0)?;
    let n_classes = data.classes().len();
    let of_row = scores.chunks(fit.model.decision.n_scores(n_classes));
    let seen = out.iter().zip(of_row).map(|(&row, scores)| {
        let (predicted, behind) = fit.model.decision.behind(scores, n_classes);
        Seen { behind, predicted, class: data.y()[row] as usize, weight: data.weight(row) }
    });
    Ok(Some(seen.collect()))
}

/// The slope of all rows, and for two classes that of the rows on each side.
fn slopes(seen: &[Seen], decision: Decision) -> Link {
    let all: Vec<&Seen> = seen.iter().collect();
    let mean = mean_behind(&all);
    let classes = seen.first().map_or(2, |row| row.behind.len());
    // Laplace's rule of succession keeps the slope finite where all were right, and away from 0.
    let common = slope(&all, mean, Prior { classes, behind: mean, wrong: 0.5 });
    if !matches!(decision, Decision::Sign(_)) {
        return Link::Calibrated { below: common, above: common };
    }
    let prior = Prior { classes, behind: mean, wrong: 1.0 - shares(0, &[0.0, mean], common)[0] };
    let side = |class: usize| {
        let rows: Vec<&Seen> = seen.iter().filter(|row| row.predicted == class).collect();
        slope(&rows, mean, prior)
    };
    Link::Calibrated { below: side(0), above: side(1) }
}

/// Two rows more that all but the predicted class are so far behind in, with the share of them that is wrong.
#[derive(Clone, Copy)]
struct Prior {
    classes: usize,
    behind: f64,
    wrong: f64,
}

/// How far the other classes are behind on average.
fn mean_behind(rows: &[&Seen]) -> f64 {
    let others = |row: &Seen| (row.behind.len() - 1).max(1) as f64;
    let sum: f64 = rows.iter().map(|row| row.weight * row.behind.iter().sum::<f64>() / others(row)).sum();
    let weight: f64 = rows.iter().map(|row| row.weight).sum();
    let mean = sum / weight;
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

/// Where Σ weight·(behind of its class − mean of behind by p), the derivative of −log likelihood, which rises with the slope, passes 0.
fn slope(rows: &[&Seen], mean: f64, prior: Prior) -> f64 {
    /// Times 1 / mean: flatter, or steeper, no sample tells.
    const RANGE: (f64, f64) = (1e-6, 1e6);
    const HALVINGS: usize = 50;
    let mut pseudo = vec![prior.behind; prior.classes];
    pseudo[0] = 0.0;
    let expected = |predicted: usize, behind: &[f64], t: f64| -> f64 {
        shares(predicted, behind, t).iter().zip(behind).map(|(p, b)| p * b).sum()
    };
    let rises = |t: f64| {
        let one =
            |row: &&Seen| row.weight * (row.behind[row.class] - expected(row.predicted, &row.behind, t));
        // Blocks of their own, so that threads do not show.
        let parts: Vec<f64> = rows.par_chunks(4096).map(|rows| rows.iter().map(one).sum()).collect();
        parts.iter().sum::<f64>() + 2.0 * (prior.wrong * prior.behind - expected(0, &pseudo, t)) > 0.0
    };
    let (mut low, mut high) = ((RANGE.0 / mean).ln(), (RANGE.1 / mean).ln());
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if rises(middle.exp()) { &mut high } else { &mut low }) = middle;
    }
    (0.5 * (low + high)).exp()
}

/// The probability of each class, given how far it is behind the predicted one, which is always ahead, were it by the last digit.
pub(crate) fn shares(predicted: usize, behind: &[f64], slope: f64) -> Vec<f64> {
    const LEAST: f64 = 1e-15;
    let weight = |(c, b): (usize, &f64)| if c == predicted { 1.0 } else { (-(slope * b).max(LEAST)).exp() };
    let weights: Vec<f64> = behind.iter().enumerate().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Shares as probabilities, the predicted class's being the largest, were it by the last digits.
fn ahead(predicted: usize, mut shares: Vec<f64>) -> Vec<f64> {
    const LEAST: f64 = 1e-15;
    let others = shares.iter().enumerate().filter(|(c, _)| *c != predicted);
    let most = others.map(|(_, share)| *share).fold(f64::MIN_POSITIVE, f64::max);
    shares[predicted] = shares[predicted].max(most * (1.0 + 4.0 * LEAST));
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|share| share / sum).collect()
}
