//! The kernel perceptron against the perceptron.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, noisy};
use rosenblatt::{
    Bias, Body, Dense, FeatureMap, Fit, Forget, Kernel, KernelName, KernelPerceptron, Learner, Matrix,
    Multiclass, Order, Output, Perceptron, Predictor, Rows, Status, Tie, Trace,
};

const SCHEMES: [Multiclass; 3] = [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo];

fn square() -> Points {
    Points::of(&[([1.0, 1.0], 1), ([-1.0, 1.0], 0), ([-1.0, -1.0], 1), ([1.0, -1.0], 0)])
}

/// Worked example 3 of the mission.
#[test]
fn worked_example_three() {
    let learner = KernelPerceptron {
        kernel: KernelName::Poly,
        degree: 2,
        coef0: Some(0.0),
        order: Order::Cyclic,
        ..KernelPerceptron::default()
    };
    let trace = learner.trace(&square().data()).unwrap();
    let seen: Vec<(f64, usize, bool)> =
        trace.steps.iter().map(|step| (step.scores[0], step.predicted, step.mistake)).collect();
    let expected = [
        (0.0, 0, true),
        (0.0, 0, false),
        (4.0, 1, false),
        (0.0, 0, false),
        (4.0, 1, false),
        (0.0, 0, false),
        (4.0, 1, false),
        (0.0, 0, false),
    ];
    assert_eq!(seen, expected);
    assert!(trace.steps.iter().all(|step| step.alphas.as_deref() == Some(&[1.0, 0.0, 0.0, 0.0])));
    assert!(trace.converged && trace.updates == 1);

    // g(x) = (x₁ + x₂)², in whose space the data have margin 4/2 about a plane of length 2, and radius 2.
    let fit = learner.fit(&square().data(), &mut ()).unwrap();
    assert_eq!((fit.report.status, fit.report.mistakes), (Status::Converged, 1));
    let new: Matrix<'_> = Dense::new(vec![2.0, 1.0, 0.5, -3.0], 2).unwrap().into();
    assert_eq!(fit.model.scores(&new).unwrap(), [9.0, 6.25]);
    assert_eq!((fit.report.margin, fit.report.radius), (Some(0.0), Some(2.0)));
}

#[test]
fn margin_and_bound_are_those_of_the_space() {
    // Outer points are +1, inner ones −1: a circle separates them, which is a plane in the space of (u·v + 1)².
    let points = Points::of(&[
        ([2.0, 0.0], 1),
        ([-2.0, 0.5], 1),
        ([0.0, 2.0], 1),
        ([0.5, -2.0], 1),
        ([0.5, 0.0], 0),
        ([-0.5, 0.0], 0),
        ([0.0, 0.5], 0),
        ([0.0, -0.5], 0),
    ]);
    for bias in [Bias::None, Bias::Free] {
        let learner = KernelPerceptron {
            degree: 2,
            bias,
            tie: Tie::Mistake,
            passes: 1000,
            ..KernelPerceptron::default()
        };
        let report = learner.fit(&points.data(), &mut ()).unwrap().report;
        assert_eq!(report.status, Status::Converged);
        let on_map =
            Perceptron { bias, tie: Tie::Mistake, passes: 1000, pocket: false, ..Perceptron::default() };
        let expected = on_map.fit(&mapped(&points).data(), &mut ()).unwrap().report;
        let near = |found: Option<f64>, expected: Option<f64>| {
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert!((found - expected).abs() < 1e-5 * expected, "{found} where {expected}");
        };
        assert_eq!(report.mistakes, expected.mistakes);
        near(report.margin, expected.margin);
        near(report.lifted_margin, expected.lifted_margin);
        near(report.radius, expected.radius);
        near(report.mistake_bound, expected.mistake_bound);
        assert!(report.mistakes as f64 <= report.mistake_bound.unwrap());
    }
}

fn steps(trace: &Trace) -> Vec<(usize, &[f64], usize, bool, bool)> {
    trace.steps.iter().map(|s| (s.row, &s.scores[..], s.predicted, s.mistake, s.updated)).collect()
}

