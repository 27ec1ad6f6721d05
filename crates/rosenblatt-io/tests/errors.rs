//! Every kind of bad input is refused with its place.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use flate2::{Compression, write::GzEncoder};
use rosenblatt::{Classes, Features};
use rosenblatt_io::{Format, Problem, ReadError, ReadOptions, parse, read};
use std::io::Write;

fn refused(text: impl AsRef<[u8]>, name: &str, options: &ReadOptions) -> ReadError {
    let text = text.as_ref();
    match parse(text, name, options) {
        Ok(_) => panic!("{:?} was read", String::from_utf8_lossy(text)),
        Err(error) => error,
    }
}

/// Text, message, and a part of the hint.
type Case = (&'static str, &'static str, Option<&'static str>);

fn check(cases: &[Case], name: &str, options: &ReadOptions) {
    for (text, message, hint) in cases {
        let error = refused(text, name, options);
        assert_eq!(&error.to_string(), &format!("{name}{message}"), "{text:?}");
        match (error.hint(), hint) {
            (found, None) => assert_eq!(found, None, "{text:?}"),
            (found, Some(part)) => assert!(found.is_some_and(|f| f.contains(part)), "{text:?}: {found:?}"),
        }
    }
}

#[test]
fn libsvm_text() {
    let cases: &[Case] = &[
        ("1 0:5", ", line 1, column 3: the index 0: indices start at 1", Some("add 1")),
        (
            "1 1:5\n1 3:1 2:1",
            ", line 2, column 7: the index 2 comes after 3; indices must ascend",
            Some("sort"),
        ),
        ("1 1:5\n1 3:1 3:1", ", line 2, column 7: the index 3 appears twice in this line", Some("sort")),
        ("1 4294967296:1", ", line 1, column 3: the index 4294967296 is above 4294967295", None),
        (
            "1 99999999999999999999999:1",
            ", line 1, column 3: the index 99999999999999999999999 is above 4294967295",
            None,
        ),
        ("# none\n\n1:2 2:3", ", line 3, column 1: expected a label, found \"1:2\"", Some("start each line")),
        ("1 3:", ", line 1, column 5: there is no value after 3:", None),
        ("1 3: 4", ", line 1, column 5: there is no value after 3:", None),
        ("1 3:0.5 4", ", line 1, column 9: expected index:value, found \"4\"", None),
        ("1 :4", ", line 1, column 3: expected index:value, found \":4\"", None),
        ("1 -1:4", ", line 1, column 3: expected index:value, found \"-1:4\"", None),
        ("1 1:1 qid:3", ", line 1, column 7: expected index:value, found \"qid:3\"", None),
        ("1\t1:x", ", line 1, column 5: expected a number, found \"x\"", None),
        ("1 1:1:2", ", line 1, column 5: expected a number, found \"1:2\"", None),
        ("1 1:nan", ", line 1, column 5: expected a finite number, found \"nan\"", None),
        ("1 1:-inf", ", line 1, column 5: expected a finite number, found \"-inf\"", None),
        ("1 1:1e39", ", line 1, column 5: expected a finite number, found \"1e39\"", None),
        ("1\n-1\n", ": no line has a feature", None),
        ("# only a comment\n", ": it is empty", None),
    ];
    check(cases, "x.svm", &ReadOptions::default());
    let error = refused(b"1 1:1\n  \xff 1:1", "x.svm", &ReadOptions::default());
    assert_eq!(error.to_string(), "x.svm, line 2, column 3: this byte is not UTF-8 text");
}

#[test]
fn vowpal_wabbit_text() {
    let cases: &[Case] = &[
        ("1 a b", ", line 1, column 6: expected `|` and features, found the end of the line", None),
        ("1 | a\n| b", ", line 2, column 1: the label is missing (\"\")", Some("fill the label")),
        ("'t| b", ", line 1, column 1: the label is missing (\"\")", Some("fill the label")),
        (
            "1|f b",
            ", line 1, column 1: \"1\" touches the `|`, which makes it a tag; the label is missing",
            Some("a space"),
        ),
        ("1:2 | a", ", line 1, column 1: expected a label, found \"1:2\"", Some("start each line")),
        ("1 x | a", ", line 1, column 3: expected a weight from 0 to 1000000, found \"x\"", None),
        ("1 -2 | a", ", line 1, column 3: expected a weight from 0 to 1000000, found \"-2\"", None),
        ("1 nan | a", ", line 1, column 3: expected a weight from 0 to 1000000, found \"nan\"", None),
        (
            "1 2 0.5 | a",
            ", line 1, column 5: an initial prediction of 0.5 has no meaning here",
            Some("write 0"),
        ),
        ("1 2 b | a", ", line 1, column 5: expected a number, found \"b\"", None),
        ("1 2 0 3 | a", ", line 1, column 7: expected `|`, found \"3\"", None),
        ("1 2 't 3 4 | a", ", line 1, column 8: expected `|`, found \"3\"", None),
        ("1 | a\n\n1 |f b: c", ", line 3, column 8: there is no value after b:", None),
        ("1 | a:x", ", line 1, column 7: expected a number, found \"x\"", None),
        ("1 | a:1:2", ", line 1, column 7: expected a number, found \"1:2\"", None),
        ("1 | a b:nan", ", line 1, column 9: expected a finite number, found \"nan\"", None),
        ("1 | a b:-inf", ", line 1, column 9: expected a finite number, found \"-inf\"", None),
        ("1 | b:1e39", ", line 1, column 7: expected a finite number, found \"1e39\"", None),
        ("1 |f:1e20 b:1e20", ", line 1, column 11: expected a finite number, found \"b:1e20\"", None),
        ("1 | :3", ", line 1, column 5: expected a name, found \":3\"", Some("colon")),
        ("1 |:3 a", ", line 1, column 4: expected a name, found \":3\"", Some("colon")),
        ("1 |f: a", ", line 1, column 6: there is no value after f:", None),
        ("1 |f:x a", ", line 1, column 6: expected a number, found \"x\"", None),
        (
            "1 | a:3e38 a:3e38",
            ", line 1: the values of \"a\" add up to more than there are numbers for",
            None,
        ),
        ("1 |\n2 |f\n", ": no line has a feature", None),
    ];
    check(cases, "x.vw", &ReadOptions::default());
    let bytes: &[(&[u8], &str)] = &[
        (b"1 | a\n1 |ns ok b\xff", "x.vw, line 2, column 11: this byte is not UTF-8 text"),
        (b"1 |n\xffs ok", "x.vw, line 1, column 5: this byte is not UTF-8 text"),
        (b"\xe9 |ns ok", "x.vw, line 1, column 1: this byte is not UTF-8 text"),
    ];
    for (text, message) in bytes {
        assert_eq!(&refused(text, "x.vw", &ReadOptions::default()).to_string(), message);
    }
}

#[test]
fn named_features_for_a_model_without_names() {
    let features = Some(Features { count: 3, ..Features::default() });
    let options = ReadOptions { features, ..Default::default() };
    let cases: &[Case] = &[
        (
            "| 1 word",
            ", line 1, column 5: the features have numbers in the model: expected one from 1, found \"word\"",
            None,
        ),
        (
            "|f 1",
            ", line 1, column 4: the features have numbers in the model: expected one from 1, found \"f^1\"",
            None,
        ),
        ("| 0", ", line 1, column 3: the index 0: indices start at 1", Some("add 1")),
        (
            "| 3 4",
            ", line 1, column 5: the index 4 is above 3, the number of features the model has",
            Some("above 3"),
        ),
    ];
    check(cases, "x.vw", &options);
    let twice = Features { count: 2, names: Some(vec!["a".into(), "a".into()]), ..Features::default() };
    let options = ReadOptions { features: Some(twice), ..Default::default() };
    let error = refused("| a", "x.vw", &options);
    assert_eq!(error.to_string(), "x.vw: the model has two features named \"a\"");
}

#[test]
fn json_lines() {
    let cases: &[Case] = &[
        (
            "{\"label\":1,\"x\":2",
            ", line 1, column 16: this is not JSON of features: EOF while parsing an object",
            None,
        ),
        (
            "[1]",
            ", line 1, column 1: this is not JSON of features: invalid type: sequence, expected an object",
            None,
        ),
        (
            "{\"label\":1,\"x\":2} 3",
            ", line 1, column 19: this is not JSON of features: trailing characters",
            None,
        ),
        (
            "{\"label\":1,\"x\":1e999}",
            ", line 1, column 20 (x): this is not JSON of features: number out of range",
            None,
        ),
        (
            "{\"label\":1,\"x\":null}",
            ", line 1, column 19 (x): the value is missing (\"null\")",
            Some("`--drop x`"),
        ),
        (
            "{\"label\":1,\"x\":2}\n\n{\"label\":1,\"a\":{\"b\":[1,null]}}",
            ", line 3, column 27 (a.b[1]): the value is missing (\"null\")",
            Some("--drop"),
        ),
        ("{\"x\":1}", ", line 1: there is no field \"label\"", Some("--label FIELD")),
        ("{\"label\":null,\"x\":1}", ", line 1: the label is missing (\"null\")", Some("fill the label")),
        (
            "{\"label\":\"\",\"x\":1}",
            ", line 1, column 11 (label): the label is missing (\"\")",
            Some("fill the label"),
        ),
        (
            "{\"label\":[1],\"x\":1}",
            ", line 1, column 10 (label): expected a number, a text or a boolean as label, found an array",
            None,
        ),
        ("{\"label\":1,\"x\":1,\"x\":2}", ", line 1, column 20 (x): the field appears twice", None),
        (
            "{\"label\":1,\"a\":{\"b\":1},\"a.b\":2}",
            ", line 1, column 28 (a.b): the field appears twice",
            None,
        ),
        ("{\"label\":1,\"a=b\":2,\"a\":\"b\"}", ", line 1: the feature \"a=b\" appears twice", None),
        (
            "{\"label\":1,\"x\":1}\n{\"label\":1,\"x\":\"1\"}",
            ", line 2, column 18 (x): found a text in a field of numbers",
            Some("alike"),
        ),
        (
            "{\"label\":1,\"x\":[\"a\"]}",
            ", line 1, column 19 (x[0]): an array of features holds numbers only",
            Some("object"),
        ),
        ("{\"label\":1}", ": no line has a feature", None),
    ];
    check(cases, "x.jsonl", &ReadOptions::default());
}

#[test]
fn fields_asked_for() {
    let text = "{\"y\":\"a\",\"x\":1,\"w\":2}\n{\"y\":\"b\",\"x\":1,\"w\":-2}\n";
    let error = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions { label: Some("y".into()), ..Default::default() };
        change(&mut options);
        refused(text, "x.jsonl", &options).to_string()
    };
    assert_eq!(error(&|o| o.drop = vec!["z".into()]), "x.jsonl: no line has a field \"z\"");
    assert_eq!(error(&|o| o.label = Some("z".into())), "x.jsonl, line 1: there is no field \"z\"");
    assert_eq!(error(&|o| o.weight = Some("z".into())), "x.jsonl, line 1: there is no field \"z\"");
    assert_eq!(
        error(&|o| o.weight = Some("w".into())),
        "x.jsonl, line 2, column 21 (w): expected a weight from 0 to 1000000, found \"-2\""
    );
    assert_eq!(
        error(&|o| o.weight = Some("y".into())),
        "x.jsonl: the column \"y\" cannot be the label and the weight"
    );
    assert_eq!(
        error(&|o| o.categorical = vec!["x".into()]),
        "x.jsonl: `--categorical` is for tables, and this is JSON lines"
    );
}

