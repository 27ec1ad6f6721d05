//! What was learned, behind every fitted estimator.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rosenblatt::{Body, Error, Expansion, Model, Rows as _};

use crate::background;
use crate::error::{exception, of_data};
use crate::examples::Name;
use crate::kernel::Raised;
use crate::rows::Rows;

/// A model and its report. Pickles as its model file.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Fit {
    fit: Arc<rosenblatt::Fit>,
    raised: Raised,
}

impl Fit {
    pub(crate) fn new(fit: rosenblatt::Fit, raised: Raised) -> Self {
        Fit { fit: Arc::new(fit), raised }
    }

    pub(crate) fn of_shared(fit: Arc<rosenblatt::Fit>, raised: Raised) -> Self {
        Fit { fit, raised }
    }

    pub(crate) fn shared(&self) -> Arc<rosenblatt::Fit> {
        Arc::clone(&self.fit)
    }

    /// What the model makes of each row's scores, row after row.
    fn of_scores<T: Send>(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        threads: usize,
        each: impl Fn(&Model, &[f64]) -> Vec<T> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let (view, model) = (rows.view()?, &self.fit.model);
        let computed = background::run(py, threads, None, |_| {
            let scores = model.scores(&view.matrix()?)?;
            let width = model.body.n_scores().max(1);
            Ok(scores.chunks(width).flat_map(|scores| each(model, scores)).collect())
        });
        let computed = self.raised.or(computed)?;
        self.raised.or(computed.map_err(of_data))
    }
}

/// So many rows of numbers.
fn table(py: Python<'_>, values: Vec<f64>, rows: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let width = values.len() / rows.max(1);
    PyArray1::from_vec(py, values).reshape([rows, width])
}

#[pymethods]
impl Fit {
    /// From the bytes of a model file, which may be anybody's.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let fit = rosenblatt::Fit::from_bytes(bytes).map_err(|e| exception(Error::from(e)))?;
        Ok(Fit::new(fit, Raised::default()))
    }

    /// The model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.fit.to_bytes()).map_err(|e| exception(Error::from(e)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Fit>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    /// Nothing changes it.
    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    /// The report, as JSON.
    fn report(&self) -> PyResult<String> {
        serde_json::to_string(&self.fit.report).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// The classes in class order.
    fn classes(&self) -> Vec<Name> {
        self.fit.model.classes.iter().map(Name::from).collect()
    }

    /// The names of the features, if they have any.
    fn names(&self) -> Option<Vec<String>> {
        self.fit.model.features.names.clone()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.fit.model.features.count
    }

    /// Whether each pair of classes has a score.
    #[getter]
    fn in_pairs(&self) -> bool {
        self.fit.model.decision.pair_tie().is_some()
    }

    /// Whether scores tell probabilities.
    #[getter]
    fn is_probabilistic(&self) -> bool {
        let model = &self.fit.model;
        model.link.as_ref().is_some_and(|link| link.tells(model.decision))
    }

    /// For each row the place of its class.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let places = self.of_scores(py, &rows, threads, |model, scores| vec![model.decide(scores) as u32])?;
        Ok(PyArray1::from_vec(py, places))
    }

    /// The scores themselves: one, one a class, or one a pair of classes.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scores = self.of_scores(py, &rows, threads, |_, scores| scores.to_vec())?;
        table(py, scores, rows.n_rows())
    }

    /// One score a class, the highest that of the predicted one; of two classes the second's alone.
    fn class_scores<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scores = self.of_scores(py, &rows, threads, |model, scores| match scores {
            [_] => scores.to_vec(),
            _ => model.decision.class_scores(scores, model.classes.len()),
        })?;
        table(py, scores, rows.n_rows())
    }

    /// One probability a class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if !self.is_probabilistic() {
            return Err(PyValueError::new_err("the scores of this model tell no probabilities"));
        }
        let of_row = |model: &Model, scores: &[f64]| model.probabilities(scores).unwrap_or_default();
        let probabilities = self.of_scores(py, &rows, threads, of_row)?;
        table(py, probabilities, rows.n_rows())
    }

    /// A row of weights for each plane, and the biases; nothing where there are no planes.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Option<Planes<'py>>> {
        let Some(planes) = self.fit.model.body.planes() else { return Ok(None) };
        let weights: Vec<f64> = (0..planes.k()).flat_map(|c| planes.normal(c)).collect();
        let weights = PyArray1::from_vec(py, weights).reshape([planes.k(), planes.n_cols()])?;
        Ok(Some((weights, PyArray1::from_slice(py, planes.bias()))))
    }

    /// Stored examples and their coefficients; nothing where there are none.
    fn expansion<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        match &self.fit.model.body {
            Body::Kernel(expansion) => described(py, expansion).map(Some),
            Body::Linear(_) | Body::Voted(_) | Body::Bayes(_) | Body::Layers(_) => Ok(None),
        }
    }
}

/// Weights and biases.
type Planes<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

fn described<'py>(py: Python<'py>, expansion: &Expansion) -> PyResult<Bound<'py, PyDict>> {
    let rows = expansion.rows();
    let (mut pointers, mut columns, mut values) = (vec![0i64], Vec::new(), Vec::new());
    for i in 0..rows.n_rows() {
        rows.each(i, |j, v| {
            columns.push(j as i64);
            values.push(v);
        });
        pointers.push(columns.len() as i64);
    }
    let numbers: Vec<i64> = expansion.numbers().iter().map(|&number| number as i64).collect();
    let description = PyDict::new(py);
    description.set_item("kernel", expansion.kernel().formula())?;
    description.set_item("machine", expansion.is_machine())?;
    description.set_item("numbers", PyArray1::from_vec(py, numbers))?;
    description.set_item("coefficients", table(py, expansion.coefficients(), expansion.len())?)?;
    description.set_item("offsets", PyArray1::from_vec(py, expansion.offsets()))?;
    description.set_item("lifted", expansion.is_lifted())?;
    description.set_item("indptr", PyArray1::from_vec(py, pointers))?;
    description.set_item("indices", PyArray1::from_vec(py, columns))?;
    description.set_item("data", PyArray1::from_vec(py, values))?;
    description.set_item("shape", (rows.n_rows(), rows.n_cols()))?;
    Ok(description)
}
