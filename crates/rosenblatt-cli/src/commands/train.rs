//! `train`

use std::time::{Duration, Instant};

use rosenblatt::{Audit, Body, Fit, Learner, Report, Status, Task};
use rosenblatt_io::{Hashing, check_writable, save};
use serde_json::{Value, json};

use super::data::{Training, describe_classes};
use super::{audit, emit, emit_json};
use crate::args::{Cli, TrainArgs};
use crate::failure::Failure;
use crate::format::{bytes, count, number, percent, plural, time};
use crate::progress::{Bar, uninterrupted};
use crate::style::{DIM, GOOD, TITLE, WARN};
use crate::table::Table;

/// What a run produced, for both kinds of output.
struct Run<'a> {
    args: &'a TrainArgs,
    training: Training,
    fit: Fit,
    audit: Option<Audit>,
    seconds: [Duration; 3],
}

pub(crate) fn run(cli: &Cli, args: &TrainArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    if let Some(path) = &args.output {
        // A long run must not end at a file that could never be written.
        check_writable(path)?;
    }
    let start = Instant::now();
    let training =
        Training::read(&args.data, &args.read, args.learner.scale, args.holdout.as_deref(), cli.seed)?;
    let read = start.elapsed();
    let start = Instant::now();
    let fit = learn(learner.as_ref(), &training, cli)?;
    let trained = start.elapsed();
    let start = Instant::now();
    if let Some(path) = &args.output {
        uninterrupted(|| save(&fit, path))?;
    }
    let seconds = [read, trained, start.elapsed()];
    let audit = match args.audit {
        true => Some(audit::replay(learner.as_ref(), &training, args.separator.as_deref())?),
        false => None,
    };
    let broken = audit.as_ref().is_some_and(|audit| !audit.holds);
    let run = Run { args, training, fit, audit, seconds };
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&run.json())?,
        (false, true) => {}
        (false, false) => emit(&run.text())?,
    }
    if broken { Err(audit::broken()) } else { Ok(()) }
}

fn learn(learner: &dyn Learner, training: &Training, cli: &Cli) -> Result<Fit, Failure> {
    let task =
        Task { data: &training.data, holdout: training.holdout.as_ref(), scaling: training.scaling.as_ref() };
    let mut bar = Bar::new(cli.quiet || cli.json);
    Ok(learner.learn(&task, &mut bar)?)
}

