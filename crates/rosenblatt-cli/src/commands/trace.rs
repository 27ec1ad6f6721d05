//! `trace`

use rosenblatt::{Classes, Decision, Planes, Step, Trace};
use serde_json::{Value, json};

use super::data::Training;
use super::{audit, emit, emit_json};
use crate::args::{Cli, TraceArgs};
use crate::failure::Failure;
use crate::format::{count, number, plural};
use crate::progress::Bar;
use crate::style::{GOOD, WARN};
use crate::table::Table;

pub(crate) fn run(cli: &Cli, args: &TraceArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("order", json!("cyclic")), ("seed", json!(cli.seed))])?;
    let training = Training::read(&args.data, &args.read, &args.learner, None, cli.seed)?;
    if args.audit {
        let mut bar = Bar::new(cli.quiet || cli.json);
        let audit = audit::replay(learner.as_ref(), &training, args.separator.as_deref(), &mut bar)?;
        drop(bar);
        match cli.json {
            true => emit_json(&audit::json(&audit))?,
            false => emit(&format!("{}\n{}\n", audit::table(&audit), audit::summary(&audit)))?,
        }
        return if audit.holds { Ok(()) } else { Err(audit::broken()) };
    }
    let trace = learner.trace(&training.data).map_err(|error| training.blame(error))?;
    let classes = training.data.classes();
    match cli.json {
        true => emit_json(&json(&trace, classes)),
        false => emit(&text(&trace, classes)),
    }
}

fn json(trace: &Trace, classes: &Classes) -> Value {
    let steps: Vec<Value> = trace.steps.iter().map(|step| step_json(trace, step, classes)).collect();
    json!({ "steps": steps, "converged": trace.converged, "updates": trace.updates, "classes": classes })
}

/// One score and one weight vector in a binary problem, lists of them otherwise.
fn step_json(trace: &Trace, step: &Step, classes: &Classes) -> Value {
    let binary = matches!(trace.decision, Decision::Sign(_));
    let one_or_all = |vectors: Vec<Vec<f64>>| if binary { json!(vectors[0]) } else { json!(vectors) };
    let mut object = json!({
        "pass": step.pass,
        "row": step.row + 1,
        "activation": if binary { json!(step.scores[0]) } else { json!(step.scores) },
        "predicted": classes[step.predicted],
        "label": classes[step.label],
        "mistake": step.mistake,
        "updated": step.updated,
    });
    if let Some(planes) = &step.weights {
        object["weights"] = one_or_all((0..planes.k()).map(|c| planes.normal(c)).collect());
        if has_bias(planes) {
            object["bias"] = if binary { json!(planes.bias()[0]) } else { json!(planes.bias()) };
        }
    }
    if let Some(alphas) = &step.alphas {
        object["alphas"] = one_or_all(by_plane(alphas, step.scores.len()));
    }
    object
}

/// The alphas of all rows, for each plane.
fn by_plane(alphas: &[f64], planes: usize) -> Vec<Vec<f64>> {
    (0..planes).map(|plane| alphas.iter().skip(plane).step_by(planes).copied().collect()).collect()
}

fn has_bias(planes: &Planes) -> bool {
    planes.is_lifted() || planes.bias().iter().any(|&bias| bias != 0.0)
}

fn text(trace: &Trace, classes: &Classes) -> String {
    let biased = trace.steps.iter().any(|step| step.weights.as_ref().is_some_and(has_bias));
    let kernel = trace.steps.iter().any(|step| step.alphas.is_some());
    let after = if kernel { "a after" } else { "w after" };
    let mut headings = vec![">pass", ">row", ">activation", ">predicted", ">label", "", after];
    headings.extend(biased.then_some("b after"));
    let mut table = Table::new(&headings);
    for step in &trace.steps {
        let mut cells = vec![
            count(step.pass as u64),
            count(step.row as u64 + 1),
            vector(&step.scores),
            classes[step.predicted].to_string(),
            classes[step.label].to_string(),
            match (step.mistake, step.updated) {
                (true, _) => "wrong".to_owned(),
                (false, true) => "moved".to_owned(),
                (false, false) => String::new(),
            },
            vectors(step).iter().map(|v| format!("({})", after_step(step, v))).collect::<Vec<_>>().join(" "),
        ];
        cells.extend(step.weights.as_ref().filter(|_| biased).map(|planes| vector(planes.bias())));
        table.row(cells);
    }
    format!("{table}\n{}\n", conclusion(trace))
}

/// What stands for each plane after a step: its weights, or how often each row was added.
fn vectors(step: &Step) -> Vec<Vec<f64>> {
    match (&step.weights, &step.alphas) {
        (Some(planes), _) => (0..planes.k()).map(|c| planes.normal(c)).collect(),
        (None, Some(alphas)) => by_plane(alphas, step.scores.len()),
        (None, None) => Vec::new(),
    }
}

fn conclusion(trace: &Trace) -> String {
    let passes = trace.steps.last().map_or(0, |step| step.pass);
    let updates = plural(trace.updates, "update", "updates");
    match trace.converged {
        true => format!("{GOOD}converged{GOOD:#} in pass {passes} after {updates}"),
        false => format!(
            "{WARN}not converged{WARN:#} after {} and {updates}",
            plural(passes as u64, "pass", "passes")
        ),
    }
}

/// Coefficients of many rows are mostly 0: the others are told by their rows, as `row:count`.
fn after_step(step: &Step, values: &[f64]) -> String {
    if step.alphas.is_none() || values.len() <= SHOWN {
        return vector(values);
    }
    let met: Vec<String> = (1..)
        .zip(values)
        .filter(|(_, a)| **a != 0.0)
        .map(|(row, &a)| format!("{}:{}", count(row), number(a, 4)))
        .collect();
    shortened(met.iter().take(SHOWN).cloned().collect(), met.len())
}

/// Numbers of a vector that are shown.
const SHOWN: usize = 8;

/// Long vectors are shortened; `--json` has them whole.
fn vector(values: &[f64]) -> String {
    shortened(values.iter().take(SHOWN).map(|&value| number(value, 4)).collect(), values.len())
}

fn shortened(mut parts: Vec<String>, all: usize) -> String {
    if all > parts.len() {
        parts.push(format!("… {} more", all - parts.len()));
    }
    parts.join(", ")
}
