//! Parquet: typed columns in groups of rows, each column of a group in compressed pages.
//!
//! What columns are for, levels and matching are those of all tables; here typed cells are shown row by row, a batch at a time.

mod column;
mod file;
mod footer;
mod guard;
mod kind;
mod pages;
mod thrift;
mod value;

use std::borrow::Cow;

use super::cells::{Cells, Tabular};
use super::records::dropped;
use super::survey::{Holdings, Survey};
use crate::builder::Value;
use crate::error::{ReadError, Unit};
use crate::{Problem, ReadOptions, Table};
use file::File;
use kind::Kind;
use pages::Budget;
use value::Datum;

pub(crate) fn parse<T: Value>(bytes: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    let file = File::open(bytes)?;
    // The names are in the file, whatever is said about first lines.
    let options = &ReadOptions { header: Some(true), ..options.clone() };
    let read = || super::table::<T>(&file, survey(&file, options)?, options);
    read().map_err(|error| error.counted_in(Unit::Row))
}

/// Columns of a type that cannot be read stay without holdings until it is known whether they are looked at.
fn survey(file: &File<'_>, options: &ReadOptions) -> Result<Survey, ReadError> {
    if file.n_rows() == 0 {
        return Err(Problem::Empty.into());
    }
    let names: Vec<String> = file.columns.iter().map(|column| column.name.clone()).collect();
    let dropped = dropped(&names, options)?;
    let budget = Budget::of(file.bytes);
    let mut rest = vec![Holdings::default(); names.len()];
    for (column, holdings) in rest.iter_mut().enumerate().filter(|&(column, _)| !dropped[column]) {
        if !matches!(file.columns[column].kind, Kind::Other { .. }) {
            file.each_batch(&[column], &budget, |batch, first| {
                let lines = first + 1..;
                batch[column].iter().zip(lines).for_each(|(datum, line)| datum.count(holdings, line));
                Ok(())
            })?;
        }
    }
    Ok(Survey { first: names, first_line: None, rest, rest_rows: file.n_rows() })
}

/// One row of a batch.
#[derive(Clone, Copy)]
pub(super) struct Row<'r> {
    batch: &'r [Vec<Datum>],
    row: usize,
    line: u64,
}

impl Tabular for File<'_> {
    const UNIT: Unit = Unit::Row;
    type Row<'r> = Row<'r>;

    fn each_row(
        &self,
        _: bool,
        wanted: &[usize],
        mut visit: impl FnMut(Row<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.each_batch(wanted, &Budget::of(self.bytes), |batch, first| {
            let rows = wanted.first().map_or(0, |&column| batch[column].len());
            (0..rows).try_for_each(|row| visit(Row { batch, row, line: first + 1 + row as u64 }))
        })
    }
}

impl<'r> Cells<'r> for Row<'r> {
    fn line(self) -> u64 {
        self.line
    }

    fn text(self, column: usize) -> Cow<'r, str> {
        self.batch[column][self.row].text()
    }

    fn number(self, column: usize) -> Option<f64> {
        self.batch[column][self.row].number()
    }
}
