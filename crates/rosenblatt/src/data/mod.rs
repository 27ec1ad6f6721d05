//! Labelled feature vectors.

mod csr;
mod dense;
mod fingerprint;
mod impute;
mod labels;
mod matrix;
mod rows;
mod scale;
mod schema;
mod split;
mod text;

pub use csr::Csr;
pub use dense::Dense;
pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::FingerprintHasher;
pub use impute::{Imputation, Impute};
pub use labels::{Class, Classes, Labels};
pub use matrix::Matrix;
pub use rows::{Float, Rows, TOGETHER};
pub use scale::{Scale, Scaling};
pub use schema::{Column, Features, Role, Schema};
pub use split::{Split, stratified_folds, stratified_sample, stratified_split};
pub use text::{NgramKind, NgramRange, NotARange, TextColumn};

use thiserror::Error;

use crate::feature::FeatureMap;

/// What is wrong with data. Rows and columns are counted from 0 here; readers turn them into places in a file.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs, reason = "the messages say what each field is")]
pub enum DataError {
    #[error("there are no columns")]
    NoColumns,
    #[error("there are no rows")]
    NoRows,
    #[error("{len} values do not fill rows of {n_cols}")]
    Ragged { len: usize, n_cols: usize },
    #[error("row pointers must start at 0, never fall, and end at the number of entries")]
    RowPointers,
    #[error("the columns of row {} must be strictly ascending and below {n_cols}", row + 1)]
    Columns { row: usize, n_cols: usize },
    #[error("row {}, column {}: the value is not a finite number", row + 1, column + 1)]
    NotFinite { row: usize, column: usize },
    #[error("row {}, column {}: the value {value:e} is too large to be squared; scale it or leave it out", row + 1, column + 1)]
    TooLarge { row: usize, column: usize, value: f64 },
    #[error("{rows} rows, but {labels} {what}")]
    Lengths { rows: usize, labels: usize, what: &'static str },
    #[error("all rows have the class {class:?}; a classifier needs at least two classes")]
    OneClass { class: String },
    #[error("row {}: the class {label:?} is not one of {known}", row + 1)]
    UnknownClass { row: usize, label: String, known: String },
    #[error("row {}: the weight {weight} is not a finite number from 0 to {}", row + 1, Dataset::LARGEST_WEIGHT)]
    Weight { row: usize, weight: f64 },
    #[error("{found} features, where {expected} were expected")]
    Features { found: usize, expected: usize },
    #[error("{names} feature names for {columns} columns")]
    Names { names: usize, columns: usize },
    #[error(
        "scaling by `{scale}` moves zeros, so {rows} × {columns} sparse values would become {gib:.1} GiB of dense ones; use `maxabs` or `unit`, which keep zeros"
    )]
    Densify { scale: &'static str, rows: usize, columns: usize, gib: f64 },
    #[error(
        "{features} features need {gib:.1} GiB for weights, more than there is; look for a wrong feature index"
    )]
    Memory { features: usize, gib: f64 },
    #[error("the entries by column, which the solver asks for, need {gib:.1} GiB, more than there is")]
    Form { gib: f64 },
    #[error("row {}, column {}: the value is missing; fill in what is missing first (`Dataset::imputed`)", row + 1, column + 1)]
    Missing { row: usize, column: usize },
    #[error("there is no row {}, only {rows}", row + 1)]
    NoSuchRow { row: usize, rows: usize },
    #[error("{0}")]
    Unsuitable(String),
}

/// Whether `per_feature` numbers for each feature can be had at all: one wrong index in sparse data asks for 4 billion.
pub(crate) fn check_memory(features: usize, per_feature: usize) -> Result<(), DataError> {
    let numbers = features.saturating_mul(per_feature);
    let gib = numbers as f64 * 8.0 / (1u64 << 30) as f64;
    Vec::<f64>::new().try_reserve_exact(numbers).map_err(|_| DataError::Memory { features, gib })
}

/// Whether there is room for so many bytes of another form of the data.
pub(crate) fn check_form(bytes: usize) -> Result<(), DataError> {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| DataError::Form { gib })
}

