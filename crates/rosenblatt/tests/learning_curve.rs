//! Learning curves against fits made by hand.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::{
    CurveRows, Dataset, Dense, Labels, Learner, LearningCurve, LinearSvm, Order, Perceptron, Rng, Scale,
    Scaling, Task, stratified_sample, weighted_accuracy,
};

/// Labels that a plane tells but for some, which are flipped.
fn noisy(n: usize, seed: u64) -> Dataset<'static> {
    let mut rng = Rng::new(seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let x: Vec<f64> = (0..8).map(|_| rng.normal()).collect();
        let flipped = rng.uniform() < 0.1;
        labels.push(if (x[0] + x[1] > 0.0) != flipped { "yes" } else { "no" });
        values.extend(x);
    }
    Dataset::new(Dense::new(values, 8).unwrap(), &Labels::new(labels)).unwrap()
}

#[test]
fn passes_are_those_of_the_fit_itself() {
    let (train, holdout, test) = (noisy(60, 1), noisy(40, 2), noisy(40, 3));
    let learner = Perceptron { passes: 7, order: Order::Shuffle, seed: 5, ..Perceptron::default() };
    let rows = CurveRows { train: &train, holdout: Some(&holdout), test: Some(&test) };
    let points = LearningCurve::new(&learner).by_pass(&rows, &mut ()).unwrap();
    let fit = |held| {
        learner.learn(&Task { holdout: Some(held), ..Task::new(&train) }, &mut ()).unwrap().report.passes
    };
    let (held, tested) = (fit(&holdout), fit(&test));
    assert_eq!(points.len(), 7);
    for ((point, held), tested) in points.iter().zip(held).zip(tested) {
        assert_eq!((point.pass, point.train_accuracy), (held.pass, held.train_accuracy));
        assert_eq!(point.holdout_accuracy, held.holdout_accuracy);
        assert_eq!(point.test_accuracy, tested.holdout_accuracy);
    }
}

#[test]
fn sizes_are_fits_on_parts_scaled_by_their_own_rows() {
    let (train, test) = (noisy(80, 1), noisy(50, 2));
    let learner = LinearSvm::default();
    let curve = LearningCurve { scale: Some(Scale::Standard), seed: 3, ..LearningCurve::new(&learner) };
    let rows = CurveRows { train: &train, holdout: None, test: Some(&test) };
    let points = curve.by_rows(&rows, &[0.25, 0.25, 1.0], &mut ()).unwrap();
    assert_eq!(points.iter().map(|p| p.rows).collect::<Vec<_>>(), [20, 80]);
    // By hand, for the smaller one.
    let part = train.select(&stratified_sample(train.y(), 0.25, 3));
    let scaling = Scaling::fit(Scale::Standard, part.x());
    let fit = learner.fit(&part.scaled(&scaling).unwrap(), &mut ()).unwrap();
    let predicted = fit.model.predict(test.clone().scaled(&scaling).unwrap().x()).unwrap();
    assert_eq!(points[0].test_accuracy, Some(weighted_accuracy(&predicted, &test)));
    assert_eq!(points[0].train_accuracy, fit.report.train_accuracy.unwrap());
    assert!(points[0].holdout_accuracy.is_none());
    // A learner that sees all rows at once has no passes to tell of.
    assert!(curve.by_pass(&rows, &mut ()).unwrap().is_empty());
}
