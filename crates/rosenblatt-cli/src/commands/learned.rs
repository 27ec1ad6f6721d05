//! What models without planes and stored examples have learned.

use rosenblatt::{Bayes, Body, Fit, Layers};
use serde_json::{Value, json};

use super::largest;
use crate::format::{count, number};
use crate::style::{DIM, TITLE};
use crate::table::Table;

/// What a feature is in each class.
struct Feature {
    name: String,
    /// Means and standard deviations, or probabilities to be above the threshold.
    classes: Vec<(f64, Option<f64>)>,
}

/// Features that tell classes apart most.
fn features(fit: &Fit, bayes: &Bayes, top: usize) -> Vec<Feature> {
    let k = bayes.n_classes();
    let feature = |j: usize| {
        let class = |c: usize| match (bayes.means(), bayes.variances(), bayes.log_above()) {
            (Some(means), Some(variances), _) => (means[j * k + c], Some(variances[j * k + c].sqrt())),
            (_, _, Some(above)) => (above[j * k + c].exp(), None),
            _ => (0.0, None),
        };
        Feature { name: fit.model.inner_name(j), classes: (0..k).map(class).collect() }
    };
    largest((0..bayes.n_cols()).map(feature).collect(), top, spread)
}

/// How far classes are apart: in their standard deviations, or in odds.
fn spread(feature: &Feature) -> f64 {
    let pair = |a: &(f64, Option<f64>), b: &(f64, Option<f64>)| match (a, b) {
        ((a, Some(s)), (b, Some(t))) => (a - b).abs() / (s * s + t * t).sqrt().max(f64::MIN_POSITIVE),
        ((a, _), (b, _)) => ((a / (1.0 - a)).ln() - (b / (1.0 - b)).ln()).abs(),
    };
    let all = &feature.classes;
    all.iter().flat_map(|a| all.iter().map(move |b| pair(a, b))).fold(0.0, f64::max)
}

/// The length of all weights of a feature in the first layer.
fn inputs(fit: &Fit, layers: &Layers, top: usize) -> Vec<(String, f64)> {
    let Some((weights, bias)) = layers.layer(0) else { return Vec::new() };
    let length = |weights: &[f32]| weights.iter().map(|&w| f64::from(w).powi(2)).sum::<f64>().sqrt();
    let named = weights.chunks_exact(bias.len()).map(length).enumerate();
    largest(named.map(|(j, length)| (fit.model.inner_name(j), length)).collect(), top, |input| input.1)
}

pub(super) fn json(fit: &Fit, top: usize) -> (Value, Value) {
    match &fit.model.body {
        Body::Bayes(bayes) => {
            let feature = |feature: &Feature| {
                let (values, deviations): (Vec<f64>, Vec<Option<f64>>) =
                    feature.classes.iter().copied().unzip();
                let deviations: Option<Vec<f64>> = deviations.into_iter().collect();
                match deviations {
                    Some(deviations) => {
                        json!({ "feature": feature.name, "means": values, "deviations": deviations })
                    }
                    None => json!({ "feature": feature.name, "probabilities": values }),
                }
            };
            let features: Vec<Value> = features(fit, bayes, top).iter().map(feature).collect();
            let name = bayes.distribution();
            (json!({ "kind": name, "log_priors": bayes.log_priors(), "features": features }), Value::Null)
        }
        Body::Layers(layers) => {
            let inputs: Vec<Value> = inputs(fit, layers, top)
                .into_iter()
                .map(|(name, length)| json!({ "feature": name, "weight_length": length }))
                .collect();
            let network = json!({
                "units": layers.units(), "activation": layers.activation(), "weights": layers.n_weights(), "inputs": inputs,
            });
            (Value::Null, network)
        }
        Body::Linear(_) | Body::Voted(_) | Body::Kernel(_) => (Value::Null, Value::Null),
    }
}

pub(super) fn text(fit: &Fit, top: usize) -> String {
    match &fit.model.body {
        Body::Bayes(bayes) => distributions(fit, bayes, top),
        Body::Layers(layers) => network(fit, layers, top),
        Body::Linear(_) | Body::Voted(_) | Body::Kernel(_) => String::new(),
    }
}

fn distributions(fit: &Fit, bayes: &Bayes, top: usize) -> String {
    /// Classes that fit a line.
    const SHOWN: usize = 8;
    let classes: Vec<String> =
        fit.model.classes.iter().take(SHOWN).map(|class| format!(">{class}")).collect();
    let headings: Vec<&str> = ["feature"].into_iter().chain(classes.iter().map(String::as_str)).collect();
    let mut table = Table::new(&headings);
    let prior = |log: &f64| number(log.exp(), 4);
    table.row(["PRIOR".to_owned()].into_iter().chain(bayes.log_priors().iter().take(SHOWN).map(prior)));
    for feature in features(fit, bayes, top) {
        let cell = |&(value, deviation): &(f64, Option<f64>)| match deviation {
            Some(deviation) => format!("{} ± {}", number(value, 4), number(deviation, 3)),
            None => number(value, 4),
        };
        table.row([feature.name].into_iter().chain(feature.classes.iter().take(SHOWN).map(cell)));
    }
    let what = match bayes.means() {
        Some(_) => "mean and standard deviation",
        None => "probability to be there",
    };
    let hidden = bayes.n_classes().saturating_sub(SHOWN);
    let more =
        if hidden > 0 { format!("; {} more classes in --json", count(hidden as u64)) } else { String::new() };
    format!(
        "\n{TITLE}In each class{TITLE:#}\n{table}\n{DIM}The {what} of features, those first that tell classes apart most{more}.{DIM:#}\n"
    )
}

fn network(fit: &Fit, layers: &Layers, top: usize) -> String {
    let mut table = Table::new(&["layer", ">inputs", ">units", ">weights", ">longest weight"]);
    let (units, mut inputs_of) = (layers.units(), layers.n_cols());
    for (l, &n) in units.iter().enumerate() {
        let (weights, _) = layers.layer(l).unwrap_or_default();
        let most = weights.iter().fold(0.0, |most: f32, w| most.max(w.abs()));
        let name = match l + 1 == units.len() {
            true => "scores".to_owned(),
            false => format!("hidden, {}", layers.activation().name()),
        };
        let sizes = [inputs_of, n, n * (inputs_of + 1)].map(|size| count(size as u64));
        table.row([name].into_iter().chain(sizes).chain([number(f64::from(most), 4)]));
        inputs_of = n;
    }
    let mut first = Table::new(&["feature", ">length of its weights"]);
    for (name, length) in inputs(fit, layers, top) {
        first.row([name, number(length, 4)]);
    }
    format!("\n{table}\n{TITLE}Into the first layer{TITLE:#}\n{first}")
}
