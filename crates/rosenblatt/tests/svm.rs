//! Kernel machines: every formulation held against an independent solver, laws of support vectors, and hostile problems.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;
#[path = "common/oracle.rs"]
mod oracle;

use common::{Points, apart, noisy};
use oracle::{SupportedConeT, clarabel};
use rosenblatt::{
    Body, Dataset, Dense, Error, Fit, Kernel, KernelName, Labels, Learner, Matrix, Rng, Status, Svm, Task,
    UserKernel, registry,
};
use serde_json::{Value, json};

fn fit(name: &str, given: &Value, points: &Points, weights: &[f64]) -> Result<Fit, Error> {
    let data = points.data().with_weights(weights.to_vec()).unwrap();
    registry::algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap().fit(&data, &mut ())
}

fn ones(points: &Points) -> Vec<f64> {
    vec![1.0; points.y.len()]
}

/// Rows of a lower triangle L with LLᵀ = K: features whose dot products are the kernel's values.
fn features(kernel: Kernel, points: &Points) -> Vec<Vec<f64>> {
    let x: Matrix<'_> = points.dense::<f64>();
    let n = points.y.len();
    let mut l = vec![vec![0.0f64; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let left = kernel.value(&x, i, &x, j) - known;
            l[i][j] = match i == j {
                true => left.max(0.0).sqrt(),
                false if l[j][j] > 1e-7 => left / l[j][j],
                false => 0.0,
            };
        }
    }
    l
}

/// The smallest objective of a formulation, by Clarabel on explicit features: variables w, b, ξ, ρ.
fn optimum(given: &Value, kernel: Kernel, points: &Points, weights: &[f64]) -> f64 {
    let x = features(kernel, points);
    let n = x.len();
    let (b, slack, rho) = (n, n + 1, 2 * n + 1);
    let c = given.get("c").and_then(Value::as_f64).unwrap_or(1.0);
    let (hard, squared) = (given["slack"] == "none", given["slack"] == "squared");
    let nu = given.get("nu").and_then(Value::as_f64);
    let (mut quadratic, mut linear) = (vec![0.0; 2 * n + 2], vec![0.0; 2 * n + 2]);
    quadratic[..n].fill(1.0);
    quadratic[b] = if given["bias"] == "regularized" { 1.0 } else { 0.0 };
    for i in 0..n {
        *(if squared { &mut quadratic[slack + i] } else { &mut linear[slack + i] }) =
            c * weights[i] * if squared { 2.0 } else { 1.0 };
    }
    linear[rho] = nu.map_or(0.0, |nu| -nu * weights.iter().sum::<f64>());
    let (mut entries, mut right) = (Vec::new(), Vec::new());
    // What is not there is 0, and a margin that is not free is 1.
    let mut fixed = |entries: &mut Vec<_>, column: usize, to: f64| {
        entries.push((right.len(), column, 1.0));
        right.push(to);
    };
    if nu.is_none() {
        fixed(&mut entries, rho, 1.0);
    }
    if given["bias"] == "none" {
        fixed(&mut entries, b, 0.0);
    }
    if hard {
        (0..n).for_each(|i| fixed(&mut entries, slack + i, 0.0));
    }
    let zeros = right.len();
    // Without errors a row that weighs nothing is none.
    for (i, features) in x.iter().enumerate().filter(|(i, _)| !hard || weights[*i] > 0.0) {
        // ρ − ξ − y·(w·x + b) ≤ 0
        let y = if points.y[i] == 1 { 1.0 } else { -1.0 };
        let row = right.len();
        entries
            .extend(features.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, v)| (row, j, -y * v)));
        entries.extend([(row, b, -y), (row, slack + i, -1.0), (row, rho, 1.0)]);
        right.push(0.0);
        entries.push((row + 1, slack + i, -1.0));
        right.push(0.0);
    }
    let cones = [SupportedConeT::ZeroConeT(zeros), SupportedConeT::NonnegativeConeT(right.len() - zeros)];
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

