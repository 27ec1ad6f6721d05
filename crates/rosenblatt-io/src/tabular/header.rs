//! Whether the first row names the columns.

use std::collections::{HashMap, HashSet};

use super::survey::{Holdings, Survey};
use crate::cell::Cell;
use crate::error::ReadError;
use crate::{Problem, ReadOptions};

/// The columns of a table once it is known whether the first row is one of data.
pub(super) struct Columns {
    pub(super) header: bool,
    /// From the header, or numbers from 1.
    pub(super) names: Vec<String>,
    pub(super) holdings: Vec<Holdings>,
    pub(super) rows: usize,
}

/// Decides by the options, or else by the content.
pub(super) fn resolve(survey: Survey, options: &ReadOptions) -> Result<Columns, ReadError> {
    let header = options.header.unwrap_or_else(|| looks_like_header(&survey));
    columns(survey, header)
}

/// Takes the first row as a header or as data.
pub(super) fn columns(survey: Survey, header: bool) -> Result<Columns, ReadError> {
    let Survey { first, first_line, mut rest, rest_rows } = survey;
    if header {
        if rest_rows == 0 {
            return Err(Problem::OnlyHeader.into());
        }
        let names = named(first, first_line)?;
        return Ok(Columns { header, names, holdings: rest, rows: rest_rows });
    }
    first.iter().zip(&mut rest).for_each(|(cell, column)| {
        column.add(cell, first_line.unwrap_or_default());
    });
    let names = (1..=first.len()).map(|number| number.to_string()).collect();
    Ok(Columns { header, names, holdings: rest, rows: rest_rows + 1 })
}

/// A header has a text above a column of numbers, or else nothing but distinct texts that occur nowhere below.
fn looks_like_header(survey: &Survey) -> bool {
    let is_text = |cell: &String| Cell::of(cell) == Cell::Text;
    let columns = || survey.first.iter().zip(&survey.rest);
    let tops_numbers = |(cell, column): (&String, &Holdings)| {
        let numbers = column.numbers.count + column.infinite.count;
        is_text(cell) && numbers > 0 && column.texts.count + column.comma_numbers.count == 0
    };
    let mut seen = HashSet::new();
    columns().any(tops_numbers)
        || (survey.first.iter().all(|cell| is_text(cell) || cell.is_empty())
            && columns().all(|(_, column)| !column.repeats_first)
            && survey.first.iter().all(|cell| seen.insert(cell)))
}

/// Columns without a name go by their number.
fn named(first: Vec<String>, line: Option<u64>) -> Result<Vec<String>, ReadError> {
    let mut seen = HashMap::new();
    let mut names = Vec::with_capacity(first.len());
    for (column, cell) in first.into_iter().enumerate() {
        let name = if cell.is_empty() { (column + 1).to_string() } else { cell };
        if let Some(earlier) = seen.insert(name.clone(), column + 1) {
            let problem = Problem::DuplicateColumn { name, first: earlier };
            return Err(ReadError::new(problem).at_line(line).at_column(column + 1));
        }
        names.push(name);
    }
    Ok(names)
}
