//! Naive Bayes against formulas, and what it makes of odd data.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Points, assert_close, label, noisy};
use rosenblatt::{
    Body, ClassWeight, Classes, DataError, Dataset, Dense, Distribution, Error, Fit, Labels, Learner,
    NaiveBayes, Rng, Rows, Task, Verifier,
};

fn learner(distribution: Distribution) -> NaiveBayes {
    NaiveBayes { distribution, ..NaiveBayes::default() }
}

const ALL: [Distribution; 3] = [Distribution::Gaussian, Distribution::Multinomial, Distribution::Bernoulli];

fn fit(learner: &NaiveBayes, points: &Points) -> Fit {
    learner.fit(&points.data(), &mut ()).unwrap()
}

/// By Bayes' rule, from logarithms of P(c, x).
fn posterior(joint: &[f64]) -> Vec<f64> {
    let most = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = joint.iter().map(|g| (g - most).exp()).collect();
    shares.iter().map(|share| share / shares.iter().sum::<f64>()).collect()
}

/// P(c, x) by counting, one number after the other.
fn joint(learner: &NaiveBayes, points: &Points, x: &[f64]) -> Vec<f64> {
    let n = points.cols();
    let largest = (0..n)
        .map(|j| {
            let column: Vec<f64> = points.x.iter().map(|x| x[j]).collect();
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / column.len() as f64
        })
        .fold(0.0, f64::max);
    let class = |c: usize| {
        let own: Vec<&Vec<f64>> =
            points.x.iter().zip(&points.y).filter(|(_, y)| **y == c).map(|(x, _)| x).collect();
        let (m, alpha) = (own.len() as f64, learner.alpha);
        let sum = |f: &dyn Fn(&[f64]) -> f64| own.iter().map(|x| f(x)).sum::<f64>();
        let total = sum(&|x| x.iter().sum::<f64>()) + alpha * n as f64;
        let term = |j: usize| match learner.distribution {
            Distribution::Multinomial => x[j] * ((sum(&|x| x[j]) + alpha) / total).ln(),
            Distribution::Bernoulli => {
                let p = (sum(&|x| f64::from(u8::from(x[j] > learner.binarize))) + alpha) / (m + 2.0 * alpha);
                if x[j] > learner.binarize { p.ln() } else { (1.0 - p).ln() }
            }
            _ => {
                let mean = sum(&|x| x[j]) / m;
                let v = sum(&|x| (x[j] - mean).powi(2)) / m + learner.var_smoothing * largest;
                -0.5 * ((std::f64::consts::TAU * v).ln() + (x[j] - mean).powi(2) / v)
            }
        };
        let prior = if learner.fit_prior { m / points.y.len() as f64 } else { 1.0 / points.classes as f64 };
        prior.ln() + (0..n).map(term).sum::<f64>()
    };
    (0..points.classes).map(class).collect()
}

#[test]
fn probabilities_are_those_of_the_formulas() {
    for k in [2, 3, 5] {
        let (points, new) = (noisy(k, 50, 6, 3), noisy(k, 20, 6, 4));
        for learner in [
            learner(Distribution::Gaussian),
            NaiveBayes { var_smoothing: 0.1, fit_prior: false, ..learner(Distribution::Gaussian) },
            learner(Distribution::Multinomial),
            NaiveBayes { alpha: 0.01, ..learner(Distribution::Multinomial) },
            NaiveBayes { binarize: 1.0, ..learner(Distribution::Bernoulli) },
            NaiveBayes { binarize: -0.5, alpha: 2.0, ..learner(Distribution::Bernoulli) },
        ] {
            let model = fit(&learner, &points).model;
            let scores = model.scores(&new.dense::<f64>()).unwrap();
            for (row, scores) in new.x.iter().zip(scores.chunks(model.body.n_scores())) {
                let found = model.probabilities(scores).unwrap();
                assert_close(&found, &posterior(&joint(&learner, &points, row)), &format!("{learner:?}"));
            }
        }
    }
}

#[test]
fn explanations_add_up_whatever_the_distribution() {
    for k in [2, 4] {
        let points = noisy(k, 40, 5, 8);
        for distribution in ALL {
            let model = fit(&learner(distribution), &points).model;
            for i in 0..10 {
                let why = model.explain(&points.sparse::<f64>(), i).unwrap();
                let mut sums = why.bias.clone();
                for part in &why.contributions {
                    sums.iter_mut().zip(&part.amounts).for_each(|(sum, amount)| *sum += amount);
                }
                assert_close(&sums, &why.scores, &format!("{distribution:?}"));
                let best = (0..k).rev().max_by(|&a, &b| why.scores[a].total_cmp(&why.scores[b])).unwrap();
                assert_eq!(why.predicted, best);
                // Zeros tell something, too, but for planes.
                let all = if distribution == Distribution::Multinomial { 0 } else { 5 };
                assert!(why.contributions.len() >= all);
            }
        }
    }
}

/// Also where rows are so many that they are summed in parts.
#[test]
fn weights_are_repetitions() {
    for rows in [60, 9000] {
        let points = noisy(3, rows, 4, 5);
        let mut rng = Rng::new(1);
        let counts: Vec<usize> = points.y.iter().map(|_| rng.below(4) as usize).collect();
        let weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        for distribution in ALL {
            let learner = learner(distribution);
            let weighted =
                learner.fit(&points.data().with_weights(weights.clone()).unwrap(), &mut ()).unwrap();
            let repeated = fit(&learner, &points.repeated(&counts));
            let x = points.dense::<f64>();
            assert_close(
                &weighted.model.scores(&x).unwrap(),
                &repeated.model.scores(&x).unwrap(),
                &format!("{distribution:?}"),
            );
        }
    }
}

