//! Online learners that see their rows block by block: `partial_fit`.

use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rosenblatt::Learner;

use crate::background;
use crate::error::{exception, poisoned};
use crate::examples::{Examples, Name, classes};
use crate::fit::Fit;
use crate::kernel::Raised;
use crate::learner::streamed;

/// A run that goes on for as long as blocks come. Pickles as its checkpoint.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Run {
    algorithm: String,
    parameters: String,
    raised: Raised,
    run: Mutex<rosenblatt::Run>,
    /// The model as it was asked for last, if nothing was learned since.
    latest: Mutex<Option<Arc<rosenblatt::Fit>>>,
}

impl Run {
    fn lock(&self) -> PyResult<MutexGuard<'_, rosenblatt::Run>> {
        self.run.lock().map_err(|_| poisoned())
    }

    fn of(
        algorithm: &str,
        parameters: &str,
        raised: Raised,
        run: Result<rosenblatt::Run, rosenblatt::Error>,
    ) -> PyResult<Self> {
        let (algorithm, parameters) = (algorithm.to_owned(), parameters.to_owned());
        let (run, latest) = (Mutex::new(run.map_err(exception)?), Mutex::new(None));
        Ok(Run { algorithm, parameters, raised, run, latest })
    }
}

#[pymethods]
impl Run {
    /// Before its first row.
    #[new]
    #[pyo3(signature = (algorithm, parameters, names, n_features, kernel = None, sparse = false))]
    fn new(
        algorithm: &str,
        parameters: &str,
        names: Vec<Name>,
        n_features: usize,
        kernel: Option<Bound<'_, PyAny>>,
        sparse: bool,
    ) -> PyResult<Self> {
        let (learner, raised) = streamed(algorithm, parameters, kernel.as_ref(), sparse)?;
        let run = learner.run(classes(&names), n_features, None);
        Run::of(algorithm, parameters, raised, run)
    }

    /// Takes up a run where its checkpoint left it.
    #[staticmethod]
    fn from_bytes(algorithm: &str, parameters: &str, bytes: &[u8]) -> PyResult<Self> {
        let (learner, raised): (Box<dyn Learner>, _) = streamed(algorithm, parameters, None, false)?;
        Run::of(algorithm, parameters, raised, learner.resume(bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let bytes = py.detach(|| Ok::<_, PyErr>(self.lock()?.to_bytes()))?;
        let bytes = PyBytes::new(py, &bytes);
        let arguments = (self.algorithm.clone(), self.parameters.clone(), bytes);
        Ok((py.get_type::<Run>().getattr("from_bytes")?, arguments))
    }

    /// Learns from the rows that follow.
    fn learn(&self, py: Python<'_>, examples: Examples<'_>, threads: usize) -> PyResult<()> {
        let parts = examples.parts()?;
        let learned = background::run(py, threads, None, |_| {
            let mut run = self.lock()?;
            *self.latest.lock().map_err(|_| poisoned())? = None;
            parts.dataset().and_then(|block| run.learn(&block)).map_err(exception)
        });
        let learned = self.raised.or(learned)?;
        self.raised.or(learned)
    }

    /// The model as it is now.
    fn fit(&self, py: Python<'_>) -> PyResult<Fit> {
        // Whoever learns may wait for the interpreter to evaluate a kernel.
        let fit = py.detach(|| {
            let (run, mut latest) = (self.lock()?, self.latest.lock().map_err(|_| poisoned())?);
            Ok::<_, PyErr>(Arc::clone(latest.get_or_insert_with(|| Arc::new(run.fit()))))
        })?;
        Ok(Fit::of_shared(fit, self.raised.clone()))
    }
}

/// How to make it anew.
type Reduced<'py> = (Bound<'py, PyAny>, (String, String, Bound<'py, PyBytes>));
