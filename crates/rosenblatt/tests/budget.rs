//! Kernel perceptrons on a budget.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, classes, label, noisy};
use rosenblatt::{
    Bias, Body, Dataset, Example, Expansion, Fit, Forget, Kernel, KernelName, KernelPerceptron, Learner,
    Matrix, Multiclass, Order, Predictor, Rng, Run, Stream, Tie,
};

const SCHEMES: [Multiclass; 3] = [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo];
const BOTH: [Forget; 2] = [Forget::Forgetron, Forget::Projectron];

/// One pass as the rows stand, so that blocks will do as well.
fn on_budget(forget: Forget, budget: usize) -> KernelPerceptron {
    KernelPerceptron {
        degree: 2,
        order: Order::Cyclic,
        passes: 3,
        budget: Some(budget),
        forget: Some(forget),
        ..KernelPerceptron::default()
    }
}

fn expansion(body: &Body) -> &Expansion {
    match body {
        Body::Kernel(expansion) => expansion,
        _ => panic!("no kernel"),
    }
}

/// What both algorithms are told in: terms with a coefficient for each plane, over rows of the data. Kernel values of [`noisy`] rows are exact, in single precision too.
struct Naive<'a> {
    x: &'a Matrix<'a>,
    kernel: Kernel,
    lift: f64,
    planes: usize,
    terms: Vec<(usize, Vec<f64>)>,
}

impl Naive<'_> {
    fn k(&self, i: usize, j: usize) -> f64 {
        self.kernel.value(self.x, i, self.x, j) + self.lift
    }

    fn score(&self, i: usize) -> Vec<f64> {
        let plane = |p: usize| self.terms.iter().map(|(s, a)| a[p] * self.k(*s, i)).sum();
        (0..self.planes).map(plane).collect()
    }

    /// What a mistake adds to each plane; nothing if it is none.
    fn mistake(&self, i: usize, y: usize) -> Option<Vec<f64>> {
        let g = self.score(i);
        if let [g] = g[..] {
            return (usize::from(g > 0.0) != y).then(|| vec![if y == 1 { 1.0 } else { -1.0 }]);
        }
        let best = |but: usize| {
            (0..g.len()).filter(|&c| c != but).fold(None, |best, c| match best {
                Some(b) if g[b] >= g[c] => Some(b),
                _ => Some(c),
            })
        };
        let predicted = best(usize::MAX).unwrap();
        let mut added = vec![0.0; g.len()];
        added[y] += 1.0;
        added[best(y).unwrap()] -= 1.0;
        (predicted != y).then_some(added)
    }

    /// The coefficients of the model, whose rows are the distinct ones of the terms.
    fn coefficients(&self, terms: &[(usize, Vec<f64>)]) -> Vec<f64> {
        let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
        for (row, a) in terms {
            match rows.iter_mut().find(|(known, _)| self.x.select(&[*known]) == self.x.select(&[*row])) {
                Some((_, sum)) => sum.iter_mut().zip(a).for_each(|(sum, a)| *sum += a),
                None => rows.push((*row, a.clone())),
            }
        }
        rows.into_iter().flat_map(|(_, a)| a).collect()
    }
}

/// The self-tuned Forgetron of Dekel, Shalev-Shwartz, Singer 2008, with φ found by trying.
#[derive(Default)]
struct NaiveForgetron {
    m: f64,
    q: f64,
    r: f64,
}

impl NaiveForgetron {
    fn visit(&mut self, f: &mut Naive<'_>, budget: usize, i: usize, y: usize) {
        let Some(added) = f.mistake(i, y) else { return };
        f.terms.push((i, added));
        self.m += 1.0;
        self.r = f.terms.iter().fold(self.r, |most, (s, _)| most.max(f.k(*s, i).abs()));
        if f.terms.len() <= budget {
            return;
        }
        let (oldest, a) = f.terms[0].clone();
        let norm = self.r * if f.planes > 1 { 2.0 } else { 1.0 };
        let sigma = a.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        let mu = a.iter().zip(f.score(oldest)).map(|(a, g)| a / sigma * g).sum::<f64>() / norm;
        let damage = |phi: f64| {
            let (lambda, mu) = (phi * sigma, phi * mu);
            lambda * lambda + 2.0 * lambda - 2.0 * lambda * mu
        };
        let allowed = |phi: f64| self.q + damage(phi) <= 15.0 / 32.0 * self.m;
        let (mut least, mut most) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (least + most) / 2.0;
            *if allowed(middle) { &mut least } else { &mut most } = middle;
        }
        let phi = if allowed(1.0) { 1.0 } else { least };
        self.q += damage(phi);
        f.terms.iter_mut().flat_map(|(_, a)| a).for_each(|a| *a *= phi);
        f.terms.remove(0);
    }
}