impl Run<'_> {
    fn json(&self) -> Value {
        let Report { algorithm, objective, status, updates, .. } = &self.fit.report;
        let report = &self.fit.report;
        let [read, train, write] = self.seconds.map(|time| time.as_secs_f64());
        json!({
            "algorithm": algorithm,
            "objective": objective,
            "status": status.name(),
            "passes": report.passes.len(),
            "updates": updates,
            "mistakes": report.mistakes,
            "primal": report.primal,
            "dual": report.dual,
            "gap": report.gap,
            "rows": report.rows,
            "features": self.fit.model.features.count,
            "classes": self.fit.model.classes,
            "train_accuracy": report.train_accuracy,
            "holdout_accuracy": report.holdout_accuracy,
            "best_pass": report.best_pass,
            "margin": report.margin,
            "lifted_margin": report.lifted_margin,
            "radius": report.radius,
            "mistake_bound": report.mistake_bound,
            "support_vectors": report.support_vectors,
            "seconds": { "read": read, "train": train, "write": write },
            "model": self.args.output,
            "parameters": report.parameters,
            "history": report.passes,
            "problems": report.problems,
            "hashing": self.training.hashing.map(|Hashing { bits, names, shared, buckets_used }| {
                json!({ "bits": bits, "names": names, "shared": shared, "buckets_used": buckets_used })
            }),
            "audit": self.audit.as_ref().map(audit::json),
        })
    }

    fn text(&self) -> String {
        let report = &self.fit.report;
        let mut text = format!(
            "{TITLE}{}{TITLE:#} on {}: {} × {}, {}\n\n",
            report.algorithm,
            self.training.origin,
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
        text + &self.next_step()
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let report = &self.fit.report;
        let mut lines = vec![("rule", report.objective.clone()), ("status", status_line(report))];
        if report.status == Status::PassLimit {
            lines.push(("", "the classes may overlap, or need more --passes".to_owned()));
        }
        if let Some(scaling) = &self.training.scaling {
            lines.push(("scaling", format!("{}, stored in the model", scaling.kind.name())));
        }
        lines.extend(self.training.hashing.map(|hashing| ("hashing", hashing_line(hashing))));
        lines.push(("accuracy", accuracy_line(report, self.training.data.weights().is_some())));
        if let Some(margin) = report.margin {
            lines.push(("margin", margin_line(report, margin)));
        }
        if let Some(bound) = report.mistake_bound {
            let mistakes = plural(report.mistakes, "mistake", "mistakes");
            let gamma = report.lifted_margin.map(|gamma| number(gamma, 4)).unwrap_or_default();
            lines.push((
                "bound",
                format!("{mistakes} made, at most (R/γ′)² = {} possible; γ′ = {gamma} counts the bias as a weight", number(bound, 4)),
            ));
        }
        lines.extend(self.audit.as_ref().map(|audit| ("audit", audit::summary(audit))));
        let [read, train, _] = self.seconds.map(time);
        lines.push(("time", format!("read {read}, train {train}")));
        lines.push(("memory", self.memory_line()));
        lines
    }

    fn memory_line(&self) -> String {
        let x = self.training.data.x();
        let layout = if x.is_sparse() { "sparse" } else { "dense" };
        let precision = if x.is_single() { "f32" } else { "f64" };
        let model = match &self.fit.model.body {
            Body::Linear(planes) => plural((planes.k() * (planes.n_cols() + 1)) as u64, "weight", "weights"),
            Body::Voted(ballots) => {
                let voters: usize = ballots.iter().map(rosenblatt::Ballot::voters).sum();
                plural(voters as u64, "voting vector", "voting vectors")
            }
        };
        format!(
            "data {} ({layout} {precision}, {} entries), model {model}",
            bytes(x.bytes()),
            count(x.entries() as u64)
        )
    }

    fn next_step(&self) -> String {
        match &self.args.output {
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

fn status_line(report: &Report) -> String {
    let passes = plural(report.passes.len() as u64, "pass", "passes");
    let updates = plural(report.updates, "update", "updates");
    let last = report.passes.last().map_or(0, |pass| pass.updates);
    let limit = |what: &str| {
        format!("{WARN}{what}{WARN:#} after {passes}, {updates}, {} in the last pass", count(last))
    };
    match report.status {
        Status::Converged => format!("{GOOD}converged{GOOD:#}: {passes}, {updates}, none in the last pass"),
        Status::PassLimit => limit("pass limit"),
        Status::TimeLimit => limit("time limit"),
        Status::Interrupted => limit("interrupted") + "; this is the best model so far",
        Status::Stalled | Status::Inseparable => limit(report.status.name()),
    }
}

fn hashing_line(Hashing { bits, names, shared, .. }: Hashing) -> String {
    let share = 100.0 * shared as f64 / names.max(1) as f64;
    let sharing = if shared == 0 { "each has its own".to_owned() } else { format!("{} names share one ({share:.1}%)", count(shared)) };
    format!("{} in 2^{bits} buckets: {sharing}", plural(names, "name", "names"))
}

fn margin_line(report: &Report, margin: f64) -> String {
    let radius =
        report.radius.map(|radius| format!(", radius R = {}", number(radius, 4))).unwrap_or_default();
    match margin > 0.0 {
        true => format!("γ = {} from the boundary to the nearest row{radius}", number(margin, 4)),
        false => format!("the worst row is {} beyond the boundary{radius}", number(-margin, 4)),
    }
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
    let mut table = Table::new(&["problem", ">passes", ">updates in the last", ""]);
    for problem in report.problems.iter().take(SHOWN) {
        let converged = if problem.converged { "converged" } else { "" };
        table.row([
            problem.title.clone(),
            count(problem.passes as u64),
            count(problem.last_updates),
            converged.to_owned(),
        ]);
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
