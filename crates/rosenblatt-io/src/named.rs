//! Rows whose features have names instead of places.

use rosenblatt::{Csr, Dense, Features, Labels, Matrix};

use crate::builder::Value;
use crate::error::ReadError;
use crate::names::{Fresh, Names, Unknown};
use crate::row::{Fault, Repeats, Row};
use crate::text::TextRows;
use crate::{Lines, Problem, Table};

/// The rows of some whole lines. Their columns are those of the [`Names`] they were read with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedRows<T> {
    /// Where each row begins, and the end.
    pub(crate) pointers: Vec<u64>,
    /// Ascending in each row.
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<T>,
    pub(crate) labels: Labels,
    /// Rows without a weight weigh 1, and so do all if none has one.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) lines: Lines,
    /// What a model with names does not know.
    pub(crate) unknown: Unknown,
}

/// The same as a matrix.
pub(crate) struct Lot {
    pub(crate) x: Matrix<'static>,
    pub(crate) labels: Labels,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) lines: Lines,
}

impl<T> Default for NamedRows<T> {
    fn default() -> Self {
        NamedRows {
            pointers: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            labels: Labels::default(),
            weights: None,
            lines: Lines::default(),
            unknown: Unknown::default(),
        }
    }
}

impl<T: Value> NamedRows<T> {
    /// The entries of a row, then all else about it.
    pub(crate) fn push(
        &mut self,
        row: &mut Row<T>,
        label: &str,
        weight: f64,
        line: u64,
        repeats: Repeats,
    ) -> Result<(), Fault> {
        self.push_entries(row, repeats)?;
        push_weight(&mut self.weights, weight, self.lines.len());
        self.labels.push(label);
        self.lines.push(line);
        Ok(())
    }

    fn push_entries(&mut self, row: &mut Row<T>, repeats: Repeats) -> Result<(), Fault> {
        let start = self.columns.len();
        self.columns.resize(start + row.len(), 0);
        self.values.resize(start + row.len(), T::narrow(0.0));
        let written = row.write(&mut self.columns[start..], &mut self.values[start..], repeats)?;
        self.columns.truncate(start + written);
        self.values.truncate(start + written);
        self.pointers.push(self.columns.len() as u64);
        Ok(())
    }

    /// Adds the n-grams of texts to all rows.
    pub(crate) fn add_texts(&mut self, names: &Names, texts: &mut [TextRows]) -> Result<(), ReadError> {
        if texts.is_empty() {
            return Ok(());
        }
        let pointers = std::mem::replace(&mut self.pointers, vec![0]);
        let (columns, values) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.values));
        let mut row = Row::new();
        for (number, ends) in pointers.windows(2).enumerate() {
            (ends[0] as usize..ends[1] as usize).for_each(|at| row.push(columns[at], values[at]));
            for text in &mut *texts {
                text.next(|feature, value| row.push(feature as u32, T::narrow(value)));
            }
            self.push_entries(&mut row, Repeats::Refuse).map_err(|fault| {
                let problem = fault.explain(|column| names.shown(column, &Fresh::default()));
                ReadError::new(problem).at_line(self.lines.get(number))
            })?;
        }
        Ok(())
    }

    /// Rows that follow, read with the same names.
    #[cfg(test)]
    pub(crate) fn append(&mut self, other: NamedRows<T>) {
        let before = self.columns.len() as u64;
        self.pointers.extend(other.pointers[1..].iter().map(|end| before + end));
        self.columns.extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
        self.append_facts(&other);
    }

    /// All but the entries and their pointers of rows that follow.
    pub(crate) fn append_facts(&mut self, other: &NamedRows<T>) {
        if other.weights.is_some() && self.weights.is_none() {
            self.weights = Some(vec![1.0; self.lines.len()]);
        }
        if let Some(weights) = &mut self.weights {
            match &other.weights {
                Some(more) => weights.extend_from_slice(more),
                None => weights.resize(weights.len() + other.lines.len(), 1.0),
            }
        }
        self.labels.append(&other.labels);
        self.lines.append(&other.lines, 0);
        self.unknown.entries += other.unknown.entries;
        self.unknown.of += other.unknown.of;
    }

    /// `model` must be what the names were made for.
    pub(crate) fn into_table(
        self,
        names: &Names,
        model: Option<&Features>,
        dense: DenseWhen,
    ) -> Result<Table, ReadError> {
        if self.lines.is_empty() {
            return Err(Problem::Empty.into());
        }
        let features = names.features(model)?;
        let unknown = matches!(names, Names::Known(_)).then_some(self.unknown);
        let lot = self.into_lot(features.count, dense)?;
        let table = Table::new(lot.x, Some(lot.labels), lot.weights, features, lot.lines);
        Ok(Table { unknown, hashing: names.hashing(), ..table })
    }

    /// The rows over so many columns.
    pub(crate) fn into_lot(self, width: usize, dense: DenseWhen) -> Result<Lot, ReadError> {
        let x = matrix(self.pointers, self.columns, self.values, width, dense)
            .map_err(|error| Problem::Data(error.to_string()))?;
        Ok(Lot { x, labels: self.labels, weights: self.weights, lines: self.lines })
    }
}

/// The weight of the row after `rows` others, of which none had a weight but 1 if there are no weights yet.
pub(crate) fn push_weight(weights: &mut Option<Vec<f64>>, weight: f64, rows: usize) {
    if weight != 1.0 && weights.is_none() {
        *weights = Some(vec![1.0; rows]);
    }
    if let Some(weights) = weights {
        weights.push(weight);
    }
}

/// When rows are better kept dense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DenseWhen {
    Never,
    /// Zeros cost less than the columns of the other entries.
    Smaller,
}

impl DenseWhen {
    pub(crate) fn applies<T>(self, rows: usize, entries: usize, width: usize) -> bool {
        let sparse_bytes = entries * (size_of::<T>() + size_of::<u32>()) + (rows + 1) * size_of::<u64>();
        let dense_bytes = rows.saturating_mul(width).saturating_mul(size_of::<T>());
        self == DenseWhen::Smaller && width > 0 && dense_bytes <= sparse_bytes
    }
}

fn matrix<T: Value>(
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
    width: usize,
    dense: DenseWhen,
) -> Result<Matrix<'static>, rosenblatt::DataError> {
    let rows = pointers.len() - 1;
    if !dense.applies::<T>(rows, columns.len(), width) {
        return Csr::new(pointers, columns, values, width).map(T::sparse);
    }
    let mut cells = vec![T::narrow(0.0); rows * width];
    for (row, ends) in cells.chunks_exact_mut(width).zip(pointers.windows(2)) {
        for at in ends[0] as usize..ends[1] as usize {
            row[columns[at] as usize] = values[at];
        }
    }
    Dense::new(cells, width).map(T::dense)
}
