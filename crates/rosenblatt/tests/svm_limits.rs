//! Kernel machines where problems are hardest: kernels that are no dot products, parameters and data far out, runs that are cut short.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, noisy};
use rosenblatt::{
    Body, Dataset, Dense, Error, Fit, Gram, Kernel, KernelLogistic, Learner, Report, Rng, Similarity, Status,
    Svm, Task, UserKernel, Verdict, Verifier,
};
use serde_json::{Value, json};

fn learner(name: &str, given: &Value, user: Option<UserKernel>) -> Box<dyn Learner> {
    match name {
        "svm" => Box::new(Svm { user, ..serde_json::from_value(given.clone()).unwrap() }),
        _ => Box::new(KernelLogistic { user, ..serde_json::from_value(given.clone()).unwrap() }),
    }
}

fn fit(name: &str, given: &Value, data: &Dataset<'_>) -> Result<Fit, Error> {
    learner(name, given, None).fit(data, &mut ())
}

fn with(given: &Value, more: &Value) -> Value {
    let mut given = given.clone();
    more.as_object().unwrap().iter().for_each(|(name, value)| given[name] = value.clone());
    given
}

/// Every formulation, and of how many classes.
fn forms() -> Vec<(&'static str, Value, usize)> {
    vec![
        ("svm", json!({}), 2),
        ("svm", json!({"slack": "squared"}), 2),
        ("svm", json!({"slack": "squared", "multiclass": "ovo", "bias": "none"}), 3),
        ("svm", json!({"multiclass": "ovo"}), 3),
        ("svm", json!({"multiclass": "native", "bias": "regularized"}), 3),
        ("kernel-logistic", json!({}), 2),
    ]
}

/// Values as given, and the same the other way round.
fn symmetric(n: usize, mut value: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
    let mut values = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            values[i * n + j] = value(i, j);
            values[j * n + i] = values[i * n + j];
        }
    }
    values
}

