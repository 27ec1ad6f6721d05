//! `inspect` and `explain` of models on features that were drawn: random waves, and landmarks.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use support::{json, run};

const LEARNERS: [&str; 5] = [
    "perceptron",
    "linear-svm --multiclass ovo",
    "logistic",
    "voted-perceptron --passes 3",
    "passive-aggressive --multiclass ovr",
];

/// A map, what it calls its features, and how many there are: iris has 149 different rows.
const MAPS: [(&str, &str, usize); 4] = [
    ("fourier:40:gamma=0.5", "wave", 40),
    ("fourier:7", "wave", 7),
    ("nystroem:30:rbf:gamma=0.5", "landmark", 30),
    ("nystroem:1000:laplacian:gamma=0.5", "landmark", 149),
];

const ROW: usize = 77;

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// Values by name; each is one of `kind 1` … `kind n`, and none comes twice.
fn by_name(parts: &Value, value: &str, kind: &str, n: usize) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for part in list(parts) {
        let name = part["feature"].as_str().unwrap();
        let number: usize = name.strip_prefix(&format!("{kind} ")).unwrap().parse().unwrap();
        assert!((1..=n).contains(&number), "{name}");
        assert!(all.insert(name.to_owned(), float(&part[value])).is_none(), "{name} comes twice");
    }
    all
}

fn each(mut check: impl FnMut(&Path, &str, &str, usize)) {
    let folder = tempfile::tempdir().unwrap();
    for (map, kind, n) in MAPS {
        for learner in LEARNERS {
            for scale in ["", "--scale standard"] {
                let line = format!("train iris -a {learner} --map {map} {scale} -o m.model");
                run(folder.path(), &line);
                check(folder.path(), &line, kind, n);
            }
        }
    }
}

#[test]
fn inspect_names_every_drawn_feature() {
    each(|folder, line, kind, n| {
        let inspected = json(folder, "inspect m.model --top 0");
        let map = inspected["map"].as_str().unwrap();
        assert!(line.contains(map) || map.contains("gamma="), "{line}: {map}");
        assert_eq!((&inspected["features"], &inspected["mapped_features"]), (&4.into(), &n.into()), "{line}");
        for plane in list(&inspected["planes"]) {
            let weights = by_name(&plane["largest_weights"], "weight", kind, n);
            // A weight of exactly 0 is not shown; of sums of waves and landmarks hardly any is.
            assert!(weights.len() <= n && weights.len() * 10 >= n * 9, "{line}: {} of {n}", weights.len());
            let norm = weights.values().map(|w| w * w).sum::<f64>().sqrt();
            assert!((norm - float(&plane["norm"])).abs() <= 1e-12 * norm, "{line}");
        }
        let text = run(folder, "inspect m.model --top 3");
        assert!(text.contains(&format!("{map}, 4 features become {n}\n")), "{text}");
        let shown =
            list(&inspected["planes"])[0]["largest_weights"][0]["feature"].as_str().unwrap().to_owned();
        assert!(text.contains(&format!("  {shown}")), "{shown} is not in {text}");
    });
}

#[test]
fn explain_adds_up_over_drawn_features() {
    each(|folder, line, kind, n| {
        let explained = json(folder, &format!("explain m.model iris --row {ROW}"));
        let predicted = run(folder, "predict m.model iris");
        assert_eq!(explained["predicted"], predicted.lines().nth(ROW - 1).unwrap(), "{line}");
        let mut values = None;
        for class in list(&explained["classes"]) {
            let part = |what| by_name(&class["contributions"], what, kind, n);
            let (value, weight, amount) = (part("value"), part("weight"), part("contribution"));
            for (name, amount) in &amount {
                let product = value[name] * weight[name];
                assert!((amount - product).abs() <= 1e-12 * (1.0 + product.abs()), "{line}: {name}");
            }
            let sum = amount.values().sum::<f64>() + float(&class["bias"]);
            let score = float(&class["score"]);
            assert!((sum - score).abs() <= 1e-9 * (1.0 + score.abs()), "{line}: {sum}, not {score}");
            assert!(values.get_or_insert(value.clone()) == &value, "a row is the same for all classes");
        }
        let values = values.unwrap();
        let square: f64 = values.values().map(|v| v * v).sum();
        match kind {
            // √(2/N)·cos
            "wave" => assert!(values.values().all(|v| v * v <= 2.0 / n as f64 + 1e-6), "{line}"),
            // The part of a row, which is 1 long, that lies in the span of the landmarks; with all rows as landmarks all of it.
            _ => {
                assert!(square <= 1.0 + 1e-3, "{line}: {square}");
                assert!(n == 30 || square >= 0.99, "{line}: {square}");
            }
        }
    });
}

/// The scores that are taken apart are those that `predict` shows.
#[test]
fn explain_takes_apart_what_predict_scores() {
    let folder = tempfile::tempdir().unwrap();
    for (map, ..) in MAPS {
        run(folder.path(), &format!("train iris -a logistic --map {map} -o m.model"));
        let explained = json(folder.path(), &format!("explain m.model iris --row {ROW}"));
        let scored = run(folder.path(), "predict m.model iris --scores");
        let mut lines = scored.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let row: Vec<&str> = lines.nth(ROW - 1).unwrap().split(',').collect();
        for class in list(&explained["classes"]) {
            let name = class["class"].as_str().unwrap();
            let at = names.iter().position(|column| column.ends_with(name)).unwrap();
            let score: f64 = row[at].parse().unwrap();
            assert!((score - float(&class["score"])).abs() <= 1e-9 * (1.0 + score.abs()), "{map}: {name}");
        }
    }
}

/// The text says what the values are, for they are not those of the row.
#[test]
fn explain_says_that_values_are_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let explained = |options: &str| {
        run(folder.path(), &format!("train worked-3 -a perceptron {options} -o m.model"));
        run(folder.path(), "explain m.model worked-3 --row 2 --top 3")
    };
    let text = explained("--map fourier:50:gamma=1");
    assert!(text.ends_with("\nValues are those of the map fourier:50:gamma=1.\n"), "{text}");
    assert!(text.contains("wave ") && text.contains("… 47 smaller"), "{text}");
    let text = explained("--map nystroem:3:gamma=1 --scale standard");
    assert!(
        text.ends_with("\nValues are those of the map nystroem:3:rbf:gamma=1, after scaling.\n"),
        "{text}"
    );
    assert!(text.contains("landmark 1"), "{text}");
    assert!(explained("--scale standard").ends_with("\nValues are shown after scaling.\n"));
    assert!(!explained("").contains("Values are"));
}
