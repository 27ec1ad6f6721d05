//! Python functions as kernels: asked for blocks of values, as a call of Python costs more than many values do.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rosenblatt::{BlockKernel, Matrix, Rows, UserKernel};

/// The first exception that a function raised: blocks are evaluated where none can be.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// The exception, if there was one, else what came out.
    pub(crate) fn or<T>(&self, result: PyResult<T>) -> PyResult<T> {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(result, Err)
    }
}

/// K(X, Z) as Python computes it.
struct Function {
    function: Py<PyAny>,
    /// Whether it is given SciPy's sparse arrays, as it is fitted with such.
    sparse: bool,
    raised: Raised,
}

/// A kernel, and where its exceptions are found.
pub(crate) fn of(function: &Bound<'_, PyAny>, sparse: bool) -> PyResult<(UserKernel, Raised)> {
    let name = match function.getattr("__name__") {
        Ok(name) => name.extract()?,
        Err(_) => function.get_type().name()?.to_string(),
    };
    let raised = Raised::default();
    let kernel = Function { function: function.clone().unbind(), sparse, raised: raised.clone() };
    Ok((UserKernel::new(&name, kernel), raised))
}

impl BlockKernel for Function {
    fn block(&self, x: &Matrix<'_>, rows: &[usize], z: &Matrix<'_>, out: &mut [f32]) {
        let evaluated = Python::attach(|py| self.evaluate(py, x, rows, z, out));
        if let Err(error) = evaluated {
            self.raised.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            // Which nobody takes for a value.
            out.fill(f32::NAN);
        }
    }
}

impl Function {
    fn evaluate(
        &self,
        py: Python<'_>,
        x: &Matrix<'_>,
        rows: &[usize],
        z: &Matrix<'_>,
        out: &mut [f32],
    ) -> PyResult<()> {
        py.check_signals()?;
        let n_cols = x.n_cols().max(z.n_cols());
        let all: Vec<usize> = (0..z.n_rows()).collect();
        let values = match self.sparse {
            true => self.function.call1(py, (sparse(py, x, rows, n_cols)?, sparse(py, z, &all, n_cols)?))?,
            false => self.function.call1(py, (dense(py, x, rows, n_cols)?, dense(py, z, &all, n_cols)?))?,
        };
        let values = values.call_method1(py, "__array__", ())?;
        let values = values.call_method1(py, "astype", ("float64",))?;
        let values = values.bind(py).cast::<PyArray2<f64>>().map_err(|_| not_a_block(rows, &all))?.readonly();
        let values = values.as_array();
        if values.dim() != (rows.len(), all.len()) {
            return Err(not_a_block(rows, &all));
        }
        out.iter_mut().zip(values.iter()).for_each(|(out, value)| *out = *value as f32);
        Ok(())
    }
}

fn not_a_block(rows: &[usize], all: &[usize]) -> PyErr {
    PyValueError::new_err(format!(
        "the kernel function must return an array with a row for each row of its first argument and a column for each row of its second: ({}, {}) here",
        rows.len(),
        all.len()
    ))
}

fn dense<'py>(
    py: Python<'py>,
    x: &Matrix<'_>,
    rows: &[usize],
    n_cols: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut values = vec![0.0; rows.len() * n_cols];
    for (&i, row) in rows.iter().zip(values.chunks_mut(n_cols)) {
        x.each(i, |j, v| row[j] = v);
    }
    PyArray1::from_vec(py, values).reshape([rows.len(), n_cols])
}

fn sparse<'py>(
    py: Python<'py>,
    x: &Matrix<'_>,
    rows: &[usize],
    n_cols: usize,
) -> PyResult<Bound<'py, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (mut pointers, mut columns, mut values) = (vec![0i64], Vec::new(), Vec::new());
    for &i in rows {
        x.each(i, |j, v| {
            columns.push(j as i64);
            values.push(v);
        });
        pointers.push(columns.len() as i64);
    }
    let arrays =
        (PyArray1::from_vec(py, values), PyArray1::from_vec(py, columns), PyArray1::from_vec(py, pointers));
    let array = ARRAY.import(py, "scipy.sparse", "csr_array")?;
    array.call1((arrays, (rows.len(), n_cols)))
}
