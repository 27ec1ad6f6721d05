//! Kernel values in blocks against naive ones.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use rosenblatt::registry::{KERNELS as ROWS, algorithm};
use rosenblatt::{Body, Csr, Dataset, Dense, Fit, Gram, Kernel, KernelName, Labels, Matrix, Rng, Rows};
use serde_json::{Value, json};

const KERNELS: [Kernel; 9] = [
    Kernel::Linear,
    Kernel::Poly { degree: 2, gamma: 1.0, coef0: 0.0 },
    Kernel::Poly { degree: 3, gamma: 0.5, coef0: 1.0 },
    Kernel::Poly { degree: 6, gamma: 0.1, coef0: 1.0 },
    Kernel::Rbf { gamma: 0.3 },
    Kernel::Sigmoid { gamma: 0.2, coef0: -0.1 },
    Kernel::Laplacian { gamma: 0.4 },
    Kernel::Cosine,
    Kernel::Chi2 { gamma: 0.5 },
];

/// Rows with so many of a hundred entries, between `from` and `from + 1`.
fn rows(n_rows: usize, n_cols: usize, percent: u64, from: f32, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut value = || match rng.below(100) < percent {
        true => from + rng.below(1 << 20) as f32 / (1 << 20) as f32,
        false => 0.0,
    };
    (0..n_rows * n_cols).map(|_| value()).collect()
}

/// Rows of bytes, of bytes over 255, of 0 and 1, and of other numbers; all of one kind, or each of its own.
fn mostly_whole(n_rows: usize, n_cols: usize, percent: u64, kind: u64, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut values = Vec::new();
    for _ in 0..n_rows {
        let kind = if kind < 4 { kind } else { rng.below(4) };
        values.extend((0..n_cols).map(|_| match (rng.below(100) < percent, kind) {
            (false, _) => 0.0,
            (_, 0) => rng.below(256) as f32,
            (_, 1) => rng.below(256) as f32 / 255.0,
            (_, 2) => rng.below(2) as f32,
            _ => rng.below(1 << 20) as f32 / 1000.0,
        }));
    }
    values
}

fn sparse(values: &[f32], n_cols: usize) -> Csr<'static, f32> {
    let (mut pointers, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(n_cols) {
        let stored = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
        stored.for_each(|(j, v)| {
            columns.push(j as u32);
            entries.push(*v);
        });
        pointers.push(columns.len() as u64);
    }
    Csr::new(pointers, columns, entries, n_cols).unwrap()
}

fn values(kernel: Kernel, x: &Matrix<'_>, set: &[usize]) -> Vec<f32> {
    let gram = Gram::new(kernel, x).unwrap();
    let all: Vec<usize> = (0..x.n_rows()).collect();
    let mut out = vec![f32::NAN; all.len() * set.len()];
    gram.values(&gram.tiles(&gram, set), &all, &mut out);
    out
}

/// K of two rows that nobody else is with.
fn alone(kernel: Kernel, x: &Matrix<'_>, i: usize, j: usize) -> f32 {
    values(kernel, &x.select(&[i, j]), &[1])[0]
}

type Twin = fn(&[f64], &[f64]) -> f64;

/// A kernel by its formula, of what it is asked for with every parameter it has.
fn naive(name: &str) -> (Twin, &'static str) {
    fn sum(u: &[f64], v: &[f64], f: fn(f64, f64) -> f64) -> f64 {
        u.iter().zip(v).map(|(&u, &v)| f(u, v)).sum()
    }
    fn product(u: &[f64], v: &[f64]) -> f64 {
        sum(u, v, |u, v| u * v)
    }
    fn square(u: &[f64], v: &[f64]) -> f64 {
        sum(u, v, |u, v| (u - v).powi(2))
    }
    match name {
        "linear" => (product, "u·v"),
        "poly" => (|u, v| (0.5 * product(u, v) + 0.25).powi(2), "(0.5·u·v + 0.25)^2"),
        "rbf" => (|u, v| (-0.5 * square(u, v)).exp(), "exp(−0.5·‖u − v‖²)"),
        "sigmoid" => (|u, v| (0.5 * product(u, v) + 0.25).tanh(), "tanh(0.5·u·v + 0.25)"),
        "laplacian" => (|u, v| (-0.5 * sum(u, v, |u, v| (u - v).abs())).exp(), "exp(−0.5·‖u − v‖₁)"),
        "cosine" => (|u, v| product(u, v) / (product(u, u) * product(v, v)).sqrt(), "u·v / (‖u‖·‖v‖)"),
        "chi2" => (
            |u, v| (-0.5 * sum(u, v, |u, v| if u + v > 0.0 { (u - v).powi(2) / (u + v) } else { 0.0 })).exp(),
            "exp(−0.5·Σ (u − v)²/(u + v))",
        ),
        name => panic!("the kernel {name} has no twin here"),
    }
}

