//! Kernels of distances on rows far from 0: years, coordinates of a map, seconds since 1970.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use rosenblatt::registry::algorithm;
use rosenblatt::{
    Body, Csr, Dataset, Dense, Example, Fit, Gram, Kernel, Labels, Learner, Matrix, Rng, Rows, Task, Verdict,
    Verifier,
};
use serde_json::{Value, json};

fn learner(name: &str, given: &Value) -> Box<dyn Learner> {
    algorithm(name).unwrap().learner(given.as_object().unwrap()).unwrap()
}

/// Rows in a square of ten, from an offset on; those near one of two corners are "a".
fn square(n: usize, offset: f64, seed: u64) -> (Vec<f64>, Vec<&'static str>) {
    let mut rng = Rng::new(seed);
    let (mut x, mut labels) = (Vec::new(), Vec::new());
    while labels.len() < n {
        // What double precision holds at any of the offsets.
        let (u, v) = (rng.below(10 << 10) as f64 / 1024.0, rng.below(10 << 10) as f64 / 1024.0);
        let apart = (u - 5.0) * (v - 5.0);
        if apart.abs() > 1.0 {
            x.extend([offset + u, offset + v]);
            labels.push(if apart > 0.0 { "a" } else { "b" });
        }
    }
    (x, labels)
}

fn data(n: usize, offset: f64, seed: u64) -> Dataset<'static> {
    let (x, labels) = square(n, offset, seed);
    Dataset::new(Dense::new(x, 2).unwrap(), &Labels::new(labels)).unwrap()
}

fn single(n: usize, offset: f32, seed: u64) -> Dataset<'static> {
    let (x, labels) = square(n, 0.0, seed);
    let x: Vec<f32> = x.into_iter().map(|v| v as f32 + offset).collect();
    Dataset::new(Dense::new(x, 2).unwrap(), &Labels::new(labels)).unwrap()
}

fn assert_held(fit: &Fit, data: &Dataset<'_>, what: &str) {
    let claims = Verifier::default().verify(fit, data, &mut ()).unwrap().claims;
    let bad: Vec<_> = claims.iter().filter(|claim| claim.verdict == Verdict::Broken).collect();
    assert!(!claims.is_empty() && bad.is_empty(), "{what}: {bad:#?}");
}

/// Whatever can be learned from can be predicted on, and what is claimed of it holds.
#[test]
fn machines_take_their_own_training_rows() {
    for (data, given) in [
        (single(200, 2000.0, 1), json!({})),
        (data(200, 2000.0, 2), json!({ "gamma": 0.5, "c": 10.0 })),
        (data(200, 5e6, 3), json!({ "gamma": 0.2 })),
        (data(200, 5e6, 4), json!({ "kernel": "laplacian", "gamma": 0.3 })),
    ] {
        let held_out = data.select(&(0..50).collect::<Vec<_>>());
        let task = Task { holdout: Some(&held_out), ..Task::new(&data) };
        assert!(learner("svm", &given).learn(&task, &mut ()).is_ok());
        let fit = learner("svm", &given).fit(&data, &mut ()).unwrap();
        let found = fit.model.predict(data.x()).unwrap();
        let right = found.iter().zip(data.y()).filter(|(found, y)| found == y).count();
        assert_eq!(fit.report.train_accuracy, Some(right as f64 / 200.0), "{given}");
        assert!(right > 170, "{right} of 200 by {given}");
        assert_held(&fit, &data, &format!("svm {given}"));
    }
}

/// Seconds since 1970.
#[test]
fn double_precision_counts_before_the_centre_is_taken_off() {
    let (x, y): (Vec<f64>, Vec<&str>) =
        (0..40).map(|i| (1.7e9 + 10.0 * f64::from(i), if i % 2 == 0 { "even" } else { "odd" })).unzip();
    let data = Dataset::new(Dense::new(x, 1).unwrap(), &Labels::new(y)).unwrap();
    for kernel in ["laplacian", "rbf"] {
        for c in [10.0, 1000.0] {
            let given = json!({ "kernel": kernel, "gamma": 0.01, "c": c });
            let fit = learner("svm", &given).fit(&data, &mut ()).unwrap();
            let claims = Verifier::default().verify(&fit, &data, &mut ()).unwrap().claims;
            let shown = |name: &str| claims.iter().find(|claim| claim.name == name).unwrap();
            assert_eq!(shown("accuracy").verdict, Verdict::Held, "{kernel}, C = {c}: {claims:#?}");
            let kkt = claims.iter().filter(|claim| claim.name == "KKT violation");
            assert!(
                kkt.clone().all(|claim| claim.verdict != Verdict::Broken),
                "{kernel}, C = {c}: {claims:#?}"
            );
            // The slack of a large C multiplies what single precision rounds.
            if c < 100.0 {
                assert_held(&fit, &data, kernel);
            } else if kernel == "laplacian" {
                assert_eq!(fit.report.train_accuracy, Some(1.0));
            }
        }
    }
}

