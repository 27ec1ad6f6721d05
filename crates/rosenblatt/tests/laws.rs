//! Laws every learner obeys, run over the registry.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Case, Points, classes, for_each_case, for_each_online_case, label, noisy};
use rosenblatt::{
    Bias, Body, Dataset, Dense, Example, Fit, Learner, Multiclass, Order, PassiveAggressive, Perceptron, Rng,
    Status,
};
use serde_json::{Value, json};

fn bytes(fit: &Fit) -> Vec<u8> {
    fit.to_bytes().unwrap()
}

/// Counts and model; not the fingerprint of the data, nor the parameters.
fn assert_same(a: &Fit, b: &Fit, what: &str) {
    assert_eq!(a.model, b.model, "{what}");
    assert_eq!((a.report.mistakes, a.report.updates), (b.report.mistakes, b.report.updates), "{what}");
    assert_eq!((&a.report.passes, a.report.status), (&b.report.passes, b.report.status), "{what}");
}

#[test]
fn sparse_is_dense() {
    for_each_case(|case, points, what| {
        let given = json!({"passes": 5});
        let dense = case.fit(&given, &points.data());
        let sparse = case.fit(&given, &points.labelled(points.sparse::<f64>()));
        assert_same(&dense, &sparse, what);
        assert_eq!(dense.report.data.hash, sparse.report.data.hash);
        let x = (points.dense::<f64>(), points.sparse::<f64>());
        assert_eq!(dense.model.scores(&x.0), dense.model.scores(&x.1), "{what}");
    });
}

#[test]
fn single_is_double_where_values_are_exact() {
    for_each_case(|case, points, what| {
        let given = json!({"passes": 5});
        let double = case.fit(&given, &points.data());
        let single = case.fit(&given, &points.labelled(points.dense::<f32>()));
        let sparse = case.fit(&given, &points.labelled(points.sparse::<f32>()));
        assert_same(&single, &sparse, what);
        assert_eq!(double.report.passes, single.report.passes, "{what}");
        assert_eq!(double.model.body.planes(), single.model.body.planes(), "{what}");
        let x = points.dense::<f64>();
        assert_eq!(double.model.scores(&x), single.model.scores(&x), "{what}");
        assert_eq!(double.model.scores(&x), double.model.scores(&points.dense::<f32>()), "{what}");
    });
}

fn without_pocket(case: &Case) -> Value {
    let mut given = json!({"passes": 4, "order": "cyclic"});
    if case.given.contains_key("pocket") {
        given["pocket"] = json!(false);
    }
    given
}

#[test]
fn weight_is_repetition() {
    for_each_online_case(|case, points, what| {
        let given = without_pocket(case);
        let mut rng = Rng::new(3);
        let mut counts: Vec<usize> = points.y.iter().map(|_| rng.below(4) as usize).collect();
        counts.iter_mut().rev().take(points.classes).for_each(|count| *count += 1);
        let weights = counts.iter().map(|&count| count as f64).collect();
        let weighted = case.fit(&given, &points.data().with_weights(weights).unwrap());
        let repeated = case.fit(&given, &points.repeated(&counts).data());
        assert_same(&weighted, &repeated, what);
        assert_eq!(weighted.report.train_accuracy, repeated.report.train_accuracy, "{what}");
    });
}

#[test]
fn class_weights_are_sample_weights() {
    for_each_case(|case, points, what| {
        if !case.has("class_weight") {
            return;
        }
        let weight = |class: usize| [2.0, 0.5, 1.0, 3.0, 1.25][class];
        let each: serde_json::Map<String, Value> =
            (0..points.classes).map(|c| (label(c), json!(weight(c)))).collect();
        let by_class = case.fit(&json!({"passes": 4, "class_weight": {"each": each}}), &points.data());
        let weights = points.y.iter().map(|&c| weight(c)).collect();
        let by_row = case.fit(&json!({"passes": 4}), &points.data().with_weights(weights).unwrap());
        assert_same(&by_class, &by_row, what);
    });
}

