//! What a model claims, recomputed on the data.
//!
//! Figures that follow from model and data are computed anew by naive code of its own ([`naive`], [`objective`], [`dual`]). A lower bound of the objective may come from anywhere, a solver included: it is
//! believed because its dual point is evaluated here. How the run went (passes, updates, mistakes) can only be seen by making it again ([`replay`]).

mod claim;
mod dual;
mod naive;
mod objective;
mod replay;

pub use claim::{Claim, Verdict, Verification};

use std::time::{Duration, Instant};

use claim::{Claims, figure};
use dual::{Multipliers, Problem, joint_ascend, joint_bound_at};
use naive::Known;
use objective::{Loss, Objective, Parts, class_scores, lead};
use serde_json::{Map, Value};

use crate::data::Dataset;
use crate::error::Error;
use crate::learner::{Fit, Task};
use crate::model::{Body, Decision};
use crate::registry::algorithm;
use crate::report::{Report, Status};
use crate::solver::Slacks;
use crate::watch::{Progress, Watch};

/// Holds a model against data.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm, Verifier};
/// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
/// let mut fit = LinearSvm::default().fit(&data, &mut ())?;
/// assert!(Verifier::default().verify(&fit, &data, &mut ())?.holds());
/// fit.report.margin = Some(2.0);
/// assert!(!Verifier::default().verify(&fit, &data, &mut ())?.holds());
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Verifier {
    /// C of models that do not say it, as those of other programs.
    pub c: Option<f64>,
    /// Make the run again and compare; takes as long as it took.
    pub replay: bool,
    /// Seconds to look for a lower bound of the objective.
    pub time_limit: f64,
}

impl Default for Verifier {
    fn default() -> Self {
        Verifier { c: None, replay: true, time_limit: 60.0 }
    }
}

/// Numbers from sums in another order agree to this, relative; those from kernel values in single precision to the second.
const ROUNDING: [f64; 2] = [1e-9, 2e-5];
/// A bound confirms another from this share of the gap on.
const SHARE: f64 = 0.01;
/// A gap below this is as good as this.
const SMALL: f64 = 1e-5;

