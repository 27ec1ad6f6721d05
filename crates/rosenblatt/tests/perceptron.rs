//! The perceptron by the book: worked examples, ties, gradient descent, sums of examples.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, dot, noisy, separable};
use rosenblatt::loss::{MarginLoss, PerceptronLoss};
use rosenblatt::{
    Bias, Body, Class, Classes, Decision, Dense, Features, Learner, Matrix, Model, Order, Perceptron, Planes,
    Status, Tie, Trace,
};

fn plain() -> Perceptron {
    Perceptron { bias: Bias::None, order: Order::Cyclic, pocket: false, ..Perceptron::default() }
}

fn example_1() -> Points {
    Points::of(&[([3.0, 2.0], 1), ([-2.0, 2.0], 0), ([-2.0, -3.0], 1)])
}

/// pass, row, activation, predicted +1, mistake, weights after
type Line = (usize, usize, f64, bool, bool, [f64; 2]);

fn lines(trace: &Trace) -> Vec<Line> {
    let line = |s: &rosenblatt::Step| {
        let w = s.weights.as_ref().unwrap().normal(0);
        (s.pass, s.row + 1, s.scores[0], s.predicted == 1, s.mistake, [w[0], w[1]])
    };
    trace.steps.iter().map(line).collect()
}

#[test]
fn worked_example_1() {
    let trace = plain().trace(&example_1().data()).unwrap();
    let expected = [
        (1, 1, 0.0, false, true, [3.0, 2.0]),
        (1, 2, -2.0, false, false, [3.0, 2.0]),
        (1, 3, -12.0, false, true, [1.0, -1.0]),
        (2, 1, 1.0, true, false, [1.0, -1.0]),
        (2, 2, -4.0, false, false, [1.0, -1.0]),
        (2, 3, 1.0, true, false, [1.0, -1.0]),
    ];
    assert_eq!(lines(&trace), expected);
    assert!(trace.steps.iter().all(|step| step.updated == step.mistake));
    assert!(trace.steps.iter().all(|step| step.label == example_1().y[step.row]));
    assert!(trace.converged);
    assert_eq!(trace.updates, 2);

    let fit = plain().fit(&example_1().data(), &mut ()).unwrap();
    assert_eq!(fit.report.status, Status::Converged);
    assert_eq!((fit.report.passes.len(), fit.report.mistakes), (2, 2));
    assert_eq!(fit.model.body.planes().unwrap().normal(0), [1.0, -1.0]); // boundary x₁ = x₂
    assert_eq!(fit.report.margin, Some(1.0 / 2f64.sqrt()));
}

fn named(names: &[&str], classes: &[&str], decision: Decision, weights: Vec<f64>, bias: Vec<f64>) -> Model {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Model {
        link: None,
        classes: Classes::new(classes.iter().map(|&class| Class::from(class)).collect()),
        features: Features { count: names.len(), names: Some(names), ..Features::default() },
        scaling: None,
        map: None,
        decision,
        body: Body::Linear(Planes::from_parts(weights, bias, true).unwrap()),
    }
}

fn row(values: &[f64]) -> Matrix<'_> {
    Dense::new(values, values.len()).unwrap().into()
}

