//! The mistake bound, checked step by step.

use std::time::Instant;

use rosenblatt::{Audit, Bias, Body, Learner, Perceptron, Planes, Separability, Status};
use rosenblatt_io::load;
use serde_json::{Value, json};

use super::data::Training;
use super::obstacle::Until;
use crate::failure::Failure;
use crate::format::{count, number, plural};
use crate::progress::Bar;
use crate::style::{ERROR, GOOD};
use crate::table::Table;

/// The algorithms whose mistakes Novikoff's theorem counts.
const PERCEPTRONS: &[&str] = &["perceptron", "averaged-perceptron", "voted-perceptron"];

/// An inequality that does not hold is a failure of the request, for scripts to see.
pub(super) fn broken() -> Failure {
    Failure::failed("an inequality of the mistake bound does not hold: this is a bug, please report it")
}

/// Replays a perceptron against a separator that is given, or found: by the perceptron itself, or where its passes are not enough by a search that always decides.
pub(super) fn replay(
    learner: &dyn Learner,
    training: &Training,
    separator: Option<&str>,
    bar: &mut Bar,
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
        None => found(&perceptron, training, bar)?,
    };
    Ok(Audit::replay(&perceptron, &training.data, &planes)?)
}

fn given(model: &str) -> Result<Planes, Failure> {
    match load(model)?.model.body {
        Body::Linear(planes) => Ok(planes),
        Body::Voted(_) => Err(Failure::bad(format!("--separator: {model} is a vote, not a hyperplane"))),
        Body::Bayes(_) | Body::Layers(_) => {
            Err(Failure::bad(format!("--separator: {model} has no hyperplane")))
        }
        Body::Kernel(_) => Err(Failure::bad(format!("--separator: {model} has a kernel, and no hyperplane"))),
    }
}

fn found(perceptron: &Perceptron, training: &Training, bar: &mut Bar) -> Result<Planes, Failure> {
    let start = Instant::now();
    let last = Perceptron { pocket: false, output: rosenblatt::Output::Plain, ..perceptron.clone() };
    let fit = last.fit(&training.data, bar)?;
    if let (Status::Converged, Some(planes)) = (fit.report.status, fit.model.body.planes()) {
        return Ok(planes);
    }
    let lifted = perceptron.bias != Bias::None;
    let mut watch = Until::of_run(&fit.report, start.elapsed(), bar);
    match Separability::of(&training.data, lifted, &mut watch).map_err(|error| training.blame(error))? {
        Some(Separability::Separable(plane)) => Planes::from_parts(plane.weights, vec![plane.bias], lifted)
            .ok_or_else(|| Failure::failed("--audit: the plane that was found is none")),
        Some(Separability::Inseparable(proof)) => Err(Failure::failed(format!(
            "--audit: no number bounds the mistakes: {} that no plane separates the classes",
            training.in_file(proof).proves()
        ))
        .hint("`rosenblatt separable` shows the proof")),
        None if watch.is_over() => {
            Err(Failure::failed("--audit: no separator was found before the time was over")
                .hint("raise --time-limit, or give one with --separator MODEL"))
        }
        None => Err(Failure::stopped("stopped before a separator was found")),
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
