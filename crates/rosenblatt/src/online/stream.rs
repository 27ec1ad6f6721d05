//! Examples as they come, one at a time, for as long as they come.

use super::{Added, State};
use crate::data::{Class, Classes, Csr, DataError, Dense, Features, Float, Matrix, Rows, check_memory};
use crate::learner::Fit;
use crate::model::Model;
use crate::report::Report;

/// One example's features.
#[derive(Clone, Copy, Debug)]
pub enum Example<'a, T: Float = f64> {
    /// All values.
    Dense(&'a [T]),
    /// Columns (from 0, ascending) and their values.
    Sparse(&'a [u32], &'a [T]),
}

impl<'a, T: Float> Example<'a, T> {
    /// Only the first `n_cols` features.
    fn within(self, n_cols: usize) -> Self {
        match self {
            Example::Dense(values) => Example::Dense(&values[..values.len().min(n_cols)]),
            Example::Sparse(columns, values) => {
                let known = columns.partition_point(|&j| (j as usize) < n_cols).min(values.len());
                Example::Sparse(&columns[..known], &values[..known])
            }
        }
    }
}

/// A learner that sees examples one at a time. Classes and features may appear at any time.
///
/// ```
/// use rosenblatt::{Example, Learner, Perceptron};
/// let mut stream = Perceptron::default().stream()?;
/// for _ in 0..5 {
///     stream.update(Example::Dense(&[3.0, 2.0]), "yes")?;
///     stream.update(Example::Dense(&[-2.0, 2.0]), "no")?;
/// }
/// stream.update(Example::Sparse(&[7], &[1.0]), "maybe")?; // a new class, a new feature
/// assert_eq!(stream.predict(Example::Dense(&[3.0, 2.0]))?.to_string(), "yes");
/// let model = stream.model();
/// assert_eq!(model.classes.listed(), "maybe, no, yes");
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub struct Stream {
    /// What the report of a saved stream says of its learner.
    about: Report,
    state: Box<dyn State>,
    /// What the learner asks of a row beyond finite numbers.
    check: Check,
    classes: Classes,
    n_cols: usize,
    mistakes: u64,
    updates: u64,
    seen: u64,
}

