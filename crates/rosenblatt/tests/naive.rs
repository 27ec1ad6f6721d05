//! Each learner against a loop written straight from its paper: dense, with every vector spelt out.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, assert_close, dot, label, noisy};
use rosenblatt::{
    Aggressiveness, Alma, Arow, Bias, Body, Decision, Example, Learner, Multiclass, Order, PassiveAggressive,
    Perceptron, Planes, Tie, Winnow,
};

const PASSES: usize = 4;

/// One vector per class, or one for a binary problem; the bias comes last.
type Vectors = Vec<Vec<f64>>;

fn vectors(planes: &Planes) -> Vectors {
    let lifted = |c: usize| [planes.normal(c), vec![planes.bias()[c]]].concat();
    (0..planes.k()).map(lifted).collect()
}

fn lift(x: &[f64]) -> Vec<f64> {
    [x, &[1.0]].concat()
}

fn add(w: &mut [f64], a: f64, x: &[f64]) {
    w.iter_mut().zip(x).for_each(|(w, x)| *w += a * x);
}

fn zeros(points: &Points) -> Vectors {
    vec![vec![0.0; points.cols() + 1]; if points.classes > 2 { points.classes } else { 1 }]
}

fn first_best(scores: &[f64]) -> usize {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|&score| score == best).unwrap()
}

fn predict(w: &Vectors, x: &[f64]) -> usize {
    let scores: Vec<f64> = w.iter().map(|w| dot(w, x)).collect();
    if w.len() == 1 { usize::from(scores[0] > 0.0) } else { first_best(&scores) }
}

/// The planes an update moves, with their signs, and the margin: y·g, or true score less best other.
fn seen(w: &Vectors, x: &[f64], y: usize) -> (Vec<(usize, f64)>, f64) {
    if w.len() == 1 {
        let sign = if y == 1 { 1.0 } else { -1.0 };
        return (vec![(0, sign)], sign * dot(&w[0], x));
    }
    let mut scores: Vec<f64> = w.iter().map(|w| dot(w, x)).collect();
    let own = std::mem::replace(&mut scores[y], f64::NEG_INFINITY);
    let rival = first_best(&scores);
    (vec![(y, 1.0), (rival, -1.0)], own - scores[rival])
}

/// Weights after every visit of a naive run.
fn run(points: &Points, start: Vectors, mut visit: impl FnMut(&mut Vectors, &[f64], usize)) -> Vec<Vectors> {
    let (mut w, mut all) = (start, Vec::new());
    for _ in 0..PASSES {
        for (x, &y) in points.x.iter().zip(&points.y) {
            visit(&mut w, &lift(x), y);
            all.push(w.clone());
        }
    }
    all
}

fn perceptron_run(points: &Points) -> Vec<Vectors> {
    run(points, zeros(points), |w, x, y| {
        if predict(w, x) != y {
            seen(w, x, y).0.iter().for_each(|&(c, sign)| add(&mut w[c], sign, x));
        }
    })
}

fn compare(learner: &dyn Learner, points: &Points, naive: &[Vectors]) {
    let trace = learner.trace(&points.data()).unwrap();
    assert_eq!(trace.steps.len(), naive.len());
    for (step, w) in trace.steps.iter().zip(naive) {
        let what = format!("{} pass {} row {}", learner.name(), step.pass, step.row);
        assert_close(&vectors(step.weights.as_ref().unwrap()).concat(), &w.concat(), &what);
    }
}

fn both(check: impl Fn(Points)) {
    for (k, seed) in [(2, 1), (2, 2), (3, 3), (5, 4)] {
        check(noisy(k, 40, 5, seed));
    }
}

fn perceptron() -> Perceptron {
    Perceptron { passes: PASSES, order: Order::Cyclic, pocket: false, ..Perceptron::default() }
}

#[test]
fn perceptron_binary_and_multiclass() {
    both(|points| compare(&perceptron(), &points, &perceptron_run(&points)));
}

#[test]
fn averaged_is_the_mean_of_all_weights() {
    both(|points| {
        let naive = perceptron_run(&points);
        let mut mean = zeros(&points);
        for w in &naive {
            mean.iter_mut().zip(w).for_each(|(mean, w)| add(mean, 1.0 / naive.len() as f64, w));
        }
        let learner = Perceptron { passes: PASSES, order: Order::Cyclic, ..Perceptron::averaged() };
        let fit = learner.fit(&points.data(), &mut ()).unwrap();
        assert_close(&vectors(&fit.model.body.planes().unwrap()).concat(), &mean.concat(), "averaged");
        let voted = Perceptron { passes: PASSES, order: Order::Cyclic, ..Perceptron::voted() };
        let fit = voted.fit(&points.data(), &mut ()).unwrap();
        assert_close(&vectors(&fit.model.body.planes().unwrap()).concat(), &mean.concat(), "mean of voted");
    });
}

