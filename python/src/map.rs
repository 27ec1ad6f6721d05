//! Feature maps behind the transformers.

use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rosenblatt::{
    Body, Classes, Csr, DataError, Dataset, Decision, Error, FeatureMap, Float, MapKind, Matrix, Model,
    Planes, Report, Tie,
};

use crate::background;
use crate::error::{exception, of_data};
use crate::rows::Rows;

/// A fitted map. Pickles as a model file whose learned part is nothing but zeros.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Map {
    map: Arc<FeatureMap>,
}

#[pymethods]
impl Map {
    /// Fitted to rows; `kind` as the command line has it, such as `poly:2`.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        kind: &str,
        rows: Rows<'_>,
        names: Option<Vec<String>>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let kind: MapKind = kind.parse().map_err(|e| exception(Error::Param(e)))?;
        let (view, n_rows) = (rows.view()?, rows.n_rows());
        let fitted = background::run(py, threads, None, |_| -> Result<FeatureMap, DataError> {
            let classes = Classes::new(vec![0.0.into()]);
            let data = Dataset::with_classes(view.matrix()?, vec![0; n_rows], classes)?;
            match names {
                Some(names) => FeatureMap::fit(kind, &data.with_names(names)?, seed),
                None => FeatureMap::fit(kind, &data, seed),
            }
        });
        Ok(Map { map: Arc::new(fitted?.map_err(of_data)?) })
    }

    /// The mapped rows: an array, or the three arrays of a sparse one.
    fn apply<'py>(&self, py: Python<'py>, rows: Rows<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let view = rows.view()?;
        let map = &self.map;
        let mapped = background::run(py, threads, None, |_| {
            let x = view.matrix()?;
            x.check_values()?;
            map.apply(&x)
        })?;
        let (n_rows, width) = (rows.n_rows(), self.n_outputs());
        match mapped.map_err(of_data)? {
            Matrix::DenseF32(x) => {
                Ok(PyArray1::from_slice(py, x.values()).reshape([n_rows, width])?.into_any())
            }
            Matrix::DenseF64(x) => {
                Ok(PyArray1::from_slice(py, x.values()).reshape([n_rows, width])?.into_any())
            }
            Matrix::CsrF32(x) => sparse(py, &x),
            Matrix::CsrF64(x) => sparse(py, &x),
        }
    }

    /// How many features it makes.
    #[getter]
    fn n_outputs(&self) -> usize {
        self.map.n_outputs()
    }

    /// What feature `j` of the result is.
    fn name(&self, j: usize) -> String {
        self.map.name(j)
    }

    /// A model file that has the map in it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let model = Model {
            classes: Classes::new(vec![0.0.into(), 1.0.into()]),
            features: self.map.inputs.clone(),
            scaling: None,
            map: Some(FeatureMap::clone(&self.map)),
            decision: Decision::Sign(Tie::Negative),
            body: Body::Linear(Planes::zeros(1, self.map.n_outputs(), false)),
            link: None,
        };
        let fit = rosenblatt::Fit { model, report: Report::default() };
        let bytes = fit.to_bytes().map_err(|e| exception(Error::from(e)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The map of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let fit = rosenblatt::Fit::from_bytes(bytes).map_err(|e| exception(Error::from(e)))?;
        let map = fit.model.map.ok_or_else(|| PyValueError::new_err("there is no map in this model"))?;
        Ok(Map { map: Arc::new(map) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Map>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }
}

/// Values, columns and row pointers.
fn sparse<'py, T: Float + numpy::Element>(py: Python<'py>, x: &Csr<'_, T>) -> PyResult<Bound<'py, PyAny>> {
    let columns: Vec<i64> = x.columns().iter().map(|&j| i64::from(j)).collect();
    let pointers: Vec<i64> = x.pointers().iter().map(|&p| p as i64).collect();
    let arrays = (
        PyArray1::from_slice(py, x.values()),
        PyArray1::from_vec(py, columns),
        PyArray1::from_vec(py, pointers),
    );
    Ok(arrays.into_pyobject(py)?.into_any())
}
