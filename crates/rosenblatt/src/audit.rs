//! Novikoff's theorem, checked at every step of a run.

use serde::Serialize;

use crate::data::{DataError, Dataset, Rows};
use crate::error::Error;
use crate::learner::{Bias, Init, Perceptron};
use crate::model::{Planes, Tie};
use crate::online::{Order, Schedule};

/// A replay of a binary perceptron beside the two inequalities of Novikoff (1962): with a separator of margin γ and rows no
/// longer than R, after k mistakes k²γ² ≤ ‖w‖² ≤ k·R², hence k ≤ (R/γ)².
///
/// The replay is naive on purpose and shares with the learner only the order of the rows: ‖w‖² is summed afresh at every update. The
/// inequalities need start 0 and a constant rate (taken out here); every tie rule makes only mistakes with y·g ≤ 0, so all
/// of them are covered.
///
/// ```
/// use rosenblatt::{Audit, Bias, Dataset, Dense, Labels, Learner, Perceptron, Tie};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { bias: Bias::None, tie: Tie::Mistake, ..Perceptron::default() };
/// let separator = learner.fit(&data, &mut ())?.model.body.planes();
/// let audit = Audit::replay(&learner, &data, &separator.expect("a plane"))?;
/// assert!(audit.holds && audit.mistakes as f64 <= audit.bound);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// γ of the separator, lifted where the bias is.
    pub margin: f64,
    /// R, lifted where the bias is.
    pub radius: f64,
    /// (R/γ)²
    pub bound: f64,
    /// k at the end.
    pub mistakes: u64,
    /// Passes replayed.
    pub passes: usize,
    /// Whether every inequality held.
    pub holds: bool,
    /// Each update.
    pub steps: Vec<AuditStep>,
}

/// The inequalities after one update.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditStep {
    /// k
    pub mistakes: u64,
    /// The pass, from 1.
    pub pass: usize,
    /// The row, from 1.
    pub row: usize,
    /// k²γ²
    pub lower: f64,
    /// ‖w‖²
    pub sq_norm: f64,
    /// k·R²
    pub upper: f64,
    /// Whether lower ≤ ‖w‖² ≤ upper, up to rounding.
    pub holds: bool,
}

/// Rounding of sums of squares stays far below this.
const SLACK: f64 = 1e-9;

impl Audit {
    /// Replays a perceptron run against a separator, given or found.
    pub fn replay(perceptron: &Perceptron, data: &Dataset<'_>, separator: &Planes) -> Result<Audit, Error> {
        check(perceptron, data, separator)?;
        let rows = lifted_rows(data, perceptron.bias != Bias::None);
        let u = lifted_normal(separator, perceptron.bias != Bias::None);
        let margin = smallest_margin(&rows, &u)?;
        let radius = rows.iter().map(|(x, _)| x.iter().map(|(_, v)| v * v).sum()).fold(0.0, f64::max).sqrt();
        let schedule = Schedule {
            passes: perceptron.passes,
            order: perceptron.order,
            seed: perceptron.seed,
            time_limit: None,
        };
        let mut audit = Audit {
            margin,
            radius,
            bound: (radius / margin).powi(2),
            mistakes: 0,
            passes: 0,
            holds: true,
            steps: Vec::new(),
        };
        let (mut w, mut order) = (vec![0.0; u.len()], schedule.order);
        for pass in 1..=schedule.passes {
            let before = audit.mistakes;
            for row in schedule.rows(pass, rows.len(), order) {
                let (x, y) = &rows[row];
                if is_mistake(perceptron.tie, *y, dot(&w, x)) {
                    x.iter().for_each(|&(j, v)| w[j] += y * v);
                    audit.note(pass, row, sq_norm(&w));
                }
            }
            audit.passes = pass;
            // As in a fit, a quiet pass of random draws is confirmed by one over all rows.
            let quiet = audit.mistakes == before;
            if quiet && order != Order::Random {
                break;
            }
            order = if quiet { Order::Cyclic } else { schedule.order };
        }
        audit.holds &= audit.mistakes as f64 <= audit.bound * (1.0 + SLACK);
        Ok(audit)
    }

    fn note(&mut self, pass: usize, row: usize, sq_norm: f64) {
        self.mistakes += 1;
        let k = self.mistakes as f64;
        let (lower, upper) = ((k * self.margin).powi(2), k * self.radius.powi(2));
        let holds = lower <= sq_norm * (1.0 + SLACK) && sq_norm <= upper * (1.0 + SLACK);
        self.holds &= holds;
        let row = row + 1;
        self.steps.push(AuditStep { mistakes: self.mistakes, pass, row, lower, sq_norm, upper, holds });
    }
}

fn check(perceptron: &Perceptron, data: &Dataset<'_>, separator: &Planes) -> Result<(), Error> {
    let unsuitable = |what: &str| Err(DataError::Unsuitable(what.to_owned()).into());
    if data.classes().len() != 2 || separator.k() != 1 {
        return unsuitable("the mistake bound is audited for two classes and one hyperplane");
    }
    if separator.n_cols() != data.n_features() {
        let (found, expected) = (separator.n_cols(), data.n_features());
        return Err(DataError::Features { found, expected }.into());
    }
    if perceptron.init != Init::Zero {
        return unsuitable("the mistake bound is proved for weights that start at zero");
    }
    if data.weights().is_some() || perceptron.class_weight.is_some() {
        return unsuitable("the mistake bound is audited for examples that count once each");
    }
    Ok(())
}

fn is_mistake(tie: Tie, y: f64, g: f64) -> bool {
    match tie {
        Tie::Mistake => y * g <= 0.0,
        Tie::Negative => (g > 0.0) != (y > 0.0),
        Tie::Positive => (g >= 0.0) != (y > 0.0),
    }
}

/// A lifted row as (column, value) pairs, and its sign.
type Row = (Vec<(usize, f64)>, f64);

fn lifted_rows(data: &Dataset<'_>, lifted: bool) -> Vec<Row> {
    let row = |i: usize| {
        let mut x = Vec::new();
        data.x().each(i, |j, v| x.push((j, v)));
        x.extend(lifted.then_some((data.n_features(), 1.0)));
        (x, if data.y()[i] == 1 { 1.0 } else { -1.0 })
    };
    (0..data.n_rows()).map(row).collect()
}

fn lifted_normal(separator: &Planes, lifted: bool) -> Vec<f64> {
    let mut u = separator.normal(0);
    u.extend(lifted.then_some(separator.bias()[0]));
    u
}

fn smallest_margin(rows: &[Row], u: &[f64]) -> Result<f64, DataError> {
    let length = sq_norm(u).sqrt();
    let margins = rows.iter().map(|(x, y)| y * dot(u, x) / length);
    let (worst, margin) = margins
        .enumerate()
        .fold((0, f64::INFINITY), |(at, low), (i, m)| if m < low || m.is_nan() { (i, m) } else { (at, low) });
    if margin > 0.0 && margin.is_finite() {
        return Ok(margin);
    }
    Err(DataError::Unsuitable(format!(
        "row {}: the hyperplane does not separate the classes (margin {margin:.3e}), so there is no bound to audit",
        worst + 1
    )))
}

fn dot(w: &[f64], x: &[(usize, f64)]) -> f64 {
    x.iter().map(|&(j, v)| w[j] * v).sum()
}

fn sq_norm(w: &[f64]) -> f64 {
    w.iter().map(|w| w * w).sum()
}
