//! Parquet gives the table that the same cells give in CSV, and says where it does not.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/parquet.rs"]
mod support;

use parquet::basic::Compression;
use parquet::file::properties::WriterVersion;
use proptest::prelude::*;
use rosenblatt::{Dense, Role, Rows};
use rosenblatt_io::{Format, Precision, ReadError, ReadOptions, Table, parse};
use support::{Cells, Style, write, write_as};

fn table(bytes: &[u8], options: &ReadOptions) -> Table {
    parse(bytes, "t.parquet", options).unwrap()
}

fn refusal(bytes: &[u8], options: &ReadOptions) -> ReadError {
    parse(bytes, "t.parquet", options).unwrap_err()
}

fn label_texts(table: &Table) -> Vec<&str> {
    let labels = table.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.text(row)).collect()
}

/// The cell of a text file.
fn cell(cells: &Cells, row: usize) -> String {
    match cells {
        Cells::Flag(cells) => u8::from(cells[row].unwrap()).to_string(),
        Cells::Int32(cells) => cells[row].unwrap().to_string(),
        Cells::Int64(cells) => cells[row].unwrap().to_string(),
        Cells::Single(cells) => f64::from(cells[row].unwrap()).to_string(),
        Cells::Double(cells) => cells[row].unwrap().to_string(),
        Cells::Text(cells) => cells[row].clone().unwrap(),
    }
}

fn csv(columns: &[(&str, Cells)]) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let header = line(columns.iter().map(|(name, _)| (*name).to_owned()).collect());
    let rows = 0..columns[0].1.len();
    rows.map(|row| line(columns.iter().map(|(_, cells)| cell(cells, row)).collect()))
        .fold(header, |a, b| a + &b)
}

fn cells(rows: usize) -> impl Strategy<Value = Cells> {
    let finite = any::<f64>().prop_filter("finite", |value| value.is_finite());
    let single = any::<f32>().prop_filter("finite", |value| value.is_finite());
    let sparse = prop_oneof![9 => Just(0), 1 => any::<i64>()];
    prop_oneof![
        prop::collection::vec(any::<bool>().prop_map(Some), rows).prop_map(Cells::Flag),
        prop::collection::vec(any::<i32>().prop_map(Some), rows).prop_map(Cells::Int32),
        prop::collection::vec(sparse.prop_map(Some), rows).prop_map(Cells::Int64),
        prop::collection::vec(single.prop_map(Some), rows).prop_map(Cells::Single),
        prop::collection::vec(finite.prop_map(Some), rows).prop_map(Cells::Double),
        prop::collection::vec("[d-f]{1,2}".prop_map(Some), rows).prop_map(Cells::Text),
    ]
}

const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f"];

fn columns() -> impl Strategy<Value = Vec<(&'static str, Cells)>> {
    let table = (1..18usize, 1..NAMES.len());
    table.prop_flat_map(|(rows, width)| {
        let label = prop::collection::vec("[d-f]{1,2}".prop_map(Some), rows).prop_map(Cells::Text);
        (prop::collection::vec(cells(rows), width), label)
            .prop_map(|(cells, label)| NAMES.iter().copied().zip(cells).chain([("label", label)]).collect())
    })
}

fn style() -> impl Strategy<Value = Style> {
    let compression = prop::sample::select(vec![
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
    ]);
    let version = prop::sample::select(vec![WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]);
    (compression, version, any::<bool>(), 1..20usize).prop_map(
        |(compression, version, dictionary, rows_a_group)| Style {
            compression,
            version,
            dictionary,
            rows_a_group,
        },
    )
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let column = || prop::option::weighted(0.2, prop::sample::select(vec!["a", "2", "c"]));
    let precision = prop::option::of(prop::sample::select(vec![Precision::F32, Precision::F64]));
    (column(), column(), column(), column(), precision).prop_map(
        |(label, drop, categorical, weight, precision)| ReadOptions {
            label: label.map(str::to_owned),
            drop: drop.map(str::to_owned).into_iter().collect(),
            categorical: categorical.map(str::to_owned).into_iter().collect(),
            weight: weight.map(str::to_owned),
            precision,
            header: Some(true),
            ..Default::default()
        },
    )
}

/// All but the places, which are lines in one and rows in the other.
fn same(one: &Table, other: &Table) -> bool {
    (&one.x, &one.labels, &one.weights, &one.features)
        == (&other.x, &other.labels, &other.weights, &other.features)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_same_cells_are_the_same_table(columns in columns(), style in style(), options in options()) {
        // A boolean that is a text is `true` here and whatever its writer likes in CSV; a single has as many digits as it takes.
        let as_text = [&options.label, &options.weight, &options.categorical.first().cloned()];
        let name = |asked: &str| if asked == "2" { "b".to_owned() } else { asked.to_owned() };
        let is_odd = |asked: &String| columns.iter().any(|(column, cells)| {
            *column == name(asked) && matches!(cells, Cells::Flag(_) | Cells::Single(_))
        });
        prop_assume!(!as_text.into_iter().flatten().any(is_odd));
        let (bytes, text) = (write(&columns, &style), csv(&columns));
        let binary = parse(&bytes, "t", &options);
        let plain = parse(text.as_bytes(), "t.csv", &options);
        match (&binary, &plain) {
            (Ok(binary), Ok(plain)) => {
                prop_assert!(same(binary, plain), "{binary:?}\n{plain:?}");
                let model = ReadOptions { features: Some(plain.features.clone()), ..options.clone() };
                let model = ReadOptions { categorical: Vec::new(), ..model };
                prop_assert!(same(&parse(&bytes, "t", &model).unwrap(), plain));
                prop_assert!(same(&parse(text.as_bytes(), "t.csv", &model).unwrap(), binary));
            }
            (Err(binary), Err(plain)) => prop_assert_eq!(binary.problem(), plain.problem()),
            _ => prop_assert!(false, "{binary:?}\n{plain:?}"),
        }
    }
}

