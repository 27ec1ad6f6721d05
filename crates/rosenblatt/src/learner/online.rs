//! What all mistake-driven learners share.

use serde::Serialize;
use serde_json::Value;

use super::{ClassWeight, Demand, Fit, Learner, Task};
use crate::data::{Classes, DataError, Dataset, Features, Matrix, check_memory};
use crate::error::{Error, ParamError};
use crate::model::Planes;
use crate::online::{Multiclass, Order, Reduced, Run, Schedule, Setup, State, Stream, fit};
use crate::report::Report;
use crate::trace::{Trace, trace};
use crate::watch::Watch;

/// Declares a learner: its own parameters with their defaults, followed by those all online learners have.
macro_rules! online_learner {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $value:expr,)*
        }
        bias = $bias:expr, passes = $passes:expr
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// The constant term.
            pub bias: $crate::learner::Bias,
            /// How more than two classes are treated.
            pub multiclass: $crate::online::Multiclass,
            /// How much each class counts.
            pub class_weight: Option<$crate::learner::ClassWeight>,
            /// At most so many passes over the data; a run also stops at a pass without updates.
            pub passes: usize,
            /// The sequence in which rows are visited.
            pub order: $crate::online::Order,
            /// Fixes every random choice.
            pub seed: u64,
            /// Stop after so many seconds, with the best model so far.
            pub time_limit: Option<f64>,
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name {
                    $($field: $value,)*
                    bias: $bias,
                    multiclass: $crate::online::Multiclass::Native,
                    class_weight: None,
                    passes: $passes,
                    order: $crate::online::Order::Shuffle,
                    seed: 0,
                    time_limit: None,
                }
            }
        }

        impl $crate::learner::online::Common for $Name {
            fn schedule(&self) -> $crate::online::Schedule {
                let (passes, order, seed, time_limit) =
                    (self.passes, self.order, self.seed, self.time_limit);
                $crate::online::Schedule { passes, order, seed, time_limit }
            }
            fn class_weight(&self) -> Option<&$crate::learner::ClassWeight> {
                self.class_weight.as_ref()
            }
            fn multiclass(&self) -> $crate::online::Multiclass {
                self.multiclass
            }
            fn zeros(&self, n_classes: usize, n_cols: usize) -> $crate::model::Planes {
                let k = if n_classes > 2 { n_classes } else { 1 };
                $crate::model::Planes::zeros(k, n_cols, self.bias.is_lifted())
            }
        }
    };
}
pub(crate) use online_learner;

/// The parameters every online learner has.
pub(crate) trait Common {
    fn schedule(&self) -> Schedule;
    fn class_weight(&self) -> Option<&ClassWeight>;
    fn multiclass(&self) -> Multiclass;
    /// One plane up to two classes, else one a class.
    fn zeros(&self, n_classes: usize, n_cols: usize) -> Planes;
}

/// An algorithm that is an update rule on a hypothesis.
pub(crate) trait Online: Common + Clone + Serialize + Send + Sync + 'static {
    fn name(&self) -> &'static str;
    /// The rule in one line.
    fn objective(&self) -> String;
    fn check_parameters(&self) -> Result<(), ParamError>;
    /// Whether it can learn from these rows, in a batch or a stream.
    /// The number of the first row, from 0, is for messages.
    fn check_rows(&self, _: &Matrix<'_>, _: &Features, _first: u64) -> Result<(), DataError> {
        Ok(())
    }
    /// Whether nothing is left open that only all rows would tell.
    fn check_stream(&self) -> Result<(), ParamError> {
        Ok(())
    }
    /// Whether it can learn from what was made of the rows.
    fn check_task(&self, _: &Task<'_>) -> Result<(), ParamError> {
        Ok(())
    }
    /// Whether it can predict on these.
    fn check_holdout(&self, _: &Dataset<'_>) -> Result<(), DataError> {
        Ok(())
    }
    /// Whether it can begin before it knows the number of features, with the same result.
    fn is_open(&self) -> bool {
        true
    }
    /// Whether it counts over all rows while it learns.
    fn has_pocket(&self) -> bool {
        false
    }
    /// Whether Novikoff's bound is proved for this rule and start.
    fn is_bounded(&self) -> bool {
        false
    }
    /// The same learner with what depends on the data filled in; nothing where all is known.
    fn completed(&self, _: &Dataset<'_>) -> Option<Self> {
        None
    }
    /// Whether there is room: by default for weights, their sums or variances, and the model, for each plane.
    fn check_planes(&self, n_classes: usize, n_features: usize) -> Result<(), DataError> {
        check_memory(n_features, self.multiclass().planes(n_classes).saturating_mul(3))
    }
    /// How many of so many examples it may store.
    fn stored(&self, _rows: usize) -> usize {
        0
    }
    /// For up to two classes, or all at once.
    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State>;
    /// For any number of classes.
    fn state(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        match self.multiclass() {
            Multiclass::Native => self.native(n_classes, n_cols),
            scheme => Box::new(Reduced::new(scheme, n_classes, |k| self.native(k, n_cols))),
        }
    }
}

