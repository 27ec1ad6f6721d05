//! What a table becomes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rosenblatt::{Column, Csr, Dense, Matrix, Role, Rows};
use rosenblatt_io::{Precision, ReadOptions, Table, parse};

fn table(text: &str, options: &ReadOptions) -> Table {
    parse(text.as_bytes(), "t.csv", options).unwrap()
}

fn simple(text: &str) -> Table {
    table(text, &ReadOptions::default())
}

fn label_texts(table: &Table) -> Vec<&str> {
    let labels = table.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.text(row)).collect()
}

fn dense(values: &[f64], n_cols: usize) -> Matrix<'static> {
    Dense::new(values.to_vec(), n_cols).unwrap().into()
}

#[test]
fn headers_are_detected() {
    let with = ["x,y\n1,a\n2,b\n", "x,y\n,a\n2,b\n", "make,size\nford,big\nbmw,small\n", "x,1\n1,2\n"];
    let without = ["1,a\n2,b\n", "ford,big\nbmw,small\nford,big\n", "1,2\n", "ford,ford\nbmw,bmw\n"];
    let options = ReadOptions { categorical: vec!["1".into()], ..Default::default() };
    let has_header = |text: &str| {
        // A missing cell is no obstacle to detection, only to reading.
        match parse(text.as_bytes(), "t.csv", &options) {
            Ok(table) => table.features.schema.unwrap().header,
            Err(error) => error.column_name().is_some(),
        }
    };
    with.iter().for_each(|text| assert!(has_header(text), "{text:?}"));
    without.iter().for_each(|text| assert!(!has_header(text), "{text:?}"));
    let options = ReadOptions { header: Some(false), ..Default::default() };
    assert!(parse(b"x,y\n1,a\n", "t.csv", &options).is_err());
    let options = ReadOptions { header: Some(true), ..Default::default() };
    assert_eq!(table("1,2\n3,4\n5,6\n", &options).features.names.unwrap(), ["1"]);
}

#[test]
fn quotes_spaces_semicolons_and_line_ends() {
    let expected = simple("x,y,c\n1,2,a b\n3,4,\"d\"\"e\"\n");
    assert_eq!(label_texts(&expected), ["a b", "d\"e"]);
    let same = [
        "\u{feff}x,y,c\r\n1,2,a b\r\n3,4,\"d\"\"e\"",
        " x , y , c\n 1 ,2, a b\n3,4,\"d\"\"e\" \n",
        "x;y;c\n1;2;a b\n3;4;\"d\"\"e\"\n",
        "x\ty\tc\n1\t2\ta b\n3\t4\t\"d\"\"e\"\n",
        "\n  \nx,y,c\n \n\n1,2,a b\n3,4,\"d\"\"e\"\n\n",
    ];
    for text in same {
        let found = simple(text);
        assert_eq!((&found.x, &found.labels), (&expected.x, &expected.labels), "{text:?}");
        assert_eq!(found.features, expected.features, "{text:?}");
    }
    let multi = simple("x,c\n1,\"two\nlines\"\n2,b\n");
    assert_eq!((multi.lines.get(0), multi.lines.get(1)), (Some(2), Some(4)));
}

#[test]
fn categories_are_one_hot_in_sorted_order() {
    let found = simple("make,x,mpg\nford,1,good\nbmw,2,bad\nford,3,bad\n");
    assert_eq!(found.features.names.as_ref().unwrap(), &["make=bmw", "make=ford", "x"]);
    assert_eq!(found.x, dense(&[0., 1., 1., 1., 0., 2., 0., 1., 3.], 3));
    let levels = vec!["bmw".into(), "ford".into()];
    let columns = [
        Column::new("make", Role::Categorical { levels }),
        Column::new("x", Role::Numeric),
        Column::new("mpg", Role::Label),
    ];
    assert_eq!(found.features.schema.unwrap().columns, columns);
    let unnamed = simple("ford,1,good\nbmw,2,bad\nford,3,bad\n");
    assert_eq!(unnamed.features.names.unwrap(), ["1=bmw", "1=ford", "2"]);
    assert_eq!(simple("1,2,a\n3,4,b\n").features.names, None);
}

#[test]
fn options_choose_columns() {
    let options = ReadOptions {
        label: Some("1".into()),
        drop: vec!["id".into()],
        weight: Some("w".into()),
        categorical: vec!["zone".into()],
        precision: Some(Precision::F32),
        ..Default::default()
    };
    let found = table("class,id,zone,w,x\na,7,10,1,0.5\nb,?,2,2.5,0.25\n", &options);
    assert_eq!(found.features.names.as_ref().unwrap(), &["zone=10", "zone=2", "x"]);
    assert_eq!(found.x, Dense::new(vec![1.0f32, 0.0, 0.5, 0.0, 1.0, 0.25], 3).unwrap().into());
    assert_eq!((label_texts(&found), found.weights.as_deref()), (vec!["a", "b"], Some(&[1.0, 2.5][..])));
    let roles: Vec<Role> =
        found.features.schema.as_ref().unwrap().columns.iter().map(|c| c.role.clone()).collect();
    assert_eq!((&roles[0], &roles[1], &roles[3]), (&Role::Label, &Role::Ignored, &Role::Weight));
    assert_eq!(found.into_dataset().unwrap().weights(), Some(&[1.0, 2.5][..]));
}

#[test]
fn declared_categories_may_be_called_none() {
    let options = ReadOptions { categorical: vec!["pain".into(), "c".into()], ..Default::default() };
    let found = table("pain,c\nnone,none\n?,some\n3,some\n", &options);
    assert_eq!(found.features.names.as_ref().unwrap(), &["pain=3", "pain=?", "pain=none"]);
    assert_eq!(label_texts(&found), ["none", "some", "some"]);
    assert!(parse(b"pain,c\n,a\nx,b\n", "t.csv", &options).is_err());
}

#[test]
fn wide_tables_with_many_zeros_are_sparse() {
    let row = |hot: usize| (0..40).map(|j| if j == hot { "2.5," } else { "0," }).collect::<String>();
    let found = simple(&format!("{}a\n{}b\n", row(3), row(7)));
    let expected = Csr::new(vec![0, 1, 2], vec![3, 7], vec![2.5, 2.5], 40).unwrap();
    assert_eq!(found.x, Matrix::CsrF64(expected));
    let full = format!("{}a\n{}b\n", "1,".repeat(40), "2,".repeat(40));
    assert!(!simple(&full).x.is_sparse());
    assert_eq!(simple(&full).x.n_cols(), 40);
}

#[test]
fn a_path_wins_over_an_embedded_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("iris");
    std::fs::write(&path, "x,c\n1,a\n2,b\n").unwrap();
    let found = rosenblatt_io::read(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(found.n_rows(), 2);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn builds_without_parquet_say_so() {
    for (bytes, name) in [(&b"PAR1\x15\0"[..], "-"), (b"anything", "t.parquet")] {
        let error = parse(bytes, name, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("{name}: this build does not read Parquet"));
        assert!(error.hint().unwrap().contains("feature `parquet`"));
    }
}
