//! Calibrated probabilities: they never contradict a prediction, rise with the score, and are about right.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::ops::ControlFlow;

use common::{Points, noisy};
use rosenblatt::{
    Calibration, CalibrationMethod, Dataset, Dense, Fit, Labels, Learner, Link, Progress, Rng, Svm, Task,
    Watch, registry,
};
use serde_json::{Value, json};

fn learner(name: &str, given: &Value) -> Box<dyn Learner> {
    registry::algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap()
}

fn calibrated(name: &str, given: &Value, points: &Points) -> Fit {
    let data = points.data();
    Calibration { folds: 4, seed: 1, ..Calibration::default() }
        .learn(&*learner(name, given), &Task::new(&data), &mut ())
        .unwrap()
}

#[test]
fn probabilities_never_contradict_predictions() {
    let cases = [
        ("linear-svm", json!({})),
        ("linear-svm", json!({"multiclass": "ovo"})),
        ("averaged-perceptron", json!({"passes": 5})),
        ("voted-perceptron", json!({"passes": 3})),
        ("kernel-perceptron", json!({"passes": 3})),
        ("crammer-singer", json!({})),
        ("svm", json!({"c": 5.0})),
        ("svm", json!({"c": 5.0, "multiclass": "ovr"})),
        ("svm", json!({"c": 5.0, "multiclass": "native", "bias": "none"})),
        ("logistic", json!({"multiclass": "ovo"})),
        ("kernel-logistic", json!({})),
    ];
    for (number, (name, given)) in cases.iter().enumerate() {
        for k in [2, 3, 5] {
            let points = noisy(k, 60, 4, number as u64);
            let fit = calibrated(name, given, &points);
            // Ties among them: rows of zeros, and rows that were learned from.
            let new = noisy(k, 200, 4, 100 + number as u64);
            let scores = fit.model.scores(&new.dense::<f64>()).unwrap();
            for scores in scores.chunks(scores.len() / new.y.len()) {
                let p = fit.model.probabilities(scores).unwrap();
                let largest = (0..k).max_by(|&a, &b| p[a].total_cmp(&p[b]).then(b.cmp(&a))).unwrap();
                assert_eq!(largest, fit.model.decide(scores), "{name} {given}: {scores:?}, {p:?}");
                assert!(
                    (p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|p| (0.0..=1.0).contains(p))
                );
            }
            let said = fit.report.calibration.as_ref().unwrap();
            assert!(said.folds == 4 && (0.0..=1.0).contains(&said.accuracy) && said.log_loss.is_finite());
            let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
            assert_eq!(read.model.link, fit.model.link);
        }
    }
}

/// One feature, and how likely the second class is.
fn drawn(n: usize, seed: u64, likely: impl Fn(f64) -> f64) -> Dataset<'static> {
    let mut rng = Rng::new(seed);
    let x: Vec<f64> = (0..n).map(|_| 8.0 * rng.uniform() - 4.0).collect();
    let labels: Vec<&str> = x.iter().map(|&x| if rng.uniform() < likely(x) { "b" } else { "a" }).collect();
    Dataset::new(Dense::new(x, 1).unwrap(), &Labels::new(labels)).unwrap()
}

#[test]
fn probabilities_are_about_right_and_rise_with_the_score() {
    let likely = |x: f64| 1.0 / (1.0 + (-1.5 * x).exp());
    let data = drawn(4000, 3, likely);
    for learner in
        [&Svm { gamma: Some(0.05), ..Svm::default() } as &dyn Learner, &*learner("linear-svm", &json!({}))]
    {
        let fit = Calibration { folds: 5, seed: 0, ..Calibration::default() }
            .learn(learner, &Task::new(&data), &mut ())
            .unwrap();
        let places: Vec<f64> = (-30..=30).map(|x| f64::from(x) / 10.0).collect();
        let scores = fit.model.scores(&Dense::new(places.clone(), 1).unwrap().into()).unwrap();
        let p: Vec<f64> = scores.iter().map(|&score| fit.model.probabilities(&[score]).unwrap()[1]).collect();
        for (x, p) in places.iter().zip(&p) {
            assert!((p - likely(*x)).abs() < 0.12, "{}: {p} at {x}, {}", learner.name(), likely(*x));
        }
        let rising = |(i, j): (usize, usize)| scores[i] < scores[j] && p[i] >= p[j];
        assert!(!(0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))).any(rising));
    }
}

