//! Fits that start from a model reach what they would have reached anyway, and sooner.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Points, noisy};
use rosenblatt::registry::{self, ALGORITHMS};
use rosenblatt::{Error, Fit, Learner, Status, Task};
use serde_json::{Map, Value, json};

fn learner(name: &str, given: &Value) -> Box<dyn Learner> {
    registry::algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap()
}

fn fit(name: &str, given: &Value, points: &Points, start: Option<&Fit>) -> Result<Fit, Error> {
    let data = points.data();
    let task = Task { start: start.map(|fit| &fit.model), ..Task::new(&data) };
    learner(name, given).learn(&task, &mut ())
}

/// Every way to solve that can go on, with two classes and with three.
fn ways() -> Vec<(&'static str, Value)> {
    let mut ways = Vec::new();
    for bias in ["free", "regularized", "none"] {
        for solver in ["dual", "newton"] {
            for loss in ["hinge", "squared-hinge"] {
                ways.push(("linear-svm", json!({ "loss": loss, "solver": solver, "bias": bias })));
            }
            ways.push(("logistic", json!({ "solver": solver, "bias": bias, "multiclass": "ovr" })));
            ways.push(("linear-svm", json!({ "solver": solver, "bias": bias, "multiclass": "ovo" })));
        }
        ways.push(("logistic", json!({ "bias": bias })));
    }
    ways.push(("logistic", json!({ "penalty": "l1", "multiclass": "ovr" })));
    ways
}

fn with(given: &Value, more: &[(&str, Value)]) -> Value {
    let mut given = given.clone();
    more.iter().for_each(|(name, value)| given[*name] = value.clone());
    given
}

#[test]
fn a_resumed_run_reaches_the_gap_of_an_unbroken_one() {
    for classes in [2, 3] {
        let points = noisy(classes, 150, 5, 7);
        for (name, given) in ways() {
            let given = with(&given, &[("gap", json!(1e-6)), ("passes", json!(100_000))]);
            let whole = fit(name, &given, &points, None).unwrap();
            let part = fit(name, &with(&given, &[("passes", json!(2))]), &points, None).unwrap();
            let resumed = fit(name, &given, &points, Some(&part)).unwrap();
            let of = |fit: &Fit| (fit.report.primal.unwrap(), fit.report.gap.unwrap());
            assert_eq!(resumed.report.status, Status::Converged, "{name} {given}");
            assert!(of(&resumed).1 <= 1e-6, "{name} {given}: {:?}", of(&resumed));
            let apart = (of(&resumed).0 - of(&whole).0).abs() / of(&whole).0;
            assert!(apart <= 1e-6, "{name} {given}: {apart:e}");
        }
    }
}

#[test]
fn from_the_optimum_there_is_little_left_to_do() {
    let points = noisy(2, 400, 6, 3);
    for (name, given) in ways() {
        let given = with(&given, &[("gap", json!(1e-4)), ("passes", json!(100_000))]);
        let exact = fit(name, &with(&given, &[("gap", json!(1e-7))]), &points, None).unwrap();
        let passes = |start: Option<&Fit>, c: f64| {
            fit(name, &with(&given, &[("c", json!(c))]), &points, start)
                .unwrap()
                .report
                .solver_passes
                .unwrap()
        };
        // For hinge a plane does not tell the α of rows on the margin, without which there is no proof.
        if name == "linear-svm" && given["loss"] != "squared-hinge" {
            continue;
        }
        let (cold, warm) = (passes(None, 1.0), passes(Some(&exact), 1.0));
        assert!(warm <= cold, "{name} {given}: {warm} passes, {cold} without a start");
        if given["solver"] == "newton" && given["loss"] != "hinge" && name == "logistic" {
            assert_eq!(warm, 0, "{name} {given}");
            assert!(passes(Some(&exact), 1.3) <= passes(None, 1.3), "{name} {given}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let start = fit("logistic", &json!({}), &noisy(3, 40, 4, 1), None).unwrap();
    let refused = |name: &str, given: Value, points: &Points| match fit(name, &given, points, Some(&start)) {
        Err(Error::Start(why)) => why,
        other => panic!("{name} {given}: {other:?}"),
    };
    let same = noisy(3, 40, 4, 1);
    assert!(refused("logistic", json!({}), &noisy(2, 40, 4, 1)).contains("classes"));
    assert!(refused("logistic", json!({}), &noisy(3, 40, 5, 1)).contains("features"));
    assert!(refused("logistic", json!({ "bias": "none" }), &same).contains("--bias"));
    assert!(refused("linear-svm", json!({ "multiclass": "ovo" }), &same).contains("--multiclass"));
    for algorithm in ALGORITHMS {
        if !algorithm.learner(&Map::new()).unwrap().can_go_on() {
            assert!(refused(algorithm.name, json!({}), &same).contains(algorithm.name));
        }
    }
}
