//! Random Fourier features and the Nyström method against the kernels they stand for.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, noisy};
use proptest::prelude::*;
use rosenblatt::{
    Bias, Csr, Dataset, Dense, FeatureMap, Fit, Kernel, Learner, LinearSvm, MapKind, Matrix, Perceptron, Rng,
    Rows, Status, Task,
};

const GAMMA: f64 = 0.25;

fn rows(n_rows: usize, n_cols: usize, seed: u64) -> Matrix<'static> {
    let mut rng = Rng::new(seed);
    let values: Vec<f64> = (0..n_rows * n_cols).map(|_| rng.normal()).collect();
    Dense::new(values, n_cols).unwrap().into()
}

fn unlabelled<'a>(x: &Matrix<'a>) -> Dataset<'a> {
    Dataset::with_classes(x.clone(), vec![0; x.n_rows()], common::classes(1)).unwrap()
}

fn fitted(kind: &str, x: &Matrix<'_>, seed: u64) -> FeatureMap {
    FeatureMap::fit(kind.parse().unwrap(), &unlabelled(x), seed).unwrap()
}

/// The root of the mean square, and the largest, of the differences between dot products and kernel values.
fn errors(kernel: Kernel, map: &FeatureMap, x: &Matrix<'_>) -> (f64, f64) {
    let mapped = map.apply(x).unwrap();
    let (mut squares, mut worst, n) = (0.0, 0.0f64, x.n_rows());
    for at in 0..n * n {
        let off = (mapped.inner(at / n, at % n) - kernel.value(x, at / n, x, at % n)).abs();
        (squares, worst) = (squares + off * off, worst.max(off));
    }
    ((squares / (n * n) as f64).sqrt(), worst)
}

/// The error falls as 1/√N: a hundred times as many waves, a tenth of it.
#[test]
fn waves_come_near_the_gaussian_kernel() {
    let x = rows(40, 5, 1);
    let error = |waves: usize| {
        let map = fitted(&format!("fourier:{waves}:gamma={GAMMA}"), &x, 3);
        errors(Kernel::Rbf { gamma: GAMMA }, &map, &x).0
    };
    let found: Vec<f64> = [100, 10_000].map(error).into();
    assert!((0.05..0.2).contains(&found[0]) && (0.005..0.02).contains(&found[1]), "{found:?}");
}

/// The span of all rows is all of the space that they are in, whatever the kernel.
#[test]
fn all_rows_as_landmarks_reproduce_the_kernel() {
    let mut values = Vec::new();
    let drawn = rows(80, 5, 7);
    (0..80).for_each(|i| drawn.each(i, |_, v| values.push(v.abs())));
    let positive: Matrix<'_> = Dense::new(values, 5).unwrap().into();
    for (text, kernel) in [
        ("nystroem:1000:gamma=0.25", Kernel::Rbf { gamma: GAMMA }),
        ("nystroem:1000:gamma=0.001", Kernel::Rbf { gamma: 0.001 }),
        ("nystroem:1000:laplacian:gamma=0.25", Kernel::Laplacian { gamma: GAMMA }),
        ("nystroem:1000:chi2:gamma=0.25", Kernel::Chi2 { gamma: GAMMA }),
        ("nystroem:1000:cosine", Kernel::Cosine),
        ("nystroem:1000:linear", Kernel::Linear),
        ("nystroem:1000:poly:degree=2:gamma=0.1", Kernel::Poly { degree: 2, gamma: 0.1, coef0: 1.0 }),
    ] {
        let map = fitted(text, &positive, 0);
        let largest = (0..80).map(|i| kernel.value(&positive, i, &positive, i)).fold(1.0, f64::max);
        let (_, worst) = errors(kernel, &map, &positive);
        assert!(worst < 1e-4 * largest, "{text}: {worst:e} of {largest}");
        assert_eq!(map.n_outputs(), 80, "{text}");
    }
}

/// A wide Gaussian sees hardly more than a plane: nearly all landmarks are in the span of a few, and rounding errors must not take over.
#[test]
fn landmarks_that_bring_little_do_no_harm() {
    let x = rows(300, 3, 3);
    for gamma in [0.001, 0.05, 0.5] {
        for landmarks in [30, 100, 300] {
            let map = fitted(&format!("nystroem:{landmarks}:gamma={gamma}"), &x, 0);
            let mapped = map.apply(&x).unwrap();
            let longest = (0..300).map(|i| mapped.sq_norm(i)).fold(0.0, f64::max);
            assert!(longest < 1.0 + 1e-4, "{landmarks} of {gamma}: {longest}");
            let (_, worst) = errors(Kernel::Rbf { gamma }, &map, &x);
            assert!(landmarks < 300 || worst < 1e-4, "{gamma}: {worst:e}");
        }
    }
}

