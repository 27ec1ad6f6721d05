//! `tune`: what it prints, keeps and refuses.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{json, rosenblatt, run, stderr};

fn refused(folder: &Path, line: &str) -> String {
    let output = rosenblatt(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{line}");
    stderr(&output)
}

#[test]
fn the_best_is_kept_with_its_search() {
    let folder = tempfile::tempdir().unwrap();
    let found =
        json(folder.path(), "tune iris -a svm --c 0.1..10 --gamma 0.01,0.1,1 --scale standard -o m.model");
    let cells = found["cells"].as_array().unwrap();
    assert_eq!((cells.len(), found["fits"].as_u64()), (9, Some(45)));
    let means = || cells.iter().map(|cell| cell["mean"].as_f64().unwrap());
    let best = means().fold(0.0, f64::max);
    assert_eq!(found["accuracy"].as_f64(), Some(best));
    let chosen = &cells[found["chosen"].as_u64().unwrap() as usize];
    assert_eq!(chosen["scores"].as_array().unwrap().len(), 5);
    assert_eq!(found["parameters"]["c"], chosen["parameters"]["c"]);
    let shown = json(folder.path(), "inspect m.model");
    assert_eq!(shown["selection"]["cells"].as_array().unwrap().len(), 9);
    assert_eq!(shown["scale"], "standard");
    assert!(run(folder.path(), "inspect m.model").contains("9 candidates (grid)"));
    assert!(json(folder.path(), "eval m.model iris")["accuracy"].as_f64().unwrap() > 0.95);
    // The same at any number of threads.
    run(
        folder.path(),
        "tune iris -a svm --c 0.1..10 --gamma 0.01,0.1,1 --scale standard -o n.model -q --threads 1",
    );
    assert_eq!(
        fs::read(folder.path().join("m.model")).unwrap(),
        fs::read(folder.path().join("n.model")).unwrap()
    );
}

#[test]
fn several_algorithms_maps_and_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let line = "tune iris -a linear-svm,svm,averaged-perceptron --c 1,10 --kernel rbf,poly --degree 1..2 --map none,poly:2 --folds 3 --rule one-se";
    let found = json(folder.path(), line);
    // Two maps of: two C; C × (rbf, and poly of two degrees); one.
    assert_eq!(found["cells"].as_array().unwrap().len(), 2 * (2 + 2 * 3 + 1));
    let text = run(folder.path(), &format!("{line} --top 0"));
    assert!(text.contains("averaged-perceptron") && text.contains("map poly:2"), "{text}");
}

#[test]
fn groups_come_from_a_column_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut table, mut names) = ("x,who,label\n".to_owned(), String::new());
    for i in 0..60 {
        let who = i % 6;
        table += &format!(
            "{},p{who},{}\n",
            f64::from(i * 7 % 60) + 100.0 * f64::from(who),
            if who % 2 == 0 { "a" } else { "b" }
        );
        names += &format!("p{who}\n");
    }
    fs::write(folder.path().join("t.csv"), &table).unwrap();
    fs::write(folder.path().join("who.txt"), names).unwrap();
    let by_column = json(folder.path(), "tune t.csv -a linear-svm --folds 3 --groups who");
    let by_file = json(folder.path(), "tune t.csv -a linear-svm --folds 3 --groups who.txt --drop who");
    assert_eq!(by_column["cells"][0]["scores"], by_file["cells"][0]["scores"]);
    assert_eq!((by_column["grouped"].as_bool(), by_column["features"].as_u64()), (Some(true), Some(1)));
    fs::write(folder.path().join("short.txt"), "p0\n").unwrap();
    assert!(
        refused(folder.path(), "tune t.csv --groups short.txt").contains("1 lines, where there are 60 rows")
    );
}

#[test]
fn missing_cells_are_filled_in_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "x,colour,label\n".to_owned();
    for i in 0..40 {
        let x = if i % 7 == 0 { "?".to_owned() } else { f64::from(i).to_string() };
        let colour = if i % 9 == 0 {
            ""
        } else if i < 20 {
            "red"
        } else {
            "blue"
        };
        table += &format!("{x},{colour},{}\n", if i < 20 { "low" } else { "high" });
    }
    fs::write(folder.path().join("t.csv"), &table).unwrap();
    let error = refused(folder.path(), "train t.csv");
    assert!(error.contains("missing") && error.contains("--impute"), "{error}");
    for kind in ["mean", "median", "most-frequent", "constant:-1"] {
        run(
            folder.path(),
            &format!("train t.csv -a linear-svm --impute {kind} --scale standard -o m.model -q"),
        );
        assert!(json(folder.path(), "eval m.model t.csv")["accuracy"].as_f64().unwrap() > 0.9, "{kind}");
        assert!(json(folder.path(), "inspect m.model")["impute"].as_str().unwrap().starts_with(kind));
        let table = "x,colour\n?,NA\n3,red\n";
        fs::write(folder.path().join("new.csv"), table).unwrap();
        assert_eq!(run(folder.path(), "predict m.model new.csv -q").lines().last(), Some("low"));
        assert!(rosenblatt(folder.path(), &["verify", "m.model", "t.csv"]).status.success(), "{kind}");
    }
    let found = json(folder.path(), "tune t.csv -a linear-svm,svm --c 1,10 --impute median");
    assert!(found.is_object());
}

#[test]
fn slips_are_answered_with_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("tune iris -a svm --c 10..1", "must go up"),
        ("tune iris -a svm --c one", "expected a number"),
        ("tune iris -a svm --kernel rbf,gauss", "\"gauss\" is not one of"),
        ("tune iris -a svm --degree 1.5..3", "whole number"),
        ("tune iris -a linear-svm --gamma 1,2", "linear-svm has no --gamma"),
        ("tune iris -a svm --c 1,2 --lambda 1,2", "give c or lambda, not both"),
        ("tune iris -a svn", "there is no algorithm \"svn\""),
        ("tune iris -a svm --folds 1", "--folds: must be from 2"),
        ("tune iris -a svm --random 5 --halving 3", "cannot be used with"),
        ("tune iris --map polly", "polly"),
        ("tune iris -a svm --c -1,1", "c: must be more than 0"),
    ];
    for (line, expected) in cases {
        let error = refused(folder.path(), line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn probabilities_by_any_curve_agree_with_predictions() {
    let folder = tempfile::tempdir().unwrap();
    for curve in ["slope", "platt", "isotonic"] {
        for data in ["iris", "sms-spam"] {
            run(
                folder.path(),
                &format!("train {data} -a linear-svm --calibrate 4 --calibration {curve} -o m.model -q"),
            );
            let found = json(folder.path(), &format!("eval m.model {data}"));
            let diagram = &found["reliability"];
            let rows: u64 =
                diagram["bins"].as_array().unwrap().iter().map(|bin| bin["rows"].as_u64().unwrap()).sum();
            assert_eq!(Some(rows), found["rows"].as_u64(), "{curve}");
            assert!(found["probabilities"]["log_loss"].as_f64().unwrap() < 0.7);
        }
    }
    assert!(run(folder.path(), "eval m.model sms-spam").contains("came true"));
    assert!(refused(folder.path(), "train iris --calibration platt").contains("--calibrate"));
}
