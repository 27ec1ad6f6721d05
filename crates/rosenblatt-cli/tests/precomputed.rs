//! Matrices of kernel values through the command line, in every format, against the kernel itself.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use rosenblatt::{Gram, Kernel, Matrix, Rows};
use rosenblatt_io::{ReadOptions, read};
use support::{json, rosenblatt, run, stderr};

const FLAGS: &str = "-a kernel-perceptron --passes 4 --predictor averaged";

/// The labels of iris, and its kernel values with each of `columns`, row after row.
fn iris(columns: &[usize]) -> (Vec<String>, Vec<Vec<f32>>) {
    let table = read("iris", &ReadOptions::default()).unwrap();
    let (x, labels): (Matrix<'_>, _) = (table.x, table.labels.unwrap());
    let gram = Gram::new(Kernel::Poly { degree: 2, gamma: 0.5, coef0: 1.0 }, &x).unwrap();
    let all: Vec<usize> = (0..x.n_rows()).collect();
    let mut values = vec![0.0; all.len() * columns.len()];
    gram.values(&gram.tiles(&gram, columns), &all, &mut values);
    let rows = values.chunks(columns.len()).map(<[f32]>::to_vec).collect();
    (all.iter().map(|&i| labels.text(i).to_owned()).collect(), rows)
}

/// The same rows as CSV, LIBSVM text, LIBSVM text with numbers, and JSON lines.
fn write(folder: &Path, name: &str, labels: &[String], rows: &[Vec<f32>]) -> [String; 4] {
    let (mut csv, mut plain, mut numbered, mut lines) =
        (String::new(), String::new(), String::new(), String::new());
    for (i, (label, row)) in labels.iter().zip(rows).enumerate() {
        let cells: Vec<String> = row.iter().map(f32::to_string).collect();
        let pairs: Vec<String> = cells.iter().enumerate().map(|(j, v)| format!("{}:{v}", j + 1)).collect();
        csv += &format!("{},{label}\n", cells.join(","));
        plain += &format!("{label} {}\n", pairs.join(" "));
        numbered += &format!("{label} 0:{} {}\n", i + 1, pairs.join(" "));
        let fields: Vec<String> = cells.iter().enumerate().map(|(j, v)| format!("\"k{j}\":{v}")).collect();
        lines += &format!("{{\"label\":\"{label}\",{}}}\n", fields.join(","));
    }
    let files = [("csv", csv), ("libsvm", plain), ("numbered.libsvm", numbered), ("jsonl", lines)];
    files.map(|(ending, text)| {
        let file = format!("{name}.{ending}");
        fs::write(folder.join(&file), text).unwrap();
        file
    })
}

#[test]
fn every_format_learns_what_the_kernel_learns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kernel = "--kernel poly --degree 2 --gamma 0.5";
    let expected = json(folder, &format!("train iris {FLAGS} {kernel} -o kernel.model"));
    let predicted = run(folder, "predict kernel.model iris --scores");
    let (labels, rows) = iris(&(0..150).collect::<Vec<_>>());
    for file in write(folder, "gram", &labels, &rows) {
        let line = format!("train {file} {FLAGS} --kernel precomputed -o given.model");
        let found = json(folder, &line);
        for field in ["updates", "passes", "train_accuracy", "classes"] {
            assert_eq!(found[field], expected[field], "{file}: {field}");
        }
        assert_eq!(found["mistake_bound"], serde_json::Value::Null);
        let found = run(folder, &format!("predict given.model {file} --scores"));
        for (found, expected) in scores(&found).into_iter().zip(scores(&predicted)) {
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{file}: {found}, {expected}");
        }
        let evaluated = json(folder, &format!("eval given.model {file}"));
        assert_eq!(evaluated["accuracy"], expected["train_accuracy"], "{file}");
        let stored = &json(folder, "inspect given.model")["stored"][0];
        assert!((1..=150).contains(&stored["training_row"].as_u64().unwrap()), "{stored}");
        assert!(run(folder, "inspect given.model").contains("training row"));
        json(folder, &format!("explain given.model {file} --row 7"));
        let steps = |line: &str| json(folder, line)["steps"].clone();
        let given = steps(&format!("trace {file} {FLAGS} --kernel precomputed"));
        let own = steps(&format!("trace iris {FLAGS} {kernel}"));
        let alphas = |steps: &serde_json::Value| -> Vec<serde_json::Value> {
            steps.as_array().unwrap().iter().map(|step| step["alphas"].clone()).collect()
        };
        assert_eq!(alphas(&given), alphas(&own), "{file}");
    }
}

/// Equal rows are stored once by the kernel and twice by their numbers, so that sums differ in the last digits.
fn scores(csv: &str) -> Vec<f64> {
    let numbers = |line: &str| -> Vec<f64> { line.split(',').skip(1).map(|v| v.parse().unwrap()).collect() };
    csv.lines().skip(1).flat_map(numbers).collect()
}

fn refused(folder: &Path, line: &str) -> String {
    let args: Vec<&str> = line.split_whitespace().collect();
    let output = rosenblatt(folder, &args);
    assert_eq!(output.status.code(), Some(2), "{line}");
    stderr(&output)
}

#[test]
fn what_is_no_matrix_of_kernel_values_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (labels, rows) = iris(&(0..149).collect::<Vec<_>>());
    let [narrow, ..] = write(folder, "narrow", &labels, &rows);
    for command in ["train", "trace"] {
        let error = refused(folder, &format!("{command} {narrow} {FLAGS} --kernel precomputed"));
        assert!(error.contains("narrow.csv") && error.contains("150 rows need 150 columns"), "{error}");
    }
    let (labels, rows) = iris(&(0..150).collect::<Vec<_>>());
    let turned: Vec<Vec<f32>> = rows.iter().rev().cloned().collect();
    let [turned, ..] = write(folder, "turned", &labels, &turned);
    let error = refused(folder, &format!("train {turned} {FLAGS} --kernel precomputed"));
    assert!(error.contains("symmetric"), "{error}");
    let files = write(folder, "gram", &labels, &rows);
    for (flags, said) in [
        ("--holdout 0.2", "--holdout"),
        ("--scale standard", "neither scale nor map"),
        ("--map squares", "neither scale nor map"),
        ("--stream", "--kernel"),
    ] {
        let error = refused(folder, &format!("train {} {FLAGS} --kernel precomputed {flags}", files[1]));
        assert!(error.contains(said), "{flags}: {error}");
    }
    run(
        folder,
        &format!("train {} {FLAGS} --kernel precomputed --holdout {} -o m.model", files[1], files[2]),
    );
    // A row to predict on with one value too many.
    fs::write(folder.join("wide.libsvm"), "setosa 1:1 151:2\n").unwrap();
    let error = refused(folder, "predict m.model wide.libsvm");
    assert!(error.contains("wide.libsvm") && error.contains("150"), "{error}");
}
