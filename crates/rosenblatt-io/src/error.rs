//! Errors that know their place.

use std::fmt;

use crate::Problem;

/// What is wrong with the data, and where.
///
/// ```
/// use rosenblatt_io::{Problem, ReadOptions, parse};
/// let error = parse(b"1 3:0.5 4\n", "a.svm", &ReadOptions::default()).unwrap_err();
/// assert_eq!(error.to_string(), "a.svm, line 1, column 9: expected index:value, found \"4\"");
/// assert_eq!((error.line(), error.column()), (Some(1), Some(9)));
/// assert_eq!(error.problem(), &Problem::ExpectedPair { found: "4".into() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(Box<Report>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    origin: String,
    line: Option<u64>,
    unit: Unit,
    column: Option<usize>,
    column_name: Option<String>,
    problem: Problem,
    hint: Option<String>,
}

/// What [`ReadError::line`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    Line,
    /// Binary files have no lines.
    Row,
}

impl ReadError {
    pub(crate) fn new(problem: Problem) -> Self {
        let hint = problem.hint();
        ReadError(Box::new(Report {
            origin: String::new(),
            line: None,
            unit: Unit::Line,
            column: None,
            column_name: None,
            problem,
            hint,
        }))
    }

    pub(crate) fn at_line(mut self, line: impl Into<Option<u64>>) -> Self {
        self.0.line = line.into();
        self
    }

    /// For a text of which so many lines came before what was read.
    pub(crate) fn lines_later(mut self, lines: u64) -> Self {
        self.0.line = self.0.line.map(|line| line + lines);
        self
    }

    pub(crate) fn counted_in(mut self, unit: Unit) -> Self {
        self.0.unit = unit;
        self
    }

    pub(crate) fn at_column(mut self, column: usize) -> Self {
        self.0.column = Some(column);
        self
    }

    /// Columns whose name is just their number are not named again.
    pub(crate) fn named(mut self, name: &str) -> Self {
        let is_number = self.0.column.is_some_and(|column| column.to_string() == name);
        self.0.column_name = (!is_number).then(|| name.to_owned());
        self
    }

    pub(crate) fn in_origin(mut self, origin: &str) -> Self {
        origin.clone_into(&mut self.0.origin);
        self
    }

    /// The file, as messages name it.
    pub fn origin(&self) -> &str {
        &self.0.origin
    }

    /// The line, counted from 1; the row where the file has no lines.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The column of a table, or the byte of a line of any other text, counted from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.column
    }

    /// The name of the table's column, if it has one.
    pub fn column_name(&self) -> Option<&str> {
        self.0.column_name.as_deref()
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// What may be done about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl From<Problem> for ReadError {
    fn from(problem: Problem) -> Self {
        ReadError::new(problem)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.origin)?;
        if let Some(line) = self.0.line {
            let unit = match self.0.unit {
                Unit::Line => "line",
                Unit::Row => "row",
            };
            write!(f, ", {unit} {line}")?;
        }
        if let Some(column) = self.0.column {
            write!(f, ", column {column}")?;
        }
        if let Some(name) = &self.0.column_name {
            write!(f, " ({name})")?;
        }
        write!(f, ": {}", self.0.problem)
    }
}

impl std::error::Error for ReadError {}
