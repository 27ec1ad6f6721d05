//! What solvers claim, held against naive code and an independent solver.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;
#[path = "common/oracle.rs"]
mod oracle;

use std::collections::BTreeSet;

use common::{Points, batch_cases, noisy, separable};
use oracle::{SupportedConeT, clarabel};
use rosenblatt::loss::{self, MarginLoss};
use rosenblatt::{Csr, Dataset, Dense, Fit, Labels, Learner, Rng, Status, registry};
use serde_json::{Value, json};

fn learner(name: &str, given: &Value) -> Box<dyn Learner> {
    registry::algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap()
}

fn loss_value(given: &Value, m: f64) -> f64 {
    match given["loss"].as_str() {
        Some("hinge") => loss::Hinge.value(m),
        Some("squared-hinge") => loss::SquaredHinge.value(m),
        _ => loss::Logistic.value(m),
    }
}

/// P as it is written, from the model alone.
fn primal(fit: &Fit, points: &Points, weights: &[f64]) -> f64 {
    let given = &fit.report.parameters;
    let planes = fit.model.body.planes().unwrap();
    let (w, b) = (planes.normal(0), planes.bias()[0]);
    let own = if given["bias"] == "regularized" { b * b } else { 0.0 };
    let norm = match given["penalty"].as_str() {
        Some("l1") => w.iter().map(|w| w.abs()).sum(),
        _ => 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + own),
    };
    let c = given["c"].as_f64().unwrap();
    let risk =
        |i: usize| weights[i] * loss_value(given, points.sign(i) * (common::dot(&w, &points.x[i]) + b));
    norm + c * (0..points.y.len()).map(risk).sum::<f64>()
}