#[test]
fn types_become_numbers_and_texts() {
    let some = |values: &[i32]| Cells::Int32(values.iter().copied().map(Some).collect());
    let wide = |values: &[i64]| Cells::Int64(values.iter().copied().map(Some).collect());
    let columns = [
        ("flag", Cells::Flag(vec![Some(true), Some(false)])),
        ("tiny", some(&[-128, 127])),
        ("word", some(&[-1, 7])),
        ("long", wide(&[-1, 7])),
        ("price", some(&[1234, -5])),
        ("single", Cells::Single(vec![Some(0.1), Some(-0.0)])),
        ("colour", Cells::texts(&["01", " NA "])),
        ("label", Cells::Flag(vec![Some(true), Some(false)])),
    ];
    let fields = "required boolean flag; required int32 tiny (INTEGER(8,true)); \
        required int32 word (INTEGER(32,false)); optional int64 long (INTEGER(64,false)); \
        required int32 price (DECIMAL(9,2)); optional float single; required binary colour (ENUM); required boolean label;";
    let found = table(&write_as(fields, &columns, &Style::default()), &ReadOptions::default());
    let single = f64::from(0.1f32);
    let first = [1.0, -128.0, 4294967295.0, 18446744073709551615.0, 12.34, single, 1.0, 0.0];
    let second = [0.0, 127.0, 7.0, 7.0, -0.05, 0.0, 0.0, 1.0];
    assert_eq!(found.x, Dense::new([first, second].concat(), 8).unwrap().into());
    // Texts are categories, whatever they look like.
    let names = found.features.names.as_ref().unwrap();
    assert_eq!(names[4..], ["price", "single", "colour=01", "colour=NA"]);
    assert_eq!(label_texts(&found), ["true", "false"]);
    assert_eq!((found.lines.get(0), found.lines.get(1)), (Some(1), Some(2)));
}

#[test]
fn large_integers_are_exact_labels() {
    let ids = [9007199254740993, 9007199254740992];
    let label = Cells::Int64(ids.into_iter().map(Some).collect());
    let columns = [("x", Cells::doubles(&[1.0, 2.0])), ("label", label)];
    let found = table(&write(&columns, &Style::default()), &ReadOptions::default());
    assert_eq!(label_texts(&found), ["9007199254740993", "9007199254740992"]);
}

#[test]
fn a_file_of_pyarrow_is_read() {
    let bytes = include_bytes!("data/pyarrow-zstd.parquet");
    let text = include_bytes!("data/pyarrow-zstd.csv");
    let options = ReadOptions { drop: vec!["when".into()], ..Default::default() };
    let (binary, plain) = (table(bytes, &options), parse(text, "t.csv", &options).unwrap());
    assert!(same(&binary, &plain), "{binary:?}\n{plain:?}");
    assert!(binary.x.n_rows() > 100);
}

fn nulls() -> Vec<u8> {
    let columns = [
        ("x", Cells::Double(vec![Some(1.0), None, Some(3.0)])),
        ("c", Cells::Text(vec![Some("a".into()), Some("b".into()), None])),
        ("label", Cells::Text(vec![Some("yes".into()), Some("no".into()), None])),
    ];
    write(&columns, &Style::default())
}

#[test]
fn nulls_are_missing_cells() {
    let drop = |name: &str| ReadOptions { drop: vec![name.into()], ..Default::default() };
    let missing = |options: &ReadOptions| {
        let error = refusal(&nulls(), options);
        (error.to_string(), error.hint().unwrap().to_owned())
    };
    let (first, hint) = missing(&ReadOptions::default());
    assert_eq!(first, "t.parquet, row 2, column 1 (x): the value is missing (\"\")");
    assert_eq!(
        hint,
        "fill the cell (`--impute mean` does), remove the row, or leave the column out with `--drop x`"
    );
    assert_eq!(missing(&drop("x")).0, "t.parquet, row 3, column 2 (c): the value is missing (\"\")");
    let numbers = [("x", Cells::doubles(&[1.0, 2.0])), ("label", Cells::Text(vec![Some("a".into()), None]))];
    let unlabelled = write(&numbers, &Style::default());
    let error = refusal(&unlabelled, &ReadOptions::default());
    assert_eq!(error.to_string(), "t.parquet, row 2, column 2 (label): the label is missing (\"\")");
    let other = [("x", Cells::doubles(&[1.0, f64::NAN])), ("label", Cells::texts(&["a", "b"]))];
    let error = refusal(&write(&other, &Style::default()), &ReadOptions::default());
    assert_eq!(error.to_string(), "t.parquet, row 2, column 1 (x): the value is missing (\"NaN\")");
    let other = [("x", Cells::doubles(&[1.0, f64::INFINITY])), ("label", Cells::texts(&["a", "b"]))];
    let error = refusal(&write(&other, &Style::default()), &ReadOptions::default());
    assert_eq!(error.to_string(), "t.parquet, row 2, column 1 (x): expected a finite number, found \"inf\"");
    // To predict, no label is needed.
    let whole =
        table(b"x,label\n1,a\n2,b\n", &ReadOptions { format: Some(Format::Csv), ..Default::default() });
    let model = ReadOptions { features: Some(whole.features), ..Default::default() };
    assert_eq!(label_texts(&table(&unlabelled, &model)), ["a", ""]);
}