/// The number of the first row, from 0, is for messages.
pub(crate) type Check = Box<dyn Fn(&Matrix<'_>, u64) -> Result<(), DataError> + Send + Sync>;

impl Stream {
    pub(crate) fn new(
        about: Report,
        state: Box<dyn State>,
        classes: Classes,
        n_cols: usize,
        check: Check,
    ) -> Self {
        Stream { about, state, check, classes, n_cols, mistakes: 0, updates: 0, seen: 0 }
    }

    /// Learns from one example; true if the model changed.
    pub fn update<T: Float>(&mut self, x: Example<'_, T>, label: &str) -> Result<bool, DataError>
    where
        for<'a> Matrix<'a>: FromExample<'a, T>,
    {
        self.update_weighted(x, label, 1.0)
    }

    /// Learns from one example that counts `weight` times.
    pub fn update_weighted<T: Float>(
        &mut self,
        x: Example<'_, T>,
        label: &str,
        weight: f64,
    ) -> Result<bool, DataError>
    where
        for<'a> Matrix<'a>: FromExample<'a, T>,
    {
        let row = Matrix::from_example(x, self.n_cols)?;
        if !(0.0..=crate::Dataset::LARGEST_WEIGHT).contains(&weight) {
            return Err(DataError::Weight { row: self.seen as usize, weight });
        }
        (self.check)(&row, self.seen)?;
        self.check_growth(&row)?;
        self.near(&row, &[0][..usize::from(weight > 0.0)])?;
        let class = self.classes.find(label).unwrap_or_else(|| self.admit(label));
        self.learn_class(&row, 0, class, weight)
    }

    fn check_growth(&self, x: &Matrix<'_>) -> Result<(), DataError> {
        if x.n_cols() <= self.n_cols {
            return Ok(());
        }
        // Weights, their sums or variances, and room to move them.
        check_memory(x.n_cols(), 3 * (self.classes.len() + 1))
    }

    /// Makes sure that rows can be learned from, and room for their features. The first is number `first`, from 0.
    pub(super) fn admit_rows(&mut self, x: &Matrix<'_>, first: u64) -> Result<(), DataError> {
        (self.check)(x, first)?;
        self.check_growth(x)?;
        self.grow(x.n_cols());
        Ok(())
    }

    fn grow(&mut self, n_cols: usize) {
        if n_cols > self.n_cols {
            self.n_cols = n_cols;
            self.state.grow(n_cols);
        }
    }

    /// Learns from row `i` of a matrix that has been checked; its class is known.
    pub(crate) fn learn_class(
        &mut self,
        x: &Matrix<'_>,
        i: usize,
        class: usize,
        weight: f64,
    ) -> Result<bool, DataError> {
        self.grow(x.n_cols());
        let visit = self.state.update(x, i, class, weight);
        // One row is the example that has come, several are those of a trace.
        let first = if x.n_rows() == 1 { self.seen } else { 0 };
        self.state.sound(x, first)?;
        self.seen += 1;
        self.mistakes += visit.mistakes;
        self.updates += visit.updates;
        Ok(visit.updates > 0)
    }

    fn admit(&mut self, label: &str) -> usize {
        let (at, _) = self.classes.insert(Class::from(label));
        self.state.add_class(at);
        at
    }

    /// The scores of an example under the current weights.
    pub(crate) fn scores(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        self.state.scores(x, i)
    }

    /// The class of an example, by the model as it is now. Features never learned from weigh nothing.
    pub fn predict<T: Float>(&self, x: Example<'_, T>) -> Result<Class, DataError>
    where
        for<'a> Matrix<'a>: FromExample<'a, T>,
    {
        if self.classes.is_empty() || self.n_cols == 0 {
            return Err(DataError::NoRows);
        }
        let row = Matrix::from_example(x.within(self.n_cols), self.n_cols)?;
        self.near(&row, &[0])?;
        let (decision, n_classes) = (self.state.decision(), self.classes.len());
        let scores = self.state.output(&row, 0);
        self.state.sound(&row, 0)?;
        Ok(self.classes[decision.decide(&scores, n_classes)].clone())
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        Model {
            classes: self.classes.clone(),
            features: Features { count: self.n_cols, ..Features::default() },
            scaling: None,
            map: None,
            decision: self.state.decision(),
            body: self.state.body(),
            link: None,
        }
    }

    /// The model as it is now with a report of the stream so far: what a model file holds.
    ///
    /// ```
    /// use rosenblatt::{Example, Fit, Learner, Perceptron};
    /// let mut stream = Perceptron::default().stream()?;
    /// stream.update(Example::Dense(&[3.0, 2.0]), "yes")?;
    /// stream.update(Example::Dense(&[-2.0, 2.0]), "no")?;
    /// let bytes = stream.fit().to_bytes()?;
    /// assert_eq!(Fit::from_bytes(&bytes)?.report.rows, 2);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn fit(&self) -> Fit {
        let report =
            Report { rows: self.seen, mistakes: self.mistakes, updates: self.updates, ..self.about.clone() };
        Fit { model: self.model(), report }
    }

    pub(super) fn about(&self) -> &Report {
        &self.about
    }

    pub(super) fn classes(&self) -> &Classes {
        &self.classes
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_cols
    }

    /// Takes up a state of these classes that was saved.
    pub(super) fn restore(&mut self, state: &[u8], n_cols: usize) -> Option<()> {
        self.state.restore(state, n_cols)?;
        self.n_cols = n_cols;
        Some(())
    }

    pub(super) fn state(&self) -> &dyn State {
        self.state.as_ref()
    }

    pub(super) fn state_mut(&mut self) -> &mut dyn State {
        self.state.as_mut()
    }

    pub(crate) fn n_planes(&self) -> usize {
        self.state.decision().n_scores(self.classes.len())
    }

    /// Whether several binary problems stand for many classes.
    pub(crate) fn is_reduced(&self) -> bool {
        !self.state.problems().is_empty()
    }

    /// Whether rows, in the order they are to be learned from, can be told apart from what was learned from first.
    pub(crate) fn near(&self, x: &Matrix<'_>, rows: &[usize]) -> Result<(), DataError> {
        self.state.near(x, rows)
    }

    /// The weights the next example will meet.
    pub(crate) fn current(&self) -> Option<crate::model::Planes> {
        self.state.current()
    }

    /// What examples stand for in the planes.
    pub(crate) fn added(&self) -> Added {
        self.state.added()
    }

    /// Wrong predictions so far, over all binary problems of a reduction.
    pub fn mistakes(&self) -> u64 {
        self.mistakes
    }

    /// Changes of the model so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Examples seen so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}

/// One row as a matrix, without copying its values.
pub trait FromExample<'a, T: Float>: Sized {
    /// At least `n_cols` wide, wider if the example is.
    fn from_example(x: Example<'a, T>, n_cols: usize) -> Result<Self, DataError>;
}

impl<'a, T: Float> FromExample<'a, T> for Matrix<'a>
where
    Matrix<'a>: From<Dense<'a, T>> + From<Csr<'a, T>>,
{
    fn from_example(x: Example<'a, T>, n_cols: usize) -> Result<Self, DataError> {
        let matrix: Matrix<'a> = match x {
            Example::Dense(values) => Dense::new(values, values.len())?.into(),
            Example::Sparse(columns, values) => {
                let width = columns.last().map_or(1, |&j| j as usize + 1).max(n_cols);
                Csr::new(vec![0, columns.len() as u64], columns, values, width)?.into()
            }
        };
        matrix.check_values().map(|()| matrix)
    }
}
