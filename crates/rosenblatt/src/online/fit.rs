//! Passes over data until none changes anything.

use serde_json::Value;

use super::run::is_whole;
use super::{Examples, Measure, Order, Schedule, State, Tally, Target};
use crate::data::{DataError, Dataset, Fingerprint};
use crate::error::Error;
use crate::learner::{ClassWeight, Fit, Task};
use crate::metrics::weighted_accuracy;
use crate::model::Body;
use crate::report::{Pass, Report, Status, SubProblem};
use crate::watch::{Monitor, Stop, Watch};

/// An online learner ready to run.
pub(crate) struct Setup<'a> {
    pub(crate) algorithm: &'a str,
    pub(crate) objective: String,
    pub(crate) parameters: Value,
    pub(crate) schedule: Schedule,
    pub(crate) class_weight: Option<&'a ClassWeight>,
    pub(crate) state: Box<dyn State>,
    /// Whether Novikoff's mistake bound is proved for this run.
    pub(crate) bounded: bool,
}

/// Best weights so far by held-out accuracy.
struct Best {
    pass: usize,
    accuracy: f64,
    body: Body,
}

pub(crate) fn fit(mut setup: Setup<'_>, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
    let data = task.data;
    let examples =
        Examples { x: data.x(), y: data.y(), weights: ClassWeight::weigh(setup.class_weight, data)? };
    setup.bounded &= is_whole(examples.weights.as_deref());
    let mut monitor = Monitor::new(watch, setup.schedule.time_limit, setup.schedule.passes);
    // Passes go row by row: the other cores have time for the hash of the data.
    let (passes, fingerprint) =
        rayon::join(|| make_passes(&mut setup, task, &examples, &mut monitor), || data.fingerprint());
    conclude(setup, task, passes?, fingerprint, &monitor)
}

/// What the passes came to.
struct Passes {
    status: Status,
    passes: Vec<Pass>,
    best: Option<Best>,
}

fn make_passes(
    setup: &mut Setup<'_>,
    task: &Task<'_>,
    examples: &Examples<'_>,
    monitor: &mut Monitor<'_>,
) -> Result<Passes, Error> {
    let (data, schedule) = (task.data, setup.schedule);
    let mut passes: Vec<Pass> = Vec::new();
    let mut best: Option<Best> = None;
    let mut order = schedule.order;
    let status = loop {
        let pass = passes.len() + 1;
        let complete = order != Order::Random;
        let rows = schedule.rows(pass, data.n_rows(), order);
        let visits = (rows.len() * setup.state.open_problems()) as u64;
        monitor.start_pass(pass, visits, passes.last().map(|pass| pass.mistakes));
        setup.state.near(examples.x, &examples.counted(&rows))?;
        let tally = setup.state.pass(examples, Target::Class, &rows, monitor);
        setup.state.end_pass(complete);
        setup.state.sound(examples.x, 0)?;
        passes.push(measure(setup.state.as_ref(), task, pass, tally, &mut best, monitor)?);
        // Draws with replacement may have missed a row: a quiet pass is confirmed by one over all rows.
        let quiet = tally.updates == 0 && !tally.stopped;
        order = if quiet { Order::Cyclic } else { schedule.order };
        match monitor.stopped() {
            Some(Stop::Time) => break Status::TimeLimit,
            Some(Stop::Interrupt) => break Status::Interrupted,
            None if quiet && complete => break Status::Converged,
            None if pass >= schedule.passes => break Status::PassLimit,
            None => {}
        }
    };
    Ok(Passes { status, passes, best })
}

/// Accuracies are measured each pass only where held-out data decides between passes.
fn measure(
    state: &dyn State,
    task: &Task<'_>,
    pass: usize,
    tally: Tally,
    best: &mut Option<Best>,
    monitor: &Monitor<'_>,
) -> Result<Pass, DataError> {
    let Tally { mistakes, updates, .. } = tally;
    let mut record = Pass { pass, mistakes, updates, train_accuracy: None, holdout_accuracy: None };
    if let Some(holdout) = task.holdout {
        state.near(holdout.x(), &(0..holdout.n_rows()).collect::<Vec<_>>())?;
        let (body, decision) = (state.body(), state.decision());
        let share = |data: &Dataset<'_>| {
            let scores = measured_scores(&body, data, monitor)?;
            let right = |scores: Vec<f64>| {
                weighted_accuracy(&decision.decide_all(&scores, data.classes().len()), data)
            };
            Ok(scores.map(right))
        };
        record.holdout_accuracy = share(holdout)?;
        record.train_accuracy = share(task.data)?;
        if let Some(accuracy) = record.holdout_accuracy
            && best.as_ref().is_none_or(|best| accuracy > best.accuracy)
        {
            *best = Some(Best { pass, accuracy, body });
        }
    }
    Ok(record)
}

/// Hyperplanes score all rows in less time than a pass takes; votes may take far longer and can be stopped like a pass.
fn measured_scores(
    body: &Body,
    data: &Dataset<'_>,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<f64>>, DataError> {
    let scores = match body {
        Body::Linear(_) => Some(body.scores(data.x())),
        _ => body.scores_while(data.x(), || monitor.go_on(0)),
    };
    body.sound(data.x(), 0).map(|()| scores)
}

fn conclude(
    setup: Setup<'_>,
    task: &Task<'_>,
    Passes { status, passes, best }: Passes,
    fingerprint: Fingerprint,
    monitor: &Monitor<'_>,
) -> Result<Fit, Error> {
    let data = task.data;
    let decision = setup.state.decision();
    let (best_pass, holdout_accuracy, body) = match best {
        Some(best) => (Some(best.pass), Some(best.accuracy), best.body),
        None => (None, None, setup.state.body()),
    };
    let scores = measured_scores(&body, data, monitor)?;
    let mut measure = Measure::new(body, decision);
    if let Some(scores) = scores {
        measure.score(data, &scores, None);
    }
    let problems = setup.state.problems();
    let report = Report {
        algorithm: setup.algorithm.to_owned(),
        objective: setup.objective,
        parameters: setup.parameters,
        status,
        best_pass,
        passes,
        rows: data.n_rows() as u64,
        holdout_accuracy,
        problems: problems.iter().map(|problem| SubProblem::of(problem, data.classes())).collect(),
        ..Report::default()
    };
    let (body, report) = measure.complete(report, fingerprint, setup.bounded);
    Ok(Fit { model: task.model(decision, body), report })
}
