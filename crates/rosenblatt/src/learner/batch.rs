//! What learners that minimise an objective over all rows share.

use rayon::prelude::*;
use serde_json::Value;

use super::{Bias, ClassWeight, Fit, Penalty, Task};
use crate::data::{Dataset, Matrix, check_memory};
use crate::error::{Error, ParamError};
use crate::metrics::weighted_accuracy;
use crate::model::{Body, Decision, Planes, Tie, pairs};
use crate::online::{Measure, Multiclass, Order, Schedule, Target};
use crate::report::{Report, Status, SubProblem};
use crate::solver::{Binary, Certificate, End, Example, Limits, Method, Solution};
use crate::watch::{Monitor, Stop, Watch};
use crate::with_rows;

/// Declares a learner: its own parameters with their defaults, followed by those all batch learners have.
macro_rules! batch_learner {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $value:expr,)*
        }
        multiclass = $multiclass:expr, passes = $passes:expr
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// C, what errors cost.
            pub c: f64,
            /// λ = 1/(C·n), n the weight of all rows: another way to give C.
            pub lambda: Option<f64>,
            /// The constant term.
            pub bias: $crate::learner::Bias,
            /// How more than two classes are treated.
            pub multiclass: $crate::online::Multiclass,
            /// How much each class counts.
            pub class_weight: Option<$crate::learner::ClassWeight>,
            /// Stop when the relative duality gap is at most this.
            pub gap: f64,
            /// At most so many passes over the data.
            pub passes: usize,
            /// Fixes every random choice.
            pub seed: u64,
            /// Stop after so many seconds, with the best model so far.
            pub time_limit: Option<f64>,
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name {
                    $($field: $value,)*
                    c: 1.0,
                    lambda: None,
                    bias: $crate::learner::Bias::Free,
                    multiclass: $multiclass,
                    class_weight: None,
                    gap: 1e-3,
                    passes: $passes,
                    seed: 0,
                    time_limit: None,
                }
            }
        }

        impl $Name {
            fn common(&self) -> $crate::learner::batch::Common<'_> {
                $crate::learner::batch::Common {
                    c: self.c,
                    lambda: self.lambda,
                    bias: self.bias,
                    multiclass: self.multiclass,
                    class_weight: self.class_weight.as_ref(),
                    gap: self.gap,
                    passes: self.passes,
                    seed: self.seed,
                    time_limit: self.time_limit,
                }
            }
        }
    };
}
pub(crate) use batch_learner;

/// The parameters every batch learner has.
#[derive(Clone, Copy)]
pub(crate) struct Common<'a> {
    pub(crate) c: f64,
    pub(crate) lambda: Option<f64>,
    pub(crate) bias: Bias,
    pub(crate) multiclass: Multiclass,
    pub(crate) class_weight: Option<&'a ClassWeight>,
    pub(crate) gap: f64,
    pub(crate) passes: usize,
    pub(crate) seed: u64,
    pub(crate) time_limit: Option<f64>,
}

impl Common<'_> {
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        ParamError::unless(positive(self.c), "c", "must be more than 0")?;
        ParamError::unless(self.lambda.is_none_or(positive), "lambda", "must be more than 0")?;
        ParamError::unless(self.lambda.is_none() || self.c == 1.0, "lambda", "give c or lambda, not both")?;
        ParamError::unless((0.0..1.0).contains(&self.gap), "gap", "must be from 0 to below 1")?;
        let reduced = self.multiclass != Multiclass::Native;
        ParamError::unless(reduced, "multiclass", "must be ovr or ovo: the problem has two classes")?;
        let Common { passes, time_limit, .. } = *self;
        Schedule { passes, order: Order::Shuffle, seed: 0, time_limit }.check()?;
        ClassWeight::check(self.class_weight)
    }
}

/// All rows with what each costs.
struct Costs<'a> {
    x: &'a Matrix<'a>,
    y: &'a [u32],
    cost: Vec<f64>,
}

