//! The accuracy of every learner, as a Markdown document: `cargo xtask accuracy`.
//!
//! Embedded sets by cross-validation; larger sets by their own test parts, where `$ROSENBLATT_DATA` or `../shared/data` has them.
#![allow(clippy::print_stdout, reason = "printing is this program's purpose")]

use std::error::Error;
use std::path::PathBuf;

use rosenblatt::registry::{ALGORITHMS, algorithm};
use rosenblatt::{Dataset, Learner, Scale, Scaling, Task, stratified_folds, weighted_accuracy};
use rosenblatt_io::{ReadOptions, read};
use serde_json::{Map, Value, json};

/// A row of the tables: an algorithm with parameters that differ from the defaults.
struct Entry {
    title: String,
    learner: Box<dyn Learner>,
    /// Plain Winnow takes non-negative features only.
    non_negative: bool,
}

fn entries() -> Result<Vec<Entry>, Box<dyn Error>> {
    let mut entries = Vec::new();
    let mut add = |name: &str, flags: &str, given: Value| -> Result<(), Box<dyn Error>> {
        let row = algorithm(name).ok_or("an algorithm without a row")?;
        let given = given.as_object().cloned().unwrap_or_default();
        let title = format!("{name} {flags}").trim_end().to_owned();
        let non_negative = name == "winnow" && !given.contains_key("balanced");
        entries.push(Entry { title, learner: row.learner(&given)?, non_negative });
        Ok(())
    };
    for row in ALGORITHMS {
        add(row.name, "", Value::Object(Map::new()))?;
    }
    add("winnow", "--balanced", json!({ "balanced": true }))?;
    add("passive-aggressive", "--variant plain", json!({ "variant": "plain" }))?;
    add("passive-aggressive", "--variant II", json!({ "variant": "II" }))?;
    add("averaged-perceptron", "--multiclass ovr", json!({ "multiclass": "ovr" }))?;
    add("averaged-perceptron", "--multiclass ovo", json!({ "multiclass": "ovo" }))?;
    entries.sort_by(|a, b| a.title.cmp(&b.title));
    Ok(entries)
}

fn accuracy(
    learner: &dyn Learner,
    train: Dataset<'static>,
    test: Dataset<'static>,
    scale: Option<Scale>,
) -> Result<f64, Box<dyn Error>> {
    let scaling = scale.map(|kind| Scaling::fit(kind, train.x()));
    let train = match &scaling {
        Some(scaling) => train.scaled(scaling)?,
        None => train,
    };
    let task = Task { scaling: scaling.as_ref(), ..Task::new(&train) };
    let model = learner.learn(&task, &mut ())?.model;
    Ok(weighted_accuracy(&model.predict(test.x())?, &test))
}

/// Mean accuracy on the held-out folds; the scaling is fitted on the others.
fn cross_validated(entry: &Entry, data: &Dataset<'_>, scale: Option<Scale>) -> Result<f64, Box<dyn Error>> {
    const FOLDS: usize = 10;
    let scale = match (scale, entry.non_negative) {
        (Some(_), true) => Some(Scale::Minmax),
        (scale, _) => scale,
    };
    let folds = stratified_folds(data.y(), FOLDS, 0);
    let mut sum = 0.0;
    for fold in 0..FOLDS {
        let rows = |held: bool| -> Vec<usize> {
            (0..data.n_rows()).filter(|&i| (folds[i] == fold) == held).collect()
        };
        let (train, test) = (data.select(&rows(false)), data.select(&rows(true)));
        sum += accuracy(entry.learner.as_ref(), train, test, scale)?;
    }
    Ok(sum / FOLDS as f64)
}

const EMBEDDED: &[(&str, Option<Scale>)] =
    &[("iris", Some(Scale::Standard)), ("auto-mpg", Some(Scale::Standard)), ("sms-spam", None)];

fn embedded_table() -> Result<(), Box<dyn Error>> {
    println!("## Embedded data\n");
    println!(
        "Ten-fold cross-validation, default parameters, seed 0. iris and auto-mpg are scaled by `standard` (plain Winnow: `minmax`), fitted inside each fold.\n"
    );
    println!("| algorithm | iris | auto-mpg | sms-spam |\n|---|---|---|---|");
    for entry in entries()? {
        let mut line = format!("| {} |", entry.title);
        for (name, scale) in EMBEDDED {
            let data = read(name, &ReadOptions::default())?.into_dataset()?;
            line += &format!(" {:.1}% |", 100.0 * cross_validated(&entry, &data, *scale)?);
        }
        println!("{line}");
    }
    Ok(())
}

/// Title, training part, test part.
const LARGER: &[(&str, &str, &str)] = &[
    ("a9a", "libsvm/a9a.gz", "libsvm/a9a.t.gz"),
    ("20 newsgroups", "text/20newsgroups.tfidf.train.svm.gz", "text/20newsgroups.tfidf.test.svm.gz"),
    ("IMDB", "text/imdb.tfidf.train.svm.gz", "text/imdb.tfidf.test.svm.gz"),
    ("letter", "libsvm/letter.scale.gz", "libsvm/letter.scale.t.gz"),
];

/// Voting over tens of thousands of stored rows takes minutes and says little more than averaging.
const LEFT_OUT: &[&str] = &["voted-perceptron", "winnow"];

fn larger_table(folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    println!("\n## Larger data\n");
    println!(
        "Accuracy on the test part, default parameters, seed 0, no scaling. Left out: {} (minutes of votes; features that need scaling).\n",
        LEFT_OUT.join(", ")
    );
    let (there, missing): (Vec<_>, Vec<_>) =
        LARGER.iter().partition(|(_, train, test)| folder.join(train).exists() && folder.join(test).exists());
    for (title, _, _) in &missing {
        println!("{title} is missing: its files are not in the data folder.\n");
    }
    let mut sets = Vec::new();
    for (title, train, test) in &there {
        let train = read(&folder.join(train).to_string_lossy(), &ReadOptions::default())?.into_dataset()?;
        let options = ReadOptions { features: Some(train.features().clone()), ..ReadOptions::default() };
        let test =
            read(&folder.join(test).to_string_lossy(), &options)?.into_dataset_with(train.classes())?;
        sets.push((title, train, test));
    }
    let titles: Vec<&str> = sets.iter().map(|(title, _, _)| **title).collect();
    println!("| algorithm | {} |\n|{}", titles.join(" | "), "---|".repeat(titles.len() + 1));
    for entry in entries()? {
        if LEFT_OUT.contains(&entry.learner.name()) || sets.is_empty() {
            continue;
        }
        let mut line = format!("| {} |", entry.title);
        for (_, train, test) in &sets {
            let share = accuracy(entry.learner.as_ref(), train.clone(), test.clone(), None)?;
            line += &format!(" {:.1}% |", 100.0 * share);
        }
        println!("{line}");
    }
    println!(
        "\nFor comparison, scikit-learn on the same files: `LinearSVC` (C = 1) a9a 84.9%, 20 newsgroups 84.4%, IMDB 87.7%; `Perceptron` 20 newsgroups 79.5%, IMDB 84.5%."
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("# Accuracy of every learner\n\nMade by `cargo xtask accuracy`.\n");
    embedded_table()?;
    let folder =
        std::env::var_os("ROSENBLATT_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    larger_table(&folder)
}
