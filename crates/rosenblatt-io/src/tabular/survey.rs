//! What each column holds.

use super::Source;
use super::records::{Records, Row};
use crate::Problem;
use crate::cell::Cell;
use crate::error::ReadError;

/// A first look at a table.
pub(super) struct Survey {
    /// The cells of the first row, which may be a header.
    pub(super) first: Vec<String>,
    pub(super) first_line: Option<u64>,
    /// What the rows after it hold, column by column.
    pub(super) rest: Vec<Holdings>,
    pub(super) rest_rows: usize,
}

/// A cell and its line.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) line: u64,
    pub(super) text: String,
}

/// How many cells of each kind a column has, and where the first of them is.
#[derive(Clone, Debug, Default)]
pub(super) struct Holdings {
    pub(super) numbers: Kind,
    pub(super) texts: Kind,
    pub(super) missing: Kind,
    pub(super) infinite: Kind,
    pub(super) comma_numbers: Kind,
    pub(super) zeros: usize,
    /// Whether the text in the first row occurs again.
    pub(super) repeats_first: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Kind {
    pub(super) count: usize,
    pub(super) first: Option<Spot>,
}

impl Kind {
    pub(super) fn add<S: Into<String>>(&mut self, text: impl FnOnce() -> S, line: u64) {
        self.count += 1;
        let is_earlier = self.first.as_ref().is_none_or(|first| line < first.line);
        if is_earlier {
            self.first = Some(Spot { line, text: text().into() });
        }
    }
}

impl Holdings {
    /// A cell of text, which may be a number as well.
    pub(super) fn add(&mut self, text: &str, line: u64) -> Cell {
        let cell = Cell::of(text);
        match cell {
            Cell::Number { zero } => {
                self.zeros += usize::from(zero);
                self.numbers.add(|| text, line);
            }
            Cell::Missing => self.missing.add(|| text, line),
            Cell::Infinite => self.infinite.add(|| text, line),
            Cell::CommaNumber => self.comma_numbers.add(|| text, line),
            Cell::Text => self.texts.add(|| text, line),
        }
        cell
    }
}

impl Survey {
    pub(super) fn of(source: Source<'_>) -> Result<Self, ReadError> {
        let mut records = Records::of(source);
        let Some(first) = records.next()? else { return Err(Problem::Empty.into()) };
        let mut survey = Survey {
            first: first.cells().map(str::to_owned).collect(),
            first_line: Some(first.line),
            rest: vec![Holdings::default(); first.len()],
            rest_rows: 0,
        };
        while let Some(row) = records.next()? {
            survey.add(row);
        }
        Ok(survey)
    }

    fn add(&mut self, row: Row<'_>) {
        self.rest_rows += 1;
        for ((cell, column), first) in row.cells().zip(&mut self.rest).zip(&self.first) {
            if column.add(cell, row.line) == Cell::Text && cell == first {
                column.repeats_first = true;
            }
        }
    }
}