impl<'a> Costs<'a> {
    fn new(data: &'a Dataset<'a>, common: &Common<'_>) -> Result<Self, Error> {
        let weights = ClassWeight::weigh(common.class_weight, data)?;
        let total = weights.as_ref().map_or(data.n_rows() as f64, |weights| weights.iter().sum());
        let c = common.lambda.map_or(common.c, |lambda| 1.0 / (lambda * total));
        let cost = match weights {
            Some(weights) => weights.iter().map(|weight| c * weight).collect(),
            None => vec![c; data.n_rows()],
        };
        Ok(Costs { x: data.x(), y: data.y(), cost })
    }

    /// The rows that take part in a binary problem; those that cost nothing do not.
    fn examples(&self, target: Target) -> Vec<Example> {
        let example = |(i, (&class, &cost)): (usize, (&u32, &f64))| {
            let sign = if target.of(class)? == 1 { 1.0 } else { -1.0 };
            (cost > 0.0).then_some(Example { cost, row: i as u32, sign })
        };
        self.y.iter().zip(&self.cost).enumerate().filter_map(example).collect()
    }
}

/// Binary problems, solved side by side, and how they decide together.
struct Solved {
    solutions: Vec<(Target, Solution)>,
    decision: Decision,
}

fn solve(
    common: &Common<'_>,
    method: &impl Method,
    costs: &Costs<'_>,
    n_classes: usize,
    monitor: &Monitor<'_>,
) -> Solved {
    let limits = Limits { gap: common.gap, passes: common.passes, seed: common.seed };
    let (targets, decision) = targets(common.multiclass, n_classes);
    let solve = |target: Target| {
        let examples = costs.examples(target);
        let solution = with_rows!(costs.x, x => {
            method.solve(&Binary { x, examples: &examples, bias: common.bias }, limits, monitor)
        });
        (target, solution)
    };
    Solved { solutions: targets.into_par_iter().map(solve).collect(), decision }
}

/// The binary problems of a scheme.
fn targets(scheme: Multiclass, n_classes: usize) -> (Vec<Target>, Decision) {
    match (scheme, n_classes) {
        (_, 0..=2) => (vec![Target::Class], Decision::Sign(Tie::default())),
        (Multiclass::Ovo, k) => {
            let pairs = pairs(k).into_iter().map(|(a, b)| Target::Pair(a, b));
            (pairs.collect(), Decision::Pairs(Tie::default()))
        }
        (_, k) => ((0..k).map(Target::OneVsRest).collect(), Decision::Highest),
    }
}

/// Everything around the solvers: checks, the monitor, the report.
pub(crate) fn learn(
    about: Report,
    common: &Common<'_>,
    task: &Task<'_>,
    watch: &mut dyn Watch,
    method: &impl Method,
) -> Result<Fit, Error> {
    common.check()?;
    task.check()?;
    let data = task.data;
    let n_classes = data.classes().len();
    check_memory(data.n_features(), common.multiclass.planes(n_classes).saturating_mul(3))?;
    let costs = Costs::new(data, common)?;
    let mut monitor = Monitor::new(watch, common.time_limit, common.passes);
    monitor.start_pass(1, 0, None);
    let (solved, fingerprint) =
        rayon::join(|| solve(common, method, &costs, n_classes, &monitor), || data.fingerprint());
    let Solved { solutions, decision } = solved;
    let certificate = total(solutions.iter().map(|(_, solution)| &solution.certificate));
    let report = Report {
        status: status(&solutions, &monitor),
        rows: data.n_rows() as u64,
        primal: Some(certificate.primal),
        dual: Some(certificate.dual),
        gap: Some(certificate.gap()),
        support_vectors: Some(certificate.support_vectors),
        slacks: Some(certificate.slacks),
        solver: Some(method.title()),
        solver_passes: solutions.iter().map(|(_, solution)| solution.passes).max(),
        costs: costs_of_steps(&solutions),
        problems: problems(&solutions, data, common.gap),
        ..about
    };
    let body = Body::Linear(planes_of(solutions, common.bias, data.n_features()));
    let holdout_accuracy = task.holdout.map(|holdout| {
        weighted_accuracy(&body.predict(decision, holdout.classes().len(), holdout.x()), holdout)
    });
    let scores = body.scores(data.x());
    let mut measure = Measure::new(body, decision);
    measure.score(data, &scores);
    let (body, report) = measure.complete(Report { holdout_accuracy, ..report }, fingerprint, false);
    Ok(Fit { model: task.model(decision, body), report })
}

