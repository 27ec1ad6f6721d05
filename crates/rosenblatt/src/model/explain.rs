//! What each feature contributes to each class's score.

use super::{Bayes, Body, Decision, Layers, Model};
use crate::data::{DataError, Matrix, Rows};

/// One row's scores, taken apart. Contributions and bias of a class add up to its score.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
/// let model = Perceptron::default().fit(&data, &mut ())?.model;
/// let why = model.explain(data.x(), 0)?;
/// let sum: f64 = why.bias[1] + why.contributions.iter().map(|c| c.amounts[1]).sum::<f64>();
/// assert_eq!(sum, why.scores[1]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The predicted class.
    pub predicted: usize,
    /// The score of each class. With pairs it is the sum of its pairs' scores, while the decision goes by their votes.
    pub scores: Vec<f64>,
    /// The constant term in each class's score.
    pub bias: Vec<f64>,
    /// With pairs, how many of its pairs each class wins.
    pub votes: Option<Vec<f64>>,
    /// How far the row lies from the boundary, on the side of the second class if positive; binary hyperplanes only.
    pub distance: Option<f64>,
    /// The features that are not 0, in feature order; none where examples stand for weights. Of distributions all features, as zeros tell something, too.
    pub contributions: Vec<Contribution>,
    /// Where examples stand for weights: the stored ones that count, in the order they are stored in.
    pub examples: Vec<Similar>,
    /// For a voted model: the scores are those of the mean of its weight vectors, not its votes.
    pub of_mean: bool,
    /// For a network, which is no sum over features: weights are the slopes of the scores at this row, amounts slope times value, and the bias is the rest of the score.
    pub of_slopes: bool,
}

/// What one feature contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// Its number, from 0.
    pub feature: usize,
    /// Its value after scaling.
    pub value: f64,
    /// Its weight for each class; of distributions and networks the slope of the score at this row.
    pub weights: Vec<f64>,
    /// Weight times value for each class; of distributions the logarithm of what they say of the value.
    pub amounts: Vec<f64>,
}

/// What one stored example contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// Its number among the stored ones, from 0.
    pub stored: usize,
    /// Its kernel value with the row.
    pub value: f64,
    /// Its coefficient for each class.
    pub weights: Vec<f64>,
    /// Coefficient times kernel value for each class.
    pub amounts: Vec<f64>,
}

impl Model {
    /// Takes the scores of row `i` apart.
    pub fn explain(&self, x: &Matrix<'_>, i: usize) -> Result<Explanation, DataError> {
        if i >= x.n_rows() {
            return Err(DataError::NoSuchRow { row: i, rows: x.n_rows() });
        }
        let row = self.prepare(&x.select(&[i]))?.into_owned();
        let body = self.body.watched();
        let by_class = |scores: &[f64]| self.decision.summed(scores, self.classes.len());
        let k = body.n_scores();
        let (mut scores, mut bias) = (vec![0.0; k], vec![0.0; k]);
        let (mut contributions, mut examples) = (Vec::new(), Vec::new());
        if let Some(planes) = body.planes() {
            row.each(0, |feature, value| {
                if value != 0.0 {
                    let weights = by_class(&planes.weights[feature * k..(feature + 1) * k]);
                    let amounts = weights.iter().map(|w| w * value).collect();
                    contributions.push(Contribution { feature, value, weights, amounts });
                }
            });
            planes.scores(&row, 0, &mut scores);
            bias = planes.bias;
        }
        if let Body::Kernel(expansion) = body.as_ref() {
            bias = expansion.offsets();
            scores.clone_from(&bias);
            let values = expansion.values(&row, 0);
            for (stored, (weights, value)) in expansion.mean().chunks(k).zip(values).enumerate() {
                scores.iter_mut().zip(weights).for_each(|(score, w)| *score += w * value);
                let weights = by_class(weights);
                let amounts: Vec<f64> = weights.iter().map(|w| w * value).collect();
                if amounts.iter().any(|amount| *amount != 0.0) {
                    examples.push(Similar { stored, value, weights, amounts });
                }
            }
        }
        let decided = body.scores(&row);
        if let Body::Bayes(bayes) = body.as_ref() {
            bayes.joined(bayes.log_priors(), &mut bias);
            contributions = of_distributions(bayes, &row, &by_class);
            scores.clone_from(&decided);
        }
        if let Body::Layers(layers) = body.as_ref() {
            (bias, contributions) = of_slopes(layers, &row, &decided, &by_class);
            scores.clone_from(&decided);
        }
        body.sound(&row, i)?;
        Ok(Explanation {
            predicted: self.decide(&decided),
            votes: self.decision.votes(&decided, self.classes.len()),
            distance: match (&self.body, self.decision) {
                (Body::Linear(planes), Decision::Sign(_)) => planes.signed_distance(0, &row, 0),
                _ => None,
            },
            scores: by_class(&scores),
            bias: by_class(&bias),
            contributions,
            examples,
            of_mean: match &self.body {
                Body::Voted(_) => true,
                Body::Kernel(expansion) => expansion.voters().is_some(),
                Body::Linear(_) | Body::Bayes(_) | Body::Layers(_) => false,
            },
            of_slopes: matches!(self.body, Body::Layers(_)),
        })
    }
}

fn full(row: &Matrix<'_>, n_cols: usize) -> Vec<f64> {
    let mut values = vec![0.0; n_cols];
    row.each(0, |j, v| values[j] = v);
    values
}

/// What each feature, there or not, says of each class.
fn of_distributions(
    bayes: &Bayes,
    row: &Matrix<'_>,
    by_class: &impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Contribution> {
    let joined = |classes: &[f64]| {
        let mut scores = vec![0.0; bayes.n_scores()];
        bayes.joined(classes, &mut scores);
        by_class(&scores)
    };
    let values = full(row, bayes.n_cols()).into_iter().enumerate();
    let part = |(feature, value): (usize, f64)| {
        let (weights, amounts) =
            (joined(&bayes.slopes(feature, value)), joined(&bayes.terms(feature, value)));
        Contribution { feature, value, weights, amounts }
    };
    values.map(part).collect()
}

/// Slope times value of each feature, and what is left of the scores.
fn of_slopes(
    layers: &Layers,
    row: &Matrix<'_>,
    scores: &[f64],
    by_class: &impl Fn(&[f64]) -> Vec<f64>,
) -> (Vec<f64>, Vec<Contribution>) {
    let values = full(row, layers.n_cols());
    let slopes = layers.gradient(&values);
    let (mut rest, mut contributions) = (scores.to_vec(), Vec::new());
    for ((feature, &value), slopes) in values.iter().enumerate().zip(slopes.chunks_exact(scores.len())) {
        if value != 0.0 {
            rest.iter_mut().zip(slopes).for_each(|(rest, slope)| *rest -= slope * value);
            let weights = by_class(slopes);
            let amounts = weights.iter().map(|slope| slope * value).collect();
            contributions.push(Contribution { feature, value, weights, amounts });
        }
    }
    (rest, contributions)
}
