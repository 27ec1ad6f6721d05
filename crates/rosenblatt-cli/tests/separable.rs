//! What training says of classes that no plane separates.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{json, rosenblatt, run, stderr};

/// Row 3 lies between rows 1 and 2, which are of the other class; row 4 has no part in it.
const BETWEEN: &str = "x,y,c\n0,0,a\n2,2,a\n1,1,b\n5,1,b\n";

fn folder(content: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("d.csv"), content).unwrap();
    folder
}

fn never_converges(folder: &Path, line: &str) -> Value {
    json(folder, &format!("train d.csv {line}"))["never_converges"].clone()
}

#[test]
fn a_perceptron_says_why_it_never_converges() {
    let folder = folder(BETWEEN);
    for algorithm in ["perceptron", "averaged-perceptron", "voted-perceptron"] {
        assert_eq!(
            never_converges(folder.path(), &format!("-a {algorithm}")),
            json!([1, 2, 3]),
            "{algorithm}"
        );
    }
    let text = run(folder.path(), "train d.csv -a perceptron");
    let line = "will never converge: rows 1, 2, 3 prove that no plane separates the classes";
    assert!(text.contains(line), "{text}");
    // Other learners stop for other reasons.
    assert_eq!(never_converges(folder.path(), "-a passive-aggressive"), Value::Null);
}

#[test]
fn where_more_passes_may_help_it_does_not_say_so() {
    // A plane is there, but one pass does not find it.
    let apart = folder("x,c\n5,a\n6,b\n");
    assert_eq!(json(apart.path(), "train d.csv -a perceptron --passes 1")["status"], "pass_limit");
    assert_eq!(never_converges(apart.path(), "-a perceptron --passes 1"), Value::Null);
    // Without a bias, and with a tie counted as the first class, rows on the plane are right: this converges, though no plane separates a row at the origin.
    let origin = folder("x,c\n0,a\n1,b\n");
    let fit = json(origin.path(), "train d.csv -a perceptron --bias none --tie negative");
    assert_eq!((&fit["status"], &fit["never_converges"]), (&json!("converged"), &Value::Null));
    let strict = "-a perceptron --bias none --tie mistake";
    assert_eq!(never_converges(origin.path(), strict), json!([1]));
}

#[test]
fn of_several_problems_the_one_is_named() {
    // On a line b lies between a and c: each pair can be separated, b from the rest cannot.
    let folder = folder("x,c\n0,a\n1,b\n2,c\n");
    assert_eq!(never_converges(folder.path(), "-a perceptron --multiclass ovr"), json!([1, 2, 3]));
    let text = run(folder.path(), "train d.csv -a perceptron --multiclass ovr");
    assert!(text.contains("separates the classes (b against the rest)"), "{text}");
    assert_eq!(never_converges(folder.path(), "-a perceptron --multiclass ovo"), Value::Null);
}

/// Held-out rows are not counted twice: the rows named are those of the file.
#[test]
fn rows_are_those_of_the_file() {
    // Ten rows of each class that a plane separates, and at the end two equal ones.
    let mut content = "x,c\n".to_owned();
    (0..10).for_each(|i| content += &format!("{i},a\n{},b\n", 100 + i));
    (0..10).for_each(|_| content += "50,a\n50,b\n");
    let folder = folder(&content);
    let lines: Vec<&str> = content.lines().skip(1).collect();
    for line in
        ["train d.csv -a perceptron --holdout 0.3", "train d.csv -a averaged-perceptron --holdout 0.5"]
    {
        let rows = json(folder.path(), line)["never_converges"].clone();
        let rows: Vec<usize> =
            rows.as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect();
        let named: Vec<&str> = rows.iter().map(|row| lines[row - 1]).collect();
        assert!(named == ["50,a", "50,b"] || named == ["50,b", "50,a"], "{rows:?}: {named:?}");
    }
}

#[test]
fn the_hard_margin_names_rows() {
    let folder = folder(BETWEEN);
    for flags in ["", "--bias regularized", "--solver dual", "--solver newton"] {
        let line = format!("train d.csv -a hard-margin {flags}");
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = rosenblatt(folder.path(), &args);
        let message = stderr(&output);
        assert!(!output.status.success(), "{line}");
        assert!(message.contains("no plane separates the classes: rows 1, 2, 3 prove it"), "{message}");
        assert!(message.contains("linear-svm"), "{message}");
    }
}
