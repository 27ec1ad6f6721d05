//! Networks: what planes cannot do, and how training begins, goes on and ends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::ops::ControlFlow;

use common::{Points, assert_close, noisy};
use rosenblatt::{
    Activation, Body, Error, Fit, Learner, Matrix, Network, Optimizer, Progress, Status, Task, Verifier,
    Watch,
};

fn xor() -> Points {
    Points::of(&[([0.0, 0.0], 0), ([1.0, 1.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 1)])
}

/// Two spirals would take longer: rings around each other are enough to see a bent boundary.
fn rings(rows: usize, seed: u64) -> Points {
    let mut rng = rosenblatt::Rng::new(seed);
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 3 };
    for i in 0..rows {
        let (class, angle) = (i % 3, std::f64::consts::TAU * rng.uniform());
        let radius = class as f64 + 0.6 + 0.25 * rng.normal().clamp(-1.0, 1.0);
        points.push(&[radius * angle.cos(), radius * angle.sin()], class);
    }
    points
}

#[test]
fn it_learns_xor() {
    for (activation, optimizer) in [
        (Activation::Relu, Optimizer::Adam),
        (Activation::Tanh, Optimizer::Adam),
        (Activation::Logistic, Optimizer::Momentum),
        (Activation::Tanh, Optimizer::Momentum),
    ] {
        for (hidden, seed) in [(vec![8], 0), (vec![8], 1), (vec![6, 5], 2)] {
            let (passes, patience) = (3000, 3000);
            let learning_rate = (optimizer == Optimizer::Adam).then_some(0.02);
            let network = Network {
                hidden,
                activation,
                optimizer,
                learning_rate,
                passes,
                patience,
                seed,
                ..Network::default()
            };
            let fit = network.fit(&xor().data(), &mut ()).unwrap();
            assert_eq!(fit.report.train_accuracy, Some(1.0), "{network:?}");
            let p = fit.model.probabilities(&fit.model.scores(&xor().dense::<f32>()).unwrap()[..1]).unwrap();
            assert!(p[0] > 0.5);
        }
    }
}

#[test]
fn rings_are_told_apart() {
    let (train, test) = (rings(600, 1).data(), rings(300, 2).data());
    for hidden in [vec![30], vec![20, 10]] {
        let network = Network { hidden, passes: 60, ..Network::default() };
        let fit = network.fit(&train, &mut ()).unwrap();
        let right = rosenblatt::weighted_accuracy(&fit.model.predict(test.x()).unwrap(), &test);
        assert!(right > 0.95, "{network:?}: {right}");
    }
}

#[test]
fn held_out_rows_choose_the_pass_and_the_end() {
    let (data, holdout) = (noisy(3, 120, 6, 1).data(), noisy(3, 80, 6, 1).data());
    let task = Task { holdout: Some(&holdout), ..Task::new(&data) };
    let network = Network { hidden: vec![64], patience: 4, learning_rate: Some(0.01), ..Network::default() };
    let fit = network.learn(&task, &mut ()).unwrap();
    assert_eq!(fit.report.status, Status::Converged);
    let accuracies: Vec<f64> = fit.report.passes.iter().map(|pass| pass.holdout_accuracy.unwrap()).collect();
    let best = fit.report.best_pass.unwrap();
    assert!(accuracies.iter().all(|accuracy| *accuracy <= accuracies[best - 1]));
    assert_eq!(accuracies.len(), best + 4, "four passes after the best, and no more");
    let found = rosenblatt::weighted_accuracy(&fit.model.predict(holdout.x()).unwrap(), &holdout);
    assert_eq!((Some(found), found), (fit.report.holdout_accuracy, accuracies[best - 1]));
    assert_eq!(fit.report.train_accuracy, fit.report.passes[best - 1].train_accuracy);
}

#[test]
fn weights_move_the_boundary() {
    // One feature, both classes at the same place: the prediction goes with the weight.
    let points = Points::of(&[([1.0, 0.0], 0), ([1.0, 0.0], 1), ([0.0, 1.0], 1)]);
    let x = points.dense::<f64>();
    for (weights, expected) in [(vec![3.0, 1.0, 1.0], 0), (vec![1.0, 3.0, 1.0], 1), (vec![1.0, 0.0, 1.0], 0)]
    {
        let data = points.data().with_weights(weights.clone()).unwrap();
        let network = Network { hidden: vec![6], learning_rate: Some(0.05), ..Network::default() };
        let fit = network.fit(&data, &mut ()).unwrap();
        assert_eq!(fit.model.predict(&x).unwrap()[0], expected, "{weights:?}");
    }
}

/// Stops after so many calls.
struct After(usize);

