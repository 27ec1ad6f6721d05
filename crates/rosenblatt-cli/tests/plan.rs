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
    for flags in [
        "iris -a svm --c -1",
        "iris -a nobody",
        "nothing.csv -a svm",
        "iris -a linear-svm --probe soon",
        "worked-3 -a svm --kernel precomputed",
        "worked-3 -a kernel-perceptron --kernel precomputed --probe 0s",
    ] {
        let words: Vec<&str> = ["plan"].into_iter().chain(flags.split_whitespace()).collect();
        let result = rosenblatt(folder.path(), &words);
        assert_eq!(result.status.code(), Some(2), "{flags}");
    }
}

/// What a process has of its own, pages of files not counted, as long as it runs.
#[cfg(target_os = "linux")]
fn most_memory(folder: &std::path::Path, line: &str) -> u64 {
    use std::process::{Command, Stdio};
    let mut command = Command::new(support::BINARY);
    command.args(line.split_whitespace()).current_dir(folder).stdout(Stdio::null());
    let (mut child, mut most) = (command.spawn().unwrap(), 0);
    let status = format!("/proc/{}/status", child.id());
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success(), "{line}");
    most
}

/// Ten classes, each about a corner of its own, that overlap; many columns, so that matrices count.
#[cfg(target_os = "linux")]
fn overlapping_classes(rows: usize, columns: usize) -> String {
    use std::fmt::Write;
    let mut rng = rosenblatt::Rng::new(5);
    let mut text = String::new();
    for row in 0..rows {
        write!(text, "{}", row % 10).unwrap();
        for column in 1..=columns {
            let centre = if column % 10 == row % 10 { 0.3 } else { 0.0 };
            write!(text, " {column}:{:.2}", rng.normal() + centre).unwrap();
        }
        text.push('\n');
    }
    text
}

/// Matrices of several classes are under way at the same time, scores of all classes are kept for each row, and a proof that a perceptron cannot converge has its own.
#[cfg(target_os = "linux")]
#[test]
fn no_more_memory_is_taken_than_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let many = overlapping_classes(4_000, 400);
    std::fs::write(folder.path().join("many.svm"), &many).unwrap();
    let two =
        overlapping_classes(40_000, 12).replace("\n2", "\n1").replace("\n3", "\n1").replace("\n4", "\n1");
    std::fs::write(folder.path().join("few.svm"), two).unwrap();
    for flags in [
        "many.svm -a logistic",
        "many.svm -a linear-svm --loss squared-hinge",
        "many.svm -a averaged-perceptron --passes 2",
        "few.svm -a averaged-perceptron --passes 2",
        "few.svm -a voted-perceptron --passes 1",
        "few.svm -a linear-svm --holdout 0.3",
        "iris -a svm",
    ] {
        let flags = format!("{flags} --threads 2");
        let said = json(folder.path(), &format!("plan {flags} --probe 1ms"))["bytes"].clone();
        let had = most_memory(folder.path(), &format!("train {flags} -o m.model"));
        assert!(had <= said["most"].as_u64().unwrap(), "{flags}: {had} bytes, said {said}");
    }
}