impl Verifier {
    /// Holds a fit against data as they are read, not scaled or mapped yet, with the model's classes.
    pub fn verify(
        &self,
        fit: &Fit,
        data: &Dataset<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Verification, Error> {
        self.verify_with(fit, data, None, watch)
    }

    /// The same where rows were held out.
    pub fn verify_with(
        &self,
        fit: &Fit,
        data: &Dataset<'_>,
        holdout: Option<&Dataset<'_>>,
        watch: &mut dyn Watch,
    ) -> Result<Verification, Error> {
        let Fit { model, report } = fit;
        let rows = prepared(fit, data)?;
        let mut claims = Claims::new();
        let same = self.data(&mut claims, report, &rows);
        match Known::of(&model.body) {
            Some(known) => self.figures(&mut claims, fit, &rows, &known, watch)?,
            None => {
                let predicted = model.body.predict(model.decision, model.classes.len(), rows.x());
                claims.rate(
                    "accuracy",
                    report.train_accuracy,
                    accuracy(&rows, |i| predicted[i] as usize),
                    0.0,
                );
            }
        }
        if let Some(holdout) = holdout {
            let rows = prepared(fit, holdout)?;
            let predicted = model.body.predict(model.decision, model.classes.len(), rows.x());
            let found = accuracy(&rows, |i| predicted[i] as usize);
            claims.rate("accuracy, held out", report.holdout_accuracy, found, 0.0);
        }
        if self.replay && same {
            replay::compare(&mut claims, fit, data, holdout, watch)?;
        }
        Ok(claims.finish())
    }

    /// Whether these are the rows it was trained on.
    fn data(&self, claims: &mut Claims, report: &Report, rows: &Dataset<'_>) -> bool {
        let (claimed, found) = (&report.data, rows.fingerprint());
        if claimed.hash.is_empty() {
            return false;
        }
        let shown = |rows: u64, features: u64, hash: &str| {
            format!("{rows} × {features}, {}", &hash[..hash.len().min(12)])
        };
        let verdict = Verdict::of(*claimed == found && report.rows == found.rows);
        claims.push(
            "data",
            shown(report.rows, claimed.features, &claimed.hash),
            shown(found.rows, found.features, &found.hash),
            verdict,
        );
        verdict == Verdict::Held
    }

    fn figures(
        &self,
        claims: &mut Claims,
        fit: &Fit,
        rows: &Dataset<'_>,
        known: &Known,
        watch: &mut dyn Watch,
    ) -> Result<(), Error> {
        let Fit { model, report } = fit;
        let rounding = ROUNDING[usize::from(known.is_kernel())];
        if let Known::Kernel { stored, .. } = known {
            claims.close("γ of the kernel", gamma_said(&report.parameters), stored.gamma(), 0.0);
        }
        let scores = known.scores(rows.x());
        let of_row = |i: usize| scores.iter().map(|plane| plane[i]).collect::<Vec<f64>>();
        // Rows so near to a boundary that rounding decides.
        let size = scores.iter().flatten().fold(0.0, |most: f64, g| most.max(g.abs()));
        let near = |i: usize| scores.iter().any(|plane| plane[i].abs() <= rounding * size);
        let doubtful = (0..rows.n_rows()).filter(|&i| near(i)).map(|i| rows.weight(i)).sum::<f64>();
        let total: f64 = (0..rows.n_rows()).map(|i| rows.weight(i)).sum();
        let found = accuracy(rows, |i| model.decide(&of_row(i)));
        claims.rate("accuracy", report.train_accuracy, found, doubtful / total.max(f64::MIN_POSITIVE));
        let squares = known.sq_norms(rows.x());
        if let Decision::Sign(_) = model.decision {
            self.geometry(claims, report, rows, known, (&scores[0], squares[0]), rounding);
        }
        let mut parameters = report.parameters.clone();
        let assumed = self.assumed_c(report, known);
        if let (Some(c), Value::Object(map)) = (assumed, &mut parameters) {
            map.insert("c".to_owned(), c.into());
        }
        let hair = rounding * size.max(1.0);
        let Some(objective) = Objective::of(&report.algorithm, &parameters, rows, hair)? else {
            return Ok(());
        };
        let point = Certified { objective: &objective, known, scores: &scores, squares: &squares, rounding };
        point.slacks(claims, report.slacks);
        let primal = objective.primal(known, &scores, &squares);
        let total: f64 = primal.iter().sum();
        claims.close("primal", report.primal, total, rounding);
        let wanted = wanted(report, &primal);
        let search =
            Search { verifier: self, fit, rows, parameters: &parameters, wanted: &wanted, primal: total };
        let (dual, violation) = search.bound(&point, watch)?;
        claims.dual(report, total, dual, rounding.max(SHARE * report.gap.unwrap_or(0.0).max(SMALL)));
        claims.gap(report, total, &primal, rounding);
        if let (Status::Converged, Some(gap), Some(asked)) =
            (report.status, report.gap, parameters.get("gap").and_then(Value::as_f64))
        {
            claims.push(
                "converged",
                format!("gap ≤ {}", figure(asked)),
                figure(gap),
                Verdict::of(gap <= asked),
            );
        }
        if let (Some(claimed), Some(found)) = (report.violation, violation) {
            let tolerance = parameters.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-3);
            let allowed = 0.2 * tolerance + rounding * size;
            claims.push(
                "KKT violation",
                figure(claimed),
                figure(found),
                Verdict::of((found - claimed).abs() <= allowed),
            );
        }
        if let (Some(claimed), true) = (report.support_vectors, known.is_kernel())
            && let Some(found) = support_vectors(fit, known, rows, &objective)
        {
            // A solver counts copies of a stored row only where it made them one.
            let stored = known.planes().first().map_or(0, |(a, _)| a.len() as u64);
            let shown = if stored < found { format!("{stored} to {found}") } else { found.to_string() };
            claims.push(
                "support vectors",
                claimed.to_string(),
                shown,
                Verdict::of((stored..=found).contains(&claimed)),
            );
        }
        claims.assume(assumed);
        claims.optimum(total, dual);
        Ok(())
    }