#[test]
fn the_distribution_follows_the_data() {
    let chosen = |rows: &[([f64; 3], usize)]| {
        let report = fit(&NaiveBayes::default(), &Points::of(rows)).report;
        report.solver.unwrap()
    };
    let solver = chosen(&[([1.0, 0.0, 1.0], 0), ([0.0, 1.0, 1.0], 1)]);
    assert_eq!(solver, "counts by class; bernoulli, for all values are 0 or 1");
    let solver = chosen(&[([3.0, 0.0, 0.0], 0), ([0.0, 1.5, 0.0], 1)]);
    assert_eq!(solver, "counts by class; multinomial, for no value is negative and 66% are 0");
    let solver = chosen(&[([3.0, 0.0, 2.0], 0), ([0.5, 1.5, 4.0], 1)]);
    assert_eq!(solver, "means and variances by class; gaussian, for most values are not 0");
    let solver = chosen(&[([-3.0, 0.0, 0.0], 0), ([0.0, 1.5, 0.0], 1)]);
    assert_eq!(solver, "means and variances by class; gaussian, for some values are negative");
}

#[test]
fn counts_are_not_negative() {
    let points = Points::of(&[([1.0, 0.0], 0), ([0.0, -2.5], 1)]);
    let error = learner(Distribution::Multinomial).fit(&points.data(), &mut ()).unwrap_err();
    let Error::Data(DataError::Unsuitable(what)) = &error else { panic!("{error}") };
    assert!(what.starts_with("row 2: feature 2 is -2.5"), "{what}");
    // A row that does not count does not matter.
    let data = points.data().with_weights(vec![1.0, 0.0]).unwrap();
    assert!(learner(Distribution::Multinomial).fit(&data, &mut ()).is_ok());
}

/// Features that do not vary, and classes with one example or none.
#[test]
fn odd_classes_and_features_leave_numbers() {
    let x = Dense::new(vec![1.0, 7.0, 1.0, 8.0, 1.0, -3.0], 2).unwrap();
    let classes = Classes::new((0..3).map(|c| label(c).as_str().into()).collect());
    for learner in [learner(Distribution::Gaussian), learner(Distribution::Bernoulli)] {
        for (y, absent) in [(vec![0, 0, 1], 2), (vec![0, 2, 2], 1)] {
            let data = Dataset::with_classes(x.clone(), y, classes.clone()).unwrap();
            let fit = learner.fit(&data, &mut ()).unwrap();
            let scores = fit.model.scores(data.x()).unwrap();
            assert!(scores.iter().all(|score| score.is_finite()));
            assert!(fit.model.predict(data.x()).unwrap().iter().all(|&class| class != absent));
            assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit);
        }
    }
    let same = Points::of(&[([4.0, 4.0], 0), ([4.0, 4.0], 1), ([4.0, 4.0], 1)]);
    let model = fit(&learner(Distribution::Gaussian), &same).model;
    let scores = model.scores(&Dense::new(vec![4.0, 4.0, 5.0, 1e150], 2).unwrap().into()).unwrap();
    assert!((model.probabilities(&scores[..1]).unwrap()[1] - 2.0 / 3.0).abs() < 1e-12);
    assert!(scores.iter().all(|score| score.is_finite()));
}

#[test]
fn counts_that_are_not_those_of_the_rows_are_found() {
    let points = noisy(3, 40, 4, 2);
    for distribution in ALL {
        let class_weight = Some(ClassWeight::Balanced);
        let mut fit = fit(&NaiveBayes { class_weight, ..learner(distribution) }, &points);
        let verifier = Verifier { replay: false, ..Verifier::default() };
        let verified = verifier.verify(&fit, &points.data(), &mut ()).unwrap();
        assert!(verified.holds(), "{verified:?}");
        assert!(verified.claims.iter().any(|claim| claim.name == "estimates"));
        // The same model of other smoothing.
        fit.report.parameters["alpha"] = serde_json::json!(1.5);
        fit.report.parameters["var_smoothing"] = serde_json::json!(0.5);
        assert!(!verifier.verify(&fit, &points.data(), &mut ()).unwrap().holds(), "{distribution:?}");
    }
}

#[test]
fn it_begins_from_nothing() {
    let data = noisy(2, 20, 3, 1).data();
    let start = learner(Distribution::Gaussian).fit(&data, &mut ()).unwrap().model;
    let task = Task { start: Some(&start), ..Task::new(&data) };
    assert!(matches!(NaiveBayes::default().learn(&task, &mut ()), Err(Error::Start(_))));
}

#[test]
fn words_are_planes() {
    let x = Dense::new(vec![2.0, 0.0, 0.0, 1.0, 0.0, 3.0], 2).unwrap();
    let data = Dataset::new(x, &Labels::new(["spam", "ham", "ham"])).unwrap();
    let model = NaiveBayes::default().fit(&data, &mut ()).unwrap().model;
    let Body::Linear(planes) = &model.body else { panic!("counts make planes") };
    // "free": 3/4 against 1/6; "meeting": 1/4 against 5/6; one spam to two hams.
    let expected = [(0.75f64 / (1.0 / 6.0)).ln(), (0.25f64 / (5.0 / 6.0)).ln()];
    assert_close(&planes.normal(0), &expected, "weights");
    assert_close(planes.bias(), &[0.5f64.ln()], "bias");
    assert_eq!(data.x().n_cols(), 2);
}
