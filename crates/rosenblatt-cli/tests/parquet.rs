//! A table is a table: Parquet and CSV give the same model, byte by byte, and read each other's.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../rosenblatt-io/tests/support/parquet.rs"]
mod parquet_file;
mod support;

use std::fs;
use std::path::Path;

use parquet_file::{Cells, Style, write};
use support::{rosenblatt, rosenblatt_with_input, run, stderr};

/// The same fruit in both formats.
fn fruit(folder: &Path) {
    let (mut text, mut weight, mut ripe, mut colour, mut kind) =
        (String::from("weight,ripe,colour,kind\n"), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..300 {
        let grams = 90.0 + f64::from(row * 37 % 101) * 0.73;
        let (is_ripe, hue) = (row % 3 == 0, ["red", "green", "yellow"][row as usize % 3]);
        let name = ["apple", "lemon"][usize::from(grams + if is_ripe { 20.0 } else { 0.0 } < 130.0)];
        text += &format!("{grams},{},{hue},{name}\n", u8::from(is_ripe));
        weight.push(Some(grams));
        ripe.push(Some(is_ripe));
        colour.push(Some(hue.to_owned()));
        kind.push(Some(name.to_owned()));
    }
    let columns = [
        ("weight", Cells::Double(weight)),
        ("ripe", Cells::Flag(ripe)),
        ("colour", Cells::Text(colour)),
        ("kind", Cells::Text(kind)),
    ];
    fs::write(folder.join("fruit.csv"), text).unwrap();
    let style = Style { rows_a_group: 128, ..Style::default() };
    fs::write(folder.join("fruit.parquet"), write(&columns, &style)).unwrap();
}

#[test]
fn models_are_the_same_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fruit(here);
    let choices = [
        "",
        "--scale standard --holdout 0.3",
        "--drop 1 --label kind",
        "--label colour --categorical weight --precision f32",
        "--weight ripe --drop colour",
        "--text colour --chars 2..3",
        "--stream",
    ];
    for choice in choices {
        for format in ["csv", "parquet"] {
            run(here, &format!("train fruit.{format} -o {format}.model --quiet {choice}"));
        }
        let model = |format: &str| fs::read(here.join(format!("{format}.model"))).unwrap();
        assert!(model("csv") == model("parquet"), "{choice}");
    }
}

#[test]
fn models_of_one_format_read_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fruit(here);
    run(here, "train fruit.csv -o csv.model --quiet");
    for (command, rest) in [("predict", "--scores"), ("eval", ""), ("explain", "--row 200 --json")] {
        let of = |data: &str| run(here, &format!("{command} csv.model {data} {rest}")).replace(data, "DATA");
        assert_eq!(of("fruit.csv"), of("fruit.parquet"), "{command}");
    }
    let bytes = fs::read(here.join("fruit.parquet")).unwrap();
    let piped = rosenblatt_with_input(here, &["predict", "csv.model", "-"], &bytes);
    assert_eq!(String::from_utf8_lossy(&piped.stdout), run(here, "predict csv.model fruit.parquet"));
    run(here, "train fruit.csv --stream -o file.model --quiet");
    let piped = rosenblatt_with_input(here, &["train", "-", "--stream", "-o", "pipe.model"], &bytes);
    assert!(piped.status.success(), "{}", stderr(&piped));
    let model = |name: &str| fs::read(here.join(name)).unwrap();
    assert!(model("file.model") == model("pipe.model"));
}

#[test]
fn damage_is_one_error_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fruit(folder.path());
    let path = folder.path().join("fruit.parquet");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = rosenblatt(folder.path(), &["train", "fruit.parquet", "-o", "fruit.model"]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: fruit.parquet: the Parquet data is damaged: it does not end with PAR1, so it may be cut short\n";
    assert_eq!(stderr(&output), expected);
    assert!(!folder.path().join("fruit.model").exists());
}
