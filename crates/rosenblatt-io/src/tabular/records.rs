//! Rows of cells with their lines.

use std::borrow::Cow;

use csv::{Reader, ReaderBuilder, StringRecord};

use super::Source;
use super::cells::{Cells, Tabular};
use crate::error::{ReadError, Unit};
use crate::{Problem, ReadOptions};

/// Goes through a table row by row. All rows have as many cells as the first.
pub(super) struct Records<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a [u8],
    record: StringRecord,
    width: Option<usize>,
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    cells: &'a StringRecord,
    pub(super) line: u64,
}

impl<'a> Row<'a> {
    pub(super) fn cells(self) -> impl Iterator<Item = &'a str> {
        self.cells.iter().map(trimmed)
    }

    pub(super) fn len(self) -> usize {
        self.cells.len()
    }
}

impl Tabular for Source<'_> {
    const UNIT: Unit = Unit::Line;
    type Row<'r> = Row<'r>;

    fn each_row(
        &self,
        header: bool,
        _: &[usize],
        mut visit: impl FnMut(Row<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut records = Records::of(*self);
        if header {
            records.next()?;
        }
        while let Some(row) = records.next()? {
            visit(row)?;
        }
        Ok(())
    }
}

impl<'a> Cells<'a> for Row<'a> {
    fn line(self) -> u64 {
        self.line
    }

    fn text(self, column: usize) -> Cow<'a, str> {
        trimmed(self.cells.get(column).unwrap_or_default()).into()
    }

    fn number(self, _: usize) -> Option<f64> {
        None
    }
}

/// Most cells have nothing to trim, which two bytes tell.
pub(super) fn trimmed(cell: &str) -> &str {
    match cell.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => cell,
        [only] if only.is_ascii_graphic() => cell,
        _ => cell.trim(),
    }
}

impl<'a> Records<'a> {
    pub(super) fn of(source: Source<'a>) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(source.delimiter).has_headers(false).flexible(true);
        Records {
            reader: builder.from_reader(source.text),
            text: source.text,
            record: StringRecord::new(),
            width: None,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        let line = loop {
            let position = self.reader.position();
            let line = position.line() + self.blank_lines(position.byte() as usize);
            if !self.reader.read_record(&mut self.record).map_err(|error| unreadable(&error, line))? {
                return Ok(None);
            }
            if !self.is_blank() {
                break line;
            }
        };
        let (found, expected) = (self.record.len(), *self.width.get_or_insert(self.record.len()));
        match found == expected {
            true => Ok(Some(Row { cells: &self.record, line })),
            false => Err(ReadError::new(Problem::CellCount { expected, found }).at_line(line)),
        }
    }

    /// The byte after the last row read.
    pub(super) fn position(&self) -> usize {
        self.reader.position().byte() as usize
    }

    /// Whether the line has nothing but spaces. In a table of one column `""` is a cell all the same.
    fn is_blank(&self) -> bool {
        let blank = |cell: &str| !cell.is_empty() && cell.trim().is_empty();
        self.record.len() == 1 && self.record.get(0).is_some_and(blank)
    }

    /// The reader passes over blank lines only when it reads the next row.
    fn blank_lines(&self, byte: usize) -> u64 {
        let rest = self.text.get(byte..).unwrap_or_default();
        let blank = rest.iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        blank.filter(|&&b| b == b'\n').count() as u64
    }
}

fn unreadable(error: &csv::Error, line: u64) -> ReadError {
    ReadError::new(Problem::Unreadable { reason: error.to_string() }).at_line(line)
}

/// Whether the options name this column, by name or by number from 1.
pub(super) fn find_column(names: &[String], asked: &str) -> Result<usize, ReadError> {
    let by_name = names.iter().position(|name| name == asked);
    let by_number = || asked.parse::<usize>().ok()?.checked_sub(1).filter(|&column| column < names.len());
    by_name.or_else(by_number).ok_or_else(|| {
        let known = crate::problem::listed(names);
        Problem::UnknownColumn { asked: asked.to_owned(), known }.into()
    })
}

/// The columns the options leave out.
pub(super) fn dropped(names: &[String], options: &ReadOptions) -> Result<Vec<bool>, ReadError> {
    chosen(names, &options.drop)
}

/// Whether each column is among those asked for.
pub(super) fn chosen(names: &[String], asked: &[String]) -> Result<Vec<bool>, ReadError> {
    let mut chosen = vec![false; names.len()];
    for asked in asked {
        chosen[find_column(names, asked)?] = true;
    }
    Ok(chosen)
}
