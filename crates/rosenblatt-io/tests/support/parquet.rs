//! Parquet files of a few columns, made in memory.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part, and may panic")]

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// The cells of a column; `None` is a null.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    Flag(Vec<Option<bool>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

impl Cells {
    pub(crate) fn doubles(values: &[f64]) -> Cells {
        Cells::Double(values.iter().copied().map(Some).collect())
    }

    pub(crate) fn texts(values: &[&str]) -> Cells {
        Cells::Text(values.iter().map(|&text| Some(text.to_owned())).collect())
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Cells::Flag(cells) => cells.len(),
            Cells::Int32(cells) => cells.len(),
            Cells::Int64(cells) => cells.len(),
            Cells::Single(cells) => cells.len(),
            Cells::Double(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
        }
    }

    fn field(&self, name: &str) -> String {
        match self {
            Cells::Flag(_) => format!("optional boolean {name};"),
            Cells::Int32(_) => format!("optional int32 {name};"),
            Cells::Int64(_) => format!("optional int64 {name};"),
            Cells::Single(_) => format!("optional float {name};"),
            Cells::Double(_) => format!("optional double {name};"),
            Cells::Text(_) => format!("optional binary {name} (UTF8);"),
        }
    }

    fn put(&self, rows: std::ops::Range<usize>, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) {
        match self {
            Cells::Flag(cells) => put::<BoolType>(&cells[rows], group),
            Cells::Int32(cells) => put::<Int32Type>(&cells[rows], group),
            Cells::Int64(cells) => put::<Int64Type>(&cells[rows], group),
            Cells::Single(cells) => put::<FloatType>(&cells[rows], group),
            Cells::Double(cells) => put::<DoubleType>(&cells[rows], group),
            Cells::Text(cells) => {
                let bytes = cells[rows].iter().map(|cell| cell.as_deref().map(ByteArray::from));
                put::<ByteArrayType>(&bytes.collect::<Vec<_>>(), group);
            }
        }
    }
}

fn put<T: DataType>(cells: &[Option<T::T>], group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let mut column = group.next_column().unwrap().unwrap();
    let is_required = column.typed::<T>().get_descriptor().max_def_level() == 0;
    let levels = (!is_required).then_some(&levels[..]);
    column.typed::<T>().write_batch(&values, levels, None).unwrap();
    column.close().unwrap();
}

/// How a file is written; none of it changes what is read.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) compression: Compression,
    pub(crate) version: WriterVersion,
    pub(crate) dictionary: bool,
    pub(crate) rows_a_group: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            compression: Compression::UNCOMPRESSED,
            version: WriterVersion::PARQUET_1_0,
            dictionary: true,
            rows_a_group: usize::MAX,
        }
    }
}

/// A file of these columns, all of which may hold nulls.
pub(crate) fn write(columns: &[(&str, Cells)], style: &Style) -> Vec<u8> {
    let fields: String = columns.iter().map(|(name, cells)| cells.field(name)).collect();
    write_as(&fields, columns, style)
}

/// A file whose fields are these.
pub(crate) fn write_as(fields: &str, columns: &[(&str, Cells)], style: &Style) -> Vec<u8> {
    let schema = parse_message_type(&format!("message table {{ {fields} }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(style.compression)
        .set_writer_version(style.version)
        .set_dictionary_enabled(style.dictionary)
        .set_data_page_row_count_limit(usize::MAX)
        .set_write_batch_size(1 << 20);
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).unwrap();
    let rows = columns[0].1.len();
    for start in (0..rows).step_by(style.rows_a_group) {
        let end = start.saturating_add(style.rows_a_group).min(rows);
        let mut group = file.next_row_group().unwrap();
        columns.iter().for_each(|(_, cells)| cells.put(start..end, &mut group));
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

/// A few rows of every kind of column.
pub(crate) fn small(style: &Style) -> Vec<u8> {
    let rows = 60;
    let columns = [
        ("x", Cells::Double((0..rows).map(|row| Some(f64::from(row) * 0.37)).collect())),
        ("n", Cells::Int32((0..rows).map(|row| Some(row % 5)).collect())),
        ("b", Cells::Flag((0..rows).map(|row| Some(row % 3 == 0)).collect())),
        ("c", Cells::Text((0..rows).map(|row| Some(format!("level {}", row % 4))).collect())),
        ("label", Cells::Text((0..rows).map(|row| Some(["no", "yes"][row as usize % 2].into())).collect())),
    ];
    write(&columns, style)
}