#[test]
fn options_for_tables_are_refused_elsewhere() {
    let set = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        options
    };
    let changes = [
        ("--label", set(&|o| o.label = Some("1".into()))),
        ("--weight", set(&|o| o.weight = Some("1".into()))),
        ("--drop", set(&|o| o.drop = vec!["1".into()])),
        ("--categorical", set(&|o| o.categorical = vec!["1".into()])),
    ];
    for (option, options) in changes {
        let message = refused("1 1:5\n", "x.svm", &options).to_string();
        assert_eq!(message, format!("x.svm: `{option}` is for tables, and this is LIBSVM text"));
        let error = read("sms-spam", &options).unwrap_err();
        assert_eq!(error.problem(), &Problem::OnlyForTables { option, what: "text" });
    }
}

#[test]
fn tables() {
    let cases: &[Case] = &[
        ("x,y\n", ": there is a header, but no row", None),
        ("x,y\n1,a\n2\n", ", line 3: expected 2 cells as in the first row, found 1", Some("mend")),
        ("x,y\n\n\n1,a\n2,b,c\n", ", line 5: expected 2 cells as in the first row, found 3", Some("mend")),
        ("x,y\n1,\"a\n2,b\n", ", line 2, column 2: a quoted cell begins here and never ends", Some("close")),
        (
            "x\ty\n1\t\"a\n2\tb\"\n",
            ", line 2, column 2: a quoted cell begins here and never ends",
            Some("close"),
        ),
        (
            "x,y\n1,\"a\" b\n",
            ", line 2, column 2: a quoted cell begins here, and more text follows its end",
            Some("double"),
        ),
        ("x,y,x\n1,2,a\n", ", line 1, column 3: the name \"x\" is also that of column 1", None),
        ("x,y\n1,a\n,b\n", ", line 3, column 1 (x): the value is missing (\"\")", Some("`--drop x`")),
        (
            "x,my col,c\n1,2,a\n2,N/A,b\n",
            ", line 3, column 2 (my col): the value is missing (\"N/A\")",
            Some("`--drop 'my col'`"),
        ),
        ("1,2,a\n3,?,b\n", ", line 2, column 2: the value is missing (\"?\")", Some("`--drop 2`")),
        (
            "x,y\n1,a\n2,?\n",
            ", line 3, column 2 (y): the label is missing (\"?\")",
            Some("`--categorical y`"),
        ),
        (
            "x,y\n1,a\n2,b\nfoo,a\n",
            ", line 4, column 1 (x): found \"foo\" in a column of numbers",
            Some("`--categorical x`"),
        ),
        (
            "x,z,y\nu,1,a\nv,2,b\n7,3,a\n",
            ", line 4, column 1 (x): found \"7\" in a column of texts",
            Some("`--categorical x`"),
        ),
        ("x,y\n1,a\n-inf,b\n", ", line 3, column 1 (x): expected a finite number, found \"-inf\"", None),
        ("x,y\n1,a\n1e999,b\n", ", line 3, column 1 (x): expected a finite number, found \"1e999\"", None),
        ("x;y\n1,5;a\n2,5;b\n", ", line 2, column 1 (x): expected a number, found \"1,5\"", Some("a point")),
        ("x\n1\n2\n", ": no column is left to learn from", Some("commas")),
        ("", ": it is empty", None),
        (" \n\n", ": it is empty", None),
    ];
    check(cases, "t.csv", &ReadOptions::default());
    let long = format!("x,y\n1,{}\n2,\n", "é".repeat(99));
    assert_eq!(refused(long, "t.csv", &ReadOptions::default()).line(), Some(3));
}

