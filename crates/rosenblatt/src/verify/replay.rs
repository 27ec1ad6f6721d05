//! The run, made again: it is the same to the last bit wherever the same numbers come in, so that whatever differs was not of this run.

use serde_json::{Map, Value, json};

use super::claim::{Claims, Verdict, short};
use crate::calibration::Calibration;
use crate::clock::Until;
use crate::data::{Dataset, Scaling};
use crate::error::{Error, ParamError};
use crate::feature::FeatureMap;
use crate::kernel::usual_gamma;
use crate::learner::{Counted, Fit, Task};
use crate::model::{Ballot, Body, Likelihood, Model, Sum};
use crate::registry::{Algorithm, algorithm};
use crate::report::{Report, Status};
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

/// Makes the run again, where model and data say all that went into it; without `replay` only what rows go through first.
pub(super) fn compare(
    claims: &mut Claims,
    fit: &Fit,
    data: &Dataset<'_>,
    holdout: Option<&Dataset<'_>>,
    replay: bool,
    watch: &mut Until<'_>,
) -> Result<(), Error> {
    let refit = match Refit::of(fit, data, holdout) {
        Ok(refit) => refit,
        Err(error) => return not_again(claims, error),
    };
    if !refit.holds(claims, &fit.model) || !replay {
        return Ok(());
    }
    if matches!(&fit.model.body, Body::Kernel(expansion) if expansion.kernel.kernel().is_none()) {
        open(claims, "its kernel is a function of a program, which a model does not hold");
        return Ok(());
    }
    match again(fit, &refit, watch) {
        // What was to be measured last may be missing, too.
        Ok(_) if watch.deadline.is_over() => open(claims, STOPPED),
        Ok(again) => judge(claims, fit, &as_complete(again, fit), holdout.is_some()),
        Err(error) => return not_again(claims, error),
    }
    Ok(())
}

/// Without counts beside means, where the model has none, and with its objective where weights are not shown in it: it may have been written before they were.
fn as_complete(mut again: Fit, fit: &Fit) -> Fit {
    if let (Body::Kernel(ours), Body::Kernel(theirs)) = (&mut again.model.body, &fit.model.body)
        && theirs.counts.is_empty()
    {
        ours.counts.clear();
    }
    if fit.report.older && again.report.objective != fit.report.objective {
        again.report.objective = Counted::without(&again.report.objective);
    }
    again
}

const STOPPED: &str = "stopped while it was made again: time was over (--time-limit), or somebody did";

fn open(claims: &mut Claims, why: &str) {
    claims.push("the run", "as reported".to_owned(), why.to_owned(), Verdict::Open);
}

/// What would not have been a run is none.
fn not_again(claims: &mut Claims, error: Error) -> Result<(), Error> {
    match error {
        Error::Param(_) | Error::Data(_) | Error::NotSeparable { .. } | Error::Inseparable { .. } => {
            let why = format!("cannot be made again: {error}");
            claims.push("the run", "as reported".to_owned(), why, Verdict::Broken);
            Ok(())
        }
        error => Err(error),
    }
}

