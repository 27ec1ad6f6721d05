//! What learners that minimise an objective over all rows share.

use serde_json::Value;

use super::copies::Copies;
use super::diagnosis::{Stuck, diagnose};
use super::{Bias, ClassWeight, Demand, Fit, Penalty, Task};
use crate::data::{Classes, Dataset, Matrix, Rows, check_form, check_memory};
use crate::error::{Error, ParamError};
use crate::geometry::radius;
use crate::metrics::weighted_accuracy;
use crate::model::{Body, Decision, Link, Model, Planes, Tie, pairs};
use crate::online::{Measure, Multiclass, Order, Schedule, Target};
use crate::pool::{abreast, beside};
use crate::report::{Report, Status, SubProblem};
use crate::separability::obstruction;
use crate::solver::{
    Binary, Certificate, End, Example, JointExample, JointSolution, Limits, Means, Method, Shared, Solution,
};
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
            pub(super) fn common(&self) -> $crate::learner::batch::Common<'_> {
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
    pub(crate) fn limits(&self) -> Limits {
        Limits { gap: self.gap, gain: 0.0, passes: self.passes, seed: self.seed, dual: f64::INFINITY }
    }

    /// Whether there is one problem for all classes rather than several of two.
    pub(crate) fn is_native(&self, n_classes: usize) -> bool {
        self.multiclass == Multiclass::Native && n_classes > 2
    }

    /// For learners that know no problem of more classes.
    pub(crate) fn refuse_native(&self) -> Result<(), ParamError> {
        let reduced = self.multiclass != Multiclass::Native;
        ParamError::unless(
            reduced,
            "multiclass",
            "must be ovr or ovo: it separates two classes at a time; crammer-singer takes all at once",
        )
    }

    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        ParamError::unless(positive(self.c), "c", "must be more than 0")?;
        ParamError::unless(self.lambda.is_none_or(positive), "lambda", "must be more than 0")?;
        ParamError::unless(self.lambda.is_none() || self.c == 1.0, "lambda", "give c or lambda, not both")?;
        ParamError::unless((0.0..1.0).contains(&self.gap), "gap", "must be from 0 to below 1")?;
        let Common { passes, time_limit, .. } = *self;
        Schedule { passes, order: Order::Shuffle, seed: 0, time_limit }.check()?;
        ClassWeight::check(self.class_weight)
    }
}

/// All rows with what each costs.
pub(crate) struct Costs<'a> {
    pub(crate) x: &'a Matrix<'a>,
    pub(crate) y: &'a [u32],
    pub(crate) classes: &'a Classes,
    pub(crate) cost: Vec<f64>,
    /// Where to start.
    pub(crate) start: Option<&'a Planes>,
    /// α and b of each problem at other costs, to start from.
    pub(crate) alphas: &'a [(Vec<f64>, f64)],
}

impl<'a> Costs<'a> {
    pub(super) fn new(task: &Task<'a>, common: &Common<'_>, linear: bool) -> Result<Self, Error> {
        let data = task.data;
        let start = if linear { task.starting_planes(common.multiclass, common.bias)? } else { None };
        let weights = ClassWeight::weigh(common.class_weight, data)?;
        let total = weights.as_ref().map_or(data.n_rows() as f64, |weights| weights.iter().sum());
        let c = common.lambda.map_or(common.c, |lambda| 1.0 / (lambda * total));
        let cost = match weights {
            Some(weights) => weights.iter().map(|weight| c * weight).collect(),
            None => vec![c; data.n_rows()],
        };
        Ok(Costs { x: data.x(), y: data.y(), classes: data.classes(), cost, start, alphas: &[] })
    }

    /// The rows that take part in a binary problem; those that cost nothing do not.
    pub(super) fn examples(&self, target: Target) -> Vec<Example> {
        let example = |(i, (&class, &cost)): (usize, (&u32, &f64))| {
            let positive = target.of(class)? == 1;
            (cost > 0.0).then_some(Example::new(i, cost, positive))
        };
        self.y.iter().zip(&self.cost).enumerate().filter_map(example).collect()
    }