#[test]
fn columns_asked_for() {
    let text = "x,y,c\n1,2,a\n3,4,b\n";
    let error = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        refused(text, "t.csv", &options).to_string()
    };
    let unknown = "t.csv: there is no column \"z\"; the columns are x, y, c";
    assert_eq!(error(&|o| o.label = Some("z".into())), unknown);
    assert_eq!(error(&|o| o.drop = vec!["z".into()]), unknown);
    assert_eq!(error(&|o| o.weight = Some("z".into())), unknown);
    assert_eq!(error(&|o| o.categorical = vec!["z".into()]), unknown);
    assert_eq!(
        error(&|o| o.label = Some("4".into())),
        "t.csv: there is no column \"4\"; the columns are x, y, c"
    );
    assert_eq!(error(&|o| o.drop = vec!["x".into(), "y".into()]), "t.csv: no column is left to learn from");
    let both = |o: &mut ReadOptions| (o.weight, o.label) = (Some("x".into()), Some("x".into()));
    assert_eq!(error(&both), "t.csv: the column \"x\" cannot be the label and the weight");
    let dropped = |o: &mut ReadOptions| (o.label, o.drop) = (Some("x".into()), vec!["1".into()]);
    assert_eq!(error(&dropped), "t.csv: the column \"x\" cannot be the label and left out");
    let text = "w,y,c\n1,2,a\n-3,4,b\n";
    let options = ReadOptions { weight: Some("w".into()), ..Default::default() };
    let message = refused(text, "t.csv", &options).to_string();
    assert_eq!(message, "t.csv, line 3, column 1 (w): expected a weight from 0 to 1000000, found \"-3\"");
}