fn trained(given: &Value, x: Matrix<'static>) -> Result<Fit, String> {
    let labels = Labels::new((0..x.n_rows()).map(|i| ["a", "b"][i % 2]));
    let learner = algorithm("kernel-perceptron").unwrap().learner(given.as_object().unwrap());
    let learner = learner.map_err(|error| error.to_string())?;
    learner.fit(&Dataset::new(x, &labels).unwrap(), &mut ()).map_err(|error| error.to_string())
}

/// Each row of the table of kernels: its name is understood, its parameters are taken and no others, and values are those of its formula, of dense rows and of sparse ones.
#[test]
fn every_kernel_is_what_it_says() {
    const VALUES: [(&str, f64); 4] = [("gamma", 0.5), ("sigma", 1.0), ("degree", 2.0), ("coef0", 0.25)];
    let n_cols = 6;
    let values = rows(25, n_cols, 70, 0.0, 4);
    let dense = || Matrix::from(Dense::new(values.clone(), n_cols).unwrap());
    for row in ROWS {
        let name: KernelName = serde_json::from_value(json!(row.name)).unwrap();
        assert_eq!(name.name(), row.name);
        let number =
            |name: &str, value: f64| if name == "degree" { json!(value as u64) } else { json!(value) };
        for (parameter, value) in VALUES {
            let given = json!({ "kernel": row.name, parameter: number(parameter, value) });
            let x = if row.name == "precomputed" {
                Dense::new(vec![1.0f32, 0.0, 0.0, 1.0], 2).unwrap().into()
            } else {
                dense()
            };
            match (row.parameters.contains(&parameter), trained(&given, x)) {
                (true, Ok(_)) => {}
                (true, Err(error)) => panic!("{given}: {error}"),
                (false, Ok(_)) => panic!("{given} is taken, and says nothing"),
                (false, Err(error)) => {
                    assert!(error.contains(parameter) && error.contains(row.name), "{given}: {error}");
                    assert!(row.parameters.iter().all(|taken| error.contains(taken)), "{given}: {error}");
                }
            }
        }
        if row.name == "precomputed" {
            continue; // tests/precomputed.rs
        }
        let (twin, formula) = naive(row.name);
        let mut given = json!({ "kernel": row.name });
        // σ = 1 is γ = ½.
        for (parameter, value) in
            VALUES.iter().filter(|(parameter, _)| row.parameters.contains(parameter) && *parameter != "sigma")
        {
            given[*parameter] = number(parameter, *value);
        }
        let fit = trained(&given, dense()).unwrap();
        let Body::Kernel(expansion) = &fit.model.body else { panic!("no kernel") };
        assert_eq!(expansion.kernel().formula(), formula);
        assert_eq!(fit.report.margin.is_some() || fit.report.radius.is_some(), row.positive, "{}", row.name);
        let kernel = expansion.kernel().kernel().unwrap();
        let x = dense();
        let all: Vec<usize> = (0..x.n_rows()).collect();
        let found = self::values(kernel, &x, &all);
        assert_eq!(found, self::values(kernel, &sparse(&values, n_cols).into(), &all), "{}", row.name);
        let full =
            |i: usize| -> Vec<f64> { values[i * n_cols..][..n_cols].iter().map(|&v| f64::from(v)).collect() };
        for (i, found) in found.chunks(all.len()).enumerate() {
            for (j, &found) in found.iter().enumerate() {
                let exact = twin(&full(i), &full(j));
                let exact = if exact.is_nan() { 0.0 } else { exact };
                assert!(
                    (kernel.value(&x, i, &x, j) - exact).abs() <= 1e-14 * (1.0 + exact.abs()),
                    "{}",
                    row.name
                );
                // No entry is negative, so that nothing is taken from anything but in tanh.
                assert!(
                    (f64::from(found) - exact).abs() <= 1e-6 * exact.abs(),
                    "{}: {found} is not {exact}",
                    row.name
                );
            }
        }
    }
}

/// Where products are of both signs their sum may be small beside them, and values are off by a part of √(K(u, u)·K(v, v)).
#[test]
fn errors_are_a_part_of_what_rows_are_long() {
    let (n_rows, n_cols) = (80, 120);
    let values = rows(n_rows, n_cols, 100, -0.5, 6);
    let x: Matrix<'_> = Dense::new(&values[..], n_cols).unwrap().into();
    let all: Vec<usize> = (0..n_rows).collect();
    for kernel in [
        Kernel::Linear,
        Kernel::Cosine,
        Kernel::Rbf { gamma: 0.05 },
        Kernel::Laplacian { gamma: 0.05 },
        Kernel::Poly { degree: 3, gamma: 0.5, coef0: 2.0 },
    ] {
        let found = self::values(kernel, &x, &all);
        let own: Vec<f64> = all.iter().map(|&i| kernel.value(&x, i, &x, i).sqrt()).collect();
        for (i, found) in found.chunks(n_rows).enumerate() {
            for (j, &found) in found.iter().enumerate() {
                let exact = kernel.value(&x, i, &x, j);
                let off = (f64::from(found) - exact).abs() / (own[i] * own[j]);
                // A power multiplies errors by its degree.
                let allowed = if matches!(kernel, Kernel::Poly { .. }) { 3e-6 } else { 1e-6 };
                assert!(off <= allowed, "{kernel:?}: {found} for {exact}, off by {off:e}");
            }
        }
    }
}