fn sparse(values: &[f64], n_cols: usize) -> Csr<'static, f64> {
    let (mut pointers, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(n_cols) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            entries.push(v);
        }
        pointers.push(columns.len() as u64);
    }
    Csr::new(pointers, columns, entries, n_cols).unwrap()
}

fn values(kernel: Kernel, x: &Matrix<'_>) -> Vec<f32> {
    let gram = Gram::new(kernel, x).unwrap();
    let all: Vec<usize> = (0..x.n_rows()).collect();
    let mut out = vec![0.0; all.len() * all.len()];
    gram.values(&gram.tiles(&gram, &all), &all, &mut out);
    out
}

/// One column far away, one about 0, one that is hardly ever there: dense ≡ sparse, and all offsets alike.
#[test]
fn values_do_not_depend_on_where_rows_are() {
    let mut rng = Rng::new(5);
    let mut entries = || (rng.below(5 << 10) as f64 / 1024.0, rng.below(8 << 10) as f64 / 1024.0 - 4.0);
    let near: Vec<[f64; 3]> = (0..60)
        .map(|_| entries())
        .enumerate()
        .map(|(i, (u, v))| [u, v, f64::from(u8::from(i % 9 == 0))])
        .collect();
    for kernel in [Kernel::Rbf { gamma: 0.7 }, Kernel::Laplacian { gamma: 0.4 }] {
        for offset in [0.0, 2000.0, 5e6, 1.7e9] {
            let moved: Vec<f64> = near.iter().flat_map(|&[u, v, w]| [u + offset, v, w]).collect();
            let x: Matrix<'_> = Dense::new(&moved[..], 3).unwrap().into();
            let found = values(kernel, &x);
            assert_eq!(found, values(kernel, &sparse(&moved, 3).into()), "{kernel:?} at {offset}");
            for (i, row) in found.chunks(60).enumerate() {
                for (j, &found) in row.iter().enumerate() {
                    let exact = kernel.value(&x, i, &x, j);
                    assert!(
                        (f64::from(found) - exact).abs() < 4e-6,
                        "{kernel:?} at {offset}: {found}, {exact}"
                    );
                }
            }
        }
    }
}

/// Activations in training are what the model predicts, and both what the formula says.
#[test]
fn the_kernel_perceptron_sees_what_it_predicts_with() {
    for (offset, given) in [
        (100.0, json!({ "kernel": "rbf", "gamma": 0.2 })),
        (1e5, json!({ "kernel": "laplacian", "gamma": 0.3 })),
        (5e6, json!({ "kernel": "rbf", "gamma": 0.2 })),
        (5e6, json!({ "kernel": "rbf", "gamma": 0.2, "budget": 20, "forget": "forgetron" })),
        (5e6, json!({ "kernel": "rbf", "gamma": 0.2, "budget": 20, "forget": "projectron" })),
    ] {
        let mut given = given;
        given["order"] = json!("cyclic");
        given["passes"] = json!(3);
        let (data, learner) = (data(120, offset, 6), learner("kernel-perceptron", &given));
        let fit = learner.fit(&data, &mut ()).unwrap();
        assert_held(&fit, &data, &format!("{given} at {offset}"));
        let Body::Kernel(expansion) = &fit.model.body else { unreachable!() };
        let (a, kernel) = (expansion.coefficients(), expansion.kernel().kernel().unwrap());
        let size: f64 = a.iter().map(|a| a.abs()).sum();
        for (i, found) in fit.model.scores(data.x()).unwrap().into_iter().enumerate() {
            let term = |s: usize| a[s] * kernel.value(expansion.rows(), s, data.x(), i);
            let exact: f64 = (0..a.len()).map(term).sum();
            assert!((found - exact).abs() < 4e-6 * size, "{given} at {offset}: {found}, {exact}");
        }
        if given.get("budget").is_some() {
            continue;
        }
        let trace = learner.trace(&data).unwrap();
        let mut alphas = vec![0.0; 120];
        for step in &trace.steps {
            let term = |j: usize| alphas[j] * kernel.value(data.x(), j, data.x(), step.row);
            let exact: f64 = (0..120).map(term).sum();
            let size: f64 = alphas.iter().map(|a: &f64| a.abs()).sum();
            assert!((step.scores[0] - exact).abs() <= 4e-6 * size, "{given} at {offset}");
            alphas.clone_from(step.alphas.as_ref().unwrap());
        }
    }
}