/// Rows with their classes: what a learner learns from.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// assert_eq!(data.n_rows(), 3);
/// assert_eq!(data.classes().listed(), "-1, 1");
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset<'a> {
    x: Matrix<'a>,
    y: Vec<u32>,
    classes: Classes,
    weights: Option<Vec<f64>>,
    features: Features,
    /// Whether values may be missing (NaN).
    incomplete: bool,
}

impl<'a> Dataset<'a> {
    /// Online learners visit an example once per unit of weight, which must therefore stay countable.
    pub const LARGEST_WEIGHT: f64 = 1e6;

    /// Rows and their labels; refuses NaN, infinities and a single class.
    pub fn new(x: impl Into<Matrix<'a>>, labels: &Labels) -> Result<Self, DataError> {
        let (classes, y) = labels.encode();
        let data = Self::with_classes(x, y, classes)?;
        match data.classes.len() {
            0 | 1 => Err(DataError::OneClass { class: data.classes.listed() }),
            _ => Ok(data),
        }
    }

    /// Rows and the numbers of their classes among classes known beforehand, some of which may not occur.
    pub fn with_classes(x: impl Into<Matrix<'a>>, y: Vec<u32>, classes: Classes) -> Result<Self, DataError> {
        let data = Self::with_missing(x, y, classes)?;
        data.x.check_values()?;
        Ok(Dataset { incomplete: false, ..data })
    }

