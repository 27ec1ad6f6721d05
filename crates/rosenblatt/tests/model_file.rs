//! Model files of earlier days stay readable, to the bit.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use common::{Points, noisy};
use rosenblatt::{
    Arow, Bias, Body, Classes, Column, Dataset, Decision, Distribution, Error, Expansion, FeatureMap,
    Features, Fit, KernelPerceptron, Learner, LinearSvm, Matrix, Model, Multiclass, NaiveBayes, Network,
    PassiveAggressive, Perceptron, Predictor, Role, Rows, Scale, Scaling, Schema, Svm, Task, TextColumn,
};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Name, number of classes, number of features.
const GOLDEN: [(&str, usize, usize); 16] = [
    ("linear-binary", 2, 4),
    ("linear-multiclass", 3, 5),
    ("one-vs-one", 4, 3),
    ("voted-binary", 2, 4),
    ("voted-multiclass", 3, 6),
    ("kernel-binary", 2, 4),
    ("kernel-voted", 3, 4),
    ("mapped", 3, 3),
    ("fourier", 2, 3),
    ("nystroem", 3, 4),
    ("machine", 3, 4),
    ("votes", 3, 4),
    ("report", 3, 4),
    ("gaussian", 3, 4),
    ("bernoulli", 2, 4),
    ("layers", 3, 5),
];

fn golden(name: &str) -> Vec<u8> {
    fs::read(path(&format!("{name}.model"))).unwrap()
}

/// Rows to predict, never seen in training.
fn rows(k: usize, cols: usize) -> Matrix<'static> {
    noisy(k, 12, cols, 4711).dense::<f64>()
}

/// One line a row: class, then the bits of the scores.
fn predictions(model: &Model, x: &Matrix<'_>) -> String {
    let (classes, scores) = (model.predict(x).unwrap(), model.scores(x).unwrap());
    let mut text = String::new();
    for (class, scores) in classes.iter().zip(scores.chunks(model.body.n_scores())) {
        write!(text, "{}", model.classes[*class as usize]).unwrap();
        scores.iter().for_each(|score| write!(text, " {:016x}", score.to_bits()).unwrap());
        text.push('\n');
    }
    text
}

/// The same labels, and scores but for what single precision rounds.
fn assert_near(found: &str, expected: &str) {
    assert_eq!(found.lines().count(), expected.lines().count());
    for (found, expected) in found.lines().zip(expected.lines()) {
        let (found, expected): (Vec<&str>, Vec<&str>) =
            (found.split(' ').collect(), expected.split(' ').collect());
        assert_eq!((found[0], found.len()), (expected[0], expected.len()));
        let score = |bits: &str| f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        for (found, expected) in found[1..].iter().zip(&expected[1..]) {
            assert!((score(found) - score(expected)).abs() < 1e-6, "{found} is not {expected}");
        }
    }
}

#[test]
fn golden_files_load_to_the_bit() {
    for (name, k, cols) in GOLDEN {
        let bytes = golden(name);
        let fit = Fit::from_bytes(&bytes).unwrap();
        assert_eq!(fit.to_bytes().unwrap(), bytes, "{name}");
        let expected = fs::read_to_string(path(&format!("{name}.txt"))).unwrap();
        let found = predictions(&fit.model, &rows(k, cols));
        // Distances have been seen from another centre since, which single precision shows.
        if name == "nystroem" {
            assert_near(&found, &expected)
        } else {
            assert_eq!(found, expected, "{name}")
        }
    }
}

