//! Weights by class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Classes, Dataset};
use crate::error::{Error, ParamError};

/// How much the examples of each class count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeight {
    /// All classes alike: an example of a class counts n/(k·n_class).
    Balanced,
    /// By name; classes not named count 1.
    Each(BTreeMap<String, f64>),
}

impl ClassWeight {
    pub(crate) fn check(weight: Option<&Self>) -> Result<(), ParamError> {
        let Some(ClassWeight::Each(weights)) = weight else { return Ok(()) };
        let usable = |weight: &f64| (0.0..=Dataset::LARGEST_WEIGHT).contains(weight);
        ParamError::unless(weights.values().all(usable), "class_weight", "weights must be from 0 to 1000000")
    }

    /// Sample weight times class weight of each row; `None` when all are 1.
    pub(crate) fn weigh(weight: Option<&Self>, data: &Dataset<'_>) -> Result<Option<Vec<f64>>, Error> {
        let factors = weight.map(|weight| {
            let mut mass = vec![0.0; data.classes().len()];
            data.y().iter().enumerate().for_each(|(i, &class)| mass[class as usize] += data.weight(i));
            weight.factors(data.classes(), &mass)
        });
        Ok(Self::weigh_by(factors.transpose()?.as_deref(), data))
    }

    /// Sample weight times the factor of its class.
    pub(crate) fn weigh_by(factors: Option<&[f64]>, data: &Dataset<'_>) -> Option<Vec<f64>> {
        let Some(factors) = factors else { return data.weights().map(<[f64]>::to_vec) };
        let product = |(i, &class): (usize, &u32)| {
            (data.weight(i) * factors[class as usize]).min(Dataset::LARGEST_WEIGHT)
        };
        Some(data.y().iter().enumerate().map(product).collect())
    }

    /// What an example counts, in words; nothing where all count the same.
    pub(crate) fn told(weight: Option<&Self>, data: &Dataset<'_>) -> Option<String> {
        let balanced = |rows: &str| format!("n_y the {rows} of its class, k classes");
        Some(match (data.weights().is_some(), weight) {
            (false, None) => return None,
            (true, None) => "the weight of the row".to_owned(),
            (false, Some(ClassWeight::Balanced)) => format!("= n/(k·n_y), {}", balanced("number of rows")),
            (true, Some(ClassWeight::Balanced)) => {
                format!("the weight of the row times n/(k·n_y), {}", balanced("weight of all rows"))
            }
            (false, Some(ClassWeight::Each(weights))) => {
                format!("the weight of its class: {}", listed(weights, data))
            }
            (true, Some(ClassWeight::Each(weights))) => {
                format!("the weight of the row times that of its class: {}", listed(weights, data))
            }
        })
    }

    /// What an example of each class counts, given the weight of all its examples.
    pub(crate) fn factors(&self, classes: &Classes, mass: &[f64]) -> Result<Vec<f64>, ParamError> {
        let k = classes.len();
        match self {
            ClassWeight::Balanced => {
                let total: f64 = mass.iter().sum();
                let share = |mass: &f64| if *mass > 0.0 { total / (k as f64 * mass) } else { 1.0 };
                Ok(mass.iter().map(share).collect())
            }
            ClassWeight::Each(weights) => {
                let mut factors = vec![1.0; k];
                for (name, &weight) in weights {
                    let class = classes.find(name).ok_or_else(|| {
                        let known = classes.listed();
                        ParamError::new("class_weight", format!("there is no class {name:?}, only {known}"))
                    })?;
                    factors[class] = weight;
                }
                Ok(factors)
            }
        }
    }
}

/// "ham 2, spam 0.5, others 1"
fn listed(weights: &BTreeMap<String, f64>, data: &Dataset<'_>) -> String {
    const SHOWN: usize = 8;
    let each = weights.iter().map(|(name, weight)| format!("{name} {weight}"));
    let mut words: Vec<String> = each.take(SHOWN).collect();
    match weights.len().checked_sub(SHOWN) {
        Some(more @ 1..) => words.push(format!("{more} more as given")),
        _ if weights.len() < data.classes().len() => words.push("others 1".to_owned()),
        _ => {}
    }
    words.join(", ")
}
