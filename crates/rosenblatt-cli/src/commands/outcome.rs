//! What a training run says of itself.

use std::path::Path;
use std::time::Duration;

use rosenblatt::{
    Audit, Body, Calibrated, CalibrationMethod, FeatureMap, Fit, Kernel, Matrix, Report, Status,
};
use rosenblatt_io::{Hashing, Stretch};
use serde_json::{Value, json};

use super::audit;
use super::data::describe_classes;
use super::obstacle::Obstacle;
use crate::format::{bytes, count, number, percent, plural, time};
use crate::style::{DIM, GOOD, TITLE, WARN};
use crate::table::Table;

/// What a run produced, for both kinds of output.
pub(super) struct Outcome<'a> {
    pub(super) origin: String,
    pub(super) fit: Fit,
    /// Whether rows have weights of their own.
    pub(super) weighted: bool,
    pub(super) hashing: Option<Hashing>,
    pub(super) audit: Option<Audit>,
    /// Why it does not converge, where that is proved.
    pub(super) obstacle: Option<Obstacle>,
    /// Reading, training, writing.
    pub(super) seconds: [Duration; 3],
    /// Where the rows are, in words.
    pub(super) rows: String,
    pub(super) stream: Option<StreamPart>,
    /// Where the model was written.
    pub(super) output: Option<&'a Path>,
}

/// What only a stream has to say.
pub(super) struct StreamPart {
    pub(super) progressive: Vec<Stretch>,
    pub(super) resumed: Option<(usize, u64)>,
    pub(super) cached: u64,
    /// How to go on, if it was stopped.
    pub(super) go_on: Option<String>,
}

