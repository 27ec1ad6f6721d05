//! Explicit feature maps against the kernels they stand for.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, noisy};
use proptest::prelude::*;
use rosenblatt::{
    Bias, Dataset, Dense, FeatureMap, Fit, Kernel, KernelChoice, Learner, MapKind, Matrix, Perceptron, Rows,
    Status, Task,
};

/// Rows without labels worth the name.
fn unlabelled<'a>(x: &Matrix<'a>) -> Dataset<'a> {
    Dataset::with_classes(x.clone(), vec![0; x.n_rows()], common::classes(1)).unwrap()
}

fn fitted(kind: MapKind, x: &Matrix<'_>) -> FeatureMap {
    FeatureMap::fit(kind, &unlabelled(x), 0).unwrap()
}

fn mapped(kind: MapKind, x: &Matrix<'_>) -> Matrix<'static> {
    fitted(kind, x).apply(x).unwrap()
}

fn row(x: &Matrix<'_>, i: usize) -> Vec<f64> {
    let mut row = vec![0.0; x.n_cols()];
    x.each(i, |j, v| row[j] = v);
    row
}

#[test]
fn the_maps_of_the_lectures() {
    let x: Matrix<'_> = Dense::new(vec![3.0, -2.0], 2).unwrap().into();
    let root = 2f64.sqrt();
    assert_eq!(row(&mapped(MapKind::Squares, &x), 0), [9.0, 4.0]);
    assert_eq!(row(&mapped(MapKind::Lift, &x), 0), [3.0, -2.0, 13.0]);
    // (1, √2u₁, √2u₂, u₁², √2u₁u₂, u₂²)
    let expected = [1.0, root * 3.0, root * -2.0, 9.0, root * -6.0, 4.0];
    common::assert_close(&row(&mapped(MapKind::Poly(2), &x), 0), &expected, "poly:2");
    common::assert_close(&row(&mapped(MapKind::Homogeneous(2), &x), 0), &expected[3..], "homogeneous:2");
    let map = fitted(MapKind::Poly(3), &x);
    let names: Vec<String> = (0..map.n_outputs()).map(|j| map.name(j)).collect();
    assert_eq!(names, ["1", "x1", "x2", "x1²", "x1·x2", "x2²", "x1^3", "x1²·x2", "x1·x2²", "x2^3"]);
}

#[test]
fn too_many_terms_are_refused_before_memory_is_taken() {
    let x: Matrix<'_> = Dense::new(vec![1.0; 100], 100).unwrap().into();
    let refused = |kind| FeatureMap::fit(kind, &unlabelled(&x), 0).unwrap_err().to_string();
    assert!(refused(MapKind::Homogeneous(6)).contains("1,609,344,100 terms of 100 features"));
    assert!(refused(MapKind::Poly(6)).contains("1,705,904,746 terms"));
    assert!(refused(MapKind::Poly(64)).contains("kernel"));
}

#[test]
fn words_for_maps() {
    for kind in
        [MapKind::Squares, MapKind::Lift, MapKind::Poly(2), MapKind::Homogeneous(7), MapKind::Identity]
    {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    for text in [
        "fourier:100",
        "fourier:100:gamma=0.25",
        "nystroem:3:rbf",
        "nystroem:3:rbf:sigma=2",
        "nystroem:3:poly:gamma=0.5:degree=2:coef0=-1",
        "nystroem:3:cosine",
    ] {
        assert_eq!(text.parse::<MapKind>().map(|kind| kind.to_string()), Ok(text.to_owned()));
    }
    let fourier = MapKind::Fourier { waves: 7, gamma: Some(0.125) };
    assert_eq!("fourier:7:sigma=2".parse(), Ok(fourier));
    assert_eq!("fourier:7:rbf:gamma=0.125".parse(), Ok(fourier));
    let nystroem = MapKind::Nystroem { landmarks: 7, kernel: KernelChoice::default() };
    assert_eq!("nystroem:7".parse(), Ok(nystroem));
    for wrong in ["poly", "poly:0", "poly:65", "poly:2.5", "cubes", "", "squares:2"] {
        assert!(wrong.parse::<MapKind>().is_err(), "{wrong}");
    }
    for (wrong, problem) in [
        ("fourier", "is none of"),
        ("fourier:0", "at least one wave"),
        ("fourier:many", "number of waves is a whole number"),
        ("fourier:9:laplacian", "rbf alone"),
        ("fourier:9:gamma=-1", "more than 0"),
        ("fourier:9:gamma=NaN", "more than 0"),
        ("fourier:9:gamma=x", "gamma is a number"),
        ("fourier:9:gamma=1:sigma=1", "one of gamma and sigma"),
        ("fourier:9:degree=2", "has no \"degree\""),
        ("nystroem:0", "at least one landmark"),
        ("nystroem:-1", "number of landmarks is a whole number"),
        ("nystroem:9:gauss", "\"gauss\" is no kernel"),
        ("nystroem:9:rbf:poly", "one kernel"),
        ("nystroem:9:precomputed", "knows no values"),
        ("nystroem:9:poly:degree=65", "from 1 to 64"),
        ("nystroem:9:linear:gamma=1", "has no \"gamma\""),
    ] {
        let error = wrong.parse::<MapKind>().unwrap_err().to_string();
        assert!(error.contains(problem), "{wrong}: {error}");
    }
}

/// Any labelling of different rows can be separated where each has a feature of its own; rows it does not know are 0.
#[test]
fn identity_separates_everything() {
    let mut points = Points { x: Vec::new(), y: Vec::new(), classes: 2 };
    (0..20).for_each(|i| points.push(&[f64::from(i), f64::from(i % 3)], usize::from(i * i % 7 > 2)));
    let data = points.data();
    let map = FeatureMap::fit(MapKind::Identity, &data, 0).unwrap();
    let new: Matrix<'_> = Dense::new(vec![3.0, 0.0, 3.0, 1.0], 2).unwrap().into();
    assert_eq!(
        (row(&map.apply(&new).unwrap(), 0)[3], row(&map.apply(&new).unwrap(), 1).iter().sum::<f64>()),
        (1.0, 0.0)
    );
    let data = data.mapped(&map).unwrap();
    let task = Task { map: Some(&map), ..Task::new(&data) };
    let fit = Perceptron::default().learn(&task, &mut ()).unwrap();
    assert_eq!((fit.report.status, fit.report.train_accuracy), (Status::Converged, Some(1.0)));
}

/// A row is the same row in single and in double precision, and what is sparse stays so.
#[test]
fn identity_knows_rows_of_either_precision() {
    let single: Matrix<'_> = Dense::new(vec![0.1f32, 0.2, 0.3, 0.4], 2).unwrap().into();
    let double: Matrix<'_> = Dense::new(vec![0.1, 0.2, 0.3, 0.4], 2).unwrap().into();
    for (known, new) in [(&single, &double), (&double, &single)] {
        let map = fitted(MapKind::Identity, known);
        let found = map.apply(new).unwrap();
        assert_eq!((row(&found, 0), row(&found, 1)), (vec![1.0, 0.0], vec![0.0, 1.0]));
    }
    let wide: Matrix<'_> =
        rosenblatt::Csr::new(vec![0, 1], vec![7], vec![2.0f32], 80_000_000).unwrap().into();
    let wide = FeatureMap::fit(MapKind::Squares, &unlabelled(&wide), 0);
    assert!(wide.unwrap_err().to_string().contains("80,000,000 terms"));
}

#[test]
fn a_model_maps_what_it_predicts_on() {
    for kind in ["squares", "lift", "poly:2", "homogeneous:3", "identity", "fourier:30", "nystroem:20"] {
        let kind: MapKind = kind.parse().unwrap();
        let points = noisy(3, 40, 5, 2);
        let map = FeatureMap::fit(kind, &points.data(), 0).unwrap();
        let data = points.data().mapped(&map).unwrap();
        let task = Task { map: Some(&map), ..Task::new(&data) };
        let learner = Perceptron { bias: Bias::None, ..Perceptron::averaged() };
        let fit = learner.learn(&task, &mut ()).unwrap();
        let loaded = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded, fit, "{kind}");
        let inside = fit.model.body.scores(data.x());
        assert_eq!(loaded.model.scores(points.data().x()).unwrap(), inside, "{kind}");
        assert_eq!(loaded.model.scores(&points.sparse::<f64>()).unwrap(), inside, "{kind}");
        let why = fit.model.explain(points.data().x(), 1).unwrap();
        let sum: f64 = why.bias[0] + why.contributions.iter().map(|part| part.amounts[0]).sum::<f64>();
        common::assert_close(&[sum], &[why.scores[0]], "explained");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn each_polynomial_kernel_is_the_dot_product_of_its_map(
        columns in 1usize..6, degree in 1u32..6, values in prop::collection::vec(-8i8..8, 24),
    ) {
        let values: Vec<f64> = values.iter().map(|&v| f64::from(v) / 4.0).collect();
        let n_rows = values.len() / columns;
        let x: Matrix<'_> = Dense::new(values[..n_rows * columns].to_vec(), columns).unwrap().into();
        for (kind, coef0) in [(MapKind::Poly(degree), 1.0), (MapKind::Homogeneous(degree), 0.0)] {
            let (kernel, map) = (Kernel::Poly { degree, gamma: 1.0, coef0 }, mapped(kind, &x));
            for i in 0..n_rows {
                for j in 0..=i {
                    let (found, expected) = (map.inner(i, j), kernel.value(&x, i, &x, j));
                    prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + kernel.value(&x, i, &x, i) + kernel.value(&x, j, &x, j)), "{} {}", found, expected);
                }
            }
        }
    }
}
