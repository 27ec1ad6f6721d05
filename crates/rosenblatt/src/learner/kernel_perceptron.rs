//! The perceptron in the space of a kernel.

use serde::{Deserialize, Serialize};

use super::online::{Online, online_learner};
use super::{Bias, Task};
use crate::data::{DataError, Dataset, Features, Matrix};
use crate::error::ParamError;
use crate::kernel::{Kernel, KernelChoice, KernelName, usual_gamma};
use crate::model::{History, Tie};
use crate::online::{Budget, Budgeted, Form, Kernelised, State};
use crate::similarity::{Similarity, UserKernel};

online_learner! {
    /// On a mistake, aᵢ ← aᵢ + yᵢ; predicts sign Σ aₖ·K(xₖ, x).
    ///
    /// Aizerman, Braverman, Rozonoer (1964), Automation and Remote Control 25; averaged and voted: Freund and Schapire (1999), Machine Learning 37:3. A bias is a
    /// constant feature, which adds 1 to the kernel. With a budget ([`Forget`]) it stores no more than so many examples.
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
        /// A kernel of one's own, in place of all these; models with it cannot be written to files.
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub user: Option<UserKernel> = None,
        /// Which of the weights it went through it predicts with.
        pub predictor: Predictor = Predictor::Last,
        /// At most so many examples are stored for each binary problem, or for all classes at once: streams without end run in bounded memory. Problems share what they store, so that a model
        /// has at most as many rows as budget times problems. No limit if not given.
        pub budget: Option<usize> = None,
        /// What happens at a full budget; [`Forget::Forgetron`] if not given.
        pub forget: Option<Forget> = None,
        /// η of [`Forget::Projectron`]: an example so near to the span of the stored ones, in the space of the kernel, is projected though there is room.
        pub projection_error: f64 = 0.0,
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

/// How a kernel perceptron learns from a mistake when its budget is full. Until then it does what it does without one.
///
/// ```
/// use rosenblatt::{Body, Example, Forget, KernelName, KernelPerceptron, Learner, Rng};
/// // Points in a square, inside or outside of a circle, for as long as they come.
/// for forget in [Forget::Forgetron, Forget::Projectron] {
///     let learner = KernelPerceptron {
///         kernel: KernelName::Rbf, gamma: Some(1.0), budget: Some(30), forget: Some(forget), ..KernelPerceptron::default()
///     };
///     let (mut stream, mut rng) = (learner.stream()?, Rng::new(1));
///     for _ in 0..3000 {
///         let (u, v) = (4.0 * rng.uniform() - 2.0, 4.0 * rng.uniform() - 2.0);
///         stream.update(Example::Dense(&[u, v]), if u * u + v * v < 2.0 { "in" } else { "out" })?;
///     }
///     let Body::Kernel(expansion) = stream.model().body else { unreachable!() };
///     assert_eq!(expansion.len(), 30);
///     assert!(stream.mistakes() < 600, "{} by {forget:?}", stream.mistakes());
/// }
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forget {
    /// Coefficients shrink, and the oldest example is dropped: the self-tuned Forgetron of Dekel, Shalev-Shwartz, Singer (2008), SIAM Journal on Computing 37:5. A mistake costs a few times the
    /// budget. The budget counts mistakes, of which one example may make several.
    #[default]
    Forgetron,
    /// The new example is replaced by its projection onto the span of the stored ones, which stay: the Projectron of Orabona, Keshet, Caputo (2009), Journal of Machine Learning Research 10,
    /// projecting always when the budget is full. A mistake costs the square of the budget, in time, and half of it in memory.
    Projectron,
}

/// The Projectron keeps half a square of numbers: 4 GiB.
const LARGEST_BASIS: usize = 1 << 15;

impl KernelPerceptron {
    fn choice(&self) -> KernelChoice {
        let KernelPerceptron { kernel, gamma, sigma, degree, coef0, .. } = *self;
        KernelChoice { kernel, gamma, sigma, degree, coef0 }
    }

    /// Whether only the data can tell γ.
    fn needs_data(&self) -> bool {
        self.user.is_none() && self.choice().gamma().is_none()
    }

    fn similarity(&self) -> Similarity {
        match &self.user {
            Some(user) => user.clone().into(),
            None => self.choice().with(self.choice().gamma().unwrap_or(1.0)).into(),
        }
    }

    fn on_budget(&self) -> Option<Budget> {
        let (forget, near) = (self.forget.unwrap_or_default(), self.projection_error);
        self.budget.map(|size| Budget { size, forget, near })
    }

    fn check_budget(&self) -> Result<(), ParamError> {
        let near = self.projection_error;
        ParamError::unless(near >= 0.0 && near.is_finite(), "projection_error", "must not be negative")?;
        let Some(Budget { size, forget, .. }) = self.on_budget() else {
            ParamError::unless(
                self.forget.is_none(),
                "forget",
                "says what happens when the budget is full, but there is no budget",
            )?;
            return ParamError::unless(
                near == 0.0,
                "projection_error",
                "says what projectron may project though there is room, but there is no budget",
            );
        };
        let projects = forget == Forget::Projectron;
        ParamError::unless(size > 0, "budget", "must be at least 1")?;
        let known = self.user.is_some() || self.kernel != KernelName::Precomputed;
        ParamError::unless(
            known,
            "budget",
            "asks for values between stored rows, which a precomputed kernel has not",
        )?;
        ParamError::unless(
            projects || near == 0.0,
            "projection_error",
            "says what projectron may project though there is room, but forgetron projects nothing",
        )?;
        let most = format!("projectron keeps a matrix of the stored examples: at most {LARGEST_BASIS}");
        ParamError::unless(!projects || size <= LARGEST_BASIS, "budget", &most)?;
        match self.predictor {
            Predictor::Voted => Err(ParamError::new(
                "predictor",
                "all weights that vote would have to be kept, which no budget allows: take last, or averaged with projectron",
            )),
            Predictor::Averaged if !projects => Err(ParamError::new(
                "predictor",
                "the mean of all weights needs the examples that forgetron drops: take last, or projectron",
            )),
            _ => Ok(()),
        }
    }
}

impl Online for KernelPerceptron {
    fn name(&self) -> &'static str {
        "kernel-perceptron"
    }

    fn objective(&self) -> String {
        let kernel = self.similarity().formula();
        let output = match self.predictor {
            Predictor::Last => "predicts with the last weights",
            Predictor::Averaged => "predicts with the mean of all weights",
            Predictor::Voted => "predicts by the vote of all weights",
        };
        let lift = if self.bias.is_lifted() { " + 1" } else { "" };
        let budget = match self.on_budget() {
            None => String::new(),
            Some(Budget { size, forget: Forget::Forgetron, .. }) => {
                format!(", beyond {size} a ← φ·a without the oldest")
            }
            Some(Budget { size, near: 0.0, .. }) => format!(", beyond {size} projected onto the stored xₖ"),
            Some(Budget { size, near, .. }) => {
                format!(", beyond {size}, or no more than {near} away, projected onto the stored xₖ")
            }
        };
        format!("on a mistake aᵢ ← aᵢ + yᵢ{budget}; g(x) = Σ aᵢ·K(xᵢ, x), K(u, v) = {kernel}{lift}; {output}")
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        self.check_budget()?;
        if self.user.is_some() { Ok(()) } else { self.choice().check() }
    }

    fn check_rows(&self, x: &Matrix<'_>, _: &Features, first: u64) -> Result<(), DataError> {
        let kernel = self.similarity();
        kernel.check_range(x, first)?;
        kernel.check_training(x)
    }

    fn check_holdout(&self, holdout: &Dataset<'_>) -> Result<(), DataError> {
        self.similarity().check_range(holdout.x(), 0)
    }

    fn check_task(&self, task: &Task<'_>) -> Result<(), ParamError> {
        let plain = task.scaling.is_none() && task.map.is_none();
        let given = self.similarity() == Kernel::Precomputed.into();
        ParamError::unless(
            plain || !given,
            "kernel",
            "precomputed values are not features: neither scale nor map them",
        )
    }

    /// Examples stand for weights.
    fn check_planes(&self, _: usize, _: usize) -> Result<(), DataError> {
        Ok(())
    }

    fn check_stream(&self) -> Result<(), ParamError> {
        let given = self.similarity() == Kernel::Precomputed.into();
        let problem = "a stream has no matrix of precomputed values, which tells of each row with all others";
        ParamError::unless(!given, "kernel", problem)?;
        let problem = "a stream cannot measure the spread of rows to come: give gamma or sigma";
        ParamError::unless(!self.needs_data(), "gamma", problem)
    }

    fn completed(&self, data: &Dataset<'_>) -> Option<Self> {
        self.needs_data().then(|| KernelPerceptron { gamma: Some(usual_gamma(data)), ..self.clone() })
    }

    fn stored(&self, rows: usize) -> usize {
        self.budget.map_or(rows, |budget| budget.min(rows))
    }

    /// Novikoff's proof forgets nothing.
    fn is_bounded(&self) -> bool {
        self.budget.is_none()
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        self.state(n_classes, n_cols)
    }

    fn state(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let kernel = self.similarity().watched();
        let (lifted, tie, predictor) = (self.bias.is_lifted(), self.tie, self.predictor);
        let (scheme, budget) = (self.multiclass, self.on_budget());
        let form = Form { kernel, lifted, tie, predictor, scheme, budget };
        match budget {
            None => Box::new(Kernelised::<History>::new(form, n_classes, n_cols)),
            Some(_) => Box::new(Kernelised::<Budgeted>::new(form, n_classes, n_cols)),
        }
    }
}
