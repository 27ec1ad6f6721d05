//! How runs end and what they keep: pocket, held-out rows, limits, confirmation, the mistake bound.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::ops::ControlFlow;

use common::{Points, noisy, separable};
use proptest::prelude::*;
use rosenblatt::{
    Audit, Bias, Dataset, Init, Learner, Matrix, Model, Multiclass, Order, Perceptron, Planes, Progress,
    Status, Task, Tie, Watch, weighted_accuracy,
};

fn accuracy(model: &Model, data: &Dataset<'_>) -> f64 {
    weighted_accuracy(&model.predict(data.x()).unwrap(), data)
}

fn last(learner: &Perceptron) -> Perceptron {
    Perceptron { pocket: false, ..learner.clone() }
}

#[test]
fn the_pocket_is_never_worse_than_the_end_of_any_pass() {
    for (k, multiclass) in [(2, Multiclass::Native), (4, Multiclass::Native)] {
        for order in [Order::Cyclic, Order::Shuffle, Order::Random] {
            for seed in 0..4 {
                let data = noisy(k, 80, 5, seed).data();
                let learner = Perceptron { passes: 12, order, seed, multiclass, ..Perceptron::default() };
                let fit = learner.fit(&data, &mut ()).unwrap();
                assert_eq!(fit.report.train_accuracy, Some(accuracy(&fit.model, &data)));
                for passes in 1..=12 {
                    let end = Perceptron { passes, ..last(&learner) }.fit(&data, &mut ()).unwrap();
                    assert!(fit.report.train_accuracy >= Some(accuracy(&end.model, &data)));
                }
            }
        }
    }
}

#[test]
fn the_pocket_counts_by_weight() {
    let points = Points::of(&[([1.0], 1), ([1.0], 0), ([1.0], 0), ([-1.0], 1)]);
    let fit = |weights: Vec<f64>| {
        let data = points.data().with_weights(weights).unwrap();
        Perceptron { passes: 30, ..Perceptron::default() }.fit(&data, &mut ()).unwrap().report.train_accuracy
    };
    assert_eq!(fit(vec![7.0, 1.0, 1.0, 1.0]), Some(0.8));
    assert_eq!(fit(vec![1.0, 4.0, 4.0, 1.0]), Some(0.9));
}

#[test]
fn a_converged_pocket_is_the_last() {
    let data = separable(40, 3, 2).data();
    let learner = Perceptron { passes: 1000, ..Perceptron::default() };
    let (kept, end) = (learner.fit(&data, &mut ()).unwrap(), last(&learner).fit(&data, &mut ()).unwrap());
    assert_eq!((kept.report.status, kept.report.train_accuracy), (Status::Converged, Some(1.0)));
    assert_eq!(accuracy(&end.model, &data), 1.0);
}

#[test]
fn held_out_rows_choose_the_pass() {
    for k in [2, 3] {
        let (data, holdout) = (noisy(k, 80, 5, 1).data(), noisy(k, 80, 5, 2).data());
        let learner = Perceptron { pocket: false, passes: 10, ..Perceptron::default() };
        let task = Task { holdout: Some(&holdout), ..Task::new(&data) };
        let fit = learner.learn(&task, &mut ()).unwrap();
        let held: Vec<f64> = fit.report.passes.iter().map(|pass| pass.holdout_accuracy.unwrap()).collect();
        let best = held.iter().copied().fold(0.0, f64::max);
        let first = held.iter().position(|&accuracy| accuracy == best).unwrap() + 1;
        assert_eq!((fit.report.best_pass, fit.report.holdout_accuracy), (Some(first), Some(best)));
        let same = Perceptron { passes: first, ..learner }.fit(&data, &mut ()).unwrap();
        assert_eq!(same.model, fit.model);
        assert_eq!(fit.report.train_accuracy, Some(accuracy(&fit.model, &data)));
        assert_eq!(fit.report.passes[first - 1].train_accuracy, fit.report.train_accuracy);
    }
}

/// Stops at its `calls`-th call, and remembers what it saw.
struct Stopper {
    calls: usize,
    seen: Vec<Progress>,
}

