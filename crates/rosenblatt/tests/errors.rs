//! Bad data and bad parameters get errors that say what is wrong.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{classes, noisy};
use rosenblatt::registry::{ALGORITHMS, Kind};
use rosenblatt::{
    Alma, Arow, ClassWeight, Classes, Csr, DataError, Dataset, Dense, Error, Labels, Learner, Matrix,
    PassiveAggressive, Perceptron, Task, Winnow,
};
use serde_json::{Map, Value, json};

fn labels() -> Labels {
    Labels::new(["a", "b"])
}

#[test]
fn values_must_be_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let x = vec![1.0, 2.0, 3.0, bad];
        let error = DataError::NotFinite { row: 1, column: 1 };
        assert_eq!(Dataset::new(Dense::new(x, 2).unwrap(), &labels()).unwrap_err(), error);
        let single = Csr::new(vec![0, 1, 2], vec![0, 1], vec![1.0, bad as f32], 2).unwrap();
        assert_eq!(Dataset::new(single.clone(), &labels()).unwrap_err(), error);

        let model = Perceptron::default().fit(&noisy(2, 20, 2, 1).data(), &mut ()).unwrap().model;
        assert_eq!(model.predict(&single.clone().into()).unwrap_err(), error);
        assert_eq!(model.scores(&single.into()).unwrap_err(), error);
    }
}

#[test]
fn shapes_must_fit() {
    assert_eq!(Dense::new(vec![1.0; 5], 2).unwrap_err(), DataError::Ragged { len: 5, n_cols: 2 });
    assert_eq!(Dense::<f64>::new(vec![], 0).unwrap_err(), DataError::NoColumns);
    let empty = Dense::<f64>::new(vec![], 2).unwrap();
    assert_eq!(Dataset::new(empty, &Labels::default()).unwrap_err(), DataError::NoRows);
    let two = || Dense::new(vec![1.0, 2.0], 1).unwrap();
    let one_class = Dataset::new(two(), &Labels::new(["a", "a"])).unwrap_err();
    assert_eq!(one_class, DataError::OneClass { class: "a".to_owned() });
    let lengths = DataError::Lengths { rows: 2, labels: 1, what: "labels" };
    assert_eq!(Dataset::new(two(), &Labels::new(["a"])).unwrap_err(), lengths);
    let data = || Dataset::new(two(), &labels()).unwrap();
    let lengths = DataError::Lengths { rows: 2, labels: 1, what: "weights" };
    assert_eq!(data().with_weights(vec![1.0]).unwrap_err(), lengths);
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e7] {
        assert!(matches!(data().with_weights(vec![1.0, bad]), Err(DataError::Weight { row: 1, .. })));
    }
    assert!(matches!(data().with_names(vec![]), Err(DataError::Names { names: 0, columns: 1 })));
    let unknown = Dataset::with_classes(two(), vec![0, 2], classes(2)).unwrap_err();
    assert!(matches!(unknown, DataError::UnknownClass { row: 1, .. }));
}

#[test]
fn sparse_rows_must_be_well_formed() {
    let csr = |pointers: &[u64], columns: &[u32], values: &[f64]| {
        Csr::new(pointers.to_vec(), columns.to_vec(), values.to_vec(), 3).unwrap_err()
    };
    for pointers in [&[][..], &[1, 1], &[0], &[0, 2], &[0, 2, 1]] {
        assert_eq!(csr(pointers, &[0], &[1.0]), DataError::RowPointers, "{pointers:?}");
    }
    assert_eq!(csr(&[0, 1], &[0], &[]), DataError::RowPointers);
    for columns in [[1, 1], [1, 0], [0, 3]] {
        assert_eq!(csr(&[0, 2], &columns, &[1.0, 1.0]), DataError::Columns { row: 0, n_cols: 3 });
    }
}

#[test]
fn one_class_cannot_be_learned() {
    let x = Dense::new(vec![1.0, 2.0], 1).unwrap();
    let data = Dataset::with_classes(x, vec![0, 0], classes(1)).unwrap();
    for algorithm in ALGORITHMS {
        let learner = algorithm.learner(&Map::new()).unwrap();
        let error = learner.fit(&data, &mut ()).unwrap_err();
        assert_eq!(error, DataError::OneClass { class: "c0".to_owned() }.into());
    }
}

