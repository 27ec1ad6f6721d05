//! NumPy arrays and SciPy's compressed sparse rows as rows of the library, borrowed where their layout allows.

use std::borrow::Cow;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rosenblatt::{Csr, DataError, Dense, Matrix};

/// A two-dimensional array, or what has the three arrays of a sparse one. They stay borrowed from Python as long as this lives.
pub(crate) struct Rows<'py> {
    n_cols: usize,
    entries: Entries<'py>,
}

enum Entries<'py> {
    DenseSingle(PyReadonlyArray2<'py, f32>),
    DenseDouble(PyReadonlyArray2<'py, f64>),
    Sparse { values: Values<'py>, columns: Whole<'py>, pointers: Whole<'py> },
}

#[derive(FromPyObject)]
enum Values<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

/// Indices of either width.
#[derive(FromPyObject)]
enum Whole<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (_, n_cols): (usize, usize) = x.getattr("shape")?.extract()?;
        let entries = if x.hasattr("indptr")? {
            Entries::Sparse {
                values: x.getattr("data")?.extract()?,
                columns: x.getattr("indices")?.extract()?,
                pointers: x.getattr("indptr")?.extract()?,
            }
        } else if let Ok(values) = x.extract() {
            Entries::DenseSingle(values)
        } else {
            Entries::DenseDouble(x.extract()?)
        };
        Ok(Rows { n_cols, entries })
    }
}

/// The same as slices, which other threads may read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    n_cols: usize,
    values: Numbers<'a>,
    sparse: Option<(Indices<'a>, Indices<'a>)>,
}

#[derive(Clone, Copy)]
enum Numbers<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

#[derive(Clone, Copy)]
enum Indices<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

fn scattered(_: impl std::error::Error) -> PyErr {
    PyValueError::new_err("an array is not contiguous in memory")
}

impl Rows<'_> {
    /// Fails for arrays that are not C-contiguous.
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        let n_cols = self.n_cols;
        let (values, sparse) = match &self.entries {
            Entries::DenseSingle(x) => (Numbers::Single(x.as_slice().map_err(scattered)?), None),
            Entries::DenseDouble(x) => (Numbers::Double(x.as_slice().map_err(scattered)?), None),
            Entries::Sparse { values, columns, pointers } => {
                let numbers = match values {
                    Values::Single(x) => Numbers::Single(x.as_slice().map_err(scattered)?),
                    Values::Double(x) => Numbers::Double(x.as_slice().map_err(scattered)?),
                };
                (numbers, Some((columns.slice()?, pointers.slice()?)))
            }
        };
        Ok(View { n_cols, values, sparse })
    }

    /// Whether zeros are left out.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.entries, Entries::Sparse { .. })
    }

    pub(crate) fn n_rows(&self) -> usize {
        match &self.entries {
            Entries::DenseSingle(x) => x.shape()[0],
            Entries::DenseDouble(x) => x.shape()[0],
            Entries::Sparse { pointers, .. } => pointers.len().saturating_sub(1),
        }
    }
}

impl Whole<'_> {
    fn slice(&self) -> PyResult<Indices<'_>> {
        Ok(match self {
            Whole::Short(array) => Indices::Short(array.as_slice().map_err(scattered)?),
            Whole::Long(array) => Indices::Long(array.as_slice().map_err(scattered)?),
        })
    }

    fn len(&self) -> usize {
        match self {
            Whole::Short(array) => array.len(),
            Whole::Long(array) => array.len(),
        }
    }
}

impl<'a> View<'a> {
    /// The rows, checked. Columns of 32 bits and pointers of 64 are borrowed; the others are converted: pointers are few, and columns of 64 bits half as large afterwards.
    pub(crate) fn matrix(self) -> Result<Matrix<'a>, DataError> {
        let Some((columns, pointers)) = self.sparse else {
            return Ok(match self.values {
                Numbers::Single(values) => Dense::new(values, self.n_cols)?.into(),
                Numbers::Double(values) => Dense::new(values, self.n_cols)?.into(),
            });
        };
        // SciPy may hold room for more entries than there are.
        let (pointers, n_cols) = (pointers.as_pointers(), self.n_cols);
        let entries = pointers.last().map_or(0, |&end| usize::try_from(end).unwrap_or(usize::MAX));
        let columns = columns.as_columns(entries, n_cols)?;
        Ok(match self.values {
            Numbers::Single(values) => Csr::new(pointers, columns, first(values, entries), n_cols)?.into(),
            Numbers::Double(values) => Csr::new(pointers, columns, first(values, entries), n_cols)?.into(),
        })
    }
}

fn first<T>(values: &[T], entries: usize) -> &[T] {
    &values[..entries.min(values.len())]
}

impl<'a> Indices<'a> {
    fn as_pointers(self) -> Cow<'a, [u64]> {
        match self {
            // A negative one becomes so large that no check lets it pass.
            Indices::Long(pointers) => Cow::Borrowed(bytemuck::cast_slice(pointers)),
            Indices::Short(pointers) => pointers.iter().map(|&p| i64::from(p) as u64).collect(),
        }
    }

    fn as_columns(self, entries: usize, n_cols: usize) -> Result<Cow<'a, [u32]>, DataError> {
        // The number of columns must fit, too, or a negative column could seem to be one of them.
        if n_cols > i32::MAX as usize {
            let problem = format!("{n_cols} columns, more than the {} that fit into 31 bits", i32::MAX);
            return Err(DataError::Unsuitable(problem));
        }
        match self {
            Indices::Short(columns) => Ok(Cow::Borrowed(bytemuck::cast_slice(first(columns, entries)))),
            // What does not fit is no column, whatever it is cut to.
            Indices::Long(columns) => Ok(first(columns, entries)
                .iter()
                .map(|&column| u32::try_from(column).unwrap_or(u32::MAX))
                .collect()),
        }
    }
}