/// Values are multiples of ½, so that all sums are exact.
#[test]
fn with_the_linear_kernel_it_is_the_perceptron() {
    for k in [2, 3, 5] {
        let data = noisy(k, 60, 6, 3).data();
        for multiclass in SCHEMES {
            for (bias, tie) in
                [(Bias::None, Tie::Negative), (Bias::Free, Tie::Mistake), (Bias::Free, Tie::Positive)]
            {
                let (order, passes) = (Order::Shuffle, 4);
                let kernel = KernelPerceptron {
                    kernel: KernelName::Linear,
                    bias,
                    tie,
                    multiclass,
                    order,
                    passes,
                    ..KernelPerceptron::default()
                };
                let plain = Perceptron {
                    bias,
                    tie,
                    multiclass,
                    order,
                    passes,
                    pocket: false,
                    ..Perceptron::default()
                };
                let (found, expected) = (kernel.trace(&data).unwrap(), plain.trace(&data).unwrap());
                assert_eq!(steps(&found), steps(&expected), "{k} classes, {multiclass:?}, {bias:?}");

                // In blocks, and with the mean and the votes of all weights.
                let outputs = [
                    (Predictor::Last, Output::Plain),
                    (Predictor::Averaged, Output::Averaged),
                    (Predictor::Voted, Output::Voted),
                ];
                for (predictor, output) in outputs {
                    let kernel =
                        KernelPerceptron { predictor, ..kernel.clone() }.fit(&data, &mut ()).unwrap();
                    let plain = Perceptron { output, ..plain.clone() }.fit(&data, &mut ()).unwrap();
                    assert_eq!(kernel.report.passes, plain.report.passes);
                    assert_eq!(kernel.report.problems, plain.report.problems);
                    let (found, expected) =
                        (kernel.model.scores(data.x()).unwrap(), plain.model.scores(data.x()).unwrap());
                    common::assert_close(&found, &expected, "scores");
                }
            }
        }
    }
}

/// (1, √2·u, u², √2·u·v): what (u·v + 1)² is the dot product of.
fn mapped(points: &Points) -> Points {
    let root = 2f64.sqrt();
    let map = |x: &Vec<f64>| {
        let mut row = vec![1.0];
        row.extend(x.iter().map(|v| root * v));
        for (i, u) in x.iter().enumerate() {
            row.push(u * u);
            row.extend(x[i + 1..].iter().map(|v| root * u * v));
        }
        row
    };
    Points { x: points.x.iter().map(map).collect(), ..points.clone() }
}

#[test]
fn with_a_polynomial_kernel_it_is_the_perceptron_on_the_map() {
    let cases = [2, 3].into_iter().flat_map(|k| SCHEMES.map(|multiclass| (k, multiclass)));
    for ((k, multiclass), tie) in cases.flat_map(|case| [Tie::Negative, Tie::Mistake].map(|tie| (case, tie)))
    {
        let points = noisy(k, 80, 4, 9);
        let kernel =
            KernelPerceptron { degree: 2, tie, multiclass, passes: 3, ..KernelPerceptron::default() };
        let plain = Perceptron {
            bias: Bias::None,
            tie,
            multiclass,
            passes: 3,
            pocket: false,
            ..Perceptron::default()
        };
        let map = FeatureMap::fit("poly:2".parse().unwrap(), &points.data(), 0).unwrap();
        let behind = points.data().mapped(&map).unwrap();
        let found = kernel.trace(&points.data()).unwrap();
        for expected in [behind, mapped(&points).data()].map(|data| plain.trace(&data).unwrap()) {
            assert_eq!(found.steps.len(), expected.steps.len());
            for (found, expected) in found.steps.iter().zip(&expected.steps) {
                assert_eq!(
                    (found.row, found.mistake, found.updated),
                    (expected.row, expected.mistake, expected.updated)
                );
                for (a, b) in found.scores.iter().zip(&expected.scores) {
                    assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} where {b}");
                }
            }
        }
    }
}

