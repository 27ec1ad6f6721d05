//! What a model claims is found to be so, and every claim that is not is found out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::registry::{ALGORITHMS, algorithm};
use rosenblatt::{
    Body, Calibration, Dataset, Dense, FeatureMap, Fit, Labels, Learner, Report, Rng, Scale, Scaling, Task,
    Verdict, Verification, Verifier,
};
use serde_json::{Value, json};

/// Rows about as many centres as there are classes, which overlap.
fn data(classes: usize, seed: u64) -> Dataset<'static> {
    let (mut rng, n, d) = (Rng::new(seed), 30 * classes, 3);
    let mut x = Vec::new();
    let mut labels = Vec::new();
    for i in 0..n {
        let class = i % classes;
        labels.push(["a", "b", "c"][class]);
        x.extend((0..d).map(|j| rng.normal().abs() + if j == class { 1.2 } else { 0.0 }));
    }
    Dataset::new(Dense::new(x, d).unwrap(), &Labels::new(labels)).unwrap()
}

fn learner(name: &str, given: Value) -> Box<dyn Learner> {
    let Value::Object(given) = given else { panic!("not an object") };
    algorithm(name).unwrap().learner(&given).unwrap_or_else(|error| panic!("{name} {given:?}: {error}"))
}

fn verify(fit: &Fit, data: &Dataset<'_>) -> Verification {
    Verifier::default().verify(fit, data, &mut ()).unwrap()
}

fn assert_all_held(fit: &Fit, data: &Dataset<'_>, what: &str) {
    let verification = verify(fit, data);
    let bad: Vec<_> = verification.claims.iter().filter(|claim| claim.verdict != Verdict::Held).collect();
    assert!(bad.is_empty(), "{what}: {bad:#?}\n{:#?}", fit.report);
    assert!(!verification.claims.is_empty());
}

/// Learners with an objective, in their varieties.
fn with_objectives() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for bias in ["free", "regularized", "none"] {
        for loss in ["hinge", "squared-hinge"] {
            for multiclass in ["ovr", "ovo"] {
                all.push((
                    "linear-svm",
                    json!({ "bias": bias, "loss": loss, "multiclass": multiclass, "c": 0.3 }),
                ));
            }
        }
        for multiclass in ["native", "ovr"] {
            all.push((
                "logistic",
                json!({ "bias": bias, "multiclass": multiclass, "class_weight": "balanced" }),
            ));
        }
        for slack in ["linear", "squared"] {
            all.push(("svm", json!({ "bias": bias, "slack": slack, "c": 2.0 })));
        }
        all.push(("kernel-logistic", json!({ "bias": bias, "kernel": "laplacian" })));
    }
    for kernel in ["linear", "poly", "cosine", "chi2", "sigmoid"] {
        all.push(("svm", json!({ "kernel": kernel, "gamma": 0.1 })));
    }
    for bias in ["regularized", "none"] {
        all.push(("crammer-singer", json!({ "bias": bias, "c": 0.5 })));
        all.push(("svm", json!({ "bias": bias, "multiclass": "native" })));
    }
    all.push(("linear-svm", json!({ "penalty": "l1", "loss": "squared-hinge", "lambda": 0.01 })));
    all.push(("logistic", json!({ "penalty": "l1", "multiclass": "ovr", "bias": "none" })));
    all.push(("linear-svm", json!({ "lambda": 0.02, "gap": 1e-6 })));
    all.push(("pegasos", json!({ "passes": 20 })));
    all.push(("subgradient", json!({ "passes": 20, "loss": "squared-hinge" })));
    all.push(("svm", json!({ "nu": 0.3 })));
    all
}

#[test]
fn claims_of_all_learners_hold() {
    for classes in [2, 3] {
        let data = data(classes, 1);
        for row in ALGORITHMS.iter().filter(|row| row.name != "hard-margin") {
            let fit = learner(row.name, json!({})).fit(&data, &mut ()).unwrap();
            assert_all_held(&fit, &data, row.name);
        }
        for (name, given) in with_objectives() {
            let fit = learner(name, given.clone()).fit(&data, &mut ()).unwrap();
            let verification = verify(&fit, &data);
            let broken: Vec<_> =
                verification.claims.iter().filter(|claim| claim.verdict == Verdict::Broken).collect();
            assert!(broken.is_empty(), "{classes} classes, {name} {given}: {broken:#?}");
            let open: Vec<_> =
                verification.claims.iter().filter(|claim| claim.verdict == Verdict::Open).collect();
            assert!(open.is_empty(), "{classes} classes, {name} {given}: {open:#?}");
        }
    }
}

