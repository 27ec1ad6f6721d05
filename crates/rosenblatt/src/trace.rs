//! Every step of a run.

use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::model::{Decision, Planes};
use crate::online::{Order, Schedule, Stream};

/// A run, example by example.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Order, Perceptron, Bias};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { bias: Bias::None, order: Order::Cyclic, ..Perceptron::default() };
/// let trace = learner.trace(&data)?;
/// assert!(trace.converged);
/// assert_eq!(trace.updates, 2);
/// assert_eq!(trace.steps[2].weights.as_ref().expect("a plane").normal(0), [1.0, -1.0]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Every example seen.
    pub steps: Vec<Step>,
    /// Whether the last pass changed nothing.
    pub converged: bool,
    /// Changes of the weights.
    pub updates: u64,
    /// How scores decide.
    pub decision: Decision,
}

/// One example seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The pass, from 1.
    pub pass: usize,
    /// The row, from 0.
    pub row: usize,
    /// The scores before learning.
    pub scores: Vec<f64>,
    /// The class they choose.
    pub predicted: usize,
    /// The true class.
    pub label: usize,
    /// Whether it counted as a mistake.
    pub mistake: bool,
    /// Whether the weights changed.
    pub updated: bool,
    /// The weights after it; nothing where examples stand for them.
    pub weights: Option<Planes>,
    /// Where examples stand for the weights, how often each row was added so far, with its sign: one number a plane, row after row.
    pub alphas: Option<Vec<f64>>,
}

pub(crate) fn trace(
    mut stream: Stream,
    schedule: Schedule,
    weights: Option<&[f64]>,
    data: &Dataset<'_>,
) -> Result<Trace, Error> {
    let decision = stream.model().decision;
    let mut steps = Vec::new();
    let mut alphas = Vec::new();
    let (mut converged, mut order) = (false, schedule.order);
    for pass in 1..=schedule.passes {
        let before = stream.updates();
        let wide = if stream.current().is_some() { data.n_features() } else { data.n_rows() };
        check_size(&stream, steps.len() + data.n_rows(), wide)?;
        if stream.current().is_none() {
            alphas.resize(data.n_rows() * stream.n_planes(), 0.0);
        }
        for row in schedule.rows(pass, data.n_rows(), order) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            steps.push(step(&mut stream, decision, data, pass, row, weight, &mut alphas)?);
        }
        let quiet = stream.updates() == before;
        converged = quiet && order != Order::Random;
        order = if quiet { Order::Cyclic } else { schedule.order };
        if converged {
            break;
        }
    }
    Ok(Trace { steps, converged, updates: stream.updates(), decision })
}

/// A trace keeps the weights of every step, which is what it is for, and why it is for small data.
fn check_size(stream: &Stream, steps: usize, n_features: usize) -> Result<(), DataError> {
    const LARGEST: usize = 1 << 31;
    let bytes = steps.saturating_mul(stream.n_planes()).saturating_mul(8 * (n_features + 1));
    if bytes <= LARGEST {
        return Ok(());
    }
    let gib = bytes as f64 / (1u64 << 30) as f64;
    Err(DataError::Unsuitable(format!(
        "a trace keeps the weights of every step, here {gib:.1} GiB for {steps} steps; trace fewer rows, features or passes"
    )))
}

fn step(
    stream: &mut Stream,
    decision: Decision,
    data: &Dataset<'_>,
    pass: usize,
    row: usize,
    weight: f64,
    alphas: &mut [f64],
) -> Result<Step, DataError> {
    let pushed = stream.pushed();
    let scores = stream.scores(data.x(), row);
    let predicted = decision.decide(&scores, data.classes().len());
    let label = data.y()[row] as usize;
    let before = stream.mistakes();
    let updated = stream.learn_class(data.x(), row, label, weight)?;
    // The binary problems of a reduction make mistakes of their own.
    let mistake = if stream.is_reduced() { predicted != label } else { stream.mistakes() > before };
    let weights = stream.current();
    let own = alphas.chunks_mut(stream.n_planes()).nth(row).into_iter().flatten();
    own.zip(stream.pushed()).zip(pushed).for_each(|((alpha, after), before)| *alpha += after - before);
    let alphas = weights.is_none().then(|| alphas.to_vec());
    Ok(Step { pass, row, scores, predicted, label, mistake, updated, weights, alphas })
}
