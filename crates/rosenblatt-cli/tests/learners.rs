//! Every learner does every job on every embedded kind of data, and gives the same bytes each time.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use rosenblatt::registry::{ALGORITHMS, Algorithm};
use support::{json, rosenblatt, run, stderr};

const DATA: &[(&str, &str, f64)] =
    &[("iris", "--scale minmax", 0.6), ("auto-mpg", "--scale minmax", 0.7), ("sms-spam", "", 0.9)];

/// What a plane separates.
const SEPARABLE: &[(&str, &str, f64)] = &[("iris-separable", "", 1.0), ("sms-spam", "", 1.0)];

fn variants(algorithm: &str) -> &[&str] {
    match algorithm {
        "winnow" => &["--multiclass ovr", "--balanced"],
        "passive-aggressive" => &["--variant plain", "--variant I --c 0.1", "--variant II"],
        "linear-svm" => &["", "--multiclass ovo --loss squared-hinge", "--solver dual --bias none"],
        "logistic" => &["", "--multiclass ovo", "--solver dual --multiclass ovr --bias regularized"],
        "crammer-singer" => &["", "--bias none"],
        "hard-margin" => &["", "--multiclass ovo --bias regularized"],
        "naive-bayes" => {
            &["", "--distribution bernoulli --binarize 0.3", "--distribution multinomial --alpha 0.1"]
        }
        "network" => {
            &["--passes 30 --hidden 16", "--passes 10 --hidden 12,8 --activation tanh --learning-rate 0.01"]
        }
        "subgradient" | "pegasos" => &["--passes 50", "--multiclass ovo --loss squared-hinge --passes 50"],
        _ => &["", "--multiclass ovr", "--multiclass ovo"],
    }
}

fn each_run(mut check: impl FnMut(&Path, &str, &str, f64)) {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ALGORITHMS {
        for variant in variants(algorithm.name) {
            let data = if algorithm.name == "hard-margin" { SEPARABLE } else { DATA };
            for (data, scale, accuracy) in data {
                let line = format!("train {data} -a {} {variant} {scale}", algorithm.name);
                check(folder.path(), &line, data, *accuracy);
            }
        }
    }
}

#[test]
fn every_learner_does_every_job() {
    each_run(|folder, line, data, least| {
        let trained = json(folder, &format!("{line} -o m.model"));
        let accuracy = trained["train_accuracy"].as_f64().unwrap();
        assert!(accuracy >= least, "{line}: {accuracy}");
        let rows = trained["rows"].as_u64().unwrap();

        let predicted = run(folder, &format!("predict m.model {data}"));
        assert_eq!(predicted.lines().count() as u64, rows, "{line}");

        let evaluated = json(folder, &format!("eval m.model {data}"));
        assert_eq!(evaluated["accuracy"].as_f64().unwrap(), accuracy, "{line}");

        let inspected = json(folder, "inspect m.model --top 3");
        let shown = trained["features"].as_u64().unwrap().min(3) as usize;
        // A kernel has examples where others have weights.
        let (largest, parts) = match inspected["planes"].as_array().unwrap().first() {
            Some(plane) => (plane["largest_weights"].clone(), "contributions"),
            None if inspected["stored"].is_array() => (inspected["stored"].clone(), "examples"),
            None if inspected["network"].is_object() => {
                (inspected["network"]["inputs"].clone(), "contributions")
            }
            None => (inspected["distributions"]["features"].clone(), "contributions"),
        };
        assert_eq!(largest.as_array().unwrap().len(), shown, "{line}");

        let explained = json(folder, &format!("explain m.model {data} --row 7"));
        assert_eq!(explained["predicted"], predicted.lines().nth(6).unwrap(), "{line}");
        for class in explained["classes"].as_array().unwrap() {
            let parts = class[parts].as_array().unwrap();
            let sum: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
            let (bias, score) = (class["bias"].as_f64().unwrap(), class["score"].as_f64().unwrap());
            assert!((sum + bias - score).abs() <= 1e-9 * (1.0 + score.abs()), "{line}: {class}");
        }
    });
}

#[test]
fn threads_and_runs_do_not_change_a_byte() {
    each_run(|folder, line, _, _| {
        let bytes = |threads: usize| {
            run(folder, &format!("{line} --seed 7 --holdout 0.25 --threads {threads} -o m.model --quiet"));
            fs::read(folder.join("m.model")).unwrap()
        };
        let first = bytes(1);
        assert_eq!(first, bytes(2), "{line}: threads");
        assert_eq!(first, bytes(2), "{line}: runs");
    });
}