#[test]
fn golden_files_hold_what_they_are_named_for() {
    let fit = |name| Fit::from_bytes(&golden(name)).unwrap();
    let binary = fit("linear-binary");
    assert_eq!(binary.model.classes.listed(), "c0, c1");
    assert_eq!(binary.model.features.name(3), "make=ford");
    assert_eq!(binary.model.features.schema.as_ref().unwrap().label().unwrap().name, "mpg");
    assert_eq!(binary.model.scaling.as_ref().unwrap().kind, Scale::Standard);
    assert_eq!(binary.report.algorithm, "averaged-perceptron");
    assert!(matches!(&fit("linear-multiclass").model.body, Body::Linear(planes) if planes.k() == 3));
    assert_eq!(fit("one-vs-one").model.body.n_scores(), 6);
    assert_eq!(fit("one-vs-one").report.problems.len(), 6);
    let kind = |name| fit(name).model.map.unwrap().kind.to_string();
    assert!(kind("fourier").starts_with("fourier:9:gamma="), "{}", kind("fourier"));
    assert!(kind("nystroem").starts_with("nystroem:7:laplacian:gamma="), "{}", kind("nystroem"));
    let machine = fit("machine");
    let Body::Kernel(expansion) = &machine.model.body else { panic!("a machine has a kernel") };
    assert_eq!((expansion.offsets().len(), expansion.numbers().len()), (3, expansion.len()));
    // Since version 7 a report says all that it could say.
    assert!(machine.report.older && !fit("report").report.older);
    assert!(fit("report").report.problems.iter().all(|problem| problem.gap.is_some()));
    let votes = fit("votes").model;
    assert_eq!((votes.classes.listed().as_str(), votes.decision), ("c2, c0, c1", Decision::Votes));
    assert!(votes.features.open && !votes.classes.is_sorted());
    let Body::Bayes(gaussian) = &fit("gaussian").model.body else { panic!("of normal distributions") };
    assert_eq!((gaussian.distribution(), gaussian.means().unwrap().len()), ("gaussian", 12));
    let Body::Bayes(bernoulli) = &fit("bernoulli").model.body else { panic!("of what is there") };
    assert_eq!((bernoulli.distribution(), bernoulli.log_above().unwrap().len()), ("bernoulli", 8));
    let Body::Layers(layers) = &fit("layers").model.body else { panic!("a network") };
    assert_eq!(layers.shape(), "5 → 6 relu → 3 relu → 3");
    for (name, planes) in [("voted-binary", 1), ("voted-multiclass", 3)] {
        let fit = fit(name);
        let Body::Voted(ballots) = &fit.model.body else { panic!("{name} is not voted") };
        assert_eq!((ballots.len(), fit.model.body.n_scores()), (1, planes));
        assert!(ballots[0].stored() > 0 && ballots[0].voters() > ballots[0].stored() / 2);
    }
}

fn table() -> Schema {
    let levels = vec!["bmw".to_owned(), "ford".to_owned()];
    let columns = vec![
        Column::new("weight", Role::Numeric),
        Column::new("year", Role::Numeric),
        Column::new("make", Role::Categorical { levels }),
        Column::new("mpg", Role::Label),
    ];
    Schema { header: true, columns }
}

fn linear_binary(points: &Points) -> Fit {
    let data = points.data().with_names(table().feature_names()).unwrap().with_schema(table());
    let scaling = Scaling::fit(Scale::Standard, data.x());
    let data = data.scaled(&scaling).unwrap();
    let task = Task { scaling: Some(&scaling), ..Task::new(&data) };
    Perceptron::averaged().learn(&task, &mut ()).unwrap()
}

/// As a file of LIBSVM would have it.
fn votes(points: &Points) -> Fit {
    let mut fit = make("machine", points);
    let Body::Kernel(machine) = &fit.model.body else { panic!("a machine has a kernel") };
    let Matrix::CsrF64(rows) = machine.rows().clone() else { panic!("rows are stored sparse") };
    let kernel = machine.kernel().kernel().unwrap();
    let body = Expansion::from_parts(kernel, rows, machine.coefficients(), machine.offsets()).unwrap();
    fit.model.body = Body::Kernel(body);
    fit.model.classes = Classes::ordered(vec!["c2".into(), "c0".into(), "c1".into()]).unwrap();
    fit.model.decision = Decision::Votes;
    fit.model.features.open = true;
    fit
}

fn mapped(kind: &str, data: Dataset<'_>) -> Result<Fit, Error> {
    let map = FeatureMap::fit(kind.parse().unwrap(), &data, 0).unwrap();
    let data = data.mapped(&map).unwrap();
    Perceptron::averaged().learn(&Task { map: Some(&map), ..Task::new(&data) }, &mut ())
}

fn make(name: &str, points: &Points) -> Fit {
    let data = points.data();
    let fit = match name {
        "linear-binary" => return linear_binary(points),
        "votes" => return votes(points),
        "linear-multiclass" => Arow::default().fit(&data, &mut ()),
        "one-vs-one" => {
            PassiveAggressive { multiclass: Multiclass::Ovo, ..Default::default() }.fit(&data, &mut ())
        }
        "kernel-binary" => {
            KernelPerceptron { bias: Bias::Free, passes: 2, ..Default::default() }.fit(&data, &mut ())
        }
        "kernel-voted" => {
            let (multiclass, predictor) = (Multiclass::Ovr, Predictor::Voted);
            let data = points.labelled(points.sparse::<f32>());
            KernelPerceptron { multiclass, predictor, passes: 2, degree: 2, ..Default::default() }
                .fit(&data, &mut ())
        }
        "gaussian" => {
            NaiveBayes { distribution: Distribution::Gaussian, ..Default::default() }.fit(&data, &mut ())
        }
        "bernoulli" => {
            NaiveBayes { distribution: Distribution::Bernoulli, binarize: 0.5, ..Default::default() }
                .fit(&data, &mut ())
        }
        "layers" => Network { hidden: vec![6, 3], passes: 4, ..Default::default() }.fit(&data, &mut ()),
        "report" => LinearSvm::default().fit(&data, &mut ()),
        "machine" => Svm { gamma: Some(0.5), ..Svm::default() }.fit(&data, &mut ()),
        "mapped" => mapped("poly:2", data),
        "fourier" => mapped("fourier:9", data),
        "nystroem" => mapped("nystroem:7:laplacian", points.labelled(points.sparse::<f32>())),
        "voted-binary" => Perceptron { passes: 2, ..Perceptron::voted() }.fit(&data, &mut ()),
        _ => {
            let data = points.labelled(points.sparse::<f32>());
            Perceptron { passes: 2, ..Perceptron::voted() }.fit(&data, &mut ())
        }
    };
    fit.unwrap()
}