impl Outcome<'_> {
    pub(super) fn json(&self) -> Value {
        let Report { algorithm, objective, status, updates, .. } = &self.fit.report;
        let report = &self.fit.report;
        let [read, train, write] = self.seconds.map(|time| time.as_secs_f64());
        json!({
            "algorithm": algorithm,
            "objective": objective,
            "status": status.name(),
            "passes": report.n_passes(),
            "updates": updates,
            "mistakes": report.mistakes,
            "primal": report.primal,
            "dual": report.dual,
            "gap": report.gap,
            "violation": report.violation,
            "rows": report.rows,
            "features": self.fit.model.features.count,
            "classes": self.fit.model.classes,
            "train_accuracy": report.train_accuracy,
            "holdout_accuracy": report.holdout_accuracy,
            "best_pass": report.best_pass,
            "margin": report.margin,
            "lifted_margin": report.lifted_margin,
            "corridor": report.corridor,
            "radius": report.radius,
            "mistake_bound": report.mistake_bound,
            "support_vectors": report.support_vectors,
            "slacks": report.slacks,
            "solver": report.solver,
            "calibration": report.calibration,
            "diagnosis": report.diagnosis,
            "costs": report.costs,
            "seconds": { "read": read, "train": train, "write": write },
            "model": self.output,
            "parameters": report.parameters,
            "history": report.passes,
            "problems": report.problems,
            "hashing": self.hashing.map(|Hashing { bits, names, shared, buckets_used }| {
                json!({ "bits": bits, "names": names, "shared": shared, "buckets_used": buckets_used })
            }),
            "never_converges": self.obstacle.as_ref().map(Obstacle::json),
            "audit": self.audit.as_ref().map(audit::json),
            "progressive": self.stream.as_ref().map(StreamPart::json),
        })
    }

    pub(super) fn text(&self) -> String {
        let report = &self.fit.report;
        let mut text = format!(
            "{TITLE}{}{TITLE:#} on {}: {} × {}, {}\n\n",
            report.algorithm,
            self.origin,
            plural(report.rows, "row", "rows"),
            plural(self.fit.model.features.count as u64, "feature", "features"),
            describe_classes(&self.fit.model.classes),
        );
        if report.passes.iter().any(|pass| pass.holdout_accuracy.is_some()) {
            text += &format!("{}\n", passes_table(report));
        }
        if !report.problems.is_empty() {
            text += &format!("{}\n", problems_table(report));
        }
        for (name, value) in self.lines() {
            text += &format!("  {DIM}{name:<10}{DIM:#}{value}\n");
        }
        if let Some(stream) = &self.stream {
            text += &format!("\n{}", stream.table());
        }
        text + &self.next_step()
    }

    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let report = &self.fit.report;
        let mut lines = vec![("rule", report.objective.clone()), ("status", status_line(report))];
        match &self.obstacle {
            Some(obstacle) => lines.push(("", obstacle.line())),
            None if report.status == Status::PassLimit && report.gap.is_none() && report.n_passes() > 1 => {
                lines.push(("", "the classes may overlap, or need more --passes".to_owned()));
            }
            None => {}
        }
        if let Some(scaling) = &self.fit.model.scaling {
            lines.push(("scaling", format!("{}, stored in the model", scaling.kind.name())));
        }
        lines.extend(self.fit.model.map.as_ref().map(|map| ("map", map_line(map))));
        lines.extend(self.hashing.map(|hashing| ("hashing", hashing_line(hashing))));
        match &self.stream {
            Some(stream) => lines.push(("accuracy", stream.accuracy_line(report, self.weighted))),
            None => lines.push(("accuracy", accuracy_line(report, self.weighted))),
        }
        lines
            .extend(report.calibration.as_ref().map(|calibrated| ("left out", calibration_line(calibrated))));
        lines.extend(certificate_lines(&self.fit));
        if let Some(margin) = report.margin {
            lines.push(("margin", margin_line(report, margin)));
        }
        lines.extend(corridor_line(report));
        if let Some(bound) = report.mistake_bound {
            let mistakes = plural(report.mistakes, "mistake", "mistakes");
            let most = format!("{mistakes} made, at most");
            lines.push((
                "bound",
                match lifted_margin(report) {
                    Some(gamma) => format!(
                        "{most} (R/γ′)² = {} possible; γ′ = {gamma} counts the bias as a weight",
                        number(bound, 4)
                    ),
                    None => format!("{most} (R/γ)² = {} possible", number(bound, 4)),
                },
            ));
        }
        lines.extend(self.audit.as_ref().map(|audit| ("audit", audit::summary(audit))));
        let [read, train, _] = self.seconds.map(time);
        match self.stream {
            Some(_) => lines.push(("time", format!("read and train {train}"))),
            None => lines.push(("time", format!("read {read}, train {train}"))),
        }
        lines.push(("memory", self.memory_line()));
        lines
    }

    fn memory_line(&self) -> String {
        let model = match &self.fit.model.body {
            Body::Linear(planes) => plural((planes.k() * (planes.n_cols() + 1)) as u64, "weight", "weights"),
            Body::Voted(ballots) => {
                let voters: usize = ballots.iter().map(rosenblatt::Ballot::voters).sum();
                plural(voters as u64, "voting vector", "voting vectors")
            }
            Body::Bayes(bayes) => {
                plural((bayes.n_classes() * (2 * bayes.n_cols() + 1)) as u64, "number", "numbers")
            }
            Body::Layers(layers) => plural(layers.n_weights() as u64, "weight", "weights"),
            Body::Kernel(expansion) => {
                let stored = plural(expansion.len() as u64, "stored row", "stored rows");
                format!("{stored}, {}", in_memory(expansion.rows()))
            }
        };
        format!("data {}, model {model}", self.rows)
    }

    fn next_step(&self) -> String {
        if let Some(go_on) = self.stream.as_ref().and_then(|stream| stream.go_on.as_ref()) {
            return format!("\n{go_on}\n");
        }
        match self.output {
            Some(path) => {
                let path = path.display();
                format!(
                    "\nWrote {path}. Next: `rosenblatt predict {path} DATA`, `rosenblatt inspect {path}`\n"
                )
            }
            None => "\nNot kept: add `-o FILE.model` to keep the model.\n".to_owned(),
        }
    }
}