/// The largest difference to double precision, as a part of the largest value.
fn error(kernel: Kernel, x: &Matrix<'_>, set: &[usize]) -> f64 {
    let found = values(kernel, x, set);
    let exact: Vec<f64> =
        (0..x.n_rows()).flat_map(|i| set.iter().map(move |&s| kernel.value(x, i, x, s))).collect();
    let largest = exact.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
    let off = found.iter().zip(&exact).map(|(&found, exact)| (f64::from(found) - exact).abs());
    off.fold(0.0, |worst: f64, off| if off.is_nan() { f64::INFINITY } else { worst.max(off) }) / largest
}

#[test]
fn blocks_agree_with_double_precision() {
    for (n_cols, percent) in [(1, 100), (5, 80), (300, 100), (300, 10), (3000, 2)] {
        let values = rows(230, n_cols, percent, 0.0, 7);
        let set: Vec<usize> = (0..230).step_by(3).collect();
        for kernel in KERNELS {
            let dense = error(kernel, &Dense::new(&values[..], n_cols).unwrap().into(), &set);
            let sparse = error(kernel, &sparse(&values, n_cols).into(), &set);
            assert!(dense.max(sparse) < 4e-6, "{kernel:?}, {n_cols} columns: {dense:e}, {sparse:e}");
        }
    }
}

/// Rows so wide that tables have no room for the columns where only one of two rows has an entry; these count in distances all the same.
#[test]
fn entries_that_meet_no_other_count_in_distances() {
    let n_cols = 40_000;
    let x: Matrix<'_> = sparse(&rows(40, n_cols, 1, 0.0, 9), n_cols).into();
    let set: Vec<usize> = (0..40).step_by(3).collect();
    for kernel in
        [Kernel::Rbf { gamma: 0.01 }, Kernel::Laplacian { gamma: 0.005 }, Kernel::Chi2 { gamma: 0.005 }]
    {
        let found = values(kernel, &x, &set);
        for (i, found) in found.chunks(set.len()).enumerate() {
            for (&s, &found) in set.iter().zip(found) {
                let exact = kernel.value(&x, i, &x, s);
                assert!((f64::from(found) - exact).abs() <= 2e-6 * exact, "{kernel:?}: {found} for {exact}");
            }
        }
    }
}

/// Distances of whole numbers are exact, as are those of bytes over 255 but for the rounding of each entry.
#[test]
fn blocks_of_whole_numbers_agree_with_double_precision() {
    for (kind, gamma) in [(0, 1e-6), (1, 0.05), (2, 0.05), (4, 1e-6)] {
        for (n_cols, percent) in [(1, 100), (31, 60), (300, 100), (300, 10)] {
            let values = mostly_whole(70, n_cols, percent, kind, 7);
            let set: Vec<usize> = (0..70).step_by(3).collect();
            for kernel in [Kernel::Linear, Kernel::Rbf { gamma }, Kernel::Cosine] {
                let dense = error(kernel, &Dense::new(&values[..], n_cols).unwrap().into(), &set);
                let sparse = error(kernel, &sparse(&values, n_cols).into(), &set);
                let allowed = if kind == 4 { 1e-5 } else { 4e-7 };
                assert!(dense.max(sparse) < allowed, "{kernel:?}, {kind}, {n_cols}: {dense:e}, {sparse:e}");
            }
        }
    }
}

#[test]
fn rows_far_from_the_origin_lose_nothing() {
    let values = rows(100, 40, 100, 1000.0, 3);
    let x: Matrix<'_> = Dense::new(&values[..], 40).unwrap().into();
    let set = [0, 50, 99];
    for kernel in [Kernel::Rbf { gamma: 0.3 }, Kernel::Laplacian { gamma: 0.3 }] {
        let exact = kernel.value(&x, 1, &x, 50);
        let found = f64::from(self::values(kernel, &x, &set)[3 + 1]);
        assert!((found - exact).abs() < 1e-4 * exact, "{kernel:?}: {found} for {exact}");
    }
}

