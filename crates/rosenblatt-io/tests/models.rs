//! Data for a model is read into the features the model has.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::Features;
use rosenblatt_io::{Problem, ReadError, ReadOptions, Table, parse};

const TRAIN: &str = "x,make,id,w,c\n1,ford,7,1,a\n2,bmw,8,1,b\n3,bmw,9,1,b\n";

fn trained(text: &str) -> Features {
    let mut options = ReadOptions::default();
    if text == TRAIN {
        (options.drop, options.weight) = (vec!["id".into()], Some("w".into()));
    }
    parse(text.as_bytes(), "train.csv", &options).unwrap().features
}

fn read_for(features: &Features, text: &str, options: &ReadOptions) -> Result<Table, ReadError> {
    let options = ReadOptions { features: Some(features.clone()), ..options.clone() };
    let table = parse(text.as_bytes(), "new.csv", &options)?;
    assert_eq!(&table.features, features);
    Ok(table)
}

fn problem(features: &Features, text: &str) -> String {
    read_for(features, text, &ReadOptions::default()).unwrap_err().to_string()
}

/// Row 1 of the training table.
fn check_row(table: &Table) {
    let mut row = Vec::new();
    rosenblatt::Rows::each(&table.x, 0, |j, v| row.push((j, v)));
    row.retain(|&(_, v)| v != 0.0);
    assert_eq!(row, [(0, 1.0), (2, 1.0)]);
}

#[test]
fn columns_are_matched_by_name_in_any_order() {
    let model = trained(TRAIN);
    let texts = [
        TRAIN,
        "make,x\nford,1\n",
        "c,make,x\na,ford,1\n",
        "make,w,x\nford,3,1\n",
        "id,x,make\nnone,1,ford\n",
    ];
    for text in texts {
        let table = read_for(&model, text, &ReadOptions::default()).unwrap();
        check_row(&table);
        assert_eq!(table.labels.is_some(), text.contains('c'), "{text:?}");
        assert_eq!(table.weights.is_some(), text.contains(",w"), "{text:?}");
    }
}

#[test]
fn columns_are_matched_by_place_without_a_header() {
    let model = trained(TRAIN);
    for text in ["1,ford,7,1,a\n", "1,ford,7,1\n", "1,ford\n"] {
        check_row(&read_for(&model, text, &ReadOptions::default()).unwrap());
    }
    let drop_id = ReadOptions { drop: vec!["3".into()], ..Default::default() };
    for text in ["1,ford,7,1,a\n", "1,ford,7,1\n", "1,ford,oops\n"] {
        check_row(&read_for(&model, text, &drop_id).unwrap());
    }
    let message = "new.csv: found 3 columns, expected 5 as in training, or the 2 that are features";
    assert_eq!(problem(&model, "1,ford,7\n"), message);
}

#[test]
fn what_the_model_does_not_know_is_refused() {
    let model = trained(TRAIN);
    let cases = [
        ("make\nford\n", "new.csv: the model expects a column \"x\", which is not there"),
        ("x,make,z\n1,ford,3\n", "new.csv, column 3: the model does not know a column \"z\""),
        (
            "x,make\n1,ford\n2,audi\n",
            "new.csv, line 3, column 2 (make): \"audi\" is not a level the model knows: bmw, ford",
        ),
        ("x,make\n1,\n", "new.csv, line 2, column 2 (make): the value is missing (\"\")"),
        ("x,make\nmuch,ford\n", "new.csv, line 2, column 1 (x): expected a number, found \"much\""),
        ("x,make\n", "new.csv: there is a header, but no row"),
    ];
    for (text, message) in cases {
        assert_eq!(problem(&model, text), message, "{text:?}");
    }
    let drop = ReadOptions { drop: vec!["x".into()], ..Default::default() };
    let error = read_for(&model, "x,make\n1,ford\n", &drop).unwrap_err();
    assert_eq!(error.problem(), &Problem::DroppedFeature { name: "x".into() });
    let drop = ReadOptions { drop: vec!["z".into()], ..Default::default() };
    check_row(&read_for(&model, "x,make,z\n1,ford,3\n", &drop).unwrap());
}

#[test]
fn labels_may_be_missing_or_elsewhere() {
    let model = trained(TRAIN);
    let table = read_for(&model, "x,make,c\n1,ford,\n2,bmw,?\n", &ReadOptions::default()).unwrap();
    let classes = rosenblatt::Classes::new(vec!["a".into(), "b".into()]);
    assert!(table.check_labels(&classes).is_ok());
    let error = table.into_dataset_with(&classes).unwrap_err();
    assert_eq!(error.line(), Some(2));
    let options = ReadOptions { label: Some("truth".into()), ..Default::default() };
    let table = read_for(&model, "x,make,c,truth\n1,ford,?,b\n", &options).unwrap();
    assert_eq!(table.labels.unwrap().text(0), "b");
}

#[test]
fn one_row_with_the_names_of_the_model_is_a_header() {
    let model = trained("make,size,c\nford,big,a\nbmw,small,b\nford,small,a\nbmw,big,b\n");
    let table = read_for(&model, "size,make\nbig,ford\n", &ReadOptions::default()).unwrap();
    assert_eq!(table.n_rows(), 1);
    let table = read_for(&model, "ford,big\n", &ReadOptions::default()).unwrap();
    assert_eq!(table.n_rows(), 1);
}

#[test]
fn models_of_libsvm_text_count_columns() {
    let model = parse(b"1 1:1 3:1\n-1 2:1\n", "a.svm", &ReadOptions::default()).unwrap().features;
    let with = read_for(&model, "1,0,1,yes\n", &ReadOptions::default()).unwrap();
    assert_eq!(with.labels.unwrap().text(0), "yes");
    let without = read_for(&model, "p,q,r\n1,0,1\n", &ReadOptions::default()).unwrap();
    assert!(without.labels.is_none());
    let message = "new.csv: found 2 columns, expected 3, or 4 with the label";
    assert_eq!(problem(&model, "1,0\n"), message);
}

#[test]
fn libsvm_text_is_read_by_index() {
    let model = trained(TRAIN);
    let read = |text: &str| {
        let options = ReadOptions { features: Some(model.clone()), ..Default::default() };
        parse(text.as_bytes(), "new.svm", &options)
    };
    check_row(&read("a 1:1 3:1\n").unwrap());
    let error = read("a 1:1 4:1\n").unwrap_err();
    let message = "new.svm, line 1, column 7: the index 4 is above 3, the number of features the model has";
    assert_eq!(error.to_string(), message);
    assert!(error.hint().is_some());
}
