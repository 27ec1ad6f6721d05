//! The embedded data sets are what their rows in the registry say.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;

use rosenblatt::{Matrix, Rows};
use rosenblatt_io::{DATASETS, ReadOptions, Table, read};

fn load(name: &str) -> Table {
    read(name, &ReadOptions::default()).unwrap()
}

#[test]
fn shapes_are_as_listed() {
    let mut names = HashSet::new();
    for set in DATASETS {
        assert!(names.insert(set.name), "{} appears twice", set.name);
        assert!(!set.title.is_empty() && !set.source.is_empty() && !set.licence.is_empty());
        let data = load(set.name).into_dataset().unwrap();
        let shape = (data.n_rows(), data.n_features(), data.classes().len());
        assert_eq!(shape, (set.rows, set.features, set.classes), "{}", set.name);
        assert_eq!(data.features().names.as_ref().map(Vec::len), Some(set.features), "{}", set.name);
    }
}

#[test]
fn every_set_reads_back_into_its_own_features() {
    for set in DATASETS {
        let table = load(set.name);
        let options = ReadOptions { features: Some(table.features.clone()), ..Default::default() };
        assert_eq!(read(set.name, &options).unwrap(), table, "{}", set.name);
    }
}

#[test]
fn iris_cuts_are_rows_of_iris() {
    let cut = load("iris-separable");
    assert_eq!(cut.features.names.unwrap(), ["sepal_length", "petal_length"]);
    let whole = load("iris");
    for row in 0..100 {
        let entries = |x: &Matrix<'_>| {
            let mut entries = Vec::new();
            x.each(row, |_, v| entries.push(v));
            entries
        };
        let (part, all) = (entries(&cut.x), entries(&whole.x));
        assert_eq!(part, [all[0], all[2]]);
    }
    let data = load("iris-inseparable").into_dataset().unwrap();
    assert_eq!(data.classes().listed(), "versicolor, virginica");
    assert_eq!(data.features().names.as_ref().unwrap(), &["petal_length", "petal_width"]);
}

#[test]
fn auto_mpg_has_makes_as_categories() {
    let table = load("auto-mpg");
    assert!(table.x.is_sparse());
    let names = table.features.names.as_ref().unwrap();
    for name in ["horsepower", "origin=japan", "make=international", "make=volkswagen"] {
        assert!(names.iter().any(|n| n == name), "{name}");
    }
    let data = table.into_dataset().unwrap();
    assert_eq!(data.classes().listed(), "bad, good");
}

#[test]
fn messages_become_sparse_word_presence() {
    let table = load("sms-spam");
    let Matrix::CsrF32(x) = &table.x else { panic!("{:?}", table.x.is_sparse()) };
    assert!(x.values().iter().all(|&v| v == 1.0));
    let names = table.features.names.as_ref().unwrap();
    assert!(names.is_sorted() && names.iter().any(|name| name == "free"));
    let spam = (0..1000).filter(|&row| table.labels.as_ref().unwrap().text(row) == "spam").count();
    assert_eq!(spam, 134);
}

#[test]
fn worked_examples_are_as_written() {
    let data = load("worked-1").into_dataset().unwrap();
    assert_eq!(data.x(), &rosenblatt::Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2).unwrap().into());
    assert_eq!(data.y(), [1, 0, 1]);
    let topics = load("worked-2-topics");
    assert_eq!(topics.features.names.as_ref().unwrap(), &["game", "the", "vote", "win"]);
    assert_eq!(topics.labels.unwrap().text(0), "POLITICS");
    let data = load("worked-3").into_dataset().unwrap();
    assert_eq!(data.y(), [1, 0, 1, 0]);
}