    /// The same, copies being one where they are known.
    pub(super) fn examples_of(&self, target: Target, copies: Option<&Copies>) -> Vec<Example> {
        match copies {
            Some(copies) => self.merged(target, copies),
            None => self.examples(target),
        }
    }

    fn merged(&self, target: Target, copies: &Copies) -> Vec<Example> {
        const NONE: u32 = u32::MAX;
        let mut places = vec![NONE; self.y.len()];
        let mut examples: Vec<Example> = Vec::new();
        for example in self.examples(target) {
            let place = &mut places[copies.first(example.row as usize)];
            match examples.get_mut(*place as usize) {
                Some(first) => first.add_copy(example.cost),
                None => {
                    *place = examples.len() as u32;
                    examples.push(example);
                }
            }
        }
        examples
    }

    /// The rows that take part in a problem of all classes.
    pub(super) fn joint_examples(&self) -> Vec<JointExample> {
        let example = |(i, (&class, &cost)): (usize, (&u32, &f64))| {
            (cost > 0.0).then_some(JointExample { cost, row: i as u32, class })
        };
        self.y.iter().zip(&self.cost).enumerate().filter_map(example).collect()
    }
}

/// What was found, whatever found it.
pub(crate) struct Solved {
    pub(crate) body: Body,
    pub(crate) decision: Decision,
    pub(crate) certificate: Certificate,
    pub(crate) passes: usize,
    pub(crate) end: End,
    /// Which solver ran, and why.
    pub(crate) solver: String,
    /// The parts, where there are several.
    pub(crate) problems: Vec<SubProblem>,
    pub(crate) link: Option<Link>,
    /// P at the start and after each step, where the solver shows it.
    pub(crate) costs: Vec<f64>,
    /// All scores, where they are known.
    pub(crate) scores: Option<Vec<f64>>,
    /// Whether the training rows are scored where they are not; with many stored examples that takes as long as the fit.
    pub(crate) measured: bool,
    /// The mean of K(x, x), where rows are in the space of a kernel.
    pub(crate) mean_square: Option<f64>,
    /// ‖w‖² of the one plane, where it is known.
    pub(crate) square: Option<f64>,
    /// How far the optimality conditions are broken, where the solver goes by them.
    pub(crate) violation: Option<f64>,
    /// Whether rows beyond the margin cost nothing, so that some rows are support vectors, and g(x) = ±1 the edges of a corridor.
    pub(crate) edged: bool,
    /// α and b of each problem, of descents through the dual.
    pub(crate) alphas: Vec<(Vec<f64>, f64)>,
}

impl Solved {
    /// Several problems of two classes, or one.
    pub(crate) fn of_parts(
        parts: &[Summary],
        classes: &Classes,
        gap: f64,
        body: Body,
        decision: Decision,
    ) -> Solved {
        Solved {
            certificate: total(parts.iter().map(|part| &part.certificate)),
            passes: parts.iter().map(|part| part.passes).max().unwrap_or_default(),
            end: parts.iter().map(|part| part.end).max().unwrap_or(End::Converged),
            problems: problems(parts, classes, gap),
            ..Solved::of(body, decision)
        }
    }

    /// A body of which nothing is known yet.
    pub(crate) fn of(body: Body, decision: Decision) -> Solved {
        Solved {
            body,
            decision,
            certificate: Certificate::default(),
            passes: 0,
            end: End::Converged,
            solver: String::new(),
            problems: Vec::new(),
            link: None,
            costs: Vec::new(),
            scores: None,
            measured: true,
            mean_square: None,
            square: None,
            violation: None,
            edged: true,
            alphas: Vec::new(),
        }
    }

    /// The same for losses that all rows have a part in.
    pub(crate) fn without_edges(self) -> Solved {
        let problems = self.problems.into_iter();
        let problems = problems.map(|problem| SubProblem { support_vectors: None, ..problem }).collect();
        Solved { edged: false, problems, ..self }
    }

