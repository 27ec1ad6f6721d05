//! What can be proved of data and of models.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rosenblatt::{Multiclass, Separability, SeparabilityProblem, Verifier};
use serde_json::{Value, json};

use crate::background;
use crate::error::exception;
use crate::examples::Examples;
use crate::fit::Fit;

/// For each problem of a scheme whether a plane separates its classes, with a proof; as JSON.
#[pyfunction]
pub(crate) fn separable(
    py: Python<'_>,
    examples: Examples<'_>,
    in_pairs: bool,
    bias: bool,
    threads: usize,
) -> PyResult<String> {
    let parts = examples.parts()?;
    let scheme = if in_pairs { Multiclass::Ovo } else { Multiclass::Ovr };
    let answers = background::run(py, threads, None, |watch| {
        let data = parts.dataset()?;
        let problems = Separability::of_problems(&data, scheme, bias, watch)?;
        Ok(problems.unwrap_or_default().iter().map(described).collect::<Value>())
    })?;
    answers.map(|answers| answers.to_string()).map_err(exception)
}

fn described(problem: &SeparabilityProblem) -> Value {
    let SeparabilityProblem { title, negative, positive, answer, .. } = problem;
    let (separable, weights, bias, margin, exact, multipliers) = match answer {
        Separability::Separable(plane) => {
            let exact = plane.exact.as_ref().map(|(weights, bias)| {
                (weights.iter().map(ToString::to_string).collect::<Vec<_>>(), bias.to_string())
            });
            (true, Some(&plane.weights), Some(plane.bias), plane.margin, exact, None)
        }
        Separability::Inseparable(proof) => {
            let each = proof.multipliers.iter().map(|m| (m.row, m.value.to_string()));
            (false, None, None, None, None, Some(each.collect::<Vec<_>>()))
        }
    };
    json!({
        "title": title, "negative": negative, "positive": positive, "separable": separable, "weights": weights,
        "bias": bias, "margin": margin, "exact": exact, "multipliers": multipliers,
    })
}

/// What a model claims, recomputed from data by naive code; as JSON.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    fit: PyRef<'_, Fit>,
    examples: Examples<'_>,
    replay: bool,
    time_limit: f64,
    threads: usize,
) -> PyResult<String> {
    let (parts, fit) = (examples.parts()?, fit.shared());
    let verified = background::run(py, threads, None, |watch| {
        let data = parts.dataset()?;
        Verifier { replay, time_limit, ..Verifier::default() }.verify(&fit, &data, watch)
    })?;
    let verification = verified.map_err(exception)?;
    serde_json::to_string(&verification).map_err(|e| PyValueError::new_err(e.to_string()))
}