#[test]
fn held_out_rows_must_match() {
    let data = noisy(3, 20, 4, 1).data();
    let check = |holdout: &Dataset<'_>| {
        let task = Task { holdout: Some(holdout), ..Task::new(&data) };
        Perceptron::default().learn(&task, &mut ()).unwrap_err()
    };
    let wide = DataError::Features { found: 5, expected: 4 };
    assert_eq!(check(&noisy(3, 20, 5, 1).data()), wide.into());
    assert!(matches!(check(&noisy(2, 20, 4, 1).data()), Error::Data(DataError::Unsuitable(_))));
}

#[test]
fn models_refuse_other_widths() {
    let model = Perceptron::voted().fit(&noisy(3, 20, 4, 1).data(), &mut ()).unwrap().model;
    let dense = |cols: usize| -> Matrix<'static> { Dense::new(vec![1.0; cols], cols).unwrap().into() };
    let sparse =
        |cols: usize| -> Matrix<'static> { Csr::new(vec![0, 1], vec![0], vec![1.0], cols).unwrap().into() };
    for cols in [3, 5] {
        let error = DataError::Features { found: cols, expected: 4 };
        assert_eq!(model.predict(&dense(cols)).unwrap_err(), error);
        assert_eq!(model.explain(&dense(cols), 0).unwrap_err(), error);
    }
    assert!(model.predict(&sparse(5)).is_err());
    assert_eq!(model.predict(&sparse(1)), model.predict(&sparse(4)), "sparse rows may be narrower");
    assert!(model.explain(&sparse(1), 0).is_ok());
    assert_eq!(model.predict(&Dense::<f64>::new(vec![], 4).unwrap().into()), Ok(vec![]));
}

#[test]
fn winnow_refuses_what_it_cannot_learn() {
    let data = |v: f64| Dataset::new(Dense::new(vec![1.0, v], 1).unwrap(), &labels()).unwrap();
    for (balanced, bad) in [(false, -1.0), (false, 1000.0), (true, -1000.0)] {
        let learner = Winnow { balanced, ..Winnow::default() };
        let error = learner.fit(&data(bad), &mut ()).unwrap_err();
        assert!(error.to_string().starts_with("row 2: feature 1 is"), "{error}");
        assert_eq!(learner.trace(&data(bad)).unwrap_err(), error);
        let mut stream = learner.stream().unwrap();
        assert!(stream.update(rosenblatt::Example::Dense(&[bad]), "a").is_err());
        assert_eq!(stream.seen(), 0);
    }
    assert!(Winnow { balanced: true, ..Winnow::default() }.fit(&data(-1.0), &mut ()).is_ok());
}

fn blamed(algorithm: &str, given: &Value) -> String {
    let row = rosenblatt::registry::algorithm(algorithm).unwrap();
    row.learner(given.as_object().unwrap()).err().map_or("nothing".to_owned(), |error| error.name)
}