/// The Projectron of Orabona, Keshet, Caputo 2009, solving for the projection from scratch.
struct NaiveProjectron {
    eta: f64,
    basis: Vec<usize>,
}

impl NaiveProjectron {
    fn visit(&mut self, f: &mut Naive<'_>, budget: usize, i: usize, y: usize) {
        let Some(added) = f.mistake(i, y) else { return };
        let add = |f: &mut Naive<'_>, term: usize, d: f64| {
            f.terms[term].1.iter_mut().zip(&added).for_each(|(a, added)| *a += d * added);
        };
        if let Some(same) = f.terms.iter().position(|(s, _)| f.x.select(&[*s]) == f.x.select(&[i])) {
            return add(f, same, 1.0);
        }
        let row = |term: usize| f.terms[term].0;
        let gram = self.basis.iter().map(|&s| self.basis.iter().map(|&t| f.k(row(s), row(t))).collect());
        let k: Vec<f64> = self.basis.iter().map(|&s| f.k(row(s), i)).collect();
        let d = solved(gram.collect(), k.clone());
        let distance = f.k(i, i) - k.iter().zip(&d).map(|(k, d)| k * d).sum::<f64>();
        if f.terms.len() < budget && !(self.eta > 0.0 && distance.abs() <= self.eta * self.eta) {
            if distance > 1e-5 * f.k(i, i).abs() {
                self.basis.push(f.terms.len());
            }
            f.terms.push((i, added.clone()));
        } else {
            self.basis.iter().zip(d).for_each(|(&term, d)| add(f, term, d));
        }
    }
}

/// Gauss's elimination with pivots.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs())).unwrap();
        a.swap(c, pivot);
        b.swap(c, pivot);
        let (row, own) = (a[c].clone(), b[c]);
        for i in c + 1..n {
            let factor = a[i][c] / row[c];
            a[i].iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
            b[i] -= factor * own;
        }
    }
    for c in (0..n).rev() {
        b[c] = (b[c] - (c + 1..n).map(|j| a[c][j] * b[j]).sum::<f64>()) / a[c][c];
    }
    b
}

fn near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(1.0, |most: f64, a| most.max(a.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-7 * largest, "{what}: {found:?} where {expected:?}");
    }
}

