//! Logistic regression in the space of a kernel.

use serde_json::Value;

use super::batch::{self, batch_learner};
use super::machines::Machines;
use super::svm::{check_kernel, score};
use super::{Demand, Fit, Learner, Task};
use crate::data::Dataset;
use crate::error::{Error, ParamError};
use crate::kernel::{KernelChoice, KernelName};
use crate::loss;
use crate::model::Link;
use crate::online::Multiclass;
use crate::similarity::{Similarity, UserKernel};
use crate::watch::Watch;

batch_learner! {
    /// Kernel logistic regression: w = Σ aᵢφ(xᵢ) and a free bias, by pairs of second-order steps on its dual.
    ///
    /// Keerthi, Duan, Shevade, Poo (2005), A fast dual algorithm for kernel logistic regression, Machine Learning 61. Every row has a part in w.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, KernelLogistic, Labels, Learner};
    /// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["1", "-1", "1", "-1"]))?;
    /// let model = KernelLogistic { gamma: Some(0.5), c: 10.0, ..KernelLogistic::default() }.fit(&data, &mut ())?.model;
    /// let scores = model.scores(&Dense::new(vec![1.0, 1.0], 2)?.into())?;
    /// assert!(model.probabilities(&scores).expect("scores are log odds")[1] > 0.8);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct KernelLogistic {
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
        /// No optimality condition is broken by more.
        pub tolerance: f64 = 1e-2,
        /// Bytes for kernel rows; if not given, a quarter of the free memory, or at most 1 GiB (a working set, if that is more) where rows are short.
        pub cache: Option<usize> = None,
    }
    multiclass = Multiclass::Ovr, passes = 1_000_000
}

impl KernelLogistic {
    fn choice(&self) -> KernelChoice {
        let KernelLogistic { kernel, gamma, sigma, degree, coef0, .. } = *self;
        KernelChoice { kernel, gamma, sigma, degree, coef0 }
    }

    /// With γ as the data suggest it, unless it is known, and the kernel that makes.
    fn completed(&self, data: &Dataset<'_>) -> (Self, Similarity) {
        if let Some(user) = &self.user {
            return (self.clone(), user.clone().into());
        }
        let choice = self.choice().completed(data);
        let kernel = choice.with(choice.gamma().unwrap_or(1.0)).into();
        (KernelLogistic { gamma: choice.gamma, sigma: choice.sigma, ..self.clone() }, kernel)
    }
}

impl Learner for KernelLogistic {
    fn name(&self) -> &'static str {
        "kernel-logistic"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.common().refuse_native()?;
        check_kernel(self.choice(), self.tolerance)?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let KernelLogistic { tolerance, cache, .. } = *self;
        let kernel = self.completed(data).1;
        let machines = Machines { term: loss::Logistic, kernel, tolerance, cache, nu: None };
        machines.demand(&self.common(), data)
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let ((completed, kernel), common) = (self.completed(task.data), self.common());
        let (norm, _) = batch::terms(self.bias);
        let cost = batch::cost(&common, task.data, "log(1 + exp(−y·g(x)))");
        let objective = format!("min {norm} + {cost}; {}", score(self.bias, &kernel));
        let about = batch::about(self.name(), objective, completed.parameters());
        let KernelLogistic { tolerance, cache, .. } = *self;
        let machines = Machines { term: loss::Logistic, kernel, tolerance, cache, nu: None };
        let mut fit = machines.learn(about, &common, task, watch)?;
        // Pairs of classes tell no probabilities.
        fit.model.link = fit.model.decision.pair_tie().is_none().then_some(Link::Logistic);
        Ok(fit)
    }
}