#[test]
fn weights_copies_scales_maps_and_calibration_are_seen_through() {
    let plain = data(2, 3);
    let twice: Vec<usize> = (0..plain.n_rows()).chain(0..20).collect();
    let weights = (0..twice.len()).map(|i| f64::from(u8::try_from(i % 4).unwrap())).collect();
    let data = plain.select(&twice).with_weights(weights).unwrap();
    for (name, given) in [
        ("linear-svm", json!({ "c": 2.0 })),
        ("logistic", json!({})),
        ("svm", json!({ "c": 5.0, "class_weight": { "each": { "a": 2.0 } } })),
        ("averaged-perceptron", json!({})),
    ] {
        let learner = learner(name, given);
        assert_all_held(&learner.fit(&data, &mut ()).unwrap(), &data, name);
        let scaling = Scaling::fit(Scale::Standard, data.x());
        let scaled = data.clone().scaled(&scaling).unwrap();
        let map = FeatureMap::fit("fourier:20".parse().unwrap(), &scaled, 0).unwrap();
        let mapped = scaled.mapped(&map).unwrap();
        let task = Task { scaling: Some(&scaling), map: Some(&map), ..Task::new(&mapped) };
        assert_all_held(&learner.learn(&task, &mut ()).unwrap(), &data, name);
        let calibration = Calibration { folds: 3, seed: 0 };
        assert_all_held(&calibration.learn(learner.as_ref(), &task, &mut ()).unwrap(), &data, name);
    }
}

/// All numbers, words and truth values of a document, by their paths.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| leaves(value, &format!("{path}/{i}"), found))
        }
        _ => found.push(path.to_owned()),
    }
}

/// Something else of the same type, if there is anything.
fn corrupted(value: &Value, path: &str) -> Vec<Value> {
    match value {
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) if number.is_u64() => vec![json!(number.as_u64().unwrap() + 1)],
        Value::Number(number) => {
            let value = number.as_f64().unwrap();
            [1.01, 0.99]
                .iter()
                .map(|by| if value == 0.0 { json!(by - 1.0) } else { json!(value * by) })
                .collect()
        }
        Value::String(_) if path == "/status" => {
            ["converged", "pass_limit", "time_limit", "interrupted", "stalled", "inseparable"]
                .map(Value::from)
                .to_vec()
        }
        Value::String(text) => vec![json!(format!("{text}0"))],
        // What a fit of this kind has nothing to say of.
        _ => match path.rsplit('/').next() {
            Some("best_pass" | "support_vectors" | "solver_passes") => vec![json!(1)],
            Some(
                "holdout_accuracy" | "primal" | "dual" | "gap" | "margin" | "mistake_bound"
                | "train_accuracy",
            ) => vec![json!(0.5)],
            _ => Vec::new(),
        },
    }
}

/// Parameters that say how a run is made, not what it comes to, and the degree, which these kernels do not have: with another value the same model may be as true. All that enter an objective are caught.
fn free(path: &str) -> bool {
    let how = ["passes", "time_limit", "seed", "solver", "cache", "tolerance", "gap", "degree"];
    path.strip_prefix("/parameters/").is_some_and(|name| how.contains(&name))
}