/// A table of a number and a text.
fn with_text() -> Fit {
    let ngrams = ["body:free money", "body:\"", "body~\" é \""];
    let columns = vec![
        Column::new("size", Role::Numeric),
        Column::new("body", Role::Text { features: 3 }),
        Column::new("class", Role::Label),
    ];
    let names = ["size"].into_iter().chain(ngrams).map(str::to_owned).collect();
    let text = TextColumn {
        name: "body".into(),
        first: 1,
        words: "1..2".parse().unwrap(),
        chars: "3".parse().unwrap(),
        rows: 24,
        frequencies: vec![3, 1, 24],
    };
    let data = noisy(2, 24, 4, 17).data().with_names(names).unwrap().with_texts(vec![text]);
    Perceptron::averaged().fit(&data.with_schema(Schema { header: true, columns }), &mut ()).unwrap()
}

#[test]
fn texts_are_kept() {
    let fit = with_text();
    let bytes = fit.to_bytes().unwrap();
    let loaded = Fit::from_bytes(&bytes).unwrap();
    assert_eq!(loaded, fit);
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    assert_eq!(loaded.model.features.name(3), "body~\" é \"");
}

#[test]
fn broken_texts_are_refused() {
    let refused = |change: fn(&mut Features)| {
        let mut fit = with_text();
        change(&mut fit.model.features);
        fit.to_bytes().unwrap_err().to_string()
    };
    assert!(refused(|features| features.texts[0].rows = 23).contains("more rows than there are"));
    assert!(refused(|features| features.texts[0].first = 0).contains("is not an n-gram of it"));
    assert!(refused(|features| features.texts[0].first = 2).contains("no features of its own"));
    assert!(refused(|features| features.texts.clear()).contains("disagree"));
    let torn = |from: &[u8], to: &[u8]| {
        let mut bytes = with_text().to_bytes().unwrap();
        let at = bytes.windows(from.len()).rposition(|part| part == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        Fit::from_bytes(&bytes).unwrap_err().to_string()
    };
    assert!(torn(&19u64.to_le_bytes(), &u64::MAX.to_le_bytes()).contains("torn"));
    assert!(torn("é".as_bytes(), b"\xff").contains("torn"));
    assert!(torn(b"body~", b"Body~").contains("is not an n-gram of it"));
}

/// Run with `--ignored` when the format has grown: writes those that are not there yet.
#[test]
#[ignore = "writes golden files"]
fn write_golden_files() {
    for (name, k, cols) in GOLDEN.into_iter().filter(|(name, ..)| !path(&format!("{name}.model")).exists()) {
        let fit = make(name, &noisy(k, 24, cols, 17));
        fs::write(path(&format!("{name}.model")), fit.to_bytes().unwrap()).unwrap();
        fs::write(path(&format!("{name}.txt")), predictions(&fit.model, &rows(k, cols))).unwrap();
    }
}

/// Explanations of a loaded model add up, for votes by the mean of the vectors.
#[test]
fn golden_files_explain_themselves() {
    for (name, k, cols) in GOLDEN {
        let model = Fit::from_bytes(&golden(name)).unwrap().model;
        let x = rows(k, cols);
        let predicted = model.predict(&x).unwrap();
        for (i, &class) in predicted.iter().enumerate().take(x.n_rows()) {
            let why = model.explain(&x, i).unwrap();
            assert_eq!((why.predicted, why.of_mean), (class as usize, name.contains("voted")));
            let mut sum = why.bias.clone();
            let amounts = why.contributions.iter().map(|part| &part.amounts);
            for amounts in amounts.chain(why.examples.iter().map(|part| &part.amounts)) {
                sum.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
            }
            common::assert_close(&sum, &why.scores, name);
        }
    }
}