/// The optimum, by an interior-point solver for cones. Variables: w, b, a slack a row; for logistic two more a row; under an L1 penalty |w| at the end.
fn optimum(given: &Value, points: &Points, weights: &[f64]) -> f64 {
    let (n, d) = (points.y.len(), points.cols());
    let bias = given["bias"].as_str().unwrap();
    let c = given["c"].as_f64().unwrap();
    let logistic = given["loss"].is_null();
    let slack = d + 1;
    let lasso = given["penalty"] == "l1";
    let lengths = slack + if logistic { 3 * n } else { n };
    let size = lengths + if lasso { d } else { 0 };
    let mut quadratic = vec![0.0; size];
    quadratic[..d].fill(if lasso { 0.0 } else { 1.0 });
    quadratic[d] = if bias == "regularized" { 1.0 } else { 0.0 };
    let mut linear = vec![0.0; size];
    linear[lengths..].fill(1.0);
    for i in 0..n {
        match given["loss"].as_str() {
            Some("squared-hinge") => quadratic[slack + i] = 2.0 * c * weights[i],
            _ => linear[slack + i] = c * weights[i],
        }
    }
    // A·x + s = b, s in the cones.
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let (mut right, mut cones) = (Vec::new(), Vec::new());
    if bias == "none" {
        entries.push((0, d, 1.0));
        right.push(0.0);
        cones.push(SupportedConeT::ZeroConeT(1));
    }
    if logistic {
        // log(1 + exp(−m)) ≤ t where exp(−m − t) ≤ u, exp(−t) ≤ v, u + v ≤ 1.
        for i in 0..n {
            let (t, u, v) = (slack + i, slack + n + i, slack + 2 * n + i);
            entries.extend([(right.len(), u, 1.0), (right.len(), v, 1.0)]);
            right.push(1.0);
            cones.push(SupportedConeT::NonnegativeConeT(1));
            for (margin, bound) in [(points.sign(i), u), (0.0, v)] {
                let first = right.len();
                // (−margin·g − t, 1, bound) in the exponential cone.
                entries.extend((0..d).map(|j| (first, j, margin * points.x[i][j])));
                entries.extend([(first, d, margin), (first, t, 1.0), (first + 2, bound, -1.0)]);
                right.extend([0.0, 1.0, 0.0]);
                cones.push(SupportedConeT::ExponentialConeT());
            }
        }
    } else {
        for i in 0..n {
            // 1 − y·g ≤ ξ and 0 ≤ ξ
            let (y, row) = (points.sign(i), right.len());
            entries.extend((0..d).map(|j| (row, j, -y * points.x[i][j])));
            entries.extend([(row, d, -y), (row, slack + i, -1.0), (row + 1, slack + i, -1.0)]);
            right.extend([-1.0, 0.0]);
        }
        cones.push(SupportedConeT::NonnegativeConeT(2 * n));
    }
    if lasso {
        // w ≤ |w| and −w ≤ |w|
        for j in 0..d {
            let row = right.len();
            entries.extend([(row, j, 1.0), (row, lengths + j, -1.0)]);
            entries.extend([(row + 1, j, -1.0), (row + 1, lengths + j, -1.0)]);
            right.extend([0.0, 0.0]);
        }
        cones.push(SupportedConeT::NonnegativeConeT(2 * d));
    }
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

/// What the report claims is so, and the objective is within a millionth of the best.
fn assert_best(fit: &Fit, points: &Points, weights: &[f64], best: f64, what: &str) {
    assert_eq!(fit.report.status, Status::Converged, "{what}");
    let (high, low) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
    assert!((primal(fit, points, weights) - high).abs() <= 1e-9 * high, "{what}");
    assert!(high >= best * (1.0 - 1e-6) && low <= best * (1.0 + 1e-6), "{what}");
    assert!(high - best <= 1e-6 * best, "{what}");
}

/// Which of three kinds of bias, of C and of weights a problem has: all 27 combinations in turns.
fn cell(number: u64) -> [usize; 3] {
    [number, number / 3, number / 9].map(|digit| digit as usize % 3)
}

const BIASES: [&str; 3] = ["free", "regularized", "none"];

/// All alike, all different, or some of them 0; each class weighs something, for its last row does.
fn weights_of(kind: usize, points: &Points, rng: &mut Rng) -> Vec<f64> {
    let draw = |_: &usize| match kind {
        0 => 1.0,
        1 => 0.25 + rng.below(8) as f64 / 4.0,
        _ => rng.below(5) as f64 / 2.0,
    };
    let mut weights: Vec<f64> = points.y.iter().map(draw).collect();
    weights[0] = if kind == 2 { 0.0 } else { weights[0] };
    for class in 0..points.classes {
        let last = points.y.iter().rposition(|&y| y == class).unwrap();
        weights[last] = weights[last].max(0.5);
    }
    weights
}

/// Two hundred small problems: all losses, biases, C, solvers and kinds of weights, each with each.
#[test]
fn optima_agree_with_clarabel() {
    let (mut rng, mut met) = (Rng::new(1), BTreeSet::new());
    for number in 0..200u64 {
        let points = match number % 4 {
            0 => separable(12 + number as usize % 9, 3, number),
            _ => noisy(2, 20 + number as usize % 20, 2 + number as usize % 5, number),
        };
        let [bias, c, kind] = cell(number);
        met.insert((number % 4 == 0, bias, c, kind));
        let weights = weights_of(kind, &points, &mut rng);
        assert_eq!(weights.contains(&0.0), kind == 2, "{number}");
        let (bias, c) = (BIASES[bias], [0.1, 1.0, 10.0][c]);
        for (name, loss) in [("linear-svm", "hinge"), ("linear-svm", "squared-hinge"), ("logistic", "")] {
            let mut given = json!({"bias": bias, "c": c, "gap": 1e-7, "passes": 100_000});
            if !loss.is_empty() {
                given["loss"] = json!(loss);
            }
            let best = optimum(&given, &points, &weights);
            for solver in ["dual", "newton"] {
                given["solver"] = json!(solver);
                let data = points.data().with_weights(weights.clone()).unwrap();
                let fit = learner(name, &given).fit(&data, &mut ()).unwrap();
                let what = format!("{number}: {name} {given}: {:?}, best {best}", fit.report);
                assert_best(&fit, &points, &weights, best, &what);
            }
        }
    }
    assert_eq!(met.len(), 2 * 27, "separable or not, bias, C, weights");
}

/// The optimum of the multinomial problem. Variables: w and b of each class; of each row a loss t and for each class a u with exp(g_c − g_y − t) ≤ u, Σ u ≤ 1.
fn multinomial_optimum(given: &Value, points: &Points, weights: &[f64]) -> f64 {
    let (n, d, k) = (points.y.len(), points.cols(), points.classes);
    let at = |c: usize, j: usize| c * (d + 1) + j;
    let loss = k * (d + 1);
    let share = |i: usize, c: usize| loss + n + i * k + c;
    let mut quadratic = vec![0.0; share(n, 0)];
    let bias = given["bias"].as_str().unwrap();
    for c in 0..k {
        quadratic[at(c, 0)..at(c, d)].fill(1.0);
        quadratic[at(c, d)] = if bias == "regularized" { 1.0 } else { 0.0 };
    }
    let mut linear = vec![0.0; quadratic.len()];
    (0..n).for_each(|i| linear[loss + i] = given["c"].as_f64().unwrap() * weights[i]);
    // A·x + s = b, s in the cones. Of free biases only the differences count.
    let (mut entries, mut right, mut cones) = (Vec::new(), Vec::new(), Vec::new());
    match bias {
        "none" => {
            entries.extend((0..k).map(|c| (c, at(c, d), 1.0)));
            right.resize(k, 0.0);
        }
        "free" => {
            entries.extend((0..k).map(|c| (0, at(c, d), 1.0)));
            right.push(0.0);
        }
        _ => {}
    }
    cones.push(SupportedConeT::ZeroConeT(right.len()));
    for (i, &own) in points.y.iter().enumerate() {
        entries.extend((0..k).map(|c| (right.len(), share(i, c), 1.0)));
        right.push(1.0);
        cones.push(SupportedConeT::NonnegativeConeT(1));
        for c in 0..k {
            // (g_c − g_y − t, 1, u) in the exponential cone.
            let first = right.len();
            for (j, v) in points.x[i].iter().copied().chain([1.0]).enumerate().filter(|_| c != own) {
                entries.extend([(first, at(c, j), -v), (first, at(own, j), v)]);
            }
            entries.extend([(first, loss + i, 1.0), (first + 2, share(i, c), -1.0)]);
            right.extend([0.0, 1.0, 0.0]);
            cones.push(SupportedConeT::ExponentialConeT());
        }
    }
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

#[test]
fn multinomial_optima_agree_with_clarabel() {
    for number in 0..27u64 {
        let points = noisy(3 + number as usize % 2, 16 + number as usize % 9, 3, number);
        let [bias, c, kind] = cell(number);
        let weights = weights_of(kind, &points, &mut Rng::new(number));
        let (bias, c) = (BIASES[bias], [0.1, 1.0, 5.0][c]);
        let mut given = json!({"bias": bias, "c": c, "multiclass": "native", "gap": 1e-8, "passes": 50_000});
        let best = multinomial_optimum(&given, &points, &weights);
        let data = points.data().with_weights(weights).unwrap();
        for solver in ["dual", "newton"] {
            given["solver"] = json!(solver);
            let report = learner("logistic", &given).fit(&data, &mut ()).unwrap().report;
            let what = format!("{number}: {given}: {report:?}, best {best}");
            assert_eq!(report.status, Status::Converged, "{what}");
            let (high, low) = (report.primal.unwrap(), report.dual.unwrap());
            assert!((high - best).abs() <= 1e-6 * best && low <= best * (1.0 + 1e-6), "{what}");
        }
    }
}

/// However early a run ends, the optimum lies between what it says: α = 0 proves that nothing costs less than 0.
#[test]
fn an_early_end_proves_something() {
    const LINEAR: [&str; 6] =
        ["linear-svm", "logistic", "hard-margin", "crammer-singer", "subgradient", "pegasos"];
    for case in batch_cases().iter().filter(|case| LINEAR.contains(&case.algorithm.name)) {
        for k in [2, 3] {
            let mut points = case.points(k, 200, 6, 7);
            // Far from the optimum of long rows the slopes at a point are as good as no α.
            points.x.iter_mut().flatten().for_each(|v| *v *= 100.0);
            for limit in [json!({"time_limit": 1e-9}), json!({"passes": 1}), json!({"passes": 3})] {
                let mut limited = limit.clone();
                limited["gap"] = json!(1e-9);
                let report = case.fit(&limited, &points.data()).report;
                let what = format!("{} {limit}, {k} classes: {report:?}", case.name());
                if limit["time_limit"].is_number() {
                    assert_eq!(report.status, Status::TimeLimit, "{what}");
                }
                let (dual, gap) = (report.dual.unwrap(), report.gap.unwrap());
                assert!((0.0..=1.0).contains(&gap), "{what}");
                assert!(
                    dual >= 0.0 && report.primal.is_none_or(|primal| dual <= primal * (1.0 + 1e-12)),
                    "{what}"
                );
            }
        }
    }
}

/// Columns of scales that differ by 10¹² stop the rounded hinge, and an interior path goes on: the report says so, and counts no row beyond the margin among the support vectors.
#[test]
fn the_solver_that_went_on_is_named() {
    let mut points = noisy(2, 60, 4, 1);
    for x in &mut points.x {
        x.iter_mut().enumerate().for_each(|(j, v)| *v *= if j % 2 == 0 { 1e6 } else { 1e-6 });
    }
    for bias in BIASES {
        let given = json!({"c": 1e4, "gap": 1e-9, "bias": bias});
        let fit = learner("linear-svm", &given).fit(&points.data(), &mut ()).unwrap();
        let what = format!("{bias}: {:?}", fit.report);
        assert_eq!(fit.report.status, Status::Converged, "{what}");
        assert_eq!(
            fit.report.solver.as_deref(),
            Some(
                "Newton's method on a rounded hinge with a Cholesky factor, then an interior-point method (4 features are at most 2000)"
            ),
            "{what}"
        );
        let scores = fit.model.scores(points.data().x()).unwrap();
        let count =
            |most: f64| (0..scores.len()).filter(|&i| points.sign(i) * scores[i] <= most).count() as u64;
        let vectors = fit.report.support_vectors.unwrap();
        assert!((count(1.0 - 1e-3)..=count(1.0 + 1e-3)).contains(&vectors), "{what}");
    }
}

/// Where the rows of one class cost nothing, a free bias alone makes all others right, and the optimum is 0.
#[test]
fn a_class_of_no_weight_costs_nothing() {
    let points = noisy(2, 80, 5, 8);
    for class in [0, 1] {
        let weights: Vec<f64> = points.y.iter().map(|&y| if y == class { 0.0 } else { 1.0 }).collect();
        let data = points.data().with_weights(weights).unwrap();
        for (name, loss) in [("logistic", ""), ("linear-svm", "hinge"), ("linear-svm", "squared-hinge")] {
            for solver in ["dual", "newton"] {
                for c in [1e-6, 1.0, 1e6] {
                    let mut given = json!({"c": c, "solver": solver});
                    if !loss.is_empty() {
                        given["loss"] = json!(loss);
                    }
                    let fit = learner(name, &given).fit(&data, &mut ()).unwrap();
                    let what = format!("{name} {given}: {:?}", fit.report);
                    assert_eq!(fit.report.status, Status::Converged, "{what}");
                    assert!(
                        fit.report.primal.unwrap() <= 1e-12 * c && fit.report.gap.unwrap() <= 1e-3,
                        "{what}"
                    );
                    assert!(
                        fit.model.scores(data.x()).unwrap().iter().all(|score| score.is_finite()),
                        "{what}"
                    );
                }
            }
        }
    }
}

#[test]
fn l1_optima_agree_with_clarabel() {
    let (mut rng, mut zeros) = (Rng::new(2), 0);
    for number in 0..60u64 {
        let points = match number % 4 {
            0 => separable(12 + number as usize % 9, 3, number),
            _ => noisy(2, 20 + number as usize % 20, 2 + number as usize % 9, number),
        };
        let weights: Vec<f64> = points.y.iter().map(|_| 0.5 + rng.below(4) as f64 / 2.0).collect();
        let bias = ["free", "none"][number as usize % 2];
        let c = [0.02, 0.1, 1.0, 10.0][(number / 2) as usize % 4];
        for (name, loss) in [("linear-svm", json!("squared-hinge")), ("logistic", Value::Null)] {
            let mut given = json!({"penalty": "l1", "bias": bias, "c": c, "gap": 1e-7});
            if !loss.is_null() {
                given["loss"] = loss;
            }
            let best = optimum(&given, &points, &weights);
            let data = points.data().with_weights(weights.clone()).unwrap();
            let fit = learner(name, &given).fit(&data, &mut ()).unwrap();
            let what = format!("{number}: {name} {given}: {:?}, best {best}", fit.report);
            assert_best(&fit, &points, &weights, best, &what);
            zeros += fit.model.body.planes().unwrap().normal(0).iter().filter(|w| **w == 0.0).count();
        }
    }
    assert!(zeros > 100, "only {zeros} weights are 0");
}

#[test]
fn l1_says_what_it_goes_with() {
    for given in [
        json!({"penalty": "l1"}),
        json!({"penalty": "l1", "loss": "squared-hinge", "bias": "regularized"}),
        json!({"penalty": "l1", "loss": "squared-hinge", "solver": "dual"}),
    ] {
        let row = registry::algorithm("linear-svm").unwrap();
        let error = row.learner(given.as_object().unwrap()).err().unwrap();
        assert_eq!(error.name, "penalty", "{error}");
        assert!(error.to_string().contains("squared-hinge"), "{error}");
    }
}

/// The certificate of one run bounds the objective of the other.
fn assert_bounds_cross(a: &Fit, b: &Fit, what: &str) {
    let bounds = |fit: &Fit| (fit.report.dual.unwrap(), fit.report.primal.unwrap());
    let ((low, high), (other_low, other_high)) = (bounds(a), bounds(b));
    let slack = 1e-9 * high.abs();
    assert!(
        low <= other_high + slack && other_low <= high + slack,
        "{what}: {low}..{high}, {other_low}..{other_high}"
    );
}

fn assert_same_optimum(a: &Fit, b: &Fit, what: &str) {
    assert_bounds_cross(a, b, what);
    for fit in [a, b] {
        let (gap, solver) = (fit.report.gap.unwrap(), &fit.report.solver);
        assert!(gap <= 1e-4, "{what}: {gap}, {:?} by {solver:?}", fit.report.status);
    }
}

#[test]
fn weight_is_repetition_within_the_gap() {
    for case in batch_cases() {
        for k in [2, 3] {
            let points = case.points(k, 40, 5, 11);
            let mut rng = Rng::new(3);
            let counts: Vec<usize> = points.y.iter().map(|_| 1 + rng.below(3) as usize).collect();
            let weights = counts.iter().map(|&count| count as f64).collect();
            let given = json!({"gap": 1e-4});
            let weighted = case.fit(&given, &points.data().with_weights(weights).unwrap());
            let repeated = case.fit(&given, &points.repeated(&counts).data());
            assert_bounds_cross(&weighted, &repeated, &case.name());
            if !["subgradient", "pegasos"].contains(&case.algorithm.name) {
                assert_same_optimum(&weighted, &repeated, &case.name());
            }
        }
    }
}

#[test]
fn solvers_of_one_objective_agree() {
    for name in ["linear-svm", "logistic"] {
        for bias in ["free", "regularized", "none"] {
            let data = noisy(4, 80, 6, 3).data();
            let fit = |solver: &str| {
                let given = json!({"bias": bias, "solver": solver, "gap": 1e-4, "multiclass": "ovr"});
                learner(name, &given).fit(&data, &mut ()).unwrap()
            };
            assert_same_optimum(&fit("dual"), &fit("newton"), &format!("{name} {bias}"));
        }
    }
}

/// Many columns, few of them in a row: the system of a Newton step is solved by conjugate gradients then, with a sampled factor or the diagonal.
#[test]
fn many_features() {
    for n_cols in [400, 2500] {
        let mut rng = Rng::new(7);
        let (mut pointers, mut columns, mut values, mut labels) =
            (vec![0], Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3000 {
            let first = rng.below(n_cols - 20);
            let mut sum = 2.0 * rng.uniform() - 1.0;
            for j in (first..first + 20).step_by(1 + rng.below(4) as usize) {
                let value = 2.0 * rng.uniform() - 1.0;
                columns.push(j as u32);
                values.push(value);
                sum += value * if j % 3 == 0 { 1.0 } else { -0.5 };
            }
            pointers.push(columns.len() as u64);
            labels.push(if sum > 0.0 { "yes" } else { "no" });
        }
        let x = Csr::new(pointers, columns, values, n_cols as usize).unwrap();
        let data = Dataset::new(x, &Labels::new(labels)).unwrap();
        for (name, mut given) in [("logistic", json!({})), ("linear-svm", json!({"loss": "squared-hinge"}))] {
            for bias in ["free", "regularized", "none"] {
                (given["bias"], given["gap"]) = (json!(bias), json!(1e-6));
                let mut fit = |solver: &str| {
                    given["solver"] = json!(solver);
                    learner(name, &given).fit(&data, &mut ()).unwrap()
                };
                let newton = fit("newton");
                // Rows of a loss that is flat are few near the optimum: second derivatives are summed up then.
                let solver = match (name, n_cols) {
                    ("linear-svm", 400) => "with conjugate gradients and a Cholesky factor (asked for)",
                    _ => "with conjugate gradients (asked for)",
                };
                let ran = newton.report.solver.as_ref().unwrap();
                assert!(ran.contains(solver), "{name} {n_cols} {bias}: {ran}");
                assert_eq!(newton.report.status, Status::Converged);
                assert_same_optimum(&fit("dual"), &newton, &format!("{name} {n_cols} {bias}"));
            }
        }
    }
}

/// P of the multinomial problem is smooth and strictly convex in all that is penalised: where its gradient is 0 it is least.
#[test]
fn multinomial_gradients_vanish() {
    for (number, bias) in ["free", "regularized", "none"].into_iter().cycle().take(24).enumerate() {
        let solver = if number < 12 { "newton" } else { "dual" };
        let k = 3 + number % 3;
        let points = noisy(k, 60, 4, number as u64);
        let weights: Vec<f64> = (0..points.y.len()).map(|i| [1.0, 0.0, 2.5][i % 3]).collect();
        let c = [0.1, 1.0, 20.0][number % 3];
        let data = points.data().with_weights(weights.clone()).unwrap();
        let given = json!({"bias": bias, "c": c, "gap": 1e-10, "multiclass": "native", "solver": solver, "passes": 20_000});
        let fit = learner("logistic", &given).fit(&data, &mut ()).unwrap();
        assert_eq!(fit.report.status, Status::Converged, "{:?}", fit.report);
        let planes = fit.model.body.planes().unwrap();
        let mut risk = 0.0;
        let mut slopes = vec![vec![0.0; points.cols() + 1]; k];
        for ((x, &y), weight) in points.x.iter().zip(&points.y).zip(&weights) {
            let scores: Vec<f64> =
                (0..k).map(|class| common::dot(&planes.normal(class), x) + planes.bias()[class]).collect();
            let p = fit.model.probabilities(&scores).unwrap();
            risk -= c * weight * p[y].ln();
            for (class, slopes) in slopes.iter_mut().enumerate() {
                let factor = c * weight * (p[class] - f64::from(u8::from(class == y)));
                slopes.iter_mut().zip(x.iter().chain(&[1.0])).for_each(|(slope, x)| *slope += factor * x);
            }
        }
        let (mut norm, mut largest) = (0.0, 0.0f64);
        for (class, slopes) in slopes.iter().enumerate() {
            let (w, b) = (planes.normal(class), planes.bias()[class]);
            let own = if bias == "regularized" { b } else { 0.0 };
            norm += 0.5 * (common::dot(&w, &w) + own * own);
            w.iter().zip(slopes).for_each(|(w, slope)| largest = largest.max((w + slope).abs()));
            match bias {
                "none" => assert_eq!(b, 0.0),
                _ => largest = largest.max((slopes[points.cols()] + own).abs()),
            }
        }
        let primal = fit.report.primal.unwrap();
        assert!(
            (norm + risk - primal).abs() <= 1e-9 * primal,
            "{solver} {bias}: {} is not {primal}",
            norm + risk
        );
        assert!(largest <= 1e-3 * c.sqrt(), "{solver} {bias}, C {c}: a slope of {largest}");
        assert!(bias != "free" || planes.bias().iter().sum::<f64>().abs() < 1e-9);
    }
}

/// A class whose rows count for nothing is still among the classes.
#[test]
fn multinomial_with_a_class_of_no_weight() {
    let points = noisy(4, 80, 5, 8);
    let weights: Vec<f64> = points.y.iter().map(|&y| if y == 2 { 0.0 } else { 1.0 }).collect();
    let data = points.data().with_weights(weights).unwrap();
    for bias in ["free", "regularized", "none"] {
        let fit = |solver: &str| {
            let given =
                json!({"bias": bias, "c": 0.5, "gap": 1e-4, "multiclass": "native", "solver": solver});
            learner("logistic", &given).fit(&data, &mut ()).unwrap()
        };
        let (dual, newton) = (fit("dual"), fit("newton"));
        for fit in [&dual, &newton] {
            assert_eq!(fit.report.status, Status::Converged, "{bias}: {:?}", fit.report);
        }
        assert!(
            dual.report.dual <= newton.report.primal && newton.report.dual <= dual.report.primal,
            "{bias}"
        );
    }
}

/// Rows of text have a length of 1 and many features, so that they are taken one at a time.
#[test]
fn multinomial_on_short_wide_rows() {
    let mut points = noisy(4, 120, 30, 3);
    for x in &mut points.x {
        let length = common::dot(x, x).sqrt();
        x.iter_mut().for_each(|x| *x /= length);
        // Features that no row has.
        x.resize(2100, 0.0);
    }
    let data = points.data();
    for bias in ["free", "regularized", "none"] {
        let fit = |solver: &str, gap: f64| {
            let given = json!({"bias": bias, "c": 1.5, "gap": gap, "multiclass": "native", "solver": solver});
            learner("logistic", &given).fit(&data, &mut ()).unwrap()
        };
        let (dual, newton) = (fit("auto", 1e-9), fit("newton", 1e-9));
        assert!(dual.report.solver.as_ref().unwrap().contains("dual"), "{:?}", dual.report.solver);
        assert!(dual.report.solver_passes.unwrap() <= 60, "{bias}: {:?}", dual.report.solver_passes);
        assert_same_optimum(&dual, &newton, bias);
        let rough = fit("auto", 1e-2);
        assert!(rough.report.gap.unwrap() <= 1e-2 && rough.report.primal > dual.report.dual, "{bias}");
    }
}

/// Rows beyond the margin cost nothing, so that taking them away or adding more changes nothing.
#[test]
fn rows_outside_the_margin_do_not_matter() {
    let points = separable(60, 3, 5);
    for solver in ["dual", "newton"] {
        let given = json!({"gap": 1e-6, "c": 10.0, "solver": solver});
        let svm = |points: &Points| learner("linear-svm", &given).fit(&points.data(), &mut ()).unwrap();
        let fit = svm(&points);
        let scores = fit.model.scores(points.data().x()).unwrap();
        let inner: Vec<usize> =
            (0..points.y.len()).map(|i| usize::from(points.sign(i) * scores[i] < 1.01)).collect();
        assert!(inner.contains(&0), "nothing lies outside");
        let fewer = svm(&points.repeated(&inner));
        assert!((fewer.report.primal.unwrap() / fit.report.primal.unwrap() - 1.0).abs() < 1e-5, "{solver}");
        let outer: Vec<usize> = inner.iter().map(|inner| 3 - 2 * inner).collect();
        let more = svm(&points.repeated(&outer));
        assert!((more.report.primal.unwrap() / fit.report.primal.unwrap() - 1.0).abs() < 1e-5, "{solver}");
    }
}

#[test]
fn lambda_is_another_way_to_give_c() {
    let data: Dataset<'_> = noisy(2, 50, 4, 1).data();
    let n = data.n_rows() as f64;
    let by_c = learner("linear-svm", &json!({"c": 2.0})).fit(&data, &mut ()).unwrap();
    let by_lambda = learner("linear-svm", &json!({"lambda": 1.0 / (2.0 * n)})).fit(&data, &mut ()).unwrap();
    assert_eq!(by_c.model, by_lambda.model);
    assert!(by_lambda.report.objective.contains("λ = 0.0096"), "{}", by_lambda.report.objective);
}

#[test]
fn slacks_tell_where_rows_lie() {
    let points = noisy(2, 60, 4, 2);
    let fit = learner("linear-svm", &json!({"gap": 1e-6})).fit(&points.data(), &mut ()).unwrap();
    let scores = fit.model.scores(points.data().x()).unwrap();
    let margins: Vec<f64> = (0..points.y.len()).map(|i| points.sign(i) * scores[i]).collect();
    let slacks = fit.report.slacks.unwrap();
    let wrong = margins.iter().filter(|&&m| m <= 0.0).count() as u64;
    assert_eq!(slacks.wrong_side, wrong);
    assert_eq!(slacks.outside + slacks.inside + wrong, points.y.len() as u64);
    let beyond = margins.iter().filter(|&&m| m > 1.0 + 1e-3).count() as u64;
    assert!(slacks.outside >= beyond);
    assert!(fit.report.support_vectors.unwrap() <= points.y.len() as u64 - beyond);
}

/// Rows (2, 0) of +1 and (0, 1) of −1, C = 1, η = 1, no bias: w = (0, 0), (2, −1), (2 − √2, −1), ((2 − √2)(1 − 1/√3), −1). The second row stays on the corner of
/// hinge, where its slope keeps w₂; the first is beyond the margin after each of the first two steps.
#[test]
fn subgradient_steps_by_hand() {
    let points = Points::of(&[([2.0, 0.0], 1), ([0.0, 1.0], 0)]);
    let given = json!({"learning_rate": 1.0, "bias": "none", "passes": 3, "gap": 0.0});
    let fit = learner("subgradient", &given).fit(&points.data(), &mut ()).unwrap();
    let second = 2.0 - 2f64.sqrt();
    let third = second * (1.0 - 1.0 / 3f64.sqrt());
    let last = 0.5 * (third * third + 1.0) + 1.0 - 2.0 * third;
    common::assert_close(&fit.report.costs, &[2.0, 2.5, 3.5 - 2.0 * 2f64.sqrt(), last], "costs");
    assert_eq!((fit.report.status, fit.report.n_passes()), (Status::PassLimit, 3));
    // The best point met is the one after the second step.
    common::assert_close(&fit.model.body.planes().unwrap().normal(0), &[second, -1.0], "w");
    assert!((fit.report.primal.unwrap() - fit.report.costs[2]).abs() < 1e-12);
}

/// What the two descents claim, beside the optimum that the exact solvers prove.
#[test]
fn descents_approach_the_optimum() {
    for (number, bias) in ["free", "regularized", "none"].into_iter().enumerate() {
        let points = noisy(2, 60, 4, number as u64);
        for loss in ["hinge", "squared-hinge"] {
            let mut given = json!({"loss": loss, "bias": bias, "c": 0.05, "gap": 1e-6});
            let best = learner("linear-svm", &given).fit(&points.data(), &mut ()).unwrap();
            let best = best.report.primal.unwrap();
            given["gap"] = json!(0.01);
            given["passes"] = json!(5000);
            for name in ["subgradient", "pegasos"] {
                let fit = learner(name, &given).fit(&points.data(), &mut ()).unwrap();
                let what = format!("{name} {given}: {:?}, best {best}", fit.report);
                assert_eq!(fit.report.status, Status::Converged, "{what}");
                let (high, low) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
                let own = primal(&fit, &points, &vec![1.0; points.y.len()]);
                assert!((own - high).abs() <= 1e-9 * high, "{own}: {what}");
                assert!(high >= best * (1.0 - 1e-6) && low <= best * (1.0 + 1e-9), "{what}");
                assert!(high - best <= 0.01 * high, "{what}");
            }
        }
    }
}

#[test]
fn subgradient_weight_is_repetition() {
    for given in
        [json!({"passes": 50}), json!({"passes": 50, "loss": "squared-hinge", "bias": "regularized"})]
    {
        let points = noisy(3, 40, 5, 11);
        let counts: Vec<usize> = (0..points.y.len()).map(|i| 1 + i % 3).collect();
        let weights = counts.iter().map(|&count| count as f64).collect();
        let fit = |data: &Dataset<'_>| learner("subgradient", &given).fit(data, &mut ()).unwrap();
        let weighted = fit(&points.data().with_weights(weights).unwrap());
        let repeated = fit(&points.repeated(&counts).data());
        assert_eq!(weighted.report.costs.len(), 51);
        common::assert_close(&weighted.report.costs, &repeated.report.costs, "costs");
        let planes =
            |fit: &Fit| (0..3).flat_map(|c| fit.model.body.planes().unwrap().normal(c)).collect::<Vec<f64>>();
        common::assert_close(&planes(&weighted), &planes(&repeated), "weights");
    }
}

/// Steps far too long, and rows that cost far too much, end in a model all the same.
#[test]
fn descents_that_fly_away_keep_the_best() {
    let data = noisy(2, 40, 4, 1).data();
    for (name, given) in [
        ("subgradient", json!({"loss": "squared-hinge", "learning_rate": 1e6})),
        ("subgradient", json!({"learning_rate": 1e300, "bias": "none"})),
        ("subgradient", json!({"c": 1e300})),
        ("pegasos", json!({"c": 1e300, "project": false})),
        ("pegasos", json!({"c": 1e200, "loss": "squared-hinge", "bias": "regularized"})),
        ("pegasos", json!({"c": 1e-300})),
    ] {
        let fit = learner(name, &given).fit(&data, &mut ()).unwrap();
        let what = format!("{name} {given}: {:?}", fit.report);
        assert!(
            fit.report.primal.unwrap().is_finite() && fit.report.costs.iter().all(|c| c.is_finite()),
            "{what}"
        );
        assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit, "{what}");
    }
}

#[test]
fn pegasos_is_fixed_by_its_seed() {
    let data = noisy(2, 60, 5, 4).data();
    let model = |seed: u64, more: &str| {
        let given = json!({"seed": seed, "passes": 5, "gap": 0.0, more: false});
        learner("pegasos", &given).fit(&data, &mut ()).unwrap().model
    };
    assert_eq!(model(3, "average"), model(3, "average"));
    assert_ne!(model(3, "average"), model(4, "average"));
    assert_ne!(model(3, "average"), model(3, "project"));
}

/// Of many rows a few are solved first, which must not be those of one class.
#[test]
fn many_rows_of_classes_that_take_turns() {
    let mut rng = Rng::new(5);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for i in 0..4096 {
        let shift = if i % 2 == 0 { 0.7 } else { -0.3 };
        values.extend((0..3).map(|_| 2.0 * rng.uniform() - 1.0 + shift));
        labels.push(if i % 2 == 0 { "even" } else { "odd" });
    }
    let data = Dataset::new(Dense::new(values, 3).unwrap(), &Labels::new(labels)).unwrap();
    for (name, loss) in [("logistic", "logistic"), ("linear-svm", "hinge"), ("linear-svm", "squared-hinge")] {
        for bias in ["free", "regularized", "none"] {
            let fit = |solver: &str| {
                let mut given = json!({"bias": bias, "gap": 1e-4, "solver": solver, "passes": 10_000});
                if name == "linear-svm" {
                    given["loss"] = json!(loss);
                }
                learner(name, &given).fit(&data, &mut ()).unwrap()
            };
            let newton = fit("newton");
            // Without the start that the few give, 5 and 11 at the least.
            let most = if loss == "hinge" { 10 } else { 4 };
            assert_eq!(newton.report.status, Status::Converged, "{loss} {bias}");
            assert!(
                newton.report.solver_passes.unwrap() <= most,
                "{loss} {bias}: {:?}",
                newton.report.solver_passes
            );
            assert_same_optimum(&fit("dual"), &newton, &format!("{loss} {bias}"));
        }
    }
}

/// Rows far beyond the margin are left alone, and looked at again where a plane comes near them after all.
#[test]
fn far_rows_come_back() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (mut values, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..400 {
            let (sign, length) = (if i % 2 == 0 { 1.0 } else { -1.0 }, 6.0 * rng.uniform().powi(4));
            values
                .extend((0..6).map(|j| length * (2.0 * rng.uniform() - 1.0 + sign * 0.3 * f64::from(j % 3))));
            labels.push(if sign > 0.0 { "plus" } else { "minus" });
            weights.push(10f64.powf(4.0 * rng.uniform() - 2.0));
        }
        let data = Dataset::new(Dense::new(values, 6).unwrap(), &Labels::new(labels)).unwrap();
        let data = data.with_weights(weights).unwrap();
        for loss in ["hinge", "squared-hinge"] {
            let given = json!({"loss": loss, "gap": 1e-8, "solver": "newton", "c": 10.0});
            let report = learner("linear-svm", &given).fit(&data, &mut ()).unwrap().report;
            assert_eq!(report.status, Status::Converged, "{loss} {seed}: {report:?}");
        }
    }
}

/// Whether zeros are stored or not, the same steps are taken, also where their cost decides which.
#[test]
fn stored_zeros_change_nothing_with_many_features() {
    const COLUMNS: usize = 320;
    let mut rng = Rng::new(9);
    let mut values = Vec::new();
    let (mut pointers, mut columns, mut stored, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2500 {
        let mut sum = rng.uniform() - 0.5;
        for j in 0..COLUMNS {
            let value = if rng.below(10) == 0 { 2.0 * rng.uniform() - 1.0 } else { 0.0 };
            values.push(value);
            if value != 0.0 {
                columns.push(j as u32);
                stored.push(value);
                sum += value * if j % 2 == 0 { 1.0 } else { -1.0 };
            }
        }
        pointers.push(columns.len() as u64);
        labels.push(if sum > 0.0 { "yes" } else { "no" });
    }
    let labels = Labels::new(labels);
    let dense = Dataset::new(Dense::new(values, COLUMNS).unwrap(), &labels).unwrap();
    let sparse = Dataset::new(Csr::new(pointers, columns, stored, COLUMNS).unwrap(), &labels).unwrap();
    for (name, given) in [
        ("logistic", json!({})),
        ("linear-svm", json!({"loss": "hinge"})),
        ("linear-svm", json!({"loss": "squared-hinge"})),
    ] {
        let fit = |data: &Dataset<'_>| learner(name, &given).fit(data, &mut ()).unwrap();
        let (a, b) = (fit(&dense), fit(&sparse));
        assert_eq!(a.model.body, b.model.body, "{name} {given}");
        assert_eq!(a.report.gap, b.report.gap, "{name} {given}");
    }
}
