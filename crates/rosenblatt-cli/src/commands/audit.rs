//! The mistake bound, checked step by step.

use rosenblatt::{Audit, Body, Learner, Perceptron, Planes, Status};
use rosenblatt_io::load;
use serde_json::{Value, json};

use super::data::Training;
use crate::failure::Failure;
use crate::format::{count, number, plural};
use crate::style::{ERROR, GOOD};
use crate::table::Table;

/// The algorithms whose mistakes Novikoff's theorem counts.
const PERCEPTRONS: &[&str] = &["perceptron", "averaged-perceptron", "voted-perceptron"];

/// An inequality that does not hold is a failure of the request, for scripts to see.
pub(super) fn broken() -> Failure {
    Failure::failed("an inequality of the mistake bound does not hold: this is a bug, please report it")
}

/// Replays a perceptron against a separator given or found by the perceptron itself.
pub(super) fn replay(
    learner: &dyn Learner,
    training: &Training,
    separator: Option<&str>,
) -> Result<Audit, Failure> {
    let perceptron: Perceptron = serde_json::from_value(learner.parameters())
        .ok()
        .filter(|_| PERCEPTRONS.contains(&learner.name()))
        .ok_or_else(|| Failure::bad(format!("--audit is for linear perceptrons, not {}", learner.name())))?;
    if training.data.classes().len() != 2 {
        let classes = training.data.classes().len();
        return Err(Failure::bad(format!(
            "--audit: the mistake bound is for two classes, and here are {classes}"
        )));
    }
    let planes = match separator {
        Some(model) => given(model)?,
        None => found(&perceptron, training)?,
    };
    Ok(Audit::replay(&perceptron, &training.data, &planes)?)
}

fn given(model: &str) -> Result<Planes, Failure> {
    match load(model)?.model.body {
        Body::Linear(planes) => Ok(planes),
        Body::Voted(_) => Err(Failure::bad(format!("--separator: {model} is a vote, not a hyperplane"))),
        Body::Kernel(_) => Err(Failure::bad(format!("--separator: {model} has a kernel, and no hyperplane"))),
    }
}

fn found(perceptron: &Perceptron, training: &Training) -> Result<Planes, Failure> {
    let last = Perceptron { pocket: false, output: rosenblatt::Output::Plain, ..perceptron.clone() };
    let fit = last.fit(&training.data, &mut ())?;
    match (fit.report.status, fit.model.body.planes()) {
        (Status::Converged, Some(planes)) => Ok(planes),
        _ => Err(Failure::bad(format!("--audit: no separator was found in {} passes", perceptron.passes))
            .hint("raise --passes, or give one with --separator MODEL; inseparable data has none")),
    }
}

pub(super) fn json(audit: &Audit) -> Value {
    json!(audit)
}

/// One line.
pub(super) fn summary(audit: &Audit) -> String {
    let verdict = match audit.holds {
        true => format!("{GOOD}holds{GOOD:#}"),
        false => format!("{ERROR}broken{ERROR:#}"),
    };
    format!(
        "{} ≤ (R/γ)² = {} with γ = {}, R = {}; k²γ² ≤ ‖w‖² ≤ k·R² {verdict} at every update",
        plural(audit.mistakes, "mistake", "mistakes"),
        number(audit.bound, 4),
        number(audit.margin, 4),
        number(audit.radius, 4),
    )
}

/// One row an update.
pub(super) fn table(audit: &Audit) -> Table {
    let mut table = Table::new(&[">pass", ">row", ">k", ">k²γ²", ">‖w‖²", ">k·R²", ""]);
    for step in &audit.steps {
        table.row([
            count(step.pass as u64),
            count(step.row as u64),
            count(step.mistakes),
            number(step.lower, 5),
            number(step.sq_norm, 5),
            number(step.upper, 5),
            if step.holds { String::new() } else { "broken".to_owned() },
        ]);
    }
    table
}