impl Watch for After {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_model() {
    let data = noisy(3, 500, 6, 1).data();
    let network = Network { hidden: vec![10], ..Network::default() };
    let stopped = network.fit(&data, &mut After(7)).unwrap();
    assert_eq!((stopped.report.status, stopped.report.updates), (Status::Interrupted, 7));
    let late = Network { time_limit: Some(1e-9), ..network.clone() }.fit(&data, &mut ()).unwrap();
    assert_eq!((late.report.status, late.report.updates), (Status::TimeLimit, 1));
    let mut primal = stopped.report.primal.unwrap();
    let mut start = stopped.model;
    for _ in 0..3 {
        let task = Task { start: Some(&start), ..Task::new(&data) };
        let fit = Network { passes: 3, ..network.clone() }.learn(&task, &mut ()).unwrap();
        assert_eq!(fit.report.resumed, Some(true));
        assert!(fit.report.primal.unwrap() <= primal);
        (primal, start) = (fit.report.primal.unwrap(), fit.model);
    }
    // Far too large steps do not make it worse.
    let task = Task { start: Some(&start), ..Task::new(&data) };
    let wild = Network { passes: 1, learning_rate: Some(100.0), ..network.clone() };
    let fit = wild.learn(&task, &mut ()).unwrap();
    assert!(fit.report.primal.unwrap() <= primal);
    let other = Network { hidden: vec![11], ..network };
    assert!(matches!(other.learn(&task, &mut ()), Err(Error::Start(why)) if why.contains("6 → 10 relu → 3")));
}

#[test]
fn what_diverges_says_so() {
    let mut points = noisy(2, 60, 4, 1);
    points.x.iter_mut().flatten().for_each(|v| *v *= 1e14);
    let network = Network {
        hidden: vec![50, 50],
        optimizer: Optimizer::Momentum,
        learning_rate: Some(1e6),
        ..Network::default()
    };
    let fit = network.fit(&points.data(), &mut ()).unwrap();
    assert_eq!(fit.report.status, Status::Stalled);
    assert!(fit.report.diagnosis[0].contains("--scale"), "{:?}", fit.report.diagnosis);
    assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit);
    points.x[3][2] = 1e40;
    let error = network.fit(&points.data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("row 4, column 3") && error.contains("single precision"), "{error}");
}

#[test]
fn explanations_are_slopes_and_add_up() {
    let points = noisy(3, 100, 6, 2);
    for (hidden, activation) in [(vec![12], Activation::Logistic), (vec![9, 7], Activation::Tanh)] {
        let fit = Network { hidden, activation, passes: 20, ..Network::default() }
            .fit(&points.data(), &mut ())
            .unwrap();
        for i in 0..5 {
            let why = fit.model.explain(&points.dense::<f64>(), i).unwrap();
            assert!(why.of_slopes);
            let mut sums = why.bias.clone();
            for part in &why.contributions {
                sums.iter_mut().zip(&part.amounts).for_each(|(sum, amount)| *sum += amount);
                // The slope by moving the feature a little.
                let moved = |by: f64| -> Vec<f64> {
                    let mut row = points.x[i].clone();
                    row[part.feature] += by;
                    fit.model.scores(&rosenblatt::Dense::new(row, 6).unwrap().into()).unwrap()
                };
                for ((high, low), slope) in moved(0.01).iter().zip(moved(-0.01)).zip(&part.weights) {
                    assert!(((high - low) / 0.02 - slope).abs() < 0.02 * (1.0 + slope.abs()), "{slope}");
                }
            }
            assert_close(&sums, &why.scores, "sum");
        }
    }
}

#[test]
fn claims_that_are_not_so_are_found() {
    let data = noisy(3, 80, 5, 1).data();
    let network = Network { hidden: vec![7], passes: 5, ..Network::default() };
    let fit = network.fit(&data, &mut ()).unwrap();
    assert!(Verifier::default().verify(&fit, &data, &mut ()).unwrap().holds());
    let verifier = Verifier { replay: false, ..Verifier::default() };
    let mut other = fit.clone();
    other.report.primal = other.report.primal.map(|primal| primal * 1.01);
    assert!(!verifier.verify(&other, &data, &mut ()).unwrap().holds());
    let other = Fit { model: Network { seed: 1, ..network }.fit(&data, &mut ()).unwrap().model, ..fit };
    assert!(!Verifier::default().verify(&other, &data, &mut ()).unwrap().holds());
}

/// Rows that are scored alone have the scores they have among others.
#[test]
fn rows_do_not_know_of_each_other() {
    let points = noisy(4, 700, 9, 3);
    let fit = Network { hidden: vec![20, 6], passes: 3, ..Network::default() }
        .fit(&points.data(), &mut ())
        .unwrap();
    let (x, sparse): (Matrix<'_>, Matrix<'_>) = (points.dense::<f32>(), points.sparse::<f64>());
    let all = fit.model.scores(&x).unwrap();
    assert_eq!(all, fit.model.scores(&sparse).unwrap());
    for i in [0, 23, 24, 239, 240, 700] {
        assert_eq!(fit.model.scores(&x.select(&[i])).unwrap(), all[4 * i..4 * i + 4], "row {i}");
    }
    let Body::Layers(layers) = &fit.model.body else { panic!("a network has layers") };
    assert_eq!((layers.shape().as_str(), layers.n_cols()), ("9 → 20 relu → 6 relu → 4", 9));
}

