//! Update rules: how far to move, given the margin of an example.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::loss::{Hinge, MarginLoss};

/// An example as a rule sees it. In a problem of many classes margin and energy are those of Kesler's construction: the
/// example put as x at its true class and −x at the strongest rival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// y·g(x), or the true class's score less the rival's.
    pub(crate) margin: f64,
    /// Whether the prediction was wrong.
    pub(crate) mistake: bool,
    /// The part of a whole visit this is: less than 1 only for the last of a fractional weight.
    pub(crate) share: f64,
}

/// A move along y·x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Multiplies y·x.
    pub(crate) size: f64,
    /// How much confidence grows along x (AROW's β); unused by others.
    pub(crate) shrink: f64,
    /// The change of ‖w‖² and the ball w is kept in (ALMA); unused by others.
    pub(crate) ball: Option<Ball>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) gain: f64,
    pub(crate) radius: f64,
}

impl Step {
    fn plain(size: f64) -> Self {
        Step { size, shrink: 0.0, ball: None }
    }
}

/// Decides whether and how far to move.
pub(crate) trait Rule: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// `None` to stay. `energy` is ‖x‖² in the hypothesis's own metric, computed only when asked for.
    fn step(&mut self, seen: Seen, energy: impl FnOnce() -> f64) -> Option<Step>;
}

/// Moves by a fixed rate on each mistake: the perceptron, and Winnow, which moves exponents.
///
/// The same as stochastic gradient descent on max(0, −y·g), whose slope is −1 at mistakes and 0 elsewhere.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct OnMistake {
    pub(crate) rate: f64,
}

impl Rule for OnMistake {
    #[inline]
    fn step(&mut self, seen: Seen, _: impl FnOnce() -> f64) -> Option<Step> {
        seen.mistake.then(|| Step::plain(self.rate * seen.share))
    }
}

/// The three forms of passive-aggressive learning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aggressiveness {
    /// The full step that makes the loss zero.
    #[serde(rename = "plain")]
    Plain,
    /// The step is at most C (PA-I).
    #[default]
    I,
    /// The step is softened by 1/(2C) (PA-II).
    II,
}

/// Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), JMLR 7, figure 1.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PassiveAggressiveRule {
    pub(crate) form: Aggressiveness,
    pub(crate) c: f64,
}

impl Rule for PassiveAggressiveRule {
    #[inline]
    fn step(&mut self, seen: Seen, energy: impl FnOnce() -> f64) -> Option<Step> {
        let loss = Hinge.value(seen.margin);
        // A full step leaves the loss at 0 up to rounding; that rest is not worth a move.
        if loss <= 1e-12 {
            return None;
        }
        let energy = energy();
        let size = match self.form {
            Aggressiveness::Plain => loss / energy,
            Aggressiveness::I => (loss / energy).min(self.c),
            Aggressiveness::II => loss / (energy + 0.5 / self.c),
        };
        (energy > 0.0).then(|| Step::plain(size * seen.share))
    }
}

/// ALMA₂, Gentile (2001), JMLR 2, figure 1 with p = 2: examples at unit length, margin and rate fall with 1/√k.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct AlmaRule {
    pub(crate) alpha: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
    /// Corrections made, plus 1.
    pub(crate) k: f64,
}

impl Rule for AlmaRule {
    #[inline]
    fn step(&mut self, seen: Seen, energy: impl FnOnce() -> f64) -> Option<Step> {
        let energy = energy();
        let length = energy.sqrt();
        let wanted = (1.0 - self.alpha) * self.b / self.k.sqrt();
        if length == 0.0 || seen.margin / length > wanted {
            return None;
        }
        let size = self.c / self.k.sqrt() / length * seen.share;
        self.k += 1.0;
        let gain = 2.0 * size * seen.margin + size * size * energy;
        Some(Step { size, shrink: 0.0, ball: Some(Ball { gain, radius: 1.0 }) })
    }
}

/// AROW, Crammer, Kulesza, Dredze (2009), NIPS 22, figure 1; energy is the variance of the margin, xᵀΣx.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ArowRule {
    pub(crate) r: f64,
}

impl Rule for ArowRule {
    #[inline]
    fn step(&mut self, seen: Seen, energy: impl FnOnce() -> f64) -> Option<Step> {
        let loss = Hinge.value(seen.margin);
        if loss == 0.0 {
            return None;
        }
        let shrink = seen.share / (energy() + self.r);
        Some(Step { size: loss * shrink, shrink, ball: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(margin: f64) -> Seen {
        Seen { margin, mistake: margin <= 0.0, share: 1.0 }
    }

    #[test]
    fn passive_aggressive_by_hand() {
        let size = |form, c, margin| {
            PassiveAggressiveRule { form, c }.step(seen(margin), || 4.0).map(|step| step.size)
        };
        assert_eq!(size(Aggressiveness::Plain, 1.0, 0.5), Some(0.125));
        assert_eq!(size(Aggressiveness::I, 0.1, 0.5), Some(0.1));
        assert_eq!(size(Aggressiveness::II, 0.25, 0.5), Some(0.5 / 6.0));
        assert_eq!(size(Aggressiveness::Plain, 1.0, 1.0), None);
    }

    #[test]
    fn alma_by_hand() {
        let mut rule = AlmaRule { alpha: 0.5, b: 2.0, c: 2f64.sqrt(), k: 1.0 };
        // Wanted margin (1 − α)·B/√1 = 1 at unit length; ‖x‖ = 2, margin 1 is 0.5 at unit length.
        let step = rule.step(seen(1.0), || 4.0).unwrap();
        assert_eq!(step.size, 2f64.sqrt() / 2.0);
        assert_eq!(rule.k, 2.0);
        assert!(rule.step(seen(1.5), || 4.0).is_none()); // 0.75 > 1/√2
    }

    #[test]
    fn arow_by_hand() {
        let step = ArowRule { r: 1.0 }.step(seen(-1.0), || 3.0).unwrap();
        assert_eq!((step.size, step.shrink), (0.5, 0.25));
    }
}
