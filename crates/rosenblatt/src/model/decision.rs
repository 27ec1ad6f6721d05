//! From scores to a class.

use serde::{Deserialize, Serialize};

use super::ballot::argmax;

/// What a score of exactly 0 means in a binary problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tie {
    /// Predicts −1.
    #[default]
    Negative,
    /// Predicts +1.
    Positive,
    /// Always a mistake while learning, the rule under which the mistake bound is proved; predicts −1 afterwards.
    Mistake,
}

impl Tie {
    /// Whether a score predicts +1.
    #[inline]
    pub fn is_positive(self, score: f64) -> bool {
        score > 0.0 || (score == 0.0 && self == Tie::Positive)
    }
}

/// How scores decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// One score; its sign chooses between two classes.
    Sign(Tie),
    /// One score a class; the highest wins, ties go to the first class.
    Highest,
    /// One score for each pair of classes, (0,1), (0,2), …, (1,2), …: votes, ties broken by summed scores, then by class
    /// order.
    Pairs(Tie),
    /// The same as LIBSVM does it: a score of 0 is a vote for the second of a pair, and ties of votes go to the first class.
    Votes,
}

/// The pairs of classes in the order of their scores.
///
/// ```
/// use rosenblatt::pairs;
/// assert_eq!(pairs(3), [(0, 1), (0, 2), (1, 2)]);
/// ```
pub fn pairs(n_classes: usize) -> Vec<(usize, usize)> {
    (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b))).collect()
}

impl Decision {
    /// How many scores it needs.
    pub fn n_scores(self, n_classes: usize) -> usize {
        match self {
            Decision::Sign(_) => 1,
            Decision::Highest => n_classes,
            Decision::Pairs(_) | Decision::Votes => n_classes * n_classes.saturating_sub(1) / 2,
        }
    }

    /// The class that the scores choose.
    ///
    /// ```
    /// use rosenblatt::{Decision, Tie};
    /// assert_eq!(Decision::Sign(Tie::Negative).decide(&[0.0], 2), 0);
    /// assert_eq!(Decision::Highest.decide(&[2.0, 7.0, 2.0], 3), 1);
    /// ```
    pub fn decide(self, scores: &[f64], n_classes: usize) -> usize {
        match self {
            Decision::Sign(tie) => usize::from(tie.is_positive(scores[0]) && n_classes > 1),
            Decision::Highest => argmax(scores),
            Decision::Votes => argmax(&pair_votes(scores, n_classes, Tie::Positive)),
            Decision::Pairs(tie) => {
                let votes = pair_votes(scores, n_classes, tie);
                let most = votes[argmax(&votes)];
                let summed = self.summed(scores, n_classes);
                let eligible = |c: usize| if votes[c] == most { summed[c] } else { f64::NEG_INFINITY };
                argmax(&(0..n_classes).map(eligible).collect::<Vec<_>>())
            }
        }
    }

    /// The class of each row, from the scores of all rows.
    pub(crate) fn decide_all(self, scores: &[f64], n_classes: usize) -> Vec<u32> {
        let rows = scores.chunks(self.n_scores(n_classes).max(1));
        rows.map(|scores| self.decide(scores, n_classes) as u32).collect()
    }

    /// One score a class, the highest being the decision's. With two classes the first has the negative of the second's, also
    /// while a stream knows only the first; with pairs a class has its votes, and as a fraction below ½ its summed scores, or its place where that breaks ties.
    ///
    /// ```
    /// use rosenblatt::{Decision, Tie};
    /// // Class 1 beats 0 and 2 narrowly; the sums alone would choose 0, which beats 2 clearly.
    /// let scores = Decision::Pairs(Tie::Negative).class_scores(&[0.1, -9.0, -1.0], 3);
    /// assert_eq!(scores.iter().map(|s| s.round()).collect::<Vec<_>>(), [1.0, 2.0, 0.0]);
    /// ```
    pub fn class_scores(self, scores: &[f64], n_classes: usize) -> Vec<f64> {
        let summed = self.summed(scores, n_classes);
        match self {
            Decision::Pairs(tie) => {
                let votes = pair_votes(scores, n_classes, tie);
                votes.iter().zip(summed).map(|(votes, s)| votes + s / (3.0 * (s.abs() + 1.0))).collect()
            }
            Decision::Votes => {
                let votes = pair_votes(scores, n_classes, Tie::Positive);
                votes.iter().zip(1..).map(|(votes, place)| votes + 1.0 / f64::from(2 + place)).collect()
            }
            _ => summed,
        }
    }