/// A few landmarks see most of it, more see more, and no product is longer than it is.
#[test]
fn more_landmarks_see_more() {
    let x = rows(200, 3, 2);
    let kernel = Kernel::Rbf { gamma: GAMMA };
    let error = |landmarks: usize| {
        let map = fitted(&format!("nystroem:{landmarks}:gamma={GAMMA}"), &x, 1);
        let mapped = map.apply(&x).unwrap();
        assert!((0..200).all(|i| mapped.sq_norm(i) < 1.0 + 1e-4));
        errors(kernel, &map, &x).0
    };
    let found = [5, 20, 80].map(error);
    assert!(found[0] < 0.3 && found[1] < 0.5 * found[0] && found[2] < 0.5 * found[1], "{found:?}");
}

/// Rows that occur many times, rows almost alike, rows of zeros, and a kernel that is no dot product.
#[test]
fn dependent_landmarks_give_numbers() {
    let mut values = Vec::new();
    for i in 0..60 {
        let nudge = if i % 2 == 0 { 0.0 } else { 1e-6 };
        values.extend([f64::from(i % 3) + nudge, f64::from(i % 5 % 2)]);
    }
    let x: Matrix<'_> = Dense::new(values, 2).unwrap().into();
    for text in
        ["nystroem:60", "nystroem:60:poly", "nystroem:60:sigmoid:gamma=5:coef0=-1", "nystroem:60:cosine"]
    {
        let map = fitted(text, &x, 0);
        // Six different points, and six that are hardly different.
        assert!((1..=12).contains(&map.n_outputs()), "{text}: {}", map.n_outputs());
        let mapped = map.apply(&x).unwrap();
        let longest = (0..60).map(|i| mapped.sq_norm(i)).fold(0.0, f64::max);
        assert!(longest < 2000.0, "{text}: {longest}");
    }
    let (_, worst) = errors(Kernel::Rbf { gamma: GAMMA }, &fitted("nystroem:60:gamma=0.25", &x, 0), &x);
    assert!(worst < 1e-4, "{worst:e}");
    let scattered = rows(300, 3, 12);
    for coef0 in [-1, 0, 1] {
        let mapped =
            fitted(&format!("nystroem:200:sigmoid:gamma=1:coef0={coef0}"), &scattered, 0).apply(&scattered);
        let longest = mapped.map(|mapped| (0..300).map(|i| mapped.sq_norm(i)).fold(0.0, f64::max)).unwrap();
        assert!(longest < 1e3, "{coef0}: {longest}");
    }
    let zeros: Matrix<'_> = Dense::new(vec![0.0; 8], 2).unwrap().into();
    let kind = "nystroem:3:linear".parse().unwrap();
    let error = FeatureMap::fit(kind, &unlabelled(&zeros), 0).unwrap_err().to_string();
    assert!(error.contains("K(u, u) is 0"), "{error}");
}

#[test]
fn a_row_without_weight_is_no_landmark() {
    let x = rows(30, 2, 4);
    let weights = (0..30).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let data = unlabelled(&x).with_weights(weights).unwrap();
    let map = FeatureMap::fit("nystroem:30:laplacian".parse().unwrap(), &data, 0).unwrap();
    assert_eq!(map.n_outputs(), 10);
}

/// γ by itself is what the kernel perceptron takes, too: 1 / (features · variance).
#[test]
fn gamma_is_measured_where_it_is_left_open() {
    let x: Matrix<'_> = Dense::new(vec![1.0, -1.0, 1.0, -1.0, -1.0, 1.0], 2).unwrap().into();
    let expected = MapKind::Fourier { waves: 4, gamma: Some(0.5) };
    assert_eq!(fitted("fourier:4", &x, 0).kind, expected);
    assert_eq!(fitted("nystroem:4", &x, 0).kind.to_string(), "nystroem:4:rbf:gamma=0.5");
}