#[test]
fn errors_after_reading_name_rows() {
    let columns = [("x", Cells::doubles(&[1.0, 2.0])), ("label", Cells::texts(&["a", "z"]))];
    let found = table(&write(&columns, &Style::default()), &ReadOptions::default());
    let known = parse(b"x,label\n1,a\n2,b\n", "t.csv", &ReadOptions::default()).unwrap();
    let classes = known.into_dataset().unwrap().classes().clone();
    let error = found.into_dataset_with(&classes).unwrap_err();
    assert_eq!(error.to_string(), "t.parquet, row 2: the class \"z\" is not one the model knows: a, b");
}

#[test]
fn other_types_are_refused_where_they_are_used() {
    let when = Cells::Int64(vec![Some(1), Some(2)]);
    let cases = [
        ("required int64 when (TIMESTAMP(NANOS,true));", "timestamps"),
        ("required int64 when (TIMESTAMP_MILLIS);", "timestamps"),
        ("required int64 when (TIME(MICROS,true));", "times"),
        ("required group when { required int64 inner; }", "structs"),
    ];
    for (field, what) in cases {
        let columns = [
            ("x", Cells::doubles(&[1.0, 2.0])),
            ("when", when.clone()),
            ("label", Cells::texts(&["a", "b"])),
        ];
        let fields = format!("required double x; {field} required binary label (UTF8);");
        let bytes = write_as(&fields, &columns, &Style::default());
        let error = refusal(&bytes, &ReadOptions::default());
        let expected =
            format!("t.parquet, column 2 (when): expected numbers, booleans or texts, found {what}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.hint(), Some("leave the column out with `--drop when`"));
        let dropped = ReadOptions { drop: vec!["when".into()], ..Default::default() };
        let found = table(&bytes, &dropped);
        assert_eq!(found.x, Dense::new(vec![1.0, 2.0], 1).unwrap().into());
        // The model remembers that the column is left out.
        assert_eq!(found.features.schema.as_ref().unwrap().columns[1].role, Role::Ignored);
        let model = ReadOptions { features: Some(found.features.clone()), ..Default::default() };
        assert_eq!(table(&bytes, &model).x, found.x);
    }
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let message = |bytes: &[u8]| refusal(bytes, &ReadOptions::default()).to_string();
    assert_eq!(message(b"x,y\n"), "t.parquet: the Parquet data is damaged: it does not begin with PAR1");
    let whole = nulls();
    let cut = message(&whole[..whole.len() - 1]);
    assert_eq!(
        cut,
        "t.parquet: the Parquet data is damaged: it does not end with PAR1, so it may be cut short"
    );
    let empty = write(&[("x", Cells::doubles(&[])), ("y", Cells::doubles(&[]))], &Style::default());
    assert_eq!(message(&empty), "t.parquet: it is empty");
    let twice = [("x", Cells::doubles(&[1.0])), ("x", Cells::doubles(&[1.0]))];
    let error = refusal(&write(&twice, &Style::default()), &ReadOptions::default());
    assert_eq!(error.to_string(), "t.parquet, column 2: the name \"x\" is also that of column 1");
    let alone = write(&[("y", Cells::texts(&["a", "b"]))], &Style::default());
    assert_eq!(message(&alone), "t.parquet: no column is left to learn from");
}

#[test]
fn content_tells_the_format() {
    let columns = [("x", Cells::doubles(&[1.0, 2.0])), ("label", Cells::texts(&["a", "b"]))];
    let bytes = write(&columns, &Style::default());
    let expected = table(&bytes, &ReadOptions::default());
    for name in ["-", "t.csv", "t.parquet"] {
        assert!(same(&parse(&bytes, name, &ReadOptions::default()).unwrap(), &expected));
    }
    assert!(parse(b"PAR1,c\n1,a\n2,b\n", "t.csv", &ReadOptions::default()).is_ok());
    let csv = ReadOptions { format: Some(Format::Csv), ..Default::default() };
    assert_eq!(refusal(&bytes, &csv).to_string(), "t.parquet: this looks like a Parquet file, not data");
}
