//! What a model was to minimise, and what it comes to on given rows.

use serde::Deserialize;
use serde_json::Value;

use super::naive::Known;
use crate::data::{Classes, Dataset};
use crate::error::Error;
use crate::learner::{Bias, ClassWeight, Penalty, Slack};
use crate::model::pairs;
use crate::online::Multiclass;

/// A loss of the margin y·g(x), or of a row's class against all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Hinge,
    SquaredHinge,
    Logistic,
    /// No margin below 1 is allowed.
    Hard,
}

impl Loss {
    /// ℓ(m); a margin that is short of 1 by a hair is 1 to one that allows for nothing else.
    pub(super) fn value(self, margin: f64, hair: f64) -> f64 {
        let short = (1.0 - margin).max(0.0);
        match self {
            Loss::Hinge => short,
            Loss::SquaredHinge => short * short,
            Loss::Logistic if margin > 0.0 => (-margin).exp().ln_1p(),
            Loss::Logistic => margin.exp().ln_1p() - margin,
            Loss::Hard if short <= hair => 0.0,
            Loss::Hard => f64::INFINITY,
        }
    }

    /// −ℓ'(m): what a smooth loss makes of α.
    pub(super) fn pull(self, margin: f64) -> f64 {
        match self {
            Loss::SquaredHinge => 2.0 * (1.0 - margin).max(0.0),
            Loss::Logistic => 1.0 / (1.0 + margin.exp()),
            Loss::Hinge | Loss::Hard => f64::from(u8::from(margin < 1.0)),
        }
    }

    /// ℓ*(−a), which the dual has −c·ℓ*(−α/c) of.
    pub(super) fn conjugate(self, a: f64) -> f64 {
        let entropy = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
        match self {
            _ if a < 0.0 => f64::INFINITY,
            Loss::Hard => -a,
            Loss::SquaredHinge => a * a / 4.0 - a,
            _ if a > 1.0 + 1e-9 => f64::INFINITY,
            Loss::Hinge => -a.min(1.0),
            Loss::Logistic => entropy(a.min(1.0)) + entropy(1.0 - a.min(1.0)),
        }
    }

    /// The largest α.
    pub(super) fn most(self, cost: f64) -> f64 {
        match self {
            Loss::Hinge | Loss::Logistic => cost,
            Loss::SquaredHinge | Loss::Hard => f64::INFINITY,
        }
    }
}

/// The parameters of a report that say what is minimised; those that are not given have their defaults.
#[derive(Deserialize)]
#[serde(default)]
struct Parameters {
    loss: String,
    penalty: Penalty,
    slack: Option<Slack>,
    nu: Option<f64>,
    c: f64,
    lambda: Option<f64>,
    bias: Option<Bias>,
    constant: f64,
    multiclass: Option<Multiclass>,
    class_weight: Option<ClassWeight>,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            loss: "hinge".to_owned(),
            penalty: Penalty::L2,
            slack: None,
            nu: None,
            c: 1.0,
            lambda: None,
            bias: None,
            constant: 1.0,
            multiclass: None,
            class_weight: None,
        }
    }
}

/// The objective of a model, with the rows it is over.
pub(super) struct Objective {
    pub(super) loss: Loss,
    /// ‖w‖₁ instead of ½‖w‖².
    pub(super) l1: bool,
    pub(super) bias: Bias,
    /// The constant feature B that a regularised bias b is the weight b/B of: 1 but in models of LIBLINEAR.
    pub(super) constant: f64,
    /// How far rounding may put a margin below what it is.
    pub(super) hair: f64,
    /// What each row costs.
    pub(super) cost: Vec<f64>,
    pub(super) parts: Parts,
}

/// The problems it consists of.
pub(super) enum Parts {
    /// One for each plane: the rows that take part, with their signs.
    Binary(Vec<Vec<(usize, f64)>>),
    /// One for all classes; each row with its class.
    Joint(Vec<usize>),
}

impl Objective {
    /// Nothing for learners that minimise none, or one that is not written down here.
    pub(super) fn of(
        algorithm: &str,
        parameters: &Value,
        data: &Dataset<'_>,
        hair: f64,
    ) -> Result<Option<Self>, Error> {
        let Ok(given) = Parameters::deserialize(parameters) else { return Ok(None) };
        let k = data.classes().len();
        let native = given.multiclass == Some(Multiclass::Native);
        let (loss, joint, scheme) = match algorithm {
            "linear-svm" | "pegasos" | "subgradient" if given.loss == "squared-hinge" => {
                (Loss::SquaredHinge, false, Multiclass::Ovr)
            }
            "linear-svm" | "pegasos" | "subgradient" => (Loss::Hinge, false, Multiclass::Ovr),
            "hard-margin" => (Loss::Hard, false, Multiclass::Ovr),
            "crammer-singer" => (Loss::Hinge, true, Multiclass::Native),
            "logistic" => (Loss::Logistic, k > 2 && (native || given.multiclass.is_none()), Multiclass::Ovr),
            "kernel-logistic" => (Loss::Logistic, false, Multiclass::Ovr),
            "svm" => {
                let loss = match (given.slack, given.nu) {
                    (Some(Slack::Linear), None) => Loss::Hinge,
                    (Some(Slack::Squared), None) => Loss::SquaredHinge,
                    (Some(Slack::None), None) => Loss::Hard,
                    _ => return Ok(None),
                };
                (loss, native, Multiclass::Ovo)
            }
            _ => return Ok(None),
        };
        let Some(bias) = given.bias else { return Ok(None) };
        if !(given.constant > 0.0 && given.constant.is_finite()) {
            return Ok(None);
        }
        let scheme = given.multiclass.unwrap_or(scheme);
        Ok(Some(Objective {
            loss,
            l1: given.penalty == Penalty::L1,
            bias,
            constant: given.constant,
            hair,
            cost: costs(&given, data)?,
            parts: match joint {
                true => Parts::Joint(data.y().iter().map(|&class| class as usize).collect()),
                false => Parts::Binary(binary(scheme, data.classes(), data.y())),
            },
        }))
    }

