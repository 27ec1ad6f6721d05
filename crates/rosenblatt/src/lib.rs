//! placeholder
mod audit;
mod data;
mod error;
mod geometry;
mod learner;
pub mod loss;
mod metrics;
mod model;
mod online;
pub mod registry;
mod report;
mod rng;
mod trace;
mod watch;

pub use audit::{Audit, AuditStep};
pub use data::*;
pub use error::{Error, ParamError};
pub use geometry::{Geometry, radius};
pub use learner::*;
pub use metrics::{ClassRates, Evaluation, auc, weighted_accuracy};
pub use model::{Ballot, Body, Contribution, Decision, Explanation, Model, ModelError, Planes, Tie, pairs};
pub use online::{Aggressiveness, Example, Multiclass, Order, Stream};
pub use report::{Pass, Report, Status, SubProblem};
pub use rng::Rng;
pub use trace::{Step, Trace};
pub use watch::{Progress, Watch};
