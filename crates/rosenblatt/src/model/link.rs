//! How scores become probabilities.

use serde::{Deserialize, Serialize};

use super::Decision;
use crate::calibration::{self, isotonic, platt};

/// What the scores of a model say about probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// A score is the log odds of a class against all that is not of it.
    Logistic,
    /// A score is the logarithm of a class's probability, up to a number that all classes share.
    Softmax,
    /// A class that is b behind the predicted one is exp(−slope·b) times as likely, found on rows that were left out ([`Calibration`](crate::Calibration)).
    Calibrated {
        /// The slope where the first of two classes is predicted.
        below: f64,
        /// Where another class is.
        above: f64,
    },
    /// A class that is b behind the predicted one has exp(offset − slope·b) of what all have, found on rows that were left out; the predicted class has no less than any other.
    Platt {
        /// What a unit of score is worth.
        slope: f64,
        /// One for each class.
        offsets: Vec<f64>,
    },
    /// Curves that never fall, found on rows that were left out: of each class, or of the second of two.
    Isotonic {
        /// How far a class is ahead (behind, if less than 0), and its probability there; straight between.
        curves: Vec<Vec<[f64; 2]>>,
    },
}

impl Link {
    /// The probability of each class, given a row's scores. Pairs of classes tell none, unless they are calibrated. Where each class has log odds of its own, they are brought to sum 1.
    ///
    /// ```
    /// use rosenblatt::{Decision, Link, Tie};
    /// assert_eq!(Link::Logistic.probabilities(Decision::Sign(Tie::Negative), &[0.0]), Some(vec![0.5, 0.5]));
    /// assert_eq!(Link::Softmax.probabilities(Decision::Highest, &[7.0, 7.0]), Some(vec![0.5, 0.5]));
    /// ```
    pub fn probabilities(&self, decision: Decision, scores: &[f64]) -> Option<Vec<f64>> {
        match (decision, self) {
            (_, Link::Calibrated { .. } | Link::Platt { .. } | Link::Isotonic { .. }) => {
                let (predicted, behind) = decision.behind(scores, decision.n_classes(scores.len()));
                Some(self.shares(predicted, &behind))
            }
            (Decision::Sign(_), _) => Some(vec![logistic(-scores[0]), logistic(scores[0])]),
            (Decision::Highest, Link::Softmax) => Some(softmax(scores)),
            (Decision::Highest, Link::Logistic) => {
                let odds: Vec<f64> = scores.iter().map(|&score| logistic(score)).collect();
                let sum: f64 = odds.iter().sum();
                // Where no class is likely at all, the least unlikely ones are compared.
                if sum > 0.0 { Some(odds.iter().map(|p| p / sum).collect()) } else { Some(softmax(scores)) }
            }
            (Decision::Pairs(_) | Decision::Votes, _) => None,
        }
    }

    /// Of a calibrated model, given the class it predicts and how far each is behind it.
    pub(crate) fn shares(&self, predicted: usize, behind: &[f64]) -> Vec<f64> {
        let slope = match self {
            Link::Calibrated { below, .. } if predicted == 0 => *below,
            Link::Calibrated { above, .. } => *above,
            Link::Platt { slope, offsets } => return platt::shares(predicted, behind, *slope, offsets),
            Link::Isotonic { curves } => return isotonic::shares(predicted, behind, curves),
            Link::Logistic | Link::Softmax => 1.0,
        };
        calibration::shares(predicted, behind, slope)
    }

    /// Whether these scores tell probabilities.
    pub fn tells(&self, decision: Decision) -> bool {
        self.is_calibrated() || decision.pair_tie().is_none()
    }

    /// Whether it was found on rows that were left out.
    pub fn is_calibrated(&self) -> bool {
        matches!(self, Link::Calibrated { .. } | Link::Platt { .. } | Link::Isotonic { .. })
    }
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|share| share / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tie;

    #[test]
    fn probabilities_are_ones() {
        for scores in [[0.0, 0.0, 0.0], [1e3, -1e3, 2.0], [-1e3, -1e3, -999.0], [3.0, 2.0, -1.0]] {
            for link in [Link::Logistic, Link::Softmax] {
                let p = link.probabilities(Decision::Highest, &scores).unwrap();
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
                assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
            }
        }
        let p = Link::Logistic.probabilities(Decision::Sign(Tie::Negative), &[3f64.ln()]).unwrap();
        assert!((p[0] - 0.25).abs() < 1e-15 && (p[1] - 0.75).abs() < 1e-15);
        assert_eq!(Link::Softmax.probabilities(Decision::Pairs(Tie::Negative), &[1.0]), None);
    }
}
