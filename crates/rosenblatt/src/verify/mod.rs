//! What a model claims, recomputed on the data.
//!
//! Figures that follow from model and data are computed anew by naive code of its own ([`naive`], [`objective`], [`dual`]). A lower bound of the objective may come from anywhere, a solver included: it is
//! believed because its dual point is evaluated here. How the run went (passes, updates, mistakes) can only be seen by making it again ([`replay`]).

mod claim;
mod dual;
mod estimates;
mod naive;
mod objective;
mod replay;

pub use claim::{Claim, Verdict, Verification};

use claim::{Bounds, Claims, figure, short};
use dual::{Judged, Multipliers, Problem, joint_ascend, joint_bound_at};
use naive::{Known, Scores};
use objective::{Loss, Objective, Parts, class_scores, lead};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::clock::{Deadline, Until};
use crate::data::{Csr, Dataset, Features, Rows};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::learner::{ClassWeight, Fit, Network, Task};
use crate::model::{Body, Decision, Model};
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
    /// Seconds that all of it may take. What was not looked at then stays open.
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
/// Where nothing is claimed, a gap that need not be smaller.
const TIGHT: f64 = 1e-6;

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
        let deadline = Deadline::after(self.time_limit);
        let watch = &mut Until { deadline, watch };
        let rows = prepared(fit, data)?;
        let mut claims = Claims::new();
        let same = data_held(&mut claims, report, &rows);
        names(&mut claims, fit, data);
        let sound = parameters(&mut claims, report);
        match Known::of(&model.body) {
            Some(known) => self.figures(&mut claims, fit, &rows, &known, sound, watch),
            None => match naive::rows_scores(&model.body, rows.x(), deadline) {
                Some(Some(scores)) => scored(&mut claims, fit, &rows, &scores),
                Some(None) => {
                    claims.push("figures", "as reported".to_owned(), TIME.to_owned(), Verdict::Open)
                }
                None => predictions(&mut claims, "accuracy", report.train_accuracy, model, &rows, deadline),
            },
        }
        if report.algorithm == "naive-bayes" && sound {
            estimates::estimates(&mut claims, fit, &rows);
        }
        if let Some(holdout) = holdout {
            let rows = prepared(fit, holdout)?;
            predictions(&mut claims, "accuracy, held out", report.holdout_accuracy, model, &rows, deadline);
        }
        if same && sound {
            replay::compare(&mut claims, fit, data, holdout, self.replay, watch)?;
        }
        Ok(claims.finish())
    }

    fn figures(
        &self,
        claims: &mut Claims,
        fit: &Fit,
        rows: &Dataset<'_>,
        known: &Known,
        sound: bool,
        watch: &mut Until<'_>,
    ) {
        let Fit { model, report } = fit;
        let rounding = ROUNDING[usize::from(known.is_kernel())];
        if let Known::Kernel { stored, .. } = known {
            claims.close("γ of the kernel", gamma_said(&report.parameters), stored.gamma(), 0.0);
        }
        let scores = known.scores(rows.x(), watch.deadline);
        let (Some(Scores { g, size }), Some(squares)) = (scores, known.sq_norms(rows.x(), watch.deadline))
        else {
            claims.push("figures", "as reported".to_owned(), TIME.to_owned(), Verdict::Open);
            return;
        };
        let of_row = |i: usize| g.iter().map(|plane| plane[i]).collect::<Vec<f64>>();
        // Rows that rounding decides.
        let near = |i: &usize| is_near(model.decision, &g, &size, *i, rounding);
        let doubtful: f64 = (0..rows.n_rows()).filter(near).map(|i| rows.weight(i)).sum();
        let total: f64 = (0..rows.n_rows()).map(|i| rows.weight(i)).sum();
        let found = accuracy(rows, |i| model.decide(&of_row(i)));
        claims.rate("accuracy", report.train_accuracy, found, doubtful / total.max(f64::MIN_POSITIVE));
        if let (Decision::Sign(_), [g, ..], [square, ..]) = (model.decision, &g[..], &squares[..]) {
            geometry(claims, report, rows, known, (g, *square), rounding);
        } else {
            geometry_between(claims, fit, rows, known, &g, rounding);
        }
        if sound {
            self.objective(claims, fit, rows, (known, &g, &squares), watch);
        }
    }

    fn objective(
        &self,
        claims: &mut Claims,
        fit: &Fit,
        rows: &Dataset<'_>,
        (known, scores, squares): (&Known, &[Vec<f64>], &[f64]),
        watch: &mut Until<'_>,
    ) {
        let report = &fit.report;
        let mut parameters = report.parameters.clone();
        let assumed = self.assumed_c(report, known);
        if let (Some(c), Value::Object(map)) = (assumed, &mut parameters) {
            map.insert("c".to_owned(), c.into());
        }
        let rounding = ROUNDING[usize::from(known.is_kernel())];
        let size = scores.iter().flatten().fold(0.0, |most: f64, g| most.max(g.abs()));
        let objective = match Objective::of(&report.algorithm, &parameters, rows, rounding * size.max(1.0)) {
            Ok(Some(objective)) => objective,
            Ok(None) => return claims.unmeasured(unmeasured(report)),
            Err(error) => {
                claims.push("parameters", short(&parameters), error.to_string(), Verdict::Broken);
                return;
            }
        };
        let (planes, classes) = (known.planes().len(), rows.classes().len());
        if !objective.fits(planes, classes) {
            let found = format!("not what the objective has for {classes} classes");
            claims.push("planes", planes.to_string(), found, Verdict::Broken);
            return;
        }
        let point = Certified { objective: &objective, known, scores, rounding, size };
        point.slacks(claims, report.slacks);
        let primal = objective.primal(known, scores, squares);
        let total: f64 = primal.iter().sum();
        claims.close("primal", report.primal, total, rounding);
        // The run takes its time, too.
        let deadline = watch.deadline.share(if self.replay { 2 } else { 1 });
        let watch = &mut Until { deadline, watch };
        let wanted = wanted(report, &primal);
        let search = Search { fit, rows, parameters: &parameters, wanted: &wanted, primal: total };
        let bounds = search.bounds(&point, watch);
        claims.dual(report, total, &bounds, rounding.max(SHARE * report.gap.unwrap_or(0.0).max(SMALL)));
        claims.gap(report, total, &primal, rounding);
        point.optimality(claims, fit, rows, &parameters, &bounds);
        claims.assume(assumed);
        claims.optimum(total, &bounds);
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
}

