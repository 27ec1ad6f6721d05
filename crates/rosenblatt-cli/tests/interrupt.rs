//! Ctrl-C and the time limit keep the best model so far.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use support::{json, rosenblatt};

/// Rows that no line separates, so that training goes on until it is stopped.
fn endless(folder: &std::path::Path) {
    let mut text = String::from("x,y,c\n");
    for i in 0..500 {
        text += &format!("{},{},{}\n", i % 17, i % 13, if i % 3 == 0 { "a" } else { "b" });
    }
    fs::write(folder.join("endless.csv"), text).unwrap();
}

#[test]
fn ctrl_c_keeps_the_best_model() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    let child = Command::new(support::BINARY)
        .args([
            "train",
            "endless.csv",
            "-a",
            "perceptron",
            "--passes",
            "1000000000",
            "-o",
            "m.model",
            "--json",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(700));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "interrupted");
    assert!(report["train_accuracy"].as_f64().unwrap() >= 0.6, "{report:#}");
    let evaluated = json(folder.path(), "eval m.model endless.csv");
    assert_eq!(evaluated["accuracy"], report["train_accuracy"]);
}

#[test]
fn the_time_limit_keeps_the_best_model() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    let line = "train endless.csv -a perceptron --passes 1000000000 --time-limit 200ms -o m.model";
    assert_eq!(json(folder.path(), line)["status"], "time_limit");
    assert!(rosenblatt(folder.path(), &["inspect", "m.model"]).status.success());
}

/// Counting votes over all rows takes longer than learning; it is stopped, too, and the model kept.
#[test]
fn a_vote_is_not_counted_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for i in 0u64..20_000 {
        let hash = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        text += &format!("{} {}:1 {}:1 {}:1\n", hash % 2, hash % 97 + 1, hash % 89 + 101, hash % 83 + 201);
    }
    fs::write(folder.path().join("noise.svm"), text).unwrap();
    let line = "train noise.svm -a voted-perceptron --passes 1000000 --time-limit 300ms -o m.model";
    let report = json(folder.path(), line);
    assert_eq!((&report["status"], report["train_accuracy"].is_null()), (&"time_limit".into(), true));
    assert!(rosenblatt(folder.path(), &["inspect", "m.model"]).status.success());
}
