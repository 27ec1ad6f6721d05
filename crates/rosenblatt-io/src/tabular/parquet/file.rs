//! A Parquet file: its columns, and batches of their cells.

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::column::Reader;
use super::footer;
use super::kind::Kind;
use super::pages::Budget;
use super::value::Datum;
use crate::Problem;
use crate::error::ReadError;

/// The bytes of a file and what its footer says about them.
pub(super) struct File<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) columns: Vec<Column>,
    about: ParquetMetaData,
}

/// A column of the table.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Where it is among the columns that are left when nested ones are taken apart.
    pub(super) leaf: usize,
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let about = footer::read(bytes)?;
        let schema = about.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let mut columns: Vec<Column> = fields
            .iter()
            .map(|field| Column { name: field.name().trim().to_owned(), kind: Kind::nested(field), leaf: 0 })
            .collect();
        for (leaf, described) in schema.columns().iter().enumerate() {
            let is_flat = described.path().parts().len() == 1 && described.max_rep_level() == 0;
            if let Some(column) = columns.get_mut(schema.get_column_root_idx(leaf)).filter(|_| is_flat) {
                (column.kind, column.leaf) = (Kind::of(described), leaf);
            }
        }
        match columns.is_empty() {
            true => Err(Problem::Empty.into()),
            false => Ok(File { bytes, columns, about }),
        }
    }

    /// As many as the footer says.
    pub(super) fn n_rows(&self) -> usize {
        self.about.row_groups().iter().map(rows_of).fold(0, usize::saturating_add)
    }

    /// Shows the cells of the wanted columns, some rows at a time, and how many rows came before; the cells of other columns
    /// are left out.
    pub(super) fn each_batch(
        &self,
        wanted: &[usize],
        budget: &Budget,
        mut visit: impl FnMut(&[Vec<Datum>], u64) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut batch = vec![Vec::new(); self.columns.len()];
        let mut before = 0;
        for group in self.about.row_groups() {
            let open = |&column: &usize| Reader::open(self, group, column, budget);
            let mut readers = wanted.iter().map(open).collect::<Result<Vec<Reader<'_>>, ReadError>>()?;
            let mut left = rows_of(group);
            while left > 0 {
                let rows = left.min(BATCH);
                for (reader, &column) in readers.iter_mut().zip(wanted) {
                    reader.fill(&mut batch[column], rows, before)?;
                }
                visit(&batch, before)?;
                before += rows as u64;
                left -= rows;
            }
        }
        Ok(())
    }
}

/// Rows decoded at a time: few enough for the cells of some columns to stay in the cache.
const BATCH: usize = 1 << 10;

/// A number below zero is none.
fn rows_of(group: &RowGroupMetaData) -> usize {
    usize::try_from(group.num_rows()).unwrap_or(0)
}
