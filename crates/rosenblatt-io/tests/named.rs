//! Named features: Vowpal Wabbit text and JSON lines.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::{Csr, Dense, Features, Matrix, Rows};
use rosenblatt_io::{Precision, Problem, ReadOptions, Table, Unknown, parse};

fn vw(text: &str) -> Table {
    parse(text.as_bytes(), "x.vw", &ReadOptions::default()).unwrap()
}

fn jsonl(text: &str, options: &ReadOptions) -> Table {
    parse(text.as_bytes(), "x.jsonl", options).unwrap()
}

fn names(table: &Table) -> Vec<&str> {
    table.features.names.as_ref().unwrap().iter().map(String::as_str).collect()
}

fn sparse(pointers: &[u64], columns: &[u32], values: &[f32], width: usize) -> Matrix<'static> {
    Csr::new(pointers.to_vec(), columns.to_vec(), values.to_vec(), width).unwrap().into()
}

fn labels(table: &Table) -> Vec<&str> {
    let labels = table.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.text(row)).collect()
}

#[test]
fn namespaces_values_and_weights() {
    let table =
        vw("spam 2.5 'first|words:0.5 free free money:3 |n x:2\r\n\n  ham  |n y x:-1\t|words free:0\n");
    assert_eq!(names(&table), ["words^free", "words^money", "n^x", "n^y"]);
    assert_eq!(table.x, sparse(&[0, 3, 5], &[0, 1, 2, 2, 3], &[1.0, 1.5, 2.0, -1.0, 1.0], 4));
    assert_eq!(labels(&table), ["spam", "ham"]);
    assert_eq!(table.weights, Some(vec![2.5, 1.0]));
    assert_eq!((table.lines.get(0), table.lines.get(1)), (Some(1), Some(3)));
}

#[test]
fn plain_rows_have_no_weights() {
    let table = vw("1 1 0 | b a:1e-3\n-1 | |a |f c\n");
    assert_eq!(names(&table), ["b", "a", "f^c"]);
    assert_eq!(table.x, sparse(&[0, 2, 3], &[0, 1, 2], &[1.0, 1e-3, 1.0], 3));
    assert_eq!(table.weights, None);
}

#[test]
fn repeated_features_add_up_in_order_and_may_vanish() {
    let table = vw("1 | b a:1 b:2 a:-1 c:1e8 c:1 c:-1e8\n");
    assert_eq!(table.x, sparse(&[0, 1], &[0], &[3.0], 3));
}

#[test]
fn a_model_takes_its_own_names_and_rows_without_labels() {
    let features = vw("1 |w a b c\n").features;
    let options = ReadOptions { features: Some(features.clone()), ..Default::default() };
    let table = parse(b"|w c:2 new a:3\n'tag |other a\n2|w b\n", "x.vw", &options).unwrap();
    assert_eq!(table.features, features);
    assert_eq!(table.x, sparse(&[0, 2, 2, 3], &[0, 2, 1], &[3.0, 2.0, 1.0], 3));
    assert_eq!(labels(&table), ["", "", ""]);
    let numbered = Features { count: 4, ..Features::default() };
    let options = ReadOptions { features: Some(numbered), ..Default::default() };
    let table = parse(b"1 | 4:2 1\n", "x.vw", &options).unwrap();
    assert_eq!(table.x, sparse(&[0, 2], &[0, 3], &[1.0, 2.0], 4));
}

#[test]
fn fields_of_every_kind() {
    let text = concat!(
        r#"{"x": 1.5, "make": "ford", "ok": true, "v": [1, 0, [2]], "in": {"a": -2}, "label": "good"}"#,
        "\n\n",
        r#"{"label": 3, "make": "bm\u0077", "in": {"a": 1, "b": {"c": 7}}, "ok": false}"#,
        "\n"
    );
    let table = jsonl(text, &ReadOptions::default());
    let expected = ["x", "make=ford", "ok", "v[0]", "v[1]", "v[2][0]", "in.a", "make=bmw", "in.b.c"];
    assert_eq!(names(&table), expected);
    let columns = vec![0, 1, 2, 3, 5, 6, 6, 7, 8];
    let values = vec![1.5, 1.0, 1.0, 1.0, 2.0, -2.0, 1.0, 1.0, 7.0];
    assert_eq!(table.x, Matrix::from(Csr::new(vec![0, 6, 9], columns, values, 9).unwrap()));
    assert_eq!(labels(&table), ["good", "3"]);
    assert_eq!(table.lines.get(1), Some(3));
}