impl Watch for Stopper {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.seen.push(*progress);
        if self.seen.len() >= self.calls { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_interrupt_returns_a_usable_model() {
    let points = noisy(3, 5000, 4, 1);
    for case in common::online_cases() {
        let mut stopper = Stopper { calls: 4, seen: Vec::new() };
        let data = points.data();
        let fit = case.learner(&serde_json::json!({"passes": 50})).fit(&data, &mut stopper).unwrap();
        assert_eq!(fit.report.status, Status::Interrupted, "{}", case.name());
        assert!(stopper.seen.len() >= 4 && fit.report.passes.len() <= 2);
        assert!(fit.model.predict(data.x()).unwrap().iter().all(|&class| class < 3));
        assert!(fit.to_bytes().is_ok());
    }
}

#[test]
fn an_interrupted_solver_says_how_far_it_is() {
    for case in common::batch_cases() {
        let data = case.points(3, 5000, 4, 1).data();
        let mut stopper = Stopper { calls: 1, seen: Vec::new() };
        let fit = case.learner(&serde_json::json!({"gap": 1e-9})).fit(&data, &mut stopper).unwrap();
        assert_eq!(fit.report.status, Status::Interrupted, "{}", case.name());
        // A hard margin may know no plane without errors yet.
        let hard = case.algorithm.name == "hard-margin";
        let primal = fit.report.primal.or(hard.then_some(f64::INFINITY)).unwrap();
        assert!(primal > fit.report.dual.unwrap() && fit.report.gap.unwrap() > 1e-9, "{}", case.name());
        assert!(fit.to_bytes().is_ok());
    }
}

#[test]
fn a_time_limit_returns_a_usable_model() {
    let data = noisy(2, 3000, 4, 1).data();
    let learner = Perceptron { passes: usize::MAX, time_limit: Some(0.05), ..Perceptron::default() };
    let fit = learner.fit(&data, &mut ()).unwrap();
    assert_eq!(fit.report.status, Status::TimeLimit);
    assert!(fit.report.train_accuracy > Some(0.5));
}

#[test]
fn progress_ends_where_it_says() {
    for (multiclass, problems) in [(Multiclass::Native, 1), (Multiclass::Ovr, 4), (Multiclass::Ovo, 6)] {
        let data = noisy(4, 3000, 4, 1).data();
        let mut stopper = Stopper { calls: usize::MAX, seen: Vec::new() };
        let learner = Perceptron { multiclass, passes: 3, ..Perceptron::default() };
        let fit = learner.fit(&data, &mut stopper).unwrap();
        assert_eq!(fit.report.status, Status::PassLimit);
        for pass in 1..=3 {
            let visited = stopper.seen.iter().filter(|p| p.pass == pass).map(|p| p.visited).max();
            assert_eq!(visited, Some(problems * data.n_rows() as u64));
            assert!(
                stopper.seen.iter().all(|p| p.visits == problems * data.n_rows() as u64 && p.passes == 3)
            );
        }
        assert_eq!(stopper.seen.last().unwrap().last_mistakes, Some(fit.report.passes[1].mistakes));
    }
}

#[test]
fn random_draws_converge_only_when_confirmed() {
    let data = separable(25, 3, 7).data();
    for seed in 0..20 {
        let learner =
            Perceptron { order: Order::Random, passes: 2000, seed, pocket: false, ..Perceptron::default() };
        let fit = learner.fit(&data, &mut ()).unwrap();
        assert_eq!((fit.report.status, accuracy(&fit.model, &data)), (Status::Converged, 1.0));
        let quiet = |at: usize| fit.report.passes[fit.report.passes.len() - at].updates == 0;
        assert!(quiet(1) && quiet(2), "a quiet pass, and one over all rows that confirms it");
        let shorter = Perceptron { passes: fit.report.passes.len() - 1, ..learner.clone() };
        assert_eq!(shorter.fit(&data, &mut ()).unwrap().report.status, Status::PassLimit);
        let trace = learner.trace(&data).unwrap();
        assert_eq!((trace.converged, trace.updates), (true, fit.report.updates));
    }
}

fn separator(data: &Dataset<'_>, bias: Bias) -> Planes {
    let learner = Perceptron { bias, tie: Tie::Mistake, passes: 100_000, ..Perceptron::default() };
    let fit = learner.fit(data, &mut ()).unwrap();
    assert_eq!(fit.report.status, Status::Converged);
    fit.model.body.planes().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_mistake_bound_holds(seed in 0u64..10_000, rows in 5usize..60, cols in 1usize..6) {
        let data = separable(rows, cols, seed).data();
        for bias in [Bias::None, Bias::Free] {
            let u = separator(&data, bias);
            for tie in [Tie::Negative, Tie::Positive, Tie::Mistake] {
                for order in [Order::Cyclic, Order::Shuffle, Order::Random] {
                    let learner = Perceptron { bias, tie, order, seed, passes: 100_000, ..Perceptron::default() };
                    let audit = Audit::replay(&learner, &data, &u).unwrap();
                    prop_assert!(audit.holds && audit.steps.iter().all(|step| step.holds));
                    prop_assert!(audit.mistakes as f64 <= audit.bound * (1.0 + 1e-9));
                    let fit = learner.fit(&data, &mut ()).unwrap();
                    let run = (fit.report.mistakes, fit.report.passes.len());
                    prop_assert_eq!((audit.mistakes, audit.passes), run);
                    if let Some(bound) = fit.report.mistake_bound {
                        prop_assert!(fit.report.mistakes as f64 <= bound * (1.0 + 1e-9));
                    }
                }
            }
        }
    }
}

#[test]
fn there_is_no_bound_without_a_separator() {
    let data = separable(20, 3, 1).data();
    let u = separator(&data, Bias::None);
    let learner = Perceptron { bias: Bias::None, ..Perceptron::default() };
    let replay = |planes: &Planes, data: &Dataset<'_>| Audit::replay(&learner, data, planes);
    let against = Planes::from_parts(u.normal(0).iter().map(|w| -w).collect(), vec![0.0], false).unwrap();
    for bad in [against, Planes::zeros(1, 3, false)] {
        let error = replay(&bad, &data).unwrap_err().to_string();
        assert!(error.contains("does not separate"), "{error}");
    }
    assert!(replay(&Planes::zeros(1, 4, false), &data).is_err(), "another width");
    assert!(replay(&Planes::zeros(3, 3, false), &data).is_err(), "three planes");
    assert!(replay(&u, &data.clone().with_weights(vec![2.0; data.n_rows()]).unwrap()).is_err());
    let random = Perceptron { init: Init::Random, ..learner.clone() };
    assert!(Audit::replay(&random, &data, &u).is_err(), "the proof starts at zero");
    assert!(replay(&u, &noisy(3, 20, 3, 1).data()).is_err(), "three classes");
}

/// Parts of a visit count as whole mistakes but move less: no bound is claimed for them.
#[test]
fn fractional_weights_have_no_bound() {
    let data = separable(20, 3, 1).data();
    let bound = |weight: f64| {
        let data = data.clone().with_weights(vec![weight; data.n_rows()]).unwrap();
        let learner = Perceptron { passes: 10_000, ..Perceptron::default() };
        learner.fit(&data, &mut ()).unwrap().report.mistake_bound
    };
    assert!(bound(1.0).is_some() && bound(3.0).is_some());
    assert_eq!(bound(0.01), None);
}

#[test]
fn geometry_of_a_known_plane() {
    let points = Points::of(&[([3.0, 4.0], 1), ([-3.0, 0.0], 0), ([1.0, 1.0], 1)]);
    let planes = Planes::from_parts(vec![3.0, 4.0], vec![-5.0], true).unwrap();
    let x: Matrix<'_> = points.dense::<f64>();
    assert_eq!(planes.unit_normal(0), Some(vec![0.6, 0.8]));
    assert_eq!(planes.signed_distance(0, &x, 0), Some(4.0));
    assert_eq!(planes.signed_distance(0, &x, 1), Some(-2.8));
    assert_eq!(rosenblatt::radius(&x, false), 5.0);
    assert_eq!(rosenblatt::radius(&x, true), 26f64.sqrt());
    let body = rosenblatt::Body::Linear(planes);
    let decision = rosenblatt::Decision::Sign(Tie::Negative);
    let geometry = rosenblatt::Geometry::of(&body, decision, &points.data()).unwrap();
    assert_eq!((geometry.norm, geometry.margin), (5.0, Some(0.4)));
    assert_eq!(geometry.lifted_margin, Some(2.0 / 50f64.sqrt()));
}

/// Planes of three classes, of which the highest wins: distances are those from the boundaries between two of them.
#[test]
fn geometry_of_several_planes() {
    let points = Points::of(&[([3.0, 0.0], 0), ([0.0, 2.0], 1), ([-4.0, -4.0], 2)]);
    // w₀ = (1, 0), w₁ = (0, 1), w₂ = (0, 0) with b₂ = −1
    let planes = Planes::from_parts(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], vec![0.0, 0.0, -1.0], true).unwrap();
    let body = rosenblatt::Body::Linear(planes);
    let geometry = rosenblatt::Geometry::of(&body, rosenblatt::Decision::Highest, &points.data()).unwrap();
    // (0, 2) leads over class 0 by 2, and their planes are √2 apart; over class 2 by 3, 1 apart. All others lead by more.
    assert_eq!(geometry.margin, Some(2.0 / 2f64.sqrt()));
    assert_eq!((geometry.norm, geometry.lifted_margin), (2f64.sqrt(), None));
    assert_eq!(geometry.radius, 33f64.sqrt());
    // A plane for each class, and one for the second of two: the same distances.
    let pair = separable(60, 3, 5).data();
    let one = rosenblatt::LinearSvm::default().fit(&pair, &mut ()).unwrap();
    let Some(plane) = one.model.body.planes() else { panic!("a plane") };
    let (w, b) = (plane.normal(0), plane.bias()[0]);
    let both = w.iter().flat_map(|w| [-0.5 * w, 0.5 * w]).collect();
    let both = Planes::from_parts(both, vec![-0.5 * b, 0.5 * b], true).unwrap();
    let both = rosenblatt::Body::Linear(both);
    let two = rosenblatt::Geometry::of(&both, rosenblatt::Decision::Highest, &pair).unwrap();
    assert!((two.margin.unwrap() - one.report.margin.unwrap()).abs() <= 1e-12);
}

#[test]
fn support_vector_machines_tell_their_corridor() {
    let fit = |name: &str, given: serde_json::Value, data: &Dataset<'_>| {
        let row = rosenblatt::registry::algorithm(name).unwrap();
        row.learner(given.as_object().unwrap()).unwrap().fit(data, &mut ()).unwrap().report
    };
    let pair = separable(80, 3, 4).data();
    // At the widest margin the nearest rows are on the edges.
    let hard = fit("hard-margin", serde_json::json!({ "gap": 1e-9 }), &pair);
    assert!((hard.corridor.unwrap() - 2.0 * hard.margin.unwrap()).abs() <= 1e-6);
    for name in ["linear-svm", "crammer-singer", "subgradient", "pegasos", "svm"] {
        let report = fit(name, serde_json::json!({}), &pair);
        let width = report.corridor.unwrap();
        assert!(width.is_finite() && width > 0.0 && report.support_vectors.is_some(), "{name}");
    }
    for name in ["logistic", "kernel-logistic", "perceptron"] {
        let report = fit(name, serde_json::json!({}), &pair);
        assert_eq!((report.corridor, report.support_vectors), (None, None), "{name}");
    }
    let three = noisy(3, 90, 4, 6).data();
    for (name, multiclass) in [("linear-svm", "ovr"), ("linear-svm", "ovo"), ("logistic", "ovr")] {
        let report = fit(name, serde_json::json!({ "multiclass": multiclass }), &three);
        assert_eq!(report.corridor, None);
        assert!(
            report.radius.is_some() && report.margin.is_some() == (multiclass == "ovr"),
            "{name} {multiclass}"
        );
        let sum = |of: fn(&rosenblatt::SubProblem) -> Option<f64>| -> f64 {
            report.problems.iter().map(|problem| of(problem).unwrap()).sum()
        };
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
        assert!(close(sum(|problem| problem.primal), report.primal.unwrap()), "{name} {multiclass}");
        assert!(close(sum(|problem| problem.dual), report.dual.unwrap()), "{name} {multiclass}");
        let vectors: Option<u64> = report.problems.iter().map(|problem| problem.support_vectors).sum();
        assert_eq!(vectors, report.support_vectors);
        assert!(report.problems.iter().all(|problem| problem.slacks.is_some()));
    }
    for name in ["crammer-singer", "logistic", "perceptron"] {
        let report = fit(name, serde_json::json!({}), &three);
        assert!(report.margin.unwrap() < 0.0 && report.radius.is_some(), "{name}");
    }
}