    /// One problem for all classes.
    pub(crate) fn jointly(solution: JointSolution, solver: &str) -> Solved {
        let JointSolution { planes, certificate, passes, end } = solution;
        Solved {
            certificate,
            passes,
            end,
            solver: joint_title(solver),
            ..Solved::of(Body::Linear(planes), Decision::Highest)
        }
    }
}

/// What a report says of a solver of all classes.
pub(super) fn joint_title(solver: &str) -> String {
    format!("{solver}, all classes in one problem")
}

/// Binary problems, solved side by side.
pub(crate) fn solve_reduced(
    common: &Common<'_>,
    method: &impl Method,
    costs: &Costs<'_>,
    monitor: &Monitor<'_>,
) -> Result<Solved, Error> {
    let (features, bias) = (costs.x.n_cols(), common.bias);
    check_memory(features, method.numbers(features))?;
    check_form(matrix_bytes(common, method, costs.x, costs.classes.len()))?;
    check_form(form_bytes(common, method, costs.x, costs.classes.len()))?;
    let margin = method.least_margin(costs.x, common.bias);
    let (targets, decision) = targets(common.multiclass, costs.classes.len());
    let limits = Limits { dual: 0.5 / margin.powi(2), ..common.limits() };
    let one = targets.len() == 1;
    let copies = if method.merges_copies() { Copies::of(costs.x, costs.y) } else { None };
    let examples = |target: Target| costs.examples_of(target, copies.as_ref());
    let shared = shared(common, method, costs, &targets, examples, monitor);
    let solve = |(c, target): (usize, Target)| {
        let examples = examples(target);
        let normal = costs.start.map(|planes| (planes.normal(c), planes.bias()[c]));
        let start = normal.as_ref().map(|(w, b)| (&w[..], *b));
        let solution = with_rows!(costs.x, x => {
            let common = shared.as_ref();
            let alpha = costs.alphas.get(c).filter(|(alpha, _)| alpha.len() == examples.len());
            let alpha = alpha.map(|(alpha, b)| (&alpha[..], *b));
            method.solve(&Binary { x, examples: &examples, bias, start, common, alpha }, limits, monitor)
        });
        // Those of several problems would be as many numbers as the data has.
        let scores = match &copies {
            _ if !one => Vec::new(),
            Some(copies) => copies.spread(&examples, &solution.scores),
            None => solution.scores,
        };
        (target, Solution { scores, ..solution })
    };
    let mut solutions: Vec<(Target, Solution)> = abreast(targets.into_iter().enumerate().collect(), solve);
    if let Some((target, _)) = solutions.iter().find(|(_, solution)| solution.end == End::Diverged) {
        let problem = (solutions.len() > 1).then(|| target.title(costs.classes));
        let rows = costs.examples(*target);
        let rows = rows.iter().map(|example| (example.row, example.is_positive()));
        let proof = obstruction(costs.x, rows, common.bias.is_lifted(), monitor)?;
        return Err(Error::NotSeparable { problem, positive: target.positive(), margin, proof });
    }
    let scores = all_scores(&mut solutions, costs.x.n_rows());
    let steps = costs_of_steps(&solutions);
    let means = solutions.iter().fold(Means::default(), |all, (_, solution)| all.and(solution.means));
    let summary = |(target, solution): &(Target, Solution)| Summary {
        target: *target,
        certificate: solution.certificate.clone(),
        passes: solution.passes,
        end: solution.end,
    };
    let summaries: Vec<Summary> = solutions.iter().map(summary).collect();
    let alphas = solutions.iter_mut().map(|(_, s)| (std::mem::take(&mut s.alpha), s.b)).collect();
    let body = Body::Linear(planes_of(solutions, common.bias, costs.x.n_cols()));
    let solved = Solved::of_parts(&summaries, costs.classes, common.gap, body, decision);
    Ok(Solved { solver: method.account(means), costs: steps, scores, alphas, ..solved })
}

/// How a binary problem of a reduction ended.
pub(crate) struct Summary {
    pub(crate) target: Target,
    pub(crate) certificate: Certificate,
    pub(crate) passes: usize,
    pub(crate) end: End,
}