/// Weights and biases, layer by layer, in double precision.
fn layers_of(fit: &Fit) -> Vec<(Vec<f64>, Vec<f64>)> {
    let Body::Layers(layers) = &fit.model.body else { panic!("a network has layers") };
    let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
    (0..layers.units().len()).filter_map(|l| layers.layer(l)).map(|(w, b)| (wide(w), wide(b))).collect()
}

/// Mean log loss and λ/2·Σw², by the formulas alone.
fn objective(layers: &[(Vec<f64>, Vec<f64>)], network: &Network, points: &Points, weights: &[f64]) -> f64 {
    let mut total = 0.0;
    for ((row, &class), weight) in points.x.iter().zip(&points.y).zip(weights) {
        let mut a = row.clone();
        for (l, (w, b)) in layers.iter().enumerate() {
            let z = |u: usize| b[u] + a.iter().enumerate().map(|(j, a)| a * w[j * b.len() + u]).sum::<f64>();
            let squash = |z: f64| match network.activation {
                _ if l + 1 == layers.len() => z,
                Activation::Relu => z.max(0.0),
                Activation::Tanh => z.tanh(),
                Activation::Logistic => 1.0 / (1.0 + (-z).exp()),
            };
            a = (0..b.len()).map(z).map(squash).collect();
        }
        let scores = if a.len() == 1 { vec![0.0, a[0]] } else { a };
        total += weight * (scores.iter().map(|g| g.exp()).sum::<f64>().ln() - scores[class]);
    }
    let square: f64 = layers.iter().flat_map(|(w, _)| w).map(|w| w * w).sum();
    total / weights.iter().sum::<f64>() + 0.5 * network.lambda * square
}

/// One small plain step over all rows at once shows the gradient: what weights moved by, over η.
#[test]
fn gradients_are_finite_differences() {
    for (hidden, activation, k, columns) in [
        (vec![7], Activation::Tanh, 2, 5),
        (vec![4], Activation::Logistic, 3, 6),
        (vec![20, 9], Activation::Tanh, 4, 60),
        (vec![33, 17], Activation::Relu, 2, 5),
    ] {
        let mut points = noisy(k, 29, columns, 4);
        points.x.iter_mut().flatten().for_each(|v| *v *= 0.5);
        let weights: Vec<f64> = (0..points.y.len()).map(|i| 0.5 + 0.25 * (i % 5) as f64).collect();
        let data = points.data().with_weights(weights.clone()).unwrap();
        let sparse = points.labelled(points.sparse::<f64>()).with_weights(weights.clone()).unwrap();
        let network = Network {
            hidden,
            activation,
            optimizer: Optimizer::Momentum,
            momentum: 0.0,
            learning_rate: Some(0.01),
            batch_size: Some(1000),
            lambda: 0.03,
            passes: 1,
            ..Network::default()
        };
        // Biases begin at 0, and are moved from there first.
        let start =
            Network { passes: 3, learning_rate: Some(0.05), ..network.clone() }.fit(&data, &mut ()).unwrap();
        let task = Task { start: Some(&start.model), ..Task::new(&data) };
        let step = network.learn(&task, &mut ()).unwrap();
        assert!(step.report.primal.unwrap() < start.report.primal.unwrap(), "a small step goes down");
        let of_sparse = network.learn(&Task { data: &sparse, ..task }, &mut ()).unwrap();
        assert_eq!(of_sparse.model, step.model);
        let (before, after) = (layers_of(&start), layers_of(&step));
        let expected = objective(&before, &network, &points, &weights);
        assert!((start.report.primal.unwrap() - expected).abs() < 1e-5, "the objective is what it says");
        for l in 0..before.len() {
            for at in 0..before[l].0.len() + before[l].1.len() {
                fn number(layer: &mut (Vec<f64>, Vec<f64>), at: usize) -> &mut f64 {
                    let n = layer.0.len();
                    if at < n { &mut layer.0[at] } else { &mut layer.1[at - n] }
                }
                let moved = |by: f64| {
                    let mut layers = before.clone();
                    *number(&mut layers[l], at) += by;
                    objective(&layers, &network, &points, &weights)
                };
                // On both sides: a corner of max(0, z) may be right here, as where a row of zeros meets a bias of 0.
                let (below, above) = ((moved(0.0) - moved(-1e-5)) / 1e-5, (moved(1e-5) - moved(0.0)) / 1e-5);
                let (was, is) = (*number(&mut before[l].clone(), at), *number(&mut after[l].clone(), at));
                let found = (was - is) / 0.01;
                let within = below.min(above) - 5e-5..=below.max(above) + 5e-5;
                assert!(
                    within.contains(&found),
                    "{network:?} layer {l} weight {at}: {found}, not in {within:?}"
                );
            }
        }
    }
}