#[test]
fn the_seed_decides_and_nothing_else_does() {
    let points = noisy(3, 300, 7, 5);
    let dense = points.dense::<f64>();
    for kind in ["fourier:50", "nystroem:50", "nystroem:50:laplacian", "nystroem:50:chi2"] {
        let (map, other) = (fitted(kind, &dense, 1), fitted(kind, &dense, 2));
        assert_eq!(map, fitted(kind, &dense, 1), "{kind}");
        assert_ne!(map, other, "{kind}");
        let mapped = map.apply(&dense).unwrap();
        for x in [points.sparse::<f64>(), points.dense::<f32>(), points.sparse::<f32>()] {
            assert_eq!(fitted(kind, &x, 1).apply(&x).unwrap(), mapped, "{kind}");
            assert_eq!(map.apply(&x).unwrap(), mapped, "{kind}");
        }
        // Row by row, too.
        let alone = map.apply(&dense.select(&[77])).unwrap();
        assert_eq!(alone, mapped.select(&[77]), "{kind}");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| fitted(kind, &dense, 1).apply(&dense).unwrap());
            assert_eq!(again, mapped, "{kind} with {threads} threads");
        }
    }
}

/// Waves do not depend on how many come after them.
#[test]
fn more_waves_begin_with_the_same() {
    let x = rows(10, 3, 6);
    let [few, many] =
        ["fourier:8:gamma=1", "fourier:32:gamma=1"].map(|kind| fitted(kind, &x, 0).apply(&x).unwrap());
    let (mut a, mut b) = (Vec::new(), Vec::new());
    few.each(3, |_, v| a.push(v));
    many.each(3, |j, v| b.extend((j < 8).then_some(2.0 * v)));
    assert_eq!(a, b);
}

fn rings() -> Points {
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    for i in 0..120u32 {
        let (angle, ring) = (f64::from(i) * 2.4, i as usize % 2);
        let radius = 1.0 + ring as f64 + 0.2 * f64::from(i % 7) / 7.0;
        points.push(&[radius * angle.cos(), radius * angle.sin()], ring);
    }
    points
}

/// No line comes near it; planes behind either map separate the rings, and what they have not seen of them.
#[test]
fn rings_become_separable() {
    let points = rings();
    let data = points.data();
    let line = LinearSvm::default().fit(&data, &mut ()).unwrap();
    assert!(line.report.train_accuracy.unwrap() < 0.7);
    let new: Matrix<'_> = Dense::new(vec![0.0, 1.1, -1.1, 0.0, 0.0, 2.1, 2.1, 0.0], 2).unwrap().into();
    for kind in ["fourier:200:gamma=1", "nystroem:40"] {
        let map = FeatureMap::fit(kind.parse().unwrap(), &data, 0).unwrap();
        let mapped = data.clone().mapped(&map).unwrap();
        let task = Task { map: Some(&map), ..Task::new(&mapped) };
        let fit = Perceptron { passes: 500, ..Perceptron::default() }.learn(&task, &mut ()).unwrap();
        assert_eq!((fit.report.status, fit.report.train_accuracy), (Status::Converged, Some(1.0)), "{kind}");
        assert_eq!(fit.model.predict(&new).unwrap(), [0, 0, 1, 1], "{kind}");
    }
}

/// Each algorithm takes the features that a map makes, says the same after saving, and the same of sparse rows.
#[test]
fn every_learner_learns_behind_them() {
    for case in common::cases() {
        for kind in ["squares", "lift", "poly:2", "homogeneous:2", "identity", "fourier:12", "nystroem:9"] {
            let waves = !["squares", "lift", "poly:2", "homogeneous:2", "identity"].contains(&kind);
            // Waves are negative, too.
            let needs_positive = (case.algorithm.name == "winnow" && case.given["balanced"] == false)
                || case.given.get("distribution").is_some_and(|of| of == "multinomial");
            if waves && needs_positive {
                continue;
            }
            // The lift is one of planes.
            let mut points = common::apart(2, 30, if kind == "lift" { 2 } else { 4 }, 8);
            if !waves {
                // What is multiplied with itself is not to be large: Winnow takes powers of it.
                points.x.iter_mut().flatten().for_each(|v| *v /= 16.0);
            }
            let map = FeatureMap::fit(kind.parse().unwrap(), &points.data(), 0).unwrap();
            let data = points.data().mapped(&map).unwrap();
            let task = Task { map: Some(&map), ..Task::new(&data) };
            let fit = match case.learner(&serde_json::json!({})).learn(&task, &mut ()) {
                Ok(fit) => fit,
                // The widest margin may well not be there.
                Err(rosenblatt::Error::NotSeparable { .. }) => continue,
                Err(error) => panic!("{}, {kind}: {error}", case.name()),
            };
            let loaded = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
            assert_eq!(loaded, fit, "{}, {kind}", case.name());
            let scores = fit.model.scores(points.data().x()).unwrap();
            assert_eq!(
                loaded.model.scores(&points.sparse::<f64>()).unwrap(),
                scores,
                "{}, {kind}",
                case.name()
            );
        }
    }
}

