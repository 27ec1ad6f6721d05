//! Linear classifiers, from Rosenblatt's perceptron on, with proof of what was learned.
//!
//! # The field in one screen
//!
//! A **linear classifier** scores an example x by g(x) = w·x + b and predicts its sign: −1 or +1. Geometrically g(x) = 0 is a hyperplane with
//! unit normal w/‖w‖, and g(x)/‖w‖ is how far x lies from it, on which side. With many classes each has its own w and the highest score
//! wins.
//!
//! Learning means finding w. The **perceptron** looks at one example at a time and changes w only at mistakes: w ← w + y·x. If some hyperplane
//! separates the classes with margin γ (every example at least γ away from it), and no example is longer than R, it makes at most
//! **(R/γ)² mistakes** whatever the order of the examples, because each mistake pushes w·w* up by γ while ‖w‖² grows by at most R²
//! (Novikoff 1962; [`Audit`] checks this step by step). If no hyperplane separates them it never settles: then the best weights met
//! ([`Perceptron::pocket`]), the mean of all weights ([`Perceptron::averaged`]) or their vote ([`Perceptron::voted`]) predict better than the last.
//!
//! Relatives change what a mistake is or how far to move: [`PassiveAggressive`] takes the smallest step to a margin of 1, [`Alma`] aims at the largest
//! margin, [`Arow`] gives each weight a variance, [`Winnow`] multiplies instead of adding. Each is an update rule on a hypothesis, one
//! row in the [`registry`].
//!
//! # An example
//!
//! ```
//! use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron, Status};
//!
//! // Three points of the plane and their classes.
//! let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
//! let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
//!
//! // Parameters are plain fields; what comes back is a model and a report.
//! let fit = Perceptron { passes: 20, ..Perceptron::default() }.fit(&data, &mut ())?;
//! assert_eq!(fit.report.status, Status::Converged);
//! assert!(fit.report.mistakes as f64 <= fit.report.mistake_bound.expect("it separates the classes"));
//!
//! let new = Dense::new(vec![1.0, -5.0], 2)?.into();
//! assert_eq!(fit.model.predict(&new)?, [1]); // "yes", the second class
//! # Ok::<(), rosenblatt::Error>(())
//! ```
//!
//! # Where things are
//!
//! Kernels are [`Kernel`], or a function of one's own ([`UserKernel`]); [`Gram`] evaluates them in blocks, and [`RowCache`] keeps rows of values under a budget of bytes.
//!
//! [`Dataset`] holds rows ([`Dense`] or [`Csr`], f32 or f64, borrowed or owned) and classes. A [`Learner`] makes a [`Fit`]: a [`Model`] and a
//! [`Report`]. A [`Stream`] learns one example at a time. [`Fit::to_bytes`] is the model file. A [`Watch`] sees progress and may stop a run.
//! Not converging is a [`Status`], never an error. The same seed gives the same bytes on any number of threads.

mod audit;
mod cache;
mod calibration;
mod clock;
mod compare;
mod data;
mod error;
mod feature;
mod geometry;
mod gram;
mod kernel;
mod learner;
mod learning_curve;
pub mod loss;
mod metrics;
mod model;
mod network;
mod online;
mod plan;
mod pool;
mod precomputed;
pub mod registry;
mod report;
mod rng;
mod select;
mod separability;
mod shared;
#[doc(hidden)] // for the other crates of this project
pub mod simd;
mod similarity;
mod solver;
mod statistics;
mod store;
mod trace;
mod verify;
mod watch;

pub use audit::{Audit, AuditStep};
pub use cache::{RowCache, usual_cache_bytes};
pub use calibration::{Calibrated, Calibration, CalibrationMethod};
pub use compare::{Compared, Comparison, Contender, Figures, NOISE};
pub use data::*;
pub use error::{Error, ParamError};
pub use feature::{FeatureMap, MapKind};
pub use geometry::{Geometry, radius};
pub use gram::{Gram, Tiles};
pub use kernel::{Kernel, KernelChoice, KernelName, usual_gamma};
pub use learner::*;
pub use learning_curve::{CurveRows, LearningCurve, PassPoint, SizePoint};
pub use metrics::{Bin, ClassRates, Evaluation, ProbabilityScores, Reliability, auc, weighted_accuracy};
pub use model::{
    Ballot, Bayes, Body, Contribution, Decision, Expansion, Explanation, Layers, Link, Model, ModelError,
    Planes, Similar, Tie, pairs,
};
pub use network::{Activation, Optimizer};
pub use online::{Aggressiveness, Example, FromExample, Measure, Multiclass, Order, Run, Stream};
pub use plan::{Forecast, Plan, Planner, Probe};
pub use report::{Pass, Report, Status, SubProblem};
pub use rng::Rng;
pub use select::{
    Axis, Cell, Family, Nested, Outer, Range, Rule, Search, Searched, Selection, Space, Strategy,
    grouped_folds,
};
pub use separability::{
    Fraction, Multiplier, Obstruction, Products, Separability, SeparabilityProblem, Separator,
};
pub use similarity::{BlockKernel, Similarity, UserKernel};
pub use solver::{Slacks, Solver};
pub use statistics::{corrected_t, holm, mcnemar, wilson};
pub use trace::{Step, Trace};
pub use verify::{Claim, Verdict, Verification, Verifier};
pub use watch::{Progress, Watch};

/// The README's example is a test like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