/// "5 parts in turn: accuracy 96.00%, log loss 0.1234 of the probabilities"
pub(super) fn calibration_line(Calibrated { method, folds, accuracy, log_loss }: &Calibrated) -> String {
    let (accuracy, log_loss) = (percent(*accuracy), number(*log_loss, 4));
    let curve = match method {
        CalibrationMethod::Slope => "",
        CalibrationMethod::Platt => " (Platt)",
        CalibrationMethod::Isotonic => " (isotonic)",
    };
    format!("{folds} parts in turn: accuracy {accuracy}, log loss {log_loss} of the probabilities{curve}")
}

/// "poly:2, 4 features become 15"
pub(super) fn map_line(map: &FeatureMap) -> String {
    let inputs = plural(map.inputs.count as u64, "feature", "features");
    format!("{}, {inputs} become {}", map.kind, count(map.n_outputs() as u64))
}

impl StreamPart {
    fn json(&self) -> Value {
        json!({
            "accuracy": self.progressive.last().map(Self::accuracy),
            "steps": self.progressive,
            "resumed": self.resumed.map(|(pass, rows)| json!({ "pass": pass, "rows": rows })),
            "kept_bytes": self.cached,
        })
    }

    fn accuracy(stretch: &Stretch) -> f64 {
        1.0 - stretch.mistakes as f64 / stretch.rows.max(1) as f64
    }

    fn accuracy_line(&self, report: &Report, weighted: bool) -> String {
        let progressive = self.progressive.last().map(|last| percent(Self::accuracy(last)));
        let progressive = format!("{} progressive", progressive.unwrap_or_default());
        match report.train_accuracy {
            Some(_) => format!("{}, {progressive}", accuracy_line(report, weighted)),
            None => progressive,
        }
    }

    /// Vowpal Wabbit's habit: the share of mistakes at every doubling of the rows, and since the one before.
    fn table(&self) -> Table {
        const SHOWN: usize = 12;
        let mut table = Table::new(&[">rows", ">mistakes", ">right so far", ">right since the last"]);
        let mut before = Stretch { rows: 0, mistakes: 0 };
        let hidden = self.progressive.len().saturating_sub(SHOWN);
        for (at, stretch) in self.progressive.iter().enumerate() {
            let since =
                Stretch { rows: stretch.rows - before.rows, mistakes: stretch.mistakes - before.mistakes };
            before = *stretch;
            if at >= hidden {
                table.row([
                    count(stretch.rows),
                    count(stretch.mistakes),
                    percent(Self::accuracy(stretch)),
                    percent(Self::accuracy(&since)),
                ]);
            }
        }
        table
    }
}

/// "16 MiB (sparse f32, 1,000 entries)"
pub(super) fn in_memory(x: &Matrix<'_>) -> String {
    let layout = if x.is_sparse() { "sparse" } else { "dense" };
    let precision = if x.is_single() { "f32" } else { "f64" };
    format!("{} ({layout} {precision}, {} entries)", bytes(x.bytes()), count(x.entries() as u64))
}

