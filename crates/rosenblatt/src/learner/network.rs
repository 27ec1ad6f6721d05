//! A network of units.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::about;
use super::naive_bayes::counted_by;
use super::{ClassWeight, Demand, Fit, Learner, Task};
use crate::data::{Dataset, check_memory};
use crate::error::{Error, ParamError};
use crate::metrics::weighted_accuracy;
use crate::model::{Body, Decision, Layers, Link, Model, Tie};
use crate::network::{Activation, Lessons, Optimizer, Rule, Stage, Trainer, log_loss};
use crate::online::{Measure, Order, Schedule};
use crate::report::{Pass, Report, Status};
use crate::rng::Rng;
use crate::watch::{Monitor, Stop, Watch};
use crate::with_rows;

/// One or two hidden layers of units that squash what they receive, trained by back-propagation to the least mean log loss of a soft-max over the classes.
///
/// With held-out rows the pass that is best on them is kept, and training stops when none has been better for a while; without, when the loss has not fallen for as long. Weights and steps are in
/// single precision.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Network};
/// // No plane separates these.
/// let x = Dense::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["same", "same", "other", "other"]))?;
/// let fit = Network::default().fit(&data, &mut ())?;
/// assert_eq!(fit.report.train_accuracy, Some(1.0));
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Units of the hidden layers, one or two.
    pub hidden: Vec<usize>,
    /// How hidden units squash what they receive.
    pub activation: Activation,
    /// How weights move along the gradient.
    pub optimizer: Optimizer,
    /// η, the size of a step: unless given 0.001 for Adam, 0.05 with momentum.
    pub learning_rate: Option<f64>,
    /// The share of the last move that is made again (momentum).
    pub momentum: f64,
    /// Rows of a step: unless given a hundredth of them, from 16 to 128.
    pub batch_size: Option<usize>,
    /// λ of λ/2·Σw², biases left out.
    pub lambda: f64,
    /// Stop after so many passes that made nothing better: accuracy on held-out rows, or without these the loss.
    pub patience: usize,
    /// How much each class counts.
    pub class_weight: Option<ClassWeight>,
    /// At most so many passes over the data.
    pub passes: usize,
    /// Fixes weights at the start and the sequence of rows.
    pub seed: u64,
    /// Stop after so many seconds, with the best model so far.
    pub time_limit: Option<f64>,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            hidden: vec![100],
            activation: Activation::Relu,
            optimizer: Optimizer::Adam,
            learning_rate: None,
            momentum: 0.9,
            batch_size: None,
            lambda: 1e-5,
            patience: 10,
            class_weight: None,
            passes: 200,
            seed: 0,
            time_limit: None,
        }
    }
}

/// Units of a layer at the most: a slip of the finger should not ask for all memory there is.
const MOST_UNITS: usize = 1 << 16;
/// What a pass has to make the mean loss less, to count as better.
const GAIN: f64 = 1e-4;

impl Network {
    fn batch(&self, rows: usize) -> usize {
        self.batch_size.unwrap_or((rows / 100).clamp(16, 128)).min(rows.max(1))
    }

    fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or_else(|| self.optimizer.usual_rate())
    }

    fn solver(&self, rows: usize) -> String {
        format!("{} on batches of {} rows, η = {}", self.optimizer.title(), self.batch(rows), self.rate())
    }

    fn objective(&self, features: usize, scores: usize) -> String {
        let hidden: String =
            self.hidden.iter().map(|units| format!("{units} {} → ", self.activation.name())).collect();
        format!("min mean log loss + λ/2·Σw², λ = {}; g(x) = {features} → {hidden}{scores}", self.lambda)
    }

    fn schedule(&self) -> Schedule {
        let Network { passes, seed, time_limit, .. } = *self;
        Schedule { passes, order: Order::Shuffle, seed, time_limit }
    }

    /// Weights to begin with: those of a model, or at random.
    fn stages(&self, task: &Task<'_>, scores: usize) -> Result<Vec<Stage>, Error> {
        if let Some(model) = task.start {
            task.check_start(model)?;
            let units: Vec<usize> = self.hidden.iter().copied().chain([scores]).collect();
            return match &model.body {
                Body::Layers(layers) if layers.activation == self.activation && layers.units() == units => {
                    Ok(layers.stages.clone())
                }
                Body::Layers(layers) => Err(Error::Start(format!(
                    "has other layers, {}: give the same --hidden and --activation",
                    layers.shape()
                ))),
                _ => Err(Error::Start("is no network".to_owned())),
            };
        }
        let mut rng = Rng::stream(self.seed, 0);
        let (mut stages, mut inputs) = (Vec::new(), task.data.n_features());
        for &units in &self.hidden {
            stages.push(Stage::random(inputs, units, Some(self.activation), &mut rng));
            inputs = units;
        }
        stages.push(Stage::random(inputs, scores, None, &mut rng));
        Ok(stages)
    }

    fn check_room(&self, features: usize, scores: usize) -> Result<(), Error> {
        // Weights twice, what is remembered of gradients, and a copy of the best.
        let widths: usize = self.hidden.iter().sum::<usize>() + scores + 16;
        check_memory(features, widths.saturating_mul(5))?;
        Ok(())
    }
}

/// The weights of a pass that was better than those before.
struct Best {
    pass: usize,
    accuracy: f64,
    stages: Vec<Stage>,
}

/// A run so far.
struct Training<'a> {
    network: &'a Network,
    task: &'a Task<'a>,
    trainer: Trainer,
    decision: Decision,
    weights: Option<Vec<f64>>,
    /// Rows that count.
    rows: Vec<usize>,
    mean: f64,
    passes: Vec<Pass>,
    best: Option<Best>,
    /// The smallest mean loss of a pass.
    least: f64,
    /// Passes since the last that was better.
    waited: usize,
    diagnosis: Vec<String>,
}

