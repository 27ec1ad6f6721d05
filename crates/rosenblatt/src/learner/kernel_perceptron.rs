//! The perceptron in the space of a kernel.

use serde::{Deserialize, Serialize};

use super::Bias;
use super::online::{Online, online_learner};
use crate::data::{DataError, Dataset, Features, Matrix};
use crate::error::ParamError;
use crate::kernel::{KernelChoice, KernelName, usual_gamma};
use crate::model::Tie;
use crate::online::{Form, Kernelised, State};

online_learner! {
    /// On a mistake, aᵢ ← aᵢ + yᵢ; predicts sign Σ aₖ·K(xₖ, x).
    ///
    /// Aizerman, Braverman, Rozonoer (1964), Automation and Remote Control 25; averaged and voted: Freund and Schapire (1999), Machine Learning 37:3. A bias is a
    /// constant feature, which adds 1 to the kernel.
    ///
    /// ```
    /// use rosenblatt::{Bias, Dataset, Dense, KernelName, KernelPerceptron, Labels, Learner, Order, Status};
    /// // No line separates the corners of a square from each other, (u·v)² does.
    /// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["1", "-1", "1", "-1"]))?;
    /// let learner = KernelPerceptron {
    ///     kernel: KernelName::Poly, degree: 2, coef0: Some(0.0), order: Order::Cyclic, ..KernelPerceptron::default()
    /// };
    /// let fit = learner.fit(&data, &mut ())?;
    /// assert_eq!((fit.report.status, fit.report.mistakes), (Status::Converged, 1));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct KernelPerceptron {
        /// The kernel.
        pub kernel: KernelName = KernelName::Poly,
        /// γ of the kernel; if neither it nor σ is given, 1 for `poly`, else 1 / (features · variance).
        pub gamma: Option<f64> = None,
        /// σ, another way to give γ = 1/(2σ²).
        pub sigma: Option<f64> = None,
        /// d of `poly`.
        pub degree: u32 = 3,
        /// c of `poly` (1 if not given), ν of `sigmoid` (0).
        pub coef0: Option<f64> = None,
        /// Which of the weights it went through it predicts with.
        pub predictor: Predictor = Predictor::Last,
        /// What a score of 0 means.
        pub tie: Tie = Tie::Negative,
    }
    bias = Bias::None, passes = 10
}

/// Which weights a kernel perceptron predicts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Predictor {
    /// The last.
    #[default]
    Last,
    /// The mean over all visits.
    Averaged,
    /// All of them, by votes weighted with the visits each survived.
    Voted,
}

impl KernelPerceptron {
    fn choice(&self) -> KernelChoice {
        let KernelPerceptron { kernel, gamma, sigma, degree, coef0, .. } = *self;
        KernelChoice { kernel, gamma, sigma, degree, coef0 }
    }
}

impl Online for KernelPerceptron {
    fn name(&self) -> &'static str {
        "kernel-perceptron"
    }

    fn objective(&self) -> String {
        let kernel = self.choice().with(self.choice().gamma().unwrap_or(1.0)).formula();
        let output = match self.predictor {
            Predictor::Last => "predicts with the last weights",
            Predictor::Averaged => "predicts with the mean of all weights",
            Predictor::Voted => "predicts by the vote of all weights",
        };
        let lift = if self.bias.is_lifted() { " + 1" } else { "" };
        format!("on a mistake aᵢ ← aᵢ + yᵢ; g(x) = Σ aᵢ·K(xᵢ, x), K(u, v) = {kernel}{lift}; {output}")
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        self.choice().check()
    }

    fn check_rows(&self, x: &Matrix<'_>, _: &Features, first: u64) -> Result<(), DataError> {
        self.choice().with(self.choice().gamma().unwrap_or(1.0)).check(x, first)
    }

    fn check_holdout(&self, holdout: &Dataset<'_>) -> Result<(), DataError> {
        self.check_rows(holdout.x(), holdout.features(), 0)
    }

    /// Examples stand for weights.
    fn check_planes(&self, _: usize, _: usize) -> Result<(), DataError> {
        Ok(())
    }

    fn check_stream(&self) -> Result<(), ParamError> {
        let known = self.choice().gamma().is_some();
        ParamError::unless(
            known,
            "gamma",
            "a stream cannot measure the spread of rows to come: give gamma or sigma",
        )
    }

    fn completed(&self, data: &Dataset<'_>) -> Option<Self> {
        let open = self.choice().gamma().is_none();
        open.then(|| KernelPerceptron { gamma: Some(usual_gamma(data)), ..self.clone() })
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        self.state(n_classes, n_cols)
    }

    fn state(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let kernel = self.choice().with(self.choice().gamma().unwrap_or(1.0));
        let (lifted, tie, predictor) = (self.bias.is_lifted(), self.tie, self.predictor);
        let form = Form { kernel, lifted, tie, predictor, scheme: self.multiclass };
        Box::new(Kernelised::new(form, n_classes, n_cols))
    }
}
