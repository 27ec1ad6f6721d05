//! Forgetting the oldest example.

use serde::{Deserialize, Serialize};

use super::terms::{Mistake, Terms};

/// The self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008, SIAM Journal on Computing 37:5).
///
/// Beyond the budget every coefficient is shrunk by φ, and the oldest example dropped, which does the less damage the smaller its coefficient has become. With σ the size of its coefficient
/// and μ its margin before it is shrunk, the damage is at most Ψ = (φσ)² + 2φσ − 2φσ·φμ, and φ ≤ 1 is the largest for which all damage so far, Q, is at most 15/32 of the mistakes so far,
/// M. A mistake is a term of its own, though its example may be stored already: the budget counts mistakes.
///
/// The paper asks for K(x, x) ≤ 1. Any kernel is taken as divided by its largest value so far, which changes no prediction. Of many classes a term is ‖·‖² = 2K(x, x) long: one plane
/// up, one down (Kesler's construction).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Forgetron {
    /// M.
    mistakes: f64,
    /// Q.
    damage: f64,
    /// The largest |K| so far.
    largest: f64,
}

impl Forgetron {
    /// `oldest` gives K of the oldest term with each.
    pub(super) fn learn(
        &mut self,
        terms: &mut Terms,
        budget: usize,
        mistake: &Mistake<'_>,
        oldest: impl FnOnce(&Terms) -> Vec<f64>,
    ) {
        terms.open(mistake);
        for push in mistake.pushes {
            if let Some(a) = terms.planes[push.plane].last_mut() {
                *a += push.sign * mistake.share;
            }
        }
        self.mistakes += mistake.share;
        self.largest = mistake.values.iter().fold(self.largest.max(mistake.own.abs()), |m, k| m.max(k.abs()));
        if terms.len() > budget {
            let values = oldest(terms);
            let shrunk = self.shrink(terms, &values);
            terms.planes.iter_mut().flatten().for_each(|a| *a *= shrunk);
            terms.drop_oldest();
        }
    }

    /// φ, and the damage that it allows for.
    fn shrink(&mut self, terms: &Terms, values: &[f64]) -> f64 {
        let coefficients = || terms.planes.iter().map(|plane| plane[0]);
        let sigma = coefficients().fold(0.0, |most: f64, a| most.max(a.abs()));
        let margin: f64 = coefficients().zip(terms.scores(values)).map(|(a, g)| a * g).sum();
        let scale = self.largest * terms.planes.len().min(2) as f64;
        let margin = if scale > 0.0 { margin / scale } else { 0.0 };
        let (a, b, c) =
            (sigma * sigma - 2.0 * margin, 2.0 * sigma, 15.0 / 32.0 * self.mistakes - self.damage);
        // a·φ² + b·φ ≤ c holds at 0. Where it does not at 1, its only root between is the largest φ.
        let phi = if a + b <= c { 1.0 } else { 2.0 * c / (b + (b * b + 4.0 * a * c).max(0.0).sqrt()) };
        let phi = phi.clamp(0.0, 1.0);
        self.damage += (a * phi + b) * phi;
        phi
    }

    pub(super) fn fits(&self) -> bool {
        [self.mistakes, self.damage, self.largest].iter().all(|number| number.is_finite())
    }
}