impl Training<'_> {
    fn run(&mut self, monitor: &mut Monitor<'_>) -> Result<Status, Error> {
        let Network { passes, patience, .. } = *self.network;
        loop {
            let before = self.trainer.stages.clone();
            let pass = self.passes.len() + 1;
            let last = self.passes.last().map(|pass| pass.mistakes);
            monitor.start_pass(pass, self.rows.len() as u64, last);
            let (record, loss) = self.pass(pass, monitor);
            if !(loss.is_finite() && self.trainer.stages.iter().all(Stage::is_finite)) {
                self.trainer.stages = before;
                let rate = self.network.rate();
                self.diagnosis.push(format!(
                    "weights grew beyond all bounds in pass {pass}, which was taken back: scale the features (--scale standard), or make steps smaller (--learning-rate {})",
                    rate / 10.0
                ));
                return Ok(Status::Stalled);
            }
            let better = self.judge(record, loss);
            self.waited = if better { 0 } else { self.waited + 1 };
            match monitor.stopped() {
                Some(Stop::Time) => return Ok(Status::TimeLimit),
                Some(Stop::Interrupt) => return Ok(Status::Interrupted),
                None if self.waited >= patience => return Ok(Status::Converged),
                None if pass >= passes => return Ok(Status::PassLimit),
                None => {}
            }
        }
    }

    /// Batches of rows in a fresh order, and their mean loss.
    fn pass(&mut self, pass: usize, monitor: &Monitor<'_>) -> (Pass, f64) {
        let mut order = self.rows.clone();
        Rng::stream(self.network.seed, pass as u64).shuffle(&mut order);
        let data = self.task.data;
        let (mut record, mut loss, mut seen) = (Pass { pass, ..blank() }, 0.0, 0);
        with_rows!(data.x(), x => {
            let lessons = Lessons {
                x,
                y: data.y(),
                weights: self.weights.as_deref(),
                sparse: data.x().is_sparse(),
                mean: self.mean,
            };
            for batch in order.chunks(self.network.batch(order.len())) {
                let outcome = self.trainer.step(&lessons, batch);
                loss += outcome.loss;
                record.mistakes += outcome.mistakes;
                record.updates += 1;
                seen += batch.len();
                if !monitor.go_on(batch.len()) {
                    break;
                }
            }
        });
        (record, loss / (seen as f64 * self.mean))
    }

    /// Whether the pass made anything better; it is kept if so.
    fn judge(&mut self, mut record: Pass, loss: f64) -> bool {
        let Some(holdout) = self.task.holdout else {
            let better = loss < self.least - GAIN;
            self.least = self.least.min(loss);
            self.passes.push(record);
            return better;
        };
        let body = self.body(self.trainer.finished());
        let k = holdout.classes().len();
        let share = |rows: &Dataset<'_>| weighted_accuracy(&body.predict(self.decision, k, rows.x()), rows);
        let accuracy = share(holdout);
        (record.holdout_accuracy, record.train_accuracy) = (Some(accuracy), Some(share(self.task.data)));
        let better = self.best.as_ref().is_none_or(|best| accuracy > best.accuracy);
        if better {
            self.best = Some(Best { pass: record.pass, accuracy, stages: self.trainer.stages.clone() });
        }
        self.passes.push(record);
        better
    }

    fn body(&self, stages: Vec<Stage>) -> Body {
        Body::Layers(Layers { activation: self.network.activation, stages })
    }

    /// The mean log loss of the rows by these scores, and λ/2·Σw².
    fn primal(&self, stages: &[Stage], scores: &[f64]) -> f64 {
        let k = stages.last().map_or(1, |stage| stage.units);
        let data = self.task.data;
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let (mut loss, mut all) = (0.0, 0.0);
        for (i, (scores, &class)) in scores.chunks_exact(k).zip(data.y()).enumerate() {
            loss += weight(i) * log_loss(scores, class as usize);
            all += weight(i);
        }
        loss / all + 0.5 * self.network.lambda * stages.iter().map(Stage::sq_norm).sum::<f64>()
    }

    /// What it ends with: the best pass, or the last; and never worse than what it began with.
    fn outcome(&mut self) -> (Body, Vec<f64>, f64) {
        let stages = match &self.best {
            Some(best) => best.stages.clone(),
            None => self.trainer.stages.clone(),
        };
        let stages: Vec<Stage> = stages
            .into_iter()
            .map(|mut stage| {
                stage.pack();
                stage
            })
            .collect();
        let of = |body: Body, stages: &[Stage]| {
            let scores = body.scores(self.task.data.x());
            let primal = self.primal(stages, &scores);
            (body, scores, primal)
        };
        let ended = of(self.body(stages.clone()), &stages);
        let start = match (self.task.start.map(|model| &model.body), &self.best) {
            (Some(Body::Layers(start)), None) => {
                Some(of(Body::Layers(start.clone()), &start.stages)).filter(|began| began.2 < ended.2)
            }
            _ => None,
        };
        start.unwrap_or(ended)
    }
}

fn blank() -> Pass {
    Pass { pass: 0, mistakes: 0, updates: 0, train_accuracy: None, holdout_accuracy: None }
}