#[test]
fn balanced_weights_give_each_class_the_same_mass() {
    let points = noisy(3, 60, 5, 4);
    let n = points.y.len() as f64;
    let count = |c: usize| points.y.iter().filter(|&&y| y == c).count() as f64;
    let weights = points.y.iter().map(|&c| n / (3.0 * count(c))).collect();
    let learner = Perceptron { pocket: false, passes: 3, ..Perceptron::default() };
    let by_row = learner.fit(&points.data().with_weights(weights).unwrap(), &mut ()).unwrap();
    let balanced = Perceptron { class_weight: Some(rosenblatt::ClassWeight::Balanced), ..learner };
    assert_same(&balanced.fit(&points.data(), &mut ()).unwrap(), &by_row, "balanced");
}

#[test]
fn two_classes_need_no_reduction() {
    let points = noisy(2, 40, 6, 1);
    for case in common::online_cases().iter().filter(|case| case.given["multiclass"] == "native") {
        for passes in [1, 6] {
            let fit = |scheme| case.fit(&json!({"passes": passes, "multiclass": scheme}), &points.data());
            let native = fit("native");
            assert_same(&native, &fit("ovr"), &case.name());
            assert_same(&native, &fit("ovo"), &case.name());
        }
    }
    for case in common::batch_cases().iter().filter(|case| case.has("multiclass")) {
        let points = case.points(2, 40, 6, 1);
        let fit = |scheme| case.fit(&json!({"multiclass": scheme}), &points.data());
        assert_same(&fit("ovr"), &fit("ovo"), &case.name());
    }
}

/// A row of zeros without a bias is a mistake that moves nothing: it counts alike in a problem by itself and in a reduction.
#[test]
fn mistakes_without_updates_count_in_reductions() {
    let points = Points::of(&[([1.0, 0.0], 1), ([0.0, 1.0], 0), ([0.0, 0.0], 1)]);
    let fit = |multiclass| {
        let learner = PassiveAggressive { bias: Bias::None, multiclass, ..PassiveAggressive::default() };
        learner.fit(&points.data(), &mut ()).unwrap()
    };
    let native = fit(Multiclass::Native);
    let last = native.report.passes.last().unwrap();
    assert_eq!((native.report.status, last.mistakes), (Status::Converged, 1));
    assert_same(&native, &fit(Multiclass::Ovr), "ovr");
    assert_same(&native, &fit(Multiclass::Ovo), "ovo");
}

#[test]
fn save_load_same_bits() {
    for_each_case(|case, points, what| {
        let names = (0..points.cols()).map(|j| format!("f{j}")).collect();
        let data = points.data().with_names(names).unwrap();
        let fit = case.fit(&json!({"passes": 3}), &data);
        let saved = bytes(&fit);
        let loaded = Fit::from_bytes(&saved).unwrap();
        assert_eq!(loaded, fit, "{what}");
        assert_eq!(bytes(&loaded), saved, "{what}");
        let x = points.sparse::<f32>();
        assert_eq!(loaded.model.scores(&x), fit.model.scores(&x), "{what}");
        assert_eq!(loaded.model.predict(&x), fit.model.predict(&x), "{what}");
    });
}

/// The largest values that are accepted: what is not a number must not get into a file, where it would come back as nothing.
#[test]
fn huge_values_are_saved_too() {
    let points = Points::of(&[([1e150, 1.0], 0), ([-1e150, 2.0], 1), ([3.0, -1e140], 0)]);
    for case in common::cases().iter().filter(|case| case.algorithm.name != "winnow") {
        let fit = match case.learner(&json!({"passes": 5})).fit(&points.data(), &mut ()) {
            Ok(fit) => fit,
            // Without a free bias no plane is even a millionth of a row's length away from all.
            Err(_) if case.name().contains("hard-margin") && case.given.contains_key("bias") => continue,
            // Some values are negative.
            Err(_) if case.given.get("distribution") == Some(&json!("multinomial")) => continue,
            Err(error) if case.has("kernel") || case.has("hidden") => {
                assert!(error.to_string().contains("do not fit single precision"), "{error}");
                continue;
            }
            Err(error) => panic!("{}: {error}", case.name()),
        };
        assert_eq!(Fit::from_bytes(&bytes(&fit)).unwrap(), fit, "{}", case.name());
    }
}