    /// What a score of 0 means, where scores are of pairs of classes.
    ///
    /// ```
    /// use rosenblatt::{Decision, Tie};
    /// assert_eq!(Decision::Votes.pair_tie(), Some(Tie::Positive));
    /// assert_eq!(Decision::Highest.pair_tie(), None);
    /// ```
    pub fn pair_tie(self) -> Option<Tie> {
        match self {
            Decision::Sign(_) | Decision::Highest => None,
            Decision::Pairs(tie) => Some(tie),
            Decision::Votes => Some(Tie::Positive),
        }
    }

    /// How many classes so many scores are of.
    pub(crate) fn n_classes(self, n_scores: usize) -> usize {
        match self {
            Decision::Sign(_) => 2,
            Decision::Highest => n_scores,
            Decision::Pairs(_) | Decision::Votes => {
                (2..).find(|&k| self.n_scores(k) >= n_scores).unwrap_or(2)
            }
        }
    }

    /// The class that the scores choose, and how far each class is behind it: with pairs in its own pair with it, where not even there ahead.
    pub(crate) fn behind(self, scores: &[f64], n_classes: usize) -> (usize, Vec<f64>) {
        let predicted = self.decide(scores, n_classes);
        let mut behind = vec![0.0; n_classes];
        match self {
            Decision::Sign(_) => behind.iter_mut().for_each(|b| *b = scores[0].abs()),
            Decision::Highest => {
                behind.iter_mut().zip(scores).for_each(|(b, score)| *b = scores[predicted] - score);
            }
            Decision::Pairs(_) | Decision::Votes => {
                for ((a, b), score) in pairs(n_classes).into_iter().zip(scores) {
                    match predicted {
                        _ if predicted == a => behind[b] = (-score).max(0.0),
                        _ if predicted == b => behind[a] = score.max(0.0),
                        _ => {}
                    }
                }
            }
        }
        behind[predicted] = 0.0;
        (predicted, behind)
    }

    /// How many of its pairs each class wins.
    pub(crate) fn votes(self, scores: &[f64], n_classes: usize) -> Option<Vec<f64>> {
        self.pair_tie().map(|tie| pair_votes(scores, n_classes, tie))
    }

    /// One score a class that is linear in the scores: with pairs the sum of a class's pairs, each signed in its favour.
    pub(crate) fn summed(self, scores: &[f64], n_classes: usize) -> Vec<f64> {
        match self {
            Decision::Sign(_) if n_classes < 2 => vec![0.0 - scores[0]; n_classes],
            Decision::Sign(_) => vec![0.0 - scores[0], scores[0]],
            Decision::Highest => scores.to_vec(),
            Decision::Pairs(_) | Decision::Votes => {
                let mut summed = vec![0.0; n_classes];
                for ((a, b), score) in pairs(n_classes).into_iter().zip(scores) {
                    summed[a] -= score;
                    summed[b] += score;
                }
                summed
            }
        }
    }
}

fn pair_votes(scores: &[f64], n_classes: usize, tie: Tie) -> Vec<f64> {
    let mut votes = vec![0.0; n_classes];
    for ((a, b), &score) in pairs(n_classes).into_iter().zip(scores) {
        votes[if tie.is_positive(score) { b } else { a }] += 1.0;
    }
    votes
}
