//! Every step of a run.

use crate::data::{DataError, Dataset};
use crate::error::Error;
use crate::model::{Decision, Planes};
use crate::online::{Added, Order, Schedule, Stream};

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
    /// Where examples stand for the weights, the coefficient of each row: how often it was added so far, with its sign, unless a budget has had it shrunk, projected or dropped. One number a plane,
    /// row after row.
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
    let (mut seen, mut alphas) = (Vec::new(), Vec::new());
    let (mut converged, mut order) = (false, schedule.order);
    for pass in 1..=schedule.passes {
        let before = stream.updates();
        let wide = if stream.current().is_some() { data.n_features() } else { data.n_rows() };
        check_size(&stream, steps.len() + data.n_rows(), wide)?;
        if stream.current().is_none() {
            alphas.resize(data.n_rows() * stream.n_planes(), 0.0);
        }
        let rows = schedule.rows(pass, data.n_rows(), order);
        let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
        stream.near(data.x(), &rows.iter().copied().filter(counts).collect::<Vec<_>>())?;
        for row in rows {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            let visit = Visited { pass, row, weight };
            let mut step = step(&mut stream, decision, data, visit, &mut alphas)?;
            seen.push(row);
            step.alphas = coefficients(&stream, &seen, &alphas);
            steps.push(step);
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

/// What the next step is about.
struct Visited {
    pass: usize,
    row: usize,
    weight: f64,
}

fn step(
    stream: &mut Stream,
    decision: Decision,
    data: &Dataset<'_>,
    Visited { pass, row, weight }: Visited,
    alphas: &mut [f64],
) -> Result<Step, DataError> {
    let before = stream.added();
    let scores = stream.scores(data.x(), row);
    let predicted = decision.decide(&scores, data.classes().len());
    let label = data.y()[row] as usize;
    let mistakes = stream.mistakes();
    let updated = stream.learn_class(data.x(), row, label, weight)?;
    // The binary problems of a reduction make mistakes of their own.
    let mistake = if stream.is_reduced() { predicted != label } else { stream.mistakes() > mistakes };
    let weights = stream.current();
    if let (Added::Amounts(before), Added::Amounts(after)) = (before, stream.added()) {
        let own = alphas.chunks_mut(stream.n_planes()).nth(row).into_iter().flatten();
        own.zip(after).zip(before).for_each(|((alpha, after), before)| *alpha += after - before);
    }
    Ok(Step { pass, row, scores, predicted, label, mistake, updated, weights, alphas: None })
}

/// The coefficient of each row now, of which these were seen so far and so much was added; nothing where there are weights.
fn coefficients(stream: &Stream, seen: &[usize], added: &[f64]) -> Option<Vec<f64>> {
    if stream.current().is_some() {
        return None;
    }
    let Added::Terms(terms) = stream.added() else { return Some(added.to_vec()) };
    let mut alphas = vec![0.0; added.len()];
    for (time, plane, a) in terms {
        // Every example of this stream is a row seen here.
        let row = usize::try_from(time).ok().and_then(|time| seen.get(time));
        let alpha = row.and_then(|row| alphas.get_mut(row * stream.n_planes() + plane));
        alpha.into_iter().for_each(|alpha| *alpha += a);
    }
    Some(alphas)
}