    /// C, where the model does not say it: what was given, the largest multiplier of a machine, which is at its bound if any is, or 1.
    fn assumed_c(&self, report: &Report, known: &Known) -> Option<f64> {
        let says = |name: &str| report.parameters.get(name).is_some_and(|value| !value.is_null());
        let priced = !matches!(report.algorithm.as_str(), "hard-margin");
        if says("c") || says("lambda") || !priced {
            return None;
        }
        let largest =
            || known.planes().iter().flat_map(|(a, _)| a).fold(0.0, |most: f64, a| most.max(a.abs()));
        self.c.or_else(|| known.is_kernel().then(largest)).or(Some(1.0))
    }

    fn geometry(
        &self,
        claims: &mut Claims,
        report: &Report,
        rows: &Dataset<'_>,
        known: &Known,
        (scores, square): (&[f64], f64),
        rounding: f64,
    ) {
        let radius = known.radius(rows.x());
        let sign = |i: usize| if rows.y()[i] == 1 { 1.0 } else { -1.0 };
        let smallest = (0..rows.n_rows()).map(|i| sign(i) * scores[i]).fold(f64::INFINITY, f64::min);
        let (square, lift) = (square.max(0.0), known.lift(0));
        let (norm, lifted) = (square.sqrt(), (square + lift * lift).sqrt());
        // A margin is a difference of numbers as large as R.
        let allowed = |found: f64| rounding * (1.0 + radius / found.abs().max(f64::MIN_POSITIVE));
        claims.close("margin", report.margin, smallest / norm, allowed(smallest / norm));
        claims.close(
            "margin with the bias",
            report.lifted_margin,
            smallest / lifted,
            allowed(smallest / lifted),
        );
        claims.close("radius", report.radius, radius, rounding);
        let bound = (radius / (smallest / lifted)).powi(2);
        claims.close("mistake bound", report.mistake_bound, bound, 4.0 * allowed(smallest / lifted));
        if let (Some(bound), Some(online)) =
            (report.mistake_bound, algorithm(&report.algorithm).map(|row| row.online))
            && online
        {
            let shown = format!("{} ≤ {}", report.mistakes, figure(bound));
            claims.push(
                "mistakes within the bound",
                shown.clone(),
                shown,
                Verdict::of(report.mistakes as f64 <= bound),
            );
        }
    }
}

/// γ by itself or by σ.
fn gamma_said(parameters: &Value) -> Option<f64> {
    let number = |name: &str| parameters.get(name).and_then(Value::as_f64);
    number("gamma").or_else(|| number("sigma").map(|sigma| 1.0 / (2.0 * sigma * sigma)))
}

/// Rows as the learner saw them.
fn prepared(fit: &Fit, data: &Dataset<'_>) -> Result<Dataset<'static>, Error> {
    let all: Vec<usize> = (0..data.n_rows()).collect();
    let x = fit.model.prepare(data.x())?.select(&all);
    let rows = Dataset::with_classes(x, data.y().to_vec(), data.classes().clone())?;
    Ok(match data.weights() {
        Some(weights) => rows.with_weights(weights.to_vec())?,
        None => rows,
    })
}

/// By weight.
fn accuracy(rows: &Dataset<'_>, predict: impl Fn(usize) -> usize) -> f64 {
    let all: f64 = (0..rows.n_rows()).map(|i| rows.weight(i)).sum();
    let right = (0..rows.n_rows()).filter(|&i| predict(i) == rows.y()[i] as usize).map(|i| rows.weight(i));
    if all > 0.0 { right.sum::<f64>() / all } else { 0.0 }
}

/// The dual value of each problem that its gap stands for.
fn wanted(report: &Report, primal: &[f64]) -> Vec<f64> {
    let gaps: Vec<Option<f64>> = match report.problems.len() == primal.len() {
        true => report.problems.iter().map(|problem| problem.gap).collect(),
        false => vec![report.gap; primal.len()],
    };
    primal.iter().zip(gaps).map(|(p, gap)| gap.map_or(f64::INFINITY, |gap| p * (1.0 - gap))).collect()
}

/// What follows from an objective and the scores.
struct Certified<'a> {
    objective: &'a Objective,
    known: &'a Known,
    scores: &'a [Vec<f64>],
    /// ‖w‖² of each plane.
    squares: &'a [f64],
    rounding: f64,
}

