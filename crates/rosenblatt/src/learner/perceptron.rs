//! Rosenblatt's perceptron and its averaged and voted forms.

use serde::{Deserialize, Serialize};

use super::Bias;
use super::online::{Common, Online, online_learner};
use crate::error::ParamError;
use crate::model::{Planes, Tie};
use crate::online::{Averaged, Hypothesis, Native, OnMistake, State, Voted};
use crate::rng::Rng;

online_learner! {
    /// On a mistake, w ← w + η·y·x.
    ///
    /// Rosenblatt (1958), Psychological Review 65:6. Averaged and voted: Freund and Schapire (1999), Machine Learning 37:3. Many
    /// classes: Kesler's construction, w_true += x and w_predicted −= x.
    ///
    /// ```
    /// use rosenblatt::{Learner, Perceptron, Output};
    /// assert_eq!(Perceptron::averaged().name(), "averaged-perceptron");
    /// assert!(Perceptron { learning_rate: 0.0, ..Perceptron::default() }.check().is_err());
    /// assert_eq!(Perceptron::voted().output, Output::Voted);
    /// ```
    pub struct Perceptron {
        /// Which of the weights it went through it predicts with.
        pub output: Output = Output::Plain,
        /// η. From zero weights it scales the weights and changes no prediction.
        pub learning_rate: f64 = 1.0,
        /// What a score of 0 means.
        pub tie: Tie = Tie::Negative,
        /// The weights at the start.
        pub init: Init = Init::Zero,
        /// Keep the best weights met rather than the last. Plain output only.
        pub pocket: bool = true,
    }
    bias = Bias::Free, passes = 100
}

/// Which weights a perceptron predicts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// The last, or the best met where there is a pocket.
    #[default]
    Plain,
    /// The mean over all visits.
    Averaged,
    /// All of them, by votes weighted with the visits each survived.
    Voted,
}

/// Weights at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// All 0.
    #[default]
    Zero,
    /// Drawn from [−0.01, 0.01] by the seed.
    Random,
}

impl Perceptron {
    /// Predicts with the mean of all weights.
    pub fn averaged() -> Self {
        Perceptron { output: Output::Averaged, pocket: false, passes: 10, ..Perceptron::default() }
    }

    /// Predicts by the vote of all weights.
    pub fn voted() -> Self {
        Perceptron { output: Output::Voted, ..Perceptron::averaged() }
    }

    fn start(&self, n_classes: usize, n_cols: usize) -> Planes {
        let mut planes = self.zeros(n_classes, n_cols);
        if self.init == Init::Random {
            let mut rng = Rng::stream(self.seed, u64::MAX);
            planes.weights.iter_mut().for_each(|w| *w = 0.02 * rng.uniform() - 0.01);
        }
        planes
    }

    fn state(&self, hypothesis: impl Hypothesis, n_classes: usize) -> Box<dyn State> {
        let rule = OnMistake { rate: self.learning_rate };
        Box::new(Native::new(hypothesis, rule, self.tie, n_classes, self.pocket))
    }
}

impl Online for Perceptron {
    fn name(&self) -> &'static str {
        match self.output {
            Output::Plain => "perceptron",
            Output::Averaged => "averaged-perceptron",
            Output::Voted => "voted-perceptron",
        }
    }

    fn objective(&self) -> String {
        let output = match self.output {
            Output::Plain if self.pocket => "predicts with the best weights met",
            Output::Plain => "predicts with the last weights",
            Output::Averaged => "predicts with the mean of all weights",
            Output::Voted => "predicts by the vote of all weights",
        };
        let rate = match self.learning_rate {
            1.0 => String::new(),
            rate => format!("{rate}·"),
        };
        format!("on a mistake w ← w + {rate}y·x; {output}")
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        let rate = self.learning_rate;
        ParamError::unless(rate > 0.0 && rate.is_finite(), "learning_rate", "must be more than 0")?;
        let plain = self.output == Output::Plain;
        ParamError::unless(plain || !self.pocket, "pocket", "only plain output has one")?;
        let zero = self.init == Init::Zero;
        ParamError::unless(zero || self.output != Output::Voted, "init", "a vote starts at zero")?;
        Ok(())
    }

    /// Every mistake.
    fn stored(&self, rows: usize) -> usize {
        if self.output == Output::Voted { rows } else { 0 }
    }

    fn is_bounded(&self) -> bool {
        self.init == Init::Zero
    }

    /// Random weights are drawn feature by feature for all classes.
    fn is_open(&self) -> bool {
        self.init == Init::Zero
    }

    fn has_pocket(&self) -> bool {
        self.pocket
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let planes = self.start(n_classes, n_cols);
        match self.output {
            Output::Plain => self.state(planes, n_classes),
            Output::Averaged => self.state(Averaged::new(planes), n_classes),
            Output::Voted => self.state(Voted::new(planes, self.tie), n_classes),
        }
    }
}
