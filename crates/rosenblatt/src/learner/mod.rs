//! Parameters of each algorithm, and what they have in common.

mod alma;
mod arow;
mod batch;
mod class_weight;
mod copies;
mod crammer_singer;
mod demand;
mod diagnosis;
mod hard_margin;
mod joint_machine;
mod kernel_logistic;
mod kernel_perceptron;
mod linear_svm;
mod logistic;
mod machines;
mod naive_bayes;
mod network;
mod online;
mod passive_aggressive;
mod pegasos;
mod penalty;
mod perceptron;
mod subgradient;
mod svm;
pub(crate) mod trial;
mod winnow;

pub use alma::Alma;
pub use arow::Arow;
pub(crate) use batch::Counted;
pub use class_weight::ClassWeight;
pub(crate) use copies::Copies;
pub use crammer_singer::CrammerSinger;
pub use demand::Demand;
pub use hard_margin::HardMargin;
pub use kernel_logistic::KernelLogistic;
pub use kernel_perceptron::{Forget, KernelPerceptron, Predictor};
pub use linear_svm::{LinearSvm, SvmLoss};
pub use logistic::Logistic;
pub use naive_bayes::{Distribution, NaiveBayes};
pub use network::Network;
pub use passive_aggressive::PassiveAggressive;
pub use pegasos::Pegasos;
pub use penalty::Penalty;
pub use perceptron::{Init, Output, Perceptron};
pub use subgradient::Subgradient;
pub use svm::{Slack, Svm};
#[doc(hidden)]
pub use trial::Shortcut;
pub use winnow::Winnow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Classes, DataError, Dataset, Features, Scaling};
use crate::error::{Error, ParamError};
use crate::feature::FeatureMap;
use crate::model::{Body, Decision, Model, Planes};
use crate::online::{Multiclass, Run, Stream};
use crate::report::Report;
use crate::trace::Trace;
use crate::watch::Watch;

/// An algorithm with its parameters.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron, Status};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { passes: 20, ..Perceptron::default() };
/// let fit = learner.fit(&data, &mut ())?;
/// assert_eq!(fit.report.status, Status::Converged);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
pub trait Learner: Send + Sync {
    /// The name in the registry.
    fn name(&self) -> &'static str;

    /// All parameters, as they are written into the model.
    fn parameters(&self) -> Value;

    /// Whether the parameters are in their ranges.
    fn check(&self) -> Result<(), ParamError>;

    /// Learns from a task.
    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error>;

    /// Learns from data.
    fn fit(&self, data: &Dataset<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.learn(&Task::new(data), watch)
    }

    /// Which solver would run on data, and what memory it would need beside them.
    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error>;

    /// Whether it can start from a model, as [`Task::start`] asks for.
    fn can_go_on(&self) -> bool {
        false
    }

    /// How a search tries it out, if in a way of its own.
    #[doc(hidden)]
    fn shortcut(&self) -> Option<Shortcut<'_>> {
        None
    }

    /// Every step of a run on data, in full.
    fn trace(&self, _: &Dataset<'_>) -> Result<Trace, Error> {
        Err(needs_all_rows(self.name()))
    }

    /// Starts a stream whose classes and number of features are known; more may still appear.
    fn stream_with(&self, _classes: Classes, _n_features: usize) -> Result<Stream, Error> {
        Err(needs_all_rows(self.name()))
    }

    /// Whether a [`Run`] may begin before all classes' weights and the number of features are known, with the same result.
    fn can_begin_early(&self) -> bool {
        false
    }

    /// Starts a fit whose rows come in blocks. More features may appear than said. `mass` is the weight of all examples of each class, which
    /// only balanced class weights need.
    fn run(&self, _classes: Classes, _n_features: usize, _mass: Option<&[f64]>) -> Result<Run, Error> {
        Err(needs_all_rows(self.name()))
    }

    /// Takes up a run of this learner where [`Run::to_bytes`] left it.
    fn resume(&self, bytes: &[u8]) -> Result<Run, Error> {
        Run::resume(bytes, &self.parameters(), |classes, n_features| self.run(classes, n_features, None))
    }

    /// Starts a stream that knows nothing yet.
    fn stream(&self) -> Result<Stream, Error> {
        self.stream_with(Classes::default(), 0)
    }
}

fn needs_all_rows(name: &str) -> Error {
    ParamError::new(
        "algorithm",
        format!("{name} needs all rows at once; only online learners take them one by one"),
    )
    .into()
}