/// What a solver proves of its answer. Shared with `inspect`.
pub(super) fn certificate_lines(fit: &Fit) -> Vec<(&'static str, String)> {
    let (report, mut lines) = (&fit.report, Vec::new());
    lines.extend(report.solver.clone().map(|solver| ("solver", solver)));
    lines.extend(report.diagnosis.iter().map(|problem| ("diagnosis", problem.clone())));
    if let [start, steps @ ..] = &report.costs[..] {
        let doublings = (0..).map(|power| 1usize << power).take_while(|&step| step < steps.len());
        let after = doublings.chain([steps.len()]).filter(|&step| step > 0);
        let after = after.map(|step| format!(", {} after {step}", number(steps[step - 1], 5)));
        lines.push(("costs", format!("{} at the start{}", number(*start, 5), after.collect::<String>())));
    }
    if let (Some(primal), None) = (report.primal, report.dual) {
        lines.push((
            "objective",
            format!("{} reached; nothing proves how far the optimum is", number(primal, 6)),
        ));
    }
    if let Some(apart) = absolute_gap(report.gap, report.primal, report.dual) {
        lines.push((
            "optimum",
            format!(
                "0 as far as can be told: objective and dual value are {apart:.1e} apart, and no share of 0"
            ),
        ));
    }
    if let (Some(primal), Some(dual), Some(gap)) = (report.primal, report.dual, report.gap) {
        let (primal, dual) = (number(primal, 8), number(dual, 8));
        let unless = if is_of_dot_products(fit) {
            ""
        } else {
            "; unless the kernel is not positive semi-definite, which is not known"
        };
        let optimum = format!("between {dual} and {primal}, the objective reached: gap {gap:.1e}{unless}");
        lines.push(("optimum", optimum));
    }
    if let Some(slacks) = report.slacks {
        let [outside, inside, wrong] = [slacks.outside, slacks.inside, slacks.wrong_side].map(count);
        let vectors = report.support_vectors.map(|n| plural(n, "support vector", "support vectors") + "; ");
        let vectors = vectors.unwrap_or_default();
        lines.push((
            "rows",
            format!("{vectors}{outside} outside the margin, {inside} inside, {wrong} on the wrong side"),
        ));
    }
    lines
}

/// Whether what is learned lies in a space where duality holds, for sure.
fn is_of_dot_products(fit: &Fit) -> bool {
    match &fit.model.body {
        Body::Kernel(expansion) => expansion.kernel().kernel().is_some_and(Kernel::is_positive),
        _ => true,
    }
}

/// How far primal and dual value are apart where the optimum is 0, so that there is no relative gap.
fn absolute_gap(gap: Option<f64>, primal: Option<f64>, dual: Option<f64>) -> Option<f64> {
    let (primal, dual) = (primal?, dual?);
    gap.is_none().then_some((primal - dual).abs())
}

/// The gap, or what there is instead.
fn gap_shown(gap: Option<f64>, primal: Option<f64>, dual: Option<f64>) -> Option<String> {
    let absolute = absolute_gap(gap, primal, dual).map(|gap| format!("{gap:.1e} (absolute)"));
    gap.map(|gap| format!("{gap:.1e}")).or(absolute)
}

fn status_line(report: &Report) -> String {
    let passes = plural(report.n_passes() as u64, "pass", "passes");
    if let Some(gap) = gap_shown(report.gap, report.primal, report.dual) {
        let gap = format!("after {passes}, duality gap {gap}");
        return match report.status {
            Status::Converged => format!("{GOOD}converged{GOOD:#} {gap}"),
            Status::Interrupted => format!("{WARN}interrupted{WARN:#} {gap}; this is the best model so far"),
            status => format!("{WARN}{}{WARN:#} {gap}", status.name().replace('_', " ")),
        };
    }
    if report.updates == 0 && report.passes.is_empty() && report.status == Status::Converged {
        return format!("{GOOD}done{GOOD:#}: {passes}, in closed form");
    }
    let updates = plural(report.updates, "update", "updates");
    let last = report.passes.last().map_or(0, |pass| pass.updates);
    let limit = |what: &str| {
        format!("{WARN}{what}{WARN:#} after {passes}, {updates}, {} in the last pass", count(last))
    };
    match report.status {
        Status::Converged if last > 0 => {
            let patience = report.parameters["patience"].as_u64().unwrap_or(1);
            format!(
                "{GOOD}converged{GOOD:#}: {passes}, {updates}, nothing better in the last {}",
                plural(patience, "pass", "passes")
            )
        }
        Status::Converged => format!("{GOOD}converged{GOOD:#}: {passes}, {updates}, none in the last pass"),
        Status::PassLimit => limit("pass limit"),
        Status::TimeLimit => limit("time limit"),
        Status::Interrupted => limit("interrupted") + "; this is the best model so far",
        Status::Stalled | Status::Inseparable => limit(report.status.name()),
    }
}