/// Holds a run against the same run again.
fn judge(claims: &mut Claims, fit: &Fit, again: &Fit, held_out: bool) {
    // A clock, a person or rows that are not here may have had a say in it.
    let stopped = |fit: &Fit| matches!(fit.report.status, Status::TimeLimit | Status::Interrupted);
    if again.report.status == Status::Interrupted || (stopped(again) && !stopped(fit)) {
        return open(claims, STOPPED);
    }
    if !settled_fields(claims, fit, again) {
        return;
    }
    let resumed = fit.report.resumed;
    if resumed == Some(true) {
        return open(claims, "it began from a model (--resume), which is not here");
    }
    let (theirs, ours) = (numbers(fit), numbers(again));
    let equal = theirs.iter().zip(&ours).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    let differ = theirs.len().max(ours.len()) - equal;
    let repeatable = !stopped(fit) && fit.report.holdout_accuracy.is_some() == held_out;
    let name = fit.report.algorithm.as_str();
    let online = algorithm(name).is_some_and(|row| row.online);
    let rounded = fit.report.n_passes() == again.report.n_passes() && is_rounding(&theirs, &ours);
    let from_nothing = resumed == Some(false) && !rounded;
    if differ > 0 && !(repeatable && (online || from_nothing || 2 * equal > theirs.len())) {
        let why = match (repeatable, resumed) {
            (false, _) => {
                "other numbers: it was stopped, or rows that are not here had a say in it (--holdout)"
            }
            (true, Some(_)) => "other last digits: it was made on another kind of processor",
            (true, None) => "other numbers: it began elsewhere (--resume), or on another kind of processor",
        };
        return open(claims, why);
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
    fields(claims, fit, again);
}

/// Whether numbers differ by no more than sums in another order do.
fn is_rounding(a: &[f64], b: &[f64]) -> bool {
    const SHARE: f64 = 1e-6;
    let size = a.iter().chain(b).fold(0.0, |most: f64, v| most.max(v.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SHARE * size)
}

/// Rows as a learner sees them, scaled and mapped anew.
struct Refit {
    scaling: Option<Scaling>,
    map: Option<FeatureMap>,
    rows: Dataset<'static>,
    holdout: Option<Dataset<'static>>,
}

impl Refit {
    fn of(fit: &Fit, data: &Dataset<'_>, holdout: Option<&Dataset<'_>>) -> Result<Self, Error> {
        let Fit { model, report } = fit;
        let scaling = model.scaling.as_ref().map(|scaling| Scaling::fit(scaling.kind, data.x()));
        let scaled = |data: &Dataset<'_>| {
            let rows = data.select(&(0..data.n_rows()).collect::<Vec<_>>());
            match &scaling {
                Some(scaling) => rows.scaled(scaling),
                None => Ok(rows),
            }
        };
        let (mut rows, mut holdout) = (scaled(data)?, holdout.map(scaled).transpose()?);
        let map = model.map.as_ref().map(|map| FeatureMap::fit(map.kind, &rows, seed(report))).transpose()?;
        if let Some(map) = &map {
            rows = rows.mapped(map)?;
            holdout = holdout.map(|rows| rows.mapped(map)).transpose()?;
        }
        Ok(Refit { scaling, map, rows, holdout })
    }

    /// Whether scaling and map are those of the model: wherever a run begins, they come from the data, and the seed.
    fn holds(&self, claims: &mut Claims, model: &Model) -> bool {
        let learned = |map: &Option<FeatureMap>| map.as_ref().map(|map| (map.kind, map.fitted.clone()));
        let (scaled, mapped) = (self.scaling == model.scaling, learned(&self.map) == learned(&model.map));
        let kind = |scaling: &Option<Scaling>| scaling.as_ref().map_or("none", |s| s.kind.name()).to_owned();
        if !scaled {
            let found = format!("{} with other numbers", kind(&self.scaling));
            claims.push("scaling", kind(&model.scaling), found, Verdict::Broken);
        }
        let kind =
            |map: &Option<FeatureMap>| map.as_ref().map_or("none".to_owned(), |map| map.kind.to_string());
        if !mapped {
            let found = format!("{} with other numbers", kind(&self.map));
            claims.push("map", kind(&model.map), found, Verdict::Broken);
        }
        scaled && mapped
    }
}

fn seed(report: &Report) -> u64 {
    report.parameters.get("seed").and_then(Value::as_u64).unwrap_or(0)
}

/// Trains with the same parameters on the same rows.
fn again(fit: &Fit, refit: &Refit, watch: &mut dyn Watch) -> Result<Fit, Error> {
    let report = &fit.report;
    let missing = || ParamError::new("parameters", "they are missing");
    let given = report.parameters.as_object().ok_or_else(missing)?;
    let unknown = || ParamError::new("algorithm", format!("there is no {:?}", report.algorithm));
    let row = algorithm(&report.algorithm).ok_or_else(unknown)?;
    let mut given = settable(row, given);
    let task = Task {
        holdout: refit.holdout.as_ref(),
        scaling: refit.scaling.as_ref(),
        map: refit.map.as_ref(),
        ..Task::new(&refit.rows)
    };
    let Some(calibrated) = &report.calibration else { return row.learner(&given)?.learn(&task, watch) };
    // A width that was made for the data is made anew for each part of them.
    if given.get("gamma").and_then(Value::as_f64) == Some(usual_gamma(&refit.rows)) {
        given.remove("gamma");
    }
    let calibration = Calibration { method: calibrated.method, folds: calibrated.folds, seed: seed(report) };
    calibration.learn(row.learner(&given)?.as_ref(), &task, watch)
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
        Body::Bayes(bayes) => {
            let (first, second) = match &bayes.likelihood {
                Likelihood::Gaussian { means, variances } => (means, variances),
                Likelihood::Bernoulli { above, below, .. } => (above, below),
            };
            all.extend(first.iter().chain(second).chain(&bayes.priors));
        }
        Body::Layers(layers) => {
            for (weights, bias) in (0..layers.units().len()).filter_map(|layer| layers.layer(layer)) {
                all.extend(weights.into_iter().chain(bias).map(f64::from));
            }
        }
    }
    all
}

