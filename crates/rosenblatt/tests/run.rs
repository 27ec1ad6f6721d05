//! Rows in blocks, runs taken up again: the same bytes as all rows at once.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Case, for_each_online_case, noisy};
use rosenblatt::{Csr, Dataset, Error, Fit, Learner, Matrix, Order, Perceptron, Rng, Run};
use serde_json::{Value, json};

/// The rows of a sparse matrix from `first` on, with no more columns than they use.
fn narrow(data: &Dataset<'_>, rows: &[usize]) -> Dataset<'static> {
    let block = data.select(rows);
    let Matrix::CsrF64(x) = block.x() else { panic!("the data is sparse") };
    let width = x.columns().iter().max().map_or(1, |&j| j as usize + 1);
    let (pointers, columns, values) = (x.pointers().to_vec(), x.columns().to_vec(), x.values().to_vec());
    let x = Csr::new(pointers, columns, values, width).unwrap();
    let narrowed = Dataset::with_classes(x, block.y().to_vec(), block.classes().clone()).unwrap();
    match block.weights() {
        Some(weights) => narrowed.with_weights(weights.to_vec()).unwrap(),
        None => narrowed,
    }
}

fn blocks(data: &Dataset<'_>, rng: &mut Rng) -> Vec<Dataset<'static>> {
    let (mut blocks, mut first) = (Vec::new(), 0);
    while first < data.n_rows() {
        let next = (first + 1 + rng.below(17) as usize).min(data.n_rows());
        blocks.push(narrow(data, &(first..next).collect::<Vec<_>>()));
        first = next;
    }
    blocks
}

fn mass(data: &Dataset<'_>) -> Vec<f64> {
    let mut mass = vec![0.0; data.classes().len()];
    data.y().iter().enumerate().for_each(|(i, &class)| mass[class as usize] += data.weight(i));
    mass
}

/// Goes through the blocks, put into bytes and taken up again at random.
fn in_blocks(learner: &dyn Learner, data: &Dataset<'_>, seed: u64) -> Fit {
    let rng = &mut Rng::new(seed);
    let width = if learner.can_begin_early() { 0 } else { data.n_features() };
    let mut run = learner.run(data.classes().clone(), width, Some(&mass(data))).unwrap();
    let status = loop {
        for block in blocks(data, rng) {
            if rng.below(3) == 0 {
                run = learner.resume(&run.to_bytes()).unwrap();
            }
            run.learn(&block).unwrap();
        }
        if let Some(status) = run.end_pass() {
            break status;
        }
    };
    let mut measure = run.measure();
    blocks(data, rng).iter().for_each(|block| measure.rows(block));
    blocks(data, rng).iter().for_each(|block| measure.labels(block.y()));
    blocks(data, rng).iter().for_each(|block| measure.weights(block.weights().unwrap_or_default()));
    run.finish(status, data.features().clone(), None, Some(measure))
}

fn given(case: &Case, passes: usize) -> Value {
    let mut given = json!({"passes": passes, "order": "cyclic"});
    if case.given.contains_key("pocket") {
        given["pocket"] = json!(false);
    }
    given
}

#[test]
fn blocks_are_the_whole() {
    for_each_online_case(|case, points, what| {
        let data = points.labelled(points.sparse::<f64>());
        for (passes, seed) in [(1, 1), (7, 2)] {
            let given = given(case, passes);
            let learner = case.learner(&given);
            let blocks = in_blocks(learner.as_ref(), &data, seed);
            let whole = case.fit(&given, &data);
            assert_eq!(blocks.to_bytes(), whole.to_bytes(), "{what}");
        }
    });
}

#[test]
fn weights_and_class_weights() {
    for_each_online_case(|case, points, what| {
        let mut rng = Rng::new(5);
        let weights = points.y.iter().map(|_| rng.below(9) as f64 / 4.0).collect();
        let data = points.labelled(points.sparse::<f64>()).with_weights(weights).unwrap();
        let mut given = given(case, 3);
        given["class_weight"] = json!("balanced");
        let blocks = in_blocks(case.learner(&given).as_ref(), &data, 3);
        assert_eq!(blocks.to_bytes(), case.fit(&given, &data).to_bytes(), "{what}");
    });
}

/// More rows than the fingerprint hashes at a time.
#[test]
fn fingerprints_of_many_rows() {
    let points = noisy(2, 9000, 3, 8);
    let data = points.labelled(points.sparse::<f64>());
    let learner = Perceptron { order: Order::Cyclic, passes: 2, ..Perceptron::averaged() };
    let fit = in_blocks(&learner, &data, 4);
    assert_eq!(fit.report.data, data.fingerprint());
}

fn averaged() -> Perceptron {
    Perceptron { order: Order::Cyclic, ..Perceptron::averaged() }
}

fn begun(learner: &Perceptron) -> (Dataset<'static>, Run) {
    let data = noisy(3, 50, 4, 1).data();
    let mut run = learner.run(data.classes().clone(), 4, None).unwrap();
    run.learn(&data).unwrap();
    (data, run)
}

#[test]
fn what_blocks_cannot_do_is_refused() {
    let name = |error: Error| match error {
        Error::Param(error) => error.name,
        other => panic!("{other}"),
    };
    let classes = noisy(2, 5, 2, 1).data().classes().clone();
    let run = |learner: Perceptron| learner.run(classes.clone(), 2, None).map(|_| ()).map_err(name);
    assert_eq!(run(Perceptron { order: Order::Cyclic, ..Perceptron::default() }), Err("pocket".to_owned()));
    assert_eq!(run(Perceptron::averaged()), Err("order".to_owned()));
    let (_, mut run) = begun(&averaged());
    assert!(run.learn(&noisy(2, 5, 4, 1).data()).is_err(), "other classes");
}

#[test]
fn foreign_and_damaged_checkpoints_are_refused() {
    let (_, run) = begun(&averaged());
    let bytes = run.to_bytes();
    let other = Perceptron { learning_rate: 0.5, ..averaged() };
    let message = other.resume(&bytes).err().unwrap().to_string();
    assert!(message.starts_with("the checkpoint was made with other parameters"), "{message}");
    for cut in 0..bytes.len() {
        assert!(averaged().resume(&bytes[..cut]).is_err());
    }
    let mut rng = Rng::new(9);
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            damaged[at] = rng.bits() as u8;
        }
        // Whatever is accepted can be used.
        if let Ok(mut run) = averaged().resume(&damaged) {
            let data = noisy(3, 50, 4, 1).data();
            let _ = run.learn(&data);
            let _ = run.measure();
        }
    }
}