/// The smallest objective of kernel logistic regression: variables w, b, and for each row t, u, v with log(1 + exp(−m)) ≤ t where exp(−m − t) ≤ u, exp(−t) ≤ v, u + v ≤ 1.
fn logistic_optimum(given: &Value, kernel: Kernel, points: &Points, weights: &[f64]) -> f64 {
    let x = features(kernel, points);
    let n = x.len();
    let (b, c) = (n, given["c"].as_f64().unwrap());
    let (mut quadratic, mut linear) = (vec![0.0; 4 * n + 1], vec![0.0; 4 * n + 1]);
    quadratic[..n].fill(1.0);
    quadratic[b] = if given["bias"] == "regularized" { 1.0 } else { 0.0 };
    let (mut entries, mut right, mut cones) = (Vec::new(), Vec::new(), Vec::new());
    if given["bias"] == "none" {
        entries.push((0, b, 1.0));
        right.push(0.0);
        cones.push(SupportedConeT::ZeroConeT(1));
    }
    for (i, features) in x.iter().enumerate() {
        let (t, u, v) = (n + 1 + i, 2 * n + 1 + i, 3 * n + 1 + i);
        linear[t] = c * weights[i];
        entries.extend([(right.len(), u, 1.0), (right.len(), v, 1.0)]);
        right.push(1.0);
        cones.push(SupportedConeT::NonnegativeConeT(1));
        for (y, bound) in [(points.sign(i), u), (0.0, v)] {
            // (−y·g − t, 1, bound) in the exponential cone.
            let first = right.len();
            entries.extend(features.iter().enumerate().map(|(j, v)| (first, j, y * v)));
            entries.extend([(first, b, y), (first, t, 1.0), (first + 2, bound, -1.0)]);
            right.extend([0.0, 1.0, 0.0]);
            cones.push(SupportedConeT::ExponentialConeT());
        }
    }
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

fn agrees(name: &str, given: &Value, points: &Points, weights: &[f64]) {
    let mut exact = given.clone();
    (exact["gap"], exact["tolerance"]) = (json!(1e-8), json!(1e-7));
    let fit = fit(name, &exact, points, weights).unwrap();
    let Body::Kernel(expansion) = &fit.model.body else { unreachable!() };
    let optimum = if name == "svm" { optimum } else { logistic_optimum };
    let best = optimum(given, expansion.kernel().kernel().unwrap(), points, weights);
    let (primal, dual) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
    let near = 1e-6 * best.abs().max(1e-3);
    assert!((primal - best).abs() <= near, "{given}: P {primal}, Clarabel {best}");
    assert!((dual - best).abs() <= near, "{given}: D {dual}, Clarabel {best}");
}

/// All kernels, biases and C with each other.
fn small_problem(number: u64) -> (Value, Points, Vec<f64>) {
    let kernels = [
        json!({"kernel": "rbf", "gamma": 0.3}),
        json!({"kernel": "linear"}),
        json!({"kernel": "poly", "degree": 2}),
        json!({"kernel": "laplacian", "gamma": 0.2}),
    ];
    let mut given = kernels[number as usize % 4].clone();
    given["bias"] = json!(["free", "regularized", "none"][number as usize % 3]);
    given["c"] = json!([0.1, 1.0, 7.0][number as usize / 3 % 3]);
    let points = noisy(2, 12, 3, number);
    let mut rng = Rng::new(number);
    let weights = points.y.iter().map(|_| (1 + rng.below(4)) as f64 / 2.0).collect();
    (given, points, weights)
}

#[test]
fn optima_agree_with_clarabel() {
    for number in 0..100u64 {
        let (mut given, points, weights) = small_problem(number);
        agrees("svm", &given, &points, &weights);
        given["slack"] = json!("squared");
        agrees("svm", &given, &points, &weights);
    }
}

#[test]
fn kernel_logistic_agrees_with_clarabel() {
    for number in 0..100u64 {
        let (given, points, weights) = small_problem(number);
        agrees("kernel-logistic", &given, &points, &weights);
    }
}

/// The smallest objective of one machine for all classes: variables w_c, b_c, ξ.
fn joint_optimum(given: &Value, kernel: Kernel, points: &Points, weights: &[f64], k: usize) -> f64 {
    let x = features(kernel, points);
    let n = x.len();
    let (plane, slack) = (n + 1, k * (n + 1));
    let (mut quadratic, mut linear) = (vec![1.0; slack + n], vec![0.0; slack + n]);
    quadratic[slack..].fill(0.0);
    let c = given["c"].as_f64().unwrap();
    linear[slack..].iter_mut().zip(weights).for_each(|(l, weight)| *l = c * weight);
    let (mut entries, mut right) = (Vec::new(), Vec::new());
    if given["bias"] == "none" {
        for class in 0..k {
            entries.push((right.len(), class * plane + n, 1.0));
            right.push(0.0);
        }
    }
    let zeros = right.len();
    for (i, features) in x.iter().enumerate() {
        let own = points.y[i];
        // w_c·x − w_y·x − ξ ≤ −1
        for class in (0..k).filter(|&class| class != own) {
            let row = right.len();
            for (j, v) in features.iter().chain([&1.0]).enumerate().filter(|(_, v)| **v != 0.0) {
                entries.extend([(row, class * plane + j, *v), (row, own * plane + j, -v)]);
            }
            entries.push((row, slack + i, -1.0));
            right.push(-1.0);
        }
        entries.push((right.len(), slack + i, -1.0));
        right.push(0.0);
    }
    let cones = [SupportedConeT::ZeroConeT(zeros), SupportedConeT::NonnegativeConeT(right.len() - zeros)];
    clarabel(&quadratic, &linear, entries, &right, &cones)
}

#[test]
fn machines_for_all_classes_agree_with_clarabel() {
    let kernels = [
        json!({"kernel": "rbf", "gamma": 0.3}),
        json!({"kernel": "poly", "degree": 2}),
        json!({"kernel": "laplacian", "gamma": 0.2}),
    ];
    for number in 0..100u64 {
        let number = number as usize;
        let mut given = kernels[number % 3].clone();
        given["multiclass"] = json!("native");
        given["bias"] = json!(["regularized", "none"][number % 2]);
        given["c"] = json!([0.1, 1.0, 7.0][number / 9 % 3]);
        let (k, number) = (2 + number / 3 % 3, number as u64);
        let points = noisy(k, 12, 3, number);
        let mut rng = Rng::new(number);
        let weights: Vec<f64> = points.y.iter().map(|_| (1 + rng.below(4)) as f64 / 2.0).collect();
        let mut exact = given.clone();
        (exact["gap"], exact["tolerance"]) = (json!(1e-7), json!(1e-6));
        let fit = fit("svm", &exact, &points, &weights).unwrap();
        let Body::Kernel(expansion) = &fit.model.body else { unreachable!() };
        let best = joint_optimum(&given, expansion.kernel().kernel().unwrap(), &points, &weights, k);
        let (primal, dual) = (fit.report.primal.unwrap(), fit.report.dual.unwrap());
        let near = 1e-6 * best.abs().max(1e-3);
        assert!(
            (primal - best).abs() <= near,
            "{exact}: P {primal}, Clarabel {best}, {}",
            fit.report.gap.unwrap()
        );
        assert!((dual - best).abs() <= near, "{exact}: D {dual}, Clarabel {best}");
    }
}

#[test]
fn a_linear_kernel_for_all_classes_is_crammer_singer() {
    let points = noisy(3, 60, 4, 5);
    let given = json!({"bias": "regularized", "gap": 1e-5});
    let linear = fit("crammer-singer", &given, &points, &ones(&points)).unwrap();
    let given = json!({"bias": "regularized", "gap": 1e-5, "kernel": "linear", "multiclass": "native"});
    let kernel = fit("svm", &given, &points, &ones(&points)).unwrap();
    let (a, b) = (linear.report.primal.unwrap(), kernel.report.primal.unwrap());
    assert!((a - b).abs() <= 1e-4 * a, "{a}, {b}");
    // Going on from a solution takes fewer rounds and comes to the same.
    let data = points.data();
    let learner = registry::algorithm("svm").unwrap().learner(given.as_object().unwrap()).unwrap();
    let again = learner.learn(&Task { start: Some(&kernel.model), ..Task::new(&data) }, &mut ()).unwrap();
    assert!(again.report.n_passes() < kernel.report.n_passes());
    assert!((again.report.primal.unwrap() - b).abs() <= 1e-4 * b);
}

#[test]
fn what_does_not_go_with_all_classes_at_once_is_told() {
    let told = |given: Value| {
        let learner = registry::algorithm("svm").unwrap().learner(given.as_object().unwrap());
        learner.err().unwrap_or_else(|| panic!("{given}")).to_string()
    };
    assert!(told(json!({"multiclass": "native"})).contains("add --bias regularized"));
    let with_nu = told(json!({"multiclass": "native", "bias": "none", "nu": 0.2}));
    assert!(with_nu.contains("give ovo or ovr"), "{with_nu}");
}

#[test]
fn hard_margins_agree_with_clarabel() {
    for number in 0..100u64 {
        let kernel = ["rbf", "linear"][number as usize % 2];
        let mut given = json!({"kernel": kernel, "slack": "none"});
        given["bias"] = json!(["free", "regularized", "none"][number as usize % 3]);
        let points = apart(2, 10, 3, number);
        agrees("svm", &given, &points, &ones(&points));
        // What a row weighs changes nothing, unless that is nothing.
        let mut rng = Rng::new(number);
        let mut weights: Vec<f64> = points.y.iter().map(|_| rng.below(3) as f64).collect();
        weights.iter_mut().rev().take(2).for_each(|weight| *weight += 1.0);
        agrees("svm", &given, &points, &weights);
    }
}

#[test]
fn nu_agrees_with_clarabel() {
    for number in 0..100u64 {
        let nu = [0.05, 0.1, 0.2][number as usize % 3];
        let kernel = ["rbf", "poly"][number as usize % 2];
        let given = json!({"kernel": kernel, "nu": nu});
        let mut points = noisy(2, 14, 3, number);
        // Enough of both, by weight, too.
        points.y.iter_mut().enumerate().filter(|(i, _)| i % 2 == 0).for_each(|(i, y)| *y = i / 2 % 2);
        agrees("svm", &given, &points, &ones(&points));
        let mut rng = Rng::new(number);
        let weights: Vec<f64> = points.y.iter().map(|_| (2 + rng.below(3)) as f64 / 2.0).collect();
        agrees("svm", &given, &points, &weights);
    }
}

#[test]
fn nu_bounds_errors_and_support_vectors() {
    let points = noisy(2, 200, 4, 3);
    for nu in [0.1, 0.2, 0.35] {
        let fit = fit("svm", &json!({"nu": nu}), &points, &ones(&points)).unwrap();
        let (slacks, n) = (fit.report.slacks.unwrap(), points.y.len() as f64);
        assert!((slacks.inside + slacks.wrong_side) as f64 <= nu * n + 1.0, "{slacks:?}");
        assert!(fit.report.support_vectors.unwrap() as f64 >= nu * n - 1.0);
    }
    let error = fit("svm", &json!({"nu": 0.999}), &points, &ones(&points)).unwrap_err().to_string();
    assert!(error.contains("twice the share of the smaller class"), "{error}");
}

#[test]
fn linear_kernel_is_the_linear_machine() {
    let machines = [
        ("svm", json!({"slack": "linear"}), "linear-svm", json!({"loss": "hinge"})),
        ("svm", json!({"slack": "squared"}), "linear-svm", json!({"loss": "squared-hinge"})),
        ("svm", json!({"slack": "none"}), "hard-margin", json!({})),
        ("kernel-logistic", json!({}), "logistic", json!({})),
    ];
    for (bias, scale) in [("free", 1.0), ("regularized", 1.0), ("none", 1.0), ("free", 100.0)] {
        for (name, form, linear, loss) in &machines {
            let mut points = match *linear {
                "hard-margin" => apart(2, 80, 4, 6),
                _ => noisy(2, 80, 4, 6),
            };
            points.x.iter_mut().for_each(|x| x[1] *= scale);
            let of = |name: &str, form: &Value, more: Value| {
                let mut given = form.clone();
                given["bias"] = json!(bias);
                let costs = if *linear == "hard-margin" { json!({}) } else { json!({"c": 5.0}) };
                for more in [more, costs] {
                    more.as_object().unwrap().iter().for_each(|(key, value)| given[key] = value.clone());
                }
                fit(name, &given, &points, &ones(&points)).unwrap().report
            };
            let kernel = of(name, form, json!({"kernel": "linear", "gap": 1e-7, "tolerance": 1e-6}));
            let plain = of(linear, loss, json!({"gap": 1e-7}));
            let what = format!("{name} {form} {bias} {scale}");
            let (a, b) = (kernel.primal.unwrap(), plain.primal.unwrap());
            assert!((a - b).abs() <= 1e-6 * b, "{what}: {a} is not {b}");
            let (a, b) = (kernel.margin.unwrap(), plain.margin.unwrap());
            assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{what}: margins {a}, {b}");
        }
    }
}

#[test]
fn only_support_vectors_matter() {
    let forms = [
        (json!({"c": 2.0}), 2),
        (json!({"c": 2.0, "slack": "squared"}), 2),
        (json!({"slack": "none", "gamma": 2.0}), 2),
        (json!({"c": 2.0, "multiclass": "ovo"}), 3),
        (json!({"c": 2.0, "multiclass": "native", "bias": "none"}), 3),
    ];
    for (form, k) in forms {
        let points = if form["slack"] == "none" { apart(k, 120, 3, 8) } else { noisy(k, 120, 3, 8) };
        let mut given = json!({"gamma": 0.5, "gap": 1e-7, "tolerance": 1e-6});
        form.as_object().unwrap().iter().for_each(|(key, value)| given[key] = value.clone());
        let all = fit("svm", &given, &points, &ones(&points)).unwrap();
        let Body::Kernel(expansion) = &all.model.body else { unreachable!() };
        let mut few = Points { x: Vec::new(), y: Vec::new(), classes: k };
        let numbers = expansion.numbers();
        numbers.iter().for_each(|&row| few.push(&points.x[row as usize], points.y[row as usize]));
        assert!(few.y.len() < points.y.len(), "{form}");
        let again = fit("svm", &given, &few, &ones(&few)).unwrap();
        let (a, b) = (all.report.dual.unwrap(), again.report.dual.unwrap());
        assert!((a - b).abs() <= 1e-6 * a, "{form}: {a} is not {b}");
        let x = points.dense::<f64>();
        let apart = all.model.scores(&x).unwrap().into_iter().zip(again.model.scores(&x).unwrap());
        assert!(apart.into_iter().all(|(a, b)| (a - b).abs() < 1e-3), "{form}");
    }
}

/// P is at least ½‖w − w*‖² above its optimum, which bounds how far two solutions are from each other, and so are their scores, ‖φ(x)‖ being 1.
#[test]
fn points_outside_the_margin_do_not_matter() {
    for slack in ["linear", "squared"] {
        let (points, others) = (noisy(2, 120, 3, 8), noisy(2, 200, 3, 9));
        let given = json!({"gamma": 0.5, "c": 2.0, "slack": slack, "gap": 1e-7, "tolerance": 1e-6});
        let before = fit("svm", &given, &points, &ones(&points)).unwrap();
        let x = others.dense::<f64>();
        let mut more = points.clone();
        for (x, g) in others.x.iter().zip(before.model.scores(&x).unwrap()).filter(|(_, g)| g.abs() > 1.1) {
            more.push(x, usize::from(g > 0.0));
        }
        assert!(more.y.len() >= points.y.len() + 10, "{slack}: {}", more.y.len());
        let after = fit("svm", &given, &more, &ones(&more)).unwrap();
        let missing = |fit: &Fit| fit.report.gap.unwrap() * fit.report.primal.unwrap();
        let (a, b) = (before.report.dual.unwrap(), after.report.dual.unwrap());
        assert!((a - b).abs() <= missing(&before) + missing(&after) + 1e-6 * a, "{slack}: {a} is not {b}");
        let bias = |fit: &Fit| match &fit.model.body {
            Body::Kernel(expansion) => expansion.offsets()[0],
            _ => unreachable!(),
        };
        assert!((bias(&before) - bias(&after)).abs() < 1e-3, "{slack}");
        let apart = (2.0 * missing(&before)).sqrt() + (2.0 * missing(&after)).sqrt() + 1e-4;
        let scores = |fit: &Fit| -> Vec<f64> {
            fit.model.scores(&x).unwrap().into_iter().map(|g| g - bias(fit)).collect()
        };
        let moved = scores(&before).into_iter().zip(scores(&after)).map(|(a, b)| (a - b).abs());
        assert!(moved.fold(0.0, f64::max) <= apart, "{slack}: more than {apart}");
    }
}

#[test]
fn weights_are_repetitions_and_copies_are_one() {
    let points = noisy(2, 60, 2, 4);
    let mut rng = Rng::new(1);
    let weights: Vec<f64> = points.y.iter().map(|_| rng.below(4) as f64).collect();
    let mut repeated = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    for (i, weight) in weights.iter().enumerate() {
        (0..*weight as usize).for_each(|_| repeated.push(&points.x[i], points.y[i]));
    }
    let given = json!({"gamma": 1.0, "gap": 1e-7, "tolerance": 1e-6});
    let a = fit("svm", &given, &points, &weights).unwrap().report;
    let b = fit("svm", &given, &repeated, &ones(&repeated)).unwrap().report;
    assert!((a.primal.unwrap() - b.primal.unwrap()).abs() <= 1e-6 * a.primal.unwrap());
}

#[test]
fn caches_do_not_show() {
    let points = noisy(3, 300, 4, 14);
    let model = |points: &Points, gamma: f64, cache: Value| {
        fit("svm", &json!({"gamma": gamma, "cache": cache}), points, &ones(points)).unwrap().model
    };
    assert_eq!(model(&points, 0.5, Value::Null), model(&points, 0.5, json!(10_000_000)));
    // Rows so long that problems share what they evaluate, where there is room for it.
    let long = noisy(4, 400, 200, 14);
    assert_eq!(model(&long, 0.01, Value::Null), model(&long, 0.01, json!(500_000)));
    let tiny = Svm { cache: Some(60_000), ..Svm::default() }.fit(&points.data(), &mut ()).unwrap();
    assert_eq!(tiny.report.status, Status::Converged);
}

#[test]
fn kernels_of_ones_own_and_precomputed_ones() {
    let points = noisy(2, 40, 3, 15);
    let gamma = 0.25;
    let own = UserKernel::from_fn("a Gaussian", move |u, v| {
        (-gamma * u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum::<f64>()).exp()
    });
    let given = Svm { gamma: Some(gamma), ..Svm::default() };
    let ours = given.fit(&points.data(), &mut ()).unwrap().report;
    let theirs = Svm { user: Some(own), ..given.clone() }.fit(&points.data(), &mut ()).unwrap().report;
    assert!((ours.dual.unwrap() - theirs.dual.unwrap()).abs() < 1e-5 * ours.dual.unwrap());
    let (x, n) = (points.dense::<f64>(), points.y.len());
    let values: Vec<f64> = (0..n * n).map(|at| Kernel::Rbf { gamma }.value(&x, at / n, &x, at % n)).collect();
    let gram = points.labelled(Dense::new(values, n).unwrap());
    let precomputed = fit_on(&gram, &json!({"kernel": "precomputed"}));
    assert!((ours.dual.unwrap() - precomputed.report.dual.unwrap()).abs() < 1e-5 * ours.dual.unwrap());
    assert_eq!(precomputed.report.train_accuracy, ours.train_accuracy);
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    let points = noisy(2, 40, 3, 16);
    let seventh = points.x[25].clone();
    let broken =
        UserKernel::from_fn("broken", move |u, v| if u == seventh || v == seventh { f64::NAN } else { 1.0 });
    let error =
        Svm { user: Some(broken), ..Svm::default() }.fit(&points.data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("broken") && error.contains("row 26"), "{error}");
}

fn fit_on(data: &rosenblatt::Dataset<'_>, given: &Value) -> Fit {
    registry::algorithm("svm")
        .unwrap()
        .learner(given.as_object().unwrap())
        .unwrap()
        .fit(data, &mut ())
        .unwrap()
}

/// Both objectives of kernel logistic regression, from its coefficients alone and in double precision.
#[test]
fn kernel_logistic_is_certified() {
    for (number, bias) in ["free", "regularized", "none"].into_iter().enumerate() {
        // With more rows a feature, copies would be one row of a larger cost.
        let points = noisy(2, 60, 4, number as u64);
        let (c, gamma) = (3.0, 0.5);
        let given = json!({"gamma": gamma, "c": c, "bias": bias, "gap": 1e-6, "tolerance": 1e-4});
        let fit = fit("kernel-logistic", &given, &points, &ones(&points)).unwrap();
        assert_eq!(fit.report.status, Status::Converged);
        let Body::Kernel(expansion) = &fit.model.body else { unreachable!() };
        let (x, b) = (points.dense::<f64>(), expansion.offsets()[0]);
        let y = |i: usize| if points.y[i] == 1 { 1.0 } else { -1.0 };
        let value = |i: usize, j: usize| Kernel::Rbf { gamma }.value(&x, i, &x, j);
        let stored: Vec<(usize, f64)> =
            expansion.numbers().iter().map(|&row| row as usize).zip(expansion.coefficients()).collect();
        let f = |i: usize| stored.iter().map(|&(s, a)| a * value(s, i)).sum::<f64>();
        let square: f64 = stored.iter().map(|&(s, a)| a * f(s)).sum();
        let own = if bias == "regularized" { b * b } else { 0.0 };
        let risk: f64 = (0..points.y.len()).map(|i| (1.0 + (-y(i) * (f(i) + b)).exp()).ln()).sum();
        let term = |a: f64| if a > 0.0 { a * a.ln() } else { 0.0 };
        let entropy: f64 = stored.iter().map(|&(s, a)| y(s) * a / c).map(|a| term(a) + term(1.0 - a)).sum();
        let (primal, dual) = (0.5 * (square + own) + c * risk, -0.5 * (square + own) - c * entropy);
        assert!((primal - fit.report.primal.unwrap()).abs() < 1e-5 * primal, "{bias}: {primal}");
        assert!(
            primal >= dual - 1e-5 * primal && primal - dual < 3e-6 * primal + 1e-5,
            "{bias}: {primal} {dual}"
        );
    }
}

/// On a line the means of the classes at 1, 3 and at 2, 4 meet where every row may count as much as the whole of its class: w = 0 is all that a small ν leaves, and no gap is a share of that.
#[test]
fn an_optimum_of_nothing_has_no_relative_gap() {
    let line = [(1.0, "a"), (3.0, "a"), (2.0, "b"), (4.0, "b"), (50.0, "c"), (51.0, "c")];
    let data = |rows: usize| {
        let (x, labels): (Vec<f64>, Vec<&str>) = line[..rows].iter().copied().unzip();
        Dataset::new(Dense::new(x, 1).unwrap(), &Labels::new(labels)).unwrap()
    };
    let report = |nu: f64, rows: usize| {
        let learner = Svm { kernel: KernelName::Linear, nu: Some(nu), ..Svm::default() };
        learner.fit(&data(rows), &mut ()).unwrap().report
    };
    let nothing = report(0.5, 4);
    let (primal, dual) = (nothing.primal.unwrap(), nothing.dual.unwrap());
    assert_eq!((nothing.status, nothing.gap), (Status::Converged, None), "{nothing:?}");
    assert!(primal.abs() < 1e-8 && (-1e-8..=0.0).contains(&dual), "{primal} {dual}");
    assert!(nothing.diagnosis.iter().any(|line| line.contains("larger nu")), "{:?}", nothing.diagnosis);
    // All rows count 1: w is the difference of sums, 2.
    let some = report(1.0, 4);
    assert!(some.gap.is_some_and(|gap| gap <= 1e-3) && some.diagnosis.is_empty(), "{some:?}");
    assert!((some.primal.unwrap() + 2.0).abs() < 1e-2, "{some:?}");
    // One of three problems has nothing; the others have their gaps, and so has the sum.
    let three = report(0.5, 6);
    let gaps: Vec<bool> = three.problems.iter().map(|problem| problem.gap.is_some()).collect();
    assert_eq!((gaps, three.status), (vec![false, true, true], Status::Converged), "{three:?}");
    assert!(three.problems.iter().all(|problem| problem.converged) && three.gap.is_some());
    assert!(!three.diagnosis.is_empty());
}