fn hashing_line(Hashing { bits, names, shared, .. }: Hashing) -> String {
    let share = 100.0 * shared as f64 / names.max(1) as f64;
    let sharing = if shared == 0 {
        "each has its own".to_owned()
    } else {
        format!("{} names share one ({share:.1}%)", count(shared))
    };
    format!("{} in 2^{bits} buckets: {sharing}", plural(names, "name", "names"))
}

/// γ′, the margin with the bias as a weight; nothing where there is no bias, so that it is γ.
pub(super) fn lifted_margin(report: &Report) -> Option<String> {
    let gamma = report.lifted_margin.filter(|_| report.parameters["bias"] != "none");
    gamma.map(|gamma| number(gamma, 4))
}

fn margin_line(report: &Report, margin: f64) -> String {
    let radius =
        report.radius.map(|radius| format!(", radius R = {}", number(radius, 4))).unwrap_or_default();
    match margin > 0.0 {
        true => format!("γ = {} from the boundary to the nearest row{radius}", number(margin, 4)),
        false => format!("the worst row is {} beyond the boundary{radius}", number(-margin, 4)),
    }
}

/// The width that a support vector machine makes large. Shared with `inspect`.
pub(super) fn corridor_line(report: &Report) -> Option<(&'static str, String)> {
    let line = |width| format!("2/‖w‖ = {} from g(x) = −1 to g(x) = 1", number(width, 4));
    report.corridor.map(|width| ("corridor", line(width)))
}

/// Long runs show their first passes, the one kept and the last.
fn passes_table(report: &Report) -> Table {
    const SHOWN: usize = 12;
    let mut table = Table::new(&[">pass", ">mistakes", ">updates", ">train", ">held out", ""]);
    let share = |accuracy: Option<f64>| accuracy.map(percent).unwrap_or_default();
    let last = report.passes.len();
    for pass in &report.passes {
        let kept = report.best_pass == Some(pass.pass);
        if pass.pass == SHOWN + 1 && last > SHOWN + 1 {
            table.row(["…".to_owned()]);
        }
        if pass.pass <= SHOWN || kept || pass.pass == last {
            table.row([
                count(pass.pass as u64),
                count(pass.mistakes),
                count(pass.updates),
                share(pass.train_accuracy),
                share(pass.holdout_accuracy),
                if kept { "← kept".to_owned() } else { String::new() },
            ]);
        }
    }
    table
}

fn problems_table(report: &Report) -> Table {
    const SHOWN: usize = 12;
    let solved = report.dual.is_some();
    let mut table =
        Table::new(&["problem", ">passes", if solved { ">gap" } else { ">updates in the last" }, ""]);
    for problem in report.problems.iter().take(SHOWN) {
        let converged = if problem.converged { "converged" } else { "" };
        let gap = gap_shown(problem.gap, problem.primal, problem.dual);
        let last = gap.unwrap_or_else(|| count(problem.last_updates));
        table.row([problem.title.clone(), count(problem.passes as u64), last, converged.to_owned()]);
    }
    if report.problems.len() > SHOWN {
        table.row([format!("… and {} more", report.problems.len() - SHOWN)]);
    }
    table
}

/// Shared with `inspect`. A run stopped while a vote was counted has no accuracy.
pub(super) fn accuracy_line(report: &Report, weighted: bool) -> String {
    let train = report.train_accuracy.map_or("not measured".to_owned(), percent);
    let by = if weighted { " by weight" } else { "" };
    let held = report.holdout_accuracy.map(|held| format!(", {} held out", percent(held)));
    format!("{train} train{}{by}", held.unwrap_or_default())
}
