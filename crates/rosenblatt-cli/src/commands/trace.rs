//! `trace`

use rosenblatt::{Classes, Decision, Planes, Step, Trace};
use serde_json::{Value, json};

use super::data::Training;
use super::{audit, emit, emit_json};
use crate::args::{Cli, TraceArgs};
use crate::failure::Failure;
use crate::format::{count, number, plural};
use crate::style::{GOOD, WARN};
use crate::table::Table;

pub(crate) fn run(cli: &Cli, args: &TraceArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("order", json!("cyclic")), ("seed", json!(cli.seed))])?;
    let training = Training::read(&args.data, &args.read, args.learner.scale, None, cli.seed)?;
    if args.audit {
        let audit = audit::replay(learner.as_ref(), &training, args.separator.as_deref())?;
        match cli.json {
            true => emit_json(&audit::json(&audit))?,
            false => emit(&format!("{}\n{}\n", audit::table(&audit), audit::summary(&audit)))?,
        }
        return if audit.holds { Ok(()) } else { Err(audit::broken()) };
    }
    let trace = learner.trace(&training.data)?;
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
    let planes = &step.weights;
    let binary = matches!(trace.decision, Decision::Sign(_));
    let weights: Vec<Vec<f64>> = (0..planes.k()).map(|c| planes.normal(c)).collect();
    let mut object = json!({
        "pass": step.pass,
        "row": step.row + 1,
        "activation": if binary { json!(step.scores[0]) } else { json!(step.scores) },
        "predicted": classes[step.predicted],
        "label": classes[step.label],
        "mistake": step.mistake,
        "updated": step.updated,
        "weights": if binary { json!(weights[0]) } else { json!(weights) },
    });
    if has_bias(planes) {
        object["bias"] = if binary { json!(planes.bias()[0]) } else { json!(planes.bias()) };
    }
    object
}

fn has_bias(planes: &Planes) -> bool {
    planes.is_lifted() || planes.bias().iter().any(|&bias| bias != 0.0)
}

fn text(trace: &Trace, classes: &Classes) -> String {
    let biased = trace.steps.iter().any(|step| has_bias(&step.weights));
    let mut headings = vec![">pass", ">row", ">activation", ">predicted", ">label", "", "w after"];
    headings.extend(biased.then_some("b after"));
    let mut table = Table::new(&headings);
    for step in &trace.steps {
        let planes = &step.weights;
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
            (0..planes.k()).map(|c| format!("({})", vector(&planes.normal(c)))).collect::<Vec<_>>().join(" "),
        ];
        cells.extend(biased.then(|| vector(planes.bias())));
        table.row(cells);
    }
    format!("{table}\n{}\n", conclusion(trace))
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

/// Long vectors are shortened; `--json` has them whole.
fn vector(values: &[f64]) -> String {
    const SHOWN: usize = 8;
    let mut parts: Vec<String> = values.iter().take(SHOWN).map(|&value| number(value, 4)).collect();
    if values.len() > SHOWN {
        parts.push(format!("… {} more", values.len() - SHOWN));
    }
    parts.join(", ")
}