/// Kernels that are no dot products, and rows for which they are not.
fn indefinite(k: usize) -> Vec<(Value, Option<UserKernel>, Dataset<'static>)> {
    let points = noisy(k, 40, 4, 9);
    let mut rng = Rng::new(4);
    let n = points.y.len();
    let random = symmetric(n, |_, _| rng.below(2001) as f64 / 1000.0 - 1.0);
    let matrix = points.labelled(Dense::new(random, n).unwrap());
    let minkowski =
        |u: &[f64], v: &[f64]| u[0] * v[0] - u[1..].iter().zip(&v[1..]).map(|(u, v)| u * v).sum::<f64>();
    let user = UserKernel::from_fn("u₁v₁ − u₂v₂ − …", minkowski);
    vec![
        (json!({"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}), None, points.data()),
        (json!({"kernel": "precomputed"}), None, matrix),
        (json!({}), Some(user), points.data()),
    ]
}

/// Whether all that a fit says is a number, the file says the same, and its status is what its words say; whether it says that the dual has no end.
fn is_honest(fit: &Fit, data: &Dataset<'_>, what: &str) -> bool {
    let Report { status, primal, dual, gap, violation, diagnosis, solver, .. } = &fit.report;
    let numbers = [*primal, *dual, *gap, *violation];
    assert!(numbers.iter().flatten().all(|number| number.is_finite()), "{what}: {numbers:?}");
    let Body::Kernel(expansion) = &fit.model.body else { panic!("{what}") };
    let scores = fit.model.scores(data.x()).unwrap();
    let mut all = expansion.coefficients().into_iter().chain(expansion.offsets()).chain(scores);
    assert!(all.all(f64::is_finite), "{what}");
    let classes = data.classes().len() as u32;
    assert!(fit.model.predict(data.x()).unwrap().iter().all(|&class| class < classes), "{what}");
    if expansion.kernel().kernel().is_some() {
        assert_eq!(&Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit, "{what}");
    }
    let stationary = solver.as_ref().unwrap().contains("what was found is stationary");
    assert_eq!(stationary, *status == Status::Converged, "{what}: {solver:?}");
    match status {
        Status::Converged => assert!(diagnosis.is_empty(), "{what}: {diagnosis:?}"),
        Status::Stalled => assert!(diagnosis[0].contains("positive semi-definite"), "{what}: {diagnosis:?}"),
        _ => panic!("{what} did not end by itself: {status:?}"),
    }
    diagnosis.iter().any(|line| line.contains("the dual is unbounded"))
}

/// Some row has a negative square in their space.
#[test]
fn the_indefinite_are_indefinite() {
    for (given, user, data) in indefinite(2) {
        let kernel: Similarity = match (user, given["kernel"].as_str()) {
            (Some(user), _) => user.into(),
            (None, Some("sigmoid")) => Kernel::Sigmoid { gamma: 1.0, coef0: -1.0 }.into(),
            _ => Kernel::Precomputed.into(),
        };
        let gram = Gram::new(kernel, data.x()).unwrap();
        let (n, all): (usize, Vec<usize>) = (data.n_rows(), (0..data.n_rows()).collect());
        let mut values = vec![0.0; n * n];
        gram.values(&gram.tiles(&gram, &all), &all, &mut values);
        assert!((0..n).any(|i| values[i * n + i] < 0.0), "{given}");
    }
}

#[test]
fn kernels_that_are_no_dot_products_end() {
    for (name, form, k) in forms() {
        for (kernel, user, data) in indefinite(k) {
            for c in [1e-2, 1.0, 1e3] {
                let given =
                    with(&with(&form, &kernel), &json!({"c": c, "passes": 100_000, "time_limit": 20.0}));
                let fit = learner(name, &given, user.clone()).fit(&data, &mut ()).unwrap();
                let what = format!("{name} {given} {user:?}");
                let endless = is_honest(&fit, &data, &what);
                // Only where multipliers have no bounds; and there, if errors are dear, any negative square is enough.
                let squared = form["slack"] == "squared";
                assert!(squared || !endless, "{what}");
                assert!(!squared || c < 1e3 || endless, "{what}: {:?}", fit.report);
            }
        }
    }
}

#[test]
fn shares_and_hard_margins_of_no_dot_products_end() {
    let mut endless = 0;
    for (kernel, user, data) in indefinite(2) {
        for form in [
            json!({"nu": 0.02}),
            json!({"nu": 0.1}),
            json!({"nu": 0.3}),
            json!({"slack": "none"}),
            json!({"slack": "none", "bias": "regularized"}),
            json!({"slack": "none", "bias": "none"}),
        ] {
            let given = with(&with(&form, &kernel), &json!({"passes": 100_000, "time_limit": 20.0}));
            let fit = learner("svm", &given, user.clone()).fit(&data, &mut ()).unwrap();
            let said = is_honest(&fit, &data, &format!("{given} {user:?}"));
            assert!(!said || form["slack"] == "none", "{given}");
            endless += usize::from(said);
        }
    }
    assert!(endless > 0);
}

/// Precomputed values of a dot product are not known to be such: what is said of them is true all the same.
#[test]
fn dot_products_that_are_not_known_to_be_are_not_blamed() {
    let points = noisy(2, 60, 3, 5);
    let (n, x) = (points.y.len(), points.dense::<f64>());
    let matrix = |kernel: Kernel| {
        points.labelled(Dense::new(symmetric(n, |i, j| kernel.value(&x, i, &x, j)), n).unwrap())
    };
    for c in [1e-2, 1.0, 1e3] {
        for (name, form, _) in forms().into_iter().filter(|form| form.2 == 2) {
            let given = with(&form, &json!({"c": c, "gap": 1e-6, "tolerance": 1e-5}));
            let known = fit(name, &with(&given, &json!({"gamma": 0.5})), &points.data()).unwrap().report;
            let precomputed = with(&given, &json!({"kernel": "precomputed"}));
            let found = fit(name, &precomputed, &matrix(Kernel::Rbf { gamma: 0.5 })).unwrap().report;
            assert_eq!(found.status, Status::Converged, "{name} {given}");
            let (a, b) = (found.dual.unwrap(), known.dual.unwrap());
            assert!((a - b).abs() <= 1e-5 * b.abs(), "{name} {given}: {a} is not {b}");
        }
    }
    // Equal rows have both labels.
    let hard = json!({"kernel": "precomputed", "slack": "none"});
    let report = fit("svm", &hard, &matrix(Kernel::Linear)).unwrap().report;
    assert_eq!((report.status, report.primal), (Status::Stalled, None));
    assert!(report.diagnosis[0].starts_with("no plane that separates the classes was found"), "{report:?}");
    let known = fit("svm", &json!({"kernel": "linear", "slack": "none"}), &points.data());
    assert!(matches!(known, Err(Error::Inseparable { .. })));
}

/// Classes of about the same size, and a column that says nothing.
fn balanced(k: usize) -> Points {
    let most = |points: &Points| (0..k).map(|c| points.y.iter().filter(|y| **y == c).count()).max().unwrap();
    let even = |points: &Points| 10 * most(points) <= 6 * points.y.len();
    let mut points = (10..).map(|seed| noisy(k, 60, 3, seed)).find(even).unwrap();
    points.x.iter_mut().for_each(|x| x.push(7.0));
    points
}

/// C and γ far out and a constant column: all end, and what they say holds. With a C of a million some creep, where rows have several classes; then that is named.
#[test]
fn extremes_are_solved() {
    for (name, form, k) in forms() {
        let data = balanced(k).data();
        for c in [1e-6, 1.0, 1e6] {
            for gamma in [1e-8, 1.0, 1e4] {
                let given = with(&form, &json!({"gamma": gamma, "c": c, "passes": 100}));
                let report = fit(name, &given, &data).unwrap().report;
                let (primal, dual) = (report.primal.unwrap(), report.dual.unwrap());
                let what =
                    format!("{name} {given}: {primal} {dual} {:?} {:?}", report.status, report.diagnosis);
                assert!(primal.is_finite() && dual.is_finite() && dual <= primal * (1.0 + 1e-6), "{what}");
                let named =
                    |line: &String| line.starts_with("C too large") || line.starts_with("contradictions");
                let told = c > 1e5 && report.diagnosis.iter().any(named);
                assert!(report.status == Status::Converged || told, "{what}");
            }
        }
    }
}

/// Tiny and huge values, with a γ that suits them, with one that does not, and without one.
#[test]
fn scales_are_solved() {
    for (name, form, k) in forms() {
        let points = balanced(k);
        let scaled = |scale: f64| {
            let mut scaled = points.clone();
            scaled.x.iter_mut().flatten().for_each(|v| *v *= scale);
            scaled.data()
        };
        let of = |scale: f64, gamma: Option<f64>| {
            fit(name, &with(&form, &json!({"gamma": gamma})), &scaled(scale))
        };
        let plain = of(1.0, Some(0.5)).unwrap().report.primal.unwrap();
        for scale in [1e-12, 1e12] {
            assert_eq!(of(scale, None).unwrap().report.status, Status::Converged, "{name} {form} {scale}");
            let suits = of(scale, Some(0.5 / (scale * scale))).unwrap().report;
            assert_eq!(suits.status, Status::Converged, "{name} {form} {scale}");
            let primal = suits.primal.unwrap();
            assert!((primal - plain).abs() <= 2e-3 * plain, "{name} {form} {scale}: {primal} is not {plain}");
        }
        // All rows are one.
        let alike = of(1e-12, Some(0.5)).unwrap();
        assert_eq!(alike.report.status, Status::Converged, "{name} {form}");
        let classes = alike.model.predict(scaled(1e-12).x()).unwrap();
        assert!(classes.iter().all(|&class| class == classes[0]), "{name} {form}: {classes:?}");
        // No row is like any other, as at a γ far out.
        let (far, wide) = (of(1e12, Some(0.5)).unwrap().report, of(1.0, Some(1e4)).unwrap().report);
        assert_eq!(far.status, Status::Converged, "{name} {form}");
        let (a, b) = (far.primal.unwrap(), wide.primal.unwrap());
        assert!((a - b).abs() <= 2e-3 * b, "{name} {form}: {a} is not {b}");
    }
}

/// What a fit claims, computed anew by naive code.
fn assert_holds(fit: &Fit, data: &Dataset<'_>, what: &str) {
    let verification = Verifier::default().verify(fit, data, &mut ()).unwrap();
    // In the middle of a run copies of a row each have an α of their own; seen as one they break less.
    let early = |name: &str| name == "KKT violation" && fit.report.status == Status::PassLimit;
    let broken = verification.claims.iter().filter(|c| c.verdict == Verdict::Broken && !early(&c.name));
    let broken: Vec<_> = broken.collect();
    assert!(broken.is_empty(), "{what}: {broken:#?}\n{:#?}", fit.report);
}

/// Kernel values that differ in their last digits of single precision, or not at all, and multipliers so large that these digits matter.
#[test]
fn certificates_hold_where_single_precision_is_too_coarse() {
    for (name, form, k) in forms() {
        let data = balanced(k).data();
        for (c, gamma) in [(1.0, 1e-8), (1e3, 1e-4), (1e5, 1e-6), (1e6, 1e-8), (1e6, 1.0)] {
            for passes in [3, 300] {
                let given = with(&form, &json!({"gamma": gamma, "c": c, "passes": passes}));
                let fit = fit(name, &given, &data).unwrap();
                assert_holds(&fit, &data, &format!("{name} {given}"));
            }
        }
    }
}

/// Kernels of products grow with the rows, and with them the error of single precision.
#[test]
fn certificates_hold_where_columns_are_not_scaled() {
    let mut points = balanced(2);
    points.x.iter_mut().for_each(|x| x.iter_mut().zip([1.0, 30.0, 1000.0, 1.0]).for_each(|(x, s)| *x *= s));
    let data = points.data();
    for (name, form, _) in forms().into_iter().filter(|form| form.2 == 2) {
        for kernel in [json!({"kernel": "linear"}), json!({"kernel": "poly", "degree": 2, "gamma": 1e-4})] {
            let given = with(&with(&form, &kernel), &json!({"passes": 300}));
            let fit = fit(name, &given, &data).unwrap();
            assert_holds(&fit, &data, &format!("{name} {given}"));
        }
    }
}

/// A line separates them; a wide Gaussian makes a plane of it that is hard to see.
#[test]
fn hard_margins_and_shares_are_found_under_wide_kernels() {
    let points = common::separable(40, 2, 3);
    let data = points.data();
    for gamma in [1e-8, 1e-6, 1e-4] {
        for form in [json!({"slack": "none"}), json!({"nu": 0.2})] {
            let given = with(&form, &json!({"gamma": gamma}));
            let fit = fit("svm", &given, &data).unwrap();
            assert_eq!(fit.report.status, Status::Converged, "{given}");
            assert_holds(&fit, &data, &format!("{given}"));
            assert!(form["nu"] != Value::Null || fit.report.train_accuracy == Some(1.0), "{given}");
        }
    }
}

/// Ten variables, of which those of equal rows hold each other: one at a time they would creep.
#[test]
fn contradictions_do_not_creep_without_a_free_bias() {
    let points = Points {
        x: (0..200).map(|i| vec![f64::from(i % 5)]).collect(),
        y: (0..200).map(|i| usize::from((i / 5) % (2 + i % 5) == 0)).collect(),
        classes: 2,
    };
    let data = points.data();
    for bias in ["free", "regularized", "none"] {
        for slack in ["linear", "squared"] {
            for c in [1e4, 1e6] {
                let given = json!({"bias": bias, "slack": slack, "c": c, "gamma": 0.5});
                let fit = fit("svm", &given, &data).unwrap();
                assert_eq!(fit.report.status, Status::Converged, "{given} {:?}", fit.report);
                assert_holds(&fit, &data, &format!("{given}"));
            }
        }
    }
}

#[test]
fn opposite_labels_on_equal_rows() {
    let same = Points { x: vec![vec![1.0, 0.0]; 8], y: vec![0, 1, 0, 1, 0, 1, 0, 1], classes: 2 }.data();
    for (name, form, _) in forms().into_iter().filter(|form| form.2 == 2) {
        assert_eq!(fit(name, &form, &same).unwrap().report.status, Status::Converged, "{name} {form}");
    }
    let error = fit("svm", &json!({"slack": "none"}), &same).unwrap_err().to_string();
    assert!(error.contains("separates"), "{error}");
}

fn go_on(name: &str, given: &Value, data: &Dataset<'_>, start: &Fit) -> Result<Report, Error> {
    let task = Task { start: Some(&start.model), ..Task::new(data) };
    Ok(learner(name, given, None).learn(&task, &mut ())?.report)
}

#[test]
fn a_warm_start_needs_fewer_rounds() {
    let points = noisy(2, 400, 4, 12).data();
    let svm = |c: f64| json!({"gamma": 0.5, "c": c});
    let first = fit("svm", &svm(1.0), &points).unwrap();
    let cold = fit("svm", &svm(1.1), &points).unwrap().report;
    let warm = go_on("svm", &svm(1.1), &points, &first).unwrap();
    assert_eq!(warm.status, Status::Converged);
    assert!((warm.dual.unwrap() - cold.dual.unwrap()).abs() <= 1e-3 * cold.dual.unwrap());
    let refused = go_on("svm", &svm(1.1), &noisy(2, 400, 4, 13).data(), &first);
    assert!(refused.unwrap_err().to_string().contains("made of other rows"));
}

/// Of all formulations, and where many rows are copies of others.
#[test]
fn a_run_that_was_cut_short_goes_on() {
    for (cols, copies) in [(8, false), (3, true)] {
        for (name, form, k) in forms() {
            // So few rows at a time that many rounds are needed; copies are one but for all classes at once.
            let merged = copies && form["multiclass"] != "native";
            let cache = if merged { 40_000 } else { 100_000 };
            let given = with(&form, &json!({"gamma": 0.5, "gap": 1e-4, "cache": cache}));
            let data = noisy(k, 500, cols, 12).data();
            let whole = fit(name, &given, &data).unwrap();
            let part = fit(name, &with(&given, &json!({"passes": 2})), &data).unwrap();
            let what = format!("{name} {form} {cols}");
            let before = &whole.report;
            assert_eq!((before.status, part.report.status), (Status::Converged, Status::PassLimit), "{what}");
            let resumed = go_on(name, &given, &data, &part).unwrap();
            assert_eq!(resumed.status, Status::Converged, "{what}");
            let (a, b) = (resumed.primal.unwrap(), before.primal.unwrap());
            assert!((a - b).abs() <= 1e-4 * b, "{what}: {a} is not {b}");
            // Nothing is left to do at the end, which shows that the start is taken.
            let again = go_on(name, &given, &data, &whole).unwrap();
            assert!(
                2 * again.n_passes() <= before.n_passes(),
                "{what}: {}, {}",
                again.n_passes(),
                before.n_passes()
            );
            assert!(again.gap.unwrap() <= 1e-4, "{what}");
            let Body::Kernel(expansion) = &whole.model.body else { panic!("{what}") };
            // Where all rows are support vectors, none are counted.
            let distinct = before.support_vectors.map_or(data.n_rows(), |rows| rows as usize);
            assert!(!merged || expansion.len() < distinct, "{what}: no copies");
        }
    }
}

/// Two classes at once have one plane, a share of rows its own sums, and another scheme other planes.
#[test]
fn every_scheme_goes_on_from_its_own_solution() {
    let ways = [
        (json!({"multiclass": "native", "bias": "none"}), 2),
        (json!({"nu": 0.2}), 2),
        (json!({"slack": "none", "gamma": 2.0}), 2),
        (json!({"multiclass": "ovr"}), 3),
    ];
    for (form, k) in ways {
        let points = if form["slack"] == "none" { common::apart(k, 300, 5, 7) } else { noisy(k, 300, 5, 7) };
        let (data, given) = (points.data(), with(&json!({"gamma": 0.5, "cache": 60_000}), &form));
        let whole = fit("svm", &given, &data).unwrap();
        let again = go_on("svm", &given, &data, &whole).unwrap();
        let (before, after) = (whole.report.n_passes(), again.n_passes());
        assert!(again.status == Status::Converged && 2 * after <= before, "{given}: {before}, {after}");
    }
    let data = noisy(3, 100, 5, 7).data();
    let each = fit("svm", &json!({"multiclass": "ovr"}), &data).unwrap();
    let refused = go_on("svm", &json!({"multiclass": "ovo"}), &data, &each).unwrap_err().to_string();
    assert!(refused.contains("a plane for each class: add --multiclass ovr"), "{refused}");
}

/// To the end, with rows left out and taken in again, and scores made anew.
#[test]
fn whole_runs_are_the_same_on_any_number_of_threads() {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for (form, k) in [(json!({"c": 500.0}), 2), (json!({"c": 50.0, "multiclass": "ovo"}), 4)] {
        let data = noisy(k, 2000, 6, 21).data();
        let given = with(&json!({"gamma": 0.2, "cache": 2_000_000}), &form);
        let bytes = |n| pool(n).install(|| fit("svm", &given, &data).unwrap().to_bytes().unwrap());
        let one = bytes(1);
        assert!([2, 3].into_iter().all(|n| bytes(n) == one), "{given}");
    }
}

#[test]
fn a_time_limit_returns_a_usable_model() {
    for (name, form, k) in forms() {
        let data = noisy(k, 1000, 6, 3).data();
        let given = with(&form, &json!({"gamma": 0.5, "time_limit": 1e-9}));
        let cut = fit(name, &given, &data).unwrap();
        assert_eq!(cut.report.status, Status::TimeLimit, "{name} {form}");
        let (primal, dual, gap) =
            (cut.report.primal.unwrap(), cut.report.dual.unwrap(), cut.report.gap.unwrap());
        assert!(primal > dual && gap > 1e-3 && primal.is_finite(), "{name} {form}: {primal} {dual} {gap}");
        assert!(!cut.report.diagnosis.is_empty());
        assert_eq!(Fit::from_bytes(&cut.to_bytes().unwrap()).unwrap(), cut, "{name} {form}");
        let right = cut.model.predict(data.x()).unwrap().iter().zip(data.y()).filter(|(a, b)| a == b).count();
        assert!(right * k > data.n_rows(), "{name} {form}: {right} are right");
        let unlimited = with(&form, &json!({"gamma": 0.5}));
        assert_eq!(go_on(name, &unlimited, &data, &cut).unwrap().status, Status::Converged, "{name} {form}");
    }
}
