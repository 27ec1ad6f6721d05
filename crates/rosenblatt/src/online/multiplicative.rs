//! Weights that are multiplied (Winnow).

use serde::{Deserialize, Serialize};

use super::hypothesis::{Hypothesis, Push};
use super::rule::Step;
use crate::data::Rows;
use crate::model::{Body, Planes};

/// Littlestone (1988), Machine Learning 2:4. Weights start at 1 and are multiplied by α^±x; a balanced learner keeps a
/// second set that moves the other way and predicts with the difference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Multiplicative {
    up: Planes,
    down: Option<Planes>,
    alpha: f64,
    /// θ of a binary problem; `None` is half the number of features.
    threshold: Option<f64>,
}

/// Far from overflow, and far enough from 1 that no sensible run gets here.
const LIMIT: f64 = 1e100;

impl Multiplicative {
    pub(crate) fn new(planes: Planes, alpha: f64, threshold: Option<f64>, balanced: bool) -> Self {
        let mut up = planes;
        up.map(|_| 1.0);
        if !up.lifted {
            up.bias.fill(0.0);
        }
        Multiplicative { down: balanced.then(|| up.clone()), up, alpha, threshold }
    }

    fn theta(&self) -> f64 {
        match (self.up.k(), &self.down) {
            (1, None) => self.threshold.unwrap_or(self.up.n_cols as f64 / 2.0),
            (1, Some(_)) => self.threshold.unwrap_or(0.0),
            _ => 0.0,
        }
    }
}

/// w ← w·α^(size·x) along a row.
#[inline]
fn multiply<R: Rows>(planes: &mut Planes, x: &R, i: usize, plane: usize, alpha: f64, size: f64) {
    let k = planes.k();
    let apply = |w: &mut f64, v: f64| {
        *w = (*w * alpha.powf(size * v)).clamp(1.0 / LIMIT, LIMIT);
    };
    x.each(i, |j, v| {
        if v != 0.0 {
            apply(&mut planes.weights[j * k + plane], v);
        }
    });
    if planes.lifted {
        apply(&mut planes.bias[plane], 1.0);
    }
}

impl Hypothesis for Multiplicative {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.up.scores(x, i, out);
        if let Some(down) = &self.down {
            let k = down.k();
            out.iter_mut().zip(&down.bias).for_each(|(score, bias)| *score -= bias);
            x.each(i, |j, v| {
                for (score, w) in out.iter_mut().zip(&down.weights[j * k..(j + 1) * k]) {
                    *score -= v * w;
                }
            });
        }
        let theta = self.theta();
        out.iter_mut().for_each(|score| *score -= theta);
    }

    fn energy<R: Rows>(&self, x: &R, i: usize, _: &[Push]) -> f64 {
        x.sq_norm(i)
    }

    #[inline]
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        for push in pushes {
            let size = push.sign * step.size;
            multiply(&mut self.up, x, i, push.plane, self.alpha, size);
            if let Some(down) = &mut self.down {
                multiply(down, x, i, push.plane, self.alpha, -size);
            }
        }
    }

    fn grow(&mut self, n_cols: usize) {
        self.up.grow(n_cols, 1.0);
        if let Some(down) = &mut self.down {
            down.grow(n_cols, 1.0);
        }
    }

    /// Positive weights have no opposite; the inverse is what the mirrored updates would have made.
    fn flip(&mut self) {
        match &mut self.down {
            Some(down) => std::mem::swap(&mut self.up, down),
            None => self.up.map(|w| if w > 0.0 { 1.0 / w } else { 0.0 }),
        }
    }

    fn split(&mut self) {
        let mut flipped = self.clone();
        flipped.flip();
        self.up = Planes::joined(&[flipped.up, self.up.clone()]);
        self.down = match (flipped.down, self.down.take()) {
            (Some(first), Some(second)) => Some(Planes::joined(&[first, second])),
            _ => None,
        };
    }

    fn insert(&mut self, at: usize) {
        self.up.insert(at, 1.0);
        if let Some(down) = &mut self.down {
            down.insert(at, 1.0);
        }
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        self.up.fits(k, n_cols) && self.down.as_ref().is_none_or(|down| down.fits(k, n_cols))
    }

    fn body(&self) -> Body {
        Body::Linear(self.current())
    }

    fn current(&self) -> Planes {
        let mut planes = self.up.clone();
        if let Some(down) = &self.down {
            let others = down.weights.iter().chain(&down.bias);
            planes.weights.iter_mut().chain(&mut planes.bias).zip(others).for_each(|(w, v)| *w -= v);
        }
        let theta = self.theta();
        planes.bias.iter_mut().for_each(|bias| *bias -= theta);
        planes
    }
}