/// A list of (vector, visits survived), as Freund and Schapire write it.
fn ballots(naive: &[Vectors], start: Vectors) -> Vec<(Vectors, f64)> {
    let mut list = vec![(start, 0.0)];
    for w in naive {
        match list.last_mut() {
            Some((last, count)) if last == w => *count += 1.0,
            _ => list.push((w.clone(), 1.0)),
        }
    }
    list
}

#[test]
fn voted_is_a_list_of_vectors_with_survival_counts() {
    both(|points| {
        let list = ballots(&perceptron_run(&points), zeros(&points));
        let visits = (PASSES * points.y.len()) as f64;
        assert_eq!(list.iter().map(|(_, count)| count).sum::<f64>(), visits);
        let learner = Perceptron { passes: PASSES, order: Order::Cyclic, ..Perceptron::voted() };
        let fit = learner.fit(&points.data(), &mut ()).unwrap();
        let Body::Voted(found) = &fit.model.body else { panic!("not voted") };
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].voters(), list.iter().filter(|(_, count)| *count > 0.0).count());
        let fresh = noisy(points.classes, 30, points.cols(), 77);
        for x in &fresh.x {
            let mut votes = vec![0.0; points.classes];
            list.iter().for_each(|(w, count)| votes[predict(w, &lift(x))] += count / visits);
            let expected = if points.classes == 2 { vec![votes[1] - votes[0]] } else { votes };
            let row = Points { x: vec![x.clone()], ..fresh.clone() };
            assert_close(&fit.model.scores(&row.dense::<f64>()).unwrap(), &expected, "votes");
        }
    });
}

#[test]
fn reductions_are_binary_runs() {
    let points = noisy(4, 50, 5, 12);
    let data = points.data();
    let binary = |ones: &dyn Fn(usize) -> Option<usize>| {
        let kept: Vec<usize> = (0..points.y.len()).filter(|&i| ones(points.y[i]).is_some()).collect();
        let x = kept.iter().map(|&i| points.x[i].clone()).collect();
        let y = kept.iter().map(|&i| ones(points.y[i]).unwrap()).collect();
        let part = Points { x, y, classes: 2 };
        vectors(&perceptron().fit(&part.data(), &mut ()).unwrap().model.body.planes().unwrap())[0].clone()
    };
    let fit = |multiclass| Perceptron { multiclass, ..perceptron() }.fit(&data, &mut ()).unwrap();
    let ovr = fit(Multiclass::Ovr);
    let expected: Vectors = (0..4).map(|c| binary(&|y| Some(usize::from(y == c)))).collect();
    assert_eq!(vectors(&ovr.model.body.planes().unwrap()), expected);
    assert_eq!(ovr.model.decision, Decision::Highest);
    assert_eq!(ovr.report.problems[1].title, "c1 against the rest");

    let ovo = fit(Multiclass::Ovo);
    let side = |a: usize, b: usize| move |y: usize| (y == a || y == b).then_some(usize::from(y == b));
    let expected: Vectors = rosenblatt::pairs(4).into_iter().map(|(a, b)| binary(&side(a, b))).collect();
    assert_eq!(vectors(&ovo.model.body.planes().unwrap()), expected);
    assert_eq!(ovo.model.decision, Decision::Pairs(rosenblatt::Tie::Negative));
    assert_eq!(ovo.report.problems[5].title, "c2 against c3");
}

#[test]
fn passive_aggressive() {
    use Aggressiveness::{I, II, Plain};
    for (variant, c) in [(Plain, 1.0), (I, 0.05), (I, 10.0), (II, 0.5)] {
        both(|points| {
            let naive = run(&points, zeros(&points), |w, x, y| {
                let (moved, margin) = seen(w, x, y);
                let (loss, energy) = ((1.0 - margin).max(0.0), dot(x, x) * moved.len() as f64);
                let tau = match variant {
                    Plain => loss / energy,
                    I => f64::min(c, loss / energy),
                    II => loss / (energy + 1.0 / (2.0 * c)),
                };
                moved.iter().for_each(|&(p, sign)| add(&mut w[p], tau * sign, x));
            });
            let learner =
                PassiveAggressive { variant, c, passes: PASSES, order: Order::Cyclic, ..Default::default() };
            compare(&learner, &points, &naive);
        });
    }
}

#[test]
fn alma() {
    for (alpha, b, c) in [(0.9, None, 2f64.sqrt()), (0.5, Some(3.0), 0.7), (1.0, None, 1.0)] {
        both(|points| {
            let mut k = 1.0f64;
            let naive = run(&points, zeros(&points), |w, x, y| {
                let (moved, margin) = seen(w, x, y);
                let length = (dot(x, x) * moved.len() as f64).sqrt();
                let gamma = b.unwrap_or(1.0 / alpha) / k.sqrt();
                if margin / length <= (1.0 - alpha) * gamma {
                    let eta = c / k.sqrt();
                    moved.iter().for_each(|&(p, sign)| add(&mut w[p], eta * sign / length, x));
                    let norm = w.iter().map(|w| dot(w, w)).sum::<f64>().sqrt();
                    w.iter_mut().flatten().for_each(|w| *w /= norm.max(1.0));
                    k += 1.0;
                }
            });
            let learner = Alma { alpha, b, c, passes: PASSES, order: Order::Cyclic, ..Default::default() };
            compare(&learner, &points, &naive);
        });
    }
}