#[test]
fn worked_example_2() {
    let sign = Decision::Sign(Tie::Negative);
    let spam = named(&["free", "money"], &["ham", "spam"], sign, vec![4.0, 2.0], vec![-3.0]);
    let why = spam.explain(&row(&[1.0, 1.0]), 0).unwrap();
    assert_eq!((why.predicted, why.scores, why.bias), (1, vec![-3.0, 3.0], vec![3.0, -3.0]));
    let amounts: Vec<_> =
        why.contributions.iter().map(|c| (spam.features.name(c.feature), c.amounts[1])).collect();
    assert_eq!(amounts, [("free".to_owned(), 4.0), ("money".to_owned(), 2.0)]);

    // Classes in byte order: POLITICS, SPORTS, TECH.
    let weights = vec![2.0, 4.0, 0.0, 0.0, 4.0, 2.0, 4.0, 0.0, 0.0];
    let topics = ["SPORTS", "POLITICS", "TECH"];
    let model = named(&["win", "game", "vote"], &topics, Decision::Highest, weights, vec![1.0, -2.0, 2.0]);
    let why = model.explain(&row(&[1.0, 0.0, 1.0]), 0).unwrap();
    assert_eq!(why.scores, [7.0, 2.0, 2.0]);
    assert_eq!(model.classes[why.predicted].to_string(), "POLITICS");
    assert_eq!(why.contributions.iter().map(|c| c.feature).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(why.contributions[0].amounts, [2.0, 4.0, 0.0]);
    assert!(!why.of_mean);
}

#[test]
fn pairs_vote_and_break_ties_by_sums() {
    let decide = |scores: &[f64]| Decision::Pairs(Tie::Negative).decide(scores, 3);
    assert_eq!(decide(&[-1.0, -1.0, -1.0]), 0); // 0 beats both
    assert_eq!(decide(&[1.0, 1.0, 1.0]), 2);
    assert_eq!(decide(&[-1.0, 1.0, -5.0]), 1); // one vote each: 0 has 0, 1 has −1 + 5, 2 has 1 − 5
    assert_eq!(decide(&[0.0, 1.0, 0.0]), 2); // a score of 0 votes for the first of its pair
    assert_eq!(decide(&[-1.0, 1.0, -1.0]), 0); // all even: class order
    assert_eq!(Decision::Pairs(Tie::Positive).decide(&[0.0, -1.0, -1.0], 3), 1); // or, if so told, for the second
    // A vote each: as LIBSVM has it, the first class wins, whatever the sums; and a score of 0 is for the second.
    assert_eq!(Decision::Votes.decide(&[1.0, -9.0, 9.0], 3), 0);
    assert_eq!(Decision::Votes.decide(&[0.0, -1.0, -1.0], 3), 1);
    let scores = Decision::Votes.class_scores(&[1.0, -9.0, 9.0], 3);
    assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
}

#[test]
fn ties() {
    let first = |tie, class| {
        let learner = Perceptron { tie, ..plain() };
        let points = Points { classes: 2, x: vec![vec![1.0], vec![-3.0]], y: vec![class, 1 - class] };
        learner.trace(&points.data()).unwrap().steps[0].clone()
    };
    for (tie, class, predicted, mistake) in [
        (Tie::Negative, 0, 0, false),
        (Tie::Negative, 1, 0, true),
        (Tie::Positive, 0, 1, true),
        (Tie::Positive, 1, 1, false),
        (Tie::Mistake, 0, 0, true),
        (Tie::Mistake, 1, 0, true),
    ] {
        let step = first(tie, class);
        assert_eq!((step.predicted, step.mistake), (predicted, mistake), "{tie:?} {class}");
    }
}

#[test]
fn multiclass_ties_go_to_the_first_class() {
    for (tie, expected) in [(Tie::Negative, [false, true]), (Tie::Mistake, [true, true])] {
        for (class, mistake) in expected.into_iter().enumerate() {
            let points = Points { x: vec![vec![1.0]; 3], y: vec![class, 1 - class, 2], classes: 3 };
            let step = Perceptron { tie, ..plain() }.trace(&points.data()).unwrap().steps[0].clone();
            assert_eq!((step.predicted, step.mistake), (0, mistake), "{tie:?} {class}");
        }
    }
}

#[test]
fn from_zero_the_rate_changes_no_prediction() {
    for k in [2, 4] {
        let data = noisy(k, 50, 5, 6).data();
        let one = Perceptron { passes: 5, ..plain() }.trace(&data).unwrap();
        for rate in [0.25, 8.0] {
            let other = Perceptron { passes: 5, learning_rate: rate, ..plain() }.trace(&data).unwrap();
            for (a, b) in one.steps.iter().zip(&other.steps) {
                assert_eq!((a.predicted, a.mistake), (b.predicted, b.mistake));
                for c in 0..a.weights.as_ref().unwrap().k() {
                    let scaled: Vec<f64> =
                        a.weights.as_ref().unwrap().normal(c).iter().map(|w| rate * w).collect();
                    assert_eq!(scaled, b.weights.as_ref().unwrap().normal(c));
                }
            }
        }
    }
}

/// w ← w − α·ℓ'(y·g)·y·x with ℓ(m) = max(0, −m).
#[test]
fn gradient_descent_on_the_perceptron_loss_is_the_perceptron() {
    let points = noisy(2, 60, 5, 3);
    for alpha in [1.0, 0.25] {
        let learner =
            Perceptron { tie: Tie::Mistake, learning_rate: alpha, passes: 4, bias: Bias::Free, ..plain() };
        let trace = learner.trace(&points.data()).unwrap();
        let mut w = vec![0.0; points.cols() + 1];
        for step in &trace.steps {
            let mut x = points.x[step.row].clone();
            x.push(1.0);
            let y = points.sign(step.row);
            let slope = PerceptronLoss.slope(y * dot(&w, &x));
            w.iter_mut().zip(&x).for_each(|(w, x)| *w -= alpha * slope * y * x);
            let mut found = step.weights.as_ref().unwrap().normal(0);
            found.push(step.weights.as_ref().unwrap().bias()[0]);
            assert_eq!(found, w);
        }
    }
}

#[test]
fn weights_are_a_sum_of_examples() {
    let points = separable(30, 4, 5);
    let trace = plain().trace(&points.data()).unwrap();
    assert!(trace.converged);
    let mut sum = vec![0.0; points.cols()];
    let mut counts = vec![0.0; points.y.len()];
    trace.steps.iter().filter(|s| s.mistake).for_each(|s| counts[s.row] += points.sign(s.row));
    for (a, x) in counts.iter().zip(&points.x) {
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += a * x);
    }
    assert_eq!(trace.steps.last().unwrap().weights.as_ref().unwrap().normal(0), sum);
    assert_eq!(counts.iter().map(|a| a.abs()).sum::<f64>(), trace.updates as f64);
}

#[test]
fn bias_is_the_weight_of_a_constant_feature() {
    for k in [2, 3] {
        let points = noisy(k, 40, 4, 9);
        let mut lifted = points.clone();
        lifted.x.iter_mut().for_each(|row| row.push(1.0));
        let with =
            Perceptron { bias: Bias::Free, passes: 4, ..plain() }.fit(&points.data(), &mut ()).unwrap();
        let by_hand = Perceptron { passes: 4, ..plain() }.fit(&lifted.data(), &mut ()).unwrap();
        let (a, b) = (with.model.body.planes().unwrap(), by_hand.model.body.planes().unwrap());
        for c in 0..a.k() {
            assert_eq!(a.bias()[c], b.weight(c, 4));
            assert_eq!(a.normal(c), b.normal(c)[..4]);
        }
    }
}
