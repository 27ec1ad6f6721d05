//! Learning, by the names of the registry.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rosenblatt::registry::{ALGORITHMS, KERNELS, Kind, algorithm};
use rosenblatt::{
    Calibration, Dataset, Error, KernelLogistic, KernelPerceptron, Learner, ParamError, Svm, Task,
    UserKernel, stratified_split,
};
use serde_json::{Map, Value, json};

use crate::background;
use crate::error::{exception, of_parameter};
use crate::examples::Examples;
use crate::fit::Fit;
use crate::kernel::{self, Raised};

/// Stands for a γ that only the data tell.
const USUAL: &str = "usual";

/// What is asked of the registry: a name, and parameters that differ from its defaults, as JSON.
pub(crate) struct Asked {
    name: String,
    parameters: Map<String, Value>,
    user: Option<UserKernel>,
}

impl Asked {
    pub(crate) fn new(name: &str, parameters: &str, user: Option<UserKernel>) -> PyResult<Self> {
        let parameters =
            serde_json::from_str(parameters).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Asked { name: name.to_owned(), parameters, user })
    }

    /// The learner, with what the data tell filled in.
    fn completed(mut self, data: &Dataset<'_>) -> Result<Box<dyn Learner>, ParamError> {
        if let Some(gamma) = self.parameters.get_mut("gamma")
            && gamma.as_str() == Some(USUAL)
        {
            *gamma = json!(rosenblatt::usual_gamma(data));
        }
        self.learner()
    }

    pub(crate) fn learner(self) -> Result<Box<dyn Learner>, ParamError> {
        let Some(row) = algorithm(&self.name) else {
            return Err(ParamError::new("algorithm", format!("there is no {}", self.name)));
        };
        let learner = row.learner(&self.parameters)?;
        let Some(user) = self.user else { return Ok(learner) };
        with_kernel(&self.name, learner.parameters(), user)
    }
}

/// The same with a kernel that no JSON holds.
fn with_kernel(name: &str, parameters: Value, user: UserKernel) -> Result<Box<dyn Learner>, ParamError> {
    let unreadable = |error: serde_json::Error| ParamError::new("parameters", error.to_string());
    let user = Some(user);
    Ok(match name {
        "svm" => Box::new(Svm { user, ..serde_json::from_value(parameters).map_err(unreadable)? }),
        "kernel-logistic" => {
            Box::new(KernelLogistic { user, ..serde_json::from_value(parameters).map_err(unreadable)? })
        }
        "kernel-perceptron" => {
            Box::new(KernelPerceptron { user, ..serde_json::from_value(parameters).map_err(unreadable)? })
        }
        _ => return Err(ParamError::new("kernel", format!("{name} has no kernel"))),
    })
}

/// How a fit goes beyond its learner.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Course<'py> {
    /// A function of two blocks of rows.
    kernel: Option<Bound<'py, PyAny>>,
    /// To begin from.
    start: Option<PyRef<'py, Fit>>,
    /// The share of rows that choose the best pass.
    holdout: Option<f64>,
    /// Folds of a cross-fit that tells probabilities.
    calibrate: Option<usize>,
    threads: usize,
    watcher: Option<Bound<'py, PyAny>>,
}

/// Learns from examples.
#[pyfunction]
pub(crate) fn learn(
    py: Python<'_>,
    algorithm: &str,
    parameters: &str,
    examples: Examples<'_>,
    course: Course<'_>,
) -> PyResult<Fit> {
    let given = course.kernel.as_ref().map(|function| kernel::of(function, examples.is_sparse()));
    let (user, raised) = given.transpose()?.unzip();
    let (asked, raised) = (Asked::new(algorithm, parameters, user)?, raised.unwrap_or_default());
    let (parts, start) = (examples.parts()?, course.start.as_ref().map(|fit| fit.shared()));
    let Course { holdout, calibrate, threads, watcher, .. } = course;
    let learned = background::run(py, threads, watcher, |watch| {
        let data = parts.dataset()?;
        let learner = asked.completed(&data)?;
        let seed = learner.parameters().get("seed").and_then(Value::as_u64).unwrap_or_default();
        let held = holdout.map(|share| hold_out(&data, share, seed)).transpose()?;
        let (data, holdout) = held.as_ref().map_or((&data, None), |(rest, held)| (rest, Some(held)));
        let start = start.as_ref().map(|fit| &fit.model);
        let task = Task { holdout, start, ..Task::new(data) };
        match calibrate {
            Some(folds) => {
                Calibration { folds, seed, ..Calibration::default() }.learn(learner.as_ref(), &task, watch)
            }
            None => learner.learn(&task, watch),
        }
    });
    let fit = raised.or(learned)?;
    raised.or(fit.map_err(exception)).map(|fit| Fit::new(fit, raised))
}

fn hold_out(
    data: &Dataset<'_>,
    share: f64,
    seed: u64,
) -> Result<(Dataset<'static>, Dataset<'static>), Error> {
    if !(share > 0.0 && share < 1.0) {
        return Err(ParamError::new("validation_fraction", "must be between 0 and 1").into());
    }
    let split = stratified_split(data.y(), share, seed);
    if split.holdout.is_empty() {
        return Err(
            ParamError::new("validation_fraction", "leaves no rows to hold out; there are too few").into()
        );
    }
    Ok((data.select(&split.train), data.select(&split.holdout)))
}

/// All algorithms with their parameters, as JSON.
#[pyfunction]
pub(crate) fn algorithms() -> String {
    let rows = ALGORITHMS.iter().map(|row| {
        let defaults = row.defaults();
        let parameters = row.parameters().map(|parameter| {
            let choices = match parameter.kind {
                Kind::Choice(words) => Some(words),
                _ => None,
            };
            json!({"name": parameter.name, "help": parameter.help, "default": defaults.get(parameter.name), "choices": choices})
        });
        json!({
            "name": row.name, "title": row.title, "rule": row.rule, "source": row.source, "online": row.online,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    });
    Value::from_iter(rows).to_string()
}

/// All kernels with the names of their parameters but σ, which is another way to give γ.
#[pyfunction]
pub(crate) fn kernels() -> BTreeMap<&'static str, Vec<&'static str>> {
    let own =
        |parameters: &'static [&'static str]| parameters.iter().copied().filter(|name| *name != "sigma");
    KERNELS.iter().map(|row| (row.name, own(row.parameters).collect())).collect()
}

/// For a stream, which has no data to complete it by.
pub(crate) fn streamed(
    name: &str,
    parameters: &str,
    function: Option<&Bound<'_, PyAny>>,
    sparse: bool,
) -> PyResult<(Box<dyn Learner>, Raised)> {
    let (user, raised) = function.map(|function| kernel::of(function, sparse)).transpose()?.unzip();
    let learner = Asked::new(name, parameters, user)?.learner().map_err(of_parameter)?;
    Ok((learner, raised.unwrap_or_default()))
}
