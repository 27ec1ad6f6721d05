//! Precomputed kernel values against the kernels they were computed with.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Points, noisy};
use rosenblatt::{
    Bias, Body, Dataset, Dense, Fit, Gram, Kernel, KernelName, KernelPerceptron, Learner, Matrix, Multiclass,
    Order, Predictor, Rows, Scale, Scaling, Task,
};

const RBF: Kernel = Kernel::Rbf { gamma: 0.25 };

/// K of each row of `x` with each row of `z`.
fn values(x: &Matrix<'_>, z: &Matrix<'_>) -> Vec<f32> {
    let gram = Gram::new(RBF, x).unwrap();
    let other = gram.other(z).unwrap();
    let (rows, set): (Vec<usize>, Vec<usize>) = ((0..x.n_rows()).collect(), (0..z.n_rows()).collect());
    let mut values = vec![0.0; rows.len() * set.len()];
    gram.values(&gram.tiles(&other, &set), &rows, &mut values);
    values
}

/// The same points as a matrix of kernel values.
fn given(points: &Points, train: &Points) -> Points {
    let values = values(&points.dense::<f64>(), &train.dense::<f64>());
    let rows = values.chunks(train.x.len()).map(|row| row.iter().map(|&v| f64::from(v)).collect());
    Points { x: rows.collect(), ..points.clone() }
}

fn learner(kernel: KernelName) -> KernelPerceptron {
    let gamma = (kernel != KernelName::Precomputed).then_some(0.25);
    KernelPerceptron { kernel, gamma, passes: 5, ..KernelPerceptron::default() }
}

fn same_scores(found: &Fit, x: &Matrix<'_>, expected: &Fit, features: &Matrix<'_>) {
    let (found, expected) = (found.model.scores(x).unwrap(), expected.model.scores(features).unwrap());
    common::assert_close(&found, &expected, "scores");
}

#[test]
fn it_learns_what_the_kernel_learns() {
    for k in [2, 3] {
        let (train, test) = (noisy(k, 60, 5, 1), noisy(k, 25, 5, 2));
        let (own, new) = (given(&train, &train), given(&test, &train));
        for multiclass in [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo] {
            for (bias, order) in [(Bias::None, Order::Shuffle), (Bias::Free, Order::Cyclic)] {
                for predictor in [Predictor::Last, Predictor::Averaged, Predictor::Voted] {
                    let by =
                        |kernel| KernelPerceptron { multiclass, bias, order, predictor, ..learner(kernel) };
                    let (theirs, ours) = (by(KernelName::Precomputed), by(KernelName::Rbf));
                    let expected = ours.fit(&train.data(), &mut ()).unwrap();
                    for x in [own.dense::<f64>(), own.dense::<f32>(), own.sparse::<f32>()] {
                        let data = own.labelled(x);
                        let fit = theirs.fit(&data, &mut ()).unwrap();
                        assert_eq!(fit.report.passes, expected.report.passes);
                        assert_eq!(fit.report.train_accuracy, expected.report.train_accuracy);
                        same_scores(&fit, &new.dense::<f64>(), &expected, &test.dense::<f64>());
                        same_scores(&fit, &new.sparse::<f32>(), &expected, &test.dense::<f64>());
                        let loaded = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
                        assert_eq!(loaded, fit);
                    }
                }
            }
        }
    }
}

#[test]
fn a_trace_shows_the_same_steps() {
    let train = noisy(3, 40, 5, 3);
    let own = given(&train, &train).data();
    let (found, expected) = (
        learner(KernelName::Precomputed).trace(&own).unwrap(),
        learner(KernelName::Rbf).trace(&train.data()).unwrap(),
    );
    assert_eq!(found.steps.len(), expected.steps.len());
    for (found, expected) in found.steps.iter().zip(&expected.steps) {
        assert_eq!(
            (found.row, found.predicted, found.updated),
            (expected.row, expected.predicted, expected.updated)
        );
        assert_eq!(found.alphas, expected.alphas);
    }
}

