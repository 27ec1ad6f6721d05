//! What `plan` says of a training is what `train` then reports.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rosenblatt::registry::ALGORITHMS;
use support::{json, rosenblatt};

#[test]
fn the_solver_foretold_is_the_one_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ALGORITHMS {
        // What has copies, what has more than two classes, and what has many features; a plane separates the last.
        let data: &[&str] = match algorithm.name {
            "hard-margin" => &["iris-separable", "sms-spam"],
            "winnow" => &["iris --scale minmax"],
            "naive-bayes" | "network" => &["iris", "sms-spam"],
            _ => &["iris", "iris --multiclass ovo", "sms-spam"],
        };
        let all_at_once = algorithm.name == "crammer-singer";
        for data in data.iter().filter(|data| !(all_at_once && data.contains("ovo"))) {
            let flags = format!("{data} -a {} --passes 3", algorithm.name);
            let plan = json(folder.path(), &format!("plan {flags} --probe 1ms"));
            let done = json(folder.path(), &format!("train {flags}"));
            for field in ["rows", "features", "algorithm"] {
                assert_eq!(plan[field], done[field], "{flags}: {field}");
            }
            assert_eq!(plan["classes"].as_u64().unwrap() as usize, done["classes"].as_array().unwrap().len());
            if let Some(ran) = done["solver"].as_str() {
                let foretold = plan["solver"].as_str().unwrap();
                assert!(says(foretold, ran), "{flags}: {foretold}, {ran}");
            }
            assert!(plan["bytes"]["solver"].as_u64().unwrap() > 0, "{flags}");
        }
    }
}

/// Whether it is the solver foretold. With some hundreds of features each step of Newton's method is taken the way that costs less, which is seen on the way.
fn says(foretold: &str, ran: &str) -> bool {
    const EITHER: &str = "conjugate gradients or a Cholesky factor";
    let ways =
        [EITHER, "conjugate gradients", "a Cholesky factor", "conjugate gradients and a Cholesky factor"];
    ways.iter().any(|way| foretold.replace(EITHER, way) == ran)
}

#[test]
fn a_plan_has_a_time_with_its_range_and_makes_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let plan = json(folder.path(), "plan sms-spam -a svm --probe 10s");
    let time = &plan["seconds"]["train"];
    let [least, expected, most] = ["least", "expected", "most"].map(|name| time[name].as_f64().unwrap());
    assert!(0.0 < least && least < expected && expected < most);
    let probes = plan["probes"].as_array().unwrap();
    assert!(probes.len() > 2 && probes.iter().all(|probe| probe["rows"].as_u64() <= Some(2800)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let limited = json(folder.path(), "plan sms-spam -a svm --time-limit 1ms");
    assert!(limited["seconds"]["train"]["most"].as_f64().unwrap() <= 1e-3);
}

#[test]
fn what_cannot_be_learned_cannot_be_planned() {
    let folder = tempfile::tempdir().unwrap();
    for flags in
        ["iris -a svm --c -1", "iris -a nobody", "nothing.csv -a svm", "iris -a linear-svm --probe soon"]
    {
        let words: Vec<&str> = ["plan"].into_iter().chain(flags.split_whitespace()).collect();
        let result = rosenblatt(folder.path(), &words);
        assert_eq!(result.status.code(), Some(2), "{flags}");
    }
}
