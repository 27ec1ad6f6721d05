//! The run, made again: it is the same to the last bit wherever the same numbers come in, so that whatever differs was not of this run.

use serde_json::{Map, Value, json};

use super::claim::{Claims, Verdict};
use crate::calibration::Calibration;
use crate::data::{Dataset, Scaling};
use crate::error::{Error, ParamError};
use crate::feature::FeatureMap;
use crate::kernel::usual_gamma;
use crate::learner::{Fit, Task};
use crate::model::{Body, Sum};
use crate::registry::{Algorithm, algorithm};
use crate::report::Status;
use crate::watch::Watch;

/// Of all parameters in a model those that can be given; the others make the algorithm what it is.
pub(super) fn settable(row: &Algorithm, parameters: &Map<String, Value>) -> Map<String, Value> {
    let known: Vec<&str> = row.parameters().map(|row| row.name).collect();
    parameters
        .iter()
        .filter(|(name, _)| known.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect()
}

/// Makes the run again, where model and data say all that went into it.
pub(super) fn compare(
    claims: &mut Claims,
    fit: &Fit,
    data: &Dataset<'_>,
    holdout: Option<&Dataset<'_>>,
    watch: &mut dyn Watch,
) -> Result<(), Error> {
    let again = match again(fit, data, holdout, watch) {
        Ok(Some(again)) => again,
        Ok(None) => return Ok(()),
        Err(
            error @ (Error::Param(_)
            | Error::Data(_)
            | Error::NotSeparable { .. }
            | Error::Inseparable { .. }),
        ) => {
            claims.push(
                "the run",
                "as reported".to_owned(),
                format!("cannot be made again: {error}"),
                Verdict::Broken,
            );
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if again.report.status == Status::Interrupted {
        claims.push(
            "the run",
            "as reported".to_owned(),
            "stopped while it was made again".to_owned(),
            Verdict::Open,
        );
        return Ok(());
    }
    let bits = |fit: &Fit| numbers(fit).iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let (theirs, ours) = (bits(fit), bits(&again));
    let equal = theirs.iter().zip(&ours).filter(|(a, b)| a == b).count();
    let differ = theirs.len().max(ours.len()) - equal;
    // A clock, a person or rows that are not here may have had a say in it.
    let stopped = matches!(fit.report.status, Status::TimeLimit | Status::Interrupted);
    let repeatable = !stopped && fit.report.holdout_accuracy.is_some() == holdout.is_some();
    let online = algorithm(&fit.report.algorithm).is_some_and(|row| row.online);
    if differ > 0 && !(repeatable && (online || 2 * equal > theirs.len())) {
        let why = match repeatable {
            true => "other numbers: it began elsewhere (--resume), or on another kind of processor",
            false => "other numbers: it was stopped, or rows that are not here had a say in it",
        };
        claims.push("the run", "as reported".to_owned(), why.to_owned(), Verdict::Open);
        return Ok(());
    }
    let shown = format!("{} numbers learned", theirs.len());
    claims.push("the run, made again", shown, format!("{differ} differ"), Verdict::of(differ == 0));
    for (name, claimed, found) in [
        ("passes", fit.report.n_passes() as u64, again.report.n_passes() as u64),
        ("mistakes", fit.report.mistakes, again.report.mistakes),
        ("updates", fit.report.updates, again.report.updates),
    ] {
        if claimed != found || (claimed > 0 && (online || name == "passes")) {
            claims.push(name, claimed.to_string(), found.to_string(), Verdict::of(claimed == found));
        }
    }
    fields(claims, fit, &again);
    Ok(())
}

/// Trains with the same parameters on the same rows, scaled and mapped anew.
fn again(
    fit: &Fit,
    data: &Dataset<'_>,
    holdout: Option<&Dataset<'_>>,
    watch: &mut dyn Watch,
) -> Result<Option<Fit>, Error> {
    let Fit { model, report } = fit;
    let Value::Object(given) = &report.parameters else { return Ok(None) };
    let unknown = || ParamError::new("algorithm", format!("there is no {:?}", report.algorithm));
    let row = algorithm(&report.algorithm).ok_or_else(unknown)?;
    let learner = row.learner(&settable(row, given))?;
    let scaling = model.scaling.as_ref().map(|scaling| Scaling::fit(scaling.kind, data.x()));
    let scaled = |data: &Dataset<'_>| {
        let rows = data.select(&(0..data.n_rows()).collect::<Vec<_>>());
        scaling.as_ref().map_or(Ok(rows.clone()), |scaling| rows.scaled(scaling))
    };
    let (mut rows, mut holdout) = (scaled(data)?, holdout.map(scaled).transpose()?);
    let seed = given.get("seed").and_then(Value::as_u64).unwrap_or(0);
    let map = model.map.as_ref().map(|map| FeatureMap::fit(map.kind, &rows, seed)).transpose()?;
    if let Some(map) = &map {
        rows = rows.mapped(map)?;
        holdout = holdout.map(|rows| rows.mapped(map)).transpose()?;
    }
    let task =
        Task { holdout: holdout.as_ref(), scaling: scaling.as_ref(), map: map.as_ref(), ..Task::new(&rows) };
    let Some(calibrated) = &report.calibration else { return Ok(Some(learner.learn(&task, watch)?)) };
    let mut given = settable(row, given);
    // A width that was made for the data is made anew for each part of them.
    if given.get("gamma").and_then(Value::as_f64) == Some(usual_gamma(&rows)) {
        given.remove("gamma");
    }
    let calibration = Calibration { folds: calibrated.folds, seed };
    Ok(Some(calibration.learn(row.learner(&given)?.as_ref(), &task, watch)?))
}

/// All that was learned, as numbers.
fn numbers(fit: &Fit) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    match &fit.model.body {
        Body::Linear(planes) => all.extend(planes.weights.iter().chain(&planes.bias)),
        Body::Kernel(expansion) => {
            if let Sum::Coefficients { values, .. } = &expansion.sum {
                all.extend(values);
            }
            all.extend(expansion.coefficients().iter().chain(&expansion.offsets()));
            all.extend(expansion.numbers.iter().map(|&number| number as f64));
        }
        Body::Voted(_) => {
            let planes = fit.model.body.planes();
            all.extend(planes.iter().flat_map(|planes| planes.weights.iter().chain(&planes.bias)));
        }
    }
    all
}

/// Everything else that model and report say, field by field.
fn fields(claims: &mut Claims, fit: &Fit, again: &Fit) {
    let of_model = |fit: &Fit| {
        let model = &fit.model;
        json!({
            "decision": model.decision,
            "link": model.link,
            "scaling": model.scaling.as_ref().map(|s| json!([format!("{:?}", s.kind), s.shift, s.factor])),
            "map": model.map.as_ref().map(|map| format!("{map:?}")),
            "body": fit.model.body == again.model.body,
        })
    };
    let of_report = |fit: &Fit| serde_json::to_value(&fit.report).unwrap_or_default();
    let (mut theirs, mut ours) = (of_report(fit), of_report(again));
    for (all, fit) in [(&mut theirs, fit), (&mut ours, again)] {
        if let (Value::Object(all), Value::Object(model)) = (all, of_model(fit)) {
            all.extend(model);
        }
    }
    let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) else { return };
    let mut names: Vec<&String> = theirs.keys().chain(ours.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut checked = 0;
    for name in names {
        let (a, b) = (theirs.get(name).unwrap_or(&Value::Null), ours.get(name).unwrap_or(&Value::Null));
        checked += 1;
        if a != b {
            claims.push(name, short(a), short(b), Verdict::Broken);
        }
    }
    claims.push(
        "its report",
        format!("{checked} fields"),
        "compared with those of the run again".to_owned(),
        Verdict::Held,
    );
}

fn short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