#[test]
fn a_row_is_at_no_distance_from_itself() {
    let values = rows(50, 700, 60, -0.5, 5);
    let x: Matrix<'_> = Dense::new(&values[..], 700).unwrap().into();
    let set: Vec<usize> = (0..50).collect();
    let found = self::values(Kernel::Rbf { gamma: 10.0 }, &x, &set);
    assert!((0..50).all(|i| found[i * 50 + i] == 1.0));
}

#[test]
fn what_a_kernel_cannot_take_is_refused() {
    let x: Matrix<'_> = Dense::new(vec![1.0, -2.0], 1).unwrap().into();
    let error = Gram::new(Kernel::Chi2 { gamma: 1.0 }, &x).unwrap_err().to_string();
    assert!(error.contains("row 2, column 1") && error.contains("-2"), "{error}");
    let x: Matrix<'_> = Dense::new(vec![1e8, 1.0], 1).unwrap().into();
    let error = Gram::new(Kernel::Poly { degree: 6, gamma: 1.0, coef0: 1.0 }, &x).unwrap_err().to_string();
    assert!(error.contains("1e96") && error.contains("--scale"), "{error}");
}

#[test]
fn other_rows_are_seen_from_the_same_centre() {
    let (stored, new) = (rows(40, 30, 100, 500.0, 1), rows(25, 30, 100, 500.0, 2));
    let stored: Matrix<'_> = Dense::new(&stored[..], 30).unwrap().into();
    let new: Matrix<'_> = sparse(&new, 30).into();
    let kernel = Kernel::Rbf { gamma: 0.2 };
    let gram = Gram::new(kernel, &stored).unwrap();
    let other = gram.other(&new).unwrap();
    let (set, all): (Vec<usize>, Vec<usize>) = ((0..25).collect(), (0..40).collect());
    let mut found = vec![0.0; 25 * 40];
    gram.values(&gram.tiles(&other, &set), &all, &mut found);
    for (i, row) in found.chunks(25).enumerate() {
        for (j, &found) in row.iter().enumerate() {
            let exact = kernel.value(&stored, i, &new, j);
            assert!((f64::from(found) - exact).abs() < 1e-4, "{found} for {exact}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Neither storage, nor precision of what is stored, nor the rest of the set, nor the number of threads shows.
    #[test]
    fn a_value_depends_on_its_rows_alone(
        n_rows in 1usize..150, n_cols in 1usize..400, percent in 1u64..=100, far in any::<bool>(), threads in 1usize..5, seed: u64,
    ) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let values = rows(n_rows, n_cols, percent, if far { 50.0 } else { 0.0 }, seed);
        let doubles: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        let forms: [Matrix<'_>; 3] = [
            Dense::new(&values[..], n_cols).unwrap().into(),
            Dense::new(&doubles[..], n_cols).unwrap().into(),
            sparse(&values, n_cols).into(),
        ];
        let set: Vec<usize> = (0..n_rows).rev().collect();
        for kernel in KERNELS {
            let all = pool.install(|| self::values(kernel, &forms[0], &set));
            for x in &forms {
                prop_assert_eq!(&self::values(kernel, x, &set), &all, "{:?}", kernel);
            }
            let one = self::values(kernel, &forms[2], &set[n_rows / 2..=n_rows / 2]);
            let column: Vec<f32> = all.iter().skip(n_rows / 2).step_by(n_rows).copied().collect();
            prop_assert_eq!(one, column, "{:?}", kernel);
        }
    }

    /// The same for whole numbers, which are summed up in another way, and rows among which only some are.
    #[test]
    fn whole_or_not_depends_on_two_rows_alone(
        n_rows in 1usize..60, n_cols in 1usize..300, percent in 1u64..=100, kind in 0u64..5, seed: u64,
    ) {
        let values = mostly_whole(n_rows, n_cols, percent, kind, seed);
        let doubles: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        let forms: [Matrix<'_>; 3] = [
            Dense::new(&values[..], n_cols).unwrap().into(),
            Dense::new(&doubles[..], n_cols).unwrap().into(),
            sparse(&values, n_cols).into(),
        ];
        let set: Vec<usize> = (0..n_rows).collect();
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1e-6 }, Kernel::Rbf { gamma: 0.01 }, Kernel::Cosine] {
            let all = self::values(kernel, &forms[0], &set);
            for x in &forms[1..] {
                prop_assert_eq!(&self::values(kernel, x, &set), &all, "{:?}", kernel);
            }
            for (i, j) in (0..n_rows).map(|i| (i, i * 7 % n_rows)) {
                let found = all[i * n_rows + j];
                prop_assert_eq!(found, all[j * n_rows + i], "{:?} of {} and {}", kernel, i, j);
                // Distances of other numbers are formed from a middle that depends on all rows.
                if kind < 3 || !matches!(kernel, Kernel::Rbf { .. }) {
                    prop_assert_eq!(found, alone(kernel, &forms[i % 3], i, j), "{:?} of {} and {}", kernel, i, j);
                }
            }
        }
    }
}