#[test]
fn arow() {
    for r in [1.0, 0.1] {
        both(|points| {
            let mut sigma = zeros(&points);
            sigma.iter_mut().flatten().for_each(|s| *s = 1.0);
            let naive = run(&points, zeros(&points), |w, x, y| {
                let (moved, margin) = seen(w, x, y);
                let loss = (1.0 - margin).max(0.0);
                if loss == 0.0 {
                    return;
                }
                let along = |p: usize| sigma[p].iter().zip(x).map(|(s, x)| s * x * x).sum::<f64>();
                let beta = 1.0 / (moved.iter().map(|&(p, _)| along(p)).sum::<f64>() + r);
                for &(p, sign) in &moved {
                    for (j, x) in x.iter().enumerate() {
                        w[p][j] += loss * beta * sign * sigma[p][j] * x;
                        sigma[p][j] -= beta * (sigma[p][j] * x).powi(2);
                    }
                }
            });
            compare(&Arow { r, passes: PASSES, order: Order::Cyclic, ..Default::default() }, &points, &naive);
        });
    }
}

/// Scores of the vectors less θ; a weight is multiplied by α^±x.
fn winnow_run(points: &Points, alpha: f64, theta: f64, balanced: bool) -> Vec<Vectors> {
    let mut start = zeros(points);
    start.iter_mut().for_each(|w| w[points.cols()] = -theta);
    let ones = vec![vec![1.0; points.cols()]; start.len()];
    let (mut up, mut down) = (ones.clone(), ones);
    start.iter_mut().flat_map(|w| &mut w[..points.cols()]).for_each(|w| *w = f64::from(u8::from(!balanced)));
    run(points, start, |w, x, y| {
        if predict(w, x) == y {
            return;
        }
        for (p, sign) in seen(w, x, y).0 {
            for j in 0..x.len() - 1 {
                up[p][j] *= alpha.powf(sign * x[j]);
                down[p][j] *= alpha.powf(-sign * x[j]);
                w[p][j] = if balanced { up[p][j] - down[p][j] } else { up[p][j] };
            }
        }
    })
}

#[test]
fn winnow() {
    for (alpha, threshold) in [(2.0, None), (1.5, Some(1.5))] {
        for balanced in [false, true] {
            both(|points| {
                let default = if balanced { 0.0 } else { points.cols() as f64 / 2.0 };
                let theta = if points.classes > 2 { 0.0 } else { threshold.unwrap_or(default) };
                let naive = winnow_run(&points, alpha, theta, balanced);
                let (passes, order) = (PASSES, Order::Cyclic);
                let learner = Winnow { alpha, threshold, balanced, passes, order, ..Default::default() };
                compare(&learner, &points, &naive);
            });
        }
    }
}

/// Littlestone's setting: a disjunction of few among many features is learned with few mistakes.
#[test]
fn winnow_finds_the_few_relevant_features() {
    let (n, relevant) = (200, 3);
    let mut rng = rosenblatt::Rng::new(1);
    let mut stream = Winnow::default().stream_with(common::classes(2), n).unwrap();
    for _ in 0..3000 {
        let x: Vec<f64> = (0..n).map(|_| f64::from(u8::from(rng.below(10) == 0))).collect();
        let y = usize::from(x[..relevant].contains(&1.0));
        stream.update(Example::Dense(&x), &label(y)).unwrap();
    }
    // 2 + 3k(lg n + 1) with k relevant features, α = 2 and θ = n/2 (Littlestone 1988, theorem 9 and its remarks).
    let bound = 2.0 + 3.0 * relevant as f64 * ((n as f64).log2() + 1.0);
    assert!(stream.mistakes() as f64 <= bound, "{} > {bound}", stream.mistakes());
}

#[test]
fn no_bias_means_none() {
    let has_bias = |case: &&common::Case| case.algorithm.defaults().contains_key("bias");
    for case in common::cases().iter().filter(has_bias).filter(|case| case.algorithm.name != "winnow") {
        let points = case.points(3, 30, 4, 2);
        let fit = case.fit(&serde_json::json!({"bias": "none", "passes": 3}), &points.data());
        let none = fit.model.body.planes().is_none_or(|planes| planes.bias().iter().all(|&bias| bias == 0.0));
        assert!(none, "{}", case.name());
    }
    assert_eq!(Perceptron::default().bias, Bias::Free);
    assert_eq!(Perceptron::default().tie, Tie::Negative);
}