#[test]
fn the_model_keeps_numbers_alone() {
    let train = noisy(2, 50, 5, 4);
    let fit = learner(KernelName::Precomputed).fit(&given(&train, &train).data(), &mut ()).unwrap();
    let Body::Kernel(expansion) = &fit.model.body else { panic!("no kernel") };
    assert_eq!(expansion.rows().entries(), expansion.len());
    for s in 0..expansion.len() {
        expansion.rows().each(s, |_, v| assert_eq!(v, 1.0));
    }
    assert_eq!((fit.report.margin, fit.report.mistake_bound), (None, None));
}

#[test]
fn blocks_are_looked_up() {
    let train = noisy(2, 70, 4, 5);
    let own: Matrix<'_> = given(&train, &train).dense::<f32>();
    let gram = Gram::new(Kernel::Precomputed, &own).unwrap();
    let (all, set): (Vec<usize>, Vec<usize>) = ((0..gram.len()).collect(), vec![3, 0, 69, 3]);
    let mut found = vec![f32::NAN; all.len() * set.len()];
    gram.values(&gram.tiles(&gram, &set), &all, &mut found);
    for (i, row) in found.chunks(set.len()).enumerate() {
        for (&s, &value) in set.iter().zip(row) {
            assert_eq!(f64::from(value), Kernel::Precomputed.value(&own, i, &own, s));
        }
    }
    let narrow: Matrix<'_> = Dense::new(vec![1.0f32; 7], 7).unwrap().into();
    assert!(gram.other(&narrow).is_err());
}

fn refused(x: Vec<f64>, n_cols: usize, learner: &KernelPerceptron) -> String {
    let n_rows = x.len() / n_cols;
    let labels = rosenblatt::Labels::new((0..n_rows).map(|i| if i % 2 == 0 { "a" } else { "b" }));
    let data = Dataset::new(Dense::new(x, n_cols).unwrap(), &labels).unwrap();
    let error = learner.fit(&data, &mut ()).unwrap_err().to_string();
    assert_eq!(learner.trace(&data).unwrap_err().to_string(), error);
    error
}

#[test]
fn what_is_no_such_matrix_is_refused() {
    let learner = learner(KernelName::Precomputed);
    let error = refused(vec![1.0; 6], 2, &learner);
    assert!(error.contains("3 rows need 3 columns beside the label, but there are 2"), "{error}");
    let error = refused(vec![1.0, 0.5, 0.25, 0.5, 1.0, 0.75, 0.25, 0.5, 1.0], 3, &learner);
    assert!(error.contains("row 2, column 3 is 0.75, and row 3, column 2 is 0.5"), "{error}");
    let error = refused(vec![1e36, 1.0, 1.0, 1.0], 2, &learner);
    assert!(error.contains("1e36"), "{error}");
    // The last digits may differ.
    let x = Dense::new(vec![1.0, 0.500_01, 0.5, 1.0], 2).unwrap();
    let data = Dataset::new(x, &rosenblatt::Labels::new(["a", "b"])).unwrap();
    assert!(learner.fit(&data, &mut ()).is_ok());
    let error = learner.stream().err().unwrap().to_string();
    assert!(error.contains("precomputed"), "{error}");
    // Scaled values are no kernel's.
    let scaling = Scaling::fit(Scale::Maxabs, data.x());
    let task = Task { scaling: Some(&scaling), ..Task::new(&data) };
    let error = learner.learn(&task, &mut ()).unwrap_err().to_string();
    assert!(error.contains("neither scale nor map"), "{error}");
}

#[test]
fn held_out_rows_have_their_values_with_the_training_rows() {
    let (train, test) = (noisy(2, 60, 5, 1), noisy(2, 25, 5, 2));
    let (own, new) = (given(&train, &train).data(), given(&test, &train).data());
    let task = Task { holdout: Some(&new), ..Task::new(&own) };
    let fit = learner(KernelName::Precomputed).learn(&task, &mut ()).unwrap();
    let (data, holdout) = (train.data(), test.data());
    let task = Task { holdout: Some(&holdout), ..Task::new(&data) };
    let expected = learner(KernelName::Rbf).learn(&task, &mut ()).unwrap();
    assert_eq!(fit.report.holdout_accuracy, expected.report.holdout_accuracy);
    assert_eq!(fit.report.best_pass, expected.report.best_pass);
}