#[test]
fn too_much_is_refused_before_memory_is_taken() {
    let x = rows(20, 3, 9);
    let refused =
        |kind: MapKind, x: &Matrix<'_>| FeatureMap::fit(kind, &unlabelled(x), 0).unwrap_err().to_string();
    let absurd = |waves: usize| refused(MapKind::Fourier { waves, gamma: None }, &x);
    assert!(absurd(1 << 40).contains("1,099,511,627,776 terms of 3 features"), "{}", absurd(1 << 40));
    assert!(absurd(usize::MAX).contains("ask for fewer"));
    assert!(absurd(0).contains("at least one wave"));
    // As many landmarks as there are rows, and no more.
    assert_eq!(fitted(&format!("nystroem:{}:laplacian", usize::MAX), &x, 0).n_outputs(), 20);
    // Their values with each other are a square.
    let many: Matrix<'_> = Dense::new(vec![1.0f32; 1 << 20], 1).unwrap().into();
    let error = refused("nystroem:1048576:linear".parse().unwrap(), &many);
    assert!(error.contains("GiB") && error.contains("more than there is"), "{error}");
    let wide: Matrix<'_> = Csr::new(vec![0, 1], vec![7], vec![2.0f32], 70_000_000).unwrap().into();
    for kind in ["fourier:3", "nystroem:3"] {
        let error = refused(kind.parse().unwrap(), &wide);
        assert!(error.contains("70,000,000 features"), "{error}");
    }
    let far: Matrix<'_> = Dense::new(vec![1e6, 1e6 + 1.0], 1).unwrap().into();
    let error = fitted("fourier:3:gamma=1", &far, 0).apply(&far).unwrap_err().to_string();
    assert!(error.contains("--scale standard"), "{error}");
    let negative: Matrix<'_> = Dense::new(vec![-1.0, 1.0], 1).unwrap().into();
    assert!(refused("nystroem:3:chi2".parse().unwrap(), &negative).contains("not negative"));
}

/// Distances are those of the rows, wherever they are.
#[test]
fn landmarks_may_be_far_from_zero() {
    let near = rows(50, 2, 10);
    let mut values = Vec::new();
    (0..50).for_each(|i| near.each(i, |_, v| values.push(v + 1e3)));
    let far: Matrix<'_> = Dense::new(values, 2).unwrap().into();
    let (_, worst) = errors(Kernel::Rbf { gamma: GAMMA }, &fitted("nystroem:50:gamma=0.25", &far, 0), &far);
    assert!(worst < 1e-3, "{worst:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the rows, the features are numbers, and landmarks reproduce what they see of each other.
    #[test]
    fn any_rows_can_be_landmarks(
        columns in 1usize..5, scale in -3i32..3, values in prop::collection::vec(-6i8..6, 40), seed in 0u64..9,
    ) {
        let values: Vec<f64> = values.iter().map(|&v| f64::from(v) * 10f64.powi(scale)).collect();
        let n_rows = values.len() / columns;
        let x: Matrix<'_> = Dense::new(values[..n_rows * columns].to_vec(), columns).unwrap().into();
        let gamma = 0.05 / 100f64.powi(scale);
        let map = fitted(&format!("nystroem:{n_rows}:gamma={gamma}"), &x, seed);
        let (_, worst) = errors(Kernel::Rbf { gamma }, &map, &x);
        prop_assert!(worst < 1e-4, "{worst:e}, {} landmarks", map.n_outputs());
    }
}

/// Without a bias the scores of a linear learner are those of the kernel itself.
#[test]
fn a_plane_behind_all_landmarks_is_the_kernel_machine() {
    let points = noisy(2, 60, 4, 11);
    let data = points.data();
    let train = |kind: &str| {
        let map = FeatureMap::fit(kind.parse().unwrap(), &data, 0).unwrap();
        let mapped = data.clone().mapped(&map).unwrap();
        let learner = LinearSvm { bias: Bias::None, gap: 1e-6, ..LinearSvm::default() };
        let fit = learner.learn(&Task { map: Some(&map), ..Task::new(&mapped) }, &mut ()).unwrap();
        fit.report.primal.unwrap()
    };
    // (u·v + 1)² once by its products, once by its values.
    let (products, landmarks) = (train("poly:2"), train("nystroem:1000:poly:degree=2"));
    assert!((products - landmarks).abs() < 1e-3 * products, "{products} {landmarks}");
}
