//! Errors of the library as exceptions.

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rosenblatt::{DataError, Error, ParamError};

pyo3::create_exception!(
    rosenblatt,
    NotSeparableError,
    PyValueError,
    "No plane separates the classes, and none was to be on the wrong side."
);
pyo3::create_exception!(
    rosenblatt,
    ParameterError,
    PyValueError,
    "A parameter, by its name in the registry, and what is wrong with it."
);

/// What Python is told of an error.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        Error::Param(error) => of_parameter(error),
        Error::Data(error) => of_data(error),
        Error::NotSeparable { .. } | Error::Inseparable { .. } => {
            NotSeparableError::new_err(error.to_string())
        }
        Error::Unproved => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn of_data(error: DataError) -> PyErr {
    match error {
        DataError::NotFinite { .. } | DataError::TooLarge { .. } => {
            PyValueError::new_err(format!("Input X contains NaN, infinity or a value too large: {error}"))
        }
        DataError::Memory { .. } | DataError::Form { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn of_parameter(error: ParamError) -> PyErr {
    ParameterError::new_err((error.name, error.problem))
}

/// A panic is a bug, and is told as one.
pub(crate) fn poisoned() -> PyErr {
    PyRuntimeError::new_err("a computation over this object has failed before; fit it again")
}