/// Activation = Σ a·K at every step of a trace, and the last a are the model's coefficients, whatever a budget makes of them.
#[test]
fn alphas_are_the_hypothesis() {
    let budgets = [
        None,
        Some((Forget::Forgetron, 0.0)),
        Some((Forget::Projectron, 0.0)),
        Some((Forget::Projectron, 0.9)),
    ];
    for (k, multiclass) in [2, 3].into_iter().flat_map(|k| SCHEMES.map(|multiclass| (k, multiclass))) {
        let points = noisy(k, 40, 4, 8);
        let (data, n) = (points.data(), points.y.len());
        for (budget, bias) in budgets.iter().flat_map(|budget| [(budget, Bias::None), (budget, Bias::Free)]) {
            let learner = KernelPerceptron {
                degree: 2,
                bias,
                multiclass,
                passes: 3,
                budget: budget.map(|_| 7),
                forget: budget.map(|(forget, _)| forget),
                projection_error: budget.map_or(0.0, |(_, near)| near),
                ..KernelPerceptron::default()
            };
            let what = format!("{k} classes, {multiclass:?}, {budget:?}, {bias:?}");
            let trace = learner.trace(&data).unwrap();
            let planes = trace.steps[0].scores.len();
            let lift = if bias == Bias::None { 0.0 } else { 1.0 };
            let value = |i: usize, j: usize| {
                Kernel::Poly { degree: 2, gamma: 1.0, coef0: 1.0 }.value(data.x(), i, data.x(), j) + lift
            };
            let mut alphas = vec![0.0; n * planes];
            for step in &trace.steps {
                for (plane, found) in step.scores.iter().enumerate() {
                    let terms: Vec<f64> =
                        (0..n).map(|j| alphas[j * planes + plane] * value(j, step.row)).collect();
                    let size: f64 = terms.iter().map(|term| term.abs()).sum();
                    let exact: f64 = terms.iter().sum();
                    assert!((found - exact).abs() <= 1e-9 * (1.0 + size), "{what}: {found} is not {exact}");
                }
                alphas.clone_from(step.alphas.as_ref().unwrap());
            }
            let Body::Kernel(expansion) = learner.fit(&data, &mut ()).unwrap().model.body else {
                panic!("no kernel")
            };
            // Equal rows are stored once.
            let mut left = alphas;
            for (s, a) in expansion.coefficients().chunks(planes).enumerate() {
                let same = |i: &usize| points.x[*i] == row(expansion.rows(), s);
                for (plane, a) in a.iter().enumerate() {
                    let sum: f64 =
                        (0..n).filter(same).map(|i| std::mem::take(&mut left[i * planes + plane])).sum();
                    assert!((sum - a).abs() <= 1e-12, "{what}: {sum} is not {a}");
                }
            }
            assert!(left.iter().all(|a| a.abs() <= 1e-12), "{what}: all of it is in the model");
        }
    }
}

fn row(x: &Matrix<'_>, i: usize) -> Vec<f64> {
    let mut row = vec![0.0; x.n_cols()];
    x.each(i, |j, v| row[j] = v);
    row
}

/// A dual form is read by its counts, whatever is predicted with: they are those of the last weights, and survive a file.
#[test]
fn counts_are_kept_beside_means() {
    for (k, multiclass) in [2, 3].into_iter().flat_map(|k| SCHEMES.map(|multiclass| (k, multiclass))) {
        let data = noisy(k, 60, 5, 2).data();
        let fit = |predictor| {
            let learner =
                KernelPerceptron { multiclass, predictor, passes: 2, ..KernelPerceptron::default() };
            let fit = learner.fit(&data, &mut ()).unwrap();
            assert_eq!(Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap(), fit);
            let Body::Kernel(expansion) = fit.model.body else { panic!("no kernel") };
            expansion
        };
        let [last, mean, votes] = [Predictor::Last, Predictor::Averaged, Predictor::Voted].map(fit);
        assert_eq!(last.counts(), last.coefficients());
        assert_eq!(mean.counts(), last.counts());
        assert_eq!(votes.counts(), last.counts());
        assert!(mean.coefficients().iter().any(|a| a.fract() != 0.0));
    }
    let shrunk = KernelPerceptron { budget: Some(3), ..KernelPerceptron::default() };
    let Body::Kernel(expansion) = shrunk.fit(&noisy(2, 60, 5, 2).data(), &mut ()).unwrap().model.body else {
        panic!("no kernel")
    };
    assert!(expansion.counts().is_empty(), "nothing is left that counts");
}