#[test]
fn a_model_can_be_where_the_next_one_starts() {
    let folder = tempfile::tempdir().unwrap();
    let line = "train auto-mpg --scale minmax -a logistic --gap 1e-8";
    let cold = json(folder.path(), &format!("{line} --c 1 -o m.model"));
    let again = json(folder.path(), &format!("{line} --c 1 --resume m.model"));
    let passes = |outcome: &serde_json::Value| outcome["passes"].as_u64().unwrap();
    assert!(passes(&again) < passes(&cold), "{} against {}", passes(&again), passes(&cold));
    let next = json(folder.path(), &format!("{line} --c 1.1 --resume m.model -o n.model"));
    assert!(next["gap"].as_f64().unwrap() <= 1e-8);
    assert!(folder.path().join("n.model").exists());
    // Without a model it begins at the beginning.
    let fresh = json(folder.path(), &format!("{line} --c 1 --resume new.model"));
    assert_eq!(passes(&fresh), passes(&cold));
    assert!(folder.path().join("new.model").exists());
}

/// Years: what is far from 0, and near each other.
#[test]
fn rows_far_from_zero_are_taken_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = |i: u32| {
        let (u, v) = (f64::from(i * 37 % 100) / 10.0, f64::from(i * 61 % 97) / 10.0);
        format!("{},{},{}\n", 2000.0 + u, 2000.0 + v, if u + v > 9.0 { "late" } else { "early" })
    };
    let text: String = ["u,v,label\n".to_owned()].into_iter().chain((0..200).map(row)).collect();
    fs::write(folder.join("years.csv"), text).unwrap();
    for learner in ["svm", "kernel-logistic", "kernel-perceptron --kernel rbf"] {
        let trained = json(folder, &format!("train years.csv --label label -a {learner} -o m.model"));
        let accuracy = trained["train_accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.8, "{learner}: {accuracy}");
        assert_eq!(run(folder, "predict m.model years.csv").lines().count(), 200, "{learner}");
        assert_eq!(
            json(folder, "eval m.model years.csv")["accuracy"],
            trained["train_accuracy"],
            "{learner}"
        );
        run(folder, "verify m.model years.csv");
    }
}

#[test]
fn what_examples_count_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let trace = run(folder, "trace worked-3 -a kernel-perceptron --kernel linear --budget 2 --passes 3");
    let kernel = "-a kernel-perceptron --kernel linear --budget 2 --passes 3 --order cyclic";
    run(folder, &format!("train worked-3 {kernel} -o m.model --quiet"));
    let shown = run(folder, "inspect m.model");
    assert!(shown.contains("  coefficient  "), "{shown}");
    let stored = json(folder, "inspect m.model")["stored"].clone();
    for a in stored.as_array().unwrap() {
        let a = a["coefficients"][0].as_f64().unwrap();
        assert!(trace.contains(&format!("{a:.4}")), "{a} in {trace}");
    }
    run(
        folder,
        "train worked-3 -a kernel-perceptron --kernel linear --predictor averaged -o m.model --quiet",
    );
    let shown = run(folder, "inspect m.model");
    assert!(shown.contains("  count  coefficient  row"), "{shown}");
    assert!(json(folder, "inspect m.model")["stored"][0]["counts"].is_array());
    // Of many rows those that count.
    let trace = run(folder, "trace iris-separable -a kernel-perceptron --passes 1");
    assert!(trace.contains("(1:-1)") || trace.contains(":1)"), "{trace}");
    assert!(!trace.contains("0, 0, 0"), "{trace}");
    // Without a bias γ′ is γ.
    let shown = run(folder, "train iris-separable -a kernel-perceptron --tie mistake --passes 1000");
    assert!(shown.contains("at most (R/γ)² = ") && !shown.contains("as a weight"), "{shown}");
}

