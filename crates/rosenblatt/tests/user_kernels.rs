//! Kernels of users against those of ours that they imitate.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Points, noisy};
use rosenblatt::{
    Bias, BlockKernel, Body, Dense, Example, Gram, Kernel, KernelName, KernelPerceptron, Learner, Matrix,
    ModelError, Multiclass, Order, Predictor, Rows, Tie, UserKernel,
};

/// (u·v + 1)², exact where features are multiples of ½.
fn squared() -> UserKernel {
    UserKernel::from_fn("(u·v + 1)²", |u, v| (common::dot(u, v) + 1.0).powi(2))
}

fn ours() -> KernelPerceptron {
    KernelPerceptron { kernel: KernelName::Poly, degree: 2, passes: 4, ..KernelPerceptron::default() }
}

#[test]
fn update_by_update_it_is_the_kernel_it_imitates() {
    for k in [2, 3] {
        let points = noisy(k, 60, 6, 3);
        for multiclass in [Multiclass::Native, Multiclass::Ovr, Multiclass::Ovo] {
            for (bias, order) in [(Bias::None, Order::Shuffle), (Bias::Free, Order::Cyclic)] {
                let ours = KernelPerceptron { bias, order, multiclass, ..ours() };
                let theirs = KernelPerceptron { user: Some(squared()), ..ours.clone() };
                for x in [points.dense::<f32>(), points.sparse::<f64>()] {
                    let data = points.labelled(x);
                    assert_eq!(theirs.trace(&data).unwrap(), ours.trace(&data).unwrap());
                    for predictor in [Predictor::Last, Predictor::Averaged, Predictor::Voted] {
                        let fit = |learner: &KernelPerceptron| {
                            KernelPerceptron { predictor, ..learner.clone() }.fit(&data, &mut ()).unwrap()
                        };
                        let (found, expected) = (fit(&theirs), fit(&ours));
                        assert_eq!(found.report.passes, expected.report.passes);
                        assert_eq!(found.report.train_accuracy, expected.report.train_accuracy);
                        let scores = |fit: &rosenblatt::Fit| fit.model.scores(data.x()).unwrap();
                        assert_eq!(scores(&found), scores(&expected));
                        let explained = |fit: &rosenblatt::Fit| fit.model.explain(data.x(), 3).unwrap();
                        assert_eq!(explained(&found), explained(&expected));
                    }
                }
            }
        }
    }
}

/// Example by example, where rows grow wider as they come.
#[test]
fn streams_take_it_too() {
    let streamed = |learner: KernelPerceptron| {
        let mut stream = learner.stream().unwrap();
        for i in 0..40u32 {
            let label = if i % 3 == 0 { "yes" } else { "no" };
            stream.update(Example::Sparse(&[i % 7, 7 + i / 4], &[1.5, -0.5]), label).unwrap();
        }
        (stream.updates(), stream.mistakes())
    };
    let theirs = KernelPerceptron { user: Some(squared()), ..ours() };
    assert_eq!(streamed(theirs), streamed(ours()));
}

/// One that only counts how it is asked.
struct Counting(Arc<AtomicUsize>);

impl BlockKernel for Counting {
    fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
        assert_eq!(out.len(), rows.len() * z.n_rows());
        assert!(out.iter().all(|&value| value == 0.0));
        self.0.fetch_add(1, Ordering::Relaxed);
        for (&i, out) in rows.iter().zip(out.chunks_mut(z.n_rows())) {
            (0..z.n_rows()).for_each(|s| out[s] = Kernel::Linear.value(x, i, z, s) as f32);
        }
    }
}

#[test]
fn a_block_is_one_call() {
    let x = noisy(2, 500, 5, 1).dense::<f64>();
    let calls = Arc::new(AtomicUsize::new(0));
    let gram = Gram::new(UserKernel::new("u·v", Counting(calls.clone())), &x).unwrap();
    let before = calls.load(Ordering::Relaxed);
    let all: Vec<usize> = (0..gram.len()).collect();
    let mut found = vec![f32::NAN; all.len() * 40];
    gram.values(&gram.tiles(&gram, &all[..40]), &all, &mut found);
    assert_eq!(calls.load(Ordering::Relaxed), before + 1);
    let linear = Gram::new(Kernel::Linear, &x).unwrap();
    let mut expected = vec![f32::NAN; all.len() * 40];
    linear.values(&linear.tiles(&linear, &all[..40]), &all, &mut expected);
    assert_eq!(found, expected);
}

#[test]
fn a_model_with_it_is_not_written() {
    let data = noisy(2, 30, 4, 5).data();
    let learner = KernelPerceptron { user: Some(squared()), order: Order::Cyclic, ..ours() };
    let fit = learner.fit(&data, &mut ()).unwrap();
    assert_eq!(fit.to_bytes(), Err(ModelError::UserKernel("(u·v + 1)²".to_owned())));
    assert!(fit.to_bytes().unwrap_err().to_string().contains("a file holds no functions"));
    assert_eq!(fit.report.parameters["user"], "(u·v + 1)²");
    assert!(fit.report.objective.contains("K(u, v) = (u·v + 1)²"), "{}", fit.report.objective);
    let Body::Kernel(expansion) = &fit.model.body else { panic!("no kernel") };
    assert_eq!(expansion.kernel(), &squared_like(&learner));
    // Nor is a run that is under way taken up again.
    let run = learner.run(data.classes().clone(), data.n_features(), None).unwrap();
    let error = learner.resume(&run.to_bytes()).err().unwrap().to_string();
    assert!(error.contains("is a function"), "{error}");
}

fn squared_like(learner: &KernelPerceptron) -> rosenblatt::Similarity {
    learner.user.clone().unwrap().into()
}

/// It may be no dot product: there is no margin, and no bound.
#[test]
fn nothing_is_claimed_of_its_space() {
    let points = Points::of(&[([1.0, 1.0], 1), ([-1.0, 1.0], 0), ([-1.0, -1.0], 1), ([1.0, -1.0], 0)]);
    let report = |user| {
        KernelPerceptron { user, tie: Tie::Mistake, passes: 100, ..ours() }
            .fit(&points.data(), &mut ())
            .unwrap()
            .report
    };
    assert!(report(None).mistake_bound.is_some());
    let report = report(Some(squared()));
    assert_eq!((report.margin, report.radius, report.mistake_bound), (None, None, None));
    assert_eq!(report.train_accuracy, Some(1.0));
}

#[test]
fn what_is_no_number_is_refused() {
    let x: Matrix<'_> = Dense::new(vec![1.0, 2.0, -3.0], 1).unwrap().into();
    let root = UserKernel::from_fn("√(u·v)", |u, v| (u[0] * v[0]).sqrt());
    let error = Gram::new(root, &x).unwrap_err().to_string();
    assert!(error.contains("√(u·v)") && error.contains("rows 1 and 3") && error.contains("NaN"), "{error}");
    let learner = KernelPerceptron {
        user: Some(UserKernel::from_fn("huge", |_, _| 1e39)),
        ..KernelPerceptron::default()
    };
    let error = learner.fit(&noisy(2, 30, 4, 5).data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("the kernel huge of rows 1 and 1 is inf"), "{error}");
}

/// γ is neither needed nor measured.
#[test]
fn parameters_of_kernels_are_left_alone() {
    let learner = KernelPerceptron { kernel: KernelName::Rbf, user: Some(squared()), ..ours() };
    let fit = learner.fit(&noisy(2, 30, 4, 5).data(), &mut ()).unwrap();
    assert!(fit.report.parameters["gamma"].is_null());
    assert!(learner.stream().is_ok());
}
