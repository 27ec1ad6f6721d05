//! Broken input gets a message with its place, exit code 2, and leaves no file behind.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use support::{files, rosenblatt, rosenblatt_with_input, run, stderr};

#[track_caller]
fn refused(folder: &Path, output: &Output, expected: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
    let left = files(folder);
    assert!(!left.iter().any(|name| name == "out.model" || name.starts_with('.')), "left behind: {left:?}");
}

/// Trains on a file with this content and expects to be told these things.
#[track_caller]
fn bad_data(name: &str, content: &[u8], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let output = rosenblatt(folder.path(), &["train", name, "-o", "out.model"]);
    refused(folder.path(), &output, expected);
    let piped = rosenblatt_with_input(folder.path(), &["train", "-", "-o", "out.model"], content);
    refused(folder.path(), &piped, &["standard input"]);
}

#[test]
fn libsvm_text() {
    bad_data("a.svm", b"1 1:2 3:4\n-1 1:2 3\n", &["a.svm, line 2, column 8", "index:value"]);
    bad_data("a.svm", b"1 1:2 3:\n-1 1:2\n", &["line 1"]);
    bad_data("a.svm", b"1 1:nan\n-1 1:2\n", &["line 1, column", "finite"]);
    bad_data("a.svm", b"1 1:2\n-1 1:inf\n", &["line 2, column", "finite"]);
    bad_data("a.svm", b"1 1:2\n-1 1:1e999\n", &["line 2, column", "finite"]);
    bad_data("a.svm", b"1 0:2\n-1 1:2\n", &["line 1, column 3", "hint"]);
    bad_data("a.svm", b"1 3:2 2:1\n-1 1:2\n", &["line 1, column 7"]);
    bad_data("a.svm", b"1 3:2 3:1\n-1 1:2\n", &["line 1, column 7"]);
    bad_data("a.svm", b"1 1:2\n2:1 3:1\n", &["line 2, column 1", "label"]);
    bad_data("a.svm", b"1 1:2\n1 2:1\n", &["class"]);
    bad_data("a.svm", b"1 1:2 99999999999:1\n-1 2:1\n", &["line 1, column 7"]);
}

#[test]
fn tables() {
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,b\n", &["a.csv, line 3", "3", "2"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,,b\n", &["line 3, column 2 (y)", "missing", "hint"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,NaN,b\n", &["line 3, column 2 (y)"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,inf,b\n", &["line 3, column 2 (y)"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,oops,b\n4,5,a\n", &["line 3, column 2 (y)", "--categorical"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,4,a\n", &["class"]);
    bad_data("a.csv", b"x,y,c\n1,2,a\n3,4,?\n", &["line 3, column 3 (c)"]);
    bad_data("a.csv", b"x,y,c\n", &["a.csv"]);
    bad_data("a.csv", b"", &["a.csv", "empty"]);
    bad_data("a.csv", b"\x00\x01\x02\xff\xfe\x00binary", &["a.csv", "binary"]);
    bad_data("a.csv", b"x,y,c\n1,2,\xff\xfe\n3,4,b\n", &["a.csv, line 2"]);
}

#[test]
fn files_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(at, &rosenblatt(at, &["train", "no-such-file", "-o", "out.model"]), &["no-such-file", "iris"]);
    refused(at, &rosenblatt(at, &["train", ".", "-o", "out.model"]), &["irectory"]);
    refused(at, &rosenblatt(at, &["train", "iris", "-a", "percptron"]), &["percptron", "perceptron"]);
    refused(at, &rosenblatt(at, &["train", "iris", "-a", "perceptron", "--c", "3"]), &["no --c"]);
    refused(at, &rosenblatt(at, &["train", "iris", "--passes", "0"]), &["--passes", "at least 1"]);
    refused(at, &rosenblatt(at, &["train", "iris", "--holdout", "1.5"]), &["--holdout"]);
    refused(at, &rosenblatt(at, &["train", "iris", "--label", "nope"]), &["nope", "species"]);
    refused(at, &rosenblatt(at, &["train", "-", "-o", "out.model"]), &["standard input"]);
    refused(at, &rosenblatt(at, &["train", "iris", "-o", "no/such/folder/m.model"]), &["no/such/folder"]);
    refused(at, &rosenblatt(at, &["train", "iris", "-o", "."]), &["folder"]);
    refused(at, &rosenblatt(at, &["train", "iris", "-o", "/proc/out.model"]), &["/proc/out.model"]);
    assert_eq!(rosenblatt(at, &["frobnicate"]).status.code(), Some(2));
}

