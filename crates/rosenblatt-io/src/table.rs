//! A file that has been read.

use rosenblatt::{Classes, DataError, Dataset, Features, Labels, Matrix, Rows};

use crate::cell::is_missing;
use crate::error::ReadError;
use crate::tabular::refuse_no_classes;
use crate::{Hashing, Lines, Problem, Unknown};

/// A read file before its labels are encoded as classes.
///
/// ```
/// use rosenblatt::Rows;
/// use rosenblatt_io::{ReadOptions, parse};
/// let text = b"x,make,label\n1,ford,good\n2,bmw,bad\n";
/// let table = parse(text, "cars.csv", &ReadOptions::default())?;
/// assert_eq!(table.features.names.as_ref().unwrap(), &["x", "make=bmw", "make=ford"]);
/// assert_eq!(table.lines.get(1), Some(3));
/// let data = table.into_dataset()?;
/// assert_eq!(data.classes().listed(), "bad, good");
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file, as messages name it.
    pub origin: String,
    /// The feature vectors.
    pub x: Matrix<'static>,
    /// The labels as written, missing ones included. `None` where a table for prediction has no such column.
    pub labels: Option<Labels>,
    /// Sample weights, if a column gave them.
    pub weights: Option<Vec<f64>>,
    /// The features and where they came from; what the model expects, where that was given.
    pub features: Features,
    /// The line of each row.
    pub lines: Lines,
    /// What a model with names does not know of the features, where it was given.
    pub unknown: Option<Unknown>,
    /// Whether values may be missing (NaN).
    pub missing: bool,
    /// How names share buckets, where they were hashed to learn from.
    pub hashing: Option<Hashing>,
}

impl Table {
    /// A table without an origin, whose features are not looked up by name.
    pub(crate) fn new(
        x: Matrix<'static>,
        labels: Option<Labels>,
        weights: Option<Vec<f64>>,
        features: Features,
        lines: Lines,
    ) -> Self {
        let origin = String::new();
        Table { origin, x, labels, weights, features, lines, unknown: None, missing: false, hashing: None }
    }

    /// Data to learn from; refuses a single class.
    pub fn into_dataset(self) -> Result<Dataset<'static>, ReadError> {
        let labels = self.labels()?;
        if let Some(row) = (0..labels.len()).find(|&row| labels.text(row).is_empty()) {
            return Err(self.place(missing_label(""), row));
        }
        refuse_no_classes(labels).map_err(|problem| ReadError::new(problem).in_origin(&self.origin))?;
        let (classes, y) = labels.encode();
        if classes.len() < 2 {
            let problem = Problem::OneClass { class: classes.listed() };
            return Err(ReadError::new(problem).in_origin(&self.origin));
        }
        self.dataset(y, classes)
    }

    /// Data to measure a model on; its labels must name classes of the model.
    pub fn into_dataset_with(self, classes: &Classes) -> Result<Dataset<'static>, ReadError> {
        let y = self.labels()?.encode_as(classes).map_err(|error| self.explain(error))?;
        self.dataset(y, classes.clone())
    }

    /// Refuses labels that name no class of the model, where there are labels; missing ones are fine.
    pub fn check_labels(&self, classes: &Classes) -> Result<(), ReadError> {
        let Some(labels) = &self.labels else { return Ok(()) };
        let is_unknown = |label: &str| !is_missing(label) && classes.find(label).is_none();
        let Some(unknown) = labels.distinct().iter().find(|label| is_unknown(label)) else { return Ok(()) };
        // Distinct labels are in order of appearance, so this is the first in the file.
        let row = (0..labels.len()).find(|&row| labels.text(row) == unknown).unwrap_or_default();
        Err(self.place(Problem::UnknownClass { label: unknown.clone(), known: classes.listed() }, row))
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    fn labels(&self) -> Result<&Labels, ReadError> {
        self.labels.as_ref().ok_or_else(|| ReadError::new(Problem::NoLabels).in_origin(&self.origin))
    }

    fn place(&self, problem: Problem, row: usize) -> ReadError {
        let error = ReadError::new(problem).at_line(self.lines.get(row)).counted_in(self.lines.unit());
        error.in_origin(&self.origin)
    }

    fn explain(&self, error: DataError) -> ReadError {
        match error {
            DataError::UnknownClass { row, label, .. } if is_missing(&label) => {
                self.place(missing_label(&label), row)
            }
            DataError::UnknownClass { row, label, known } => {
                self.place(Problem::UnknownClass { label, known }, row)
            }
            other => ReadError::new(Problem::Data(other.to_string())).in_origin(&self.origin),
        }
    }

    fn dataset(self, y: Vec<u32>, classes: Classes) -> Result<Dataset<'static>, ReadError> {
        let Table { origin, x, weights, features, missing, .. } = self;
        let build = || {
            let mut data = match missing {
                true => Dataset::with_missing(x, y, classes)?,
                false => Dataset::with_classes(x, y, classes)?,
            };
            if let Some(weights) = weights {
                data = data.with_weights(weights)?;
            }
            if let Some(names) = features.names {
                data = data.with_names(names)?;
            }
            if let Some(bits) = features.hash {
                data = data.with_hash(bits)?;
            }
            data = data.with_texts(features.texts);
            Ok(match features.schema {
                Some(schema) => data.with_schema(schema),
                None => data,
            })
        };
        build()
            .map_err(|error: DataError| ReadError::new(Problem::Data(error.to_string())).in_origin(&origin))
    }
}

fn missing_label(text: &str) -> Problem {
    Problem::MissingLabel { text: text.to_owned(), column: String::new() }
}