/// Margin, radius and bound of what a report says, from nothing but values of the formula.
#[test]
fn margins_in_the_space_of_every_kernel_are_naive_ones() {
    // Entries are not negative, so that χ² takes them, and no two rows are alike.
    let points = common::apart(2, 30, 4, 5);
    let data = points.data();
    for (name, kernel) in [
        (KernelName::Rbf, Kernel::Rbf { gamma: 0.25 }),
        (KernelName::Laplacian, Kernel::Laplacian { gamma: 0.25 }),
        (KernelName::Cosine, Kernel::Cosine),
        (KernelName::Chi2, Kernel::Chi2 { gamma: 0.25 }),
    ] {
        for bias in [Bias::None, Bias::Free] {
            let learner = KernelPerceptron {
                kernel: name,
                gamma: (name != KernelName::Cosine).then_some(0.25),
                bias,
                tie: Tie::Mistake,
                passes: 1000,
                ..KernelPerceptron::default()
            };
            let fit = learner.fit(&data, &mut ()).unwrap();
            assert_eq!(fit.report.status, Status::Converged, "{name:?}");
            let Body::Kernel(expansion) = &fit.model.body else { panic!("no kernel") };
            let (a, rows, n) = (expansion.coefficients(), expansion.rows(), points.y.len());
            let lift = if bias == Bias::None { 0.0 } else { 1.0 };
            let b: f64 = lift * a.iter().sum::<f64>();
            let among = |s: usize, t: usize| a[s] * a[t] * kernel.value(rows, s, rows, t);
            let square: f64 =
                (0..a.len()).flat_map(|s| (0..a.len()).map(move |t| (s, t))).map(|(s, t)| among(s, t)).sum();
            let margin = |i: usize| {
                let g: f64 = (0..a.len()).map(|s| a[s] * kernel.value(rows, s, data.x(), i)).sum::<f64>() + b;
                if points.y[i] == 1 { g } else { -g }
            };
            let smallest = (0..n).map(margin).fold(f64::INFINITY, f64::min);
            let own = (0..n).map(|i| kernel.value(data.x(), i, data.x(), i) + lift).fold(0.0, f64::max);
            let (margin, lifted) = (smallest / square.sqrt(), smallest / (square + b * b).sqrt());
            let near = |found: Option<f64>, exact: f64, what: &str| {
                let found = found.unwrap();
                assert!(
                    (found - exact).abs() <= 1e-4 * exact.abs(),
                    "{what} of {name:?}, {bias:?}: {found} is not {exact}"
                );
            };
            near(fit.report.margin, margin, "margin");
            near(fit.report.lifted_margin, lifted, "margin with the bias");
            near(fit.report.radius, own.sqrt(), "radius");
            near(fit.report.mistake_bound, own / (lifted * lifted), "bound");
            assert!(fit.report.mistakes as f64 <= own / (lifted * lifted));
        }
    }
}

#[test]
fn problems_share_what_is_stored() {
    let data = noisy(5, 200, 6, 1).data();
    let learner = KernelPerceptron { multiclass: Multiclass::Ovr, passes: 3, ..KernelPerceptron::default() };
    let fit = learner.fit(&data, &mut ()).unwrap();
    let Body::Kernel(expansion) = &fit.model.body else { panic!("no kernel") };
    assert!(expansion.len() <= 200 && fit.report.updates > 200);
    let counts: f64 = expansion.coefficients().iter().map(|a| a.abs()).sum();
    assert!(counts > 0.0 && counts.fract() == 0.0, "signed counts of mistakes are whole numbers");
}