    /// Rows that cost nothing are in no problem.
    pub(super) fn counts(&self, row: usize) -> bool {
        self.cost[row] > 0.0
    }

    /// Whether a model of so many planes can be for it: one for each problem, or for each class; of two classes one is enough.
    pub(super) fn fits(&self, planes: usize, classes: usize) -> bool {
        match &self.parts {
            Parts::Binary(problems) => planes == problems.len(),
            Parts::Joint(_) => planes == classes || (planes == 1 && classes == 2),
        }
    }

    /// P of each problem, given what a model knows and its scores.
    pub(super) fn primal(&self, known: &Known, scores: &[Vec<f64>], squares: &[f64]) -> Vec<f64> {
        match &self.parts {
            Parts::Binary(problems) => problems
                .iter()
                .enumerate()
                .map(|(p, rows)| self.penalty(known, p, squares[p], 1.0) + self.risk(rows, &scores[p]))
                .collect(),
            Parts::Joint(classes) => {
                // Of two classes one plane is kept, the difference of two that are each other's negative.
                let scale = if squares.len() == 1 { 0.5 } else { 1.0 };
                let penalty: f64 = squares
                    .iter()
                    .enumerate()
                    .map(|(p, &square)| self.penalty(known, p, square, scale))
                    .sum();
                let rows = classes.iter().enumerate().filter(|(i, _)| self.counts(*i));
                let risk: f64 =
                    rows.map(|(i, &own)| self.cost[i] * self.joint_loss(&class_scores(scores, i), own)).sum();
                vec![penalty + risk]
            }
        }
    }

    fn penalty(&self, known: &Known, plane: usize, square: f64, scale: f64) -> f64 {
        let (w, b) = &known.planes()[plane];
        if self.l1 {
            return w.iter().map(|w| w.abs()).sum::<f64>() + self.weight_of_bias(*b).abs();
        }
        0.5 * scale * (square + self.weight_of_bias(*b).powi(2))
    }

    /// What the penalty has of a bias: b/B where it is a weight like any other.
    pub(super) fn weight_of_bias(&self, b: f64) -> f64 {
        if self.bias == Bias::Regularized { b / self.constant } else { 0.0 }
    }

    /// The constant feature that all rows have, 0 where the bias is no weight.
    pub(super) fn lift(&self) -> f64 {
        if self.bias == Bias::Regularized { self.constant } else { 0.0 }
    }

    /// Σ c·ℓ(y·g)
    pub(super) fn risk(&self, rows: &[(usize, f64)], scores: &[f64]) -> f64 {
        let rows = rows.iter().filter(|(i, _)| self.counts(*i));
        rows.map(|&(i, y)| self.cost[i] * self.loss.value(y * scores[i], self.hair)).sum()
    }

    /// Of a row's class against all others.
    fn joint_loss(&self, scores: &[f64], own: usize) -> f64 {
        match self.loss {
            Loss::Logistic => {
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                scores.iter().map(|g| (g - most).exp()).sum::<f64>().ln() + most - scores[own]
            }
            _ => self.loss.value(lead(scores, own), self.hair),
        }
    }
}

/// The scores of all classes; of a single plane half of it each way.
pub(super) fn class_scores(scores: &[Vec<f64>], row: usize) -> Vec<f64> {
    match scores {
        [one] => vec![-0.5 * one[row], 0.5 * one[row]],
        all => all.iter().map(|plane| plane[row]).collect(),
    }
}

/// How far a class is ahead of the next.
pub(super) fn lead(scores: &[f64], own: usize) -> f64 {
    let rivals = scores.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, g)| *g);
    scores[own] - rivals.fold(f64::NEG_INFINITY, f64::max)
}

/// The rows of each binary problem with their signs.
fn binary(scheme: Multiclass, classes: &Classes, y: &[u32]) -> Vec<Vec<(usize, f64)>> {
    let k = classes.len();
    let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
    let rows = || y.iter().enumerate().map(|(i, &class)| (i, class as usize));
    match scheme {
        _ if k <= 2 => vec![rows().map(|(i, class)| (i, sign(class == 1))).collect()],
        Multiclass::Ovo => pairs(k)
            .into_iter()
            .map(|(a, b)| rows().filter(|&(_, c)| c == a || c == b).map(|(i, c)| (i, sign(c == b))).collect())
            .collect(),
        _ => (0..k).map(|one| rows().map(|(i, class)| (i, sign(class == one))).collect()).collect(),
    }
}

/// C, or 1/(λn), times the weight of a row and that of its class.
fn costs(given: &Parameters, data: &Dataset<'_>) -> Result<Vec<f64>, Error> {
    let mut weights: Vec<f64> = (0..data.n_rows()).map(|i| data.weight(i)).collect();
    if let Some(of_class) = &given.class_weight {
        let mut mass = vec![0.0; data.classes().len()];
        data.y().iter().zip(&weights).for_each(|(&class, weight)| mass[class as usize] += weight);
        let factors = of_class.factors(data.classes(), &mass)?;
        let weigh = |(weight, &class): (&mut f64, &u32)| *weight *= factors[class as usize];
        weights.iter_mut().zip(data.y()).for_each(weigh);
    }
    let c = given.lambda.map_or(given.c, |lambda| 1.0 / (lambda * weights.iter().sum::<f64>()));
    Ok(weights.into_iter().map(|weight| c * weight).collect())
}
