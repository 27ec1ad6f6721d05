//! Support vector machines in the space of a kernel.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, Counted, batch_learner};
use super::machines::Machines;
use super::{Bias, Demand, Fit, Learner, Shortcut, Task};
use crate::data::Dataset;
use crate::error::{Error, ParamError};
use crate::kernel::{KernelChoice, KernelName};
use crate::loss::{HardMargin, Hinge, SquaredHinge};
use crate::online::Multiclass;
use crate::similarity::{Similarity, UserKernel};
use crate::solver::{Level, Term};
use crate::watch::Watch;

/// What rows inside the margin cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slack {
    /// C·ξ, ξ = max(0, 1 − y·g(x))
    #[default]
    Linear,
    /// C·ξ²
    Squared,
    /// There are none: the hard margin.
    None,
}

batch_learner! {
    /// A support vector machine: the largest margin in the space of a kernel.
    ///
    /// Cortes and Vapnik (1995), Machine Learning 20; ν: Schölkopf, Smola, Williamson, Bartlett (2000), Neural Computation 12.
    ///
    /// ```
    /// use rosenblatt::{Body, Dataset, Dense, Labels, Learner, Status, Svm};
    /// // Two classes that no line separates.
    /// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["1", "-1", "1", "-1"]))?;
    /// let fit = Svm { gamma: Some(0.5), c: 10.0, ..Svm::default() }.fit(&data, &mut ())?;
    /// assert_eq!((fit.report.status, fit.report.train_accuracy), (Status::Converged, Some(1.0)));
    /// let Body::Kernel(expansion) = &fit.model.body else { unreachable!() };
    /// assert_eq!(expansion.numbers(), [0, 1, 2, 3]); // all are support vectors
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct Svm {
        /// The kernel.
        pub kernel: KernelName = KernelName::Rbf,
        /// γ of the kernel; if neither it nor σ is given, 1 for `poly`, else 1 / (features · variance).
        pub gamma: Option<f64> = None,
        /// σ, another way to give γ = 1/(2σ²).
        pub sigma: Option<f64> = None,
        /// d of `poly`.
        pub degree: u32 = 3,
        /// c of `poly` (1 if not given), ν of `sigmoid` (0).
        pub coef0: Option<f64> = None,
        /// A kernel of one's own, in place of all these; models with it cannot be written to files.
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub user: Option<UserKernel> = None,
        /// What rows inside the margin cost.
        pub slack: Slack = Slack::Linear,
        /// ν instead of C: at most this share of the rows is inside the margin, and at least this share are support vectors.
        pub nu: Option<f64> = None,
        /// No optimality condition is broken by more.
        pub tolerance: f64 = 1e-3,
        /// Bytes for kernel rows; if not given, a quarter of the free memory, or at most 1 GiB (a working set, if that is more) where rows are short.
        pub cache: Option<usize> = None,
    }
    multiclass = Multiclass::Ovo, passes = 1_000_000
}

impl Svm {
    fn choice(&self) -> KernelChoice {
        let Svm { kernel, gamma, sigma, degree, coef0, .. } = *self;
        KernelChoice { kernel, gamma, sigma, degree, coef0 }
    }

    /// With γ as the data suggest it, unless it is known, and the kernel that makes.
    pub(super) fn completed(&self, data: &Dataset<'_>) -> (Self, Similarity) {
        if let Some(user) = &self.user {
            return (self.clone(), user.clone().into());
        }
        let choice = self.choice().completed(data);
        let kernel = choice.with(choice.gamma().unwrap_or(1.0)).into();
        (Svm { gamma: choice.gamma, sigma: choice.sigma, ..self.clone() }, kernel)
    }

    /// All classes in one problem go with linear slack and without a free bias, which would be an equality in the dual for each class that no single row can keep.
    fn check_native(&self) -> Result<(), ParamError> {
        let native = self.multiclass == Multiclass::Native;
        let plain = self.nu.is_none() && self.slack == Slack::Linear;
        let problem = "native has linear slack and no nu: give ovo or ovr with these";
        ParamError::unless(!native || plain, "multiclass", problem)?;
        let problem = "native goes with a bias that is regularized or none: add --bias regularized";
        ParamError::unless(!native || self.bias != Bias::Free, "multiclass", problem)
    }

