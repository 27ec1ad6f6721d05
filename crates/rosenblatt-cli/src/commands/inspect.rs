//! `inspect`

use rosenblatt::{Body, Decision, Fit, Planes, Report, Status, TextColumn, pairs};
use rosenblatt_io::load;
use serde_json::{Value, json};

use super::data::describe_classes;
use super::outcome::{
    accuracy_line, calibration_line, certificate_lines, corridor_line, lifted_margin, map_line,
};
use super::picture::nested_line;
use super::tune::selection_line;
use super::{emit, emit_json, largest, learned, stored};
use crate::args::{Cli, InspectArgs};
use crate::failure::Failure;
use crate::format::{count, number, plural};
use crate::style::{DIM, TITLE};
use crate::table::Table;

/// A hyperplane with its largest weights.
struct Plane {
    title: String,
    bias: f64,
    norm: f64,
    largest: Vec<(String, f64)>,
}

pub(crate) fn run(cli: &Cli, args: &InspectArgs) -> Result<(), Failure> {
    let fit = load(&args.model)?;
    let planes = planes(&fit, args.top);
    match cli.json {
        true => emit_json(&json(&fit, &planes, args.top)),
        false => emit(&text(&fit, &planes, args)),
    }
}

fn planes(fit: &Fit, top: usize) -> Vec<Plane> {
    let Some(all) = fit.model.body.planes() else { return Vec::new() };
    titles(fit).into_iter().enumerate().map(|(c, title)| plane(fit, &all, c, title, top)).collect()
}

fn plane(fit: &Fit, planes: &Planes, c: usize, title: String, top: usize) -> Plane {
    let normal = planes.normal(c);
    let norm = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
    let weights: Vec<(usize, f64)> = normal.into_iter().enumerate().filter(|(_, w)| *w != 0.0).collect();
    let named = |(j, w): (usize, f64)| (fit.model.inner_name(j), w);
    let largest = largest(weights, top, |(_, w)| *w).into_iter().map(named).collect();
    Plane { title, bias: planes.bias()[c], norm, largest }
}

/// What each plane speaks for.
pub(super) fn titles(fit: &Fit) -> Vec<String> {
    let classes = &fit.model.classes;
    let name = |c: usize| classes.get(c).map(ToString::to_string).unwrap_or_default();
    match fit.model.decision {
        Decision::Sign(_) => vec![format!("{} (positive) against {} (negative)", name(1), name(0))],
        Decision::Highest => (0..classes.len()).map(name).collect(),
        Decision::Pairs(_) | Decision::Votes => {
            let title = |(a, b)| format!("{} (positive) against {} (negative)", name(b), name(a));
            pairs(classes.len()).into_iter().map(title).collect()
        }
    }
}

/// "3 hyperplanes", "12 support vectors"
pub(super) fn kind(fit: &Fit) -> String {
    match &fit.model.body {
        Body::Linear(planes) => plural(planes.k() as u64, "hyperplane", "hyperplanes"),
        Body::Voted(ballots) => {
            let voters: usize = ballots.iter().map(rosenblatt::Ballot::voters).sum();
            let stored: usize = ballots.iter().map(rosenblatt::Ballot::stored).sum();
            format!(
                "vote of {} weight vectors over {} stored rows",
                count(voters as u64),
                count(stored as u64)
            )
        }
        Body::Bayes(bayes) => {
            format!(
                "{} distributions of {} features in {} classes",
                bayes.distribution(),
                count(bayes.n_cols() as u64),
                bayes.n_classes()
            )
        }
        Body::Layers(layers) => {
            format!("{}, {}", layers.shape(), plural(layers.n_weights() as u64, "weight", "weights"))
        }
        Body::Kernel(expansion) => {
            let stored = plural(expansion.len() as u64, "stored row", "stored rows");
            match expansion.voters() {
                Some(voters) => format!("vote of {} weight vectors over {stored}", count(voters as u64)),
                None if expansion.is_machine() => {
                    plural(expansion.len() as u64, "support vector", "support vectors")
                }
                None => format!("kernel values with {stored}"),
            }
        }
    }
}

fn json(fit: &Fit, planes: &[Plane], top: usize) -> Value {
    let examples = match &fit.model.body {
        Body::Kernel(expansion) => Some(stored::json(fit, expansion, top)),
        _ => None,
    };
    let report = &fit.report;
    let (distributions, network) = learned::json(fit, top);
    let plane = |plane: &Plane| {
        let weights: Vec<Value> =
            plane.largest.iter().map(|(name, w)| json!({ "feature": name, "weight": w })).collect();
        json!({ "for": plane.title, "bias": plane.bias, "norm": plane.norm, "largest_weights": weights })
    };
    json!({
        "algorithm": report.algorithm,
        "objective": report.objective,
        "parameters": report.parameters,
        "status": status(report),
        "classes": fit.model.classes,
        "features": fit.model.features.count,
        "impute": fit.model.features.filled.as_ref().map(|filled| filled.kind.to_string()),
        "scale": fit.model.scaling.as_ref().map(|scaling| scaling.kind.name()),
        "map": fit.model.map.as_ref().map(|map| map.kind.to_string()),
        "mapped_features": fit.model.map.as_ref().map(rosenblatt::FeatureMap::n_outputs),
        "kind": kind(fit),
        "passes": report.n_passes(),
        "updates": report.updates,
        "train_accuracy": report.train_accuracy,
        "holdout_accuracy": report.holdout_accuracy,
        "certificate": {
            "margin": report.margin, "lifted_margin": report.lifted_margin, "corridor": report.corridor, "radius": report.radius, "mistakes": report.mistakes,
            "mistake_bound": report.mistake_bound,
            "primal": report.primal, "dual": report.dual, "gap": report.gap, "violation": report.violation,
        },
        "calibration": report.calibration,
        "selection": report.selection,
        "link": fit.model.link,
        "support_vectors": report.support_vectors,
        "slacks": report.slacks,
        "solver": report.solver,
        "data": report.data,
        "planes": planes.iter().map(plane).collect::<Vec<_>>(),
        "stored": examples,
        "distributions": distributions,
        "network": network,
        "offsets": match &fit.model.body {
            Body::Kernel(expansion) => Some(expansion.offsets()),
            _ => None,
        },
    })
}

