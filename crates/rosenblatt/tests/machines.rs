//! Support vector machines with a hard margin or many classes at once, held against an independent solver and worked examples.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;
#[path = "common/oracle.rs"]
mod oracle;

use common::{Points, apart, noisy, separable};
use oracle::{SupportedConeT, clarabel};
use rosenblatt::{CrammerSinger, Dense, Error, Fit, HardMargin, Learner, Rng, Solver, Status, registry};
use serde_json::{Value, json};

fn fit(name: &str, given: &Value, points: &Points, weights: &[f64]) -> Result<Fit, Error> {
    let data = points.data().with_weights(weights.to_vec()).unwrap();
    registry::algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap().fit(&data, &mut ())
}

/// Weights of some rows are 0, but each class weighs something: `noisy` ends with a row of each.
fn weights(points: &Points, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut all: Vec<f64> = points.y.iter().map(|_| rng.below(5) as f64 / 2.0).collect();
    all.iter_mut().rev().take(points.classes).for_each(|weight| *weight += 1.0);
    all
}

/// Column of the variable w_c, j in Clarabel's problem; j = d is the bias.
fn joint_optimum(given: &Value, points: &Points, weights: &[f64]) -> f64 {
    let (n, d, k) = (points.y.len(), points.cols(), points.classes);
    let at = |c: usize, j: usize| c * (d + 1) + j;
    let slack = k * (d + 1);
    let mut quadratic = vec![1.0; slack];
    quadratic.resize(slack + n, 0.0);
    let mut linear = vec![0.0; slack];
    linear.extend(weights.iter().map(|weight| given["c"].as_f64().unwrap() * weight));
    let (mut entries, mut right) = (Vec::new(), Vec::new());
    let mut cones = Vec::new();
    if given["bias"] == "none" {
        entries.extend((0..k).map(|c| (c, at(c, d), 1.0)));
        right.resize(k, 0.0);
        cones.push(SupportedConeT::ZeroConeT(k));
    }
    let first = right.len();
    for i in 0..n {
        for c in (0..k).filter(|&c| c != points.y[i]) {
            // g_c − g_y − ξ ≤ −1
            for (j, v) in points.x[i].iter().copied().chain([1.0]).enumerate() {
                entries.extend([(right.len(), at(c, j), v), (right.len(), at(points.y[i], j), -v)]);
            }
            entries.push((right.len(), slack + i, -1.0));
            right.push(-1.0);
        }
        entries.push((right.len(), slack + i, -1.0));
        right.push(0.0);
    }
    cones.push(SupportedConeT::NonnegativeConeT(right.len() - first));
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

/// P as it is written, from the model alone. With two classes the one plane is w = w₁ − w₀, and w₁ = −w₀ at the optimum.
fn joint_primal(fit: &Fit, given: &Value, points: &Points, weights: &[f64]) -> f64 {
    let planes = fit.model.body.planes().unwrap();
    let own = planes.bias().iter().map(|b| b * b).sum::<f64>();
    let share = if points.classes == 2 { 0.25 } else { 0.5 };
    let scores = fit.model.scores(points.data().x()).unwrap();
    let risk = |i: usize| {
        let scores = match points.classes {
            2 => vec![0.0, scores[i]],
            k => scores[i * k..][..k].to_vec(),
        };
        let rival = (0..points.classes).filter(|&c| c != points.y[i]).map(|c| scores[c]);
        weights[i] * (1.0 + rival.fold(f64::NEG_INFINITY, f64::max) - scores[points.y[i]]).max(0.0)
    };
    let c = given["c"].as_f64().unwrap();
    share * (planes.sq_norm() + own) + c * (0..points.y.len()).map(risk).sum::<f64>()
}

#[test]
fn joint_optima_agree_with_clarabel() {
    for number in 0..60u64 {
        let k = [2, 3, 4][number as usize % 3];
        let points = noisy(k, 15 + number as usize % 20, 2 + number as usize % 5, number);
        let weights = if number % 2 == 0 { vec![1.0; points.y.len()] } else { weights(&points, number) };
        let bias = ["regularized", "none"][(number / 2) as usize % 2];
        let c = [0.1, 1.0, 10.0][(number / 4) as usize % 3];
        let given = json!({"bias": bias, "c": c, "gap": 1e-7, "passes": 1_000_000});
        let best = joint_optimum(&given, &points, &weights);
        let fit = fit("crammer-singer", &given, &points, &weights).unwrap();
        let what = format!("{number}: {k} classes, {given}: {:?}, best {best}", fit.report);
        assert_eq!(fit.report.status, Status::Converged, "{what}");
        let (high, low) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
        assert!((joint_primal(&fit, &given, &points, &weights) - high).abs() <= 1e-9 * high, "{what}");
        assert!(high >= best * (1.0 - 1e-6) && low <= best * (1.0 + 1e-6), "{what}");
        assert!(high - best <= 1e-6 * best, "{what}");
    }
}

/// With two classes and no bias, w₁ = −w₀ = w/2 makes ½Σ‖w_c‖² = ¼‖w‖²: a linear support vector machine with twice the C.
#[test]
fn two_classes_are_a_linear_svm() {
    let points = noisy(2, 40, 4, 3);
    let ones = vec![1.0; points.y.len()];
    let joint = fit("crammer-singer", &json!({"bias": "none", "gap": 1e-8}), &points, &ones).unwrap();
    let given = json!({"bias": "none", "gap": 1e-8, "c": 2.0});
    let binary = fit("linear-svm", &given, &points, &ones).unwrap();
    let ratio = binary.report.primal.unwrap() / joint.report.primal.unwrap();
    assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
    assert_eq!(joint.model.predict(points.data().x()), binary.model.predict(points.data().x()));
    assert_eq!(joint.report.slacks, binary.report.slacks);
}

/// No plane beats another on a row of zeros without a bias: it costs C and moves nothing.
#[test]
fn a_row_of_zeros_costs_what_it_must() {
    let mut points = apart(3, 12, 4, 2);
    let ones = |points: &Points| vec![1.0; points.y.len()];
    let given = json!({"bias": "none", "gap": 1e-9, "passes": 100_000});
    let before = fit("crammer-singer", &given, &points, &ones(&points)).unwrap();
    points.push(&[0.0; 4], 1);
    let after = fit("crammer-singer", &given, &points, &ones(&points)).unwrap();
    assert_eq!(after.report.status, Status::Converged);
    let more = after.report.primal.unwrap() - before.report.primal.unwrap();
    assert!((more - 1.0).abs() < 1e-6, "{more}");
}

#[test]
fn a_free_bias_for_each_class_is_refused() {
    let error =
        CrammerSinger { bias: rosenblatt::Bias::Free, ..CrammerSinger::default() }.check().unwrap_err();
    assert!(error.to_string().starts_with("bias: must be regularized or none"), "{error}");
}

#[test]
fn joint_slacks_and_support_vectors() {
    let points = noisy(3, 80, 4, 5);
    let ones = vec![1.0; points.y.len()];
    let fit = fit("crammer-singer", &json!({"gap": 1e-8, "passes": 100_000}), &points, &ones).unwrap();
    let scores = fit.model.scores(points.data().x()).unwrap();
    let margin = |i: usize| {
        let rival = (0..3).filter(|&c| c != points.y[i]).map(|c| scores[3 * i + c]);
        scores[3 * i + points.y[i]] - rival.fold(f64::NEG_INFINITY, f64::max)
    };
    let count = |holds: &dyn Fn(f64) -> bool| (0..ones.len()).filter(|&i| holds(margin(i))).count() as u64;
    let slacks = fit.report.slacks.unwrap();
    assert_eq!(slacks.wrong_side, count(&|m| m <= 0.0));
    assert_eq!(slacks.inside, count(&|m| m > 0.0 && m < 0.999));
    let vectors = fit.report.support_vectors.unwrap();
    assert!(vectors >= count(&|m| m < 0.999) && vectors <= count(&|m| m < 1.001), "{vectors}");
    assert!(vectors < ones.len() as u64);
}

fn hard_optimum(bias: &str, points: &Points, weights: &[f64]) -> f64 {
    let d = points.cols();
    let mut quadratic = vec![1.0; d + 1];
    quadratic[d] = if bias == "regularized" { 1.0 } else { 0.0 };
    let (mut entries, mut right, mut cones) = (Vec::new(), Vec::new(), Vec::new());
    if bias == "none" {
        entries.push((0, d, 1.0));
        right.push(0.0);
        cones.push(SupportedConeT::ZeroConeT(1));
    }
    let first = right.len();
    for i in (0..points.y.len()).filter(|&i| weights[i] > 0.0) {
        let row = points.x[i].iter().copied().chain([1.0]).enumerate();
        entries.extend(row.map(|(j, v)| (right.len(), j, -points.sign(i) * v)));
        right.push(-1.0);
    }
    cones.push(SupportedConeT::NonnegativeConeT(right.len() - first));
    clarabel(&quadratic, &vec![0.0; d + 1], entries, &right, &cones)
}

#[test]
fn hard_margins_agree_with_clarabel() {
    for number in 0..60u64 {
        let points = match number % 2 {
            0 => separable(12 + number as usize % 30, 2 + number as usize % 4, number),
            _ => apart(2, 12 + number as usize % 30, 2 + number as usize % 4, number),
        };
        let weights = if number % 4 < 2 { vec![1.0; points.y.len()] } else { weights(&points, number) };
        let bias = ["free", "regularized", "none"][number as usize % 3];
        let best = hard_optimum(bias, &points, &weights);
        for solver in ["dual", "newton"] {
            let given = json!({"bias": bias, "solver": solver, "gap": 1e-7, "passes": 1_000_000});
            let fit = fit("hard-margin", &given, &points, &weights).unwrap();
            let what = format!("{number}: {given}: {:?}, best {best}", fit.report);
            assert_eq!(fit.report.status, Status::Converged, "{what}");
            let (high, low) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
            assert!((high - best).abs() <= 1e-6 * best && low <= best * (1.0 + 1e-6), "{what}");
            // The model itself is feasible, and its norm is what is reported.
            let scores = fit.model.scores(points.data().x()).unwrap();
            let all = (0..scores.len())
                .filter(|&i| weights[i] > 0.0)
                .all(|i| points.sign(i) * scores[i] > 1.0 - 1e-9);
            assert!(all, "{what}");
            let planes = fit.model.body.planes().unwrap();
            let own = if bias == "regularized" { planes.bias()[0].powi(2) } else { 0.0 };
            assert!((0.5 * (planes.sq_norm() + own) - high).abs() <= 1e-9 * high, "{what}");
        }
    }
}

#[test]
fn the_margin_of_four_points() {
    let points = Points::of(&[([1.0, 1.0], 1), ([3.0, 3.0], 1), ([-1.0, -1.0], 0), ([-3.0, -2.0], 0)]);
    for solver in [Solver::Dual, Solver::Newton] {
        let learner = HardMargin { solver, gap: 1e-9, ..HardMargin::default() };
        let fit = learner.fit(&points.data(), &mut ()).unwrap();
        assert_eq!(fit.report.status, Status::Converged);
        assert!((fit.report.margin.unwrap() - 2f64.sqrt()).abs() < 1e-6, "{:?}", fit.report);
        // w = (½, ½), b = 0, held up by (1,1) and (−1,−1).
        let planes = fit.model.body.planes().unwrap();
        assert!(planes.normal(0).iter().all(|w| (w - 0.5).abs() < 1e-6) && planes.bias()[0].abs() < 1e-6);
        assert_eq!(fit.report.support_vectors, Some(2));
    }
}

#[test]
fn what_no_plane_separates_is_an_error() {
    let crossed = Points::of(&[([0.0, 0.0], 0), ([1.0, 1.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 1)]);
    let zeros = Points::of(&[([0.0], 0), ([0.0], 1)]);
    for (points, biases) in [
        (noisy(2, 60, 5, 1), vec!["free", "regularized", "none"]),
        (crossed, vec!["free", "regularized", "none"]),
        (zeros, vec!["free", "regularized", "none"]),
        // Only a plane off the origin separates 1 from 2.
        (Points::of(&[([1.0], 0), ([2.0], 1)]), vec!["none"]),
    ] {
        for bias in biases {
            let given = json!({"bias": bias});
            let error = fit("hard-margin", &given, &points, &vec![1.0; points.y.len()]).unwrap_err();
            assert!(matches!(error, Error::NotSeparable { problem: None, .. }), "{error}");
            assert!(error.to_string().contains("linear-svm"), "{error}");
        }
    }
}

/// One class in three lies between the others: only its problem is named.
#[test]
fn the_problem_that_cannot_be_separated_is_named() {
    let points = Points::of(&[([-2.0], 0), ([-1.0], 0), ([0.0], 1), ([0.5], 1), ([1.5], 2), ([3.0], 2)]);
    let error = fit("hard-margin", &json!({}), &points, &[1.0; 6]).unwrap_err();
    assert!(error.to_string().contains("(c1 against the rest)"), "{error}");
    let pairs = fit("hard-margin", &json!({"multiclass": "ovo"}), &points, &[1.0; 6]).unwrap();
    assert_eq!(pairs.report.train_accuracy, Some(1.0));
}

/// Coordinate descent needs passes to prove it; until then there is no primal value, and the file can be written.
#[test]
fn without_a_plane_there_is_no_primal_value() {
    let points = noisy(2, 30, 4, 1);
    let given = json!({"solver": "dual", "passes": 2});
    let fit = fit("hard-margin", &given, &points, &vec![1.0; points.y.len()]).unwrap();
    assert_eq!((fit.report.status, fit.report.primal, fit.report.gap), (Status::PassLimit, None, Some(1.0)));
    assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit);
}

#[test]
fn rows_beyond_the_margin_do_not_move_it() {
    let points = separable(60, 3, 5);
    for solver in [Solver::Dual, Solver::Newton] {
        let learner = HardMargin { solver, gap: 1e-9, passes: 100_000, ..HardMargin::default() };
        let machine = |points: &Points| learner.fit(&points.data(), &mut ()).unwrap();
        let all = machine(&points);
        let scores = all.model.scores(points.data().x()).unwrap();
        let near: Vec<usize> =
            (0..points.y.len()).map(|i| usize::from(points.sign(i) * scores[i] < 1.001)).collect();
        assert!(near.contains(&0), "nothing lies outside");
        let mut more = points.clone();
        let beyond = Dense::new(points.x[0].iter().map(|v| 3.0 * v).collect::<Vec<_>>(), 3).unwrap();
        let outside = points.sign(0) * all.model.scores(&beyond.into()).unwrap()[0];
        assert!(outside > 1.1, "{outside}");
        more.push(&points.x[0].iter().map(|v| 3.0 * v).collect::<Vec<_>>(), points.y[0]);
        for other in [points.repeated(&near), more] {
            let planes = (machine(&other).model.body.planes().unwrap(), all.model.body.planes().unwrap());
            for (a, b) in planes.0.normal(0).iter().zip(planes.1.normal(0)) {
                assert!((a - b).abs() < 1e-4 * planes.1.sq_norm().sqrt(), "{planes:?}");
            }
        }
    }
}

/// Rows of eight attributes with six values each, a column for each value; three of the attributes tell the class.
fn categories(rows: usize, seed: u64) -> Points {
    let mut rng = Rng::new(seed);
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    while points.y.len() < rows {
        let values: Vec<usize> = (0..8).map(|_| rng.below(6) as usize).collect();
        let told = values[0] + values[1] + 2 * values[2];
        if told.abs_diff(10) > 1 {
            let mut x = vec![0.0; 48];
            values.iter().enumerate().for_each(|(k, value)| x[6 * k + value] = 1.0);
            points.push(&x, usize::from(told > 10));
        }
    }
    points
}

/// Columns that are nearly alike, and rows at a distance from the plane.
fn correlated(rows: usize, seed: u64) -> Points {
    let mut rng = Rng::new(seed);
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    while points.y.len() < rows {
        let common = 3.0 * rng.normal();
        let x: Vec<f64> = (0..6).map(|_| common + rng.normal()).collect();
        let score = x[0] - x[1] + 0.5 * x[2];
        if score.abs() > 0.5 {
            points.push(&x, usize::from(score > 0.0));
        }
    }
    points
}

/// An interior path comes near no bound, and yet most rows have no part in the plane.
#[test]
fn support_vectors_hold_the_plane() {
    let of = |solver: &str, gap: f64, points: &Points| {
        let given = json!({"solver": solver, "gap": gap, "passes": 1_000_000});
        fit("hard-margin", &given, points, &vec![1.0; points.y.len()]).unwrap()
    };
    for seed in 0..3 {
        // As many as there are unknowns: one α is the best.
        let points = correlated(400, seed);
        let [dual, path] = ["dual", "newton"].map(|solver| of(solver, 1e-9, &points).report.support_vectors);
        assert_eq!(dual, path, "correlated {seed}");
        for (points, gap) in [(categories(1500, seed), 1e-3), (categories(1500, seed), 1e-6), (points, 1e-6)]
        {
            let path = of("newton", gap, &points);
            let scores = path.model.scores(points.data().x()).unwrap();
            let on_margin =
                (0..scores.len()).filter(|&i| points.sign(i) * scores[i] <= 1.0 + 30.0 * gap.sqrt());
            let (vectors, on_margin) = (path.report.support_vectors.unwrap(), on_margin.count() as u64);
            assert!(
                vectors >= 2 && vectors <= on_margin,
                "{seed} {gap}: {vectors}, {on_margin} on the margin"
            );
            assert!(vectors < points.y.len() as u64 / 2, "{seed} {gap}: {vectors}");
        }
    }
}