    /// The same where NaN stands for a value that is missing; [`imputed`](Dataset::imputed) fills these in, and until then nothing can be learned.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Impute, Labels, Learner, LinearSvm};
    /// let x = Dense::new(vec![1.0, f64::NAN, -1.0, 2.0], 1)?;
    /// let (classes, y) = Labels::new(["b", "b", "a", "b"]).encode();
    /// let data = Dataset::with_missing(x, y, classes)?;
    /// assert!(LinearSvm::default().fit(&data, &mut ()).is_err());
    /// let model = LinearSvm::default().fit(&data.imputed(Impute::Median)?, &mut ())?.model;
    /// // The model fills in what is missing of new rows alike.
    /// assert_eq!(model.predict(&Dense::new(vec![f64::NAN], 1)?.into())?, [1]);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn with_missing(x: impl Into<Matrix<'a>>, y: Vec<u32>, classes: Classes) -> Result<Self, DataError> {
        let x = x.into();
        if x.n_rows() == 0 {
            return Err(DataError::NoRows);
        }
        if x.n_rows() != y.len() {
            return Err(DataError::Lengths { rows: x.n_rows(), labels: y.len(), what: "labels" });
        }
        if let Some(row) = y.iter().position(|&class| class as usize >= classes.len()) {
            let (label, known) = (format!("number {}", y[row]), classes.listed());
            return Err(DataError::UnknownClass { row, label, known });
        }
        x.check_known_values()?;
        // Scaling keeps two numbers for each feature, the smallest model one.
        check_memory(x.n_cols(), 3)?;
        let features = Features { count: x.n_cols(), ..Features::default() };
        let incomplete = x.has_missing();
        Ok(Dataset { x, y, classes, weights: None, features, incomplete })
    }

    /// Sample weights: an example of weight 2 counts as two examples.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, DataError> {
        if weights.len() != self.n_rows() {
            let (rows, labels) = (self.n_rows(), weights.len());
            return Err(DataError::Lengths { rows, labels, what: "weights" });
        }
        let usable = |weight: &f64| (0.0..=Self::LARGEST_WEIGHT).contains(weight);
        if let Some(row) = weights.iter().position(|weight| !usable(weight)) {
            return Err(DataError::Weight { row, weight: weights[row] });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Names of the features.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, DataError> {
        if names.len() != self.x.n_cols() {
            return Err(DataError::Names { names: names.len(), columns: self.x.n_cols() });
        }
        self.features.names = Some(names);
        Ok(self)
    }

    /// How the columns of a table became these features; models keep it to read new tables alike.
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.features.schema = Some(schema);
        self
    }

    /// Features are buckets that names were hashed into, 2^bits of them; models keep it to read new names alike.
    pub fn with_hash(mut self, bits: u8) -> Result<Self, DataError> {
        if 1usize.checked_shl(bits.into()) != Some(self.x.n_cols()) {
            let problem = format!("{} features are not 2^{bits} buckets", self.x.n_cols());
            return Err(DataError::Unsuitable(problem));
        }
        self.features.hash = Some(bits);
        Ok(self)
    }

    /// The texts that some features are n-grams of; models keep them to read new texts alike.
    pub fn with_texts(mut self, texts: Vec<TextColumn>) -> Self {
        self.features.texts = texts;
        self
    }

    /// The feature vectors.
    pub fn x(&self) -> &Matrix<'a> {
        &self.x
    }

    /// The class number of each row.
    pub fn y(&self) -> &[u32] {
        &self.y
    }

    /// The classes in class order.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Sample weights, if any were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weight of a row: 1 unless weights were given.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The features and their names.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Bytes that it takes: those of rows, classes, weights and names.
    pub fn bytes(&self) -> usize {
        let weights = self.weights.as_ref().map_or(0, |weights| weights.len() * size_of::<f64>());
        let names = self.features.names.iter().flatten();
        let names: usize = names.map(|name| size_of::<String>() + name.len()).sum();
        self.x.bytes() + self.y.len() * size_of::<u32>() + weights + names
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.x.n_cols()
    }

    /// A copy of these rows only, all else kept.
    pub fn select(&self, rows: &[usize]) -> Dataset<'static> {
        Dataset {
            x: self.x.select(rows),
            y: rows.iter().map(|&i| self.y[i]).collect(),
            classes: self.classes.clone(),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
            features: self.features.clone(),
            incomplete: self.incomplete,
        }
    }

    /// The same rows, borrowed, with other weights: a row of weight 0 is as good as none.
    pub(crate) fn reweighted(&self, weights: Vec<f64>) -> Result<Dataset<'_>, DataError> {
        let (y, classes, features) = (self.y.clone(), self.classes.clone(), self.features.clone());
        let incomplete = self.incomplete;
        Dataset { x: self.x.view(), y, classes, weights: None, features, incomplete }.with_weights(weights)
    }

    /// Whether values are missing.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Refuses rows of which something is missing.
    pub(crate) fn check_complete(&self) -> Result<(), DataError> {
        match self.incomplete {
            true => {
                self.x.first_missing().map_or(Ok(()), |(row, column)| Err(DataError::Missing { row, column }))
            }
            false => Ok(()),
        }
    }

    /// The same examples with what is missing filled in, as these rows tell; models keep it to fill in new rows alike.
    pub fn imputed(self, kind: Impute) -> Result<Self, DataError> {
        let imputation = self.imputation(kind);
        self.imputed_by(&imputation)
    }

    /// What missing values of these features become, as these rows tell. Of a category that is missing, it is the level that most rows have (`median`, `most-frequent`), as much of each as there is of it (`mean`), or none (`constant`).
    pub fn imputation(&self, kind: Impute) -> Imputation {
        Imputation::of(kind, &self.x, &self.features)
    }

    /// The same by what other rows told.
    pub fn imputed_by(mut self, imputation: &Imputation) -> Result<Self, DataError> {
        let x = imputation.apply(self.x)?;
        x.check_values()?;
        self.features.filled = Some(imputation.clone());
        Ok(Dataset { x, incomplete: false, ..self })
    }

    /// The same examples after a scaling.
    pub fn scaled(self, scaling: &Scaling) -> Result<Self, DataError> {
        let x = scaling.apply(self.x)?;
        Ok(Dataset { x, ..self })
    }

    /// The same examples after a map, which knows the features from before.
    pub fn mapped(self, map: &FeatureMap) -> Result<Dataset<'static>, DataError> {
        let x = map.apply(&self.x)?;
        let features = Features { count: x.n_cols(), ..Features::default() };
        check_memory(x.n_cols(), 3)?;
        let incomplete = false;
        Ok(Dataset { x, features, y: self.y, classes: self.classes, weights: self.weights, incomplete })
    }

    /// What identifies this data in a model file.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = FingerprintHasher::default();
        hasher.rows(self);
        hasher.labels(self.y());
        hasher.weights(self.weights().unwrap_or_default());
        hasher.finish(self.n_features())
    }
}
