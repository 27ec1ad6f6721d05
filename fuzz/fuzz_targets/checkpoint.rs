//! Checkpoints of runs: any bytes are taken up or refused, and a run that was taken up can learn and be saved again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::{Arow, Csr, Dataset, Labels, Learner, Multiclass, Order, Perceptron};

fuzz_target!(|bytes: &[u8]| {
    let averaged = Perceptron { order: Order::Cyclic, ..Perceptron::averaged() };
    let voted = Perceptron { order: Order::Cyclic, ..Perceptron::voted() };
    let reduced = Arow { order: Order::Cyclic, multiclass: Multiclass::Ovo, ..Arow::default() };
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let learner: &dyn Learner = match first % 3 {
        0 => &averaged,
        1 => &voted,
        _ => &reduced,
    };
    let Ok(mut run) = learner.resume(bytes) else { return };
    let x = Csr::new(vec![0, 2, 3, 4], vec![0, 5, 1, 2], vec![1.0, -2.0, 0.5, 3.0], 6).expect("three rows");
    let data = Dataset::new(x, &Labels::new(["a", "b", "c"])).expect("three classes");
    // Weights of any size are possible in a checkpoint that was made up; only panics are not.
    if run.learn(&data).is_ok() {
        run.end_pass();
        learner.resume(&run.to_bytes()).map(drop).expect("a run that was taken up can be taken up again");
    }
});
