//! A fit whose rows come in blocks.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::stream::Stream;
use super::{Examples, Measure, Tally, Target, checkpoint};
use crate::data::{Classes, DataError, Dataset, Features, Scaling};
use crate::error::Error;
use crate::learner::{ClassWeight, Fit};
use crate::model::Model;
use crate::report::{Pass, Report, Status, SubProblem};
use crate::watch::Monitor;

/// A fit in progress that sees its rows block by block, pass after pass: of data larger than memory no more than a block
/// has to be there. It ends in the same bytes as a fit of all rows at once with [`Order::Cyclic`](crate::Order::Cyclic).
///
/// Between two blocks it can be put into bytes and taken up again with [`Learner::resume`](crate::Learner::resume).
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Order, Perceptron};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { order: Order::Cyclic, ..Perceptron::averaged() };
/// let mut run = learner.run(data.classes().clone(), 2, None)?;
/// run.learn(&data.select(&[0, 1]))?;
/// let mut run = learner.resume(&run.to_bytes())?; // perhaps much later
/// run.learn(&data.select(&[2]))?;
/// assert_eq!((run.rows(), run.mistakes()), (3, 2));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub struct Run {
    stream: Stream,
    /// The most passes.
    limit: usize,
    so_far: SoFar,
}

/// What a run has been through, besides its state.
#[derive(Clone, Serialize, Deserialize)]
struct SoFar {
    /// What an example of each class counts, where the parameters say so.
    factors: Option<Vec<f64>>,
    /// Whether Novikoff's mistake bound is proved for this run.
    bounded: bool,
    passes: Vec<Pass>,
    /// The pass under way and the rows it has seen.
    tally: Tally,
    rows: u64,
    /// Rows of the first pass.
    n_rows: u64,
}

/// What is written down of a run; the rest follows from the learner. Values that describe themselves are JSON.
#[derive(Serialize, Deserialize)]
struct Saved {
    parameters: String,
    classes: String,
    n_features: usize,
    so_far: SoFar,
    state: Vec<u8>,
}

impl Run {
    pub(crate) fn new(stream: Stream, limit: usize, factors: Option<Vec<f64>>, bounded: bool) -> Self {
        let (passes, tally) = (Vec::new(), Tally::default());
        Run { stream, limit, so_far: SoFar { factors, bounded, passes, tally, rows: 0, n_rows: 0 } }
    }

    /// Learns from the rows that follow. They must be encoded with the classes the run was begun with.
    pub fn learn(&mut self, block: &Dataset<'_>) -> Result<(), Error> {
        self.learn_rows(block, 0..block.n_rows())
    }

    /// The same with some rows of a block.
    pub fn learn_rows(&mut self, block: &Dataset<'_>, rows: Range<usize>) -> Result<(), Error> {
        if block.classes() != self.stream.classes() {
            let problem = "a block must be encoded with the classes the run was begun with";
            return Err(DataError::Unsuitable(problem.to_owned()).into());
        }
        let so_far = &mut self.so_far;
        let first = so_far.rows.saturating_sub(rows.start as u64);
        self.stream.admit_rows(block.x(), first)?;
        let weights = ClassWeight::weigh_by(so_far.factors.as_deref(), block);
        so_far.bounded &= is_whole(weights.as_deref());
        let examples = Examples { x: block.x(), y: block.y(), weights };
        let order: Vec<usize> = rows.filter(|&row| row < block.n_rows()).collect();
        self.stream.state().near(examples.x, &examples.counted(&order))?;
        let nobody = &mut ();
        let monitor = Monitor::new(nobody, None, self.limit);
        let tally = self.stream.state_mut().pass(&examples, Target::Class, &order, &monitor);
        self.stream.state().sound(block.x(), first)?;
        so_far.tally.add(&tally);
        so_far.rows += order.len() as u64;
        if so_far.passes.is_empty() {
            so_far.n_rows = so_far.rows;
        }
        Ok(())
    }

    /// All rows have been seen; says how the run ended, if it did.
    pub fn end_pass(&mut self) -> Option<Status> {
        self.stream.state_mut().end_pass(true);
        let so_far = &mut self.so_far;
        let Tally { mistakes, updates, .. } = std::mem::take(&mut so_far.tally);
        let pass = so_far.passes.len() + 1;
        so_far.passes.push(Pass { pass, mistakes, updates, train_accuracy: None, holdout_accuracy: None });
        so_far.rows = 0;
        match updates {
            0 => Some(Status::Converged),
            _ if pass >= self.limit => Some(Status::PassLimit),
            _ => None,
        }
    }

    /// The pass under way, from 1.
    pub fn pass(&self) -> usize {
        self.so_far.passes.len() + 1
    }

    /// At most so many passes are made.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Rows learned from in the pass under way.
    pub fn rows(&self) -> u64 {
        self.so_far.rows
    }