#[test]
fn every_field_of_a_report_that_is_changed_is_caught() {
    let data = data(3, 5);
    let pair = data.select(&(0..data.n_rows()).filter(|i| i % 3 < 2).collect::<Vec<_>>());
    let pair = Dataset::new(pair.x().clone(), &Labels::new(pair.y().iter().map(u32::to_string))).unwrap();
    let (mut caught, mut missed) = (0, Vec::new());
    for (name, given, data) in [
        ("perceptron", json!({ "passes": 5 }), &pair),
        ("averaged-perceptron", json!({ "passes": 3, "multiclass": "ovo" }), &data),
        ("voted-perceptron", json!({ "passes": 3 }), &pair),
        ("arow", json!({ "passes": 3 }), &data),
        ("kernel-perceptron", json!({ "passes": 3 }), &pair),
        ("linear-svm", json!({}), &data),
        ("linear-svm", json!({ "loss": "squared-hinge", "bias": "none" }), &pair),
        ("logistic", json!({}), &data),
        ("crammer-singer", json!({}), &data),
        ("svm", json!({}), &data),
        ("svm", json!({ "slack": "squared" }), &pair),
        ("kernel-logistic", json!({}), &pair),
    ] {
        let fit = learner(name, given).fit(data, &mut ()).unwrap();
        assert_all_held(&fit, data, name);
        let report = serde_json::to_value(&fit.report).unwrap();
        let mut paths = Vec::new();
        leaves(&report, "", &mut paths);
        for path in paths.iter().filter(|path| !free(path)) {
            for other in corrupted(&report.pointer(path).cloned().unwrap_or_default(), path) {
                let mut changed = report.clone();
                *changed.pointer_mut(path).unwrap() = other.clone();
                let Ok(report) = serde_json::from_value::<Report>(changed) else { continue };
                if report == fit.report {
                    continue;
                }
                let lie = Fit { report, ..fit.clone() };
                match Verifier::default().verify(&lie, data, &mut ()) {
                    Ok(verification) if verification.holds() => {
                        missed.push(format!("{name} {path}: {other}"))
                    }
                    _ => caught += 1,
                }
            }
        }
    }
    assert!(missed.is_empty(), "{caught} caught; missed: {missed:#?}");
    assert!(caught > 300, "{caught}");
}

#[test]
fn every_number_of_a_model_that_is_changed_is_caught() {
    let data = data(3, 6);
    for (name, given) in [
        ("perceptron", json!({})),
        ("linear-svm", json!({})),
        ("logistic", json!({})),
        ("svm", json!({})),
        ("kernel-perceptron", json!({ "passes": 2 })),
    ] {
        let fit = learner(name, given).fit(&data, &mut ()).unwrap();
        let bytes = fit.to_bytes().unwrap();
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        // Every array of the file, number by number: the middle of its mantissa.
        let mut at = 8 + header + 5;
        let mut caught = 0;
        while at < bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            if let Ok(lie) = Fit::from_bytes(&changed) {
                let verdict = Verifier::default().verify(&lie, &data, &mut ());
                assert!(!verdict.is_ok_and(|found| found.holds()), "{name}: byte {at} of {}", bytes.len());
                caught += 1;
            }
            at += 8 * (1 + bytes.len() / 4000);
        }
        assert!(caught > 0);
    }
}

#[test]
fn a_model_that_was_not_finished_is_as_far_from_the_optimum_as_it_says() {
    let data = data(2, 7);
    let best = learner("linear-svm", json!({ "gap": 1e-9, "passes": 100000 })).fit(&data, &mut ()).unwrap();
    let optimum = best.report.primal.unwrap();
    for (name, given) in [("pegasos", json!({ "passes": 2 })), ("subgradient", json!({ "passes": 5 }))] {
        let fit = learner(name, given).fit(&data, &mut ()).unwrap();
        // Nothing but the plane is known.
        let foreign = Fit {
            report: Report {
                algorithm: "linear-svm".to_owned(),
                parameters: json!({ "bias": "free" }),
                ..Report::default()
            },
            ..fit.clone()
        };
        let found = verify(&foreign, &data);
        let (primal, dual) = (found.primal.unwrap(), found.dual.unwrap());
        assert!((primal - fit.report.primal.unwrap()).abs() < 1e-9 * primal, "{name}");
        assert!(dual <= optimum * (1.0 + 1e-9) && dual > optimum * (1.0 - 1e-3), "{name}: {dual} {optimum}");
        assert!(found.gap.unwrap() > 0.01, "{name}: {found:?}");
    }
    assert!(matches!(best.model.body, Body::Linear(_)));
}
