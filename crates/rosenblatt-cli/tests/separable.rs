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
    let text = run(apart.path(), "train d.csv -a perceptron --passes 1");
    assert!(text.contains("a plane separates the classes: more --passes will help"), "{text}");
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
        assert_eq!(output.status.code(), Some(1), "{line}");
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
        // What was made of the values, if anything was.
        let made = multiplier.get("mapped_values").unwrap_or(&multiplier["values"]);
        for (name, v) in made.as_object().unwrap() {
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

/// JSON and exit code of a request that fails.
fn failed(folder: &Path, line: &str) -> (Value, Option<i32>) {
    let args: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
    let output = rosenblatt(folder, &args);
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

#[test]
fn exit_codes_say_the_answer() {
    let apart = folder("x,c\n5,a\n6,b\n");
    let (shown, code) = separable(apart.path(), "d.csv");
    assert_eq!((&shown["separable"], &shown["verified"], code), (&json!(true), &json!("exact"), Some(0)));
    assert_eq!(separable(apart.path(), "d.csv --kernel rbf").1, Some(0));
    assert_eq!(separable(folder(BETWEEN).path(), "d.csv").1, Some(1));
    assert_eq!(failed(apart.path(), "separable nowhere.csv").1, Some(2));
}

/// What keeps a hard margin from being is told to scripts as `separable` tells it, all rows of it, by the linear kernel as by the linear learner; where rows are equal by any kernel.
#[test]
fn a_hard_margin_that_cannot_be_is_a_failed_request_with_its_proof() {
    let line = folder(BETWEEN);
    let (proof, _) = separable(line.path(), "d.csv");
    for learner in ["-a hard-margin", "-a svm --slack none --kernel linear"] {
        let (shown, code) = failed(line.path(), &format!("train d.csv {learner}"));
        assert_eq!((code, &shown["status"]), (Some(1), &json!("inseparable")), "{learner}: {shown:#}");
        assert_eq!(shown["multipliers"], proof["multipliers"], "{learner}");
        assert!(shown["error"].as_str().unwrap().contains("rows 1, 2, 3 prove it"), "{shown:#}");
    }
    let equal = folder("x,y,c\n0,0,a\n2,2,a\n2,2,b\n5,1,b\n");
    let (shown, code) = failed(equal.path(), "train d.csv -a svm --slack none --kernel rbf");
    assert_eq!((code, &shown["status"]), (Some(1), &json!("inseparable")), "{shown:#}");
    add_up(&shown, true);
    let error = shown["error"].as_str().unwrap();
    assert!(error.contains("rows 2, 3 prove it") && !error.contains("take a kernel"), "{error}");
    // Rows are those of the file, values those that add up.
    let (shown, _) = failed(line.path(), "train d.csv -a hard-margin --scale minmax");
    add_up(&shown, true);
    assert_eq!(shown["multipliers"][0]["row"], 1);
}

/// A space that has no features shows no weights of any, and a margin is that of the rows or is not there.
#[test]
fn spaces_of_kernels_show_what_is_theirs() {
    let corners = folder("x,y,c\n1,1,a\n-1,1,b\n-1,-1,a\n1,-1,b\n");
    let (rbf, code) = separable(corners.path(), "d.csv --kernel rbf");
    let nothing = (&rbf["margin"], &rbf["weights"], &rbf["bias"]);
    assert_eq!((code, nothing), (Some(0), (&Value::Null, &Value::Null, &Value::Null)));
    assert!(rbf["space"].as_str().unwrap().contains("margin depends on the width"), "{rbf:#}");
    let (poly, code) = separable(corners.path(), "d.csv --kernel poly --degree 2");
    assert_eq!((code, &poly["margin"]), (Some(0), &Value::Null));
    assert_eq!(poly["terms"], json!(["1", "x", "y", "x²", "x·y", "y²"]));
    assert_eq!(poly["weights"].as_array().unwrap().len(), 6);
    // On the squares of x alone every other point of a line is not separated, whatever rounding makes of the square roots in the kernel.
    let line = folder("x,y,c\n0,0,a\n1,1,b\n2,2,a\n3,3,b\n");
    let (shown, code) = separable(line.path(), "d.csv --kernel poly --degree 2");
    let shown: Vec<&Value> =
        shown["multipliers"].as_array().unwrap().iter().map(|row| &row["value"]).collect();
    assert_eq!((code, shown), (Some(1), vec![&json!("1/8"), &json!("3/8"), &json!("3/8"), &json!("1/8")]));
    let (scaled, _) = separable(line.path(), "d.csv --scale standard");
    assert_eq!(scaled["multipliers"][1]["values"], json!({"x": 1.0, "y": 1.0}));
    assert!(scaled["multipliers"][1]["mapped_values"]["x"].as_f64().unwrap() < 0.0, "{scaled:#}");
    for kernel in ["sigmoid", "cosine", "chi2", "precomputed"] {
        let (shown, code) = failed(line.path(), &format!("separable d.csv --kernel {kernel}"));
        assert_eq!(code, Some(2), "{kernel}");
        assert!(shown["error"].as_str().unwrap().contains(kernel), "{shown:#}");
    }
}

/// The inequalities hold at every update, also of a run that did not come to its end; without any plane there is no bound.
#[test]
fn an_audit_needs_no_run_that_converged() {
    let mut content = "x,y,c\n".to_owned();
    (0..40).for_each(|i| content += &format!("{},{},{}\n", i, (7 * i) % 11, if i < 20 { "a" } else { "b" }));
    let near = folder(&content);
    let fit = json(near.path(), "train d.csv -a perceptron --tie mistake --passes 3 --audit");
    let audit = &fit["audit"];
    assert_eq!((&fit["status"], &audit["holds"]), (&json!("pass_limit"), &json!(true)));
    assert_eq!(audit["mistakes"], fit["mistakes"]);
    assert!(audit["mistakes"].as_f64().unwrap() <= audit["bound"].as_f64().unwrap());
    let (shown, code) = failed(folder(BETWEEN).path(), "train d.csv -a perceptron --passes 3 --audit");
    assert_eq!(code, Some(1));
    assert!(shown["error"].as_str().unwrap().contains("rows 1, 2, 3 prove that no plane"), "{shown:#}");
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
