//! Kernels of users against those of ours that they imitate.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Points, noisy};
use rosenblatt::{
    Bias, BlockKernel, Body, Dense, Example, Forget, Gram, Kernel, KernelName, KernelPerceptron, Learner,
    Matrix, ModelError, Multiclass, Order, Predictor, Rows, Task, Tie, UserKernel,
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
    assert!(
        error.contains("√(u·v)") && error.contains("row 1 and row 3") && error.contains("NaN"),
        "{error}"
    );
    let learner = KernelPerceptron {
        user: Some(UserKernel::from_fn("huge", |_, _| 1e39)),
        ..KernelPerceptron::default()
    };
    let error = learner.fit(&noisy(2, 30, 4, 5).data(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("the kernel huge of row 1 and row 1 is inf"), "{error}");
}

/// γ is neither needed nor measured.
#[test]
fn parameters_of_kernels_are_left_alone() {
    let learner = KernelPerceptron { kernel: KernelName::Rbf, user: Some(squared()), ..ours() };
    let fit = learner.fit(&noisy(2, 30, 4, 5).data(), &mut ()).unwrap();
    assert!(fit.report.parameters["gamma"].is_null());
    assert!(learner.stream().is_ok());
}

/// u·v, but no number between 7 and what is above 0 and below: far behind the rows that are looked at first.
fn treacherous() -> UserKernel {
    UserKernel::from_fn("with a hole", |u, v| {
        let (low, high) = (u[0].min(v[0]), u[0].max(v[0]));
        if high == 7.0 && low > 0.0 && low < 7.0 { f64::NAN } else { low * high }
    })
}

/// Row 61 is 7; all that is stored before is -1 or 1, the latter first at row 1.
fn far_behind() -> Points {
    let mut points: Vec<([f64; 1], usize)> =
        (0..80).map(|i| ([if i % 2 == 0 { 1.0 } else { -1.0 }], i % 2)).collect();
    points[60] = ([7.0], 1);
    Points::of(&points)
}

fn careful(forget: Option<Forget>) -> KernelPerceptron {
    KernelPerceptron {
        user: Some(treacherous()),
        order: Order::Cyclic,
        tie: Tie::Mistake,
        forget,
        budget: forget.map(|_| 5),
        ..KernelPerceptron::default()
    }
}

const BUDGETS: [Option<Forget>; 3] = [None, Some(Forget::Forgetron), Some(Forget::Projectron)];

#[test]
fn what_is_no_number_far_behind_is_refused() {
    for forget in BUDGETS {
        for multiclass in [Multiclass::Native, Multiclass::Ovr] {
            let learner = KernelPerceptron { multiclass, ..careful(forget) };
            let data = far_behind().data();
            let error = learner.fit(&data, &mut ()).unwrap_err().to_string();
            assert!(error.contains("the kernel with a hole of row 1 and row 61 is NaN"), "{error}");
            let error = learner.trace(&data).unwrap_err().to_string();
            assert!(error.contains("the kernel with a hole of row 1 and row 61 is NaN"), "{error}");
        }
    }
}

/// Rows that are only measured are looked at, too.
#[test]
fn what_is_no_number_on_held_out_rows_is_refused() {
    let data = Points::of(&[([1.0], 1), ([-1.0], 0), ([2.0], 1)]).data();
    let mut held_out: Vec<([f64; 1], usize)> = vec![([-1.0], 0); 40];
    held_out[30] = ([7.0], 1);
    let held_out = Points::of(&held_out).data();
    let task = Task { holdout: Some(&held_out), ..Task::new(&data) };
    let error = careful(None).learn(&task, &mut ()).unwrap_err().to_string();
    assert!(error.contains("of row 31 and stored example 1 is NaN"), "{error}");
}

#[test]
fn a_run_refuses_the_block_and_names_its_rows() {
    let data = far_behind().data();
    for forget in BUDGETS {
        let mut run = careful(forget).run(data.classes().clone(), 1, None).unwrap();
        run.learn_rows(&data, 0..40).unwrap();
        let error = run.learn_rows(&data, 40..80).unwrap_err().to_string();
        assert!(error.contains("row 61") && error.contains("NaN"), "{error}");
    }
}

/// The example is refused, the stream goes on as if it had not come.
#[test]
fn a_stream_refuses_the_example_and_goes_on() {
    for forget in BUDGETS {
        let mut stream = careful(forget).stream().unwrap();
        for i in 0..40 {
            let (x, label) = if i % 2 == 0 { (1.0, "yes") } else { (-1.0, "no") };
            stream.update(Example::Dense(&[x]), label).unwrap();
        }
        let before = (stream.model(), stream.seen(), stream.updates(), stream.mistakes());
        for _ in 0..2 {
            let error = stream.update(Example::Dense(&[7.0]), "no").unwrap_err().to_string();
            assert!(error.contains("of row 41 and stored example 1 is NaN"), "{error}");
            let error = stream.predict(Example::Dense(&[7.0])).unwrap_err().to_string();
            assert!(error.contains("of row 1 and stored example 1 is NaN"), "{error}");
        }
        assert_eq!((stream.model(), stream.seen(), stream.updates(), stream.mistakes()), before);
        assert_eq!(stream.predict(Example::Dense(&[1.0])).unwrap().to_string(), "yes");
    }
}

#[test]
fn a_model_refuses_rows_that_it_cannot_compare() {
    let data = Points::of(&[([1.0], 1), ([-1.0], 0), ([2.0], 1)]).data();
    for predictor in [Predictor::Last, Predictor::Averaged, Predictor::Voted] {
        let model = KernelPerceptron { predictor, ..careful(None) }.fit(&data, &mut ()).unwrap().model;
        let mut new = vec![-2.0; 300];
        new[299] = 7.0;
        let new: Matrix<'_> = Dense::new(new, 1).unwrap().into();
        for error in [
            model.scores(&new).unwrap_err(),
            model.predict(&new).unwrap_err(),
            model.explain(&new, 299).unwrap_err(),
        ] {
            assert!(error.to_string().contains("of row 300 and stored example 1 is NaN"), "{error}");
        }
        // It is no worse for it.
        assert_eq!(model.predict(data.x()).unwrap(), data.y());
        assert!(model.explain(&new, 0).is_ok());
    }
}