impl Certified<'_> {
    /// Where rows lie about the margin; those next to a limit may be counted on either side.
    fn slacks(&self, claims: &mut Claims, claimed: Option<Slacks>) {
        let Some(claimed) = claimed else { return };
        let (mut found, mut doubtful) = (Slacks::default(), 0);
        let mut count = |margin: f64| {
            found.count(margin, 1);
            let limits = [0.0, 1.0 - 1e-3];
            doubtful += u64::from(limits.iter().any(|limit| (margin - limit).abs() <= 100.0 * self.rounding));
        };
        match &self.objective.parts {
            Parts::Binary(problems) => {
                for (rows, scores) in problems.iter().zip(self.scores) {
                    rows.iter()
                        .filter(|(i, _)| self.objective.counts(*i))
                        .for_each(|&(i, y)| count(y * scores[i]));
                }
            }
            Parts::Joint(classes) => (0..classes.len())
                .filter(|&i| self.objective.counts(i))
                .for_each(|i| count(lead(&class_scores(self.scores, i), classes[i]))),
        }
        let shown = |s: Slacks| format!("{} outside, {} inside, {} wrong", s.outside, s.inside, s.wrong_side);
        let apart = |a: u64, b: u64| a.abs_diff(b) <= doubtful;
        let held = apart(claimed.outside, found.outside)
            && apart(claimed.inside, found.inside)
            && apart(claimed.wrong_side, found.wrong_side)
            && claimed.outside + claimed.inside + claimed.wrong_side
                == found.outside + found.inside + found.wrong_side;
        claims.push("slacks", shown(claimed), shown(found), Verdict::of(held));
    }
}

/// How many rows equal a stored one.
fn support_vectors(fit: &Fit, known: &Known, rows: &Dataset<'_>, objective: &Objective) -> Option<u64> {
    let Body::Kernel(expansion) = &fit.model.body else { return None };
    let multipliers = Multipliers::of(known, expansion.numbers(), rows.x(), rows.y())?;
    let used: std::collections::HashSet<usize> =
        expansion.numbers().iter().map(|&number| multipliers.first[number as usize]).collect();
    let counts = |&i: &usize| objective.counts(i) && used.contains(&multipliers.first[i]);
    Some((0..rows.n_rows()).filter(counts).count() as u64)
}

/// A dual value, and by how much the optimality conditions are broken, where that is known.
type Judged = (f64, Option<f64>);

/// For a lower bound that is large enough.
struct Search<'a> {
    verifier: &'a Verifier,
    fit: &'a Fit,
    rows: &'a Dataset<'a>,
    parameters: &'a Value,
    /// Of each problem.
    wanted: &'a [f64],
    primal: f64,
}

