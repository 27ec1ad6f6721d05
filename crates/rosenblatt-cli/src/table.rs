//! Aligned tables.

use std::fmt;

use unicode_width::UnicodeWidthStr;

use crate::style::DIM;

/// Rows under headings, indented by two, columns as wide as they need to be.
pub(crate) struct Table {
    headings: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A heading that starts with `>` has its column aligned right, as numbers are.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Table {
            headings: headings.iter().map(|heading| heading.trim_start_matches('>').to_owned()).collect(),
            right: headings.iter().map(|heading| heading.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.chain(self.headings.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[column].saturating_sub(cell.width()));
            line.push_str("  ");
            match self.right[column] {
                true => line.extend([pad.as_str(), cell]),
                false => line.extend([cell.as_str(), &pad]),
            }
        }
        line.trim_end().to_owned()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        if self.headings.iter().any(|heading| !heading.is_empty()) {
            writeln!(f, "{DIM}{}{DIM:#}", self.line(&self.headings, &widths))?;
        }
        for row in &self.rows {
            writeln!(f, "{}", self.line(row, &widths))?;
        }
        Ok(())
    }
}