    fn objective(&self, data: &Dataset<'_>, kernel: &Similarity) -> String {
        let ((norm, _), common) = (batch::terms(self.bias), self.common());
        if self.multiclass == Multiclass::Native {
            return joint_objective(&common, data, kernel);
        }
        let loss = match (self.nu, self.slack) {
            (Some(nu), _) => {
                let score = score(self.bias, kernel);
                let Counted { times, told } = Counted::of(&common, data, true);
                return format!(
                    "min {norm} − ν·n·ρ + Σ {times}max(0, ρ − y·g(x)), ν = {nu}, then g/ρ{told}; {score}"
                );
            }
            (None, Slack::None) => {
                return format!("min {norm} with y·g(x) ≥ 1; {}", score(self.bias, kernel));
            }
            (None, Slack::Linear) => "max(0, 1 − y·g(x))",
            (None, Slack::Squared) => "max(0, 1 − y·g(x))²",
        };
        format!("min {norm} + {}; {}", batch::cost(&common, data, loss), score(self.bias, kernel))
    }
}

/// Of one machine for all classes.
fn joint_objective(common: &batch::Common<'_>, data: &Dataset<'_>, kernel: &Similarity) -> String {
    let (norm, b) = match common.bias.is_lifted() {
        true => ("½Σ(‖w_c‖² + b_c²)", " + b_c"),
        false => ("½Σ‖w_c‖²", ""),
    };
    let cost = batch::cost(common, data, "max(0, 1 + max g_c(x) − g_y(x)), c ≠ y");
    format!("min {norm} + {cost}; g_c(x) = w_c·φ(x){b}, φ(u)·φ(v) = {}", kernel.formula())
}

/// The score of a kernel machine, for objectives.
pub(super) fn score(bias: Bias, kernel: &Similarity) -> String {
    let b = if bias.is_lifted() { " + b" } else { "" };
    format!("g(x) = w·φ(x){b}, φ(u)·φ(v) = {}", kernel.formula())
}

pub(super) fn check_kernel(choice: KernelChoice, tolerance: f64) -> Result<(), ParamError> {
    ParamError::unless(tolerance > 0.0 && tolerance < 1.0, "tolerance", "must be more than 0 and below 1")?;
    choice.check()
}

impl Learner for Svm {
    fn name(&self) -> &'static str {
        "svm"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.check_native()?;
        let nu = self.nu.unwrap_or(0.5);
        ParamError::unless(nu > 0.0 && nu <= 1.0, "nu", "must be more than 0 and at most 1")?;
        let alone = self.c == 1.0 && self.lambda.is_none() && self.slack == Slack::Linear;
        ParamError::unless(
            self.nu.is_none() || alone,
            "nu",
            "stands in place of c, lambda and slack: give one of them",
        )?;
        ParamError::unless(self.nu.is_none() || self.bias == Bias::Free, "nu", "goes with a free bias")?;
        check_kernel(self.choice(), self.tolerance)?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn shortcut(&self) -> Option<Shortcut<'_>> {
        Self::shortcut(self)
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let Svm { tolerance, cache, nu, .. } = *self;
        let machines = Machines { term: Hinge, kernel: self.completed(data).1, tolerance, cache, nu };
        machines.demand(&self.common(), data)
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        match (self.nu, self.slack) {
            (Some(_), _) => self.learn_by(Level, task, watch),
            (None, Slack::Linear) => self.learn_by(Hinge, task, watch),
            (None, Slack::Squared) => self.learn_by(SquaredHinge, task, watch),
            (None, Slack::None) => self.learn_by(HardMargin, task, watch),
        }
    }
}

impl Svm {
    fn learn_by<T: Term>(&self, term: T, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        let (completed, kernel) = self.completed(task.data);
        let about = batch::about(self.name(), self.objective(task.data, &kernel), completed.parameters());
        let Svm { tolerance, cache, nu, .. } = *self;
        Machines { term, kernel, tolerance, cache, nu }.learn(about, &self.common(), task, watch)
    }
}
