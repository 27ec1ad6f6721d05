//! Features by name: hashed, unknown, and mistaken for numbers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;

use support::{json, rosenblatt, run};

const TRAIN: &str = "1 |w free money\n0 |w hello money\n1 |w free prize:2\n0 |w hello you\n";

#[test]
fn hashed_names_are_reported_and_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.vw"), TRAIN).unwrap();
    let shown = json(at, "train a.vw --hash 20 -o a.model");
    assert_eq!(shown["features"], 1 << 20);
    let hashing = serde_json::json!({ "bits": 20, "names": 5, "shared": 0, "buckets_used": 5 });
    assert_eq!(shown["hashing"], hashing);
    let crowded = run(at, "train a.vw --hash 1");
    assert!(crowded.contains("5 names in 2^1 buckets: "), "{crowded}");
    assert_eq!(run(at, "predict a.model a.vw"), "1\n0\n1\n0\n");
    let inspected = run(at, "inspect a.model");
    assert!(inspected.contains("buckets of hashed names") && inspected.contains("  #"), "{inspected}");
    fs::write(at.join("a.svm"), "1 1:2\n0 2:1\n").unwrap();
    for line in [&["predict", "a.model", "a.svm"][..], &["train", "a.svm", "--hash", "8"]] {
        let output = rosenblatt(at, line);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("LIBSVM text") && error.contains("hint"), "{error}");
    }
}

#[test]
fn unknown_features_are_counted_and_numbers_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.vw"), TRAIN).unwrap();
    fs::write(at.join("new.vw"), "1 |w free lunch\n0 |w hello lunch box\n").unwrap();
    run(at, "train a.vw -o a.model");
    for command in ["predict", "eval"] {
        let output = rosenblatt(at, &[command, "a.model", "new.vw"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        assert!(error.contains("note: 3 of 5 features are not in the model and count as 0"), "{error}");
        assert_eq!(json(at, &format!("{command} a.model new.vw"))["unknown_features"], 3);
    }
    fs::write(at.join("a.svm"), "1 1:2\n0 2:1\n").unwrap();
    let output = rosenblatt(at, &["predict", "a.model", "a.svm"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("w^free, w^money") && error.contains("Vowpal Wabbit text"), "{error}");
}
