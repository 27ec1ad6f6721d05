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

/// The JSON whatever the answer is, and the exit code.
fn separable(folder: &Path, line: &str) -> (Value, Option<i32>) {
    let args: Vec<&str> = ["separable", "--json"].into_iter().chain(line.split_whitespace()).collect();
    let output = rosenblatt(folder, &args);
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

/// Each proof of the JSON can be added up without looking at the data: of quarters, halves and small whole numbers doubles hold every digit.
fn add_up(problem: &Value, bias: bool) {
    let mut sums = std::collections::BTreeMap::new();
    for multiplier in problem["multipliers"].as_array().unwrap() {
        let (above, below) = multiplier["value"].as_str().unwrap().split_once('/').unwrap_or(("1", "1"));
        let value = above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap();
        let factor = value * multiplier["y"].as_f64().unwrap();
        for (name, v) in multiplier["values"].as_object().unwrap() {
            *sums.entry(name.clone()).or_insert(0.0) += factor * v.as_f64().unwrap();
        }
        if bias {
            *sums.entry("the constant".to_owned()).or_insert(0.0) += factor;
        }
    }
    assert!(!sums.is_empty() && sums.values().all(|sum| *sum == 0.0), "{problem:#}: {sums:?}");
}

#[test]
fn proofs_in_json_can_be_added_up() {
    let folder = folder("x,y,c\n0,0,a\n2,2,a\n1,1,b\n5,1,b\n1,1,c\n");
    let (two, code) = separable(folder.path(), "d.csv --multiclass ovo");
    assert_eq!(code, Some(1));
    let problems = two["problems"].as_array().unwrap();
    let open: Vec<&Value> = problems.iter().filter(|problem| problem["separable"] == false).collect();
    assert_eq!(open.len(), 3, "{two:#}");
    open.iter().for_each(|problem| add_up(problem, true));
    assert!(problems.iter().all(|problem| problem["seconds"].as_f64().is_some()));
    let first = &open[0]["multipliers"][0];
    assert_eq!((&first["row"], &first["label"], &first["y"]), (&json!(1), &json!("a"), &json!(-1)));
    // Also after a map, whose features are not in the file.
    let (mapped, _) = separable(folder.path(), "d.csv --multiclass ovo --map poly:2");
    for problem in mapped["problems"].as_array().unwrap() {
        if problem["separable"] == false {
            add_up(problem, true);
        }
    }
    let (origin, code) = separable(folder.path(), "d.csv --multiclass ovo --no-bias");
    assert_eq!(code, Some(1));
    for problem in origin["problems"].as_array().unwrap() {
        if problem["separable"] == false && problem["multipliers"].as_array().unwrap().len() > 1 {
            add_up(problem, false);
        }
    }
}

/// "No" and "stopped" must not look the same to a script.
#[test]
#[cfg(unix)]
fn an_interrupted_search_is_no_answer() {
    // So many points that meet, or nearly so, take seconds.
    let (n, d) = (1_600, 700);
    let (mut text, mut state) = (String::new(), 1u64);
    for _ in 0..n {
        for _ in 0..d {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += &format!("{},", (state >> 33) % 100_003);
        }
        text += if state >> 62 & 1 == 0 { "a\n" } else { "b\n" };
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hard.csv"), text).unwrap();
    // Before the search begins an interrupt ends the program at once, as it does any program: then it came too early.
    for wait in [300, 600, 1_200, 2_400, 4_800] {
        let child = std::process::Command::new(support::BINARY)
            .args(["separable", "hard.csv", "--no-header", "--json"])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let output = child.wait_with_output().unwrap();
        assert!(sent.unwrap().success(), "it was over after {wait} ms: {:?}", output.status);
        if output.status.code().is_none() {
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["error"], "stopped before the answer was found");
        return;
    }
    panic!("it never began to search");
}