/// Why the objective of another program's model is not known. Ours are shown by making the run again.
fn unmeasured(report: &Report) -> Option<String> {
    let why = match report.algorithm.as_str() {
        _ if report.rows > 0 => return None,
        "svm" => "the file of a nu_svc does not say ν, without which what it minimises is not known",
        _ => "the file does not say how the bias was penalised",
    };
    Some(why.to_owned())
}

/// Margin and radius, and what follows from them.
fn geometry(
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
    claims.close("margin with the bias", report.lifted_margin, smallest / lifted, allowed(smallest / lifted));
    // w is a sum of rows as long as R.
    claims.close("corridor", report.corridor, 2.0 / norm, allowed(1.0 / norm));
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

/// The same of several classes: the margin where the highest of their planes wins.
fn geometry_between(
    claims: &mut Claims,
    fit: &Fit,
    rows: &Dataset<'_>,
    known: &Known,
    scores: &[Vec<f64>],
    rounding: f64,
) {
    let Fit { model, report } = fit;
    let radius = known.radius(rows.x());
    if let (Decision::Highest, Known::Linear { planes, .. }) = (model.decision, known) {
        let length = |y: usize, c: usize| {
            let pairs = planes[y].0.iter().zip(&planes[c].0);
            pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        let mut found = f64::INFINITY;
        for (y, own) in scores.iter().enumerate() {
            for (c, other) in scores.iter().enumerate().filter(|(c, _)| *c != y && report.margin.is_some()) {
                let of_class = (0..rows.n_rows()).filter(|&i| rows.y()[i] as usize == y);
                let lead = of_class.map(|i| own[i] - other[i]).fold(f64::INFINITY, f64::min);
                let length = length(y, c);
                found = if length > 0.0 { found.min(lead / length) } else { found };
            }
        }
        let allowed = rounding * (1.0 + radius / found.abs().max(f64::MIN_POSITIVE));
        claims.close("margin", report.margin, found, allowed);
    }
    claims.close("radius", report.radius, radius, rounding);
}

/// What is said of what was not looked at.
const TIME: &str = "not looked at: time was over";

/// Whether these are the rows it was trained on.
fn data_held(claims: &mut Claims, report: &Report, rows: &Dataset<'_>) -> bool {
    let (claimed, found) = (&report.data, rows.fingerprint());
    let measured =
        report.train_accuracy.is_some() || report.primal.is_some() || report.solver_passes.is_some();
    let verdict = match claimed.hash.is_empty() {
        true if report.rows == 0 => return false,
        // Streams keep nothing of their rows. Who measured something on all of them has them.
        true if !measured => Verdict::Open,
        _ => Verdict::of(*claimed == found && report.rows == found.rows),
    };
    let shown = |rows: u64, features: u64, hash: &str| {
        format!("{rows} × {features}, {}", hash.chars().take(12).collect::<String>())
    };
    claims.push(
        "data",
        shown(report.rows, claimed.features, &claimed.hash),
        shown(found.rows, found.features, &found.hash),
        verdict,
    );
    verdict == Verdict::Held
}

/// Classes, and how features are made of the data, as they were when it was trained. Only what is not so is said. Models of other programs know neither.
fn names(claims: &mut Claims, fit: &Fit, data: &Dataset<'_>) {
    let Fit { model, report } = fit;
    if report.rows == 0 {
        return;
    }
    if model.classes != *data.classes() {
        let (said, found) = (model.classes.listed(), data.classes().listed());
        claims.push("classes", said, found, Verdict::Broken);
    }
    if model.features == *data.features() {
        return;
    }
    let told = |features: &Features| serde_json::to_value(features).unwrap_or_default();
    let (said, found) = (told(&model.features), told(data.features()));
    let nothing = |value: &Value| *value == json!(null) || *value == json!(false) || *value == json!([]);
    for name in ["names", "schema", "hash", "texts", "open"] {
        let (said, found) = (&said[name], &found[name]);
        let verdict = match (nothing(said), nothing(found)) {
            (true, true) => continue,
            _ if said == found => continue,
            // Data without any refute none.
            (false, true) if name != "open" => Verdict::Open,
            _ => Verdict::Broken,
        };
        claims.push(&format!("features, {name}"), short(said), short(found), verdict);
    }
}

/// Whether its parameters are all those of its algorithm, and in their ranges. Models of other programs have those that their files tell.
fn parameters(claims: &mut Claims, report: &Report) -> bool {
    let problem = match (algorithm(&report.algorithm), &report.parameters) {
        _ if report.rows == 0 => return true,
        (None, _) => format!("there is no algorithm {:?}", report.algorithm),
        (Some(row), Value::Object(given)) => match row.learner(&replay::settable(row, given)) {
            Ok(learner) => match other_name(given, &learner.parameters(), report.older) {
                None => return true,
                Some(name) => format!("{}: {} has another, or none", name, row.name),
            },
            Err(error) => error.to_string(),
        },
        (Some(_), _) => "they are missing".to_owned(),
    };
    claims.push("parameters", short(&report.parameters), problem, Verdict::Broken);
    false
}

/// The first parameter that is not the same in both; a function of the user's own is in none that can be given, and files of older versions do not have those that came later.
fn other_name(given: &Map<String, Value>, known: &Value, older: bool) -> Option<String> {
    let all = known.as_object().filter(|_| !older);
    let names = given.keys().chain(all.into_iter().flat_map(Map::keys));
    names.filter(|name| *name != "user").find(|name| given.get(*name) != known.get(name.as_str())).cloned()
}

/// Of a model whose scores are not recomputed here, or on rows held out: its own predictions.
fn predictions(
    claims: &mut Claims,
    name: &str,
    claimed: Option<f64>,
    model: &Model,
    rows: &Dataset<'_>,
    deadline: Deadline,
) {
    let Some(scores) = model.body.scores_while(rows.x(), || !deadline.is_over()) else {
        claims.push(name, "as reported".to_owned(), TIME.to_owned(), Verdict::Open);
        return;
    };
    let predicted = model.decision.decide_all(&scores, model.classes.len());
    claims.rate(name, claimed, accuracy(rows, |i| predicted[i] as usize), 0.0);
}

/// Of distributions and networks: accuracy, and the objective of the latter.
fn scored(claims: &mut Claims, fit: &Fit, rows: &Dataset<'_>, scores: &Scores) {
    let Fit { model, report } = fit;
    let network = matches!(model.body, Body::Layers(_));
    // Sizes are those of all terms on the way, so that a small share of them is much.
    let rounding = if network { 2e-6 } else { ROUNDING[0] };
    let of_row = |i: usize| scores.g.iter().map(|plane| plane[i]).collect::<Vec<f64>>();
    let near = |i: &usize| is_near(model.decision, &scores.g, &scores.size, *i, rounding);
    let doubtful: f64 = (0..rows.n_rows()).filter(near).map(|i| rows.weight(i)).sum();
    let total: f64 = (0..rows.n_rows()).map(|i| rows.weight(i)).sum();
    let found = accuracy(rows, |i| model.decide(&of_row(i)));
    claims.rate("accuracy", report.train_accuracy, found, doubtful / total.max(f64::MIN_POSITIVE));
    if let (Body::Layers(layers), Ok(learner)) = (&model.body, Network::deserialize(&report.parameters)) {
        let Ok(weights) = ClassWeight::weigh(learner.class_weight.as_ref(), rows) else { return };
        let weight = |i: usize| weights.as_ref().map_or(1.0, |weights| weights[i]);
        let loss = |i: usize| weight(i) * naive::log_loss(&of_row(i), rows.y()[i] as usize);
        let mean = (0..rows.n_rows()).map(loss).sum::<f64>() / (0..rows.n_rows()).map(weight).sum::<f64>();
        let squares = (0..layers.units().len()).filter_map(|layer| layers.layer(layer)).flat_map(|(w, _)| w);
        let square: f64 = squares.map(|w| f64::from(w).powi(2)).sum();
        claims.close("primal", report.primal, mean + 0.5 * learner.lambda * square, 1e-4);
    }
}

/// Whether errors of a share of what was added up may change the class of a row.
fn is_near(decision: Decision, scores: &[Vec<f64>], sizes: &[Vec<f64>], row: usize, rounding: f64) -> bool {
    let error = |plane: usize| rounding * sizes[plane][row];
    match decision {
        Decision::Highest => {
            let best = (0..scores.len()).max_by(|&a, &b| scores[a][row].total_cmp(&scores[b][row]));
            let Some(best) = best else { return false };
            let rivals = (0..scores.len()).filter(|&plane| plane != best);
            let mut gaps =
                rivals.map(|rival| (scores[best][row] - scores[rival][row], error(best) + error(rival)));
            gaps.any(|(gap, error)| gap < error)
        }
        Decision::Sign(_) | Decision::Pairs(_) | Decision::Votes => {
            (0..scores.len()).any(|plane| scores[plane][row].abs() < error(plane))
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
    let each = report.problems.iter().all(|problem| problem.gap.is_some());
    let gaps: Vec<Option<f64>> = match each && report.problems.len() == primal.len() {
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
    rounding: f64,
    /// Of the largest score.
    size: f64,
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

    /// What follows from a run that came to its end.
    fn optimality(
        &self,
        claims: &mut Claims,
        fit: &Fit,
        rows: &Dataset<'_>,
        parameters: &Value,
        bounds: &Bounds,
    ) {
        let (report, known) = (&fit.report, self.known);
        let number = |name: &str| parameters.get(name).and_then(Value::as_f64);
        if let (Status::Converged, Some(gap), Some(asked), true) =
            (report.status, report.gap, number("gap"), bounds.proved)
        {
            let claimed = format!("gap ≤ {}", figure(asked));
            claims.push("converged", claimed, figure(gap), Verdict::of(gap <= asked));
        }
        if let (Some(claimed), Some(found)) = (report.violation, bounds.violation) {
            let allowed = 0.2 * number("tolerance").unwrap_or(1e-3) + self.rounding * self.size;
            let held = (found - claimed).abs() <= allowed;
            claims.push("KKT violation", figure(claimed), figure(found), Verdict::of(held));
        }
        if let (Some(claimed), true) = (report.support_vectors, known.is_kernel())
            && let Some(found) = support_vectors(fit, known, rows, self.objective)
        {
            // A solver counts copies of a stored row only where it made them one.
            let stored = known.planes().first().map_or(0, |(a, _)| a.len() as u64);
            let shown = if stored < found { format!("{stored} to {found}") } else { found.to_string() };
            let held = (stored..=found).contains(&claimed);
            claims.push("support vectors", claimed.to_string(), shown, Verdict::of(held));
        }
    }
}

/// How many rows equal a stored one.
fn support_vectors(fit: &Fit, known: &Known, rows: &Dataset<'_>, objective: &Objective) -> Option<u64> {
    let Body::Kernel(expansion) = &fit.model.body else { return None };
    let multipliers = Multipliers::of(known, expansion.numbers(), rows)?;
    Some(multipliers.equals(objective, expansion.numbers()))
}

/// For a lower bound that is large enough.
struct Search<'a> {
    fit: &'a Fit,
    rows: &'a Dataset<'a>,
    parameters: &'a Value,
    /// Of each problem.
    wanted: &'a [f64],
    primal: f64,
}

impl Search<'_> {
    fn bounds(&self, point: &Certified<'_>, watch: &mut Until<'_>) -> Bounds {
        if let Known::Kernel { stored, .. } = point.known {
            return self.by_multipliers(point, stored.kernel, watch);
        }
        let own = self.by_scores(point.objective, point.scores);
        let bounds = Bounds { dual: own, proved: true, reached: self.primal, violation: None };
        let enough: f64 = self.wanted.iter().sum();
        if own >= enough {
            return bounds;
        }
        let (dual, reached) = match (point.objective.loss, &point.objective.parts) {
            (Loss::Hinge | Loss::Hard, Parts::Binary(problems)) => {
                self.by_ascent(point.objective, problems, watch)
            }
            (Loss::Hinge, Parts::Joint(_)) => {
                let (k, wanted) = (self.rows.classes().len(), self.wanted.iter().sum());
                joint_ascend(point.objective, self.rows.x(), k, wanted, &mut || go_on(watch))
            }
            _ => self.by_another_fit(point, enough, watch).unwrap_or((f64::NEG_INFINITY, f64::INFINITY)),
        };
        Bounds { dual: own.max(dual), reached: bounds.reached.min(reached), ..bounds }
    }

    /// Each problem by itself; none takes more than its share of the time.
    fn by_ascent(
        &self,
        objective: &Objective,
        problems: &[Vec<(usize, f64)>],
        watch: &mut Until<'_>,
    ) -> (f64, f64) {
        let (mut dual, mut reached) = (0.0, 0.0);
        for (p, (rows, &wanted)) in problems.iter().zip(self.wanted).enumerate() {
            let deadline = watch.deadline.share(problems.len() - p);
            let watch = &mut Until { deadline, watch: &mut *watch };
            let problem = Problem::of(objective, self.rows.x(), rows);
            let (best, least) = problem.ascend(wanted, &mut || go_on(watch));
            dual += best;
            reached += least;
        }
        (dual, reached)
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

    /// What another fit proves, and its objective.
    fn by_another_fit(
        &self,
        point: &Certified<'_>,
        enough: f64,
        watch: &mut Until<'_>,
    ) -> Option<(f64, f64)> {
        let objective = point.objective;
        let constant = objective.lift();
        let rows = match constant {
            0.0 | 1.0 => None,
            // Our learners know no other constant than 1, but one that is a feature like any other.
            _ => Some(with_constant(self.rows, constant)?),
        };
        let fit = self.solved(rows.as_ref(), enough, watch)?;
        let rows = rows.as_ref().unwrap_or(self.rows);
        let known = Known::of(&fit.model.body)?;
        if !objective.fits(known.planes().len(), self.rows.classes().len()) {
            return None;
        }
        let scores = known.scores(rows.x(), watch.deadline)?.g;
        let squares = known.sq_norms(rows.x(), watch.deadline)?;
        let primal = objective.primal(&known, &scores, &squares).iter().sum();
        let dual = match known.is_kernel() {
            true => {
                let there = Certified { known: &known, scores: &scores, ..*point };
                self.judged(&fit, &there, watch.deadline)?.0
            }
            false => self.by_scores(objective, &scores),
        };
        Some((dual, primal))
    }

    /// Kernel machines have their multipliers with them; where these are not good enough, those of a fit are taken.
    fn by_multipliers(&self, point: &Certified<'_>, kernel: Kernel, watch: &mut Until<'_>) -> Bounds {
        let own = self.judged(self.fit, point, watch.deadline);
        let bounds = Bounds {
            dual: own.map_or(f64::NEG_INFINITY, |(dual, _)| dual),
            proved: kernel.is_positive(),
            reached: self.primal,
            violation: own.and_then(|(_, violation)| violation),
        };
        let enough: f64 = self.wanted.iter().sum();
        let share = SHARE * self.fit.report.gap.unwrap_or(0.0).max(1e-6) * self.primal.abs();
        let tight = self.primal - bounds.dual <= TIGHT * self.primal.abs();
        if !bounds.proved || tight || bounds.dual >= enough - share {
            return bounds;
        }
        match self.by_another_fit(point, enough, watch) {
            Some((dual, reached)) => {
                Bounds { dual: bounds.dual.max(dual), reached: bounds.reached.min(reached), ..bounds }
            }
            None => bounds,
        }
    }

    fn judged(&self, fit: &Fit, point: &Certified<'_>, deadline: Deadline) -> Option<Judged> {
        let (Body::Kernel(expansion), Certified { objective, known, scores, .. }) = (&fit.model.body, point)
        else {
            return None;
        };
        let (multipliers, x) = (Multipliers::of(known, expansion.numbers(), self.rows)?, self.rows.x());
        match &objective.parts {
            Parts::Binary(problems) => {
                let mut all = (0.0, Some(0.0f64));
                for (p, (rows, (scores, (_, b)))) in
                    problems.iter().zip(scores.iter().zip(known.planes())).enumerate()
                {
                    let (dual, violation) =
                        multipliers.judge(objective, x, (p, rows), (scores, *b), deadline)?;
                    all.0 += dual;
                    all.1 = all.1.zip(violation).map(|(most, violation)| most.max(violation));
                }
                Some(all)
            }
            Parts::Joint(classes) => {
                multipliers.judge_joint(objective, x, classes, deadline).map(|dual| (dual, None))
            }
        }
    }

    /// A fit of the same objective that is nearer to the optimum: only its point is used, and judged here. `lifted` are rows with the constant that the bias is the weight of.
    fn solved(&self, lifted: Option<&Dataset<'_>>, enough: f64, watch: &mut Until<'_>) -> Option<Fit> {
        let (Some(row), Value::Object(given)) = (algorithm(&self.fit.report.algorithm), self.parameters)
        else {
            return None;
        };
        let left = watch.deadline.left();
        if left <= 0.0 {
            return None;
        }
        let mut given: Map<String, Value> = replay::settable(row, given);
        let gap = if enough.is_finite() { (self.primal - enough) / self.primal } else { 1e-4 };
        // Kernel values are in single precision; no smaller gap can be seen in their sums.
        let least = if matches!(self.fit.model.body, Body::Kernel(_)) { TIGHT } else { 1e-9 };
        given.insert("gap".to_owned(), (SHARE * gap).clamp(least, 1e-2).into());
        given.insert("time_limit".to_owned(), left.min(1e9).into());
        given.retain(|name, _| name != "passes");
        if lifted.is_some() {
            given.insert("bias".to_owned(), "none".into());
        }
        row.learner(&given).ok()?.learn(&Task::new(lifted.unwrap_or(self.rows)), watch).ok()
    }
}

/// The rows with one more feature, the same for all.
fn with_constant(data: &Dataset<'_>, constant: f64) -> Option<Dataset<'static>> {
    let width = data.n_features();
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..data.n_rows() {
        let mut push = |j: usize, v: f64| {
            columns.push(j as u32);
            values.push(v);
        };
        data.x().each(i, |j, v| {
            if v != 0.0 {
                push(j, v)
            }
        });
        push(width, constant);
        pointers.push(values.len() as u64);
    }
    let x = Csr::new(pointers, columns, values, width + 1).ok()?;
    let rows = Dataset::with_classes(x, data.y().to_vec(), data.classes().clone()).ok()?;
    match data.weights() {
        Some(weights) => rows.with_weights(weights.to_vec()).ok(),
        None => Some(rows),
    }
}

fn go_on(watch: &mut Until<'_>) -> bool {
    watch.progress(&Progress::default()).is_continue()
}