#[test]
fn every_learner_with_an_objective_goes_on_from_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let has_objective = |algorithm: &&Algorithm| !algorithm.online && algorithm.name != "naive-bayes";
    for algorithm in ALGORITHMS.iter().filter(has_objective) {
        let name = algorithm.name;
        for data in ["iris-separable", "iris"] {
            if (name, data) == ("hard-margin", "iris") {
                continue;
            }
            let first = json(
                folder.path(),
                &format!("train {data} -a {name} --scale standard --passes 4 -o m.model"),
            );
            let then =
                json(folder.path(), &format!("train {data} -a {name} --scale standard --resume m.model"));
            assert_eq!(then["model"], "m.model", "{name}");
            let (before, after) = (first["primal"].as_f64().unwrap(), then["primal"].as_f64().unwrap());
            // Some minimise a gap of 1e-3 at the most, by way of their duals.
            let kept =
                matches!(name, "crammer-singer" | "hard-margin" | "subgradient" | "pegasos" | "network");
            let allowed = if kept { 1e-9 } else { 2e-3 };
            assert!(after <= before * (1.0 + allowed), "{name} on {data}: {before} became {after}");
        }
    }
}

#[test]
fn two_prices_of_errors_are_refused_even_where_one_is_the_default() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ["linear-svm", "logistic", "crammer-singer", "svm"] {
        let line = format!("train iris -a {algorithm} --c 1 --lambda 0.1");
        let output = rosenblatt(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains("give c or lambda, not both"), "{line}: {}", stderr(&output));
    }
}

#[test]
fn costs_are_shown_up_to_the_last_step() {
    let folder = tempfile::tempdir().unwrap();
    let trained = run(folder.path(), "train iris-separable -a subgradient --passes 6 -o m.model");
    for text in [trained, run(folder.path(), "inspect m.model")] {
        let costs = text.lines().find(|line| line.trim_start().starts_with("costs")).unwrap();
        assert!(costs.contains(" at the start, ") && costs.contains(" after 4, "), "{costs}");
        assert!(costs.ends_with(" after 6"), "{costs}");
    }
}

#[test]
fn statistics_without_a_meaning_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ["logistic", "logistic --multiclass ovr", "kernel-logistic"] {
        let line = format!("train iris -a {algorithm} -o m.model");
        let trained = json(folder.path(), &line);
        assert!(trained["support_vectors"].is_null() && trained["corridor"].is_null(), "{line}");
        assert!(!run(folder.path(), &line).contains("support vector"), "{line}");
    }
    let trained = json(folder.path(), "train iris -a linear-svm");
    assert!(trained["margin"].is_number() && trained["radius"].is_number());
    for problem in trained["problems"].as_array().unwrap() {
        for field in ["primal", "dual", "gap", "support_vectors"] {
            assert!(problem[field].is_number(), "{field}: {problem}");
        }
        assert!(problem["slacks"].is_object());
    }
    assert!(run(folder.path(), "train iris-separable -a linear-svm").contains("corridor  2/‖w‖ = "));
}

/// Rows that were held out are not counted, but the numbers of the others are those of the file.
#[test]
fn support_vectors_are_numbered_as_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let value = |row: usize| ((row * 7919) % 101) as f64 / 10.0;
    let line = |row: usize| {
        format!("{},{},{}\n", row + 1, value(row), if value(row) > 5.0 { "high" } else { "low" })
    };
    let rows: String = (0..80).map(line).collect();
    fs::write(folder.path().join("rows.csv"), format!("row,value,class\n{rows}")).unwrap();
    let train = "train rows.csv -a svm --gamma 0.5 --holdout 0.3 -o m.model";
    json(folder.path(), train);
    let numbers = || {
        let stored = json(folder.path(), "inspect m.model --top 100")["stored"].clone();
        let stored = stored.as_array().unwrap().clone();
        stored
            .iter()
            .map(|one| (one["training_row"].as_u64().unwrap(), one["row"]["row"].as_f64().unwrap()))
            .collect::<Vec<_>>()
    };
    let before = numbers();
    assert!(before.len() > 10 && before.iter().all(|(number, row)| *number as f64 == *row), "{before:?}");
    assert!(before.iter().any(|(number, _)| *number > 56), "only those of the split: {before:?}");
    let held = json(folder.path(), "verify m.model rows.csv --holdout 0.3");
    assert!(held["claims"].as_array().unwrap().iter().all(|claim| claim["verdict"] == "held"), "{held}");
    let again = json(folder.path(), "train rows.csv -a svm --gamma 0.5 --holdout 0.3 --resume m.model");
    assert_eq!(again["status"], "converged");
    assert_eq!(numbers(), before);
    let other = rosenblatt(
        folder.path(),
        &[
            "train",
            "rows.csv",
            "-a",
            "svm",
            "--gamma",
            "0.5",
            "--holdout",
            "0.3",
            "--seed",
            "5",
            "--resume",
            "m.model",
        ],
    );
    assert!(stderr(&other).contains("other rows"), "{}", stderr(&other));
}