/// One-vs-rest problems are over the same rows.
fn shared(
    common: &Common<'_>,
    method: &impl Method,
    costs: &Costs<'_>,
    targets: &[Target],
    examples: impl Fn(Target) -> Vec<Example>,
    monitor: &Monitor<'_>,
) -> Option<Shared> {
    let [first @ Target::OneVsRest(_), _, ..] = targets else { return None };
    let examples = examples(*first);
    let (examples, bias) = (&examples, common.bias);
    let normal = costs.start.map(|planes| (planes.normal(0), planes.bias()[0]));
    let start = normal.as_ref().map(|(w, b)| (&w[..], *b));
    with_rows!(costs.x, x => method.common(&Binary { x, examples, bias, start, common: None, alpha: None }, monitor))
}

/// Those of the only plane, where all rows took part and its solver knows them: a pass over the data less.
fn all_scores(solutions: &mut [(Target, Solution)], n_rows: usize) -> Option<Vec<f64>> {
    let [(_, Solution { b, scores, .. })] = solutions else { return None };
    let b = *b;
    let mut scores = std::mem::take(scores);
    scores.iter_mut().for_each(|score| *score += b);
    (scores.len() == n_rows).then_some(scores)
}

/// The binary problems of a scheme.
pub(super) fn targets(scheme: Multiclass, n_classes: usize) -> (Vec<Target>, Decision) {
    match (scheme, n_classes) {
        (_, 0..=2) => (vec![Target::Class], Decision::Sign(Tie::default())),
        (Multiclass::Ovo, k) => {
            let pairs = pairs(k).into_iter().map(|(a, b)| Target::Pair(a, b));
            (pairs.collect(), Decision::Pairs(Tie::default()))
        }
        (_, k) => ((0..k).map(Target::OneVsRest).collect(), Decision::Highest),
    }
}

/// As [`learn`], for binary problems that a method solves.
pub(crate) fn learn_reduced(
    about: Report,
    common: &Common<'_>,
    task: &Task<'_>,
    watch: &mut dyn Watch,
    method: &impl Method,
) -> Result<Fit, Error> {
    common.refuse_native()?;
    learn(about, common, task, watch, |costs, monitor| solve_reduced(common, method, costs, monitor))
}

/// What binary problems that a method solves would take.
pub(crate) fn demand(common: &Common<'_>, data: &Dataset<'_>, method: &impl Method) -> Result<Demand, Error> {
    /// Of each problem under way: examples, also those that are near the margin, α, scores here and there, moves, slopes, curvatures, and what a loss remembers.
    const ROW: usize = 14;
    let (x, classes) = (data.x(), data.classes().len());
    let (planes, features) = (common.multiclass.planes(classes), data.n_features());
    let abreast = planes.min(rayon::current_num_threads());
    // Costs and copies; then scores of all planes, when solvers have gone.
    let rows = (2 + ROW * abreast).max(2 + planes);
    // Weights as they are found, in the model, and in its file.
    let numbers = method.numbers(features).saturating_mul(abreast).saturating_add(3 * planes);
    let more =
        matrix_bytes(common, method, x, classes).saturating_add(form_bytes(common, method, x, classes));
    Ok(Demand::of(method.title(), (data.n_rows(), rows), (features, numbers), more))
}

/// Of all problems under way, and of what those against the rest have in common.
fn matrix_bytes(common: &Common<'_>, method: &impl Method, x: &Matrix<'_>, classes: usize) -> usize {
    let abreast = common.multiclass.planes(classes).min(rayon::current_num_threads());
    let shared = usize::from(classes > 2 && common.multiclass == Multiclass::Ovr);
    method.matrix_bytes(x.n_rows(), x.n_cols()).saturating_mul(abreast + shared)
}

