//! `compare`: who is best, who may be as good, and who cannot.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rosenblatt::registry::ALGORITHMS;
use serde_json::Value;
use support::{json, rosenblatt, run, stderr};

fn without_times(mut compared: Value) -> Value {
    for learner in compared["learners"].as_array_mut().unwrap() {
        if let Some(learner) = learner.as_object_mut() {
            learner.remove("train_seconds");
            learner.remove("predict_seconds");
        }
    }
    compared
}

#[test]
fn the_best_comes_first_and_the_unable_last() {
    let folder = tempfile::tempdir().unwrap();
    let line = "compare iris --folds 5 --scale standard -a naive-bayes,hard-margin,logistic,winnow,pegasos";
    let compared = json(folder.path(), line);
    assert_eq!((compared["splits"].as_u64(), compared["train_rows"].as_u64()), (Some(5), Some(120)));
    assert_eq!(compared["test"], "corrected resampled t");
    let learners = compared["learners"].as_array().unwrap();
    assert_eq!(learners.len(), 5);
    let accuracy = |at: usize| learners[at]["accuracy"].as_f64().unwrap();
    assert!(accuracy(0) >= accuracy(1) && accuracy(1) >= accuracy(2) && accuracy(0) > 0.9);
    assert!(learners[0]["p"].is_null() && learners[1]["p"].is_f64());
    for learner in &learners[..3] {
        let (low, high) =
            (learner["interval"][0].as_f64().unwrap(), learner["interval"][1].as_f64().unwrap());
        let accuracies: Vec<f64> =
            learner["accuracies"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
        let mean = accuracies.iter().sum::<f64>() / 5.0;
        assert!((mean - learner["accuracy"].as_f64().unwrap()).abs() < 1e-12);
        assert!(low <= mean && mean <= high && high <= 1.0 && accuracies.len() == 5);
        assert!(learner["bytes"].as_u64().unwrap() > 100);
    }
    let why = |name: &str| {
        let learner = learners.iter().find(|learner| learner["algorithm"] == name).unwrap();
        learner["why_not"].as_str().unwrap_or_default().to_owned()
    };
    assert!(why("hard-margin").contains("no plane separates"), "{}", why("hard-margin"));
    assert!(why("winnow").contains("non-negative"), "{}", why("winnow"));
    let again = json(folder.path(), &format!("{line} --threads 1"));
    assert_eq!(without_times(again), without_times(compared));
}

#[test]
fn all_learners_have_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let compared = json(folder.path(), "compare iris-separable --passes 20 --gap 0.1");
    assert_eq!((compared["splits"].as_u64(), compared["test"].as_str()), (Some(1), Some("McNemar")));
    assert_eq!((compared["train_rows"].as_u64(), compared["test_rows"].as_u64()), (Some(74), Some(26)));
    for row in ALGORITHMS {
        let learners = compared["learners"].as_array().unwrap();
        let learner = learners.iter().find(|learner| learner["algorithm"] == row.name).unwrap();
        assert!(learner["accuracy"].is_f64() || learner["why_not"].is_string(), "{learner}");
    }
    let text = run(folder.path(), "compare iris-separable -a perceptron,naive-bayes");
    assert!(text.contains("is best with 100.00%") && text.contains("McNemar"), "{text}");
}

/// Held-out rows of a file are those that are predicted, and scaling knows nothing of them.
#[test]
fn rows_to_predict_may_have_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |shift: i32| -> String {
        let row = |i: i32| format!("{},{},{}\n", i + shift, (i * 7) % 5, if i < 10 { "low" } else { "high" });
        (0..20).map(row).collect()
    };
    std::fs::write(folder.path().join("train.csv"), format!("x,y,class\n{}", rows(0))).unwrap();
    std::fs::write(folder.path().join("test.csv"), format!("x,y,class\n{}", rows(1))).unwrap();
    let line = "compare train.csv --holdout test.csv --scale standard -a logistic,naive-bayes";
    let compared = json(folder.path(), line);
    assert_eq!((compared["train_rows"].as_u64(), compared["test_rows"].as_u64()), (Some(20), Some(20)));
    run(folder.path(), "train train.csv --scale standard -a logistic -o m.model --quiet");
    let expected = json(folder.path(), "eval m.model test.csv")["accuracy"].clone();
    let learners = compared["learners"].as_array().unwrap();
    let found = learners.iter().find(|learner| learner["algorithm"] == "logistic").unwrap();
    assert_eq!(found["accuracy"], expected);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (line, problem) in [
        ("compare iris -a nobody", "there is no algorithm"),
        ("compare iris --folds 1", "folds"),
        ("compare iris --folds 1000", "folds"),
        ("compare iris --holdout 1.5", "holdout"),
        ("compare iris -a logistic,arow --hidden 5", "none of these learners has --hidden"),
        ("compare iris -a logistic --c -1", "--c"),
        ("compare iris -a svm --kernel precomputed", "precomputed"),
    ] {
        let output = rosenblatt(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains(problem), "{line}: {}", stderr(&output));
    }
}

#[test]
fn losses_are_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let losses = json(folder.path(), "losses");
    let value = |name: &str, margin: f64| {
        let rows = losses["losses"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        let values = row["values"].as_array().unwrap();
        values.iter().find(|value| value["margin"] == margin).unwrap()["loss"].as_f64().unwrap()
    };
    let expected = [
        ("0/1", [1.0, 1.0, 0.0]),
        ("perceptron", [1.0, 0.0, 0.0]),
        ("hinge", [2.0, 1.0, 0.0]),
        ("squared hinge", [4.0, 1.0, 0.0]),
        ("squared", [4.0, 1.0, 1.0]),
        ("logistic", [1f64.exp().ln_1p(), 2f64.ln(), (-2f64).exp().ln_1p()]),
    ];
    for (name, values) in expected {
        for (margin, expected) in [-1.0, 0.0, 2.0].into_iter().zip(values) {
            assert!((value(name, margin) - expected).abs() < 1e-12, "{name} at {margin}");
        }
    }
    assert!(run(folder.path(), "losses").contains("squared hinge"));
}