impl<T: Online> Learner for T {
    fn name(&self) -> &'static str {
        Online::name(self)
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.schedule().check()?;
        ClassWeight::check(self.class_weight())?;
        self.check_parameters()
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        task.check()?;
        if let Some(completed) = self.completed(task.data) {
            return completed.learn(task, watch);
        }
        task.refuse_start(Online::name(self))?;
        self.check_task(task)?;
        self.check_rows(task.data.x(), task.data.features(), 0)?;
        if let Some(holdout) = task.holdout {
            self.check_holdout(holdout)?;
        }
        self.check_planes(task.data.classes().len(), task.data.n_features())?;
        let setup = Setup {
            algorithm: Online::name(self),
            objective: self.objective(),
            parameters: self.parameters(),
            schedule: self.schedule(),
            class_weight: self.class_weight(),
            state: self.state(task.data.classes().len(), task.data.n_features()),
            bounded: self.is_bounded(),
        };
        fit(setup, task, watch)
    }

    /// Weights, their sums or variances, the model and the best so far for each plane; the order of the rows and their scores; a list of examples and those in it.
    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        // What cannot be learned takes nothing.
        self.check_rows(data.x(), data.features(), 0)?;
        let (rows, stored) = (data.n_rows(), self.stored(data.n_rows()));
        let planes = self.multiclass().planes(data.classes().len());
        let copies = data.x().bytes() / rows.max(1) * stored;
        let features = if Online::name(self) == "kernel-perceptron" { 0 } else { 4 * planes };
        let solver = format!("one example at a time, {} passes at most", self.schedule().passes);
        let lists = stored.saturating_mul(2 * planes * size_of::<f64>());
        let more = lists.saturating_add(2 * copies);
        Ok(Demand::of(solver, (rows, 2 + planes), (data.n_features(), features), more))
    }

    fn trace(&self, data: &Dataset<'_>) -> Result<Trace, Error> {
        if let Some(completed) = self.completed(data) {
            return completed.trace(data);
        }
        self.check_rows(data.x(), data.features(), 0)?;
        let weights = ClassWeight::weigh(self.class_weight(), data)?;
        let stream = begin(self, data.classes().clone(), data.n_features())?;
        trace(stream, self.schedule(), weights.as_deref(), data)
    }

    fn stream_with(&self, classes: Classes, n_features: usize) -> Result<Stream, Error> {
        self.check_stream()?;
        begin(self, classes, n_features)
    }

    fn can_begin_early(&self) -> bool {
        self.is_open() && self.class_weight() != Some(&ClassWeight::Balanced)
    }

    fn run(&self, classes: Classes, n_features: usize, mass: Option<&[f64]>) -> Result<Run, Error> {
        let schedule = self.schedule();
        let cyclic = schedule.order == Order::Cyclic;
        ParamError::unless(cyclic, "order", "rows that come in blocks are visited as they stand: cyclic")?;
        let problem = "counts over all rows, which blocks do not show; turn it off";
        ParamError::unless(!self.has_pocket(), "pocket", problem)?;
        let unknown = vec![0.0; classes.len()];
        let mass = mass.filter(|mass| mass.len() == classes.len()).unwrap_or(&unknown);
        let factors = self.class_weight().map(|weight| weight.factors(&classes, mass)).transpose()?;
        let stream = self.stream_with(classes, n_features)?;
        Ok(Run::new(stream, schedule.passes, factors, self.is_bounded()))
    }
}

/// A stream before its first row.
fn begin<T: Online>(learner: &T, classes: Classes, n_features: usize) -> Result<Stream, Error> {
    learner.check()?;
    learner.check_planes(classes.len(), n_features)?;
    let state = learner.state(classes.len(), n_features);
    let about = Report {
        algorithm: Online::name(learner).to_owned(),
        objective: learner.objective(),
        parameters: learner.parameters(),
        ..Report::default()
    };
    let learner = learner.clone();
    let check = move |rows: &Matrix<'_>, first: u64| learner.check_rows(rows, &Features::default(), first);
    Ok(Stream::new(about, state, classes, n_features, Box::new(check)))
}