#[test]
fn data_that_does_not_fit_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let write = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    run(at, "train iris -o iris.model");
    write("fewer.csv", "sepal_length,sepal_width,petal_length\n5,3,1\n");
    write("more.csv", "sepal_length,sepal_width,petal_length,petal_width,height,species\n5,3,1,1,9,setosa\n");
    write("class.csv", "sepal_length,sepal_width,petal_length,petal_width,species\n5,3,1,1,rose\n");
    for command in ["predict", "eval"] {
        let refuse = |data: &str, expected: &[&str]| {
            refused(at, &rosenblatt(at, &[command, "iris.model", data]), expected);
        };
        refuse("fewer.csv", &["fewer.csv", "petal_width"]);
        refuse("more.csv", &["more.csv", "height"]);
        refuse("class.csv", &["class.csv, line 2", "rose", "setosa, versicolor, virginica"]);
    }
    let unlabelled = rosenblatt(at, &["predict", "iris.model", "class.csv", "--ignore-labels"]);
    assert!(unlabelled.status.success(), "{}", stderr(&unlabelled));

    write("train.svm", "1 1:1 2:1\n-1 1:-1 2:-1\n");
    write("wide.svm", "1 1:1 3:1\n");
    run(at, "train train.svm -o svm.model");
    let output = rosenblatt(at, &["predict", "svm.model", "wide.svm", "-o", "out.txt"]);
    refused(at, &output, &["wide.svm, line 1, column 7", "2"]);
    assert!(!at.join("out.txt").exists());
    write(
        "cars.csv",
        "cylinders,displacement,horsepower,weight,acceleration,model_year,origin,make\n8,307,130,3504,12,70,usa,tesla\n",
    );
    run(at, "train auto-mpg -o cars.model");
    refused(
        at,
        &rosenblatt(at, &["predict", "cars.model", "cars.csv"]),
        &["line 2, column 8 (make)", "tesla"],
    );
}

#[test]
fn models() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    run(at, "train iris -o iris.model");
    let model = fs::read(at.join("iris.model")).unwrap();
    fs::write(at.join("text.model"), "sepal_length,species\n").unwrap();
    for command in [&["predict", "text.model", "iris"][..], &["inspect", "text.model"]] {
        refused(at, &rosenblatt(at, command), &["text.model", "not a model file"]);
    }
    refused(at, &rosenblatt(at, &["inspect", "missing.model"]), &["missing.model", "train"]);
    refused(at, &rosenblatt(at, &["train", "iris.model"]), &["iris.model", "model"]);
    let cuts = (0..model.len()).step_by(97).chain([1, 7, 8, 9, model.len() - 1]);
    for length in cuts {
        fs::write(at.join("cut.model"), &model[..length]).unwrap();
        refused(at, &rosenblatt(at, &["inspect", "cut.model"]), &["cut.model"]);
    }
}

#[test]
fn errors_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let output = rosenblatt(folder.path(), &["train", "no-such-file", "--json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(object["error"].as_str().unwrap().contains("no-such-file"));
}

/// A reader that has seen enough is no reason to complain.
#[test]
fn closed_output() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "train iris -o iris.model");
    let script = format!(
        "{0} predict iris.model iris --quiet | head -n 1; {0} predict iris.model iris >&-",
        support::BINARY
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output();
    let output = output.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "setosa\n");
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    let script = format!("{} train - -o out.model <&-", support::BINARY);
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output();
    refused(folder.path(), &output.unwrap(), &["standard input"]);
}

/// One wrong index asks for billions of weights.
#[test]
fn absurd_width() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.svm"), "1 1:2 4294967295:1\n-1 2:1\n").unwrap();
    for scale in ["none", "standard", "unit"] {
        let script =
            format!("ulimit -v 8000000; {} train a.svm -o out.model --scale {scale}", support::BINARY);
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output();
        refused(folder.path(), &output.unwrap(), &["4294967295 features", "index"]);
    }
}