/// What a method makes of the data takes: once where all problems are over the same rows, else for each that is under way.
fn form_bytes(common: &Common<'_>, method: &impl Method, x: &Matrix<'_>, classes: usize) -> usize {
    let abreast = common.multiclass.planes(classes).min(rayon::current_num_threads());
    let pairs = common.multiclass == Multiclass::Ovo && classes > 2;
    method.form_bytes(x).saturating_mul(if pairs { abreast } else { 1 })
}

/// Everything around the solvers: checks, the monitor, the report.
pub(crate) fn learn(
    about: Report,
    common: &Common<'_>,
    task: &Task<'_>,
    watch: &mut dyn Watch,
    solve: impl FnOnce(&Costs<'_>, &Monitor<'_>) -> Result<Solved, Error> + Send,
) -> Result<Fit, Error> {
    common.check()?;
    task.check()?;
    let data = task.data;
    let n_classes = data.classes().len();
    check_memory(data.n_features(), common.multiclass.planes(n_classes).saturating_mul(3))?;
    // In the space of a kernel there are no planes to start from, and rows are of other lengths.
    let linear = about.parameters.get("kernel").is_none();
    let priced = Costs::new(task, common, linear)?;
    let mut monitor = Monitor::new(watch, common.time_limit, common.passes);
    monitor.start_pass(1, 0, None);
    let known = || (data.fingerprint(), linear.then(|| radius(data.x(), common.bias.is_lifted())));
    let (solved, (fingerprint, radius)) = beside(|| solve(&priced, &monitor), known);
    let solved = solved?;
    let Solved { body, decision, certificate, passes, end, solver, problems, link, costs, .. } = solved;
    let status = status(end, &monitor);
    let ended = matches!(status, Status::Stalled | Status::PassLimit | Status::TimeLimit);
    let mean_cost = priced.cost.iter().sum::<f64>() / data.n_rows() as f64;
    // Not every learner has a C.
    let mean_cost = about.parameters.get("c").map(|_| mean_cost);
    let (gap, bias, mean_square) = (certificate.gap(), common.bias, solved.mean_square);
    let stuck = Stuck { status, gap, costs: &costs, mean_cost, mean_square, bias };
    let diagnosis = if ended { diagnose(data, &stuck) } else { Vec::new() };
    let report = Report {
        status,
        diagnosis,
        rows: data.n_rows() as u64,
        // Where nothing feasible is known there is no primal value.
        primal: Some(certificate.primal).filter(|primal| primal.is_finite()),
        dual: Some(certificate.dual),
        gap: certificate.relative_gap(),
        support_vectors: solved.edged.then_some(certificate.support_vectors),
        slacks: Some(certificate.slacks),
        solver: Some(solver),
        violation: solved.violation,
        solver_passes: Some(passes),
        resumed: Some(task.start.is_some()),
        problems,
        costs,
        ..about
    };
    let holdout_accuracy = task.holdout.map(|holdout| {
        weighted_accuracy(&body.predict(decision, holdout.classes().len(), holdout.x()), holdout)
    });
    let scores = solved.scores.or_else(|| solved.measured.then(|| body.scores(data.x())));
    let mut measure = Measure::new(body, decision).with_square(solved.square).with_edges(solved.edged);
    if let Some(scores) = scores {
        measure.score(data, &scores, radius);
    }
    let (body, report) = measure.complete(Report { holdout_accuracy, ..report }, fingerprint, false);
    Ok(Fit { model: Model { link, ..task.model(decision, body) }, report })
}