/// Every visit of three passes, of rows that repeat, with and without a bias, in one plane and in several.
fn compare(
    learner: &KernelPerceptron,
    k: usize,
    mut visit: impl FnMut(&mut Naive<'_>, usize, usize),
) -> usize {
    let mut points = noisy(k, 70, 5, 30 + k as u64);
    (0..8).for_each(|i| points.push(&points.x[3 * i].clone(), points.y[i]));
    let x = points.dense::<f64>();
    let lift = if learner.bias == Bias::None { 0.0 } else { 1.0 };
    let kernel = Kernel::Poly { degree: 2, gamma: 1.0, coef0: 1.0 };
    let mut naive = Naive { x: &x, kernel, lift, planes: if k > 2 { k } else { 1 }, terms: Vec::new() };
    let mut stream = learner.stream_with(classes(k), points.cols()).unwrap();
    let (mut sums, mut visits) = (Vec::<Vec<f64>>::new(), 0.0);
    for step in 0..3 * points.y.len() {
        let i = step % points.y.len();
        stream.update(Example::Dense(&points.x[i]), &label(points.y[i])).unwrap();
        visit(&mut naive, i, points.y[i]);
        visits += 1.0;
        sums.resize(naive.terms.len(), vec![0.0; naive.planes]);
        for (sum, (_, a)) in sums.iter_mut().zip(&naive.terms) {
            sum.iter_mut().zip(a).for_each(|(sum, a)| *sum += a);
        }
        let mean = |((row, _), sum): (&(usize, Vec<f64>), &Vec<f64>)| {
            (*row, sum.iter().map(|s| s / visits).collect())
        };
        let expected = match learner.predictor {
            Predictor::Last => naive.coefficients(&naive.terms),
            _ => naive.coefficients(&naive.terms.iter().zip(&sums).map(mean).collect::<Vec<_>>()),
        };
        let found = expansion(&stream.model().body).coefficients();
        near(&found, &expected, &format!("visit {step} of {k} classes"));
    }
    naive.terms.len()
}

#[test]
fn forgetron_is_the_paper_visit_by_visit() {
    for (k, budget) in [(2, 1), (2, 7), (3, 10), (5, 16)] {
        for bias in [Bias::None, Bias::Free] {
            let learner = KernelPerceptron { bias, ..on_budget(Forget::Forgetron, budget) };
            let mut rule = NaiveForgetron::default();
            assert_eq!(compare(&learner, k, |f, i, y| rule.visit(f, budget, i, y)), budget);
            assert!(rule.q <= 15.0 / 32.0 * rule.m + 1e-9, "damage {} of {} mistakes", rule.q, rule.m);
        }
    }
}

#[test]
fn projectron_is_the_paper_visit_by_visit() {
    for (k, budget, eta) in [(2, 1, 0.0), (2, 7, 0.0), (2, 12, 3.0), (3, 10, 0.0), (5, 16, 1.5), (2, 40, 0.0)]
    {
        for (bias, predictor) in [(Bias::None, Predictor::Last), (Bias::Free, Predictor::Averaged)] {
            let learner = KernelPerceptron {
                bias,
                predictor,
                projection_error: eta,
                ..on_budget(Forget::Projectron, budget)
            };
            let mut rule = NaiveProjectron { eta, basis: Vec::new() };
            let stored = compare(&learner, k, |f, i, y| rule.visit(f, budget, i, y));
            assert!(stored <= budget && !rule.basis.is_empty());
        }
    }
}

#[test]
fn what_is_near_is_not_stored() {
    let data = noisy(2, 300, 6, 5).data();
    let stored = |projection_error| {
        let learner = KernelPerceptron { projection_error, ..on_budget(Forget::Projectron, 200) };
        expansion(&learner.fit(&data, &mut ()).unwrap().model.body).len()
    };
    // Squares and products of six features and a constant span 28 dimensions.
    assert!(stored(0.0) > 28 && stored(1e-3) == 28 && stored(6.0) < 28, "{} {}", stored(1e-3), stored(6.0));
}

fn rbf(learner: &KernelPerceptron) -> KernelPerceptron {
    KernelPerceptron { kernel: KernelName::Rbf, gamma: Some(0.3), degree: 3, ..learner.clone() }
}

/// The parameters differ, nothing else does.
#[test]
fn a_budget_that_is_not_reached_changes_nothing() {
    for k in [2, 4] {
        let data = noisy(k, 150, 6, 2).data();
        for multiclass in SCHEMES {
            for (forget, predictor) in [
                (Forget::Forgetron, Predictor::Last),
                (Forget::Projectron, Predictor::Last),
                (Forget::Projectron, Predictor::Averaged),
            ] {
                let poly = KernelPerceptron {
                    multiclass,
                    predictor,
                    order: Order::Shuffle,
                    ..on_budget(forget, 10_000)
                };
                for budgeted in [rbf(&poly), poly] {
                    let none = KernelPerceptron { budget: None, forget: None, ..budgeted.clone() };
                    let fit = |learner: &KernelPerceptron| learner.fit(&data, &mut ()).unwrap();
                    let (found, expected) = (fit(&budgeted), fit(&none));
                    assert_eq!(found.model, expected.model, "{budgeted:?}");
                    assert_eq!(found.report.passes, expected.report.passes);
                }
            }
        }
    }
}

fn problems(multiclass: Multiclass, k: usize) -> usize {
    match (multiclass, k) {
        (Multiclass::Native, _) | (_, 2) => 1,
        (Multiclass::Ovr, _) => k,
        (Multiclass::Ovo, _) => k * (k - 1) / 2,
    }
}

/// Rows that are dropped are freed, and so is all that was known of them.
#[test]
fn what_is_stored_stays_within_the_budget() {
    for forget in BOTH {
        for (k, multiclass) in
            [(2, Multiclass::Native), (4, Multiclass::Native), (4, Multiclass::Ovr), (4, Multiclass::Ovo)]
        {
            let points = noisy(k, 1500, 6, 7);
            let learner = rbf(&KernelPerceptron { multiclass, ..on_budget(forget, 20) });
            let most = 20 * problems(multiclass, k);
            let mut run = learner.run(classes(k), points.cols(), None).unwrap();
            let (mut stored, mut sizes) = (0, Vec::new());
            let data = points.data();
            for first in (0..1500).step_by(50) {
                run.learn_rows(&data, first..first + 50).unwrap();
                let rows = expansion(&run.model().body).len();
                assert!(rows <= most, "{rows} of {most} rows");
                stored = stored.max(rows);
                sizes.push(run.to_bytes().len());
            }
            assert!(stored > 20.min(most - 1), "the budget of {most} is not reached: {stored}");
            let (early, late) = (sizes[..10].iter().max(), sizes[10..].iter().max());
            assert!(late.unwrap() * 10 <= early.unwrap() * 13, "{sizes:?}");
        }
    }
}

fn stream(learner: &KernelPerceptron, points: &Points) -> Stream {
    let mut stream = learner.stream().unwrap();
    for (x, &y) in points.x.iter().zip(&points.y) {
        stream.update(Example::Dense(x), &label(y)).unwrap();
        let Body::Kernel(expansion) = stream.model().body else { panic!("no kernel") };
        assert!(expansion.coefficients().iter().all(|a| a.is_finite()));
    }
    stream
}

/// Examples that depend on each other, that are nothing, and kernels that are no dot products.
#[test]
fn numbers_stay_numbers() {
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    let mut rng = Rng::new(4);
    for step in 0..400 {
        let scale = [0.0, 1.0, 1.0 + 1e-7, 1e4, 1e-4][rng.below(5) as usize];
        let x = [[1.0, 2.0], [2.0, 4.0], [-1.0, 1.0], [rng.uniform(), rng.uniform()]][step % 4];
        points.push(&x.map(|v| v * scale), rng.below(2) as usize);
    }
    let kernels = [
        (KernelName::Linear, None),
        (KernelName::Poly, Some(0.0)),
        (KernelName::Rbf, None),
        (KernelName::Sigmoid, Some(-1.0)),
        (KernelName::Sigmoid, Some(0.0)),
        (KernelName::Cosine, None),
    ];
    for forget in BOTH {
        for (kernel, coef0) in kernels {
            for budget in [1, 5, 60] {
                let bare = matches!(kernel, KernelName::Linear | KernelName::Cosine);
                let (gamma, degree) =
                    ((!bare).then_some(0.5), if kernel == KernelName::Poly { 2 } else { 3 });
                let learner = KernelPerceptron { kernel, coef0, gamma, degree, ..on_budget(forget, budget) };
                let learner = if kernel == KernelName::Rbf {
                    KernelPerceptron { gamma: Some(1e-7), ..learner }
                } else {
                    learner
                };
                let stream = stream(&learner, &points);
                assert_eq!(stream.seen(), 400);
                let scores = stream.model().scores(&points.dense::<f64>()).unwrap();
                assert!(scores.iter().all(|g| g.is_finite()), "{learner:?}");
            }
        }
    }
}

/// Late classes come to problems that have forgotten already.
#[test]
fn classes_may_come_late() {
    for forget in BOTH {
        for multiclass in SCHEMES {
            let learner = rbf(&KernelPerceptron { multiclass, ..on_budget(forget, 8) });
            let mut points = noisy(5, 400, 5, 3);
            let late = |i: &usize| points.y[*i] < 2 + i / 100;
            let kept: Vec<usize> = (0..points.y.len()).filter(late).collect();
            points = Points {
                x: kept.iter().map(|&i| points.x[i].clone()).collect(),
                y: kept.iter().map(|&i| 4 - points.y[i]).collect(),
                classes: 5,
            };
            let Body::Kernel(expansion) = stream(&learner, &points).model().body else { panic!("no kernel") };
            assert!(expansion.len() <= 8 * problems(multiclass, 5));
        }
    }
}

#[test]
fn a_budget_costs_little_accuracy() {
    let mut rng = Rng::new(11);
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    for _ in 0..4000 {
        let x = [4.0 * rng.uniform() - 2.0, 4.0 * rng.uniform() - 2.0];
        points.push(&x, usize::from(x[0] * x[0] + x[1] * x[1] < 2.0));
    }
    let data = points.data();
    for (forget, least) in [(Forget::Forgetron, 0.8), (Forget::Projectron, 0.95)] {
        let fit = rbf(&KernelPerceptron { passes: 1, ..on_budget(forget, 40) }).fit(&data, &mut ()).unwrap();
        let accuracy = fit.report.train_accuracy.unwrap();
        assert!(accuracy > least, "{accuracy} by {forget:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |learner: KernelPerceptron| learner.check().unwrap_err();
    let base = KernelPerceptron::default();
    let named = |learner: KernelPerceptron| refused(learner).name;
    assert_eq!(named(KernelPerceptron { budget: Some(0), ..base.clone() }), "budget");
    let precomputed = KernelPerceptron { kernel: KernelName::Precomputed, budget: Some(9), ..base.clone() };
    assert!(refused(precomputed).to_string().contains("which a precomputed kernel has not"));
    assert_eq!(named(KernelPerceptron { forget: Some(Forget::Projectron), ..base.clone() }), "forget");
    assert_eq!(named(KernelPerceptron { projection_error: 0.1, ..base.clone() }), "projection_error");
    assert_eq!(
        named(KernelPerceptron { projection_error: 0.1, ..on_budget(Forget::Forgetron, 9) }),
        "projection_error"
    );
    for projection_error in [-0.1, f64::NAN, f64::INFINITY] {
        let learner = KernelPerceptron { projection_error, ..on_budget(Forget::Projectron, 9) };
        assert_eq!(named(learner), "projection_error");
    }
    assert_eq!(named(on_budget(Forget::Projectron, 1 << 20)), "budget");
    assert!(on_budget(Forget::Forgetron, 1 << 20).check().is_ok());
    for forget in BOTH {
        let voted = KernelPerceptron { predictor: Predictor::Voted, ..on_budget(forget, 9) };
        assert!(refused(voted).to_string().contains("predictor: all weights that vote"));
    }
    let averaged = KernelPerceptron { predictor: Predictor::Averaged, ..on_budget(Forget::Forgetron, 9) };
    assert!(refused(averaged).to_string().contains("the examples that forgetron drops"));
}

/// Novikoff's bound is proved for a perceptron that forgets nothing.
#[test]
fn no_bound_is_claimed() {
    let data = Points::of(&[([1.0, 0.0], 0), ([0.0, 1.0], 1), ([2.0, 0.0], 0)]).data();
    let bound = |budget| {
        let learner = KernelPerceptron { tie: Tie::Mistake, budget, ..KernelPerceptron::default() };
        learner.fit(&data, &mut ()).unwrap().report.mistake_bound
    };
    assert!(bound(None).is_some() && bound(Some(2)).is_none());
}

fn begun(learner: &KernelPerceptron, data: &Dataset<'_>) -> Run {
    let mut run = learner.run(data.classes().clone(), data.n_features(), None).unwrap();
    run.learn(data).unwrap();
    run
}

#[test]
fn foreign_and_damaged_checkpoints_are_refused() {
    let data = noisy(3, 40, 4, 1).data();
    for (forget, predictor, multiclass) in [
        (Forget::Forgetron, Predictor::Last, Multiclass::Native),
        (Forget::Projectron, Predictor::Averaged, Multiclass::Native),
        (Forget::Projectron, Predictor::Last, Multiclass::Ovr),
    ] {
        let learner = KernelPerceptron { predictor, multiclass, ..on_budget(forget, 6) };
        let bytes = begun(&learner, &data).to_bytes();
        let other = KernelPerceptron { budget: Some(7), ..learner.clone() };
        assert!(other.resume(&bytes).err().unwrap().to_string().contains("other parameters"));
        assert!((0..bytes.len()).step_by(7).all(|cut| learner.resume(&bytes[..cut]).is_err()));
        let (mut rng, mut accepted) = (Rng::new(9), 0);
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(bytes.len() as u64) as usize;
                damaged[at] = rng.bits() as u8;
            }
            // Whatever is accepted can be used.
            if let Ok(mut run) = learner.resume(&damaged) {
                let _ = run.learn(&data);
                let _ = run.measure();
                accepted += 1;
            }
        }
        assert!(accepted > 0, "damage to single numbers cannot be seen");
    }
}

/// As if it had not been saved: every number of the state counts.
#[test]
fn a_run_goes_on_where_it_was() {
    for forget in BOTH {
        let data = noisy(3, 200, 5, 6).data();
        let learner = rbf(&on_budget(forget, 12));
        let fit = |saved: bool| -> Fit {
            let mut run = learner.run(data.classes().clone(), 5, None).unwrap();
            for first in (0..data.n_rows()).step_by(9) {
                if saved {
                    run = learner.resume(&run.to_bytes()).unwrap();
                }
                run.learn_rows(&data, first..first + 9).unwrap();
            }
            run.finish(rosenblatt::Status::PassLimit, data.features().clone(), None, None)
        };
        assert_eq!(fit(false).to_bytes(), fit(true).to_bytes());
    }
}