#[test]
fn sparse_where_that_is_smaller() {
    let text: String = (0..20).map(|i| format!("{{\"label\":{},\"w\":\"t{i}\"}}\n", i % 2)).collect();
    assert!(matches!(jsonl(&text, &ReadOptions::default()).x, Matrix::CsrF64(_)));
}

#[test]
fn labels_weights_and_fields_left_out() {
    let options = ReadOptions {
        label: Some("y.class".into()),
        weight: Some("w".into()),
        drop: vec!["id".into(), "y.seen".into()],
        ..Default::default()
    };
    let text = "{\"id\":null,\"x\":1,\"w\":2,\"y\":{\"class\":true,\"seen\":[]}}\n{\"x\":2,\"w\":1,\"y\":{\"class\":false}}";
    let table = jsonl(text, &options);
    assert_eq!(names(&table), ["x"]);
    assert_eq!(table.weights, Some(vec![2.0, 1.0]));
    assert_eq!(labels(&table), ["true", "false"]);
}

#[test]
fn lines_for_a_model() {
    let features = jsonl("{\"label\":1,\"x\":1,\"make\":\"ford\"}", &ReadOptions::default()).features;
    let options = ReadOptions { features: Some(features), ..Default::default() };
    let table = jsonl("{\"make\":\"new\",\"x\":3,\"more\":4}\n{\"make\":\"ford\"}\n", &options);
    assert_eq!(table.x, Matrix::from(Dense::new(vec![3.0, 0.0, 0.0, 1.0], 2).unwrap()));
    assert_eq!(table.labels, None);
    let table = jsonl("{\"x\":3,\"label\":null}\n{\"x\":3,\"label\":2}\n", &options);
    assert_eq!(labels(&table), ["", "2"]);
}

#[test]
fn a_table_and_json_lines_name_their_features_alike() {
    let csv = parse(b"x,make,label\n1,ford,a\n2,bmw,b\n", "t.csv", &ReadOptions::default()).unwrap();
    let options = ReadOptions { features: Some(csv.features.clone()), ..Default::default() };
    let lines = "{\"x\":1,\"make\":\"ford\",\"label\":\"a\"}\n{\"x\":2,\"make\":\"bmw\",\"label\":\"b\"}\n";
    assert_eq!(jsonl(lines, &options).x, csv.x);
}