/// Problems without variables in common add up.
fn total<'c>(certificates: impl Iterator<Item = &'c Certificate>) -> Certificate {
    let mut all = Certificate::default();
    for certificate in certificates {
        all.primal += certificate.primal;
        all.dual += certificate.dual;
        all.slacks.add(certificate.slacks);
        all.support_vectors += certificate.support_vectors;
    }
    all
}

/// P after each step, of all problems together; one that is done keeps its last.
fn costs_of_steps(solutions: &[(Target, Solution)]) -> Vec<f64> {
    let steps = solutions.iter().map(|(_, solution)| solution.costs.len()).max().unwrap_or(0);
    let cost = |solution: &Solution, t: usize| {
        solution.costs.get(t).or(solution.costs.last()).copied().unwrap_or_default()
    };
    (0..steps).map(|t| solutions.iter().map(|(_, solution)| cost(solution, t)).sum()).collect()
}

fn status(solutions: &[(Target, Solution)], monitor: &Monitor<'_>) -> Status {
    let worst = solutions.iter().map(|(_, solution)| solution.end).max().unwrap_or(End::Converged);
    match (worst, monitor.stopped()) {
        (End::Stopped, Some(Stop::Time)) => Status::TimeLimit,
        (End::Stopped, _) => Status::Interrupted,
        (End::PassLimit, _) => Status::PassLimit,
        (End::Stalled, _) => Status::Stalled,
        (End::Converged, _) => Status::Converged,
    }
}

fn problems(solutions: &[(Target, Solution)], data: &Dataset<'_>, asked: f64) -> Vec<SubProblem> {
    let problem = |(target, solution): &(Target, Solution)| {
        let gap = solution.certificate.gap();
        SubProblem {
            title: target.title(data.classes()),
            passes: solution.passes,
            last_updates: 0,
            converged: gap <= asked,
            gap: Some(gap),
        }
    };
    if solutions.len() > 1 { solutions.iter().map(problem).collect() } else { Vec::new() }
}

fn planes_of(solutions: Vec<(Target, Solution)>, bias: Bias, n_cols: usize) -> Planes {
    let k = solutions.len();
    let mut planes = Planes::zeros(k, n_cols, bias.is_lifted());
    for (c, (_, solution)) in solutions.into_iter().enumerate() {
        planes.weights.iter_mut().skip(c).step_by(k).zip(solution.w).for_each(|(to, w)| *to = w);
        planes.bias[c] = solution.b;
    }
    planes
}

/// The objective in one line, given what an example costs.
pub(crate) fn objective(common: &Common<'_>, penalty: Penalty, loss: &str) -> String {
    let norm = match (penalty, common.bias) {
        (Penalty::L1, _) => "‖w‖₁",
        (Penalty::L2, Bias::Regularized) => "½(‖w‖² + b²)",
        (Penalty::L2, _) => "½‖w‖²",
    };
    let score = if common.bias.is_lifted() { "w·x + b" } else { "w·x" };
    let cost = match common.lambda {
        Some(lambda) => format!("1/(λn)·Σ {loss}, λ = {lambda}"),
        None => format!("C·Σ {loss}, C = {}", common.c),
    };
    format!("min {norm} + {cost}; g(x) = {score}")
}

/// The constant parts of a report.
pub(crate) fn about(algorithm: &str, objective: String, parameters: Value) -> Report {
    Report { algorithm: algorithm.to_owned(), objective, parameters, ..Report::default() }
}