#[test]
fn numbers_to_predict_and_texts_are_not_classes() {
    let rows: String = (0..30).map(|i| format!("{i},{}\n", f64::from(i) * 0.37)).collect();
    let error = refused(format!("x,price\n{rows}"), "t.csv", &ReadOptions::default());
    let problem = Problem::NoClasses { distinct: 30, rows: 30, like: "a number to predict" };
    assert_eq!((error.problem(), error.column_name()), (&problem, Some("price")));
    assert!(error.hint().is_some_and(|hint| hint.contains("--label")));
    let rows: String = (0..30).map(|i| format!("{i},this is message {i}\n")).collect();
    let error = refused(format!("x,text\n{rows}"), "t.csv", &ReadOptions::default());
    assert!(error.to_string().contains("free text"), "{error}");
}

#[test]
fn bytes_that_are_not_text() {
    let model = [&b"\x02\0\0\0\0\0\0\0{}"[..], &[0; 8]].concat();
    let late_nul = [&b"a,b\n1,x\n"[..], &b"2,y\n".repeat(5000), b"3,\0\n"].concat();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"x,y\n1,a\n2,b\n").unwrap();
    let gzip = gzip.finish().unwrap();
    let cases: &[(&[u8], &str)] = &[
        (&model, "f: this looks like a model file, not data"),
        (b"1,2\0\n", "f: this looks like a binary file, not data"),
        (&late_nul, "f: this looks like a binary file, not data"),
        (b"\x28\xb5\x2f\xfd1234", "f: the zstd data is damaged: "),
        (b"\0\0\x08\x01\0\0\0\x01\x07", "f: this looks like labels of images, not data"),
        (b"a,b\n1,x\n2,\xe9t\xe9\n", "f, line 3, column 2: this byte is not UTF-8 text"),
        (&gzip[..gzip.len() - 9], "f: the gzip data is damaged: "),
    ];
    for (bytes, message) in cases {
        let found = refused(bytes, "f", &ReadOptions::default()).to_string();
        assert!(found.starts_with(message), "{found}");
    }
    assert_eq!(parse(&gzip, "f.csv.gz", &ReadOptions::default()).unwrap().n_rows(), 2);
}

