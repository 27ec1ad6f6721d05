//! What holds for any bytes, however hostile. Fuzz targets look for some that break it, and a test of the library goes through those that were worth keeping.
#![allow(dead_code, reason = "each target has its own")]

use rosenblatt::{
    Arow, Csr, Dataset, Dense, Fit, Forget, KernelName, KernelPerceptron, Labels, Learner, Matrix,
    Multiclass, Order, Perceptron, Predictor, Verifier,
};

/// A model file is loaded or refused, and what is loaded is saved to a file that loads the same, and predicts or says why not; its claims can be looked at.
pub(crate) fn model(bytes: &[u8]) {
    let Ok(fit) = Fit::from_bytes(bytes) else { return };
    let saved = fit.to_bytes().expect("a loaded model can be saved");
    let again = Fit::from_bytes(&saved).expect("a saved model can be loaded");
    assert_eq!(again.to_bytes().ok(), Some(saved));
    predict(&fit);
}

/// On a row of zeros and one of ones, unless the model claims more features than fit into a row.
fn predict(fit: &Fit) {
    const WIDEST: usize = 1 << 12;
    let width = fit.model.features.count;
    if (1..=WIDEST).contains(&width) && fit.model.n_inner() <= WIDEST {
        let values: Vec<f64> = (0..2 * width).map(|i| if i < width { 0.0 } else { 1.0 }).collect();
        let x: Matrix<'_> = Dense::new(values, width).expect("two rows").into();
        if let Ok(classes) = fit.model.predict(&x) {
            assert!(classes.iter().all(|&class| (class as usize) < fit.model.classes.len().max(1)));
        }
        verify(fit, x);
    }
}

/// What it claims is held, broken or open, or these are no rows for it.
fn verify(fit: &Fit, x: Matrix<'_>) {
    let last = fit.model.classes.len() as u32 - 1;
    let rows = Dataset::with_classes(x, vec![0, last], fit.model.classes.clone()).expect("two rows");
    let verifier = Verifier { replay: false, time_limit: 0.005, ..Verifier::default() };
    let _ = verifier.verify(fit, &rows, &mut ());
}

/// The learner that a checkpoint is for, by its first byte: those of kernels have numbers of their own, all others are shared by the rest.
pub(crate) fn learner(first: u8) -> Box<dyn Learner> {
    let kernel = KernelPerceptron {
        kernel: KernelName::Rbf,
        gamma: Some(0.5),
        order: Order::Cyclic,
        ..KernelPerceptron::default()
    };
    let on_budget = |forget| KernelPerceptron { budget: Some(3), forget: Some(forget), ..kernel.clone() };
    match first {
        240 => Box::new(KernelPerceptron { predictor: Predictor::Voted, ..kernel }),
        241 => Box::new(KernelPerceptron { multiclass: Multiclass::Ovr, ..on_budget(Forget::Forgetron) }),
        242 => Box::new(KernelPerceptron { predictor: Predictor::Averaged, ..on_budget(Forget::Projectron) }),
        _ => match first % 3 {
            0 => Box::new(Perceptron { order: Order::Cyclic, ..Perceptron::averaged() }),
            1 => Box::new(Perceptron { order: Order::Cyclic, ..Perceptron::voted() }),
            _ => Box::new(Arow { order: Order::Cyclic, multiclass: Multiclass::Ovo, ..Arow::default() }),
        },
    }
}

/// Three rows of three classes.
pub(crate) fn rows() -> Dataset<'static> {
    let x = Csr::new(vec![0, 2, 3, 4], vec![0, 5, 1, 2], vec![1.0, -2.0, 0.5, 3.0], 6).expect("three rows");
    Dataset::new(x, &Labels::new(["a", "b", "c"])).expect("three classes")
}

/// A checkpoint is taken up or refused, and a run that was taken up can learn and be saved again. Whether it was taken up.
pub(crate) fn checkpoint(bytes: &[u8]) -> bool {
    let Some((&first, bytes)) = bytes.split_first() else { return false };
    let learner = learner(first);
    let Ok(mut run) = learner.resume(bytes) else { return false };
    // Weights of any size are possible in a checkpoint that was made up; only panics are not.
    if run.learn(&rows()).is_ok() {
        run.end_pass();
        learner.resume(&run.to_bytes()).map(drop).expect("a run that was taken up can be taken up again");
    }
    true
}