#[test]
fn what_cannot_be_told_is_a_coin() {
    let data = drawn(1000, 5, |_| 0.5);
    let fit = Calibration { folds: 5, seed: 0, ..Calibration::default() }
        .learn(&Svm { gamma: Some(50.0), ..Svm::default() }, &Task::new(&data), &mut ())
        .unwrap();
    let p = fit.model.probabilities(&[1.0]).unwrap();
    assert!((0.5..0.6).contains(&p[1]), "{p:?}");
    assert!(fit.report.calibration.unwrap().log_loss < 0.71);
}

/// Classes that nothing confuses are not certain for that.
#[test]
fn certainty_grows_with_the_rows() {
    let of = |n: usize| {
        let data = drawn(n, 7, |x| f64::from(u8::from(x > 0.0)));
        let fit = Calibration { folds: 5, seed: 0, ..Calibration::default() }.learn(
            &*learner("linear-svm", &json!({"c": 100.0})),
            &Task::new(&data),
            &mut (),
        );
        fit.unwrap().model.probabilities(&[2.0]).unwrap()[1]
    };
    let (few, many) = (of(20), of(2000));
    assert!(few < many && many < 1.0 && few > 0.6, "{few}, {many}");
}

#[test]
fn classes_of_one_row_stay_in() {
    let x = Dense::new(vec![0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3, 9.0], 1).unwrap();
    let data = Dataset::new(x, &Labels::new(["a", "a", "a", "a", "b", "b", "b", "b", "c"])).unwrap();
    let fit = Calibration { folds: 4, seed: 0, ..Calibration::default() }
        .learn(&Svm::default(), &Task::new(&data), &mut ())
        .unwrap();
    assert!(fit.model.link.is_some());
    let refused = Calibration { folds: 10, seed: 0, ..Calibration::default() }
        .learn(&Svm::default(), &Task::new(&data), &mut ())
        .unwrap_err();
    assert!(refused.to_string().contains("from 2 to the number of rows, 9"), "{refused}");
}

#[test]
fn rows_of_no_weight_are_as_good_as_none() {
    let points = noisy(3, 60, 4, 9);
    let link = |points: &Points, weights: Vec<f64>| {
        let data = points.data().with_weights(weights).unwrap();
        let learner = learner("linear-svm", &json!({}));
        Calibration { folds: 4, seed: 1, ..Calibration::default() }
            .learn(&*learner, &Task::new(&data), &mut ())
            .unwrap()
            .model
            .link
    };
    let mut more = noisy(3, 60, 4, 9);
    (0..30).for_each(|i| more.push(&[1.0, f64::from(i), 0.0, 2.0], i as usize % 3));
    let mut weights = vec![1.0; points.y.len()];
    let alone = link(&points, weights.clone());
    weights.resize(more.y.len(), 0.0);
    assert_eq!(link(&more, weights), alone);
}

struct Never;

impl Watch for Never {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_run_that_is_stopped_has_no_probabilities() {
    let data = noisy(2, 400, 4, 1).data();
    let fit = Calibration { folds: 4, seed: 0, ..Calibration::default() }
        .learn(&Svm::default(), &Task::new(&data), &mut Never)
        .unwrap();
    assert_eq!((fit.model.link, fit.report.calibration), (None, None));
}

#[test]
fn slopes_that_are_none_are_refused() {
    let points = noisy(2, 40, 3, 2);
    let mut fit = calibrated("linear-svm", &json!({}), &points);
    for (below, above) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        fit.model.link = Some(Link::Calibrated { below, above });
        assert!(fit.to_bytes().is_err());
    }
}