/// batch ≡ stream ≡ blocks ≡ resumed, to the bit, though all are seen from the first row only.
#[test]
fn a_stream_far_away_is_the_batch() {
    let data = data(90, 5e6, 7);
    for budget in [None, Some(15)] {
        let mut given =
            json!({ "kernel": "rbf", "gamma": 0.3, "order": "cyclic", "passes": 2, "multiclass": "ovr" });
        given.as_object_mut().unwrap().extend(budget.map(|budget| ("budget".to_owned(), json!(budget))));
        let learner = learner("kernel-perceptron", &given);
        let whole = learner.fit(&data, &mut ()).unwrap().model.scores(data.x()).unwrap();
        let mut stream = learner.stream().unwrap();
        let mut run = learner.run(data.classes().clone(), 2, None).unwrap();
        for _ in 0..2 {
            for i in 0..90 {
                let mut row = [0.0; 2];
                data.x().each(i, |j, v| row[j] = v);
                stream.update(Example::Dense(&row), ["a", "b"][data.y()[i] as usize]).unwrap();
            }
            for rows in [0..1, 1..40, 40..90] {
                run.learn(&data.select(&rows.collect::<Vec<_>>())).unwrap();
                run = learner.resume(&run.to_bytes()).unwrap();
            }
            run.end_pass();
        }
        assert_eq!(stream.model().scores(data.x()).unwrap(), whole, "{given}");
        assert_eq!(run.model().scores(data.x()).unwrap(), whole, "{given}");
    }
}

/// Where distances cannot be told, or what χ² is made of, rows are refused before anything is learned from them.
#[test]
fn what_cannot_be_told_apart_is_refused() {
    let (wide, labels) = (vec![0.0, 1.0, 3e6, 3e6 + 1.0], ["a", "b", "a", "b"]);
    let wide = Dataset::new(Dense::new(wide, 1).unwrap(), &Labels::new(labels)).unwrap();
    for (data, kernel) in [(&wide, "rbf"), (&wide, "laplacian"), (&data(10, 1e4, 8), "chi2")] {
        let given = json!({ "kernel": kernel, "gamma": 1.0 });
        // Machines tell those of the Gaussian in double precision.
        let refusing =
            if kernel == "rbf" { &["kernel-perceptron"][..] } else { &["svm", "kernel-perceptron"] };
        for name in refusing {
            let error = learner(name, &given).fit(data, &mut ()).unwrap_err().to_string();
            assert!(error.contains("cannot tell distances"), "{name} {kernel}: {error}");
        }
    }
    let near = wide.select(&[0, 1]);
    let given = json!({ "kernel": "rbf", "gamma": 1.0 });
    let fit = learner("kernel-perceptron", &given).fit(&near, &mut ()).unwrap();
    let error = fit.model.predict(wide.x()).unwrap_err().to_string();
    assert!(error.contains("cannot tell distances"), "{error}");
    let told =
        learner("svm", &json!({ "kernel": "rbf", "gamma": 1.0, "c": 100.0 })).fit(&wide, &mut ()).unwrap();
    assert_eq!(told.model.predict(wide.x()).unwrap(), wide.y());
    let mut stream = learner("kernel-perceptron", &given).stream().unwrap();
    stream.update(Example::Dense(&[5e6]), "b").unwrap();
    assert!(stream.update(Example::Dense(&[0.0]), "a").is_err());
    assert!(stream.predict(Example::Dense(&[0.0])).is_err());
    assert_eq!(stream.model().classes.len(), 1, "nothing of a refused row is kept");
    stream.update(Example::Dense(&[5e6 + 3.0]), "a").unwrap();
    assert_eq!(stream.seen(), 2);
}

/// The first row of a stream may be shorter, or longer, than others.
#[test]
fn rows_of_any_width_are_seen_from_the_first() {
    let given = json!({ "kernel": "rbf", "gamma": 0.5 });
    let mut stream = learner("kernel-perceptron", &given).stream().unwrap();
    for (row, label) in [(&[2.0, 3.0, 4.0][..], "b"), (&[2.5], "a"), (&[2.0, 3.0, 4.5, 1.0, 1.0], "b")] {
        stream.update(Example::Dense(row), label).unwrap();
    }
    let Body::Kernel(expansion) = stream.model().body else { unreachable!() };
    assert_eq!(expansion.rows().n_cols(), 5);
    let new: Matrix<'_> = Dense::new(vec![2.0, 3.0, 4.0, 0.5, 1.0], 5).unwrap().into();
    let (a, kernel) = (expansion.coefficients(), Kernel::Rbf { gamma: 0.5 });
    let exact: f64 = (0..a.len()).map(|s| a[s] * kernel.value(expansion.rows(), s, &new, 0)).sum();
    let found = stream.model().scores(&new).unwrap()[0];
    assert!((found - exact).abs() < 1e-6, "{found} is not {exact}");
}
