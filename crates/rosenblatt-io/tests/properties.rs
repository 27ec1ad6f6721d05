//! What is written is read back bit by bit, and no bytes make the readers panic.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use rosenblatt::{DataError, Matrix, Rows, with_rows};
use rosenblatt_io::{FORMATS, Format, Precision, ReadOptions, Table, parse};

fn options(format: Format, precision: Precision) -> ReadOptions {
    ReadOptions { format: Some(format), precision: Some(precision), ..Default::default() }
}

fn read(text: &str, format: Format, precision: Precision) -> Table {
    parse(text.as_bytes(), "x", &options(format, precision)).unwrap()
}

/// Non-zero entries with the bits of their values.
fn entries(x: &Matrix<'_>) -> Vec<Vec<(usize, u64)>> {
    let row = |i: usize| {
        let mut row = Vec::new();
        with_rows!(x, x => x.each(i, |j, v| if v != 0.0 { row.push((j, v.to_bits())) }));
        row
    };
    (0..x.n_rows()).map(row).collect()
}

fn write_libsvm<T: std::fmt::Display + PartialEq + Default>(rows: &[Vec<T>]) -> String {
    let pair = |(j, v): (usize, &T)| (*v != T::default()).then(|| format!(" {}:{v}", j + 1));
    let line = |row: &Vec<T>| format!("1{}\n", row.iter().enumerate().filter_map(pair).collect::<String>());
    rows.iter().map(line).collect()
}

fn write_csv<T: std::fmt::Display>(rows: &[Vec<T>]) -> String {
    let line = |row: &Vec<T>| row.iter().map(|v| format!("{v},")).collect::<String>() + "yes\n";
    rows.iter().map(line).collect()
}

fn write_vw<T: std::fmt::Display + PartialEq + Default>(rows: &[Vec<T>]) -> String {
    let pair = |(j, v): (usize, &T)| (*v != T::default()).then(|| format!(" {j}:{v}"));
    let line =
        |row: &Vec<T>| format!("1 |f{}\n", row.iter().enumerate().filter_map(pair).collect::<String>());
    rows.iter().map(line).collect()
}

fn write_jsonl(rows: &[Vec<f64>]) -> String {
    let field = |(j, v): (usize, &f64)| format!("\"f^{j}\":{v},");
    let line = |row: &Vec<f64>| {
        format!("{{{}\"label\":1}}\n", row.iter().enumerate().map(field).collect::<String>())
    };
    rows.iter().map(line).collect()
}

/// Entries by the number in their names, as columns come in order of appearance.
fn named_entries(table: &Table) -> Vec<Vec<(usize, u64)>> {
    let names = table.features.names.as_ref().unwrap();
    let number = |j: usize| names[j].strip_prefix("f^").unwrap().parse().unwrap();
    let mut rows = entries(&table.x);
    for row in &mut rows {
        row.iter_mut().for_each(|(j, _)| *j = number(*j));
        row.sort_unstable();
    }
    rows
}

/// Rows whose last value is not zero, so that sparse text has all columns.
fn rows<T: std::fmt::Debug + Clone + Default + 'static>(
    value: impl Strategy<Value = T> + Clone + 'static,
    nonzero: T,
) -> impl Strategy<Value = Vec<Vec<T>>> {
    let cell = prop_oneof![1 => Just(T::default()), 1 => value];
    (1..50usize).prop_flat_map(move |width| {
        let mut row = prop::collection::vec(cell.clone(), width).boxed();
        let last = nonzero.clone();
        row = row
            .prop_map(move |mut row| {
                row.push(last.clone());
                row
            })
            .boxed();
        prop::collection::vec(row, 1..6)
    })
}

fn finite_f32() -> impl Strategy<Value = f32> + Clone {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite())
}

fn finite_f64() -> impl Strategy<Value = f64> + Clone {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite())
}