#[test]
fn a_number_to_predict_is_no_class() {
    let text: String = (0..30).map(|i| format!("{{\"x\":1,\"label\":{}.5}}\n", i)).collect();
    let error = parse(text.as_bytes(), "x.jsonl", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a number to predict"), "{error}");
}

#[test]
fn long_lines_and_long_numbers() {
    let words: String = (0..1_000_000).map(|i| format!(" w{}", i % 1000)).collect();
    let table = vw(&format!("1 |{words}\n"));
    assert_eq!((table.features.count, table.n_rows()), (1000, 1));
    let digits = "1".repeat(10_000);
    let table = vw(&format!("1 | a:0.{digits}\n"));
    assert_eq!(table.x, sparse(&[0, 1], &[0], &[0.111_111_11], 1));
    let table = jsonl(&format!("{{\"label\":1,\"a\":0.{digits}}}"), &ReadOptions::default());
    assert_eq!(table.x, Matrix::from(Dense::new(vec![1.0 / 9.0], 1).unwrap()));
}

#[test]
fn names_are_hashed_alike_for_a_model() {
    let options = ReadOptions { hash: Some(10), ..Default::default() };
    let text = "1 |w free money:3 |x free\n0 |w the:0.5\n";
    let table = parse(text.as_bytes(), "x.vw", &options).unwrap();
    assert_eq!(table.features, Features { count: 1024, hash: Some(10), ..Features::default() });
    let hashing = table.hashing.unwrap();
    assert_eq!((hashing.bits, hashing.names, hashing.shared, hashing.buckets_used), (10, 4, 0, 4));
    let model = ReadOptions { features: Some(table.features.clone()), ..Default::default() };
    let again = parse(text.as_bytes(), "x.vw", &model).unwrap();
    assert_eq!((&again.x, again.hashing, again.unknown), (&table.x, None, None));
    let data = table.into_dataset().unwrap();
    assert_eq!(data.features().hash, Some(10));
    let lines = r#"{"w^free": 1, "w^money": 3, "x^free": 1, "label": 1}"#;
    let object = parse(lines.as_bytes(), "x.jsonl", &model).unwrap();
    assert_eq!(object.x.n_cols(), 1024);
}

#[test]
fn features_that_share_a_bucket_add_up() {
    let options = ReadOptions { hash: Some(1), precision: Some(Precision::F64), ..Default::default() };
    let names: Vec<String> = (0..9).map(|i| format!("n{i}")).collect();
    let text = format!("1 | {}\n", names.join(" "));
    let table = parse(text.as_bytes(), "x.vw", &options).unwrap();
    let mut sum = 0.0;
    rosenblatt::with_rows!(&table.x, x => x.each(0, |_, value| sum += value));
    assert_eq!(sum, 9.0);
    let fields: Vec<String> = names.iter().map(|name| format!("\"{name}\":1")).collect();
    let object = format!("{{{},\"label\":1}}\n", fields.join(","));
    let lines = parse(object.as_bytes(), "x.jsonl", &options).unwrap();
    let mut sum = 0.0;
    rosenblatt::with_rows!(&lines.x, x => x.each(0, |_, value| sum += value));
    assert_eq!(sum, 9.0);
    assert_eq!(lines.hashing, table.hashing);
}

#[test]
fn names_and_numbers_are_not_mixed_up() {
    let default = ReadOptions::default();
    let hashing = ReadOptions { hash: Some(8), ..default.clone() };
    for (name, text) in [("x.svm", "1 1:2\n"), ("x.csv", "a,b\n1,2\n"), ("x.tsv", "a\tb\n1\t2\n")] {
        let error = parse(text.as_bytes(), name, &hashing).unwrap_err();
        assert!(matches!(error.problem(), Problem::HashWithoutNames { .. }), "{error}");
        let model = parse(b"1 | a b\n", "x.vw", &hashing).unwrap().features;
        let error = parse(text.as_bytes(), name, &ReadOptions { features: Some(model), ..default.clone() })
            .unwrap_err();
        assert!(matches!(error.problem(), Problem::ModelOfHashes { .. }), "{error}");
    }
    for bits in [0, 32, 200] {
        let error =
            parse(b"1 | a\n", "x.vw", &ReadOptions { hash: Some(bits), ..default.clone() }).unwrap_err();
        assert_eq!(error.problem(), &Problem::HashBits { bits });
    }
    let named = ReadOptions { features: Some(vw("1 | a b\n").features), ..default.clone() };
    let error = parse(b"1 1:2 2:1\n", "x.svm", &named).unwrap_err();
    assert!(error.to_string().contains("names in the model (a, b)"), "{error}");
    assert!(error.hint().unwrap().contains("Vowpal Wabbit"));
    let tampered = Features { count: 9, hash: Some(3), ..Features::default() };
    assert!(parse(b"1 | a\n", "x.vw", &ReadOptions { features: Some(tampered), ..default }).is_err());
}

#[test]
fn what_a_model_does_not_know_is_counted() {
    let named = ReadOptions { features: Some(vw("1 | a b\n").features), ..Default::default() };
    let table = parse(b"1 | a c:0 d\n0 | b\n", "x.vw", &named).unwrap();
    assert_eq!(table.unknown, Some(Unknown { entries: 2, of: 4 }));
    let table = parse(b"{\"a\":1,\"z\":\"t\"}\n", "x.jsonl", &named).unwrap();
    assert_eq!(table.unknown, Some(Unknown { entries: 1, of: 2 }));
    assert_eq!(vw("1 | a\n").unknown, None);
}
