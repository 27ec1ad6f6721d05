//! What a rule moves: weights, a ball of weights, averaged weights, weights with confidence, exponents.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rule::Step;
use crate::data::Rows;
use crate::model::{Body, Planes};

/// A plane that moves, and its direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) plane: usize,
    pub(crate) sign: f64,
}

/// Weights of one plane (binary) or one plane per class, changed one example at a time.
pub(crate) trait Hypothesis: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The scores the rule sees.
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]);

    /// ‖xᵢ‖² in the hypothesis's own metric, summed over the planes that would move.
    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64;

    /// Moves each plane by sign·step along xᵢ.
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step);

    /// So many visits have ended with the weights as they are now.
    fn tick(&mut self, _visits: f64) {}

    /// Room for features that appear in a stream.
    fn grow(&mut self, n_cols: usize);

    /// Classes −1 and +1 change places.
    fn flip(&mut self);

    /// One binary plane becomes two, for −1 and for +1.
    fn split(&mut self);

    /// A class appears: a fresh plane before plane `at`.
    fn insert(&mut self, at: usize);

    /// Whether all its parts are `k` planes over so many features: one read from a file may be anything.
    fn fits(&self, k: usize, n_cols: usize) -> bool;

    /// What the learner predicts with.
    fn body(&self) -> Body;

    /// The scores that [`body`](Hypothesis::body) would give, without making it.
    fn output<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.scores(x, i, out);
    }

    /// The weights as they are now, for a trace.
    fn current(&self) -> Planes;
}

fn sq_norm<R: Rows>(planes: &Planes, x: &R, i: usize, pushes: &[Push]) -> f64 {
    let lift = if planes.lifted { 1.0 } else { 0.0 };
    (x.sq_norm(i) + lift) * pushes.len() as f64
}

fn split_additive(planes: &mut Planes) {
    planes.insert(0, 0.0);
    for pair in planes.weights.chunks_mut(2).chain(planes.bias.chunks_mut(2)) {
        pair[0] = -pair[1];
    }
}

/// The last weights: perceptron and passive-aggressive.
impl Hypothesis for Planes {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        Planes::scores(self, x, i, out);
    }

    #[inline]
    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        sq_norm(self, x, i, pushes)
    }

    #[inline]
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        for push in pushes {
            self.add(x, i, push.plane, push.sign * step.size);
        }
    }

    fn grow(&mut self, n_cols: usize) {
        Planes::grow(self, n_cols, 0.0);
    }

    fn flip(&mut self) {
        self.map(|w| -w);
    }

    fn split(&mut self) {
        split_additive(self);
    }

    fn insert(&mut self, at: usize) {
        Planes::insert(self, at, 0.0);
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        Planes::fits(self, k, n_cols)
    }

    fn body(&self) -> Body {
        Body::Linear(self.clone())
    }

    fn current(&self) -> Planes {
        self.clone()
    }
}

/// Weights kept in a ball about the origin, as scale·v so that shrinking is one multiplication (ALMA).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Balled {
    v: Planes,
    scale: f64,
    sq_norm: f64,
}

impl Balled {
    pub(crate) fn new(planes: Planes) -> Self {
        Balled { v: planes, scale: 1.0, sq_norm: 0.0 }
    }
}

impl Hypothesis for Balled {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.v.scores(x, i, out);
        out.iter_mut().for_each(|score| *score *= self.scale);
    }

    #[inline]
    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        sq_norm(&self.v, x, i, pushes)
    }

    #[inline]
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        for push in pushes {
            self.v.add(x, i, push.plane, push.sign * step.size / self.scale);
        }
        let Some(ball) = step.ball else { return };
        self.sq_norm = (self.sq_norm + ball.gain).max(0.0);
        let norm = self.sq_norm.sqrt();
        if norm > ball.radius {
            self.scale *= ball.radius / norm;
            self.sq_norm = ball.radius * ball.radius;
        }
        if self.scale < 1e-30 {
            self.v = self.current();
            self.scale = 1.0;
        }
    }

    fn grow(&mut self, n_cols: usize) {
        self.v.grow(n_cols, 0.0);
    }

    fn flip(&mut self) {
        self.v.map(|w| -w);
    }

    fn split(&mut self) {
        split_additive(&mut self.v);
        self.sq_norm *= 2.0;
    }

    fn insert(&mut self, at: usize) {
        self.v.insert(at, 0.0);
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        self.v.fits(k, n_cols)
    }

    fn body(&self) -> Body {
        Body::Linear(self.current())
    }

    fn current(&self) -> Planes {
        let mut planes = self.v.clone();
        planes.map(|w| w * self.scale);
        planes
    }
}

/// Predicts with the mean of the weights after every visit.
///
/// The sum is never formed: with u = Σ c·δ over updates δ made after c visits, the mean over T visits is w − u/T
/// (Daumé III, A Course in Machine Learning, algorithm 7).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Averaged {
    w: Planes,
    u: Planes,
    visits: f64,
}

impl Averaged {
    pub(crate) fn new(planes: Planes) -> Self {
        let u = Planes::zeros(planes.k(), planes.n_cols, planes.lifted);
        Averaged { w: planes, u, visits: 0.0 }
    }
}

impl Hypothesis for Averaged {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.w.scores(x, i, out);
    }

    #[inline]
    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        sq_norm(&self.w, x, i, pushes)
    }

    #[inline]
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        for push in pushes {
            let size = push.sign * step.size;
            self.w.add(x, i, push.plane, size);
            self.u.add(x, i, push.plane, size * self.visits);
        }
    }

    #[inline]
    fn tick(&mut self, visits: f64) {
        self.visits += visits;
    }

    fn grow(&mut self, n_cols: usize) {
        self.w.grow(n_cols, 0.0);
        self.u.grow(n_cols, 0.0);
    }

    fn flip(&mut self) {
        self.w.map(|w| -w);
        self.u.map(|u| -u);
    }

    fn split(&mut self) {
        split_additive(&mut self.w);
        split_additive(&mut self.u);
    }

    fn insert(&mut self, at: usize) {
        self.w.insert(at, 0.0);
        self.u.insert(at, 0.0);
    }

    fn output<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.w.scores(x, i, out);
        if self.visits > 0.0 {
            let mut sums = vec![0.0; out.len()];
            self.u.scores(x, i, &mut sums);
            out.iter_mut().zip(sums).for_each(|(score, sum)| *score -= sum / self.visits);
        }
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        self.w.fits(k, n_cols) && self.u.fits(k, n_cols)
    }

    fn body(&self) -> Body {
        let mut mean = self.w.clone();
        if self.visits > 0.0 {
            let sums = self.u.weights.iter().chain(&self.u.bias);
            for (w, u) in mean.weights.iter_mut().chain(&mut mean.bias).zip(sums) {
                *w -= u / self.visits;
            }
        }
        Body::Linear(mean)
    }

    fn current(&self) -> Planes {
        self.w.clone()
    }
}