impl Learner for Network {
    fn name(&self) -> &'static str {
        "network"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        let units = (1..=2).contains(&self.hidden.len())
            && self.hidden.iter().all(|units| (1..=MOST_UNITS).contains(units));
        ParamError::unless(
            units,
            "hidden",
            "must be one or two numbers of units from 1 to 65536, such as 100 or 100,50",
        )?;
        let rate = self.learning_rate.is_none_or(|rate| rate > 0.0 && rate <= 1e6);
        ParamError::unless(rate, "learning_rate", "must be more than 0, and at most a million")?;
        ParamError::unless((0.0..1.0).contains(&self.momentum), "momentum", "must be from 0 to below 1")?;
        let batch = self.batch_size.is_none_or(|rows| rows >= 1);
        ParamError::unless(batch, "batch_size", "must be at least 1")?;
        ParamError::unless((0.0..=1e6).contains(&self.lambda), "lambda", "must be from 0 to a million")?;
        ParamError::unless(self.patience >= 1, "patience", "must be at least 1")?;
        self.schedule().check()?;
        ClassWeight::check(self.class_weight.as_ref())
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let scores = scores_of(data.classes().len());
        let first = self.hidden.first().copied().unwrap_or(0).next_multiple_of(16);
        let (widths, batch): (usize, usize) =
            (self.hidden.iter().sum::<usize>() + scores, self.batch(data.n_rows()));
        let later = self.hidden.windows(2).map(|pair| pair[0] * pair[1]).sum::<usize>()
            + self.hidden.last().map_or(0, |units| units * scores.next_multiple_of(16));
        // Single precision: the weights, panels of them, two means of gradients, those before a pass, and with held-out rows the best.
        let dense = if data.x().is_sparse() { 0 } else { 2 * data.n_features() };
        let beside = (6 * later + batch * (6 * widths + dense)).saturating_mul(4);
        Ok(Demand::of(
            self.solver(data.n_rows()),
            (data.n_rows(), 2 + scores),
            (data.n_features(), 4 * first),
            beside,
        ))
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        task.check()?;
        let (data, k) = (task.data, task.data.classes().len());
        for rows in [Some(data), task.holdout].into_iter().flatten() {
            Layers::check_rows(rows.x())?;
        }
        let scores = scores_of(k);
        self.check_room(data.n_features(), scores)?;
        let weights = ClassWeight::weigh(self.class_weight.as_ref(), data)?;
        let counts = |i: &usize| weights.as_ref().is_none_or(|weights| weights[*i] > 0.0);
        let rows: Vec<usize> = (0..data.n_rows()).filter(counts).collect();
        let total: f64 = weights.as_ref().map_or(rows.len() as f64, |weights| weights.iter().sum());
        let rule = Rule {
            optimizer: self.optimizer,
            rate: self.rate(),
            momentum: self.momentum,
            lambda: self.lambda,
        };
        let (decision, link) = match k {
            2 => (Decision::Sign(Tie::default()), Link::Logistic),
            _ => (Decision::Highest, Link::Softmax),
        };
        let mut training = Training {
            network: self,
            task,
            trainer: Trainer::new(self.stages(task, scores)?, self.activation, rule),
            decision,
            mean: total / rows.len().max(1) as f64,
            weights,
            rows,
            passes: Vec::new(),
            best: None,
            least: f64::INFINITY,
            waited: 0,
            diagnosis: Vec::new(),
        };
        let mut monitor = Monitor::new(watch, self.time_limit, self.passes);
        let status = training.run(&mut monitor)?;
        let (body, scored, primal) = training.outcome();
        let report = Report {
            status,
            diagnosis: training.diagnosis,
            rows: data.n_rows() as u64,
            best_pass: training.best.as_ref().map(|best| best.pass),
            holdout_accuracy: training.best.as_ref().map(|best| best.accuracy),
            passes: training.passes,
            primal: Some(primal).filter(|primal| primal.is_finite()),
            solver: Some(self.solver(training.rows.len())),
            resumed: Some(task.start.is_some()),
            ..about(
                self.name(),
                self.objective(data.n_features(), scores) + &counted_by(self.class_weight.as_ref(), data),
                self.parameters(),
            )
        };
        let mut measure = Measure::new(body, decision);
        measure.score(data, &scored, None);
        let (body, report) = measure.complete(report, data.fingerprint(), false);
        Ok(Fit { model: Model { link: Some(link), ..task.model(decision, body) }, report })
    }
}

/// One for two classes, else one a class.
fn scores_of(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}