#[test]
fn out_of_range_parameters_are_named() {
    for algorithm in ALGORITHMS {
        for (name, bad) in [("passes", json!(0)), ("time_limit", json!(0.0)), ("time_limit", json!(-1.0))] {
            assert_eq!(blamed(algorithm.name, &json!({ name: bad })), name);
        }
        let weight = json!({"class_weight": {"each": {"a": -1.0}}});
        assert_eq!(blamed(algorithm.name, &weight), "class_weight");
    }
    for (algorithm, name, bad) in [
        ("perceptron", "learning_rate", 0.0),
        ("perceptron", "learning_rate", -1.0),
        ("winnow", "alpha", 1.0),
        ("passive-aggressive", "c", 0.0),
        ("alma", "alpha", 0.0),
        ("alma", "alpha", 1.5),
        ("alma", "b", 0.0),
        ("alma", "c", -1.0),
        ("arow", "r", 0.0),
        ("linear-svm", "c", 0.0),
        ("linear-svm", "lambda", -1.0),
        ("linear-svm", "gap", 1.0),
        ("logistic", "c", -1.0),
        ("hard-margin", "gap", -1.0),
        ("crammer-singer", "c", 0.0),
        ("crammer-singer", "lambda", 0.0),
    ] {
        assert_eq!(blamed(algorithm, &json!({ name: bad })), name, "{algorithm}");
        assert_eq!(blamed(algorithm, &json!({ name: bad, "passes": 3, "seed": 1 })), name, "{algorithm}");
    }
    assert_eq!(blamed("crammer-singer", &json!({"bias": "free"})), "bias");
    // Alone, `forget` would be wrong, too: what is wrong with all of them together is the budget.
    assert_eq!(blamed("kernel-perceptron", &json!({"budget": 1 << 20, "forget": "projectron"})), "budget");
    assert_eq!(blamed("averaged-perceptron", &json!({"pocket": true})), "pocket");
    assert_eq!(blamed("voted-perceptron", &json!({"init": "random"})), "init");
    assert_eq!(blamed("perceptron", &json!({"output": "voted"})), "output");
}

#[test]
fn values_that_are_no_numbers_are_named() {
    let name = |check: Result<(), rosenblatt::ParamError>| check.unwrap_err().name;
    for bad in [f64::NAN, f64::INFINITY] {
        let some = Some(bad);
        assert_eq!(name(Perceptron { learning_rate: bad, ..Default::default() }.check()), "learning_rate");
        assert_eq!(name(Winnow { alpha: bad, ..Default::default() }.check()), "alpha");
        assert_eq!(name(Winnow { threshold: some, ..Default::default() }.check()), "threshold");
        assert_eq!(name(PassiveAggressive { c: bad, ..Default::default() }.check()), "c");
        assert_eq!(name(Alma { alpha: bad, ..Default::default() }.check()), "alpha");
        assert_eq!(name(Alma { b: some, ..Default::default() }.check()), "b");
        assert_eq!(name(Alma { c: bad, ..Default::default() }.check()), "c");
        assert_eq!(name(Arow { r: bad, ..Default::default() }.check()), "r");
    }
    let nan = Arow { time_limit: Some(f64::NAN), ..Default::default() };
    assert_eq!(name(nan.check()), "time_limit");
}

#[test]
fn values_of_the_wrong_kind_are_named() {
    for algorithm in ALGORITHMS {
        for parameter in algorithm.parameters() {
            let bad = match parameter.kind {
                Kind::Integer => json!(-1),
                Kind::Number | Kind::Seconds | Kind::Bytes => json!("much"),
                Kind::Switch => json!(3),
                Kind::Choice(_) | Kind::ClassWeight | Kind::Sizes => json!("no such word"),
            };
            let name = parameter.name;
            assert_eq!(blamed(algorithm.name, &json!({ name: bad })), name, "{}", algorithm.name);
        }
    }
}

#[test]
fn unknown_classes_have_no_weight() {
    let each = [("c0".to_owned(), 2.0), ("c9".to_owned(), 2.0)].into();
    let learner = Perceptron { class_weight: Some(ClassWeight::Each(each)), ..Perceptron::default() };
    let error = learner.fit(&noisy(2, 20, 3, 1).data(), &mut ()).unwrap_err();
    assert!(matches!(&error, Error::Param(error) if error.name == "class_weight"), "{error}");
    assert!(error.to_string().contains("c9"), "{error}");
}

#[test]
fn classes_are_sorted_numbers_or_texts() {
    let listed = |labels: &[&str]| Labels::new(labels).encode().0.listed();
    assert_eq!(listed(&["10", "9", "-1"]), "-1, 9, 10");
    assert_eq!(listed(&["10", "9", "b"]), "10, 9, b");
    assert_eq!(Labels::new(["1", "+1", "1.0", "-1"]).encode().1, [1, 1, 1, 0]);
    let known: Classes = classes(2);
    let error = Labels::new(["c1", "c7"]).encode_as(&known).unwrap_err();
    assert!(matches!(error, DataError::UnknownClass { row: 1, .. }));
}
