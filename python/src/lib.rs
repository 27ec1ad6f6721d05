//! `rosenblatt._core`: what the Python package is made of. Private to it: its classes take arrays that are already checked, and JSON.
//!
//! Arrays are borrowed where their layout is one of the library's, work goes on without the interpreter's lock, and Ctrl-C reaches it.

mod background;
mod error;
mod examples;
mod fit;
mod kernel;
mod learner;
mod map;
mod proof;
mod rows;
mod run;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::error::{NotSeparableError, ParameterError};
    #[pymodule_export]
    use crate::fit::Fit;
    #[pymodule_export]
    use crate::learner::{algorithms, kernels, learn};
    #[pymodule_export]
    use crate::map::Map;
    #[pymodule_export]
    use crate::proof::{separable, verify};
    #[pymodule_export]
    use crate::run::Run;
}