fn text(fit: &Fit, planes: &[Plane], args: &InspectArgs) -> String {
    let (report, name) = (&fit.report, &args.model);
    let mut text = format!("{TITLE}{name}{TITLE:#}: {}, {}\n\n", report.algorithm, kind(fit));
    for (name, value) in lines(fit) {
        text += &format!("  {DIM}{name:<12}{DIM:#}{value}\n");
    }
    const SHOWN: usize = 20;
    for plane in planes.iter().take(SHOWN) {
        text += &format!("\n{TITLE}{}{TITLE:#}\n{}", plane.title, weights(plane));
    }
    if planes.len() > SHOWN {
        text += &format!("\n… and {} more; --json lists all\n", planes.len() - SHOWN);
    }
    if let Body::Kernel(expansion) = &fit.model.body {
        text += &stored::text(fit, expansion, args.top);
    }
    text += &learned::text(fit, args.top);
    if matches!(fit.model.body, Body::Voted(_)) {
        text += "\nThe weights are the mean of the voting vectors.\n";
    }
    text
}

fn lines(fit: &Fit) -> Vec<(&'static str, String)> {
    let (model, report) = (&fit.model, &fit.report);
    let mut lines = vec![
        ("objective", report.objective.clone()),
        ("classes", describe_classes(&model.classes)),
        ("features", features_line(fit)),
    ];
    lines.extend(status(report).map(|status| {
        let passes = plural(report.n_passes() as u64, "pass", "passes");
        ("status", format!("{} after {passes}", status.replace('_', " ")))
    }));
    lines.extend(model.features.texts.iter().map(|text| ("text", text_line(text))));
    if let Some(filled) = &model.features.filled {
        lines.push(("missing", format!("filled in: {}", filled.kind)));
    }
    if let Some(scaling) = &model.scaling {
        lines.push(("scaling", scaling.kind.name().to_owned()));
    }
    if let Some(map) = &model.map {
        lines.push(("map", map_line(map)));
    }
    if report.rows > 0 {
        lines.push(("accuracy", accuracy_line(report, false)));
        let data = &report.data;
        lines.push(("data", format!("{} × {}, hash {}", count(data.rows), count(data.features), data.hash)));
    }
    lines.extend(report.calibration.as_ref().map(|calibrated| ("left out", calibration_line(calibrated))));
    if let Some(selection) = &report.selection {
        lines.push(("search", selection_line(selection)));
        lines.extend(nested_line(selection).map(|line| ("nested", line)));
    }
    lines.extend(certificate_lines(fit));
    if let (Some(margin), Some(radius)) = (report.margin, report.radius) {
        lines.push(("margin", format!("γ = {}, R = {}", number(margin, 4), number(radius, 4))));
    }
    lines.extend(corridor_line(report));
    if let Some(bound) = report.mistake_bound {
        let (mistakes, bound) = (count(report.mistakes), number(bound, 4));
        lines.push((
            "certificate",
            match lifted_margin(report) {
                Some(gamma) => {
                    format!("{mistakes} mistakes ≤ (R/γ′)² = {bound}, γ′ = {gamma} with the bias as a weight")
                }
                None => format!("{mistakes} mistakes ≤ (R/γ)² = {bound}"),
            },
        ));
    }
    if let Value::Object(parameters) = &report.parameters {
        let shown: Vec<String> = parameters
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
            .collect();
        lines.push(("parameters", shown.join(", ")));
    }
    lines
}

/// How the fit ended; models of other programs do not tell.
fn status(report: &Report) -> Option<&'static str> {
    let told = report.rows > 0 || report.status != Status::default();
    told.then(|| report.status.name())
}

fn features_line(fit: &Fit) -> String {
    let features = &fit.model.features;
    let named = match (&features.names, features.hash) {
        (Some(_), _) => "named",
        (None, Some(_)) => "buckets of hashed names",
        (None, None) => "numbered from 1",
    };
    format!("{}, {named}", count(features.count as u64))
}

/// "body: 1,234 n-grams (words 1..2, chars 3) of 5,574 rows, weighted by tf-idf"
fn text_line(text: &TextColumn) -> String {
    let kinds = [("words", text.words), ("chars", text.chars)];
    let kinds = kinds.iter().filter(|(_, range)| !range.is_none());
    let kinds: Vec<String> = kinds.map(|(kind, range)| format!("{kind} {range}")).collect();
    let ngrams = plural(text.frequencies.len() as u64, "n-gram", "n-grams");
    let rows = plural(text.rows, "row", "rows");
    format!("{}: {ngrams} ({}) of {rows}, weighted by tf-idf", text.name, kinds.join(", "))
}

fn weights(plane: &Plane) -> Table {
    let mut table = Table::new(&["feature", ">weight", ""]);
    let longest = plane.largest.first().map_or(1.0, |(_, w)| w.abs());
    for (name, w) in &plane.largest {
        let bar = "█".repeat((w.abs() / longest * 20.0).round() as usize);
        table.row([name.clone(), number(*w, 4), format!("{}{bar}", if *w < 0.0 { "−" } else { "+" })]);
    }
    table.row(["BIAS".to_owned(), number(plane.bias, 4)]);
    table
}