/// What a run of these parameters on these data says wherever it begins and ends, field by field. Whether all is so.
fn settled_fields(claims: &mut Claims, fit: &Fit, again: &Fit) -> bool {
    let (theirs, mut ours) = (settled(fit), settled(again));
    if fit.report.older {
        ours = claimed_in(&theirs, ours);
    }
    let mut held = true;
    for (name, said) in &theirs {
        let found = ours.get(name).unwrap_or(&Value::Null);
        if said != found {
            claims.push(name, short(said), short(found), Verdict::Broken);
            held = false;
        }
    }
    held
}

/// Of what a run says, what another document has a word on: files of versions before 7 say nothing of what reports did not have yet.
fn claimed(theirs: &Value, ours: Value) -> Value {
    match (theirs, ours) {
        (Value::Null, _) => Value::Null,
        (Value::Object(theirs), Value::Object(ours)) => Value::Object(claimed_in(theirs, ours)),
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            theirs.iter().zip(ours).map(|(theirs, ours)| claimed(theirs, ours)).collect()
        }
        (_, ours) => ours,
    }
}

fn claimed_in(theirs: &Map<String, Value>, ours: Map<String, Value>) -> Map<String, Value> {
    let said = |(name, ours): (String, Value)| {
        let ours = claimed(theirs.get(&name)?, ours);
        Some((name, ours))
    };
    ours.into_iter().filter_map(said).collect()
}

fn settled(fit: &Fit) -> Map<String, Value> {
    let Fit { model, report } = fit;
    let link = match &model.link {
        Some(link) if link.is_calibrated() => json!("calibrated"),
        other => json!(other),
    };
    let form = match &model.body {
        Body::Linear(planes) => json!(["planes", planes.k(), planes.n_cols(), planes.is_lifted()]),
        Body::Voted(ballots) => {
            let each = |ballot: &Ballot| json!([ballot.planes(), format!("{:?}", ballot.tie), ballot.lifted]);
            json!(["votes", ballots.iter().map(each).collect::<Vec<_>>()])
        }
        Body::Kernel(sum) => {
            let (kernel, votes) = (format!("{:?}", sum.kernel), sum.voters().is_some());
            json!(["kernel", kernel, sum.planes(), sum.lifted, sum.is_machine(), votes])
        }
        Body::Bayes(bayes) => {
            json!(["distributions", bayes.distribution(), bayes.n_classes(), bayes.n_cols()])
        }
        Body::Layers(layers) => json!(["layers", layers.shape()]),
    };
    let all = [
        ("algorithm", json!(report.algorithm)),
        ("objective", json!(report.objective)),
        ("parameters", report.parameters.clone()),
        ("decision", json!(model.decision)),
        ("link", link),
        ("form", form),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Everything else that model and report say, field by field.
fn fields(claims: &mut Claims, fit: &Fit, again: &Fit) {
    let of_model = |fit: &Fit| {
        let model = &fit.model;
        json!({
            "decision": model.decision,
            "link": model.link,
            "scaling": model.scaling.as_ref().map(|s| json!([format!("{:?}", s.kind), s.shift, s.factor])),
            "map": model.map.as_ref().map(|map| format!("{:?} {:?}", map.kind, map.fitted)),
            "body": fit.model.body == again.model.body,
        })
    };
    let of_report = |report: &Report| serde_json::to_value(report).unwrap_or_default();
    // A search is not made again: what it chose is.
    let fitted = Report { selection: None, ..fit.report.clone() };
    let (mut theirs, mut ours) = (of_report(&fitted), of_report(&again.report));
    if fit.report.older {
        ours = claimed(&theirs, ours);
    }
    for (all, fit) in [(&mut theirs, fit), (&mut ours, again)] {
        if let (Value::Object(all), Value::Object(model)) = (all, of_model(fit)) {
            all.extend(model);
        }
    }
    let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) else { return };
    let mut names: Vec<&String> = theirs.keys().chain(ours.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let (checked, mut broken) = (names.len(), 0);
    for name in names {
        let (a, b) = (theirs.get(name).unwrap_or(&Value::Null), ours.get(name).unwrap_or(&Value::Null));
        if a != b {
            broken += 1;
            claims.push(name, short(a), short(b), Verdict::Broken);
        }
    }
    let found = match broken {
        0 => "compared with those of the run again".to_owned(),
        _ => format!("{broken} are not those of the run again"),
    };
    claims.push("its report", format!("{checked} fields"), found, Verdict::of(broken == 0));
}
