//! Weights that remember all they were (voted perceptron).

use serde::{Deserialize, Serialize};

use super::hypothesis::{Hypothesis, Push};
use super::rule::Step;
use crate::data::Rows;
use crate::model::{Ballot, Body, Planes, RowStore, Tie, Update};

/// The current weights and the history a [`Ballot`] is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Voted {
    w: Planes,
    tie: Tie,
    store: RowStore,
    updates: Vec<Update>,
    survivals: Vec<f64>,
}

impl Voted {
    pub(crate) fn new(planes: Planes, tie: Tie) -> Self {
        Voted { w: planes, tie, store: RowStore::new(), updates: Vec::new(), survivals: vec![0.0] }
    }

    fn ballot(&self) -> Ballot {
        Ballot {
            planes: self.w.k(),
            tie: self.tie,
            lifted: self.w.lifted,
            rows: self.store.matrix(self.w.n_cols),
            updates: self.updates.clone(),
            survivals: self.survivals.clone(),
        }
    }

    fn rename(&mut self, f: impl Fn(Option<u32>, Option<u32>) -> (Option<u32>, Option<u32>)) {
        for update in &mut self.updates {
            (update.up, update.down) = f(update.up, update.down);
        }
    }
}

impl Hypothesis for Voted {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.w.scores(x, i, out);
    }

    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        self.w.energy(x, i, pushes)
    }

    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        Hypothesis::push(&mut self.w, x, i, pushes, step);
        let moved = |up: bool| {
            let found = pushes.iter().find(|push| (push.sign > 0.0) == up);
            found.map(|push| push.plane as u32)
        };
        let row = self.store.intern(x, i);
        self.updates.push(Update { row, up: moved(true), down: moved(false), size: step.size });
        self.survivals.push(0.0);
    }

    fn tick(&mut self, visits: f64) {
        if let Some(survived) = self.survivals.last_mut() {
            *survived += visits;
        }
    }

    fn grow(&mut self, n_cols: usize) {
        self.w.grow(n_cols, 0.0);
    }

    fn flip(&mut self) {
        self.w.map(|w| -w);
        self.rename(|up, down| (down, up));
    }

    fn split(&mut self) {
        Hypothesis::split(&mut self.w);
        self.rename(|up, _| if up.is_some() { (Some(1), Some(0)) } else { (Some(0), Some(1)) });
    }

    fn insert(&mut self, at: usize) {
        self.w.insert(at, 0.0);
        let moved = |plane: Option<u32>| plane.map(|c| c + u32::from(c as usize >= at));
        self.rename(|up, down| (moved(up), moved(down)));
    }

    fn output<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        let mut features = vec![0.0; self.w.n_cols.max(x.n_cols())];
        x.each(i, |j, v| features[j] = v);
        self.ballot().scores(&features, out);
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        let Some(n_rows) = self.store.checked(n_cols) else { return false };
        let known = |plane: Option<u32>| plane.is_none_or(|plane| (plane as usize) < k);
        let in_place =
            |update: &Update| (update.row as usize) < n_rows && known(update.up) && known(update.down);
        self.w.fits(k, n_cols)
            && self.survivals.len() == self.updates.len() + 1
            && self.updates.iter().all(in_place)
    }

    fn body(&self) -> Body {
        Body::Voted(vec![self.ballot()])
    }

    fn current(&self) -> Planes {
        self.w.clone()
    }
}