impl Search<'_> {
    /// The best bound that was found, and how far the model's own multipliers break the optimality conditions.
    fn bound(&self, point: &Certified<'_>, watch: &mut dyn Watch) -> Result<(f64, Option<f64>), Error> {
        let deadline = Instant::now() + Duration::from_secs_f64(self.verifier.time_limit.clamp(0.0, 1e9));
        if point.known.is_kernel() {
            return self.by_multipliers(point, watch);
        }
        let own = self.by_scores(point.objective, point.scores);
        let enough: f64 = self.wanted.iter().sum();
        if own >= enough {
            return Ok((own, None));
        }
        let mut go_on = || Instant::now() < deadline && watch.progress(&Progress::default()).is_continue();
        let better = match (point.objective.loss, &point.objective.parts) {
            (Loss::Hinge | Loss::Hard, Parts::Binary(problems)) => {
                let x = self.rows.x();
                let ascend = |(rows, &wanted): (&Vec<_>, &f64)| {
                    Problem::of(point.objective, x, rows).ascend(wanted, &mut go_on)
                };
                problems.iter().zip(self.wanted).map(ascend).sum()
            }
            (Loss::Hinge, Parts::Joint(_)) => {
                let k = self.rows.classes().len();
                joint_ascend(point.objective, self.rows.x(), k, self.wanted[0], &mut go_on)
            }
            _ => match self
                .solved(enough, deadline, watch)?
                .as_ref()
                .and_then(|fit| Known::of(&fit.model.body))
            {
                Some(known) => self.by_scores(point.objective, &known.scores(self.rows.x())),
                None => f64::NEG_INFINITY,
            },
        };
        Ok((own.max(better), None))
    }

    /// What the scores of a point of smooth loss prove.
    fn by_scores(&self, objective: &Objective, scores: &[Vec<f64>]) -> f64 {
        match &objective.parts {
            Parts::Binary(problems) => {
                let bound = |(rows, scores): (&Vec<_>, &Vec<f64>)| {
                    Problem::of(objective, self.rows.x(), rows).bound_at(scores)
                };
                problems.iter().zip(scores).map(bound).sum()
            }
            Parts::Joint(_) if objective.loss == Loss::Logistic => {
                joint_bound_at(objective, self.rows.x(), scores)
            }
            Parts::Joint(_) => f64::NEG_INFINITY,
        }
    }

    /// Kernel machines have their multipliers with them; where these are not good enough, those of a fit are taken.
    fn by_multipliers(
        &self,
        point: &Certified<'_>,
        watch: &mut dyn Watch,
    ) -> Result<(f64, Option<f64>), Error> {
        let own = self.judged(self.fit, point);
        let dual = |of: Option<Judged>| of.map_or(f64::NEG_INFINITY, |(dual, _)| dual);
        let violation = own.and_then(|(_, violation)| violation);
        let enough: f64 = self.wanted.iter().sum();
        let share = SHARE * self.fit.report.gap.unwrap_or(0.0).max(1e-6) * self.primal.abs();
        if dual(own) >= enough - share {
            return Ok((dual(own), violation));
        }
        let deadline = Instant::now() + Duration::from_secs_f64(self.verifier.time_limit.clamp(0.0, 1e9));
        let better = self.solved(enough, deadline, watch)?.and_then(|fit| {
            let known = Known::of(&fit.model.body)?;
            let (scores, squares) = (known.scores(self.rows.x()), known.sq_norms(self.rows.x()));
            self.judged(&fit, &Certified { known: &known, scores: &scores, squares: &squares, ..*point })
        });
        Ok((dual(own).max(dual(better)), violation))
    }

    fn judged(&self, fit: &Fit, point: &Certified<'_>) -> Option<Judged> {
        let (Body::Kernel(expansion), Certified { objective, known, scores, squares, .. }) =
            (&fit.model.body, point)
        else {
            return None;
        };
        let multipliers = Multipliers::of(known, expansion.numbers(), self.rows.x(), self.rows.y())?;
        match &objective.parts {
            Parts::Binary(problems) => {
                let mut all = (0.0, Some(0.0f64));
                for (p, rows) in problems.iter().enumerate() {
                    let plane = (squares[p], known.planes()[p].1);
                    let (dual, violation) = multipliers.judge(objective, rows, p, &scores[p], plane)?;
                    all.0 += dual;
                    all.1 = all.1.zip(violation).map(|(most, violation)| most.max(violation));
                }
                Some(all)
            }
            Parts::Joint(classes) => {
                multipliers.judge_joint(objective, classes, squares, known).map(|dual| (dual, None))
            }
        }
    }

    /// A fit of the same objective that is nearer to the optimum: only its point is used, and judged here.
    fn solved(&self, enough: f64, deadline: Instant, watch: &mut dyn Watch) -> Result<Option<Fit>, Error> {
        let (Some(row), Value::Object(given)) = (algorithm(&self.fit.report.algorithm), self.parameters)
        else {
            return Ok(None);
        };
        let mut given: Map<String, Value> = replay::settable(row, given);
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64().max(1e-3);
        let gap = if enough.is_finite() { (self.primal - enough) / self.primal } else { 1e-4 };
        given.insert("gap".to_owned(), (SHARE * gap).clamp(1e-9, 1e-2).into());
        given.insert("time_limit".to_owned(), left.into());
        given.retain(|name, _| name != "passes");
        let Ok(learner) = row.learner(&given) else { return Ok(None) };
        match learner.learn(&Task::new(self.rows), watch) {
            Ok(fit) => Ok(Some(fit)),
            Err(Error::NotSeparable { .. } | Error::Inseparable { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