    /// Wrong predictions in the pass under way, each made before its row was learned from.
    pub fn mistakes(&self) -> u64 {
        self.so_far.tally.mistakes
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        self.stream.model()
    }

    /// The same with a report of the rows so far, none of them measured.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Order, Perceptron};
    /// let data = Dataset::new(Dense::new(vec![1.0, -1.0], 1)?, &Labels::new(["up", "down"]))?;
    /// let learner = Perceptron { order: Order::Cyclic, ..Perceptron::averaged() };
    /// let mut run = learner.run(data.classes().clone(), 1, None)?;
    /// run.learn(&data)?;
    /// let fit = run.fit();
    /// assert_eq!((fit.report.rows, fit.report.mistakes), (2, 1));
    /// assert_eq!(fit.model.predict(data.x())?, [1, 0]);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn fit(&self) -> Fit {
        let so_far = &self.so_far;
        let mut passes = so_far.passes.clone();
        if so_far.rows > 0 {
            let Tally { mistakes, updates, .. } = so_far.tally;
            let pass = passes.len() + 1;
            passes.push(Pass { pass, mistakes, updates, train_accuracy: None, holdout_accuracy: None });
        }
        let report = Report { passes, rows: so_far.n_rows, ..self.stream.about().clone() };
        Fit { model: self.model(), report: report.counted() }
    }

    /// Measures rows with the model as it is now.
    pub fn measure(&self) -> Measure {
        Measure::new(self.stream.state().body(), self.stream.state().decision())
    }

    /// The model and the report. Who cannot see the rows again goes without a measurement: accuracy, margin and fingerprint are then
    /// unknown. A pass that was begun counts.
    pub fn finish(
        mut self,
        status: Status,
        features: Features,
        scaling: Option<Scaling>,
        measure: Option<Measure>,
    ) -> Fit {
        if self.so_far.rows > 0 {
            self.end_pass();
        }
        let Run { stream, so_far, .. } = self;
        let (state, classes) = (stream.state(), stream.classes().clone());
        let report = Report {
            status,
            passes: so_far.passes,
            rows: so_far.n_rows,
            problems: state.problems().iter().map(|problem| SubProblem::of(problem, &classes)).collect(),
            ..stream.about().clone()
        };
        let (body, report) = match measure {
            Some(mut measure) => {
                let data = measure.fingerprint(features.count);
                measure.complete(report, data, so_far.bounded)
            }
            None => (state.body(), report.counted()),
        };
        Fit {
            model: Model {
                classes,
                features,
                scaling,
                map: None,
                decision: state.decision(),
                body,
                link: None,
            },
            report,
        }
    }

    /// The run as it is now, to be taken up again by the same learner.
    pub fn to_bytes(&self) -> Vec<u8> {
        checkpoint::pack(&Saved {
            parameters: self.stream.about().parameters.to_string(),
            classes: serde_json::to_string(self.stream.classes()).unwrap_or_default(),
            n_features: self.stream.n_features(),
            so_far: self.so_far.clone(),
            state: self.stream.state().save(),
        })
    }

    /// `begin` starts a run of the learner that has these parameters.
    pub(crate) fn resume(
        bytes: &[u8],
        parameters: &Value,
        begin: impl FnOnce(Classes, usize) -> Result<Run, Error>,
    ) -> Result<Run, Error> {
        let problem = |what: &str| Error::Checkpoint(what.to_owned());
        let saved: Saved = checkpoint::unpack(bytes).ok_or_else(|| problem("is damaged"))?;
        if parameters["user"].is_string() {
            return Err(problem("cannot hold a kernel of the user's own, which is a function"));
        }
        let asked = parameters.to_string();
        if saved.parameters != asked {
            let what = format!("was made with other parameters: {}", saved.parameters);
            return Err(Error::Checkpoint(what));
        }
        let classes: Classes = serde_json::from_str(&saved.classes).map_err(|_| problem("is damaged"))?;
        // A few bytes may claim any number of classes and features: begun without features, a run takes no more memory than what was saved of it.
        let k = classes.len();
        let n_parts = if parameters["multiclass"] == "ovo" { k.saturating_mul(k) / 2 } else { k };
        if n_parts > saved.state.len() {
            return Err(problem("is damaged"));
        }
        let mut run = begin(classes, 0)?;
        let fits = saved.so_far.factors.as_ref().is_none_or(|each| each.len() == k);
        let restored = run.stream.restore(&saved.state, saved.n_features);
        let unknown = "was written by another version of this program, whose state of this learner is not known here, or is damaged: begin anew";
        restored.filter(|()| fits).ok_or_else(|| problem(unknown))?;
        run.so_far = saved.so_far;
        Ok(run)
    }
}

/// The proof counts whole mistakes: a part of a visit moves the weights by less than it counts.
pub(crate) fn is_whole(weights: Option<&[f64]>) -> bool {
    weights.is_none_or(|weights| weights.iter().all(|weight| weight.fract() == 0.0))
}