/// Problems without variables in common add up.
fn total<'c>(certificates: impl Iterator<Item = &'c Certificate>) -> Certificate {
    let mut all = Certificate { vanishes: true, ..Certificate::default() };
    for certificate in certificates {
        all.vanishes &= certificate.vanishes;
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

fn status(end: End, monitor: &Monitor<'_>) -> Status {
    match (end, monitor.stopped()) {
        (End::Stopped, Some(Stop::Time)) => Status::TimeLimit,
        (End::Stopped, _) => Status::Interrupted,
        (End::PassLimit, _) => Status::PassLimit,
        (End::Stalled, _) => Status::Stalled,
        (End::Diverged, _) => Status::Inseparable,
        (End::Converged, _) => Status::Converged,
    }
}

fn problems(parts: &[Summary], classes: &Classes, asked: f64) -> Vec<SubProblem> {
    let problem = |part: &Summary| {
        let Certificate { primal, dual, slacks, support_vectors, .. } = part.certificate;
        let gap = part.certificate.relative_gap();
        SubProblem {
            title: part.target.title(classes),
            passes: part.passes,
            last_updates: 0,
            converged: gap.is_none_or(|gap| gap <= asked),
            gap,
            primal: Some(primal).filter(|primal| primal.is_finite()),
            dual: Some(dual),
            support_vectors: Some(support_vectors),
            slacks: Some(slacks),
        }
    };
    if parts.len() > 1 { parts.iter().map(problem).collect() } else { Vec::new() }
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
pub(crate) fn objective(common: &Common<'_>, data: &Dataset<'_>, penalty: Penalty, loss: &str) -> String {
    let (norm, score) = terms(common.bias);
    let norm = if penalty == Penalty::L1 { "‖w‖₁" } else { norm };
    format!("min {norm} + {}; g(x) = {score}", cost(common, data, loss))
}

/// The same for one problem of all classes.
pub(super) fn joint_objective(common: &Common<'_>, data: &Dataset<'_>, loss: &str) -> String {
    let (norm, score) = match common.bias {
        Bias::Free => ("½Σ‖w_c‖²", "w_c·x + b_c"),
        Bias::Regularized => ("½Σ(‖w_c‖² + b_c²)", "w_c·x + b_c"),
        Bias::None => ("½Σ‖w_c‖²", "w_c·x"),
    };
    format!("min {norm} + {}; g_c(x) = {score}", cost(common, data, loss))
}

/// What the norm counts, and the score.
pub(super) fn terms(bias: Bias) -> (&'static str, &'static str) {
    match bias {
        Bias::Free => ("½‖w‖²", "w·x + b"),
        Bias::Regularized => ("½(‖w‖² + b²)", "w·x + b"),
        Bias::None => ("½‖w‖²", "w·x"),
    }
}

/// What all examples cost, given what one does that counts 1.
pub(super) fn cost(common: &Common<'_>, data: &Dataset<'_>, loss: &str) -> String {
    let Counted { times, told } = Counted::of(common, data, common.lambda.is_some());
    match common.lambda {
        Some(lambda) => format!("1/(λn)·Σ {times}{loss}, λ = {lambda}{told}"),
        None => format!("C·Σ {times}{loss}, C = {}{told}", common.c),
    }
}

/// How an objective shows that not all examples count the same.
#[derive(Default)]
pub(crate) struct Counted {
    /// Before what an example costs.
    pub(super) times: &'static str,
    /// What that is.
    pub(super) told: String,
}

impl Counted {
    const TIMES: &'static str = "cᵢ·";
    const TOLD: &'static str = ", cᵢ ";
    const TOTAL: &'static str = ", n = Σcᵢ";

    /// `total` is whether the objective has an n in it.
    pub(super) fn of(common: &Common<'_>, data: &Dataset<'_>, total: bool) -> Self {
        let Some(told) = ClassWeight::told(common.class_weight, data) else { return Counted::default() };
        let n = if total { Self::TOTAL } else { "" };
        Counted { times: Self::TIMES, told: format!("{n}{}{told}", Self::TOLD) }
    }

    /// An objective as model files of versions before 7 have it, which do not show what counts how much.
    pub(crate) fn without(objective: &str) -> String {
        let plain = objective.replace(Self::TIMES, "");
        let told = [Self::TOTAL, Self::TOLD].iter().filter_map(|told| plain.find(told)).min();
        match (told, plain.rfind("; g")) {
            (Some(from), Some(to)) if from < to => format!("{}{}", &plain[..from], &plain[to..]),
            _ => plain,
        }
    }
}

/// The constant parts of a report.
pub(crate) fn about(algorithm: &str, objective: String, parameters: Value) -> Report {
    Report { algorithm: algorithm.to_owned(), objective, parameters, ..Report::default() }
}