fn methods() -> [CalibrationMethod; 3] {
    [CalibrationMethod::Slope, CalibrationMethod::Platt, CalibrationMethod::Isotonic]
}

#[test]
fn no_curve_contradicts_a_prediction() {
    let cases = [
        ("linear-svm", json!({})),
        ("linear-svm", json!({"multiclass": "ovo"})),
        ("voted-perceptron", json!({"passes": 3})),
        ("kernel-perceptron", json!({"passes": 3})),
        ("svm", json!({"c": 5.0})),
    ];
    for method in methods() {
        for (number, (name, given)) in cases.iter().enumerate() {
            for k in [2, 3, 5] {
                let data = noisy(k, 80, 4, number as u64).data();
                let calibration = Calibration { method, folds: 4, seed: 1 };
                let fit = calibration.learn(&*learner(name, given), &Task::new(&data), &mut ()).unwrap();
                let new = noisy(k, 200, 4, 100 + number as u64);
                let scores = fit.model.scores(&new.dense::<f64>()).unwrap();
                for scores in scores.chunks(scores.len() / new.y.len()) {
                    let p = fit.model.probabilities(scores).unwrap();
                    let largest = (0..k).max_by(|&a, &b| p[a].total_cmp(&p[b]).then(b.cmp(&a))).unwrap();
                    assert_eq!(largest, fit.model.decide(scores), "{method:?} {name}: {scores:?}, {p:?}");
                    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
                }
                assert_eq!(fit.report.calibration.as_ref().unwrap().method, method);
                assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit);
            }
        }
    }
}

/// Twice as likely on one side as on the other, which no curve through ½ with one slope can say.
#[test]
fn curves_follow_what_rows_say() {
    let likely = |x: f64| if x < 0.0 { 0.4 } else { 0.5 + 0.4 * (x / 4.0) };
    let data = drawn(6000, 3, likely);
    for method in methods() {
        let calibration = Calibration { method, folds: 5, seed: 0 };
        let fit = calibration.learn(&*learner("linear-svm", &json!({})), &Task::new(&data), &mut ()).unwrap();
        let p = |x: f64| {
            let scores = fit.model.scores(&Dense::new(vec![x], 1).unwrap().into()).unwrap();
            fit.model.probabilities(&scores).unwrap()[1]
        };
        let places: Vec<f64> = (-39..=39).map(|x| f64::from(x) / 10.0).collect();
        let off = places.iter().map(|&x| (p(x) - likely(x)).abs()).sum::<f64>() / 79.0;
        let allowed = if method == CalibrationMethod::Isotonic { 0.05 } else { 0.12 };
        assert!(off < allowed, "{method:?}: {off}");
        assert!(places.windows(2).all(|pair| p(pair[0]) <= p(pair[1]) + 1e-12), "{method:?}");
    }
}

#[test]
fn curves_that_are_none_are_refused() {
    let points = noisy(2, 40, 3, 2);
    let mut fit = calibrated("linear-svm", &json!({}), &points);
    let wrong = [
        Link::Platt { slope: 0.0, offsets: vec![0.0, 0.0] },
        Link::Platt { slope: 1.0, offsets: vec![0.0] },
        Link::Platt { slope: 1.0, offsets: vec![0.0, f64::NAN] },
        Link::Isotonic { curves: vec![] },
        Link::Isotonic { curves: vec![vec![]] },
        Link::Isotonic { curves: vec![vec![[0.0, 0.5], [0.0, 0.6]]] },
        Link::Isotonic { curves: vec![vec![[0.0, 0.5], [1.0, 0.4]]] },
        Link::Isotonic { curves: vec![vec![[0.0, 1.5]]] },
    ];
    for link in wrong {
        fit.model.link = Some(link.clone());
        assert!(fit.to_bytes().is_err(), "{link:?}");
    }
}