/// What to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The training rows, scaled if there is a scaling.
    pub data: &'a Dataset<'a>,
    /// Rows that decide which pass is kept, scaled likewise.
    pub holdout: Option<&'a Dataset<'a>>,
    /// The scaling that was applied; it goes into the model.
    pub scaling: Option<&'a Scaling>,
    /// The map that was applied after it; it goes into the model, too.
    pub map: Option<&'a FeatureMap>,
    /// A model of the same classes and features to start from, as of a fit that was stopped or had another C: all learners that minimise an objective get to the same gap, with
    /// smooth losses in fewer passes, and never end with a larger objective, however early they are stopped. Linear ones start from linear models.
    pub start: Option<&'a Model>,
}

impl<'a> Task<'a> {
    /// Data alone.
    pub fn new(data: &'a Dataset<'a>) -> Self {
        Task { data, holdout: None, scaling: None, map: None, start: None }
    }

    /// For learners whose runs go on from checkpoints instead.
    pub(crate) fn refuse_start(&self, learner: &str) -> Result<(), Error> {
        let refused = || {
            Error::Start(format!(
                "is of no use to {learner}, which takes rows one by one: a checkpoint is what it goes on from"
            ))
        };
        self.start.map_or(Ok(()), |_| Err(refused()))
    }

    /// Whether a model is of the same classes and features.
    pub(crate) fn check_start(&self, model: &Model) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Start(what.to_owned()));
        if model.classes != *self.data.classes() {
            return refuse("has other classes");
        }
        if model.features != *self.features() {
            return refuse("has other features");
        }
        if model.scaling.as_ref() != self.scaling {
            return refuse("scales its features otherwise");
        }
        if model.map.as_ref() != self.map {
            return refuse("maps its features otherwise");
        }
        Ok(())
    }

    /// The planes to start from, if they are such as are looked for.
    pub(crate) fn starting_planes(
        &self,
        multiclass: Multiclass,
        bias: Bias,
    ) -> Result<Option<&'a Planes>, Error> {
        let Some(model) = self.start else { return Ok(None) };
        self.check_start(model)?;
        let refuse = |what: &str| Err(Error::Start(what.to_owned()));
        let n_classes = self.data.classes().len();
        let in_pairs = multiclass == Multiclass::Ovo && n_classes > 2;
        let fits = |planes: &Planes| {
            planes.k() == multiclass.planes(n_classes)
                && planes.is_lifted() == bias.is_lifted()
                && model.decision.pair_tie().is_some() == in_pairs
        };
        match &model.body {
            Body::Linear(planes) if fits(planes) => Ok(Some(planes)),
            Body::Linear(_) => refuse("has other planes: give the same --multiclass and --bias"),
            _ => refuse("has no single plane for each problem"),
        }
    }

    /// The model of what was learned from it.
    pub(crate) fn model(&self, decision: Decision, body: Body) -> Model {
        Model {
            classes: self.data.classes().clone(),
            features: self.features().clone(),
            scaling: self.scaling.cloned(),
            map: self.map.cloned(),
            decision,
            body,
            link: None,
        }
    }

    /// The features before any map.
    fn features(&self) -> &Features {
        self.map.map_or(self.data.features(), |map| &map.inputs)
    }

    pub(crate) fn check(&self) -> Result<(), DataError> {
        let data = self.data;
        data.check_complete()?;
        if data.classes().len() < 2 {
            return Err(DataError::OneClass { class: data.classes().listed() });
        }
        if data.weights().is_some_and(|weights| weights.iter().all(|&weight| weight == 0.0)) {
            return Err(DataError::Unsuitable("all sample weights are 0".to_owned()));
        }
        let Some(holdout) = self.holdout else { return Ok(()) };
        holdout.check_complete()?;
        if holdout.n_features() != data.n_features() {
            let (found, expected) = (holdout.n_features(), data.n_features());
            return Err(DataError::Features { found, expected });
        }
        if holdout.classes() != data.classes() {
            let problem = "held-out rows must be encoded with the classes of the training rows";
            return Err(DataError::Unsuitable(problem.to_owned()));
        }
        Ok(())
    }
}

/// A model and how it came to be: what a model file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What was learned.
    pub model: Model,
    /// How the fit went.
    pub report: Report,
}

/// What becomes of the constant term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bias {
    /// There is one, and no regulariser touches it.
    #[default]
    Free,
    /// There is one, and it counts as a weight. The same as free for learners without a regulariser.
    Regularized,
    /// There is none: the boundary goes through the origin.
    None,
}

impl Bias {
    pub(crate) fn is_lifted(self) -> bool {
        self != Bias::None
    }
}