fn nonzero<T: Copy + Into<f64>>(rows: &[Vec<T>]) -> Vec<Vec<(usize, u64)>> {
    let row = |row: &Vec<T>| {
        let entries = row.iter().enumerate().map(|(j, &v)| (j, v.into()));
        entries.filter(|&(_, v): &(usize, f64)| v != 0.0).map(|(j, v)| (j, v.to_bits())).collect()
    };
    rows.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f32_survives(rows in rows(finite_f32(), 1.0)) {
        let sparse = read(&write_libsvm(&rows), Format::Libsvm, Precision::F32);
        let table = read(&write_csv(&rows), Format::Csv, Precision::F32);
        let named = read(&write_vw(&rows), Format::Vw, Precision::F32);
        prop_assert!(named.x.is_single());
        prop_assert_eq!(named_entries(&named), nonzero(&rows));
        prop_assert!(sparse.x.is_single() && table.x.is_single());
        prop_assert_eq!(entries(&sparse.x), nonzero(&rows));
        prop_assert_eq!(entries(&table.x), nonzero(&rows));
    }

    #[test]
    fn f64_survives(rows in rows(finite_f64(), 1.0)) {
        let sparse = read(&write_libsvm(&rows), Format::Libsvm, Precision::F64);
        let table = read(&write_csv(&rows), Format::Csv, Precision::F64);
        let named = read(&write_vw(&rows), Format::Vw, Precision::F64);
        let objects = read(&write_jsonl(&rows), Format::Jsonl, Precision::F64);
        prop_assert_eq!(named_entries(&named), nonzero(&rows));
        prop_assert_eq!(named_entries(&objects), nonzero(&rows));
        prop_assert_eq!(entries(&sparse.x), nonzero(&rows));
        prop_assert_eq!(entries(&table.x), nonzero(&rows));
        prop_assert_eq!((sparse.x.n_rows(), sparse.x.n_cols()), (table.x.n_rows(), table.x.n_cols()));
    }

    #[test]
    fn labels_survive_quoting(labels in prop::collection::vec("[a-z \",\n\t;']{0,6}[a-z]", 1..8)) {
        let quoted = |label: &String| format!("1,\"{}\"\n", label.replace('"', "\"\""));
        let text = format!("x,label\n{}", labels.iter().map(quoted).collect::<String>());
        prop_assume!(!labels.iter().any(|label| ["na", "nan", "nil", "none", "null"].contains(&label.trim())));
        let table = parse(text.as_bytes(), "t.csv", &ReadOptions { header: Some(true), ..Default::default() }).unwrap();
        let found = table.labels.unwrap();
        for (row, label) in labels.iter().enumerate() {
            prop_assert_eq!(found.text(row), label.trim());
        }
    }

    #[test]
    fn pixels_survive(height in 1..6usize, width in 1..6usize, pixels in prop::collection::vec(any::<u8>(), 36..200)) {
        let images = pixels.len() / (height * width);
        let pixels = &pixels[..images * height * width];
        let sizes = [images, height, width].into_iter().flat_map(|size| (size as u32).to_be_bytes());
        let bytes: Vec<u8> = b"\0\0\x08\x03".iter().copied().chain(sizes).chain(pixels.iter().copied()).collect();
        let table = parse(&bytes, "x", &ReadOptions::default()).unwrap();
        let rows: Vec<Vec<f32>> =
            pixels.chunks(height * width).map(|row| row.iter().map(|&p| f32::from(p)).collect()).collect();
        prop_assert_eq!(entries(&table.x), nonzero(&rows));
    }

    #[test]
    fn nearly_right_names_never_panic(text in "[-+0-9a-c:|' \t\n.]{0,120}") {
        never_panics(text.as_bytes());
    }

    #[test]
    fn nearly_right_objects_never_panic(fields in "([{\"]|label|\":|[0-9a-c\\[\\],. }\n-]|null|true){0,60}") {
        never_panics(format!("{{\"label\":{fields}").as_bytes());
    }

    #[test]
    fn compressed_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for magic in [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd"] {
            let _ = parse(&[magic, &bytes].concat(), "fuzz", &ReadOptions::default());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        never_panics(&bytes);
    }

    #[test]
    fn nearly_right_text_never_panics(text in "[-+0-9a-c:,;\t\" \n\r#.?]{0,120}") {
        never_panics(text.as_bytes());
    }
}

fn never_panics(bytes: &[u8]) {
    for format in FORMATS.iter().map(|row| Some(row.format)).chain([None]) {
        let options = ReadOptions { format, ..Default::default() };
        let Ok(table) = parse(bytes, "fuzz", &options) else { continue };
        assert_eq!(table.lines.len(), table.x.n_rows());
        assert_eq!(table.features.count, table.x.n_cols());
        assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
        let again = ReadOptions { features: Some(table.features.clone()), ..options };
        let _ = parse(bytes, "fuzz", &again).map(Table::into_dataset);
        let _ = table.into_dataset();
    }
}