#[test]
fn one_thread_is_two_threads() {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    for case in common::law_cases() {
        // More rows than one block of any parallel loop: 512 when scoring, 4096 when filling a pocket.
        // A certificate sums over blocks of 16384.
        let rows = match (case.algorithm.name, case.algorithm.online) {
            ("perceptron", _) => 5000,
            (_, true) => 1200,
            // A matrix of all with all.
            _ if case.is_precomputed() => 700,
            (_, false) => 20_000,
        };
        for k in [2, 4] {
            let (data, holdout) = (case.points(k, rows, 6, 8).data(), noisy(k, 600, 6, 9).data());
            let learner = case.learner(&json!({"passes": 2}));
            let holdout = (!case.is_precomputed()).then_some(&holdout);
            let task = rosenblatt::Task { holdout, ..rosenblatt::Task::new(&data) };
            let fit = || bytes(&learner.learn(&task, &mut ()).unwrap());
            assert_eq!(one.install(fit), two.install(fit), "{}", case.name());
        }
    }
}

#[test]
fn same_seed_same_bytes() {
    for_each_online_case(|case, points, what| {
        for order in ["shuffle", "random"] {
            let fit = |seed: u64| {
                bytes(&case.fit(&json!({"passes": 3, "order": order, "seed": seed}), &points.data()))
            };
            assert_eq!(fit(7), fit(7), "{what}");
        }
    });
    for case in common::batch_cases().into_iter().chain(common::other_cases()) {
        let fit = || bytes(&case.fit(&json!({"passes": 3, "seed": 7}), &case.points(3, 60, 6, 1).data()));
        assert_eq!(fit(), fit(), "{}", case.name());
    }
    let model = |seed| {
        let learner = Perceptron { seed, pocket: false, passes: 3, ..Perceptron::default() };
        learner.fit(&noisy(3, 60, 6, 1).data(), &mut ()).unwrap().model
    };
    assert!((1..6).any(|seed| model(seed) != model(0)), "the seed decides nothing");
}

fn stream_of(case: &Case, given: &Value, points: &Points, passes: usize) -> rosenblatt::Stream {
    let mut stream = case.learner(given).stream_with(classes(points.classes), points.cols()).unwrap();
    for _ in 0..passes {
        for (x, &y) in points.x.iter().zip(&points.y) {
            stream.update(Example::Dense(x), &label(y)).unwrap();
        }
    }
    stream
}

#[test]
fn batch_is_stream() {
    for_each_online_case(|case, points, what| {
        let given = without_pocket(case);
        let batch = case.fit(&given, &points.data());
        assert_eq!(batch.report.status, Status::PassLimit, "{what}: the data is inseparable");
        let stream = stream_of(case, &given, points, 4);
        assert_eq!(stream.model(), batch.model, "{what}");
        let counts = (batch.report.mistakes, batch.report.updates);
        assert_eq!((stream.mistakes(), stream.updates()), counts, "{what}");
        assert_eq!(stream.seen(), 4 * points.y.len() as u64);
    });
}

#[test]
fn trace_is_stream() {
    for_each_online_case(|case, points, what| {
        let given = without_pocket(case);
        let trace = case.learner(&given).trace(&points.data()).unwrap();
        let batch = case.fit(&given, &points.data());
        assert!(!trace.converged);
        assert_eq!(trace.updates, batch.report.updates, "{what}");
        assert_eq!(trace.steps.len(), 4 * points.y.len());
        if let (Body::Linear(planes), true) = (&batch.model.body, !what.contains("averaged")) {
            assert_eq!(trace.steps.last().unwrap().weights.as_ref(), Some(planes), "{what}");
        }
    });
}

#[test]
fn borrowed_is_owned() {
    for_each_case(|case, points, what| {
        let flat: Vec<f64> = points.flat();
        let borrowed = points.labelled(Dense::new(&flat[..], points.cols()).unwrap());
        let given = json!({"passes": 3});
        assert_eq!(case.fit(&given, &borrowed), case.fit(&given, &points.data()), "{what}");
    });
}

#[test]
fn rate_one_half_is_weight_one_half() {
    let points = noisy(3, 40, 6, 2);
    for output in [Perceptron::averaged(), Perceptron { pocket: false, passes: 5, ..Perceptron::default() }] {
        let output = Perceptron { order: Order::Cyclic, ..output };
        let half = Perceptron { learning_rate: 0.5, ..output.clone() };
        let data: Dataset<'_> = points.data().with_weights(vec![0.5; points.y.len()]).unwrap();
        let (a, b) = (output.fit(&data, &mut ()).unwrap(), half.fit(&points.data(), &mut ()).unwrap());
        assert_same(&a, &b, "half");
    }
}