#[test]
fn what_cannot_be_is_refused() {
    let data = square().data();
    let refused = |learner: KernelPerceptron| learner.fit(&data, &mut ()).unwrap_err().to_string();
    let base = KernelPerceptron::default();
    assert!(refused(KernelPerceptron { gamma: Some(0.0), ..base.clone() }).contains("gamma"));
    assert!(refused(KernelPerceptron { degree: 0, ..base.clone() }).contains("degree"));
    let both = KernelPerceptron { gamma: Some(1.0), sigma: Some(1.0), ..base.clone() };
    assert!(refused(both).contains("give one of gamma and sigma"));
    let chi = refused(KernelPerceptron { kernel: KernelName::Chi2, ..base.clone() });
    assert!(chi.contains("row 2, column 1"), "{chi}");
    let open = KernelPerceptron { kernel: KernelName::Rbf, ..base };
    let error = open.stream().err().unwrap().to_string();
    assert!(error.contains("give gamma or sigma"), "{error}");
}

#[test]
fn rows_to_predict_on_are_checked_too() {
    let counts = Points::of(&[([1.0, 0.0], 0), ([0.0, 3.0], 1), ([2.0, 1.0], 0)]);
    let learner = KernelPerceptron { kernel: KernelName::Chi2, ..KernelPerceptron::default() };
    let model = learner.fit(&counts.data(), &mut ()).unwrap().model;
    let new: Matrix<'_> = Dense::new(vec![1.0, -2.0], 2).unwrap().into();
    assert!(model.predict(&new).unwrap_err().to_string().contains("row 1, column 2"));
    let far = Points::of(&[([0.0], 0), ([10_001.0], 1), ([10_003.0], 0)]);
    let learner =
        KernelPerceptron { kernel: KernelName::Rbf, gamma: Some(1.0), ..KernelPerceptron::default() };
    let error = learner.fit(&far.data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("--scale standard"), "{error}");
    let large = Points::of(&[([5e9, 1.0], 0), ([1.0, 5e9], 1)]);
    let learner = KernelPerceptron { kernel: KernelName::Cosine, ..KernelPerceptron::default() };
    assert_eq!(learner.fit(&large.data(), &mut ()).unwrap().report.train_accuracy, Some(1.0));
}

/// Variance 1/4 beside a mean of 10⁸, by weights and by repetition.
#[test]
fn the_usual_gamma_needs_no_centre() {
    let points = Points::of(&[([1e8], 0), ([1e8 + 1.0], 1)]);
    let sigmoid = KernelPerceptron { kernel: KernelName::Sigmoid, ..KernelPerceptron::default() };
    let gamma = |data: &rosenblatt::Dataset<'_>| {
        sigmoid.fit(data, &mut ()).unwrap().report.parameters["gamma"].as_f64()
    };
    assert_eq!(gamma(&points.data()), Some(4.0));
    assert_eq!(gamma(&points.data().with_weights(vec![3.0, 3.0]).unwrap()), Some(4.0));
    assert_eq!(gamma(&points.repeated(&[3, 3]).data()), Some(4.0));
}

#[test]
fn a_width_is_a_gamma_and_the_usual_one_is_written_down() {
    let data = noisy(2, 50, 5, 4).data();
    let fit = |gamma, sigma| {
        let learner =
            KernelPerceptron { kernel: KernelName::Rbf, gamma, sigma, ..KernelPerceptron::default() };
        learner.fit(&data, &mut ()).unwrap()
    };
    assert_eq!(fit(Some(2.0), None).model, fit(None, Some(0.5)).model);
    let usual = fit(None, None);
    let gamma = usual.report.parameters["gamma"].as_f64().unwrap();
    assert!(usual.report.objective.contains(&format!("exp(−{gamma}·")), "{}", usual.report.objective);
}