#[test]
fn names_that_are_nothing() {
    let error = read("irsi", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "irsi: there is no such file, and no embedded data set of that name");
    assert!(error.hint().is_some_and(|hint| hint.contains("iris, iris-separable")));
    let folder = tempfile::tempdir().unwrap();
    let error = read(folder.path().to_str().unwrap(), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.problem(), Problem::Unreadable { .. }), "{error}");
}

#[test]
fn labels_for_a_model() {
    let classes = Classes::new(vec!["a".into(), "b".into()]);
    let options = ReadOptions { format: Some(Format::Libsvm), ..Default::default() };
    let table = parse(b"a 1:1\n\nc 1:2\n", "x", &options).unwrap();
    let message = "x, line 3: the class \"c\" is not one the model knows: a, b";
    assert_eq!(table.check_labels(&classes).unwrap_err().to_string(), message);
    assert_eq!(table.into_dataset_with(&classes).unwrap_err().to_string(), message);
    let table = parse(b"a 1:1\n? 1:2\n", "x", &options).unwrap();
    assert!(table.check_labels(&classes).is_ok());
    let error = table.into_dataset_with(&classes).unwrap_err();
    assert_eq!(error.to_string(), "x, line 2: the label is missing (\"?\")");
    let table = parse(b"a 1:1\na 1:2\n", "x", &options).unwrap();
    let error = table.into_dataset().unwrap_err();
    assert_eq!(error.problem(), &Problem::OneClass { class: "a".into() });
}

/// LIBSVM numbers the rows of precomputed kernel values.
#[test]
fn a_row_may_begin_with_its_number_where_values_are_precomputed() {
    let text = b"1 0:1 1:4 2:1\n-1 0:2 1:1 2:4\n";
    let error = parse(text, "gram", &ReadOptions::default()).unwrap_err();
    assert!(error.hint().unwrap().contains("--kernel precomputed"), "{error}");
    let options = ReadOptions { precomputed: true, ..ReadOptions::default() };
    let table = parse(text, "gram", &options).unwrap();
    assert_eq!(table.x, parse(b"1 1:4 2:1\n-1 1:1 2:4\n", "plain", &options).unwrap().x);
    for wrong in ["1 0:x 1:4\n", "1 0: 1:4\n", "1 1:4 0:1\n", "1 0:1 0:1 1:4\n"] {
        assert!(parse(wrong.as_bytes(), "gram", &options).is_err(), "{wrong}");
    }
}