/// Too many classes for the memory there is, traces and audits of wide data, values beyond squaring.
#[test]
fn absurd_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let many: String = (0..6000).map(|i| format!("{} 50000000:{}\n", i % 3000, i + 1)).collect();
    fs::write(at.join("many.svm"), many).unwrap();
    let wide: String = (0..2000).map(|i| format!("{} {}:1 502000:1\n", i % 2, i % 500_000 + 1)).collect();
    fs::write(at.join("wide.svm"), wide).unwrap();
    let limited = |line: &str| {
        let script = format!("ulimit -v 8000000; {} {line}", support::BINARY);
        std::process::Command::new("bash").args(["-c", &script]).current_dir(at).output().unwrap()
    };
    refused(at, &limited("train many.svm -o out.model"), &["features", "GiB"]);
    refused(at, &limited("train many.svm --multiclass ovo -o out.model"), &["features", "GiB"]);
    refused(at, &limited("trace wide.svm -a perceptron"), &["trace", "GiB"]);
    let audited = limited("train wide.svm -a perceptron --passes 3 --audit -o kept.model");
    assert!(at.join("kept.model").exists(), "{}", stderr(&audited));
    assert!(!stderr(&audited).contains("alloc"), "{}", stderr(&audited));
    bad_data("a.csv", b"x,c\n1e308,a\n-1e308,b\n", &["a.csv", "1e308", "too large"]);
}

/// A number to predict is no class, in any format.
#[test]
fn regression_targets() {
    let text: String = (0..40).map(|i| format!("{}.5 1:{i}\n", i)).collect();
    bad_data("a.svm", text.as_bytes(), &["a.svm", "number to predict"]);
}

/// Bad usage is an object, too, for who asks for one.
#[test]
fn misuse_as_json() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["train", "--json"][..], &["--json", "train", "iris", "--bogus"]] {
        let output = rosenblatt(folder.path(), args);
        assert_eq!(output.status.code(), Some(2));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(object["error"].is_string(), "{object}");
    }
    run(folder.path(), "train worked-1 -a perceptron --class-weight -1=2,1=1");
}

/// Flags of a budget that do not fit each other: what is wrong, and what to type.
#[test]
fn budgets() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let projected = "hint: type --budget 500 --forget projectron";
    let cases: [(&str, &[&str]); 9] = [
        ("--forget projectron", &["--forget: ", "there is no budget", projected]),
        ("--forget forgetron", &["--forget: ", "there is no budget", "--budget 500 --forget forgetron"]),
        (
            "--projection-error 0.1",
            &["--projection-error: ", "there is no budget", projected, "--projection-error 0.1"],
        ),
        (
            "--budget 70 --projection-error 0.1",
            &[
                "forgetron projects nothing",
                "hint: type --budget 70 --forget projectron --projection-error 0.1",
            ],
        ),
        (
            "--budget 70 --forget forgetron --projection-error 0.1",
            &[
                "forgetron projects nothing",
                "hint: type --budget 70 --forget projectron --projection-error 0.1",
            ],
        ),
        (
            "--budget 70 --predictor averaged",
            &[
                "forgetron drops",
                "hint: type --budget 70 --forget projectron --predictor averaged, or leave out --budget",
            ],
        ),
        (
            "--budget 70 --predictor voted --forget projectron",
            &[
                "which no budget allows",
                "--budget 70 --forget projectron --predictor averaged, or leave out --budget",
            ],
        ),
        ("--budget 100000 --forget projectron", &["--budget: ", "at most 32768", "--forget forgetron"]),
        ("--budget 0", &["--budget: must be at least 1"]),
    ];
    for (flags, expected) in cases {
        let line = format!("train iris -a kernel-perceptron -o out.model {flags}");
        let words: Vec<&str> = line.split_whitespace().collect();
        refused(at, &rosenblatt(at, &words), expected);
    }
    // What is to be typed works.
    for flags in [
        "--forget projectron --projection-error 0.1",
        "--forget projectron --predictor averaged",
        "--forget forgetron",
    ] {
        run(at, &format!("train iris -a kernel-perceptron --quiet --budget 70 {flags}"));
    }
}
