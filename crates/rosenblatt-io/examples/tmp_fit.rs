use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    let data = rosenblatt_io::read(&args[1], &Default::default()).unwrap().into_dataset().unwrap();
    for spec in &args[2..] {
        let (algorithm, json) = spec.split_once('=').unwrap();
        let given: serde_json::Value = serde_json::from_str(json).unwrap();
        let learner = rosenblatt::registry::algorithm(algorithm).unwrap().learner(given.as_object().unwrap()).unwrap();
        let t = Instant::now();
        let fit = learner.fit(&data, &mut ()).unwrap();
        let r = &fit.report;
        println!("{} {spec}: {:?} P {:.8e} D {:.8e} gap {:.2e} acc {:.4} sv {} {:.3} s", args[1], r.status, r.primal.unwrap(), r.dual.unwrap(), r.gap.unwrap(), r.train_accuracy.unwrap(), r.support_vectors.unwrap(), t.elapsed().as_secs_f64());
    }
}
